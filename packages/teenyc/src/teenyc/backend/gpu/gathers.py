"""Gathers that libtriton before 3.9 cannot place, as gathers of one axis, which it can.

It spreads a gather's columns over threads and warps and ends in an assertion where there are not
enough of them and the picks are longer than the source.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from teenyc.ir.opdef import HANDLERS
from teenyc.ops import arrays
from teenyc.ops.indexing import GATHER
from teenyc.passes.replace import replace
from teenyc.types import DTYPES, I32, shape_of
from teenyc.values import RuntimeValue

if TYPE_CHECKING:
    from teenyc.ir.builder import Builder
    from teenyc.ir.core import Module, Operation, Value

_WARP_SIZE = 32


def flatten_gathers(module: Module) -> None:
    """Replace the gathers concerned, in place."""
    warps = module.attributes["num_warps"]

    def make(b: Builder, op: Operation) -> Value | None:
        return _flat(b, op) if op.opdef is GATHER and _is_concerned(op, warps) else None

    replace(module, make)


def _is_concerned(op: Operation, warps: int) -> bool:
    """The picks are longer than the source, and the columns fewer than several warps need."""
    source, index = (shape_of(value.type) for value in op.operands)
    axis = op.attrs["axis"]
    if warps == 1 or len(source) == 1 or index[axis] <= source[axis]:
        return False
    columns = prod(source) // source[axis]
    return bool(columns * min(source[axis], _WARP_SIZE) < _WARP_SIZE * warps)


def _flat(b: Builder, op: Operation) -> Value:
    """The same of one axis: the positions of a row-major array, with the pick for the axis's."""
    source, index = op.operands
    axis, shape, picked = op.attrs["axis"], shape_of(source.type), shape_of(index.type)
    picks = _held(index, "u")  # as libtriton, which fills what is narrower than i32 with zeros
    total = _do(b, "operator.mul", lhs=_cast(b, picks), rhs=prod(shape[axis + 1 :]))
    for side in range(len(shape)):
        if side != axis:
            at = _along(b, shape, side)
            at = _do(b, "operator.mul", lhs=at, rhs=prod(shape[side + 1 :]))
            total = _do(b, "operator.add", lhs=total, rhs=at)
    flat = _do(b, "reshape", input=_held(source), shape=(prod(shape),))
    picks = _do(b, "reshape", input=total, shape=(prod(picked),))
    found = b.value(GATHER, flat.ir, picks.ir, axis=0)
    element = RuntimeValue(found, flat.dtype, picks.shape)
    return _do(b, "reshape", input=element, shape=picked).ir


def _along(b: Builder, shape: tuple[int, ...], side: int) -> RuntimeValue:
    """The positions along a side, of length 1 along all others."""
    positions = _do(b, "arange", start=0, end=shape[side])
    ones = [1] * len(shape)
    ones[side] = shape[side]
    return _do(b, "reshape", input=positions, shape=tuple(ones))


def _held(value: Value, kind: str = "") -> RuntimeValue:
    name = arrays.element_name(value.type)
    return RuntimeValue(value, DTYPES[kind + name[1:] if kind else name], shape_of(value.type))


def _cast(b: Builder, value: RuntimeValue) -> RuntimeValue:
    return _do(b, "cast", input=value, dtype=I32)


def _do(b: Builder, name: str, **given: Any) -> RuntimeValue:
    found: RuntimeValue = HANDLERS[name](b, **given)
    return found
