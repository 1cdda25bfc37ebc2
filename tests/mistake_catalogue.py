"""Reads the catalogue of mistakes in `tests/mistakes/`; knows nothing of what tools say about it.

An entry begins at `# mistake ID (KIND): DESCRIPTION` and ends before the next one; what stands
above the first belongs to every entry of the file. The line that is wrong ends with `# wrong`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "mistakes"
GROUPS = {
    "types": "types and ranks",
    "values": "values and shapes",
    "launch": "launch",
}
_MARKER = re.compile(r"# mistake (\w+) \(([\w-]+)\): (.+)")


class Mistake(NamedTuple):
    """One entry: `kind` is the mistake that it is a variant of; lines count from 1 in its file."""

    id: str
    kind: str
    group: str
    description: str
    path: Path
    first_line: int
    last_line: int
    wrong_line: int

    @property
    def text(self) -> str:
        """A module with this entry alone, every line where it stands in the file."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        header = next(at for at, line in enumerate(lines) if _MARKER.match(line))
        kept = (*range(header), *range(self.first_line - 1, self.last_line))
        return "\n".join(line if at in kept else "" for at, line in enumerate(lines)) + "\n"

    def holds(self, line: int) -> bool:
        """Whether a line of the file belongs to this entry."""
        return self.first_line <= line <= self.last_line


@cache
def mistakes() -> tuple[Mistake, ...]:
    """All entries, by group, file and line."""
    paths = sorted(FOLDER.glob("*.py"), key=lambda path: (_order(path), path.name))
    return tuple(entry for path in paths for entry in _entries(path))


def _order(path: Path) -> int:
    return list(GROUPS).index(path.stem.partition("_")[0])


def _entries(path: Path) -> list[Mistake]:
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [(at, found) for at, line in enumerate(lines, 1) if (found := _MARKER.match(line))]
    ends = [at - 1 for at, _ in starts[1:]] + [len(lines)]
    entries: list[Mistake] = []
    for (start, found), end in zip(starts, ends, strict=True):
        wrong = [at for at in range(start, end + 1) if lines[at - 1].endswith("  # wrong")]
        if len(wrong) != 1:
            message = f"{path.name}:{start}: `{found[1]}` has {len(wrong)} lines marked `# wrong`"
            raise AssertionError(message)
        group = path.stem.partition("_")[0]
        entries.append(Mistake(found[1], found[2], group, found[3], path, start, end, wrong[0]))
    return entries
