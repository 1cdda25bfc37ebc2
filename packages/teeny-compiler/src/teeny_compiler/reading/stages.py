"""One stage of one kernel as text: compiled when it must be, and assembled for machine code."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler import log
from teeny_compiler.codes import E0915
from teeny_compiler.compiler import compile_kernel
from teeny_compiler.options import MACHINE, CompileOptions
from teeny_compiler.reading import lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_compiler.reading.lines import Line, Place
    from teeny_macros.artifact import Artifact
    from teeny_macros.instance import KernelInstance
    from teeny_macros.target import Target

    Instance = KernelInstance[...]

SHOWN = {
    "cuda": ("mlir", "ttgir", "llvm-ir", "ptx", MACHINE),
    "cpu": ("mlir", "clusters", "llvm-ir", "asm"),
    "interpret": ("mlir",),
}


UNIT = "<unit>"  # of the text that `teeny expand` shows


class SourceLine(NamedTuple):
    """A line of the user's file; where none is known, of the unit: the normalized text."""

    file: str
    line: int
    text: str


class Stage(NamedTuple):
    """A stage: its lines, the lines of the source that they come from, and the artifact."""

    name: str
    lines: Sequence[Line]
    sources: dict[Place, SourceLine]
    artifact: Artifact

    def source(self, line: Line) -> SourceLine | None:
        """Where a line comes from."""
        return None if line.place is None else self.sources.get(line.place)


def stage_of(
    instance: Instance, target: Target, name: str, options: CompileOptions | None = None
) -> Stage:
    """A stage of an instance.

    Raises:
        CompileError: E0915 for a stage that the target does not have, and what compiling raises.
        ToolchainError: E0980 and E0981 where machine code cannot be had.
    """
    possible = SHOWN[target.kind]
    if name not in possible:
        raise E0915.error(stage=name, target=target).help(f"one of {', '.join(possible)}")
    asked = options or CompileOptions()
    if name != MACHINE:
        # The places in MLIR are kept on request only; a GPU's later stages always have them.
        asked = asked._replace(emit=(*asked.emit, name), locations=name in ("mlir", "ttgir"))
    with log.hushed():
        artifact = compile_kernel(instance, target, options=asked)
    if name == MACHINE:
        from teeny_compiler.reading.assembler import Assembler

        assembler = Assembler()
        text = assembler.listing(artifact.cubin or assembler.cubin(artifact).data)
    else:
        text = artifact.stages[name].read_text(encoding="utf-8")
    found = lines.parse(name, text, f"{instance.name}.py")
    places = {line.place for line in found if line.place is not None}
    return Stage(name, found, {place: _source(instance, place) for place in places}, artifact)


def _source(instance: Instance, place: Place) -> SourceLine:
    line, column = place
    there: Any = instance.source_map.lookup(line, max(column, 1))
    if there is not None:
        file, at, _ = there
        text = linecache.getline(file, at).rstrip()
        if text:
            return SourceLine(file, at, text)
    body = instance.source.split("\n")
    text = body[line - 1].rstrip() if 0 < line <= len(body) else ""
    return SourceLine(UNIT, line, text)  # the entry point, which no user wrote
