"""Conversions between element types: widening, narrowing, integer and float, bits, pointers."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

from teenyc.ir.core import Operation
from teenyc.ir.opdef import OpDef, register
from teenyc.ir.printer import Names
from teenyc.ops import arrays, scalars
from teenyc.ops.families import (
    FLOAT,
    INT,
    POINTER,
    Array,
    Environment,
    cast_op,
    format_cast,
    given_type,
    kind_of,
)
from teenyc.types import IRType, PointerType, ScalarType, scalar_of, shape_of

# --- integers -------------------------------------------------------------------------------------


def _resize(np: Any, array: Array, source: str, result: str) -> Array:
    return array.astype(arrays.held_dtype(result))


def _zero_extend(np: Any, array: Array, source: str, result: str) -> Array:
    return arrays.without_sign(array).astype(arrays.held_dtype(result))


def _sign_extend(np: Any, array: Array, source: str, result: str) -> Array:
    found = array.astype(arrays.held_dtype(result))
    return -found if source == "i1" else found


def _truncate(np: Any, array: Array, source: str, result: str) -> Array:
    return (array & 1) != 0 if result == "i1" else array.astype(arrays.held_dtype(result))


EXTSI = cast_op(
    "arith.extsi",
    INT,
    INT,
    widens=True,
    fold=lambda value, source, result: -value if source == "i1" else value,
    ref=_sign_extend,
    cpu=lambda c, x, result: c.resized(x, result, signed=True),
)
EXTUI = cast_op(
    "arith.extui",
    INT,
    INT,
    widens=True,
    fold=lambda value, source, result: scalars.unsigned(value, scalars.bits_of(source)),
    ref=_zero_extend,
    cpu=lambda c, x, result: c.resized(x, result, signed=False),
)
TRUNCI = cast_op(
    "arith.trunci",
    INT,
    INT,
    widens=False,
    fold=lambda value, source, result: scalars.wrap(value, scalars.bits_of(result)),
    ref=_truncate,
    cpu=lambda c, x, result: c.truncated(x, result),
)

# --- floats ---------------------------------------------------------------------------------------

EXTF = cast_op(
    "arith.extf",
    FLOAT,
    FLOAT,
    widens=True,
    fold=lambda value, source, result: value,
    ref=_resize,
    cpu=lambda c, x, result: c.widened(x, result),
)
TRUNCF = cast_op(
    "arith.truncf",
    FLOAT,
    FLOAT,
    widens=False,
    fold=lambda value, source, result: scalars.round_float(value, result),
    ref=lambda np, array, source, result: arrays.rounded(np, array, result),
    cpu=lambda c, x, result: c.rounded(x, result),
)


def _format_fp_to_fp(op: Operation, names: Names) -> str:
    rounding = op.attrs.get("rounding")
    extra = f", rounding = {rounding}" if rounding else ""
    return format_cast(op, names, extra, "->")


def _verify_fp_to_fp(op: Operation) -> str | None:
    before, after = op.operands[0].type, op.results[0].type
    if shape_of(before) != shape_of(after) or not kind_of(before) == kind_of(after) == FLOAT:
        return f"converts floats to floats of the same shape, not {before} to {after}"
    found = op.attrs.get("rounding")
    return None if found in (None, "rtne", "rtz") else f"has no rounding mode `{found}`"


def _fold_fp_to_fp(op: Operation, values: list[Any]) -> float | None:
    if values[0] is None:
        return None
    name = arrays.element_name(op.results[0].type)
    return scalars.round_float(values[0], name, toward_zero=op.attrs.get("rounding") == "rtz")


def _ref_fp_to_fp(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    name = arrays.element_name(op.results[0].type)
    toward_zero = op.attrs.get("rounding") == "rtz"
    return arrays.rounded(np, operands[0], name, toward_zero=toward_zero)


FP_TO_FP = register(
    OpDef(
        "tt.fp_to_fp",
        given_type,
        _format_fp_to_fp,
        attrs=("type", "rounding"),
        verify=_verify_fp_to_fp,
        fold=_fold_fp_to_fp,
        ref=_ref_fp_to_fp,
        cpu=lambda c, op, x: c.rounded(
            x,
            arrays.element_name(op.results[0].type),
            toward_zero=op.attrs.get("rounding") == "rtz",
        ),
    )
)

# --- integers and floats --------------------------------------------------------------------------


def _from_signed(np: Any, array: Array, source: str, result: str) -> Array:
    return _from_int(np, -array.astype(np.int8) if source == "i1" else array, result)


def _from_unsigned(np: Any, array: Array, source: str, result: str) -> Array:
    return _from_int(np, arrays.without_sign(array), result)


def _from_int(np: Any, array: Array, result: str) -> Array:
    """Rounded once: 64-bit integers do not go through float64, which would round them twice."""
    if result == "f64" or array.dtype.itemsize <= 4:
        return arrays.rounded(np, array.astype(np.float64), result)
    rounded = [scalars.round_float(round_int(int(value), result), result) for value in array.flat]
    return np.asarray(rounded, dtype=arrays.held_dtype(result)).reshape(array.shape)


def round_int(value: int, name: str) -> float:
    """A float64 that rounds to the float type `name` as the integer does.

    The tail becomes one odd bit.
    """
    excess = abs(value).bit_length() - 53
    if excess <= 0:
        return float(value)
    if name == "f64":
        return float(value)
    magnitude = abs(value)
    head = magnitude >> excess
    sticky = int(magnitude != head << excess)
    return math.copysign(math.ldexp(head | sticky, excess), value)


def _to_int(value: float, result: str, *, signed: bool) -> int:
    """Truncated towards zero; what does not fit becomes the nearest that does, a NaN becomes 0.

    That is undefined in MLIR, and what a GPU's instruction for 32 bits does: so constants fold.
    """
    bits = scalars.bits_of(result)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return scalars.wrap(low if value < 0 else high, bits)
    return scalars.wrap(min(max(math.trunc(value), low), high), bits)


def _truncated(np: Any, array: Array, result: str, *, signed: bool) -> Array:
    """Like `_to_int`; what does not fit becomes the nearest integer that does, a NaN becomes 0."""
    bits = scalars.bits_of(result)
    wide = np.trunc(np.where(np.isnan(array), 0.0, array.astype(np.float64)))
    low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if signed else (0.0, 2.0**bits)
    inside = (wide >= low) & (wide < high)
    kind = np.dtype(f"{'int' if signed else 'uint'}{bits}")
    limits = np.iinfo(kind)
    found = np.where(inside, wide, 0.0).astype(kind)
    found = np.where(wide < low, kind.type(limits.min), found)
    return arrays.with_sign(np, np.where(wide >= high, kind.type(limits.max), found))


SITOFP = cast_op(
    "arith.sitofp",
    INT,
    FLOAT,
    fold=lambda value, source, result: scalars.round_float(
        round_int(-value if source == "i1" else value, result), result
    ),
    ref=_from_signed,
    cpu=lambda c, x, result: c.from_integer(x, result, signed=True),
)
UITOFP = cast_op(
    "arith.uitofp",
    INT,
    FLOAT,
    fold=lambda value, source, result: scalars.round_float(
        round_int(scalars.unsigned(value, scalars.bits_of(source)), result), result
    ),
    ref=_from_unsigned,
    cpu=lambda c, x, result: c.from_integer(x, result, signed=False),
)
FPTOSI = cast_op(
    "arith.fptosi",
    FLOAT,
    INT,
    fold=lambda value, source, result: _to_int(value, result, signed=True),
    ref=lambda np, array, source, result: _truncated(np, array, result, signed=True),
    cpu=lambda c, x, result: c.to_integer(x, result, signed=True),
)
FPTOUI = cast_op(
    "arith.fptoui",
    FLOAT,
    INT,
    fold=lambda value, source, result: _to_int(value, result, signed=False),
    ref=lambda np, array, source, result: _truncated(np, array, result, signed=False),
    cpu=lambda c, x, result: c.to_integer(x, result, signed=False),
)

# --- bits and pointers ----------------------------------------------------------------------------

_PACK = {"f16": "e", "f32": "f", "f64": "d", "i8": "b", "i16": "h", "i32": "i", "i64": "q"}


def _width(type_: IRType) -> int:
    scalar = scalar_of(type_)
    if isinstance(scalar, PointerType):
        return 64
    return 1 if scalar.name == "i1" else arrays.itemsize(scalar) * 8


def _verify_bitcast(op: Operation) -> str | None:
    before, after = op.operands[0].type, op.results[0].type
    if shape_of(before) != shape_of(after) or _width(before) != _width(after):
        return f"keeps shape and width, unlike {before} to {after}"
    if (kind_of(before) == POINTER) != (kind_of(after) == POINTER):
        return f"cannot turn {before} into {after}"
    return None


def _fold_bitcast(op: Operation, values: list[Any]) -> Any:
    before, after = (arrays.element_name(v.type) for v in (*op.operands, *op.results))
    if values[0] is None or before not in _PACK or after not in _PACK:
        return None
    if isinstance(values[0], float) and math.isnan(values[0]):
        return None  # which NaN it is, is not known here
    (found,) = struct.unpack(f"<{_PACK[after]}", struct.pack(f"<{_PACK[before]}", values[0]))
    return found


def _ref_bitcast(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    before, after = scalar_of(op.operands[0].type), scalar_of(op.results[0].type)
    if isinstance(before, PointerType) or isinstance(after, PointerType) or before == after:
        return operands[0]
    data = np.ascontiguousarray(arrays.encode(np, operands[0], before))
    seen = data.view(arrays.memory_dtype(after)).reshape(operands[0].shape)
    return arrays.decode(np, seen, after)


BITCAST = register(
    OpDef(
        "tt.bitcast",
        given_type,
        lambda op, names: format_cast(op, names, arrow="->"),
        attrs=("type",),
        verify=_verify_bitcast,
        fold=_fold_bitcast,
        ref=_ref_bitcast,
        cpu=lambda c, op, x: c.bitcast(
            x, *(arrays.element_name(value.type) for value in (*op.operands, *op.results))
        ),
    )
)


def _address_cast(name: str, source: str, result: str) -> OpDef:
    def verify(op: Operation) -> str | None:
        before, after = op.operands[0].type, op.results[0].type
        kinds = (kind_of(before), kind_of(after))
        number = before if source == INT else after
        if shape_of(before) != shape_of(after) or kinds != (source, result):
            return f"converts {source} to {result} of the same shape, not {before} to {after}"
        return None if scalar_of(number) == ScalarType("i64") else "addresses are i64"

    return register(
        OpDef(
            name,
            given_type,
            lambda op, names: format_cast(op, names, arrow="->"),
            attrs=("type",),
            verify=verify,
            ref=lambda np, op, operands, env: operands[0],
            cpu=lambda c, op, x: x,
        )
    )


PTR_TO_INT = _address_cast("tt.ptr_to_int", POINTER, INT)
INT_TO_PTR = _address_cast("tt.int_to_ptr", INT, POINTER)
