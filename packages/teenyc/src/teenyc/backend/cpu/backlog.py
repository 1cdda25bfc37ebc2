"""Addresses that the next turn reads, put aside until a product has time to ask for them.

The line buffers of a core hold few requests at once: asking for a whole tile stops the loads of
this turn. A product loads little and takes long, so it asks for a few lines before each of its
register tiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teenyc.backend.cpu.arena import Place
from teenyc.backend.cpu.text import Val, number

if TYPE_CHECKING:
    from teenyc.backend.cpu.builder import Builder
    from teenyc.backend.cpu.nest import Nest
    from teenyc.backend.cpu.scope import Scope
    from teenyc.backend.cpu.text import Output

_LINE = 64
_WORD = 8
# Into the second-level cache: the first holds what this turn works on.
_LEVEL = 2


class Asks(NamedTuple):
    """`count` addresses at `pointer`, each of the first of `nbytes` bytes."""

    pointer: str
    count: int
    nbytes: int


class Backlog:
    """A list of addresses in the arena, written by the nests before a product, read by it."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.place = Place((0,), "i64")
        self.count = self.nbytes = 0

    def note(self, c: Builder, nest: Nest, address: Val, nbytes: int) -> None:
        """Put `address` aside, in the word of its strip."""
        scope, level = self.scope, min(address.level, nest.depth)
        if not self.count:
            scope.arena.allocate(self.place)
        scope.arena.touch(self.place)
        index, step = number(self.count, "i64"), 1
        for axis in reversed(nest.order):
            if 0 < nest.levels[axis] <= level:
                turn = c.binary("udiv", nest.counters[axis], number(nest.step(axis), "i64"))
                index = c.binary("add", index, c.binary("mul", turn, number(step, "i64")))
                step *= -(-nest.shape[axis] // nest.step(axis))
        self.count += step
        self.nbytes = max(self.nbytes, nbytes)
        (buffer,) = self.place.buffers
        buffer.grow(self.count * _WORD)
        text = f"getelementptr i64, ptr {self.place.pointer}, {index}"
        at = c.put(text, "ptr", 0, address.level).text
        c.do(f"store {address}, ptr {at}, align {_WORD}", address.level)

    def take(self) -> Asks | None:
        """What has been noted; the product that takes it asks for all of it."""
        if not self.count:
            return None
        self.scope.arena.touch(self.place)
        return Asks(self.place.pointer, self.count, self.nbytes)


def prefetch(output: Output, pointer: str) -> str:
    """The line that asks for what lies at `pointer`."""
    output.declares.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    return f"call void @llvm.prefetch.p0(ptr {pointer}, i32 0, i32 {_LEVEL}, i32 1)"


def offsets(nbytes: int) -> tuple[int, ...]:
    """Where each line of a strip is met, wherever the strip begins."""
    return (*range(0, nbytes, _LINE), nbytes - 1)
