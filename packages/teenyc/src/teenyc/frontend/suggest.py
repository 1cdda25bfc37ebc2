"""Close matches for names that do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny_macros.diagnostics import TeenyError


def suggest(error: TeenyError, name: str, known: Iterable[str]) -> TeenyError:
    """`error` with the known name that is closest to `name` as its help, if one is close."""
    from difflib import get_close_matches  # only a failing compilation pays for it

    close = get_close_matches(name, list(known), n=1, cutoff=0.7)
    return error.help(f"did you mean `{close[0]}`?") if close else error
