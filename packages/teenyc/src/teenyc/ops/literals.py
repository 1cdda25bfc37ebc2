"""From compile-time values to values of the IR: constants, and the dtype that a literal has.

An integer literal is i32, beyond that i64, beyond that u64; a float literal is f32, or f64 when it
is finite and lies outside f32's normal range; `True` and `False` are i1.
"""

from __future__ import annotations

import math

from teenyc.codes import E0301, E0302, E0310
from teenyc.ir.builder import Builder
from teenyc.ir.core import Block, Function
from teenyc.ops import scalars
from teenyc.ops.arith import CONSTANT
from teenyc.ops.shape import SPLAT
from teenyc.types import F32, F64, I1, I32, I64, U64, DType, ir_type
from teenyc.values import RuntimeValue, describe

Number = bool | int | float
_F32_NORMAL = 2.0**-126


def is_number(x: object) -> bool:
    """Whether `x` is a compile-time number."""
    return isinstance(x, bool | int | float)


def literal_dtype(b: Builder, value: Number, arg: str = "") -> DType:
    """The dtype a literal has by itself."""
    if isinstance(value, bool):
        return I1
    if isinstance(value, float):
        ordinary = not math.isfinite(value) or value == 0
        in_range = _F32_NORMAL <= abs(value) <= scalars.FORMATS["f32"].largest
        return F32 if ordinary or in_range else F64
    for dtype in (I32, I64, U64):
        if fits(value, dtype):
            return dtype
    raise b.fail(E0302, arg=arg, value=value, dtype="i64").help("the widest integers have 64 bits")


def limits(dtype: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    if dtype.is_signed:
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def fits(value: Number, dtype: DType) -> bool:
    """Whether `dtype` takes the number.

    Integers in range, any float after rounding, no float as integer.
    """
    if dtype.is_float:
        return True
    low, high = limits(dtype)
    return not isinstance(value, float) and low <= value <= high


def constant(
    b: Builder, value: Number, dtype: DType, shape: tuple[int, ...] = (), *, arg: str = ""
) -> RuntimeValue:
    """A constant of `dtype`; raises E0302 when the dtype does not take the value."""
    if dtype.is_float:
        stored: Number = scalars.round_float(_as_float(value), dtype.mlir)
    elif fits(value, dtype):
        stored = scalars.wrap(int(value), dtype.bits)
    else:
        low, high = limits(dtype)
        raise b.fail(E0302, arg=arg, value=value, dtype=dtype).help(
            f"{dtype} holds the integers from {low} to {high}: cast the other side"
        )
    found = b.emit(CONSTANT, attrs={"value": stored}, results=[ir_type(dtype)]).result
    scalar = RuntimeValue(found, dtype)
    return splat(b, scalar, shape) if shape else scalar


def _as_float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def splat(b: Builder, value: RuntimeValue, shape: tuple[int, ...]) -> RuntimeValue:
    """A tensor that repeats a scalar."""
    return RuntimeValue(b.value(SPLAT, value.ir, shape=shape), value.dtype, shape)


def to_value(
    b: Builder, x: object, like: RuntimeValue | DType | None = None, *, arg: str = ""
) -> RuntimeValue:
    """A run-time value as it is, a literal as a constant of its own dtype or that of `like`."""
    if isinstance(x, RuntimeValue):
        return x
    if isinstance(x, bool | int | float):
        wanted = like.dtype if isinstance(like, RuntimeValue) else like
        dtype = wanted if isinstance(wanted, DType) else literal_dtype(b, x, arg)
        return constant(b, x, dtype, arg=arg)
    raise b.fail(E0310, arg=arg, what=describe(x)).help(
        "give a value; a helper that ends without `return` gives None"
        if x is None
        else "operations take tensors, scalars and numbers"
    )


def as_constant(value: RuntimeValue, remedy: str) -> str:
    """What to do where a compile-time value is wanted: a parameter of the kernel is named."""
    block = value.ir.owner
    is_parameter = (
        isinstance(block, Block) and block.parent and isinstance(block.parent.parent, Function)
    )
    return f"declare it `{value.ir.hint}: Const[int]`" if is_parameter else remedy


def numeric(b: Builder, x: object, op: str, arg: str = "") -> tuple[RuntimeValue, DType]:
    """An argument that is a value and no pointer, with its dtype."""
    value = to_value(b, x, arg=arg)
    if not isinstance(value.dtype, DType):
        raise b.fail(E0301, arg=arg, op=op, types=value.describe()).help(
            "read what it points at: `load(pointer)`"
        )
    return value, value.dtype
