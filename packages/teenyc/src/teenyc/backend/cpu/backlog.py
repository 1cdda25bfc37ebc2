"""Rows that the next turn reads, put aside until a product has time to ask for them.

A core's line buffers hold few requests: asking for a whole tile at once stops the loads of this
turn. A product loads little and takes long, so it asks for a few rows before each register tile.
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

_LINE, _WORD = 64, 8
# Into the second-level cache: the first holds what this turn works on.
_LEVEL = 2


class Part(NamedTuple):
    """The strips of one tile: `rows` addresses from word `start` on, each of `nbytes` bytes."""

    start: int
    rows: int
    nbytes: int


class Asks(NamedTuple):
    """A list in the arena: addresses in this turn, then by how much those of each part grow."""

    pointer: str
    parts: tuple[Part, ...]

    @property
    def words(self) -> int:
        """Of all addresses."""
        return sum(part.rows for part in self.parts)


class Backlog:
    """The list, written by the nests before a product and read by it."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.place = Place((0,), "i64")
        self.parts: list[Part] = []
        self.growths: list[Val] = []

    @property
    def count(self) -> int:
        """Of the addresses noted."""
        return sum(part.rows for part in self.parts)

    def note(self, c: Builder, nest: Nest, address: Val, growth: Val, nbytes: int) -> None:
        """Put the address of a strip aside, in a word of its own for each turn of its loops."""
        level, start, step = min(address.level, nest.depth), self.count, 1
        if not self.parts:
            self.scope.arena.allocate(self.place)
        index = number(start, "i64")
        for axis in reversed(nest.order):
            if 0 < nest.levels[axis] <= level:
                turn = c.binary("udiv", nest.counters[axis], number(nest.step(axis), "i64"))
                index = c.binary("add", index, c.binary("mul", turn, number(step, "i64")))
                step *= -(-nest.shape[axis] // nest.step(axis))
        self.parts.append(Part(start, step, nbytes))
        self.growths.append(growth)
        self._touch()
        at = c.put(f"getelementptr i64, ptr {self.place.pointer}, {index}", "ptr", 0, index.level)
        c.do(f"store {address}, ptr {at.text}, align {_WORD}", address.level)

    def take(self) -> Asks | None:
        """What has been noted, for the product that is called next."""
        if not self.parts:
            return None
        self._touch()
        c = self.scope.builder()
        for i, growth in enumerate(self.growths, self.count):
            at = c.put(f"getelementptr i64, ptr {self.place.pointer}, i64 {i}", "ptr", 0, 0)
            c.do(f"store {growth}, ptr {at.text}, align {_WORD}", 0)
        return Asks(self.place.pointer, tuple(self.parts))

    def _touch(self) -> None:
        self.scope.arena.touch(self.place)
        (buffer,) = self.place.buffers
        buffer.grow((self.count + len(self.parts)) * _WORD)


def ask(output: Output, asks: Asks, tile: str, tiles: int, name: str) -> list[str]:
    """Lines that ask for a share of all rows: that of the register tile of the number `tile`.

    Where the shares are not even the last tiles ask for some rows again.
    """
    found = []
    for p, (start, rows, nbytes) in enumerate(asks.parts):
        share, at = -(-rows // tiles), f"%{name}.{p}"
        found += [
            f"  {at}.growth.p = getelementptr i64, ptr %asked, i64 {asks.words + p}",
            f"  {at}.growth = load i64, ptr {at}.growth.p, align {_WORD}",
            f"  {at}.own = mul i64 {tile}, {share}",
        ]
        first = f"{at}.own"
        if rows % tiles:
            output.declares.add("declare i64 @llvm.umin.i64(i64, i64)")
            first = f"{at}.in"
            found.append(f"  {first} = call i64 @llvm.umin.i64(i64 {at}.own, i64 {rows - share})")
        found += [
            f"  {at}.word = add i64 {first}, {start}",
            f"  {at}.p = getelementptr i64, ptr %asked, i64 {at}.word",
        ]
        for e in range(share):
            row = f"{at}.{e}"
            found += [
                f"  {row}.p = getelementptr i64, ptr {at}.p, i64 {e}",
                f"  {row}.now = load ptr, ptr {row}.p, align {_WORD}",
                f"  {row} = getelementptr i8, ptr {row}.now, i64 {at}.growth",
            ]
            for x, offset in enumerate(offsets(nbytes)):
                found += [
                    f"  {row}.{x} = getelementptr i8, ptr {row}, i64 {offset}",
                    f"  {prefetch(output, f'{row}.{x}')}",
                ]
    return found


def prefetch(output: Output, pointer: str, *, to_write: bool = False) -> str:
    """The instruction that asks for the line of what lies at `pointer`."""
    output.declares.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    return f"call void @llvm.prefetch.p0(ptr {pointer}, i32 {int(to_write)}, i32 {_LEVEL}, i32 1)"


def offsets(nbytes: int) -> tuple[int, ...]:
    """Where each line of a strip is met, wherever the strip begins."""
    return (*range(0, nbytes, _LINE), nbytes - 1)
