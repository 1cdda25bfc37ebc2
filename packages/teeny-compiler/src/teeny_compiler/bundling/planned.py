"""Which instances a program launches, found without a device: arrays have shapes and no memory.

A planned device notes the instance of each launch; nothing is compiled, computed or kept.
"""

from __future__ import annotations

from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn

from teeny_compiler.bundling.choice import parse_targets
from teeny_compiler.codes import E0974
from teeny_compiler.reading.limits import CARDS
from teeny_macros import devices
from teeny_macros.protocol import ArrayInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_compiler.bundling.choice import Instance
    from teeny_macros.protocol import Grid
    from teeny_macros.target import Target

_REMEDY = "launch kernels only, as if the arrays held anything; results cannot be looked at"
_ALIGNED = 1 << 20  # an address that all kernels may take for aligned


class PlannedBuffer:
    """An array of a planned device: `shape` in elements, `dtype` a name of the language."""

    def __init__(self, shape: tuple[int, ...], dtype: str, device: str) -> None:
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.pointer = _ALIGNED

    @property
    def nbytes(self) -> int:
        """Bytes that it would take."""
        digits = "".join(c for c in self.dtype.partition("e")[0] if c.isdigit())
        return prod(self.shape) * max(1, int(digits) // 8)

    def copy_from(self, array: Any) -> None:
        """Take the contents of another array: nothing to do."""

    def __getitem__(self, rows: slice) -> PlannedBuffer:
        """Rows of the array."""
        count = len(range(*rows.indices(self.shape[0])))
        return PlannedBuffer((count, *self.shape[1:]), self.dtype, self.device)

    def reshape(self, shape: Sequence[int]) -> PlannedBuffer:
        """The same elements in another shape."""
        return PlannedBuffer(tuple(shape), self.dtype, self.device)

    def __setitem__(self, place: Any, value: Any) -> None:
        """Take a value: nothing to do."""

    def to_host(self) -> NoReturn:
        """Raise E0974: there is nothing in it."""
        raise E0974.error(what="array").help(_REMEDY)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self.to_host()

    def __repr__(self) -> str:
        return f"<planned {self.dtype}{list(self.shape)} on {self.device}>"


class PlannedDevice:
    """A device that runs nothing. `buffer` makes arrays for it; launches over them are noted."""

    def __init__(self, name: str, target: Target) -> None:
        self.name = name
        self.target = target
        card = CARDS.get(target.arch)
        self.properties = {} if card is None else {"multiprocessor_count": card.multiprocessors}
        self.noted: dict[Instance, None] = {}

    def buffer(self, shape: int | Sequence[int], dtype: Any = "f32") -> PlannedBuffer:
        """A planned array of `shape`; `dtype` is a dtype of the language or its name."""
        sides = (shape,) if isinstance(shape, int) else tuple(shape)
        return PlannedBuffer(sides, _name_of(dtype), self.name)

    def plan(self, instance: Instance) -> Instance:
        """An instance is its own program here."""
        return instance

    def load(self, artifact: Any) -> Any:
        """What it would load."""
        return artifact

    def launch(self, program: Any, grid: Grid, args: Sequence[Any], *, stream: Any = None) -> None:
        """Note the instance."""
        self.noted[program] = None

    def stream(self) -> None:
        """Launches are noted in any stream."""
        return

    def event(self) -> NoReturn:
        """Raise E0974: nothing takes time."""
        raise E0974.error(what="time").help(_REMEDY)

    def synchronize(self) -> None:
        """There is nothing to wait for."""


class _Provider:
    kind = devices.PLAN

    def describe(self, array: Any) -> ArrayInfo | None:
        if not isinstance(array, PlannedBuffer):
            return None
        return ArrayInfo(array.pointer, array.dtype, array.nbytes, array.device)

    def device(self, name: str) -> PlannedDevice:
        return _devices[name]


# Kernels and operations remember devices by their names, so there is one of each.
_devices: dict[str, PlannedDevice] = {}
_provider = _Provider()
_lock = Lock()


def every_launch(
    workload: Callable[[Any], object], target: str | Target = "sm_90"
) -> list[Instance]:
    """The instances that a function launches, found without a GPU and without computing anything.

    `workload(device)` gets a planned device; `device.buffer((4096, 1024), "f16")` is an array with
    a shape and dtype alone, which kernels, tuned kernels and the operations of `teeny_kernels` take
    like any other. A tuned kernel gives each of its configs. `target` is what the launches are for,
    a GPU architecture or a level of CPUs: operations may choose other block sizes for it. As many
    multiprocessors are assumed as the largest common card of an architecture has.

    Each instance comes twice: as launched, which knows that a stride was 1 or a size a multiple of
    16, and without such knowledge, so that arrays of other sizes find it too.

    Raises:
        ToolchainError: E0974 where the function reads what no array holds.
        LaunchError: E1040 for an unknown target, and what launches raise.
    """
    goal = parse_targets([target])[0] if isinstance(target, str) else target
    name = f"{goal.kind}:{devices.PLAN}-{goal.arch}"
    with _lock:
        devices.register(devices.PLAN, _provider)
        device = _devices.setdefault(name, PlannedDevice(name, goal))
        device.noted.clear()
        workload(device)
        found = list(device.noted)
        device.noted.clear()
    return list(dict.fromkeys(one for each in found for one in (each.with_hints(), each)))


def _name_of(dtype: Any) -> str:
    from teeny_macros.resolve import given_type

    known = None if isinstance(dtype, str) else given_type(dtype)
    return str(dtype) if known is None else known.dtype
