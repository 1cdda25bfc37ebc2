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

    def grow(self, size: int) -> None:
        """Make room for `size` bytes, before the layout."""
        self.size = max(self.size, -(-size // ALIGNMENT) * ALIGNMENT)


class Place:
    """Where the elements of a tensor are stored, row by row, as they are held in registers.

    `forward` is another place that this one has become part of (a value that is carried on); a
    place whose pointer changes while it lives (`is_fixed`) cannot become part of another. A view
    has a `base`, whose elements it sees from `offset` on, `own_strides` apart.
    """

    __slots__ = (
        "_buffers", "_pointer", "base", "element", "forward", "is_fixed", "offset", "own_strides",
        "shape",
    )  # fmt: skip

    def __init__(self, shape: tuple[int, ...], element: str) -> None:
        self.shape = shape
        self.element = element
        self.forward: Place | None = None
        self.is_fixed = False
        self.base: Place | None = None
        self.offset = 0
        self.own_strides: tuple[int, ...] | None = None
        self._pointer = ""
        self._buffers: tuple[Buffer, ...] = ()

    def view(self, shape: tuple[int, ...], offset: int, strides: tuple[int, ...]) -> Place:
        """Some of the elements, as a place of their own."""
        made = Place(shape, self.element)
        made.base, made.offset, made.own_strides, made.is_fixed = self, offset, strides, True
        return made

    @property
    def target(self) -> Place:
        """The place itself, or the one it became part of."""
        return self if self.forward is None else self.forward.target

    @property
    def root(self) -> Place:
        """The place that holds the elements."""
        return self.target if self.base is None else self.base.root

    @property
    def start(self) -> int:
        """Elements from the root's first to this one's."""
        return self.offset + (self.base.start if self.base is not None else 0)

    @property
    def pointer(self) -> str:
        """The name that holds the root's address; empty until there is one."""
        return self._pointer if self.base is None else self.root.pointer

    @pointer.setter
    def pointer(self, name: str) -> None:
        self._pointer = name

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The pieces of the arena that it is in, by turns."""
        return self._buffers if self.base is None else self.root.buffers

    @buffers.setter
    def buffers(self, found: tuple[Buffer, ...]) -> None:
        self._buffers = found

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
        return row_major(self.shape) if self.own_strides is None else self.own_strides


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor stored row by row."""
    found, step = [], 1
    for side in reversed(shape):
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
