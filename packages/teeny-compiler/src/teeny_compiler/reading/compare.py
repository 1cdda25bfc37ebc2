"""Two versions of one stage, compared: their lines, and what their metadata say differently."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CONTEXT = 3
# What is not about the code itself.
_NOT_COMPARED = frozenset(("versions", "schema"))


class Difference(NamedTuple):
    """The lines of a unified diff, how many lines each side has, and metadata that differ."""

    lines: tuple[str, ...]
    removed: int
    added: int
    facts: dict[str, tuple[object, object]]

    @property
    def is_empty(self) -> bool:
        """Whether the two are the same."""
        return not self.lines and not self.facts


def compare(
    left: Mapping[str, Any],
    right: Mapping[str, Any],
    names: tuple[str, str],
    context: int = _CONTEXT,
) -> Difference:
    """Compare two stages in the form of `show.to_json`. Lines of the source do not count."""
    lines = tuple(unified_diff(_texts(left), _texts(right), *names, n=context, lineterm=""))
    body = [line for line in lines if not line.startswith(("---", "+++"))]
    mine: Mapping[str, Any] = left["metadata"]
    yours: Mapping[str, Any] = right["metadata"]
    facts = {
        name: (mine.get(name), yours.get(name))
        for name in sorted(mine.keys() | yours.keys())
        if mine.get(name) != yours.get(name) and name not in _NOT_COMPARED
    }
    return Difference(
        lines,
        sum(line.startswith("-") for line in body),
        sum(line.startswith("+") for line in body),
        facts,
    )


def _texts(stage: Mapping[str, Any]) -> Sequence[str]:
    return [row["text"] for row in stage["lines"]]
