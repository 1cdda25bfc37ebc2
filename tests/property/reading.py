"""The language read with NumPy: what `tl` is when a kernel's text runs as Python.

Elementwise operations, casts and memory; `reading_tiles` has what works on whole tensors. Bounds
are those of `TARGET`: a host computes quotients and square roots exactly, a GPU within its ulp.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from tracked import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    Array,
    Dtype,
    RefusedError,
    Tracked,
    from_integers,
    odd_sum,
    promoted,
    rounded,
    spacing,
    value,
)

_F = TypeVar("_F", bound=Callable[..., Any])
LANGUAGE: dict[str, Any] = {}
OPERATORS: dict[str, Callable[..., Tracked]] = {}
UNARY: dict[str, Callable[..., Tracked]] = {}


class Machine:
    """What the bounds are for, and which program of the grid runs."""

    gpu = False
    program = (0, 0, 0)
    grid = (1, 1, 1)


def language(f: _F) -> _F:
    """Enter a function under its name, without the underscore that keeps builtins apart."""
    LANGUAGE[f.__name__.rstrip("_")] = f
    return f


def wide(x: Tracked) -> Array:
    return x.v.astype(np.float64)


def result(d: Dtype, v: Array, e: Array | None, inputs: list[Tracked]) -> Tracked:
    """A float result: where an operand may be off, both sides round, and specials are undecided."""
    v = np.asarray(v)
    if e is None or not any(x.e is not None for x in inputs):
        return Tracked(d, v, None)
    touched = np.zeros(v.shape, bool)
    for x in inputs:
        touched |= x.unsure()
    size = np.abs(v.astype(np.float64))
    off = np.where(np.isfinite(size), e + spacing(d, size + np.where(np.isfinite(e), e, 0)), np.inf)
    return Tracked(d, v, np.where(touched, off, 0.0))


def unknown(inputs: list[Tracked]) -> Array | None:
    """Infinite where an operand is not exact."""
    if all(x.e is None for x in inputs):
        return None
    touched = np.zeros(np.broadcast_shapes(*(x.shape for x in inputs)), bool)
    for x in inputs:
        touched = touched | x.unsure()
    return np.where(touched, np.inf, 0.0)


# --- arithmetic -----------------------------------------------------------------------------------


def compute(d: Dtype, f: Callable[..., Array], *values: Array) -> Array:
    """`f` in the precision of `d`, or in f32 or f64 and rounded once."""
    if d in (F32, F64):
        return np.asarray(f(*values)).astype(d.held)
    return rounded(d, f(*(x.astype(np.float64) for x in values)))


def _arithmetic(name: str, f: Callable[..., Array], off: Callable[..., Array]) -> None:
    def apply(a: Any, b: Any) -> Tracked:
        d, (x, y) = promoted(a, b)
        if d is I1 and name != "mul":
            raise RefusedError("arithmetic of i1")
        if not d.is_float:
            found = x.v & y.v if d is I1 else f(x.v, y.v)
            return Tracked(d, found, unknown([x, y]))
        e = off(np.abs(wide(x)), np.abs(wide(y)), x.off, y.off)
        return result(d, compute(d, f, x.v, y.v), e, [x, y])

    OPERATORS[name] = apply
    LANGUAGE[name] = lambda x, y, sanitize_overflow=True: apply(x, y)


_arithmetic("add", np.add, lambda x, y, a, b: a + b)
_arithmetic("sub", np.subtract, lambda x, y, a, b: a + b)
_arithmetic("mul", np.multiply, lambda x, y, a, b: x * b + y * a + a * b)


def quotient(d: Dtype, x: Tracked, y: Tracked, ulp: float) -> Tracked:
    """X / y; `ulp` is what a target may be off beyond the operands' own bounds."""
    found = compute(d, np.divide, x.v, y.v)
    low = np.abs(wide(y)) - y.off
    e = (x.off + np.abs(found.astype(np.float64)) * y.off) / np.where(low > 0, low, np.nan)
    e = np.where(x.unsure() | y.unsure(), e + spacing(d, found), 0.0)
    if not ulp:
        return Tracked(d, found, e)
    # An approximate quotient takes and gives zeros for subnormal numbers.
    top, bottom, tiny = np.abs(wide(x)), np.abs(wide(y)), 2.0**d.lowest
    own = np.where(np.isfinite(found) & (top != 0), ulp * spacing(d, found) + tiny, 0.0)
    own = own + np.where((top < tiny) & (top > 0), np.abs(found.astype(np.float64)), 0.0)
    usual = (bottom >= tiny) & (bottom <= 2.0**126) & np.isfinite(top)
    special = (bottom == 0) | np.isinf(bottom) | ~np.isfinite(wide(x) + wide(y))
    subnormal = (top < tiny) & (top > 0)
    own = np.where(usual | (special & ~subnormal), own, np.inf)
    near_end = np.isfinite(found) & (np.abs(found.astype(np.float64)) > d.greatest * (1 - 2.0**-20))
    ends = np.isinf(found) & (bottom != 0) & np.isfinite(top)
    return Tracked(d, found, e + np.where(near_end | ends, np.inf, own))


