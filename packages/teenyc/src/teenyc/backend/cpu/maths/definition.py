"""What a module of LLVM IR needs to know of one function: its text and what the text refers to."""

from __future__ import annotations

from typing import NamedTuple

Key = tuple[str, int, str]


class Definition(NamedTuple):
    """One function `symbol` of vectors, and what a module that contains `text` also needs.

    `declares` are whole `declare` lines, which a module may contain once each; `needs` are the
    (name, lanes, element) of further definitions.
    """

    symbol: str
    text: str
    declares: frozenset[str]
    needs: frozenset[Key]
