"""Scalars that say of a whole strip what a mask says lane by lane: all are on, none is.

A conjunction is taken apart; an affine side against a uniform one is decided by one bound of the
strip's index; anything else is reduced from the lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.nest import FIRST, NO_AXIS, ORIGIN
from teenyc.backend.cpu.structure import BROADCAST, EXPAND_DIMS, SPLAT, TRANS, VIEWS
from teenyc.backend.cpu.text import WIDTHS, Val, number, vector
from teenyc.ops import arith, arrays, compare
from teenyc.types import shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.evaluate import Evaluator
    from teenyc.ir.core import Operation, Value

Seen = tuple[int, ...]
_LESS = frozenset(("slt", "sle", "ult", "ule"))
_GREATER = frozenset(("sgt", "sge", "ugt", "uge"))


class MaskTests:
    """The tests of one nest's masks; `require` adds to those that its fast strips must pass."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.e = evaluator
        self.c = evaluator.c
        self.nest = evaluator.nest
        self.scope = evaluator.scope

    def require(self, mask: Value, seen: Seen) -> None:
        """Add scalars that together hold only where every lane of `mask` does."""
        c, op = self.c, mask.op
        seen = self.e.normal(mask, seen)
        at = [i for i, axis in enumerate(seen) if axis == self.nest.strip]
        uniform = all(self.scope.classes.axes.strides(mask)[i] == 0 for i in at)
        if uniform or op is None:
            self.nest.tests.append(self.e.value(mask, self.e.first(seen)))
            return
        if op.opdef is arith.ANDI:
            for operand in op.operands:
                self.require(operand, seen)
        elif op.opdef in VIEWS:
            self.require(op.operands[0], through(op, seen))
        elif op.opdef is compare.CMPI and self._test_ends(op, seen, at[0]):
            pass
        else:
            whole = c.splat(self.e.value(mask, seen), self.nest.width)
            name = f"@llvm.vector.reduce.and.v{whole.lanes}i1"
            c.output.declares.add(f"declare i1 {name}({vector('i1', whole.lanes)})")
            self.nest.tests.append(c.put(f"call i1 {name}({whole})", "i1", 0, whole.level))

    def surely_off(self, mask: Value, seen: Seen) -> list[Val]:
        """Scalars of which each means that no lane of `mask` is on."""
        c, op = self.c, mask.op
        seen = self.e.normal(mask, seen)
        at = [i for i, axis in enumerate(seen) if axis == self.nest.strip]
        if op is None or all(self.scope.classes.axes.strides(mask)[i] == 0 for i in at):
            on = self.e.value(mask, self.e.first(seen))
            return [c.binary("xor", on, number(1, "i1"))]
        if op.opdef is arith.ANDI:
            return [off for x in op.operands for off in self.surely_off(x, seen)]
        if op.opdef in VIEWS:
            return self.surely_off(op.operands[0], through(op, seen))
        found = self._ends(op, seen, at[0]) if op.opdef is compare.CMPI else None
        if found is None:
            return []
        off = found[1][0]
        for more in found[1][1:]:
            off = c.binary("and", off, more)
        return [off]

    def find_end(self, mask: Value, seen: Seen) -> tuple[Operation, Seen] | None:
        """A comparison in `mask` without which no lane is on, and from some strip on does not hold.

        One side grows by one from lane to lane, the other is the same in all.
        """
        seen = self.e.normal(mask, seen)
        op = mask.op
        if op is None or seen.count(self.nest.strip) != 1 or arrays.element_name(mask.type) != "i1":
            return None
        if op.opdef is arith.ANDI:
            found = (self.find_end(x, seen) for x in op.operands)
            return next((end for end in found if end is not None), None)
        if op.opdef in VIEWS:
            return self.find_end(op.operands[0], through(op, seen))
        if op.opdef is not compare.CMPI or op.attrs["predicate"] not in _LESS | _GREATER:
            return None
        at = seen.index(self.nest.strip)
        strides = [self.scope.classes.axes.strides(x)[at] for x in op.operands]
        grows = [1, 0] if op.attrs["predicate"] in _LESS else [0, 1]
        return (op, seen) if strides == grows else None

    def ended(self, op: Operation, seen: Seen) -> list[Val]:
        """Scalars that together say: what `find_end` found holds in no strip from here on."""
        c = self.c
        moving = 0 if op.attrs["predicate"] in _LESS else 1
        how, room, free = self._bounds(op, seen, moving=moving)
        index = self.nest.position(FIRST, "i64")
        off = [c.binary("xor", c.compare(how, index, room), number(1, "i1"))]
        if free is not None:
            last = self.nest.shape[self.nest.strip] - self.nest.width
            off.append(c.compare("sle", number(last, "i64"), free))
        return off

    def _ends(self, op: Operation, seen: Seen, at: int) -> tuple[list[Val], list[Val]] | None:
        """When a comparison of affine sides holds in all lanes, and when in none.

        Each is a list of scalars that must all hold; None where the sides are not affine.
        """
        strides = [self.scope.classes.axes.strides(x)[at] for x in op.operands]
        predicate = op.attrs["predicate"]
        if not all(isinstance(s, int) for s in strides) or 0 not in strides:
            return None
        slope = int(strides[0] or 0) - int(strides[1] or 0)
        if predicate not in _LESS | _GREATER:
            return None
        rises = (slope > 0) == (predicate in _LESS)
        if abs(slope) == 1 and rises:
            return self._hoisted_ends(op, seen, moving=0 if strides[0] else 1)
        c = self.c
        ends = [self.e.last(seen), self.e.first(seen)]
        if not rises:
            ends.reverse()
        far, near = (c.compare(predicate, *(self.e.value(x, e) for x in op.operands)) for e in ends)
        moving = op.operands[0 if strides[0] else 1]
        low, high = (
            self.e.value(moving, self.e.first(seen)),
            self.e.value(moving, self.e.last(seen)),
        )
        up = int(strides[0] or strides[1] or 0) > 0
        steady = c.compare(f"{predicate[0]}{'le' if up else 'ge'}", low, high)
        return [far, steady], [c.binary("xor", near, number(1, "i1")), steady]

    def _bounds(self, op: Operation, seen: Seen, *, moving: int) -> tuple[str, Val, Val | None]:
        """How the strip's index compares with which number where the first lane is on.

        And up to which index nothing wraps in the operands' own width, where that is below 64 bits.
        """
        c, predicate = self.c, op.attrs["predicate"]
        signed = predicate[0] == "s"
        origin = tuple(ORIGIN if a == self.nest.strip else a for a in seen)
        sides = [self.e.value(x, origin) for x in op.operands]
        bits = WIDTHS[sides[0].type]
        if bits < 64:
            sides = [c.cast("sext" if signed else "zext", x, "i64") for x in sides]
        room = c.binary("sub", sides[1 - moving], sides[moving])
        how = "sle" if predicate.endswith("e") else "slt"
        if bits == 64:
            return how, room, None
        most = (1 << (bits - signed)) - self.nest.width
        return how, room, c.binary("sub", number(most, "i64"), sides[moving])

    def _hoisted_ends(
        self, op: Operation, seen: Seen, *, moving: int
    ) -> tuple[list[Val], list[Val]]:
        """The same for a side that grows by one from lane to lane: bounds of the strip's index.

        In 64 bits nothing wraps, so the bounds stand outside of the loop.
        """
        c = self.c
        how, room, free = self._bounds(op, seen, moving=moving)
        index, last = self.nest.position(FIRST, "i64"), number(self.nest.width - 1, "i64")
        on = c.compare(how, index, c.binary("sub", room, last))
        off = [c.binary("xor", c.compare(how, index, room), number(1, "i1"))]
        if free is not None:
            off.append(c.compare("sle", index, free))
        return [on], off

    def _test_ends(self, op: Operation, seen: Seen, at: int) -> bool:
        """A comparison of affine sides holds for all lanes where it holds at the right end."""
        found = self._ends(op, seen, at)
        if found is not None:
            self.nest.tests += found[0]
        return found is not None


def through(op: Operation, seen: Seen) -> Seen:
    """How the operand of a view is seen where its result is seen through `seen`."""
    if op.opdef is SPLAT:
        return ()
    if op.opdef is EXPAND_DIMS:
        axis = op.attrs["axis"]
        return (*seen[:axis], *seen[axis + 1 :])
    if op.opdef is BROADCAST:
        before = shape_of(op.operands[0].type)
        return tuple(NO_AXIS if n == 1 else a for n, a in zip(before, seen, strict=True))
    assert op.opdef is TRANS
    found = [NO_AXIS] * len(seen)
    for position, source in enumerate(op.attrs["order"]):
        found[source] = seen[position]
    return tuple(found)
