"""What operations do with types: promotion, casts, conditions. The rules are Triton's.

`to_value`, `constant` and `broadcast_pair` are handed on for the front end, which imports this
module alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from teeny_macros.diagnostics import TeenyError
from teeny_macros.unit import DSL_MODULE
from teenyc.codes import (
    E0301,
    E0302,
    E0303,
    E0306,
    E0307,
    E0308,
    E0309,
    E0313,
    E0315,
    E0602,
)
from teenyc.ir.builder import Builder
from teenyc.ir.core import Value
from teenyc.ir.opdef import OpDef
from teenyc.ops import casts, scalars
from teenyc.ops.broadcasting import broadcast_pair
from teenyc.ops.compare import CMPF, CMPI
from teenyc.ops.literals import (
    Number,
    constant,
    fits,
    is_number,
    literal_dtype,
    numeric,
    to_value,
)
from teenyc.types import (
    BF16,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I64,
    AnyDType,
    DType,
    PointerDType,
    ir_type,
)
from teenyc.values import RuntimeValue, describe

__all__ = [
    "as_condition",
    "broadcast_pair",
    "cast",
    "constant",
    "implicitly",
    "is_number",
    "note_cast",
    "promote",
    "promote_all",
    "promote_pair",
    "to_value",
]

# --- promotion ------------------------------------------------------------------------------------

_F8 = (F8E4M3, F8E5M2)
_KINDS = {"bool": 0, "int": 1, "uint": 1, "float": 2}


def promote(b: Builder, left: DType, right: DType, op: str, *, division: bool = False) -> DType:
    """The dtype in which an operation on two values computes (no literals among them)."""
    for wide in (F64, F32):
        if wide in (left, right):
            return wide
    if left.is_float or right.is_float:
        return _promote_narrow(b, left, right, op, division=division)
    if division and left.is_signed != right.is_signed:
        raise b.fail(E0303, op=op, left=left, right=right).help(
            "cast one side: `x.to(i32)` and `x.to(u32)` divide differently"
        )
    if left.is_signed == right.is_signed:
        return left if left.bits > right.bits else right
    signed, unsigned = (left, right) if left.is_signed else (right, left)
    return unsigned if unsigned.bits >= signed.bits else signed


def _promote_narrow(b: Builder, left: DType, right: DType, op: str, *, division: bool) -> DType:
    """Floats of 16 bits or fewer; a division has no such instruction and takes f32."""
    for dtype in (left, right):
        if dtype.is_float and dtype.bits == 8:
            raise b.fail(E0313, op=op, dtype=dtype).help("cast it first: `x.to(f32)`")
    if F16 in (left, right):
        return F32 if division else F16
    if left == right == BF16:
        return F32 if division else BF16
    return F32


def _promote_literal(
    b: Builder, value: Number, dtype: DType, op: str, arg: str, *, division: bool
) -> DType:
    """The dtype in which a value of `dtype` meets a literal.

    Its own, if the literal's kind allows.
    """
    own = literal_dtype(b, value, arg)
    if dtype.is_float and dtype.bits == 8:
        raise b.fail(E0313, op=op, dtype=dtype).help("cast it first: `x.to(f32)`")
    if _KINDS[own.kind] <= _KINDS[dtype.kind]:
        return F32 if division and dtype in (F16, BF16) else dtype
    return promote(b, own, dtype, op, division=division)


def promote_pair(
    b: Builder,
    lhs: object,
    rhs: object,
    op: str,
    *,
    names: tuple[str, str] = ("lhs", "rhs"),
    division: bool = False,
    exact: bool = False,
    pointers: bool = False,
) -> tuple[RuntimeValue, RuntimeValue]:
    """Both operands of `op` in one dtype and one shape.

    A literal takes the dtype of the other side; with `exact` (comparisons) only if that holds it
    exactly. With `pointers` two pointers of one type are left as they are.
    """
    if isinstance(lhs, bool | int | float) and isinstance(rhs, bool | int | float):
        first = literal_dtype(b, lhs, names[0])
        dtype = promote(b, first, literal_dtype(b, rhs, names[1]), op, division=division)
        return constant(b, lhs, dtype, arg=names[0]), constant(b, rhs, dtype, arg=names[1])
    left, right = (
        x if is_number(x) else to_value(b, x, arg=name)
        for x, name in zip((lhs, rhs), names, strict=True)
    )
    types = " and ".join(map(describe, (left, right)))
    for value in (left, right):
        if isinstance(value, RuntimeValue) and value.is_pointer:
            if pointers and getattr(left, "dtype", None) == getattr(right, "dtype", None):
                return broadcast_pair(b, left, right, names[1])  # type: ignore[arg-type]
            raise b.fail(E0301, op=op, types=types).help(
                "pointers move with `pointer + offset`; read them with `load`"
            )
    dtype = _pair_dtype(b, (left, right), names, op, division=division, exact=exact)
    first = _in_dtype(b, left, dtype, names[0])
    second = _in_dtype(b, right, dtype, names[1])
    return broadcast_pair(b, first, second, names[1])


def promote_all(
    b: Builder, values: Sequence[object], op: str, names: Sequence[str]
) -> tuple[RuntimeValue, ...]:
    """Three or more operands of `op` in one dtype and one shape.

    Literals take the dtype of the others where their kind allows.
    """
    dtype: DType | None = None
    literals: list[tuple[Number, str]] = []
    for value, name in zip(values, names, strict=True):
        if isinstance(value, bool | int | float):
            literals.append((value, name))
            continue
        found = numeric(b, value, op, name)[1]
        dtype = found if dtype is None else promote(b, dtype, found, op)
    for value, name in literals:
        if dtype is None:
            dtype = literal_dtype(b, value, name)
        else:
            dtype = _promote_literal(b, value, dtype, op, name, division=False)
    assert dtype is not None
    if dtype.is_float and dtype.bits == 8:
        raise b.fail(E0313, op=op, dtype=dtype).help("cast it first: `x.to(f32)`")
    cast_to = [_in_dtype(b, value, dtype, name) for value, name in zip(values, names, strict=True)]
    for i in range(1, len(cast_to)):
        for j in range(i):
            cast_to[j], cast_to[i] = broadcast_pair(b, cast_to[j], cast_to[i], names[i])
    return tuple(cast_to)


def _pair_dtype(
    b: Builder,
    pair: tuple[object, object],
    names: tuple[str, str],
    op: str,
    *,
    division: bool,
    exact: bool,
) -> DType:
    dtypes = []
    for value, other, name in zip(pair, reversed(pair), names, strict=True):
        if isinstance(value, RuntimeValue):
            assert isinstance(value.dtype, DType)
            dtypes.append(value.dtype)
            continue
        assert isinstance(value, bool | int | float)
        assert isinstance(other, RuntimeValue)
        assert isinstance(other.dtype, DType)
        if not exact or _is_exact(value, other.dtype):
            return _promote_literal(b, value, other.dtype, op, name, division=division)
        dtypes.append(literal_dtype(b, value, name))
    return promote(b, dtypes[0], dtypes[1], op, division=division)


def _is_exact(value: Number, dtype: DType) -> bool:
    if not dtype.is_float:
        return fits(value, dtype)
    return scalars.round_float(float(value), dtype.mlir) == value


def _in_dtype(b: Builder, value: object, dtype: DType, arg: str) -> RuntimeValue:
    if isinstance(value, RuntimeValue):
        return implicitly(b, value, dtype, arg=arg)
    assert isinstance(value, bool | int | float)
    if value < 0 and dtype.kind in ("uint", "bool") and not isinstance(value, bool):
        raise b.fail(E0302, arg=arg, value=value, dtype=dtype).help(
            f"cast the other side to a signed dtype: `x.to(i{max(8, dtype.bits)})`"
        )
    return constant(b, value, dtype, arg=arg)


# --- casts ----------------------------------------------------------------------------------------


def note_cast(b: Builder, x: object, dtype: AnyDType, arg: str = "") -> None:
    """W0315, where such warnings are wanted: the text of the kernel does not say this cast.

    Literals have no dtype to lose unless they are no value of `dtype`; and the language's own
    functions are not the user's text.
    """
    if b.implicit is None or b.loc.file.startswith(DSL_MODULE):
        return
    if not isinstance(x, RuntimeValue):
        _note_literal(b, x, dtype, arg)
        return
    if x.dtype == dtype:
        return
    place = b.arg_spans.get(arg, b.span)
    is_literal = x.ir.op is not None and x.ir.op.name == "arith.constant"
    if place is None or is_literal:
        return
    found = E0315.warn(place, before=x.describe(), dtype=dtype)
    # A parameter declared `n: i32 | int` has no `to` for a type checker.
    spelled = "{} != 0" if dtype == I1 else f"{{}}.to({dtype})" if x.shape else f"{dtype}({{}})"
    found.helps.append(f"say so: `{spelled}`")
    b.implicit.append(found)


def _whole(x: float) -> int:
    """The whole part of a number, 0 of those that have none."""
    return int(x) if isinstance(x, int) or math.isfinite(x) else 0


def _note_literal(b: Builder, x: object, dtype: AnyDType, arg: str) -> None:
    """W0315 for a literal that an integer dtype does not have, such as 0.5 or 70000 as i16."""
    if not isinstance(x, int | float) or not isinstance(dtype, DType) or dtype.is_float:
        return
    place = b.arg_spans.get(arg, b.span)
    if place is None or b.implicit is None or (_whole(x) == x and fits(_whole(x), dtype)):
        return
    found = E0315.warn(place, before=f"literal {x}", dtype=dtype)
    found.helps.append(f"it is no value of {dtype}: write the one that is meant")
    b.implicit.append(found)


def implicitly(b: Builder, x: object, dtype: AnyDType, *, arg: str = "") -> RuntimeValue:
    """A cast that the text of the kernel does not say: see `note_cast`."""
    note_cast(b, x, dtype, arg)
    return cast(b, x, dtype, arg=arg)


def cast(
    b: Builder, x: object, dtype: AnyDType, rounding: str | None = None, *, arg: str = ""
) -> RuntimeValue:
    """The same values as another dtype, through the operations that Triton would take."""
    value = to_value(b, x, arg=arg)
    source = value.dtype
    if source == dtype:
        return value
    if isinstance(source, PointerDType) or isinstance(dtype, PointerDType):
        return _cast_pointer(b, value, dtype)
    if rounding is not None and not _takes_rounding(source, dtype, rounding):
        raise b.fail(E0307, arg="fp_downcast_rounding", before=source, dtype=dtype).help(
            "leave it out; only f32 is rounded towards zero, to f16 or bf16"
        )
    if source.is_float:
        return _cast_float(b, value, source, dtype, rounding)
    return _cast_int(b, value, source, dtype)


def _takes_rounding(source: DType, dtype: DType, rounding: str) -> bool:
    """Whether a cast has this mode: those that narrow a float, and from f32 towards zero."""
    if rounding == "rtz":
        return source == F32 and dtype in (F16, BF16)
    return source.is_float and dtype.is_float and dtype.bits < source.bits


def _convert(b: Builder, record: OpDef, value: RuntimeValue, dtype: AnyDType) -> RuntimeValue:
    found = b.value(record, value.ir, type=ir_type(dtype, value.shape))
    return RuntimeValue(found, dtype, value.shape)


def _round(b: Builder, value: RuntimeValue, dtype: DType, mode: str | None) -> RuntimeValue:
    """A conversion between floats that names its rounding mode, or widens an 8-bit float."""
    attrs = {"type": ir_type(dtype, value.shape), "rounding": mode}
    found = b.emit(casts.FP_TO_FP, [value.ir], attrs=attrs).result
    return RuntimeValue(found, dtype, value.shape)


def _cast_float(
    b: Builder, value: RuntimeValue, source: DType, dtype: DType, rounding: str | None
) -> RuntimeValue:
    # To bf16 through f32: the direct way through libtriton turns NaN and infinity of f8e5m2 into
    # numbers.
    if source.bits == 8 and dtype in (F64, BF16, *_F8):
        return cast(b, _round(b, value, F32, None), dtype)
    if (dtype in _F8 and source == F64) or (source.bits == 8 and dtype.is_int):
        raise b.fail(E0306, before=source, dtype=dtype).help(
            f"go through f32: `x.to(f32).to({dtype})`"
        )
    if 8 in (source.bits, dtype.bits) and dtype.is_float:
        return _round(b, value, dtype, "rtne" if dtype.bits == 8 else None)
    if rounding == "rtz":
        return _round(b, value, dtype, rounding)
    if source.bits == 16 and dtype != F32:
        return cast(b, _convert(b, casts.EXTF, value, F32), dtype)
    if dtype.is_float:
        record = casts.EXTF if dtype.bits > source.bits else casts.TRUNCF
        return _convert(b, record, value, dtype)
    if dtype.is_bool:
        return _is_not_zero(b, value, source)
    return _convert(b, casts.FPTOSI if dtype.is_signed else casts.FPTOUI, value, dtype)


def _cast_int(b: Builder, value: RuntimeValue, source: DType, dtype: DType) -> RuntimeValue:
    if dtype.is_float:
        if dtype.bits == 8:
            raise b.fail(E0306, before=source, dtype=dtype).help(
                f"go through f32: `x.to(f32).to({dtype})`"
            )
        return _convert(b, casts.SITOFP if source.is_signed else casts.UITOFP, value, dtype)
    if dtype.is_bool:
        return _is_not_zero(b, value, source)
    if dtype.bits == source.bits:
        return RuntimeValue(value.ir, dtype, value.shape)
    if dtype.bits < source.bits:
        return _convert(b, casts.TRUNCI, value, dtype)
    return _convert(b, casts.EXTSI if source.is_signed else casts.EXTUI, value, dtype)


def _is_not_zero(b: Builder, value: RuntimeValue, source: DType) -> RuntimeValue:
    left, right = broadcast_pair(b, value, constant(b, 0, source))
    record, predicate = (CMPF, "une") if source.is_float else (CMPI, "ne")
    found = b.value(record, left.ir, right.ir, predicate=predicate)
    return RuntimeValue(found, I1, left.shape)


def _cast_pointer(b: Builder, value: RuntimeValue, dtype: AnyDType) -> RuntimeValue:
    source = value.dtype
    if isinstance(source, PointerDType) and isinstance(dtype, PointerDType):
        return _convert(b, casts.BITCAST, value, dtype)
    number = dtype if isinstance(dtype, DType) else source
    assert isinstance(number, DType)
    if number.is_int and number.bits == 64:
        record = casts.PTR_TO_INT if isinstance(source, PointerDType) else casts.INT_TO_PTR
        return _convert(b, record, value, dtype)
    if number.is_bool and isinstance(source, PointerDType):
        return _is_not_zero(b, _convert(b, casts.PTR_TO_INT, value, I64), I64)
    raise b.fail(E0306, before=source, dtype=dtype).help("addresses are i64: `p.to(i64)`")


def bitcast(b: Builder, value: RuntimeValue, dtype: AnyDType) -> RuntimeValue:
    """The same bits as another dtype of the same width."""
    source = value.dtype
    if isinstance(source, PointerDType) or isinstance(dtype, PointerDType):
        return cast(b, value, dtype)
    if source.bits != dtype.bits:
        raise b.fail(
            E0308, arg="dtype", before=source, size=source.bits, dtype=dtype, wanted=dtype.bits
        ).help("a bitcast keeps the width; leave `bitcast=True` out to convert the value")
    if source.mlir == dtype.mlir:
        return RuntimeValue(value.ir, dtype, value.shape)
    return _convert(b, casts.BITCAST, value, dtype)


def offset(b: Builder, value: RuntimeValue, arg: str = "") -> RuntimeValue:
    """An offset of a pointer.

    An integer; unsigned ones below 64 bits are widened, since offsets are signed.
    """
    dtype = value.dtype
    if not isinstance(dtype, DType) or dtype.is_float:
        raise float_offset(b, value, arg)
    if not dtype.is_signed and dtype.bits < 64:
        return _convert(b, casts.EXTUI, value, I64)
    return value


def float_offset(b: Builder, value: RuntimeValue, arg: str) -> TeenyError:
    """The error of a pointer moved by something that is no integer."""
    return b.fail(E0309, f"has dtype {value.dtype}", arg=arg, dtype=value.dtype).help(
        "integers divide with `//`; a float is cast: `pointer + x.to(i32)`"
    )


# --- conditions -----------------------------------------------------------------------------------


def as_condition(b: Builder, x: object, what: str = "a condition") -> Value:
    """A scalar as i1: itself, or whether it is not zero; raises E0602 for a tensor."""
    value = to_value(b, x)
    if value.shape:
        raise b.fail(E0602, what=what, type=value.describe()).help(
            "combine tensors with `&` and `|`, choose with `where(condition, x, y)`, mask memory"
        )
    return implicitly(b, value, I1).ir
