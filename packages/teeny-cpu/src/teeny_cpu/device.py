"""`Device`: the host's CPU. It loads compiled kernels and runs them on all its cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_cpu import env
from teeny_cpu.checks import checked_arguments, checked_grid
from teeny_cpu.host import Host
from teeny_cpu.levels import runnable_levels
from teeny_cpu.module import Bound, Program
from teeny_cpu.stream import check_stream, finish_streams
from teeny_macros.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_cpu.shortcut import Shortcut
    from teeny_macros.artifact import Artifact


class Device(Host):
    """The CPU, with the methods of a GPU's device.

    `threads` is how many may work on a launch, the calling one included; None is
    `TEENY_CPU_THREADS`, else all cores. Results do not depend on it.

    Raises:
        LaunchError: E1123 when `TEENY_CPU_THREADS` is no number of threads.
    """

    __slots__ = ("threads",)

    def __init__(self, threads: int | None = None) -> None:
        self.threads = env.thread_count() if threads is None else max(threads, 1)

    @property
    def target(self) -> Target:
        """What kernels are compiled for: this machine."""
        return Target.cpu()

    @property
    def targets(self) -> tuple[Target, ...]:
        """All targets whose code it runs, the best one first."""
        return (Target.cpu(), *map(Target.cpu, runnable_levels()))

    def load(self, artifact: Artifact) -> Program:
        """The kernel of `artifact`, whose file is an object for this machine.

        Raises:
            LaunchError: E1103 for another target, E1119 to E1121 for an object that cannot run.
        """
        return Program(artifact)

    def launch(
        self, program: Program, grid: Any, args: Sequence[Any], *, stream: Any = None
    ) -> None:
        """Run `program` over `grid` with its run-time arguments in order.

        `args` are host arrays, None for a null pointer, and numbers. An empty grid does nothing,
        and no axis of a grid has a limit. A launch that another one keeps from the pool of threads
        runs in the calling thread. Ctrl-C stops a launch between two programs of each thread.
        `program.bind(grid, *args)` prepares a launch that is repeated. Besides the arrays a launch
        takes `artifact.metadata.arena_bytes` of memory for each thread that works on it.

        Raises:
            LaunchError: E1105 to E1111, E1115, E1117, E1124; E1122 for an access outside of every
                array where the kernel was compiled with bounds checks.
        """
        check_stream(stream)
        sizes = checked_grid(grid)
        values = checked_arguments(program.artifact.metadata, args)
        if 0 in sizes:
            return
        bound = Bound(program, sizes, values, self.threads)
        if stream is None:
            finish_streams()
            bound()
        else:
            stream.put(bound)

    def shortcut(self, slow: Callable[..., Any], guards: Sequence[Any]) -> Shortcut | None:
        """What shortens launches that recur; None where this machine cannot."""
        from teeny_cpu.shortcut import make_shortcut

        return make_shortcut(self, slow, guards)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.threads == self.threads

    def __hash__(self) -> int:
        return hash((self.name, self.threads))

    def __repr__(self) -> str:
        return f"Device(threads={self.threads})"
