"""`Interpreter`: a device that runs programs one after another in teenyc's interpreter.

It is slow and looks closely: an access outside of every array names program, element and line.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from teeny_cpu.checks import checked_arguments, checked_grid
from teeny_cpu.host import Host
from teeny_cpu.interpreted import InterpretedProgram
from teeny_cpu.stream import check_stream, finish_streams
from teeny_macros.target import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_macros.artifact import Artifact


class Interpreter(Host):
    """The host's interpreter, with the methods of any device."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """`interpret`, as `device=` and TEENY_DEVICE name it."""
        return "interpret"

    @property
    def target(self) -> Target:
        """What kernels are compiled for: the interpreter."""
        return Target.interpret()

    def load(self, artifact: Artifact) -> InterpretedProgram:
        """The kernel of `artifact`, whose file is its unit.

        Raises:
            LaunchError: E1101 without teenyc, E1103 for another target, E1104 without the file.
        """
        return InterpretedProgram(artifact)

    def launch(
        self, program: InterpretedProgram, grid: Any, args: Sequence[Any], *, stream: Any = None
    ) -> None:
        """Run `program` over `grid` with its run-time arguments in order.

        `args` are host arrays, None for a null pointer, and numbers. An empty grid does nothing,
        and no axis of a grid has a limit.

        Raises:
            LaunchError: E1105 to E1111, E1115, E1117; the interpreter's own errors, such as an
                access outside of every array.
        """
        check_stream(stream)
        sizes = checked_grid(grid)
        values = checked_arguments(program.artifact.metadata, args)
        if 0 in sizes:
            return
        if stream is None:
            finish_streams()
            program.run(sizes, values)
        else:
            stream.put(partial(program.run, sizes, values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Interpreter)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return "Interpreter()"
