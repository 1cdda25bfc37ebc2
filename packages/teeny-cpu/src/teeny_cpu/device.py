"""`Device`: the host.

In this version its kernels run in teenyc's interpreter, one program after another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_cpu.arrays import find_view
from teeny_cpu.buffer import Buffer
from teeny_cpu.launch import launch
from teeny_cpu.module import Program
from teeny_cpu.stream import Event, Stream, check_stream
from teeny_macros.target import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_macros.artifact import Artifact


class Device:
    """The host, with the methods of a GPU's device. Launches return when they have run."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """`cpu`, as arrays and `device=` name it."""
        return "cpu"

    @property
    def target(self) -> Target:
        """What kernels are compiled for: the interpreter."""
        return Target.interpret()

    def buffer(self, shape: int | Sequence[int], dtype: str | Any) -> Buffer:
        """Memory for `shape` elements of `dtype`, not initialized.

        `dtype` is a name or type of the kernel language, NumPy or torch (`"f32"`, `tl.f32`).

        Raises:
            LaunchError: E1113 unknown dtype, E1114 no shape, E1118 out of memory.
        """
        return Buffer(shape, dtype)

    def copy_of(self, array: Any) -> Buffer:
        """A new buffer with the shape, dtype and contents of a host array."""
        import numpy as np

        found = find_view(array)
        if found is None:
            array = np.asarray(array)
            found = find_view(array)
            assert found is not None
        buffer = Buffer(found.array.shape, found.dtype or found.array.dtype)
        buffer.copy_from(array)
        return buffer

    def load(self, artifact: Artifact) -> Program:
        """The kernel of `artifact`, whose file is its unit.

        Raises:
            LaunchError: E1101 without teenyc, E1103 for another target, E1104 without the file.
        """
        return Program(artifact)

    def launch(
        self, program: Program, grid: Any, args: Sequence[Any], *, stream: Any = None
    ) -> None:
        """Run `program` over `grid` with its run-time arguments in order.

        `args` are host arrays, None for a null pointer, and numbers. An empty grid does nothing,
        and no axis of a grid has a limit.

        Raises:
            LaunchError: E1105 to E1111, E1115, E1117; the interpreter's own errors, such as an
                access
                outside of every array.
        """
        check_stream(stream)
        launch(program, grid, args)

    def stream(self) -> Stream:
        """A new stream."""
        return Stream(self)

    def event(self) -> Event:
        """A new event."""
        return Event(self)

    def synchronize(self) -> None:
        """Return at once: nothing is pending."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return hash("cpu")

    def __repr__(self) -> str:
        return "Device(cpu, interpreter)"
