"""Positions of compiled text brought back to the user's files: the `.file` and `.loc` lines of PTX.

The text in caches says `<kernel>.py` and counts in the unit's body; profilers and sanitizers should
show the lines that the user edits today. Lines that no user wrote keep their canonical position.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny_macros.source import SourceMap

_FILE = re.compile(r'^(\s*\.file\s+)(\d+)(\s+")([^"]*)(".*)$')
_LOC = re.compile(r"^\s*\.loc\s+\d+\s+\d+\s+\d+")
# `.loc file line column` and, after it, `inlined_at file line column`.
_PLACE = re.compile(r"((?:\.loc|inlined_at)\s+)(\d+)(\s+)(\d+)(\s+)(\d+)")


def rewrite_ptx(ptx: str, source_map: SourceMap, kernel: str | None = None) -> str:
    """PTX whose positions in `<kernel>.py` are those of the user's files.

    `kernel` is found from the entry point's name when it is not given. The canonical file stays
    declared; each file of the user gets a number of its own behind the highest one.
    """
    name = kernel if kernel is not None else _kernel_name(ptx)
    if name is None or not source_map.origins:
        return ptx
    lines = ptx.split("\n")
    files = {at: found for at, line in enumerate(lines) if (found := _FILE.match(line))}
    own = {int(found[2]) for found in files.values() if _base(found[4]) == f"{name}.py"}
    if not own:
        return ptx
    rewriter = _Rewriter(source_map, own, 1 + max(int(found[2]) for found in files.values()))
    for at, line in enumerate(lines):
        if _LOC.match(line):
            lines[at] = _PLACE.sub(rewriter.place, line)
    first = next(at for at, found in files.items() if int(found[2]) in own)
    head = files[first]
    declared = [
        f'{head[1]}{number}{head[3]}{_escaped(file)}"'
        for file, number in sorted(rewriter.numbers.items(), key=lambda item: item[1])
    ]
    lines[first + 1 : first + 1] = declared
    return "\n".join(lines)


class _Rewriter:
    """Replaces places one by one and numbers the files that they lead to."""

    def __init__(self, source_map: SourceMap, own: set[int], next_number: int) -> None:
        self.source_map = source_map
        self.own = own
        self.next_number = next_number
        self.numbers: dict[str, int] = {}

    def place(self, found: re.Match[str]) -> str:
        if int(found[2]) not in self.own:
            return found[0]
        # Column 0 means that only the line is known.
        column = int(found[6])
        there = self.source_map.lookup(int(found[4]), max(column, 1))
        if there is None:
            return found[0]
        file, line, at = there
        if file not in self.numbers:
            self.numbers[file] = self.next_number
            self.next_number += 1
        return f"{found[1]}{self.numbers[file]}{found[3]}{line}{found[5]}{at if column else 0}"


def _kernel_name(ptx: str) -> str | None:
    found = re.search(r"\.entry\s+(\w+)_entry_point\b", ptx)
    return found[1] if found else None


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')
