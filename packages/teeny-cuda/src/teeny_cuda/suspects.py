"""Which launches may have caused a fault: those since the GPU was last waited for.

A launch returns before it has run, so its fault is found by a later call. Launches are numbered as
they come: the slow path notes each one here, machine code writes it into a row of the context's.
"""

from __future__ import annotations

import ctypes
import itertools
import struct
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda import emit_parts as parts
from teeny_cuda.dtypes import require_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_cuda.record import Record

_ROW = 2**parts.ROW_BITS // 8  # words
_SHOWN = 6
_FORGET = 256  # so many ended records before their names are looked through


class Counter:
    """A number at a fixed address, which machine code reads or counts."""

    __slots__ = ("_cell", "address")

    def __init__(self) -> None:
        self._cell = (ctypes.c_uint64 * 1)()
        self.address = ctypes.addressof(self._cell)

    @property
    def value(self) -> int:
        """The number."""
        return self._cell[0]

    def set(self, value: int) -> None:
        """Change the number."""
        self._cell[0] = value


class Launch(NamedTuple):
    """A launch of the slow path: its number, what ran over which grid, with which arguments."""

    number: int
    kernel: str
    sizes: tuple[int, int, int]
    arguments: str

    def __str__(self) -> str:
        x, y, z = self.sizes
        arguments = f" ({self.arguments})" if self.arguments else ""
        return f"`{self.kernel}` over {x} x {y} x {z}{arguments}"


class Suspects:
    """The launches of one context."""

    __slots__ = ("_cells", "_ended", "_followed", "_noted", "_serials", "_waited", "address")

    def __init__(self) -> None:
        self._cells = (ctypes.c_uint64 * (1 + parts.NOTES_ROWS * _ROW))()
        self.address = ctypes.addressof(self._cells)
        self._waited = 0
        self._noted: deque[tuple[int, Any, tuple[int, int, int], Sequence[Any]]] = deque(
            maxlen=parts.NOTES_ROWS
        )
        # What the numbers of records stand for; ended records' only while rows may name them.
        self._followed: dict[int, Any] = {}
        self._ended: deque[int] = deque()
        self._serials = itertools.count(1)

    @property
    def count(self) -> int:
        """How many launches there were."""
        return int(self._cells[0])

    def note(self, metadata: Any, sizes: tuple[int, int, int], values: Sequence[Any]) -> None:
        """Know of a launch; what it is called with is made text only when it is asked for."""
        number = self._cells[0] = self._cells[0] + 1
        self._noted.append((number, metadata, sizes, values))

    def follow(self, record: Record, metadata: Any) -> int:
        """The number by which machine code names a record in what it notes of launches."""
        if len(self._ended) > _FORGET:
            rows = {self._cells[at] for at in range(1 + parts.ROW_SERIAL, len(self._cells), _ROW)}
            for _ in range(len(self._ended)):
                ended = self._ended.popleft()
                if ended in rows:
                    self._ended.append(ended)
                else:
                    self._followed.pop(ended, None)
        serial = next(self._serials)
        self._followed[serial] = metadata
        weakref.finalize(record, self._ended.append, serial).atexit = False
        return serial

    def waited(self, number: int) -> None:
        """All launches up to this number have ended well."""
        self._waited = number

    def latest(self) -> list[Launch]:
        """The launches since then, the latest first; beyond a few dozen only the latest."""
        found = [
            Launch(number, metadata.kernel, sizes, shown_arguments(metadata, values))
            for number, metadata, sizes, values in self._noted
            if number > self._waited
        ]
        for at in range(1, len(self._cells), _ROW):
            row = self._cells[at : at + _ROW]
            metadata = self._followed.get(row[parts.ROW_SERIAL])
            if row[0] > self._waited and metadata is not None:
                found.append(_launch_of(row, metadata))
        return sorted(found, key=lambda launch: -launch.number)

    def text(self) -> str:
        """A sentence about them; empty when there are none."""
        launches = self.latest()
        if not launches:
            return ""
        if len(launches) == 1 and launches[0].number == self._waited + 1 == self.count:
            return f"the only launch since the GPU was waited for is {launches[0]}"
        shown = "; ".join(map(str, launches[:_SHOWN]))
        hidden = self.count - self._waited - min(len(launches), _SHOWN)
        rest = f"; and {hidden} more" if hidden > 0 else ""
        return f"launches since the GPU was waited for, the latest first: {shown}{rest}"


def _launch_of(row: Sequence[int], metadata: Any) -> Launch:
    """A row that machine code wrote."""
    xy, z = row[parts.ROW_GRID], row[parts.ROW_GRID_Z]
    noted = list(zip(metadata.params, row[parts.ROW_ARGUMENTS :], strict=False))
    shown = [f"{param.name} = {_shown(param.kind, _value(param, word))}" for param, word in noted]
    if len(metadata.params) > len(noted):
        shown.append("...")
    return Launch(row[0], metadata.kernel, (xy & 0xFFFFFFFF, xy >> 32, z), ", ".join(shown))


def _value(param: Any, word: int) -> Any:
    """What the 8 bytes of an argument's slot hold."""
    if param.kind != "scalar":
        return word
    letter = "<" + require_dtype(param.dtype).letter
    return struct.unpack_from(letter, word.to_bytes(8, "little"))[0]


def shown_arguments(metadata: Any, values: Sequence[Any]) -> str:
    """The packed arguments of a launch by their parameters."""
    return ", ".join(
        f"{param.name} = {_shown(param.kind, value)}"
        for param, value in zip(metadata.params, values, strict=True)
    )


def _shown(kind: str, value: Any) -> str:
    if kind == "pointer":
        return hex(value) if value else "None"
    return "a tensor map" if kind == "descriptor" else repr(value)
