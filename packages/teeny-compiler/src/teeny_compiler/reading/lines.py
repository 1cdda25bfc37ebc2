"""The texts of a kernel's stages as lines, each with the line of the kernel that it comes from.

Every stage says it in its own way: MLIR in `loc(...)`, LLVM IR in `!dbg`, PTX in `.loc`, listings
of machine code in comments. Code that comes from the kernel language counts for the line that
uses it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Place = tuple[int, int]
"""Line and column in the normalized text; column 0 where only the line is known."""


class Line(NamedTuple):
    """One line of a stage, without its notes on places; `place` is None where no one wrote it."""

    text: str
    place: Place | None


def parse(stage: str, text: str, file: str) -> list[Line]:
    """The lines of a stage. `file` is the canonical name of the kernel's text, `softmax.py`."""
    readers = {
        "mlir": _mlir,
        "ttgir": _mlir,
        "llvm-ir": _llvm,
        "ptx": _ptx,
        "sass": _sass,
        "clusters": _clusters,
    }
    reader = readers.get(stage)
    if reader is None:
        return [Line(line, None) for line in text.splitlines()]
    return list(reader(text, file))


# --- MLIR -----------------------------------------------------------------------------------------

_ALIAS = re.compile(r"^#(loc\d*) = loc\((.*)\)$")
_PART = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)|#(loc\d*)')


def _mlir(text: str, file: str) -> Iterator[Line]:
    lines = text.splitlines()
    aliases = {found[1]: found[2] for line in lines if (found := _ALIAS.match(line))}
    for line in lines:
        if _ALIAS.match(line):
            continue
        plain, places = _without_places(line)
        yield Line(plain.rstrip(), _outermost(places[-1], aliases, file) if places else None)


def _without_places(line: str) -> tuple[str, list[str]]:
    """A line without its `loc(...)`, and what stood in each of them."""
    parts: list[str] = []
    places: list[str] = []
    at = 0
    while True:
        start = line.find(" loc(", at)
        if start < 0:
            return "".join(parts) + line[at:], places
        parts.append(line[at:start])
        end, depth = start + 5, 1
        while end < len(line) and depth:
            depth += {"(": 1, ")": -1}.get(line[end], 0)
            end += 1
        places.append(line[start + 5 : end - 1])
        at = end


def _outermost(place: str, aliases: dict[str, str], file: str, depth: int = 0) -> Place | None:
    """The last place in a chain of calls that lies in the kernel's own text."""
    found: Place | None = None
    for match in _PART.finditer(place):
        if match[4] is not None:
            inner = aliases.get(match[4], "") if depth < 64 else ""
            found = _outermost(inner, aliases, file, depth + 1) or found
        elif match[1] == file:
            found = int(match[2]), int(match[3])
    return found


# --- LLVM IR --------------------------------------------------------------------------------------

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(\w+)\((.*)\)$")
_FIELD = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|!?[\w.]+)')
_DEBUG = re.compile(r",? !dbg !(\d+)")


def _llvm(text: str, file: str) -> Iterator[Line]:
    lines = text.splitlines()
    nodes = {
        int(found[1]): (found[2], dict(_FIELD.findall(found[3])))
        for line in lines
        if (found := _NODE.match(line))
    }
    for line in lines:
        if line.startswith(("!", "attributes #")):
            continue
        found = _DEBUG.search(line)
        place = _located(nodes, int(found[1]), file) if found and " = !" not in line else None
        yield Line(_DEBUG.sub("", line), place)


_Nodes = dict[int, tuple[str, dict[str, str]]]


def _located(nodes: _Nodes, number: int, file: str) -> Place | None:
    found: Place | None = None
    for _ in range(64):
        kind, fields = nodes.get(number, ("", {}))
        if kind != "DILocation":
            return found
        if _file_of(nodes, fields.get("scope", "")) == file:
            found = int(fields["line"]), int(fields.get("column", "0"))
        outer = fields.get("inlinedAt")
        if outer is None:
            return found
        number = int(outer[1:])
    return found


def _file_of(nodes: _Nodes, scope: str) -> str:
    for _ in range(64):
        if not scope.startswith("!"):
            return ""
        _, fields = nodes.get(int(scope[1:]), ("", {}))
        if "filename" in fields:
            return fields["filename"].strip('"')
        scope = fields.get("file") or fields.get("scope", "")
    return ""


# --- PTX ------------------------------------------------------------------------------------------

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"')
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_SPOT = re.compile(r"([^\s:\[\]]+):(\d+):(\d+)")
_LABEL = re.compile(r"^\$L__(?:tmp|func_begin|func_end)\d+:$")

_Spot = tuple[int, int, int]


def _ptx(text: str, file: str) -> Iterator[Line]:
    lines = text.splitlines()
    files = {int(found[1]): found[2] for line in lines if (found := _FILE.match(line))}
    own = {number for number, name in files.items() if name.rpartition("/")[2] == file}
    calls: dict[_Spot, _Spot] = {}
    place: Place | None = None
    inside = False
    for line in lines:
        if re.match(r"^\s*\.section\s+\.debug", line):
            return
        found = _LOC.match(line)
        if found:
            spot = int(found[1]), int(found[2]), int(found[3])
            if found[4] is not None:
                calls[spot] = int(found[4]), int(found[5]), int(found[6])
            place = (_outside(spot, calls, own) or _in_comment(line, file)) if inside else None
            continue
        if _FILE.match(line) or _LABEL.match(line):
            continue
        inside = inside or line.startswith("{")
        if line.startswith("}"):
            inside, place = False, None
        yield Line(line, place if inside and not line.startswith("{") else None)


def _in_comment(line: str, file: str) -> Place | None:
    """The place of the call as Triton 3.6 and 3.7 say it: `// a.py:7:1 @[ k.py:3:5 ]`."""
    found = [match for match in _SPOT.finditer(line.partition("//")[2]) if match[1] == file]
    return (int(found[-1][2]), int(found[-1][3])) if found else None


def _outside(spot: _Spot, calls: dict[_Spot, _Spot], own: set[int]) -> Place | None:
    for _ in range(64):
        if spot[0] in own:
            return spot[1], spot[2]
        if spot not in calls:
            return None
        spot = calls[spot]
    return None


# --- machine code ---------------------------------------------------------------------------------

_NOTE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)')
_CODE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/")
_HEX = re.compile(r"\s*/\* 0x[0-9a-f]{16} \*/\s*$")


def _sass(text: str, file: str) -> Iterator[Line]:
    place: Place | None = None
    noted = False
    for line in text.splitlines():
        found = _NOTE.match(line)
        if found:
            # A run of notes goes from the inside out: its last word on our file counts.
            if not noted:
                place = None
            if found[1].rpartition("/")[2] == file:
                place = int(found[2]), 0
            noted = True
            continue
        noted = False
        code = _CODE.match(line) is not None
        yield Line(_HEX.sub("", line), place if code else None)


# --- the CPU's plan -------------------------------------------------------------------------------

_BEHIND = re.compile(r" \(([^\s()]+):(\d+):(\d+)\)")


def _clusters(text: str, file: str) -> Iterator[Line]:
    for line in text.splitlines():
        places = [found for found in _BEHIND.finditer(line) if found[1] == file]
        place = (int(places[-1][2]), int(places[-1][3])) if places else None
        yield Line(_BEHIND.sub("", line), place)