def truediv(a: Any, b: Any) -> Tracked:
    """A GPU's quotient of f32 is within 2 ulp; that of integers, divided as f32, is exact."""
    d, (x, y) = promoted(a, b, division=True)
    if not d.is_float:
        return quotient(F32, cast(x, F32), cast(y, F32), 0.0)
    return quotient(d, x, y, 2.0 if Machine.gpu and d is F32 else 0.0)


OPERATORS["truediv"] = truediv


def _integer_quotient(a: Any, b: Any) -> tuple[Dtype, Tracked, Tracked, Array, Array]:
    d, (x, y) = promoted(a, b, division=True)
    if d.kind not in ("int", "uint"):
        raise RefusedError("an integer quotient of these")
    bad = y.v == 0
    if d.kind == "int":
        bad = bad | ((x.v == np.iinfo(d.held).min) & (y.v == -1))
    safe = np.where(bad, 1, y.v).astype(d.held)
    floor, rest = x.v // safe, x.v % safe
    up = (rest != 0) & ((x.v < 0) != (safe < 0))
    found = (floor + up).astype(d.held)
    off = unknown([x, y])
    return d, x, y, found, np.where(bad, np.inf, 0.0 if off is None else off)


def floordiv(a: Any, b: Any) -> Tracked:
    """Towards zero, as in C."""
    d, _, _, found, off = _integer_quotient(a, b)
    return Tracked(d, found, off)


def mod(a: Any, b: Any) -> Tracked:
    """The rest has the sign of the left side; of floats as C's fmod."""
    d, (x, y) = promoted(a, b, division=True)
    if not d.is_float:
        d, x, y, found, off = _integer_quotient(a, b)
        return Tracked(d, x.v - found * y.v, off)
    with np.errstate(all="ignore"):
        rest = compute(d, np.fmod, x.v, y.v)
        turns = wide(x) / wide(y)
    e = unknown([x, y])
    off = np.zeros(rest.shape) if e is None else e
    if Machine.gpu:
        # x - trunc(x / y) * y, with an approximate quotient.
        near = np.abs(turns - np.rint(turns)) <= np.abs(turns) * 2.0**-20
        tiny = 2.0**d.lowest
        near |= (np.abs(wide(y)) < tiny) | (np.abs(wide(y)) > 2.0**126) | (wide(x) == 0)
        near |= np.abs(wide(x)) < tiny
        slack = np.where(near | ~np.isfinite(turns) | (np.abs(turns) > 2**20), np.inf,
                         np.abs(wide(x)) * 2.0**-20 + spacing(d, wide(x)))  # fmt: skip
        nan = np.isnan(wide(x)) | np.isnan(wide(y))
        off = off + np.where(np.isnan(rest) & nan, 0.0, np.where(np.isnan(rest), np.inf, slack))
    return Tracked(d, rest, off)


OPERATORS.update(floordiv=floordiv, mod=mod)


def neg(x: Any) -> Tracked:
    x = value(x)
    if x.d is I1 or x.d.saturates:
        raise RefusedError("the negative of these")
    return Tracked(x.d, -x.v if x.d.kind != "uint" else (0 - x.v).astype(x.d.held), x.e)


def invert(x: Any) -> Tracked:
    x = value(x)
    if x.d.is_float:
        raise RefusedError("the bits of a float")
    return Tracked(x.d, ~x.v, x.e)


