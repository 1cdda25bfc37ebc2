"""Positions in machine code brought back to the user's files, as `rewrite_ptx` does it in PTX.

A cubin in a cache or a bundle says `<kernel>.py` and counts in the unit's body. Sanitizers and
profilers read the line table of what is loaded (DWARF, `.debug_line`), so that table is written
anew; the code is not touched. What is not as expected leaves everything as it is.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny_macros.source import SourceMap

_ELF = b"\x7fELF\x02\x01"
_TABLE = b".debug_line"
_PTX = b".nv_debug_ptx_txt"
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_RELOCATIONS = {4: 24, 9: 16}  # sections with and without addends: bytes of a row
_ALIGNMENT = 256  # no less than any section asks for
# Opcodes of line programs (DWARF 2 to 4, 6.2.5).
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _SET_COLUMN = 1, 2, 3, 4, 5
_FIXED_ADVANCE_PC = 9
_END_SEQUENCE, _SET_ADDRESS = 1, 2
_VERSIONS = (2, 3, 4)
# Of PTX text.
_FILE = re.compile(rb'\.file\s+(\d+) "([^"]*)"')
_PLACE = re.compile(rb"(?:\.loc|inlined_at)\s+(\d+) (\d+) (\d+)")


class _UnknownTableError(Exception):
    """A line table of a form that is not known here. Never leaves this module."""


class _Section(NamedTuple):
    """A row of the table of sections, as the file has it."""

    name: int  # where it begins among the names
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    row_size: int


def rewrite_cubin(image: bytes, source_map: SourceMap, kernel: str, ptx: bytes = b"") -> bytes:
    """The cubin with positions in `<kernel>.py` replaced by those of the user's files.

    A cubin knows lines only; where a line of the unit was made from several lines, the first column
    that `ptx` names in it decides.
    """
    if not source_map.origins or not image.startswith(_ELF):
        return image
    try:
        sections, names = _sections(image)
        number = _find(image, sections, names, _TABLE)
        table = sections[number]
        old = image[table.offset : table.offset + table.size]
        new, moved = _Tables(source_map, f"{kernel}.py".encode(), ptx).rewrite(old)
        data = bytearray(image)
        for section in sections:
            if section.info == number and section.kind in _RELOCATIONS:
                _relocate(data, section, moved)
        return bytes(_replace(data, sections, number, new))
    except (_UnknownTableError, StopIteration, IndexError, KeyError, ValueError, struct.error):
        return image


def ptx_of(image: bytes) -> str:
    """The PTX that a cubin was made of, which it holds where it has lines; empty without."""
    if not image.startswith(_ELF):
        return ""
    try:
        sections, names = _sections(image)
        section = sections[_find(image, sections, names, _PTX)]
    except (_UnknownTableError, StopIteration):
        return ""
    text = image[section.offset : section.offset + section.size]
    return text.replace(b"\0", b"\n").decode("utf-8", "replace")


# --- the file -------------------------------------------------------------------------------------


def _sections(image: bytes) -> tuple[list[_Section], int]:
    """The sections, and where in the file their names begin."""
    (start,) = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    if size != _SECTION.size:
        raise _UnknownTableError
    rows = _SECTION.iter_unpack(image[start : start + size * count])
    found = [_Section._make(row) for row in rows]
    return found, found[names].offset


def _find(image: bytes, sections: list[_Section], names: int, name: bytes) -> int:
    """The number of the section of a name. Raises StopIteration."""
    wanted = name + b"\0"
    return next(i for i, one in enumerate(sections) if image.startswith(wanted, names + one.name))


def _relocate(data: bytearray, section: _Section, moved: dict[int, int]) -> None:
    """Let relocations of the table point at the addresses' new places."""
    step = _RELOCATIONS[section.kind]
    for at in range(section.offset, section.offset + section.size, step):
        (place,) = struct.unpack_from("<Q", data, at)
        struct.pack_into("<Q", data, at, moved[place])


