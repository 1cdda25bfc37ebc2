"""The operators of the language.

`+ - * / // % & | ^ << >> ~`, comparisons, and where, maximum, minimum.
"""

from __future__ import annotations

from typing import NamedTuple

from teenyc.codes import E0301, E0304, E0313, E0415, E0416
from teenyc.ir.builder import Builder
from teenyc.ir.opdef import OpDef, lowers
from teenyc.ops import arith, semantics
from teenyc.ops.broadcasting import broadcast_pair
from teenyc.ops.compare import CMPF, CMPI, SELECT
from teenyc.ops.literals import Number, constant, numeric, to_value
from teenyc.ops.memory import ADDPTR
from teenyc.ops.semantics import cast, implicitly, note_cast, promote_pair
from teenyc.types import F32, I1, DType
from teenyc.values import EnumMember, RuntimeValue, describe


class Records(NamedTuple):
    """The record of an operator for each kind of dtype; None where the kind is refused."""

    floats: OpDef | None
    signed: OpDef
    unsigned: OpDef


def _dtype(value: RuntimeValue) -> DType:
    assert isinstance(value.dtype, DType)
    return value.dtype


def _emit(
    b: Builder, records: Records, op: str, left: RuntimeValue, right: RuntimeValue
) -> RuntimeValue:
    dtype = _dtype(left)
    record = records.signed if dtype.is_signed else records.unsigned
    if dtype.is_float:
        if records.floats is None:
            raise b.fail(E0301, op=op, types=f"{left.dtype} and {right.dtype}").help(
                "it works on integers and i1: compare first, or cast with `.to(i32)`"
            )
        record = records.floats
    return RuntimeValue(b.value(record, left.ir, right.ir), dtype, left.shape)


def _refuse_bool(b: Builder, op: str, value: RuntimeValue) -> None:
    """i1 has one bit: sums, differences and quotients of two of them would wrap."""
    if value.dtype == I1:
        raise b.fail(E0304, op=op).help(
            "combine conditions with `&` and `|`, count with `.to(i32)`"
        )


def _is_pointer(x: object) -> bool:
    return isinstance(x, RuntimeValue) and x.is_pointer


# --- arithmetic -----------------------------------------------------------------------------------

_ADD = Records(arith.ADDF, arith.ADDI, arith.ADDI)
_SUB = Records(arith.SUBF, arith.SUBI, arith.SUBI)
_MUL = Records(arith.MULF, arith.MULI, arith.MULI)
_MOD = Records(arith.REMF, arith.REMSI, arith.REMUI)
_FLOORDIV = Records(None, arith.DIVSI, arith.DIVUI)


def _move(b: Builder, pointer: RuntimeValue, amount: RuntimeValue, arg: str) -> RuntimeValue:
    """`pointer + amount`, counted in elements."""
    if amount.is_pointer:
        raise b.fail(E0301, op="+", types=f"{pointer.describe()} and {amount.describe()}").help(
            "add an integer offset to one of them"
        )
    pointer, amount = broadcast_pair(b, pointer, amount, arg)
    amount = semantics.offset(b, amount, arg)
    return RuntimeValue(b.value(ADDPTR, pointer.ir, amount.ir), pointer.dtype, pointer.shape)