UNARY.update(neg=neg, invert=invert, pos=lambda x: x)


def _bits(name: str, f: Callable[..., Array]) -> None:
    def apply(a: Any, b: Any) -> Tracked:
        d, (x, y) = promoted(a, b)
        if d.is_float or (d is I1 and "shift" in name):
            raise RefusedError("the bits of these")
        if "shift" in name and not isinstance(b, Tracked) and not 0 <= b < d.bits:
            raise RefusedError("a literal shift beyond the width")
        e = unknown([x, y])
        if "shift" in name:
            return _shifted(d, f, x, y, e)
        return Tracked(d, f(x.v, y.v).astype(d.held), e)

    OPERATORS[name] = apply


def _shifted(d: Dtype, f: Any, x: Tracked, y: Tracked, e: Array | None) -> Tracked:
    """By the width or more, or less than nothing: what fills."""
    beyond = (y.v.astype(np.float64) < 0) | (y.v.astype(np.float64) >= d.bits)
    found = f(x.v, np.where(beyond, 0, y.v).astype(d.held))
    fill = np.where(x.v < 0, -1, 0) if f is np.right_shift and d.kind == "int" else 0
    found = np.where(beyond, fill, found).astype(d.held)
    return Tracked(d, found, e)


for _name, _f in {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
                  "lshift": np.left_shift, "rshift": np.right_shift}.items():  # fmt: skip
    _bits(_name, _f)


def _comparison(name: str, f: Callable[..., Array]) -> None:
    def apply(a: Any, b: Any) -> Tracked:
        _, (x, y) = promoted(a, b, exact=True)
        found = f(x.v, y.v)
        if x.e is None and y.e is None:
            return Tracked(I1, found)
        off = x.off + y.off
        with np.errstate(all="ignore"):
            near = (off > 0) & ~(np.abs(wide(x) - wide(y)) > off)
        return Tracked(I1, found, np.where(near | (off == np.inf), np.inf, 0.0))

    OPERATORS[name] = apply


for _name, _f in {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
                  "eq": np.equal, "ne": np.not_equal}.items():  # fmt: skip
    _comparison(_name, _f)

# --- choosing -------------------------------------------------------------------------------------


@language
def where(condition: Any, x: Any, y: Any) -> Tracked:
    c = cast(value(condition), I1)
    d, (a, b) = _beside(x, y)
    shape = np.broadcast_shapes(c.shape, a.shape)
    off = np.where(c.v, a.off, b.off)
    off = np.where(c.unsure(), np.inf, off)
    return Tracked(d, np.broadcast_to(np.where(c.v, a.v, b.v), shape), off)


def _beside(x: Any, y: Any) -> tuple[Dtype, list[Tracked]]:
    if isinstance(x, Tracked) and isinstance(y, Tracked) and x.d == y.d and x.d.saturates:
        return x.d, [x, y]
    return promoted(x, y)


class PropagateNan:
    NONE = False
    ALL = True


LANGUAGE["PropagateNan"] = PropagateNan


def extreme(d: Dtype, x: Array, y: Array, least: bool, keep_nan: bool) -> Array:
    """The greater (or smaller) of numbers, +0.0 above -0.0."""
    if not d.is_float:
        return np.minimum(x, y) if least else np.maximum(x, y)
    sign = -1 if least else 1
    a, b = sign * x, sign * y
    zero = (a == 0) & (b == 0)
    found = np.where(zero, np.where(np.signbit(a), b, a), np.fmax(a, b))
    if keep_nan:
        found = np.where(np.isnan(a) | np.isnan(b), np.nan, found)
    return (sign * found).astype(d.held)


def _extremes(name: str, least: bool) -> None:
    def apply(x: Any, y: Any, propagate_nan: bool = False) -> Tracked:
        d, (a, b) = promoted(x, y)
        found = extreme(d, a.v, b.v, least, propagate_nan)
        off = np.maximum(a.off, b.off)
        if d.is_float and not propagate_nan:
            off = np.where(np.isnan(wide(a)), b.off, np.where(np.isnan(wide(b)), a.off, off))
            off = np.where((a.off == np.inf) | (b.off == np.inf), np.inf, off)
        return Tracked(d, found, off)

    LANGUAGE[name] = apply


