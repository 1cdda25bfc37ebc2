"""Constants and elementwise arithmetic: one table row per operation of MLIR's `arith`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import OpDef, register
from teenyc.ir.printer import Names, literal
from teenyc.ops import arrays, scalars
from teenyc.ops.families import Array, Environment, float_op, int_op
from teenyc.types import IRType, TensorType

# --- constants ------------------------------------------------------------------------------------


def _no_inference(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    raise AssertionError("the type of a constant is always given")


def _format_constant(op: Operation, names: Names) -> str:
    type_ = op.results[0].type
    text = literal(op.attrs["value"], type_)
    if isinstance(type_, TensorType):
        return f"arith.constant dense<{text}> : {type_}"
    return f"arith.constant {text}" if str(type_) == "i1" else f"arith.constant {text} : {type_}"


def _verify_constant(op: Operation) -> str | None:
    name = arrays.element_name(op.results[0].type)
    value = op.attrs["value"]
    if name == "ptr":
        return "no constant is a pointer"
    if name.startswith("i"):
        bits = scalars.bits_of(name)
        fits = isinstance(value, int) and scalars.wrap(value, bits) == value
    else:
        fits = isinstance(value, float) and repr(scalars.round_float(value, name)) == repr(value)
    return None if fits else f"{value!r} is not a value of {name}"


def _ref_constant(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    return arrays.constant(np, op.attrs["value"], op.results[0].type)


CONSTANT = register(
    OpDef(
        "arith.constant",
        _no_inference,
        _format_constant,
        attrs=("value",),
        verify=_verify_constant,
        fold=lambda op, values: op.attrs["value"],
        ref=_ref_constant,
        cpu=lambda c, op: c.constant(op.attrs["value"], arrays.element_name(op.results[0].type)),
    )
)

# --- integers -------------------------------------------------------------------------------------

ADDI = int_op(
    "arith.addi",
    2,
    fold=lambda bits, x, y: x + y,
    ref=lambda np, x, y: x + y,
    cpu=lambda c, x, y: c.integer("add", x, y),
)
SUBI = int_op(
    "arith.subi",
    2,
    fold=lambda bits, x, y: x - y,
    ref=lambda np, x, y: x - y,
    cpu=lambda c, x, y: c.integer("sub", x, y),
)
MULI = int_op(
    "arith.muli",
    2,
    fold=lambda bits, x, y: x * y,
    ref=lambda np, x, y: x * y,
    cpu=lambda c, x, y: c.integer("mul", x, y),
)
ANDI = int_op(
    "arith.andi",
    2,
    fold=lambda bits, x, y: x & y,
    ref=lambda np, x, y: x & y,
    cpu=lambda c, x, y: c.integer("and", x, y),
)
ORI = int_op(
    "arith.ori",
    2,
    fold=lambda bits, x, y: x | y,
    ref=lambda np, x, y: x | y,
    cpu=lambda c, x, y: c.integer("or", x, y),
)
XORI = int_op(
    "arith.xori",
    2,
    fold=lambda bits, x, y: x ^ y,
    ref=lambda np, x, y: x ^ y,
    cpu=lambda c, x, y: c.integer("xor", x, y),
)


def _quotient(bits: int, x: int, y: int) -> int | None:
    """Truncated towards zero.

    Undefined for zero divisors and for the quotient that does not fit.
    """
    if y == 0 or (y == -1 and x == -(1 << (bits - 1))):
        return None
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _rest(bits: int, x: int, y: int) -> int | None:
    quotient = _quotient(bits, x, y)
    return None if quotient is None else x - quotient * y


def _divide(np: Any, x: Array, y: Array) -> Array:
    """Like `_quotient`.

    Where that is undefined: 0 for a zero divisor, the least integer otherwise.
    """
    safe = np.where(y == 0, np.ones_like(y), y)
    found = x // safe
    inexact = (found * safe != x) & ((x < 0) != (safe < 0))
    return np.where(y == 0, np.zeros_like(x), found + inexact.astype(x.dtype))


def _modulo(np: Any, x: Array, y: Array) -> Array:
    return x - _divide(np, x, y) * y


DIVSI = int_op(
    "arith.divsi",
    2,
    fold=_quotient,
    ref=_divide,
    cpu=lambda c, x, y: c.quotient(x, y, signed=True),
    cost=8,
)
DIVUI = int_op(
    "arith.divui",
    2,
    fold=lambda bits, x, y: x // y if y else None,
    ref=_divide,
    cpu=lambda c, x, y: c.quotient(x, y, signed=False),
    cost=8,
    unsigned=True,
)
REMSI = int_op(
    "arith.remsi",
    2,
    fold=_rest,
    ref=_modulo,
    cpu=lambda c, x, y: c.rest(x, y, signed=True),
    cost=10,
)
REMUI = int_op(
    "arith.remui",
    2,
    fold=lambda bits, x, y: x % y if y else None,
    ref=_modulo,
    cpu=lambda c, x, y: c.rest(x, y, signed=False),
    cost=10,
    unsigned=True,
)


def _shift(np: Any, x: Array, y: Array, *, left: bool) -> Array:
    """A shift; by the width or more: every bit leaves (undefined in MLIR, so constants fold)."""
    bits = x.dtype.itemsize * 8
    beyond = (y < 0) | (y >= bits)
    amount = np.where(beyond, np.full_like(y, bits - 1), y)
    moved = np.left_shift(x, amount) if left else np.right_shift(x, amount)
    gone = np.zeros_like(x) if left or x.dtype.kind == "u" else moved
    return np.where(beyond, gone, moved)


SHLI = int_op(
    "arith.shli",
    2,
    fold=lambda bits, x, y: x << y if 0 <= y < bits else 0,
    ref=lambda np, x, y: _shift(np, x, y, left=True),
    cpu=lambda c, x, y: c.shift("shl", x, y),
)
SHRSI = int_op(
    "arith.shrsi",
    2,
    fold=lambda bits, x, y: x >> (y if 0 <= y < max(bits, 8) else max(bits, 8) - 1),
    ref=lambda np, x, y: _shift(np, x, y, left=False),
    cpu=lambda c, x, y: c.shift("ashr", x, y),
)
SHRUI = int_op(
    "arith.shrui",
    2,
    fold=lambda bits, x, y: x >> y if y < bits else 0,
    ref=lambda np, x, y: _shift(np, x, y, left=False),
    cpu=lambda c, x, y: c.shift("lshr", x, y),
    unsigned=True,
)
MAXSI = int_op(
    "arith.maxsi",
    2,
    fold=lambda bits, x, y: max(x, y),
    ref=lambda np, x, y: np.maximum(x, y),
    cpu=lambda c, x, y: c.extreme("smax", x, y),
)
MAXUI = int_op(
    "arith.maxui",
    2,
    fold=lambda bits, x, y: max(x, y),
    ref=lambda np, x, y: np.maximum(x, y),
    cpu=lambda c, x, y: c.extreme("umax", x, y),
    unsigned=True,
)
MINSI = int_op(
    "arith.minsi",
    2,
    fold=lambda bits, x, y: min(x, y),
    ref=lambda np, x, y: np.minimum(x, y),
    cpu=lambda c, x, y: c.extreme("smin", x, y),
)
MINUI = int_op(
    "arith.minui",
    2,
    fold=lambda bits, x, y: min(x, y),
    ref=lambda np, x, y: np.minimum(x, y),
    cpu=lambda c, x, y: c.extreme("umin", x, y),
    unsigned=True,
)

# --- floats ---------------------------------------------------------------------------------------

ADDF = float_op(
    "arith.addf",
    2,
    fold=lambda x, y: x + y,
    ref=lambda np, x, y: x + y,
    cpu=lambda c, x, y: c.float("fadd", x, y),
)
SUBF = float_op(
    "arith.subf",
    2,
    fold=lambda x, y: x - y,
    ref=lambda np, x, y: x - y,
    cpu=lambda c, x, y: c.float("fsub", x, y),
)
MULF = float_op(
    "arith.mulf",
    2,
    fold=lambda x, y: x * y,
    ref=lambda np, x, y: x * y,
    cpu=lambda c, x, y: c.float("fmul", x, y),
)
# `div.full.f32` on a GPU.
DIVF = float_op(
    "arith.divf",
    2,
    fold=scalars.divide,
    ref=lambda np, x, y: x / y,
    cpu=lambda c, x, y: c.float("fdiv", x, y),
    ulp=2.0,
    cost=4,
)
# `div.rn.f32` there; quotients of f64 are that without it.
PRECISE_DIVF = float_op(
    "tt.precise_divf",
    2,
    fold=scalars.divide,
    ref=lambda np, x, y: x / y,
    cpu=lambda c, x, y: c.float("fdiv", x, y),
    cost=4,
    dsl=("div_rn", "fdiv"),
)
REMF = float_op(
    "arith.remf",
    2,
    fold=scalars.remainder,
    ref=lambda np, x, y: np.fmod(x, y),
    cpu=lambda c, x, y: c.remainder(x, y),
    cost=40,
)


def _greater(np: Any, x: Array, y: Array, *, drop_nan: bool) -> Array:
    """The greater number, +0.0 above -0.0."""
    found = np.fmax(x, y) if drop_nan else np.maximum(x, y)
    return np.where((x == 0) & (y == 0), x + y, found)


MAXNUMF = float_op(
    "arith.maxnumf",
    2,
    fold=scalars.number_max,
    ref=lambda np, x, y: _greater(np, x, y, drop_nan=True),
    cpu=lambda c, x, y: c.greatest(x, y, drop_nan=True),
)
MINNUMF = float_op(
    "arith.minnumf",
    2,
    fold=scalars.number_min,
    ref=lambda np, x, y: -_greater(np, -x, -y, drop_nan=True),
    cpu=lambda c, x, y: c.least(x, y, drop_nan=True),
)
MAXIMUMF = float_op(
    "arith.maximumf",
    2,
    fold=scalars.ieee_max,
    ref=lambda np, x, y: _greater(np, x, y, drop_nan=False),
    cpu=lambda c, x, y: c.greatest(x, y, drop_nan=False),
)
MINIMUMF = float_op(
    "arith.minimumf",
    2,
    fold=scalars.ieee_min,
    ref=lambda np, x, y: -_greater(np, -x, -y, drop_nan=False),
    cpu=lambda c, x, y: c.least(x, y, drop_nan=False),
)