@lowers("operator.add")
def _add(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    if _is_pointer(lhs):
        return _move(b, to_value(b, lhs), to_value(b, rhs, arg="rhs"), "rhs")
    if _is_pointer(rhs):
        return _move(b, to_value(b, rhs), to_value(b, lhs, arg="lhs"), "lhs")
    left, right = promote_pair(b, lhs, rhs, "+")
    _refuse_bool(b, "+", left)
    return _emit(b, _ADD, "+", left, right)


@lowers("operator.sub")
def _sub(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    if _is_pointer(lhs) and not _is_pointer(rhs):
        amount = to_value(b, rhs, arg="rhs")
        if _dtype(amount).is_float:
            raise semantics.float_offset(b, amount, "rhs")
        pointer, amount = broadcast_pair(b, to_value(b, lhs), amount, "rhs")
        return _move(b, pointer, _negate(b, amount), "rhs")
    left, right = promote_pair(b, lhs, rhs, "-")
    _refuse_bool(b, "-", left)
    return _emit(b, _SUB, "-", left, right)


@lowers("operator.mul")
def _mul(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    return _emit(b, _MUL, "*", *promote_pair(b, lhs, rhs, "*"))


@lowers("operator.truediv")
def _truediv(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    left, right = promote_pair(b, lhs, rhs, "/", division=True)
    record = arith.DIVF
    if _dtype(left).is_int:  # a quotient that is whole is exact: `(2 * a) / a` is no 1.9999999
        note_cast(b, lhs, F32, "lhs")
        note_cast(b, rhs, F32, "rhs")
        left, right = cast(b, left, F32), cast(b, right, F32)
        record = arith.PRECISE_DIVF
    return RuntimeValue(b.value(record, left.ir, right.ir), left.dtype, left.shape)


@lowers("operator.floordiv")
def _floordiv(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    left, right = promote_pair(b, lhs, rhs, "//", division=True)
    _refuse_bool(b, "//", left)
    return _emit(b, _FLOORDIV, "//", left, right)


@lowers("operator.mod")
def _mod(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    left, right = promote_pair(b, lhs, rhs, "%", division=True)
    _refuse_bool(b, "%", left)
    return _emit(b, _MOD, "%", left, right)


def _negate(b: Builder, value: RuntimeValue) -> RuntimeValue:
    """`-x`.

    Of floats `-0.0 - x`, which every version of the dialect has and which is exact for zeros.
    """
    dtype = _dtype(value)
    zero: Number = -0.0 if dtype.is_float else 0
    left, right = broadcast_pair(b, constant(b, zero, dtype), value)
    return _emit(b, _SUB, "-", left, right)


@lowers("operator.neg")
def _neg(b: Builder, x: object) -> RuntimeValue:
    value, dtype = numeric(b, x, "-", "x")
    _refuse_bool(b, "-", value)
    _refuse_f8(b, "-", dtype)
    return _negate(b, value)


@lowers("operator.pos")
def _pos(b: Builder, x: object) -> RuntimeValue:
    return numeric(b, x, "+", "x")[0]


def _refuse_f8(b: Builder, op: str, dtype: DType) -> None:
    if dtype.is_float and dtype.bits == 8:
        raise b.fail(E0313, op=op, dtype=dtype).help("cast it first: `x.to(f32)`")


# --- bits -----------------------------------------------------------------------------------------

_AND = Records(None, arith.ANDI, arith.ANDI)
_OR = Records(None, arith.ORI, arith.ORI)
_XOR = Records(None, arith.XORI, arith.XORI)
_LSHIFT = Records(None, arith.SHLI, arith.SHLI)
_RSHIFT = Records(None, arith.SHRSI, arith.SHRUI)


@lowers("operator.and")
def _and(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    return _emit(b, _AND, "&", *promote_pair(b, lhs, rhs, "&"))


@lowers("operator.or")
def _or(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    return _emit(b, _OR, "|", *promote_pair(b, lhs, rhs, "|"))


@lowers("operator.xor")
def _xor(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    return _emit(b, _XOR, "^", *promote_pair(b, lhs, rhs, "^"))


def _shift(b: Builder, records: Records, op: str, lhs: object, rhs: object) -> RuntimeValue:
    left, right = promote_pair(b, lhs, rhs, op)
    bits = _dtype(left).bits
    if isinstance(rhs, int) and not 0 <= rhs < bits:
        raise b.fail(E0415, arg="rhs", amount=rhs, dtype=left.dtype).help(
            f"shift by 0 to {bits - 1}, or cast to a wider dtype first"
        )
    _refuse_bool(b, op, left)
    return _emit(b, records, op, left, right)


@lowers("operator.lshift")
def _lshift(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    return _shift(b, _LSHIFT, "<<", lhs, rhs)


@lowers("operator.rshift")
def _rshift(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
    return _shift(b, _RSHIFT, ">>", lhs, rhs)


@lowers("operator.invert")
def _invert(b: Builder, x: object) -> RuntimeValue:
    value, dtype = numeric(b, x, "~", "x")
    if dtype.is_float:
        raise b.fail(E0301, arg="x", op="~", types=value.describe()).help(
            "it works on integers and i1"
        )
    ones = -1 if dtype.is_signed else (1 << dtype.bits) - 1
    left, right = broadcast_pair(b, value, constant(b, ones, dtype))
    return _emit(b, _XOR, "~", left, right)


# --- comparisons ----------------------------------------------------------------------------------

_SYMBOLS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def _comparison(name: str) -> None:
    op = _SYMBOLS[name]

    def handler(b: Builder, lhs: object, rhs: object) -> RuntimeValue:
        left, right = promote_pair(b, lhs, rhs, op, exact=True)
        dtype = _dtype(left)
        if dtype.is_float:
            record, predicate = CMPF, "une" if name == "ne" else f"o{name}"
        else:
            sign = "" if name in ("eq", "ne") else "s" if dtype.is_signed else "u"
            record, predicate = CMPI, sign + name
        found = b.value(record, left.ir, right.ir, predicate=predicate)
        return RuntimeValue(found, I1, left.shape)

    handler.__name__ = f"_{name}"
    lowers(f"operator.{name}")(handler)


for _name in _SYMBOLS:
    _comparison(_name)

# --- choosing -------------------------------------------------------------------------------------


@lowers("where")
def _where(b: Builder, condition: object, x: object, y: object) -> RuntimeValue:
    chosen = implicitly(b, to_value(b, condition, arg="condition"), I1, arg="condition")
    left, right = promote_pair(b, x, y, "where", names=("x", "y"), pointers=True)
    if chosen.shape:
        chosen, left = broadcast_pair(b, chosen, left, "x")
        left, right = broadcast_pair(b, left, right, "y")
    else:
        chosen, _ = broadcast_pair(b, chosen, left, "x")
    return RuntimeValue(b.value(SELECT, chosen.ir, left.ir, right.ir), left.dtype, left.shape)


_MAXIMUM = Records(arith.MAXNUMF, arith.MAXSI, arith.MAXUI)
_MINIMUM = Records(arith.MINNUMF, arith.MINSI, arith.MINUI)
_IEEE_MAXIMUM = Records(arith.MAXIMUMF, arith.MAXSI, arith.MAXUI)
_IEEE_MINIMUM = Records(arith.MINIMUMF, arith.MINSI, arith.MINUI)


def _extreme(
    b: Builder, op: str, usual: Records, ieee: Records, x: object, y: object, propagate_nan: object
) -> RuntimeValue:
    records = ieee if keeps_nan(b, propagate_nan) else usual
    left, right = promote_pair(b, x, y, op, names=("x", "y"))
    return _emit(b, records, op, left, right)


def keeps_nan(b: Builder, propagate_nan: object) -> bool:
    """Whether a member of `PropagateNan` asks for NaN where an operand is NaN."""
    mode = propagate_nan.name if isinstance(propagate_nan, EnumMember) else propagate_nan
    if mode not in ("NONE", "ALL"):
        raise b.fail(
            E0416, arg="propagate_nan", what=describe(propagate_nan), parameter="propagate_nan"
        ).help("it is `PropagateNan.NONE` or `PropagateNan.ALL`")
    return mode == "ALL"


NONE = EnumMember("PropagateNan", "NONE", 0)


@lowers("maximum")
def _maximum(b: Builder, x: object, y: object, propagate_nan: object = NONE) -> RuntimeValue:
    return _extreme(b, "maximum", _MAXIMUM, _IEEE_MAXIMUM, x, y, propagate_nan)


@lowers("minimum")
def _minimum(b: Builder, x: object, y: object, propagate_nan: object = NONE) -> RuntimeValue:
    return _extreme(b, "minimum", _MINIMUM, _IEEE_MINIMUM, x, y, propagate_nan)