def _replace(data: bytearray, sections: list[_Section], number: int, content: bytes) -> bytearray:
    """The file with another content of a section; what lies behind it moves, if it must."""
    table = sections[number]
    end = table.offset + table.size
    more = max(0, -(-(len(content) - table.size) // _ALIGNMENT) * _ALIGNMENT)
    segments, rows = struct.unpack_from("<QQ", data, 32)
    struct.pack_into("<Q", data, rows + _SECTION.size * number + 32, len(content))
    if more:
        for i, section in enumerate(sections):
            if section.offset >= end:
                place = rows + _SECTION.size * i + 24
                struct.pack_into("<Q", data, place, section.offset + more)
        size, count = struct.unpack_from("<HH", data, 54)
        for place in (*range(segments + 8, segments + 8 + size * count, size or 1), 32, 40):
            (offset,) = struct.unpack_from("<Q", data, place)
            if offset >= end:
                struct.pack_into("<Q", data, place, offset + more)
    room = table.size + more
    data[table.offset : end] = content + bytes(room - len(content))
    return data


# --- the table ------------------------------------------------------------------------------------


class _Tables:
    """Writes line tables anew. Rows keep their order and number: inlined calls refer to them."""

    def __init__(self, source_map: SourceMap, own: bytes, ptx: bytes) -> None:
        self.source_map = source_map
        self.own = own
        self.moved: dict[int, int] = {}
        self._ptx = ptx
        self._columns: dict[int, int] | None = None

    def lookup(self, line: int, column: int) -> tuple[str, int, int] | None:
        """The user's place; without a column that of the first code on the line."""
        origin = self.source_map.origins.get(line)
        if not column and origin is not None and len(origin.pieces) > 1:
            if self._columns is None:
                self._columns = _columns(self._ptx, self.own)
            column = self._columns.get(line, 0)
        return self.source_map.lookup(line, max(column, 1))

    def rewrite(self, old: bytes) -> tuple[bytes, dict[int, int]]:
        """The tables of a section, and where each address in them has gone."""
        out, at = bytearray(), 0
        while at < len(old):
            (length,) = struct.unpack_from("<I", old, at)
            end = at + 4 + length
            (version,) = struct.unpack_from("<H", old, at + 4)
            if version not in _VERSIONS or end > len(old):
                raise _UnknownTableError
            self._unit(old, at, end, version, out)
            at = end
        return bytes(out), self.moved

    def _unit(self, old: bytes, start: int, end: int, version: int, out: bytearray) -> None:
        (header,) = struct.unpack_from("<I", old, start + 6)
        program = start + 10 + header
        at = start + (12 if version >= 4 else 11)
        at += 1  # whether rows begin statements
        base, span, first = struct.unpack_from("<bBB", old, at)
        lengths = old[at + 3 : at + 2 + first]
        at += 2 + first
        while old[at]:
            at = old.index(b"\0", at) + 1
        at += 1
        names = [b""]
        while old[at]:
            stop = old.index(b"\0", at)
            names.append(old[at:stop])
            at = stop + 1
            for _ in range(3):
                _, at = _unsigned(old, at)
        writer = _Writer(self, names, (base, span, first, lengths))
        body = writer.run(old, program, end)
        begin = len(out)
        out += old[start:at]
        for name in names[writer.known :]:
            out += name + b"\0\0\0\0"
        out += old[at:program]
        struct.pack_into("<I", out, begin + 6, len(out) - begin - 10)
        for place, goal in writer.addresses:
            self.moved[place] = len(out) + goal
        out += body
        struct.pack_into("<I", out, begin, len(out) - begin - 4)


def _columns(ptx: bytes, own: bytes) -> dict[int, int]:
    """The first column of each line of a file that PTX names."""
    numbers = {number for number, name in _FILE.findall(ptx) if name.rpartition(b"/")[2] == own}
    found: dict[int, int] = {}
    for number, line, column in _PLACE.findall(ptx):
        at = int(column)
        if number in numbers and at and at < found.get(int(line), at + 1):
            found[int(line)] = at
    return found


class _Writer:
    """One line program: reads opcodes, and writes those that give the user's positions."""

    def __init__(
        self, tables: _Tables, names: list[bytes], form: tuple[int, int, int, bytes]
    ) -> None:
        self.tables = tables
        self.names = names
        self.known = len(names)
        self.form = form
        self.out = bytearray()
        self.addresses: list[tuple[int, int]] = []
        self.goals: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        self._begin()

    def _begin(self) -> None:
        self.read = [1, 1, 0]  # file, line, column
        self.written = (1, 1, 0)

    def run(self, old: bytes, at: int, end: int) -> bytes:
        """The program's new text."""
        base, span, first, lengths = self.form
        while at < end:
            op = old[at]
            begin, at = at, at + 1
            if op >= first:
                self.read[1] += base + (op - first) % span
                self._row((op - first) // span)
            elif op == 0:
                size, at = _unsigned(old, at)
                self._extended(old, begin, at, at + size)
                at += size
            elif op == _COPY:
                self._row(0)
            elif op == _ADVANCE_LINE:
                step, at = _signed(old, at)
                self.read[1] += step
            elif op in (_SET_FILE, _SET_COLUMN):
                value, at = _unsigned(old, at)
                self.read[0 if op == _SET_FILE else 2] = value
            else:
                if op == _FIXED_ADVANCE_PC:
                    at += 2
                else:
                    for _ in range(lengths[op - 1]):
                        _, at = _unsigned(old, at)
                self.out += old[begin:at]
        return bytes(self.out)

    def _extended(self, old: bytes, begin: int, at: int, end: int) -> None:
        if old[at] == _SET_ADDRESS:
            self.addresses.append((at + 1, len(self.out) + at + 1 - begin))
        self.out += old[begin:end]
        if old[at] == _END_SEQUENCE:
            self._begin()

    def _row(self, advance: int) -> None:
        """A row of the position that was read, mapped; the address advances before it."""
        read = self.read[0], self.read[1], self.read[2]
        goal = self.goals.get(read)
        if goal is None:
            goal = self.goals[read] = self._mapped(*read)
        if goal[0] != self.written[0]:
            self.out += bytes((_SET_FILE, *_leb(goal[0])))
        if goal[1] != self.written[1]:
            self.out += bytes((_ADVANCE_LINE, *_sleb(goal[1] - self.written[1])))
        if goal[2] != self.written[2]:
            self.out += bytes((_SET_COLUMN, *_leb(goal[2])))
        if advance:
            self.out += bytes((_ADVANCE_PC, *_leb(advance)))
        self.out.append(_COPY)
        self.written = goal

    def _mapped(self, file: int, line: int, column: int) -> tuple[int, int, int]:
        if self.names[file].rpartition(b"/")[2] != self.tables.own:
            return file, line, column
        there = self.tables.lookup(line, column)
        if there is None:
            return file, line, column
        name = there[0].encode()
        if name not in self.names[self.known :]:
            self.names.append(name)
        number = self.names.index(name, self.known)
        return number, there[1], there[2] if column else 0


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _signed(data: bytes, at: int) -> tuple[int, int]:
    begin = at
    value, at = _unsigned(data, at)
    bits = 7 * (at - begin)
    return value - (1 << bits) if data[at - 1] & 0x40 else value, at


def _leb(value: int) -> Iterable[int]:
    while value > 0x7F:
        yield value & 0x7F | 0x80
        value >>= 7
    yield value


def _sleb(value: int) -> Iterable[int]:
    while not -0x40 <= value < 0x40:
        yield value & 0x7F | 0x80
        value >>= 7
    yield value & 0x7F
