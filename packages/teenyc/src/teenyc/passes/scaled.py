"""Turns products of microscaling formats into products of f32, for targets without hardware.

Numbers and scales are unpacked by integer operations, each exactly; ops/scaled.py has the formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teenyc.ir.opdef import HANDLERS
from teenyc.ops import arrays
from teenyc.ops.scaled import DOT_SCALED, FORMATS, operand_parts
from teenyc.ops.semantics import bitcast, cast
from teenyc.passes.replace import replace
from teenyc.types import F8E4M3, F32, I8, U8, U32, shape_of
from teenyc.values import RuntimeValue

if TYPE_CHECKING:
    from teenyc.ir.builder import Builder
    from teenyc.ir.core import Module, Operation, Value


def lower_scaled(module: Module) -> None:
    """Replace every scaled product, in place."""
    replace(module, lambda b, op: _product(b, op).ir if op.opdef is DOT_SCALED else None)


def _product(b: Builder, op: Operation) -> RuntimeValue:
    side, attrs = operand_parts(op), op.attrs
    left = _numbers(b, side.left, attrs["lhs_format"], last=attrs["lhs_k_pack"])
    right = _numbers(b, side.right, attrs["rhs_format"], last=not attrs["rhs_k_pack"])
    k = left.shape[-1]
    if side.left_scale is not None:
        left = _do(b, "operator.mul", lhs=left, rhs=_scales(b, side.left_scale, k))
    if side.right_scale is not None:
        scales = _turned(b, _scales(b, side.right_scale, k), -1)
        right = _do(b, "operator.mul", lhs=right, rhs=scales)
    total = RuntimeValue(side.acc, F32, shape_of(side.acc.type))
    return _do(b, "dot", input=left, other=right, acc=total, input_precision="ieee")


def _do(b: Builder, name: str, **given: Any) -> RuntimeValue:
    found: RuntimeValue = HANDLERS[name](b, **given)
    return found


def _bits(b: Builder, name: str, x: RuntimeValue, y: object) -> RuntimeValue:
    return _do(b, f"operator.{name}", lhs=x, rhs=y)


def _turned(b: Builder, x: RuntimeValue, axis: int) -> RuntimeValue:
    """`x` with the axis before `axis` and the last one exchanged."""
    dims = list(range(len(x.shape)))
    dims[axis - 1], dims[-1] = dims[-1], dims[axis - 1]
    return _do(b, "permute", input=x, dims=tuple(dims))


def _numbers(b: Builder, value: Value, name: str, *, last: bool) -> RuntimeValue:
    """The numbers that the elements stand for, as f32; `last`: packed along the last axis."""
    given = RuntimeValue(value, FORMATS[name][0], shape_of(value.type))
    if name != "e2m1":
        return cast(b, given, F32)
    codes = cast(b, given, U32)
    low, high = (_e2m1(b, x) for x in (codes, _bits(b, "rshift", codes, 4)))
    both: RuntimeValue = HANDLERS["join"](b, a=low, b=high)
    shape = list(given.shape)
    if not last:  # the second of each pair in a row below
        both = _turned(b, both, -1)
    shape[-1 if last else -2] *= 2
    return _do(b, "reshape", input=both, shape=tuple(shape))


def _e2m1(b: Builder, code: RuntimeValue) -> RuntimeValue:
    """The low four bits: a sign, two of the exponent, one of the mantissa.

    Moved to their place in an f32 they are the number times 2**-126, subnormal or not.
    """
    size = bitcast(b, _bits(b, "lshift", _bits(b, "and", code, 7), 22), F32)
    scaled = bitcast(b, _bits(b, "mul", size, 2.0**126), U32)
    sign = _bits(b, "lshift", _bits(b, "and", code, 8), 28)
    return bitcast(b, _bits(b, "or", scaled, sign), F32)


def _scales(b: Builder, value: Value, k: int) -> RuntimeValue:
    """The scale of each number along the last axis."""
    shape = shape_of(value.type)
    if arrays.element_name(value.type) == "i8":
        code = cast(b, bitcast(b, RuntimeValue(value, I8, shape), U8), U32)
        power = _bits(b, "lshift", code, 23)
        least, none = _bits(b, "eq", code, 0), _bits(b, "eq", code, 255)
        power = _do(b, "where", condition=least, x=0x00400000, y=power)
        power = _do(b, "where", condition=none, x=0x7FC00000, y=power)
        scale = bitcast(b, cast(b, power, U32), F32)
    else:
        scale = cast(b, RuntimeValue(value, F8E4M3, shape), F32)
    wide = _do(b, "expand_dims", input=scale, axis=len(shape))
    wide = _do(b, "broadcast_to", input=wide, shape=(*shape, k // shape[-1]))
    return _do(b, "reshape", input=wide, shape=(*shape[:-1], k))
