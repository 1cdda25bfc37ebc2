"""Reductions inside of a nest, in the order that ops/regions.py fixes for all but the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.builder import Builder
from teenyc.backend.cpu.cluster import Scan
from teenyc.backend.cpu.inline import inline
from teenyc.backend.cpu.memory import store
from teenyc.backend.cpu.text import WIDTHS, Val, held_type, number, vector
from teenyc.ops import arith, arrays
from teenyc.types import shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.arena import Place
    from teenyc.backend.cpu.cluster import Reduce
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


# Greatest and least of floats are taken of integers that have their order, NaN below or above all:
# one short instruction in the chain from strip to strip instead of six.
_ORDERED = {
    arith.MAXNUMF: ("smax", False),
    arith.MINNUMF: ("smin", True),
    arith.MAXIMUMF: ("smax", True),
    arith.MINIMUMF: ("smin", False),
}


def lanes_of(op: Operation) -> int:
    """How many lanes a reduction along the last axis is combined in."""
    wide = any(WIDTHS[held_type(arrays.element_name(x.type))] == 64 for x in op.operands)
    return min(16 if wide else 32, shape_of(op.operands[0].type)[-1])


def _only_operation(op: Operation) -> OpDef | None:
    """The operation that a combining region is, if it is a single one."""
    ops = op.regions[0].block.ops
    args = op.regions[0].block.args
    single = len(op.operands) == 1 and len(ops) == 2
    if not single or sorted(map(id, ops[0].operands)) != sorted(map(id, args)):
        return None
    return ops[0].opdef


def _neutral(op: Operation) -> float | None:
    """The neutral element of a combining region that is one known operation."""
    found = _only_operation(op)
    element = arrays.element_name(op.operands[0].type)
    if found is None or element == "i1":
        return None
    if found in (arith.MAXSI, arith.MINSI):
        limit = 1 << (int(element[1:]) - 1)
        return -limit if found is arith.MAXSI else limit - 1
    return _NEUTRAL.get(found)


class _Order:
    """Floats as integers of their order."""

    def __init__(self, name: str, type_: str, *, nan_above: bool) -> None:
        self.name = name
        self.bits = WIDTHS[type_]
        self.type = type_
        self.greatest = (1 << (self.bits - 1)) - 1
        self.nan = self.greatest if nan_above else -self.greatest - 1
        self.neutral = -self.greatest - 1 if name == "smax" else self.greatest

    def coded(self, c: Builder, x: Val) -> Val:
        """The integer of a float: as its bits, those of negative numbers turned round."""
        found = self._turned(c, c.bits(x))
        return c.select(c.compare("uno", x, x), number(self.nan, found.type), found)

    def decoded(self, c: Builder, x: Val) -> Val:
        """The float of an integer."""
        return c.cast("bitcast", self._turned(c, x), self.type)

    def _turned(self, c: Builder, x: Val) -> Val:
        sign = c.binary("ashr", x, number(self.bits - 1, x.type))
        return c.binary("xor", x, c.binary("and", sign, number(self.greatest, x.type)))


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
        self.before: list[Val] = []
        self.totals: list[Val] = []
        self.order = self._order()

    def _order(self) -> _Order | None:
        found = _ORDERED.get(_only_operation(self.op))  # type: ignore[arg-type]
        wide = self.types[0] == "double" and not self.e.scope.output.features.has("avx512f")
        if found is None or wide or not self.loops or isinstance(self.root, Scan):
            return None
        return _Order(found[0], self.types[0], nan_above=found[1])

    def prepare(self) -> None:
        """Compute the operands where the body computes everything."""
        c = self.e.c
        found = [self.e.value(x, self.nest.identity) for x in self.op.operands]
        self.operands = [c.splat(x, self.nest.width) for x in found]
        if self.order is not None:
            self.operands = [self.order.coded(c, x) for x in self.operands]

    def _combined(self, c: Builder, left: list[Val], right: list[Val]) -> list[Val]:
        if self.order is not None:
            return [c.extreme(self.order.name, left[0], right[0])]
        return combine(c, self.region, left, right)

    def accumulate(self) -> None:
        """Combine this strip with what came before."""
        nest, c = self.nest, self.e.c
        parts = [
            [_part(c, x, start, self.lanes, nest.top) for x in self.operands]
            for start in range(0, nest.width, self.lanes)
        ]
        found = parts[0]
        names = [f"%{nest.scope.label('total')}" for _ in self.types]
        neutral = _neutral(self.op) if self.order is None else self.order.neutral
        if self.loops:
            self.before = [
                Val(name, x.type, self.lanes, nest.top)
                for name, x in zip(names, found, strict=True)
            ]
            found = self._combined(c, self.before, parts[0])
            if neutral is None:
                begins = c.compare("eq", nest.counters[self.axis], number(0, "i64"))
                found = [c.select(begins, x, y) for x, y in zip(parts[0], found, strict=True)]
        for part in parts[1:]:
            found = self._combined(c, found, part)
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
            found = self._combined(c, low, high)
        if self.along:
            found = [c.put(f"extractelement {x}, i32 0", x.type, 0, nest.top) for x in found]
        if self.order is not None:
            found = [self.order.decoded(c, x) for x in found]
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
            if step is None and x.lanes:
                x = c.put(f"extractelement {x}, i32 0", x.type, 0, self.nest.top)
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
