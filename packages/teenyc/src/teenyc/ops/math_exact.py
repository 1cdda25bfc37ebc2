"""Functions whose result is exact, or rounded once, on every target: floor, fma, clamp, ..."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from teenyc.codes import E0210, E0301, E0305, E0416
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation
from teenyc.ir.opdef import HANDLERS, OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops import arith, arrays, directed, libdevice, scalars
from teenyc.ops.families import (
    FLOAT,
    Array,
    Environment,
    float_op,
    format_same,
    int_op,
    require,
    same_type,
)
from teenyc.ops.literals import numeric, to_value
from teenyc.ops.math import SQRT, function
from teenyc.ops.operators import NONE, keeps_nan
from teenyc.ops.semantics import promote_all, promote_pair
from teenyc.types import F32, F64, DType
from teenyc.values import RuntimeValue

# --- one operand ----------------------------------------------------------------------------------


def _whole(x: float, rounding: Any) -> float:
    return math.copysign(float(rounding(x)), x) if math.isfinite(x) else x


FLOOR = function(
    "math.floor",
    "floor",
    fold=lambda x: _whole(x, math.floor),
    ref=lambda np, x: np.floor(x),
    cpu=lambda c, x: c.call("llvm.floor", x.type, x),
    cost=1,
)
CEIL = function(
    "math.ceil",
    "ceil",
    fold=lambda x: _whole(x, math.ceil),
    ref=lambda np, x: np.ceil(x),
    cpu=lambda c, x: c.call("llvm.ceil", x.type, x),
    cost=1,
)
PRECISE_SQRT = float_op(
    "tt.precise_sqrt",
    1,
    fold=scalars.square_root,
    ref=lambda np, x: np.sqrt(x),
    cpu=lambda c, x: c.call("llvm.sqrt", x.type, x),
    cost=6,
    dsl=("sqrt_rn",),
    domain=(0.0, 1e4),
)


@lowers("sqrt_rn")
def _sqrt_rn(b: Builder, x: object) -> RuntimeValue:
    value, dtype = numeric(b, x, "sqrt_rn", "x")
    if dtype not in (F32, F64):
        raise b.fail(E0305, f"has dtype {dtype}", arg="x", op="sqrt_rn", dtype=dtype).help(
            "cast it first: `sqrt_rn(x.to(f32))`"
        )
    record = PRECISE_SQRT if dtype == F32 else SQRT  # the one for f64 is precise as it is
    return RuntimeValue(b.value(record, value.ir), dtype, value.shape)


# --- two operands ---------------------------------------------------------------------------------


def _upper_half(np: Any, x: Array, y: Array) -> Array:
    bits = x.dtype.itemsize * 8
    product = np.frompyfunc(lambda a, b: (int(a) * int(b)) >> bits, 2, 1)(x, y)
    return np.asarray(product, dtype=x.dtype)


def _cpu_upper_half(c: Any, x: Any, y: Any) -> Any:
    wide = f"i{2 * int(x.type[1:])}"
    product = c.integer("mul", c.cast("zext", x, wide), c.cast("zext", y, wide))
    shifted = c.integer("lshr", product, c.same(product, int(x.type[1:])))
    return c.cast("trunc", shifted, x.type)


MULHIUI = int_op(
    "tt.mulhiui",
    2,
    fold=lambda bits, x, y: (x * y) >> bits,
    ref=_upper_half,
    cpu=_cpu_upper_half,
    cost=3,
    unsigned=True,
    dsl=("umulhi",),
)


def _divided(b: Builder, op: str, x: object, y: object) -> tuple[RuntimeValue, RuntimeValue]:
    """Both operands of a division of floats, in f32 or f64."""
    left, right = promote_pair(b, x, y, op, names=("x", "y"), division=True)
    if left.dtype not in (F32, F64):
        raise b.fail(E0305, arg="x", op=op, dtype=left.dtype).help("cast it first: `x.to(f32)`")
    return left, right


def _precisely(b: Builder, left: RuntimeValue, right: RuntimeValue) -> RuntimeValue:
    record = (
        arith.PRECISE_DIVF if left.dtype == F32 else arith.DIVF
    )  # that of f64 is precise as it is
    return RuntimeValue(b.value(record, left.ir, right.ir), left.dtype, left.shape)


@lowers("div_rn")
def _div_rn(b: Builder, x: object, y: object) -> RuntimeValue:
    return _precisely(b, *_divided(b, "div_rn", x, y))


@lowers("fdiv")
def _fdiv(
    b: Builder, x: object, y: object, ieee_rounding: object = False, approx: object = False
) -> RuntimeValue:
    for value, arg in ((ieee_rounding, "ieee_rounding"), (approx, "approx")):
        if isinstance(value, RuntimeValue):
            raise b.fail(E0210, arg=arg, what=f"`{arg}`").help("it is True or False")
    left, right = _divided(b, "fdiv", x, y)
    if ieee_rounding and approx:
        raise b.fail(E0416, arg="approx", what="True", parameter="approx").help(
            "leave `ieee_rounding` out: a quotient is rounded to nearest, or approximate"
        )
    if ieee_rounding:
        return _precisely(b, left, right)
    if approx:
        if left.dtype != F32:
            raise b.fail(E0301, arg="x", op="fdiv", types=f"{left.dtype} with `approx`").help(
                "only f32 has a fast division"
            )
        return libdevice.call(b, "fast_dividef", (left, right))
    return RuntimeValue(b.value(arith.DIVF, left.ir, right.ir), left.dtype, left.shape)


@lowers("umulhi")
def _umulhi(b: Builder, x: object, y: object) -> RuntimeValue:
    left, right = promote_pair(b, x, y, "umulhi", names=("x", "y"))
    dtype = left.dtype
    assert isinstance(dtype, DType)
    if dtype.is_float or dtype.bits < 32:
        raise b.fail(E0301, arg="x", op="umulhi", types=f"{dtype}").help(
            "it takes integers of 32 or 64 bits: `x.to(u32)`"
        )
    return RuntimeValue(b.value(MULHIUI, left.ir, right.ir), dtype, left.shape)


# --- three operands -------------------------------------------------------------------------------


def _ref_fma(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    element = arrays.element_name(op.results[0].type)
    each = np.frompyfunc(lambda *x: directed.multiply_add(element, "rn", *map(float, x)), 3, 1)
    return np.asarray(each(*operands), dtype=np.float64).astype(arrays.held_dtype(element))


def _fold_fma(op: Operation, values: list[Any]) -> float | None:
    if None in values:
        return None
    return directed.multiply_add(arrays.element_name(op.results[0].type), "rn", *values)


def _cpu_fma(c: Any, op: Operation, *operands: Any) -> Any:
    """Narrow floats in float64, which holds their product; the sum is kept fit for rounding."""
    element = arrays.element_name(op.results[0].type)
    if element in ("f16", "bf16"):
        x, y, z = (c.cast("fpext", operand, "double") for operand in operands)
        return c.rounded(c.odd_sum(c.binary("fmul", x, y), z), element)
    return c.rounded(c.call("llvm.fma", operands[0].type, *operands), element)


FMA = register(
    OpDef(
        "math.fma",
        same_type,
        format_same,
        verify=require(FLOAT, 3),
        fold=_fold_fma,
        ref=_ref_fma,
        cpu=_cpu_fma,
        dsl=("fma",),
    )
)


@lowers("fma")
def _fma(b: Builder, x: object, y: object, z: object) -> RuntimeValue:
    first, second, third = promote_all(b, (x, y, z), "fma", ("x", "y", "z"))
    if not isinstance(first.dtype, DType) or first.dtype.is_int:
        raise b.fail(E0301, arg="x", op="fma", types=f"{first.dtype}").help(
            "it takes floats; integers have `x * y + z`, which is exact where it does not wrap"
        )
    found = b.value(FMA, first.ir, second.ir, third.ir)
    return RuntimeValue(found, first.dtype, first.shape)


def _format_clamp(op: Operation, names: Names) -> str:
    mode = "all" if op.attrs["propagate_nan"] else "none"
    left = names.list(op.operands)
    return f"{op.name} {left}, propagateNan = {mode} : {op.operands[0].type}"


def _greater_number(np: Any, x: Array, y: Array) -> Array:
    """The greater of two, +0.0 above -0.0; a NaN gives the other."""
    return np.where((x == 0) & (y == 0), x + y, np.fmax(x, y))


def _ref_clamp(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    x, low, high = operands
    found = -_greater_number(np, -_greater_number(np, x, low), -high)
    return np.where(np.isnan(x), x, found) if op.attrs["propagate_nan"] else found


def _fold_clamp(op: Operation, values: list[Any]) -> float | None:
    if None in values:
        return None
    x, low, high = values
    if op.attrs["propagate_nan"] and math.isnan(x):
        return math.nan
    return scalars.number_min(scalars.number_max(x, low), high)


def _cpu_clamp(c: Any, op: Operation, x: Any, low: Any, high: Any) -> Any:
    found = c.least(c.greatest(x, low, drop_nan=True), high, drop_nan=True)
    if not op.attrs["propagate_nan"]:
        return found
    return c.select(c.compare("uno", x, x), x, found)


CLAMPF = register(
    OpDef(
        "tt.clampf",
        same_type,
        _format_clamp,
        attrs=("propagate_nan",),
        verify=require(FLOAT, 3),
        fold=_fold_clamp,
        ref=_ref_clamp,
        cpu=_cpu_clamp,
        cost=4,
        dsl=("clamp",),
    )
)


@lowers("clamp")
def _clamp(
    b: Builder,
    x: object,
    min: object,  # noqa: A002 - the DSL's name
    max: object,  # noqa: A002 - the DSL's name
    propagate_nan: object = NONE,
) -> RuntimeValue:
    keep_nan = keeps_nan(b, propagate_nan)
    value, low, high = promote_all(b, (x, min, max), "clamp", ("x", "min", "max"))
    if isinstance(value.dtype, DType) and value.dtype.is_int:
        above = HANDLERS["maximum"](b, x=value, y=low)
        found: RuntimeValue = HANDLERS["minimum"](b, x=above, y=high)
        return found
    clamped = b.value(CLAMPF, value.ir, low.ir, high.ir, propagate_nan=keep_nan)
    return RuntimeValue(clamped, value.dtype, value.shape)


# --- the operators as functions -------------------------------------------------------------------


def _as_function(name: str) -> None:
    """`add(x, y)` is `x + y`; there is no overflow check to be left out."""

    def handler(b: Builder, x: object, y: object, sanitize_overflow: object = True) -> RuntimeValue:
        if isinstance(sanitize_overflow, RuntimeValue):
            raise b.fail(E0210, arg="sanitize_overflow", what="`sanitize_overflow`").help(
                "it is True or False"
            )
        b.arg_spans = {
            **b.arg_spans,
            **{side: b.arg_spans[arg] for side, arg in _SIDES.items() if arg in b.arg_spans},
        }
        lhs = x if isinstance(y, RuntimeValue) else to_value(b, x, arg="x")
        found: RuntimeValue = HANDLERS[f"operator.{name}"](b, lhs=lhs, rhs=y)
        return found

    handler.__name__ = f"_{name}"
    lowers(name)(handler)


_SIDES = {"lhs": "x", "rhs": "y"}
for _name in ("add", "sub", "mul"):
    _as_function(_name)


@lowers("to_tensor")
def _to_tensor(b: Builder, x: object) -> RuntimeValue:
    return to_value(b, x, arg="x")
