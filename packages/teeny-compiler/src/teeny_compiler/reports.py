"""teenyc's diagnostics: from JSON lines into records, with places in the files that users edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_macros.diagnostics import SCHEMA, Diagnostic, Label

if TYPE_CHECKING:
    from teeny_macros.source import SourceMap


def parse(text: str) -> tuple[list[Diagnostic], str]:
    """The diagnostics among the lines of teenyc's standard error, and the other lines as text."""
    import json

    found: list[Diagnostic] = []
    others: list[str] = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                data = json.loads(line)
                if data["schema"] == SCHEMA:
                    found.append(Diagnostic.from_json(data))
                    continue
            except (ValueError, KeyError, TypeError):
                pass
        others.append(line)
    return found, "\n".join(others).strip()


def map_to_user(diagnostic: Diagnostic, unit_file: str, source_map: SourceMap | None) -> Diagnostic:
    """`diagnostic` with each place in `unit_file` (`<kernel>.py`) led back to the user's file."""
    if source_map is None:
        return diagnostic
    known = source_map

    def mapped(label: Label) -> Label:
        if label.span.file != unit_file:
            return label
        span = known.span(label.span)
        if span == label.span and known.lookup(span.line) is None:
            return label  # text that no user wrote, such as the entry point
        source = _line_of(span.file, span.line)
        if source is None and label.source is not None:
            # The file is gone: the unit's own line, moved to where it stood.
            source = " " * max(0, span.column - label.span.column) + label.source
        return Label(span, label.text, primary=label.primary, source=source)

    return diagnostic.map_spans(mapped)


def _line_of(file: str, line: int) -> str | None:
    import linecache  # knows notebook cells and zipped modules too

    return linecache.getline(file, line).rstrip("\r\n") or None
