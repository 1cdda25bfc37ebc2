"""Faults that users of comparable compilers have reported, as kernels with the right results.

A function of tests/reported/ yields the cases of one report; its name says what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from semantic_cases import Refusal, Run


class Report(NamedTuple):
    """The cases of one report; `sources` names the reports."""

    name: str
    cases: tuple[Run | Refusal, ...]
    sources: tuple[str, ...]


REPORTS: list[Report] = []
Cases = Iterable[Any]


def reported(*sources: str) -> Callable[[Callable[[], Cases]], Callable[[], Cases]]:
    """Register what a function yields; `sources` are `owner/repository#number`."""

    def register(cases: Callable[[], Cases]) -> Callable[[], Cases]:
        with np.errstate(all="ignore"):
            found = tuple(_flat(cases()))
        assert found, cases.__name__
        REPORTS.append(Report(cases.__name__, found, sources))
        return cases

    return register


def _flat(yielded: Any) -> Iterator[Run | Refusal]:
    for case in yielded:
        if isinstance(case, Run | Refusal):
            yield case
        else:
            yield from _flat(case)