_extremes("maximum", least=False)
_extremes("minimum", least=True)


@language
def clamp(x: Any, min: Any, max: Any, propagate_nan: bool = False) -> Tracked:  # noqa: A002
    d, (a, low, high) = promoted(x, min, max)
    found = LANGUAGE["minimum"](LANGUAGE["maximum"](a, low), high)
    if d.is_float and propagate_nan:
        found = where(Tracked(I1, np.isnan(a.v), unknown([a])), a, found)
        found = Tracked(d, found.v, np.where(a.unsure() & np.isnan(a.v), np.inf, found.off))
    return found


@language
def logical_and(input: Any, other: Any) -> Any:  # noqa: A002
    return (input != 0) & (other != 0)


@language
def logical_or(input: Any, other: Any) -> Any:  # noqa: A002
    return (input != 0) | (other != 0)


@language
def condition(arg1: Any, disable_licm: bool = False) -> Any:
    return arg1


@language
def abs_(x: Any) -> Tracked:
    x = value(x)
    if x.d.saturates:
        raise RefusedError("the magnitude of 8-bit floats")
    return Tracked(x.d, x.v if x.d.kind in ("uint", "bool") else np.abs(x.v), x.e)


@language
def fma(x: Any, y: Any, z: Any) -> Tracked:
    d, (a, b, c) = promoted(x, y, z)
    if not d.is_float:
        raise RefusedError("fma of integers")
    found = _fused(d, a, b, c)
    e = np.abs(wide(a)) * b.off + np.abs(wide(b)) * a.off + a.off * b.off + c.off
    return result(d, found, e, [a, b, c])


def _fused(d: Dtype, a: Tracked, b: Tracked, c: Tracked) -> Array:
    if d is not F64:
        return rounded(d, odd_sum(wide(a) * wide(b), wide(c)))
    from fractions import Fraction

    found = np.array(a.v * b.v + c.v)
    for i in np.ndindex(found.shape):
        if all(math.isfinite(x.v[i]) for x in (a, b, c)) and math.isfinite(found[i]):
            exact = Fraction(float(a.v[i])) * Fraction(float(b.v[i])) + Fraction(float(c.v[i]))
            if exact:
                found[i] = float(exact)
    return found


# --- casts ----------------------------------------------------------------------------------------


@language
def cast(
    input: Any,  # noqa: A002
    dtype: Dtype,
    fp_downcast_rounding: str | None = None,
    bitcast: bool = False,
) -> Tracked:
    x = value(input)
    if bitcast:
        return _bitcast(x, dtype)
    if x.d == dtype:
        return x
    if dtype is I1:
        return Tracked(I1, x.v != 0, np.where(x.unsure() & ~(np.abs(wide(x)) > x.off), np.inf, 0.0))
    if dtype.saturates and (x.d is F64 or not x.d.is_float):
        raise RefusedError(f"{x.d} as {dtype}")
    if x.d.saturates and not dtype.is_float:
        raise RefusedError(f"{x.d} as {dtype}")
    if x.d.is_float and dtype.is_float:
        if fp_downcast_rounding == "rtz":
            return _toward_zero(x, dtype)
        found = rounded(dtype, wide(x))
        e = np.where(x.unsure(), x.off + spacing(dtype, np.abs(wide(x)) + x.off), 0.0)
        return Tracked(dtype, found, e)
    if dtype.is_float:
        return Tracked(dtype, from_integers(dtype, x.v), unknown([x]))
    return _to_integer(x, dtype) if x.d.is_float else _resized(x, dtype)


def _resized(x: Tracked, dtype: Dtype) -> Tracked:
    return Tracked(dtype, x.v.astype(dtype.held), x.e)


def _to_integer(x: Tracked, dtype: Dtype) -> Tracked:
    """Towards zero; what does not fit is undefined."""
    exact = wide(x)
    low, high = float(np.iinfo(dtype.held).min), float(np.iinfo(dtype.held).max) + 1.0
    inside = np.isfinite(exact) & (np.trunc(exact) >= low) & (np.trunc(exact) < high)
    same = np.trunc(exact - x.off) == np.trunc(exact + x.off)
    if x.d is not F64 and dtype.name in ("i32", "u32"):
        limits = np.iinfo(dtype.held)
        safe = np.clip(np.where(np.isnan(exact), 0.0, np.trunc(exact)), limits.min, limits.max)
        return Tracked(dtype, safe.astype(dtype.held), np.where(same | (x.off == 0), 0.0, np.inf))
    safe = np.where(inside, exact, 0.0)
    return Tracked(dtype, safe.astype(dtype.held), np.where(inside & same, 0.0, np.inf))


