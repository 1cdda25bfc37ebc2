"""The device protocol: what teeny-cuda and teeny-cpu offer and what a launch asks of them.

Packages never import each other across this line: a device package registers a `DeviceProvider` in
the entry-point group `teeny.devices`, and `kernel[grid](...)` finds it there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_macros.artifact import Artifact
    from teeny_macros.target import Target

Grid = tuple[int, int, int]


class ArrayInfo(NamedTuple):
    """What a device knows of an array argument.

    `pointer` is an address in bytes; `dtype` a DSL name (`f32`), empty when the array cannot say;
    `nbytes` is the extent of the memory from `pointer` on; `device` is `cuda:0`, `cpu`.
    """

    pointer: int
    dtype: str
    nbytes: int
    device: str
    readonly: bool = False
    contiguous: bool = True


class Program(Protocol):
    """A loaded kernel."""

    @property
    def artifact(self) -> Artifact: ...


class Stream(Protocol):
    """An ordered queue of work."""

    def synchronize(self) -> None: ...


class Event(Protocol):
    """A mark in a stream."""

    def record(self, stream: Any = None) -> None: ...
    def synchronize(self) -> None: ...
    def elapsed_ms(self, end: Any) -> float: ...


@runtime_checkable
class Buffer(Protocol):
    """Typed memory of a device: `shape` in elements, `dtype` a DSL name."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def pointer(self) -> int: ...
    def copy_from(self, array: Any) -> None: ...
    def to_host(self) -> Any: ...


class Device(Protocol):
    """One device.

    A device may also have `targets`: all targets whose code it runs, the best one first. Without
    it, that is `target` alone. One that runs nothing has `plan(instance)`, which gives a program
    without any code.

    `args` of `launch` are the run-time arguments in the kernel's order, already bound: arrays
    (anything that `describe` accepts) and Python numbers.
    """

    @property
    def name(self) -> str: ...
    @property
    def target(self) -> Target: ...
    def buffer(self, shape: int | Sequence[int], dtype: str | Any) -> Any: ...
    def load(self, artifact: Artifact) -> Any: ...
    def launch(
        self, program: Any, grid: Grid, args: Sequence[Any], *, stream: Any = None
    ) -> None: ...
    def stream(self) -> Any: ...
    def event(self) -> Any: ...
    def synchronize(self) -> None: ...


class DeviceProvider(Protocol):
    """The entry point of a device package (group `teeny.devices`).

    A provider may also have `layout(array)`: the shape of an array that it knows, and its strides
    in elements, for kernels that declare strides.
    """

    kind: str

    def describe(self, array: Any) -> ArrayInfo | None:
        """What is known of `array`, or None when it is no array of this kind of device."""
        ...

    def device(self, name: str) -> Device:
        """The device called `name` (`cuda:0`, `cuda`, `cpu`).

        Raises a coded error when it is absent.
        """
        ...
