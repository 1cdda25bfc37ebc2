"""Which launches may have caused a fault: those since the GPU was last waited for.

A launch returns before it has run, so its fault is found by a later call. Launches are numbered as
they come: the slow path notes each one here, machine code writes number and grid into its record.
"""

from __future__ import annotations

import ctypes
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda import emit_parts as parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_cuda.record import Record

_NOTED = 64
_SHOWN = 6


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

    __slots__ = ("_noted", "_records", "_waited", "count")

    def __init__(self) -> None:
        self.count = Counter()
        self._waited = 0
        self._noted: deque[tuple[int, Any, tuple[int, int, int], Sequence[Any]]] = deque(
            maxlen=_NOTED
        )
        self._records: weakref.WeakKeyDictionary[Record, str] = weakref.WeakKeyDictionary()

    def note(self, metadata: Any, sizes: tuple[int, int, int], values: Sequence[Any]) -> None:
        """Know of a launch; what it is called with is made text only when it is asked for."""
        number = self.count.value + 1
        self.count.set(number)
        self._noted.append((number, metadata, sizes, values))

    def follow(self, record: Record, kernel: str) -> None:
        """Know of the launches that machine code writes into a record."""
        self._records[record] = kernel

    def waited(self, number: int) -> None:
        """All launches up to this number have ended well."""
        self._waited = number

    def latest(self) -> list[Launch]:
        """The launches since then, the latest first; of one call site only its last."""
        found = [
            Launch(number, metadata.kernel, sizes, shown_arguments(metadata, values))
            for number, metadata, sizes, values in self._noted
        ]
        for record, kernel in list(self._records.items()):
            xy, z = record.get(parts.LAST_GRID), record.get(parts.LAST_GRID_Z)
            sizes = (xy & 0xFFFFFFFF, xy >> 32, z)
            found.append(Launch(record.get(parts.NUMBER), kernel, sizes, ""))
        since = [launch for launch in found if launch.number > self._waited]
        return sorted(since, key=lambda launch: -launch.number)

    def text(self) -> str:
        """A sentence about them; empty when there are none."""
        launches = self.latest()
        if not launches:
            return ""
        if len(launches) == 1 and launches[0].number == self._waited + 1 == self.count.value:
            return f"the only launch since the GPU was waited for is {launches[0]}"
        shown = "; ".join(map(str, launches[:_SHOWN]))
        # Of a place that launches often only its last launch is known.
        hidden = self.count.value - self._waited - min(len(launches), _SHOWN)
        rest = f"; and {hidden} more" if hidden > 0 else ""
        return f"launches since the GPU was waited for, the latest first: {shown}{rest}"


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
