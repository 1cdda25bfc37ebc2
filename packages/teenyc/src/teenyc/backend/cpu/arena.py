"""Buffers of the arena and the places in it that tensors have; who lives when, and where.

A buffer lives from the step that first touches it to the one that last does, and through each loop
that it enters alive. Offsets are 64-byte aligned, first fit over live ranges.
"""

from __future__ import annotations

from math import prod

from teenyc.backend.cpu.text import WIDTHS, held_type

ALIGNMENT = 64


class Buffer:
    """A piece of the arena; `name` holds its address in the text."""

    __slots__ = ("first", "last", "name", "offset", "size")

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = -(-size // ALIGNMENT) * ALIGNMENT
        self.first = self.last = -1
        self.offset = 0


class Place:
    """Where the elements of a tensor are stored, row by row, as they are held in registers.

    `forward` is another place that this one has become part of (a value that is carried on); a
    place whose pointer changes while it lives (`is_fixed`) cannot become part of another.
    """

    __slots__ = ("buffers", "element", "forward", "is_fixed", "pointer", "shape")

    def __init__(self, shape: tuple[int, ...], element: str) -> None:
        self.shape = shape
        self.element = element
        self.forward: Place | None = None
        self.is_fixed = False
        self.pointer = ""
        self.buffers: tuple[Buffer, ...] = ()

    @property
    def target(self) -> Place:
        """The place itself, or the one it became part of."""
        return self if self.forward is None else self.forward.target

    @property
    def type(self) -> str:
        """The LLVM type of one element in the arena."""
        return "i8" if self.element == "i1" else held_type(self.element)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return prod(self.shape) * max(1, WIDTHS[self.type] // 8)

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one to the next along each axis."""
        found, step = [], 1
        for side in reversed(self.shape):
            found.append(step)
            step *= side
        return tuple(reversed(found))


class Arena:
    """All buffers of one kernel, and the clock of steps that their lives are measured by."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self._loops: list[tuple[int, int]] = []
        self._clock = 0

    def tick(self) -> int:
        """The next step begins."""
        self._clock += 1
        return self._clock

    def allocate(self, place: Place) -> None:
        """Give `place` a buffer of its own."""
        buffer = Buffer(f"%buffer{len(self.buffers)}", place.nbytes)
        self.buffers.append(buffer)
        place.pointer, place.buffers = buffer.name, (buffer,)

    def touch(self, place: Place) -> None:
        """`place` is read or written in this step."""
        for buffer in place.target.buffers:
            if buffer.first < 0:
                buffer.first = self._clock
            buffer.last = self._clock

    def loop(self, start: int) -> None:
        """A loop that began at step `start` ends here."""
        self._loops.append((start, self._clock))

    def layout(self) -> int:
        """Place every buffer; the bytes of the arena."""
        used = [buffer for buffer in self.buffers if buffer.first >= 0]
        for start, end in self._loops:  # inner loops come first
            for buffer in used:
                if buffer.first < start <= buffer.last:
                    buffer.last = max(buffer.last, end)
        total = 0
        placed: list[Buffer] = []
        for buffer in sorted(used, key=lambda b: (-b.size, b.first)):
            others = [b for b in placed if b.first <= buffer.last and buffer.first <= b.last]
            offset = 0
            for other in sorted(others, key=lambda b: b.offset):
                if offset + buffer.size <= other.offset:
                    break
                offset = max(offset, other.offset + other.size)
            buffer.offset = offset
            placed.append(buffer)
            total = max(total, offset + buffer.size)
        return total
