"""Places in a kernel's unit, as errors name them, led to the user's file through the source map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.artifact import Artifact
    from teeny_macros.diagnostics import Label, TeenyError


def at_users_lines(artifact: Artifact, work: Callable[[], Any]) -> Any:
    """What `work` returns; an error's places in the unit become those of the user's file."""
    from teeny_macros.diagnostics import TeenyError

    try:
        return work()
    except TeenyError as error:
        move(artifact, error)
        raise


def move(artifact: Artifact, error: TeenyError) -> None:
    """Lead the places of `error` to the user's file."""
    source_map = artifact.source_map
    if source_map is None:
        return
    unit_file = f"{artifact.metadata.kernel}.py"

    def moved(label: Label) -> Label:
        import linecache  # knows notebook cells and zipped modules too

        if label.span.file != unit_file or source_map.lookup(label.span.line) is None:
            return label
        span = source_map.span(label.span)
        line = linecache.getline(span.file, span.line).rstrip("\r\n")
        return type(label)(span, label.text, primary=label.primary, source=line or label.source)

    error.diagnostics[:] = [diagnostic.map_spans(moved) for diagnostic in error.diagnostics]
