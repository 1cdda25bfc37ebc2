"""Reductions inside of a nest, in the order that ops/regions.py fixes for all but the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.builder import Builder
from teenyc.backend.cpu.inline import inline
from teenyc.backend.cpu.memory import store
from teenyc.backend.cpu.text import WIDTHS, Val, held_type, number, vector
from teenyc.ops import arith, arrays
from teenyc.types import shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.arena import Place
    from teenyc.backend.cpu.cluster import Reduce, Scan
    from teenyc.backend.cpu.evaluate import Evaluator
    from teenyc.ir.core import Operation, Region
    from teenyc.ir.opdef import OpDef

# What changes nothing, bit for bit: -0.0 + x is x even for x = -0.0.
_NEUTRAL: dict[OpDef, float] = {
    arith.ADDF: -0.0,
    arith.MULF: 1.0,
    arith.MAXNUMF: float("nan"),
    arith.MINNUMF: float("nan"),
    arith.MAXIMUMF: float("-inf"),
    arith.MINIMUMF: float("inf"),
    arith.ADDI: 0,
    arith.MULI: 1,
    arith.ORI: 0,
    arith.XORI: 0,
    arith.ANDI: -1,
    arith.MAXUI: 0,
    arith.MINUI: -1,
}


def lanes_of(op: Operation) -> int:
    """How many lanes a reduction along the last axis is combined in."""
    wide = any(WIDTHS[held_type(arrays.element_name(x.type))] == 64 for x in op.operands)
    return min(16 if wide else 32, shape_of(op.operands[0].type)[-1])


def _neutral(op: Operation) -> float | None:
    """The neutral element of a combining region that is one known operation."""
    ops = op.regions[0].block.ops
    args = op.regions[0].block.args
    if (
        len(op.operands) != 1
        or len(ops) != 2
        or sorted(map(id, ops[0].operands)) != sorted(map(id, args))
    ):
        return None
    element = arrays.element_name(op.operands[0].type)
    if ops[0].opdef in (arith.MAXSI, arith.MINSI) and element != "i1":
        limit = 1 << (int(element[1:]) - 1)
        return -limit if ops[0].opdef is arith.MAXSI else limit - 1
    return None if element == "i1" else _NEUTRAL.get(ops[0].opdef)


def combine(c: Builder, region: Region, left: list[Val], right: list[Val]) -> list[Val]:
    """The combining region applied to two values of each operand, lane by lane."""
    found = inline(c, region, [*left, *right])
    return [c.splat(x, left[0].lanes) for x in found]


class Reduction:
    """A reduction: `prepare` computes operands, `accumulate` combines, `finish` stores."""

    def __init__(self, evaluator: Evaluator, root: Reduce | Scan) -> None:
        self.e = evaluator
        self.nest = evaluator.nest
        self.root = root
        self.op = root.op
        self.axis = self.op.attrs["axis"]
        self.along = self.axis == self.nest.strip
        self.region = self.op.regions[0]
        self.types = [held_type(arrays.element_name(x.type)) for x in self.op.operands]
        self.lanes = lanes_of(self.op) if self.along else self.nest.width
        self.loops = self.nest.levels[self.axis] > 0
        self.totals: list[Val] = []

    def prepare(self) -> None:
        """Compute the operands where the body computes everything."""
        found = [self.e.value(x, self.nest.identity) for x in self.op.operands]
        self.operands = [self.e.c.splat(x, self.nest.width) for x in found]

    def accumulate(self) -> None:
        """Combine this strip with what came before."""
        nest, c = self.nest, self.e.c
        parts = [
            [_part(c, x, start, self.lanes, nest.top) for x in self.operands]
            for start in range(0, nest.width, self.lanes)
        ]
        found = parts[0]
        names = [f"%{nest.scope.label('total')}" for _ in self.types]
        neutral = _neutral(self.op)
        if self.loops:
            before = [
                Val(name, type_, self.lanes, nest.top)
                for name, type_ in zip(names, self.types, strict=True)
            ]
            found = combine(c, self.region, before, parts[0])
            if neutral is None:
                begins = c.compare("eq", nest.counters[self.axis], number(0, "i64"))
                found = [c.select(begins, x, y) for x, y in zip(parts[0], found, strict=True)]
        for part in parts[1:]:
            found = combine(c, self.region, found, part)
        if self.loops:
            for name, x in zip(names, found, strict=True):
                init = number(0 if neutral is None else neutral, x.type, self.lanes)
                nest.carry(name, init, x.text)
        self.totals = found

    def running(self) -> None:
        """A scan: what has been combined so far goes to its place, element by element."""
        for place, x in zip(self.root.places, self.totals, strict=True):
            self._put(self.e.c, place, x, self.nest.identity)

    def finish(self) -> None:
        """After the last strip: combine the lanes, and store the results."""
        nest = self.nest
        c = self.e.c
        if self.loops:
            c = Builder(c.output, [nest.posts[nest.depth]] * (nest.top + 1))
        found = [x._replace(level=nest.top) for x in self.totals]
        lanes = self.lanes if self.along else 0
        while lanes > 1:
            lanes //= 2
            low, high = ([_part(c, x, at, lanes, nest.top) for x in found] for at in (0, lanes))
            found = combine(c, self.region, low, high)
        if self.along:
            found = [c.put(f"extractelement {x}, i32 0", x.type, 0, nest.top) for x in found]
        for i, x in enumerate(found):
            if not self.root.places:
                nest.scope.scalars[id(self.op.results[i])] = x._replace(level=0)
            else:
                self._store(c, self.root.places[i], x)

    def _store(self, c: Builder, place: Place, x: Val) -> None:
        self._put(c, place, x, tuple(a for a in self.nest.identity if a != self.axis))

    def _put(self, c: Builder, place: Place, x: Val, seen: tuple[int, ...]) -> None:
        self.nest.scope.arena.touch(place)
        at, step, _ = self.e.address(place, seen)
        x = c.encode(x, "i1") if place.element == "i1" else x
        if step in (None, 1):
            x = (
                c.put(f"extractelement {x}, i32 0", x.type, 0, self.nest.top)
                if step is None and x.lanes
                else x
            )
            store(c, at, x, self.nest.top)
        else:
            self.e.scatter_strip(c, at, step or 1, x)


def _part(c: Builder, x: Val, start: int, lanes: int, level: int) -> Val:
    """Some neighboring lanes of a vector."""
    if x.lanes == lanes:
        return x
    picked = ", ".join(f"i32 {i}" for i in range(start, start + lanes))
    kind = vector(x.type, x.lanes)
    return c.put(
        f"shufflevector {x}, {kind} poison, <{lanes} x i32> <{picked}>", x.type, lanes, level
    )
