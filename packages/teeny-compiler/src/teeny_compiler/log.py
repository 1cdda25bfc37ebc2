"""What is said on standard error: lines by `TEENY_LOG`, and warnings, some once in a process."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from teeny_compiler import env

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_macros.diagnostics import Diagnostic

QUIET, INFO, DEBUG = 0, 1, 2
_LEVELS = {"quiet": QUIET, "info": INFO, "debug": DEBUG}
_said: set[str] = set()
_hushed: list[None] = []


def level() -> int:
    """How much is said now; a value that is not known counts as `info`."""
    return _LEVELS.get((env.read(env.TEENY_LOG) or "info").lower(), INFO)


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Leave out what `info` says: the caller has an output of its own."""
    _hushed.append(None)
    try:
        yield
    finally:
        _hushed.pop()


def info(text: str) -> None:
    """Say that something was done."""
    if level() >= (DEBUG if _hushed else INFO):
        _write(f"teeny: {text}")


def step(text: str) -> None:
    """Say how far something long is, whatever else is left out."""
    if level() >= INFO:
        _write(f"teeny: {text}")


def debug(text: str) -> None:
    """Say how something was decided."""
    if level() >= DEBUG:
        _write(f"teeny: {text}")


def warn(diagnostic: Diagnostic, *, once: str | None = None) -> None:
    """Print a warning; with `once` only the first of that name in this process."""
    if level() == QUIET or (once is not None and once in _said):
        return
    if once is not None:
        _said.add(once)
    from teeny_macros.render import render_full

    _write(render_full(diagnostic))


def _write(text: str) -> None:
    stream = sys.stderr
    if stream is None:  # pythonw, some services
        return
    try:
        stream.write(text + "\n")
        stream.flush()
    except (OSError, ValueError):
        pass  # a closed or broken stderr must not cost a result
