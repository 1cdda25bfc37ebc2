"""Strides of integer and pointer tensors along each axis, as far as the text tells.

A stride is a number (bytes for pointers), `UNIFORM` (the same from element to element, but only
known at run time) or None (not affine). Wrapping inside of one strip of lanes is not considered, as
on a GPU; addresses are computed in the width of the kernel's own arithmetic before that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.structure import SPLAT, VIEWS
from teenyc.ops import arith, arrays, casts
from teenyc.ops.memory import ADDPTR, LOAD
from teenyc.ops.shape import BROADCAST, EXPAND_DIMS, MAKE_RANGE
from teenyc.passes.canonicalize import constant_value
from teenyc.types import PointerType, scalar_of, shape_of

if TYPE_CHECKING:
    from teenyc.ir.core import Operation, Value

UNIFORM = "uniform"
Stride = int | str | None
_SAME = frozenset(
    (casts.EXTSI, casts.EXTUI, casts.TRUNCI, casts.BITCAST, casts.PTR_TO_INT, casts.INT_TO_PTR)
)
_REMAINDERS = frozenset((arith.REMSI, arith.REMUI))


class Axes:
    """Strides of values, found once each.

    With `guess`, a remainder is taken as its dividend: the strip must then be tested at run time.
    """

    def __init__(self, *, guess: bool = False) -> None:
        self._guess = guess
        self._found: dict[int, tuple[Stride, ...]] = {}

    def strides(self, value: Value) -> tuple[Stride, ...]:
        """One stride for each axis of `value`."""
        known = self._found.get(id(value))
        if known is None:
            shape = shape_of(value.type)
            found = self._of(value) if shape else ()
            known = tuple(0 if n == 1 else s for n, s in zip(shape, found, strict=True))
            self._found[id(value)] = known
        return known

    def _of(self, value: Value) -> tuple[Stride, ...]:
        op = value.op
        rank = len(shape_of(value.type))
        if op is None:
            return (None,) * rank
        if op.opdef is MAKE_RANGE:
            return (1,)
        if op.opdef in (arith.CONSTANT, SPLAT):
            return (0,) * rank
        if op.opdef in VIEWS:
            return self._view(op)
        if op.opdef.cpu is None and op.opdef is not LOAD:
            return (None,) * rank
        operands = [self.strides(x) if shape_of(x.type) else (0,) * rank for x in op.operands]
        return tuple(self._combined(op, axis, [s[axis] for s in operands]) for axis in range(rank))

    def _view(self, op: Operation) -> tuple[Stride, ...]:
        before = self.strides(op.operands[0])
        if op.opdef is EXPAND_DIMS:
            axis = op.attrs["axis"]
            return (*before[:axis], 0, *before[axis:])
        if op.opdef is BROADCAST:
            return before
        return tuple(before[i] for i in op.attrs["order"])

    def _combined(self, op: Operation, axis: int, strides: list[Stride]) -> Stride:
        if all(stride == 0 for stride in strides):
            return 0
        opdef = op.opdef
        if opdef in _SAME:
            return strides[0]
        if opdef is arith.ADDI:
            return _sum(strides[0], strides[1])
        if opdef is arith.SUBI:
            return _sum(strides[0], _times(strides[1], -1))
        if opdef is ADDPTR:
            pointee = scalar_of(op.operands[0].type)
            assert isinstance(pointee, PointerType)
            return _sum(strides[0], _times(strides[1], arrays.itemsize(pointee.pointee)))
        if opdef is arith.MULI:
            return self._product(op, strides)
        if opdef is arith.SHLI:
            amount = constant_value(op.operands[1])
            return _times(strides[0], 1 << amount) if amount is not None else None
        if opdef in _REMAINDERS and self._guess and strides[1] == 0:
            return strides[0]
        return None

    def _product(self, op: Operation, strides: list[Stride]) -> Stride:
        for one, other in ((0, 1), (1, 0)):
            if strides[other] == 0:
                factor = constant_value(op.operands[other])
                if factor is not None:
                    return _times(strides[one], factor)
                return UNIFORM if strides[one] is not None else None
        return None


def _sum(x: Stride, y: Stride) -> Stride:
    if x is None or y is None:
        return None
    if x == 0:
        return y
    if y == 0:
        return x
    return x + y if isinstance(x, int) and isinstance(y, int) else UNIFORM


def _times(x: Stride, factor: int) -> Stride:
    return x * factor if isinstance(x, int) else x
