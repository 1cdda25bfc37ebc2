"""Where a refused launch stands: the call in the user's file, and the parameter that it is about.

Runs only when something was refused; a launch that works pays nothing for it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from teeny_macros.diagnostics import Label
from teeny_macros.source import Span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from teeny_macros.capture import Captured
    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.signature import Parameter

# Frames of these packages are ours, not the user's.
_OURS = frozenset({"teeny_macros", "teeny_triton", "teeny_compiler", "teeny_cuda", "teeny_cpu"})


def locate(error: TeenyError, captured: Captured | None, parameters: Sequence[Parameter]) -> None:
    """Label the call that was refused, and the definition of the parameters it is about.

    An error that has a place keeps it.
    """
    found = error.diagnostics[0]
    if found.labels:
        return
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the way up to the user's call
    while frame is not None and _root(frame) in _OURS:
        frame = frame.f_back
    if frame is not None:
        found.labels.append(Label(*_place(frame)))
    if captured is None:
        return
    from teeny_macros.signature import parameter_span

    named = [p.name for p in parameters if f"`{p.name}`" in found.message]
    for name in named:
        error.also(parameter_span(captured, name), "declared here")
    if not named:
        error.also(captured.normal.header, "defined here")


def _root(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _place(frame: FrameType) -> tuple[Span, str]:
    """The call that a frame is in the middle of; its columns where Python keeps them."""
    code = frame.f_code
    places = list(code.co_positions())
    line, end_line, start, end = places[frame.f_lasti // 2]
    line = line or frame.f_lineno
    if start is None or end is None or end_line is None:
        return Span.point(code.co_filename, line), "in this call"
    span = Span(
        code.co_filename,
        line,
        _column(frame, line, start),
        end_line,
        _column(frame, end_line, end),
    )
    return span, "in this call"


def _column(frame: FrameType, line: int, offset: int) -> int:
    """The column, counted from 1 in characters, of an offset in bytes."""
    from linecache import getline

    text = getline(frame.f_code.co_filename, line, frame.f_globals)
    return len(text.encode()[:offset].decode(errors="replace")) + 1 if text else offset + 1
