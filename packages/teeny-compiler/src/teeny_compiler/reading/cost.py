"""What a kernel will cost on a target, as far as it can be told without the hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler import log
from teeny_compiler.compiler import compile_kernel
from teeny_compiler.reading.assembler import Assembler
from teeny_compiler.reading.counts import Counts, count
from teeny_compiler.reading.limits import CARDS, LIMITS, Card, Occupancy, occupancy
from teeny_compiler.reading.ptx_facts import Accesses, Assembly, accesses, read_log

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny_compiler.options import CompileOptions
    from teeny_macros.artifact import Artifact
    from teeny_macros.instance import KernelInstance
    from teeny_macros.target import Target

_FEW_WARPS = 0.25


class Roofline(NamedTuple):
    """The least time that a card needs, in seconds: for memory, for arithmetic, and overall.

    Every access counts as one of memory, as if caches served none, so a kernel that reads an array
    often may be faster than `memory` says. With `programs` 0 the grid is not known, and the times
    are those of one program that has the card for itself.
    """

    card: str
    programs: int
    memory: float
    arithmetic: float

    @property
    def seconds(self) -> float:
        """The longer of the two."""
        return max(self.memory, self.arithmetic)

    @property
    def bound_by(self) -> str:
        """Which of the two it is."""
        return "memory" if self.memory >= self.arithmetic else "arithmetic"


class Cost(NamedTuple):
    """The cost of one instance on one target. What is of GPUs alone is None for a CPU."""

    artifact: Artifact
    counts: Counts
    assembly: Assembly | None = None
    accesses: Accesses | None = None
    occupancy: Occupancy | None = None
    roofline: Roofline | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        metadata = self.artifact.metadata
        data: dict[str, Any] = {
            "kernel": metadata.kernel,
            "target": str(self.artifact.target),
            "num_warps": metadata.num_warps,
            "num_ctas": metadata.num_ctas,
            "threads_per_block": metadata.threads_per_block,
            "shared_bytes": metadata.shared_bytes,
            "global_scratch_bytes": metadata.global_scratch_bytes,
            "arena_bytes": metadata.arena_bytes,
            "work_ns": metadata.work,
            "features": metadata.features,
            "counts": {**self.counts._asdict(), "dots": dict(self.counts.dots),
                       "bytes": self.counts.bytes, "flops": self.counts.flops},
            "notes": list(self.notes),
        }  # fmt: skip
        for name in ("assembly", "accesses", "occupancy"):
            value = getattr(self, name)
            data[name] = value._asdict() if value is not None else None
        line = self.roofline
        data["roofline"] = None if line is None else {
            **line._asdict(), "seconds": line.seconds, "bound_by": line.bound_by,
        }  # fmt: skip
        return data


def cost_of(
    instance: KernelInstance[...],
    target: Target,
    *,
    arguments: Mapping[str, int] | None = None,
    programs: int = 0,
    options: CompileOptions | None = None,
    assembler: Assembler | None = None,
) -> Cost:
    """What an instance costs. `arguments` are integers of the launch by name, for loop bounds.

    Raises:
        ToolchainError: E0980 and E0981 without a ptxas that takes it. CompileError: as compiling.
    """
    with log.hushed():
        artifact = compile_kernel(instance, target, options=options)
    known = dict(arguments or {})
    for name in instance.specialization.equal_to_1:
        known.setdefault(name, 1)
    counts = count(artifact.stages["mlir"].read_text(encoding="utf-8"), known)
    if target.kind != "cuda":
        return Cost(artifact, counts, notes=tuple(_of_counts(counts)))
    assembly = read_log((assembler or Assembler()).cubin(artifact).log)
    found = accesses(artifact.read_text())
    metadata = artifact.metadata
    fit = occupancy(
        target.arch,
        threads=metadata.threads_per_block,
        registers=assembly.registers,
        shared=metadata.shared_bytes + assembly.static_shared,
    )
    notes = [*_of_counts(counts), *_of_code(artifact, assembly, found, fit)]
    line = roofline(CARDS[target.arch], counts, programs)
    return Cost(artifact, counts, assembly, found, fit, line, tuple(notes))


def roofline(card: Card, counts: Counts, programs: int) -> Roofline:
    """The time of the counted work at the card's peak rates."""
    times = max(programs, 1)
    arithmetic = counts.vector / card.vector
    for kind, work in counts.dots:
        # Where the tensor cores have no such product, it runs as ordinary arithmetic.
        arithmetic += work / card.rates.get(kind, card.vector)
    return Roofline(card.name, programs, times * counts.bytes / card.memory, times * arithmetic)


def _of_counts(counts: Counts) -> list[str]:
    notes: list[str] = []
    if counts.unknown_loops:
        lines = ", ".join(map(str, counts.unknown_loops))
        what = (
            f"how often the loop at line {lines} of the MLIR runs is not known, so it counts once"
        )
        notes.append(f"{what}: give its bounds, `--arg K=4096`")
    if counts.uneven_loops:
        lines = ", ".join(map(str, counts.uneven_loops))
        notes.append(
            f"how often the loop at line {lines} of the MLIR runs differs from program to program: "
            "the first one counts for all"
        )
    return notes


def _of_code(artifact: Artifact, assembly: Assembly, found: Accesses, fit: Occupancy) -> list[str]:
    notes: list[str] = []
    if assembly.spill_stores or assembly.spill_loads:
        notes.append(
            f"{assembly.registers} registers are not enough: {assembly.spill_stores} bytes are "
            f"spilled and {assembly.spill_loads} read back; smaller tiles or more warps need fewer"
        )
    narrow = [width for width in (*found.loads, *found.stores) if width < 16]
    if narrow and max((*found.loads, *found.stores)) < 16 and not found.bulk:
        notes.append(
            f"no access of global memory is wider than {max(narrow)} bytes; aligned pointers and "
            "sizes that are multiples of 16 allow 16"
        )
    if not fit.blocks:
        limit = LIMITS[artifact.target.arch].shared_per_block
        notes.append(f"a block does not fit: its shared memory may be {limit} bytes at most")
    elif fit.share < _FEW_WARPS:
        notes.append(
            f"{fit.share:.0%} of the warps of a multiprocessor are in use, limited by "
            f"{fit.limited_by}"
        )
    return notes
