"""What a loop reads in its next turn, asked for in this one: rows far apart escape the hardware.

How far an address moves from turn to turn follows from how it is computed. These are hints: where
nothing is known nothing is written, and no address needs to be right or even to exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.backlog import offsets, prefetch
from teenyc.backend.cpu.structure import VIEWS
from teenyc.backend.cpu.text import Val, number
from teenyc.ops import arith, arrays, casts
from teenyc.ops.memory import ADDPTR
from teenyc.types import PointerType, scalar_of, shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.builder import Builder
    from teenyc.backend.cpu.nest import Nest
    from teenyc.backend.cpu.scope import Scope
    from teenyc.ir.core import Block, Operation, Value

_STILL = number(0, "i64")
_WIDER = frozenset((casts.EXTSI, casts.EXTUI, casts.TRUNCI))
# Longer chains are not followed.
_DEPTH = 40


class Growth:
    """By how much values of a loop's body grow each turn, as i64 at the body's level.

    It is made where the body begins: what the loop carries grows by amounts computed there.
    """

    def __init__(self, scope: Scope, block: Block, stride: Val) -> None:
        self.scope = scope
        self.args = block.args
        self.inside = {id(result) for op in block.ops for result in op.results}
        self.known: dict[int, Val | None] = {id(block.args[0]): stride}
        c = scope.builder()
        for arg, end in zip(block.args[1:], block.ops[-1].operands, strict=True):
            self.known[id(arg)] = None if shape_of(arg.type) else self._carried(c, arg, end)

    def _carried(self, c: Builder, arg: Value, end: Value) -> Val | None:
        total: Val = _STILL
        while end is not arg:
            op = end.op
            if op is None or op.opdef not in (ADDPTR, arith.ADDI) or id(end) not in self.inside:
                return None
            one, other = op.operands
            if op.opdef is arith.ADDI and one.op is None and one is not arg:
                one, other = other, one
            amount = self._invariant(c, other, _DEPTH)
            if amount is None:
                return None
            total = _sum(c, total, _scaled(c, op, c.cast("sext", amount, "i64")))
            end = one
        return total

    def _invariant(self, c: Builder, value: Value, depth: int) -> Val | None:
        """A scalar that is the same in each turn, computed before the first use of the body."""
        op = value.op
        if value in self.args or not depth or shape_of(value.type):
            return None
        if id(value) not in self.inside:
            return self.scope.scalars.get(id(value))
        if op is None or op.opdef.cpu is None:
            return None
        operands = [self._invariant(c, x, depth - 1) for x in op.operands]
        found = [x for x in operands if x is not None]
        return op.opdef.cpu(c, op, *found) if len(found) == len(operands) else None

    def of(self, c: Builder, value: Value) -> Val | None:
        """By how much `value` grows; None where that is not known."""
        return self._of(c, value, {}, _DEPTH)

    def _of(self, c: Builder, value: Value, seen: dict[int, Val | None], depth: int) -> Val | None:
        key, op = id(value), value.op
        if key in self.known:
            return self.known[key]
        if op is None or key not in self.inside:
            return _STILL
        if key not in seen:
            parts = [self._of(c, x, seen, depth - 1) for x in op.operands] if depth else [None]
            known = [part for part in parts if part is not None]
            seen[key] = self._rule(c, op, known) if len(known) == len(parts) else None
        return seen[key]

    def _rule(self, c: Builder, op: Operation, parts: list[Val]) -> Val | None:
        if all(part == _STILL for part in parts):
            return _STILL
        if op.opdef is arith.ADDI:
            return _sum(c, parts[0], parts[1])
        if op.opdef is ADDPTR:
            return _sum(c, parts[0], _scaled(c, op, parts[1]))
        if op.opdef in VIEWS or op.opdef in _WIDER:
            return parts[0]
        if op.opdef is arith.MULI:
            at = 0 if parts[1] == _STILL else 1
            factor = self._uniform(op.operands[1 - at])
            if factor is not None and parts[1 - at] == _STILL:
                return c.binary("mul", parts[at], c.cast("sext", factor, "i64"))
        return None

    def _uniform(self, value: Value) -> Val | None:
        """The scalar in every element."""
        op = value.op
        while op is not None and op.opdef in VIEWS:
            value = op.operands[0]
            op = value.op
        if op is not None and op.opdef is arith.CONSTANT and shape_of(value.type):
            return number(int(op.attrs["value"]), "i64")
        return None if shape_of(value.type) else self.scope.scalars.get(id(value))


def _sum(c: Builder, x: Val, y: Val) -> Val:
    if _STILL in (x, y):
        return y if x == _STILL else x
    return c.binary("add", x, y)


def _scaled(c: Builder, op: Operation, amount: Val) -> Val:
    """An offset in bytes, if `op` moves a pointer."""
    if op.opdef is not ADDPTR or amount == _STILL:
        return amount
    pointer = scalar_of(op.result.type)
    assert isinstance(pointer, PointerType)
    return c.binary("mul", amount, number(arrays.itemsize(pointer.pointee), "i64"))


def ask_ahead(nest: Nest, c: Builder, value: Value, first: Val, nbytes: int) -> None:
    """Ask for the strip of `nbytes` that lies in the next turn where `first` lies in this one."""
    scope = nest.scope
    growth = scope.growth.of(c, value) if scope.growth is not None else None
    if growth is None or growth == _STILL:
        return
    if scope.backlog is not None:
        scope.backlog.note(c, nest, first, growth, nbytes)
        return
    there = c.binary("add", first, growth)
    for offset in offsets(nbytes):
        address = c.binary("add", there, number(offset, "i64"))
        at = c.put(f"inttoptr {address} to ptr", "ptr", 0, address.level).text
        c.do(prefetch(c.output, at), address.level)
