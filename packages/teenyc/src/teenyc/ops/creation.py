"""The DSL's ways to make a tensor from nothing, and its casts."""

from __future__ import annotations

from teenyc.codes import E0210, E0302, E0307, E0312, E0401, E0407, E0413, E0418, E0501
from teenyc.ir.builder import Builder
from teenyc.ir.opdef import lowers
from teenyc.ops import semantics
from teenyc.ops.broadcasting import check_shape, check_size, next_power_of_two
from teenyc.ops.literals import as_constant, constant, splat, to_value
from teenyc.ops.shape import MAKE_RANGE
from teenyc.types import I32, AnyDType, DType, PointerDType
from teenyc.values import RuntimeValue, describe


def require_dtype(b: Builder, dtype: object, arg: str = "dtype") -> AnyDType:
    """A dtype given as an argument."""
    if isinstance(dtype, DType | PointerDType):
        return dtype
    remedy = "dtypes are names such as `f32`"
    if isinstance(dtype, str):
        remedy = "write a name of the language without quotes, such as `tl.float32`"
    raise b.fail(E0312, arg=arg, what=describe(dtype)).help(remedy)


def _require_integer(b: Builder, value: object, arg: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, RuntimeValue):
        error = b.fail(E0418, arg=arg, parameter=arg, op="arange", what=describe(value))
        if isinstance(value, float) and value.is_integer():
            error.help(f"write {int(value)}")
        raise error.help("in Python `/` gives a float, and `//` an integer")
    error = b.fail(E0210, arg=arg, what=f"`{arg}` of `arange` ({describe(value)})")
    error.help(as_constant(value, "write an integer, or a `Const[int]` parameter"))
    raise error.help("for a length that varies, take a greater constant and mask: `offsets < n`")


@lowers("arange")
def _arange(b: Builder, start: object, end: object) -> RuntimeValue:
    first, last = _require_integer(b, start, "start"), _require_integer(b, end, "end")
    length = last - first
    if length < 1:
        raise b.fail(E0407, arg="end", start=first, end=last).help("`end` is greater than `start`")
    if length & (length - 1):
        raise b.fail(
            E0401, "needs a power of two", arg="end", length=length, start=first, end=last
        ).help(
            f"take {next_power_of_two(length)} and mask the tail, such as "
            f"`load(pointer, mask=offsets < n)`"
        )
    for value, arg in ((first, "start"), (last, "end")):
        if not -(2**31) <= value < 2**31:
            raise b.fail(E0302, arg=arg, value=value, dtype="i32").help(
                "`arange` gives i32: add the rest, `arange(0, n).to(i64) + start`"
            )
    shape = check_size(b, (length,), "end")
    return RuntimeValue(b.value(MAKE_RANGE, start=first, end=last), I32, shape)


@lowers("full")
def _full(b: Builder, shape: object, value: object, dtype: object) -> RuntimeValue:
    sides = check_shape(b, shape, "shape")
    wanted = require_dtype(b, dtype)
    if isinstance(value, bool | int | float) and isinstance(wanted, DType):
        if wanted.is_int and value == 0:
            value = 0
        scalar = constant(b, value, wanted, arg="value")
    else:
        scalar = to_value(b, value, arg="value")
        if scalar.shape:
            raise b.fail(
                E0413, arg="value", op="full", what="a scalar", type=scalar.describe()
            ).help("repeat a tensor with `broadcast_to(x, shape)`")
        scalar = semantics.cast(b, scalar, wanted, arg="value")
    return splat(b, scalar, sides) if sides else scalar


@lowers("cast")
def _cast(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    dtype: object,
    fp_downcast_rounding: object = None,
    bitcast: object = False,
) -> RuntimeValue:
    value = to_value(b, input, arg="input")
    wanted = require_dtype(b, dtype)
    if bitcast:
        return semantics.bitcast(b, value, wanted)
    if fp_downcast_rounding not in (None, "rtne", "rtz"):
        raise b.fail(E0307, arg="fp_downcast_rounding", before=value.dtype, dtype=wanted).help(
            'the modes are "rtne" and "rtz"'
        )
    rounding = None if fp_downcast_rounding is None else str(fp_downcast_rounding)
    return semantics.cast(b, value, wanted, rounding, arg="input")


@lowers("elem")
def _elem(b: Builder, pointer: object) -> AnyDType:
    if isinstance(pointer, RuntimeValue) and isinstance(pointer.dtype, PointerDType):
        return pointer.dtype.element
    raise b.fail(E0501, arg="pointer", op="elem", type=describe(pointer)).help(
        "a tensor's own dtype is `x.dtype`"
    )
