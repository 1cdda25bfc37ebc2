"""`Program`: a kernel's object, checked and loaded; `Bound`: a launch of it, to be repeated.

Nothing is run here but through the pool.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from teeny_cpu import env, jit
from teeny_cpu.arguments import Packer
from teeny_cpu.checks import checked_arguments, checked_grid
from teeny_cpu.codes import E1103, E1119, E1120, E1121, E1122, E1125
from teeny_cpu.native import ALONE, DONE, Record
from teeny_cpu.objects import ALLOWED, read_object
from teeny_cpu.plan import plan_launch
from teeny_cpu.pool import the_pool
from teeny_cpu.positions import move

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_cpu.pool import Workers
    from teeny_macros.artifact import Artifact, Metadata

_RECOMPILE = "compile the kernel again: `teeny cache clear`"
# The first word of an error record.
_ACCESSES = {1: "a load", 2: "a store", 3: "an atomic operation"}
_ASSERTION = 4  # the record has the address and the size of its message
_RECORD = ctypes.c_int64 * len(Record._fields)
_ERROR = ctypes.c_int64 * 8


class Program:
    """A kernel that can be launched on the CPU. It is loaded as long as it is referenced."""

    __slots__ = ("_code", "artifact", "function", "packer")

    def __init__(self, artifact: Artifact) -> None:
        metadata = artifact.metadata
        if artifact.target.kind != "cpu":
            raise E1103.error(kernel=metadata.kernel, target=artifact.target, device="`cpu`").help(
                "compile it for `Target.cpu()`"
            )
        try:
            data = artifact.read_bytes()
        except OSError as error:
            raise (
                E1119.error(kernel=metadata.kernel, reason="it cannot be read")
                .note(str(error))
                .help(_RECOMPILE)
            ) from error
        require_runnable(data, metadata)
        try:
            self._code = jit.load(data, (metadata.entry_point,))
        except jit.LinkError as error:
            raise (
                E1119.error(kernel=metadata.kernel, reason="LLVM cannot load it")
                .note(str(error))
                .help(_RECOMPILE)
            ) from error
        self.artifact = artifact
        self.function = self._code.addresses[metadata.entry_point]
        self.packer = Packer(metadata)

    def bind(self, grid: Any, *args: Any, threads: int | None = None) -> Bound:
        """A launch over `grid` with these arguments, checked and packed now, to be called often.

        It keeps the arrays alive, and reads and writes their memory in each call. `threads` is how
        many may work on it, else `TEENY_CPU_THREADS`.

        Raises:
            LaunchError: E1105 to E1111, E1117, E1123, E1124.
        """
        sizes = checked_grid(grid)
        values = checked_arguments(self.artifact.metadata, args)
        return Bound(self, sizes, values, env.thread_count() if threads is None else threads)

    @property
    def arena_bytes(self) -> int:
        """Scratch memory of each thread that runs it, in bytes."""
        return self.artifact.metadata.arena_bytes

    def failure(self, address: int, grid: tuple[int, int, int]) -> Exception:
        """The error that a program left in the record at `address`."""
        kind, line, column, number, lane, pointer, at, size = _ERROR.from_address(address)
        from teeny_macros.source import Span

        metadata = self.artifact.metadata
        span = Span.point(f"{metadata.kernel}.py", line, column) if line > 0 else None
        program = (number % grid[0], number // grid[0] % grid[1], number // grid[0] // grid[1])
        if kind == _ASSERTION:
            said = ctypes.string_at(pointer, size).decode(errors="replace")
            message = f": {said}" if said else ""
            failed = E1125.at(span, "here", program=program, element=lane, message=message)
            failed.help("look at the values there: `tl.device_print`, or run it on `interpret`")
            move(self.artifact, failed)
            return failed
        error = E1122.at(
            span,
            "here",
            program=program,
            element=lane,
            access=_ACCESSES.get(kind, "an access"),
            address=hex(pointer % (1 << 64)),
        )
        if 0 <= at < len(metadata.params):
            error.note(f"the pointer comes from parameter `{metadata.params[at].name}`")
        error.help("mask what lies outside: `mask=offsets < n`")
        move(self.artifact, error)
        return error

    def __repr__(self) -> str:
        return f"Program({self.artifact.metadata.kernel}, {self.artifact.target})"


class Bound:
    """A launch with its grid and arguments. Call it; several threads may do so at once."""

    __slots__ = (
        "_arena", "_grid", "_packed", "_pool", "_program", "_record", "_wanted", "_words",
        "_workers",
    )  # fmt: skip

    def __init__(
        self, program: Program, grid: tuple[int, int, int], values: Sequence[Any], threads: int
    ) -> None:
        self._grid = grid
        self._pool = the_pool()
        self._program = program
        self._arena = program.arena_bytes
        self._packed = program.packer.pack(grid, values)
        args = ctypes.addressof(self._packed.words)
        record, self._workers = record_of(program, grid, threads, args)
        self._wanted = record.workers
        self._words = _RECORD(*record)
        self._record = ctypes.addressof(self._words)

    def __call__(self) -> None:
        """Run all programs.

        Raises:
            LaunchError: E1122 where the kernel was compiled with bounds checks and goes outside.
        """
        pool = self._pool
        if self._wanted > pool.workers:
            pool.require(self._wanted)
        status, address = pool.launch(self._record, self._arena, self._workers)
        if status != DONE:
            raise self._program.failure(address, self._grid)


def record_of(
    program: Program, grid: tuple[int, int, int], threads: int, args: int = 0
) -> tuple[Record, Workers | None]:
    """A launch as the pool reads it, its words at `args`; the scratch memory of its workers."""
    metadata, packer, pool = program.artifact.metadata, program.packer, the_pool()
    total = grid[0] * grid[1] * grid[2]
    plan = plan_launch(total, metadata.work, threads)
    workers = pool.scratch(plan.workers, metadata.arena_bytes) if plan.workers else None
    record = Record(
        function=program.function,
        args=args,
        slots=packer.slots,
        error_slot=packer.error_slot,
        total=total,
        chunk=plan.chunk,
        mode=plan.mode if workers else ALONE,
        pool=pool.address,
        scratch=workers.block.address if workers else 0,
        stride=workers.stride if workers else 0,
        workers=plan.workers,
        room=workers.room if workers else 0,
        piece=plan.piece,
    )
    return record, workers


def require_runnable(data: bytes, metadata: Metadata) -> None:
    """Check an object before it is linked.

    Raises:
        LaunchError: E1119 for no object of this machine, E1120 for calls to what kernels do not
            call, E1121 where the CPU lacks something.
    """
    facts = read_object(data)
    if facts is None:
        raise E1119.error(kernel=metadata.kernel, reason="it is no object file").help(_RECOMPILE)
    machine = jit.host_machine()
    if facts.machine != machine:
        raise (
            E1119.error(
                kernel=metadata.kernel, reason=f"it is for {facts.machine or 'another machine'}"
            )
            .note(f"this machine is {machine}")
            .help("compile it for `Target.cpu()`")
        )
    foreign = sorted(facts.undefined - ALLOWED)
    if foreign:
        names = ", ".join(f"`{name}`" for name in foreign)
        raise E1120.error(kernel=metadata.kernel, names=names).help(_RECOMPILE)
    if machine == "x86-64" and metadata.features:
        missing = sorted(set(metadata.features.split(",")) - jit.host_features())
        if missing:
            raise E1121.error(kernel=metadata.kernel, missing=", ".join(missing)).help(
                "compile it for `Target.cpu()` on this machine, or for an older level: "
                "`Target.cpu('x86-64-v2')`"
            )