def _toward_zero(x: Tracked, dtype: Dtype) -> Tracked:
    if x.d is not F32 or dtype not in (F16, BF16):
        raise RefusedError("this cast towards zero")
    near = rounded(dtype, wide(x))
    over = np.abs(near.astype(np.float64)) > np.abs(wide(x))
    down = near.astype(np.float64) - np.copysign(spacing(dtype, wide(x)), wide(x))
    down = np.where(
        np.isinf(near) & np.isfinite(wide(x)), np.copysign(dtype.greatest, wide(x)), down
    )
    found = np.where(over, np.copysign(down, wide(x)), near).astype(dtype.held)
    e = np.where(x.unsure(), x.off + spacing(dtype, np.abs(wide(x)) + x.off), 0.0)
    return Tracked(dtype, found, e)


def memory_bits(d: Dtype, v: Array) -> Array:
    """The bytes of values, as unsigned integers of the dtype's width."""
    import ml_dtypes

    kinds = {"bf16": ml_dtypes.bfloat16, "f8e4m3": ml_dtypes.float8_e4m3fn,
             "f8e5m2": ml_dtypes.float8_e5m2}  # fmt: skip
    kind = np.dtype(kinds.get(d.name, d.held))
    array = np.ascontiguousarray(v.astype(kind))
    return array.view(f"u{array.dtype.itemsize}").reshape(v.shape)


def from_bits(d: Dtype, bits: Array) -> Array:
    """What `memory_bits` is the inverse of."""
    import ml_dtypes

    kinds = {"bf16": ml_dtypes.bfloat16, "f8e4m3": ml_dtypes.float8_e4m3fn,
             "f8e5m2": ml_dtypes.float8_e5m2}  # fmt: skip
    kind = np.dtype(kinds.get(d.name, d.held))
    seen = np.ascontiguousarray(bits).astype(f"u{kind.itemsize}").view(kind).reshape(bits.shape)
    with np.errstate(invalid="ignore"):
        return seen.astype(d.held)


def _bitcast(x: Tracked, dtype: Dtype) -> Tracked:
    if x.d.bits != dtype.bits:
        raise RefusedError("a bitcast to another width")
    if x.d.is_float and dtype.is_float and x.d == dtype:
        return x
    off = unknown([x])
    if x.d.is_float:
        # Which NaN a NaN is, is not said.
        off = np.where(np.isnan(x.v), np.inf, 0.0 if off is None else off)
    bits = x.v if x.d is I1 else memory_bits(x.d, x.v)
    return Tracked(dtype, bits if dtype is I1 else from_bits(dtype, bits), off)


# --- functions of floats --------------------------------------------------------------------------


def exact_function(name: str, f: Callable[..., Array], kinds: tuple[Dtype, ...]) -> None:
    """A function of one float whose value is a float of that dtype, with steps."""

    def apply(x: Any) -> Tracked:
        x = value(x)
        if x.d not in kinds:
            raise RefusedError(f"{name} of {x.d}")
        found = f(x.v).astype(x.d.held)
        flushed = np.zeros(found.shape)
        if Machine.gpu and x.d is F32:  # subnormal numbers may be taken as zeros
            subnormal = (np.abs(wide(x)) < 2.0**-126) & (wide(x) != 0)
            flushed = np.where(subnormal, np.abs(found.astype(np.float64)), 0.0)
        if x.e is None:
            return Tracked(x.d, found, flushed)
        same = f(wide(x) - x.off) == f(wide(x) + x.off)
        same &= np.abs(wide(x)) - x.off > 2.0**-126
        return Tracked(x.d, found, np.where(x.unsure() & ~same, np.inf, flushed))

    LANGUAGE[name] = apply


exact_function("floor", np.floor, (F32, F64))
exact_function("ceil", np.ceil, (F32, F64))
