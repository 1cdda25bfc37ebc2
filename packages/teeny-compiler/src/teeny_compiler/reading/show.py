"""A stage for reading: its lines with the lines of the source between them, or as JSON rows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_compiler.reading.stages import SourceLine, Stage

_COMMENT = {"mlir": "//", "ttgir": "//", "llvm-ir": ";", "ptx": "//", "sass": "//"}


class Row(NamedTuple):
    """A line to print; `is_source` marks lines of the source among those of the stage."""

    text: str
    is_source: bool = False


def interleaved(stage: Stage) -> Iterator[Row]:
    """The lines of a stage; before those that come from another line of the source, that line."""
    mark = _COMMENT.get(stage.name, "#")
    last: tuple[str, int] | None = None
    for line in stage.lines:
        source = stage.source(line)
        if source is not None and line.text.strip() and (source.file, source.line) != last:
            last = source.file, source.line
            indent = line.text[: len(line.text) - len(line.text.lstrip())]
            yield Row(f"{indent}{mark} {_named(source)}: {source.text.strip()}", is_source=True)
        yield Row(line.text)


def _named(source: SourceLine) -> str:
    return f"{os.path.basename(source.file)}:{source.line}"


def to_json(stage: Stage) -> dict[str, Any]:
    """The stage as a JSON object."""
    rows = []
    for line in stage.lines:
        source = stage.source(line)
        rows.append(
            {
                "text": line.text,
                "file": source.file if source else None,
                "line": source.line if source else None,
            }
        )
    return {
        "kernel": stage.artifact.metadata.kernel,
        "target": str(stage.artifact.target),
        "stage": stage.name,
        "metadata": stage.artifact.metadata.to_json(),
        "lines": rows,
    }


def lines_by_source(stage: Stage) -> dict[tuple[str, int], int]:
    """How many lines of the stage come from each line of the source."""
    found: dict[tuple[str, int], int] = {}
    for line in stage.lines:
        source = stage.source(line)
        if source is not None and line.text.strip():
            key = source.file, source.line
            found[key] = found.get(key, 0) + 1
    return found
