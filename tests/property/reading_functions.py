"""Functions of floats in the NumPy reading, with what each target may be off; and libdevice's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import reading
from reading import LANGUAGE, Machine, exact_function, language, unknown, wide
from tracked import (
    F32,
    F64,
    I32,
    I64,
    Array,
    Dtype,
    RefusedError,
    Tracked,
    full,
    promoted,
    rounded,
    spacing,
    value,
)

_TINY = 2.0**-126


class Bound(NamedTuple):
    """How far a function may be off: ulp on a host and on a GPU (f32, f64).

    `slack` is a distance that a GPU may have in f32 besides; `grows` ulp are added per unit of |x|.
    """

    f: Callable[[Array], Array]
    host: float = 2.0
    gpu: float = 2.0
    gpu64: float = 2.0
    slack: float = _TINY
    grows: float = 0.0


def _erf(x: Array) -> Array:
    import math

    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), np.float64)


_LOG = 2.0**-21
FUNCTIONS = {
    "exp": Bound(np.exp, gpu=4, grows=2),
    "exp2": Bound(np.exp2, gpu=3),
    "log": Bound(np.log, gpu=4, slack=_LOG),
    "log2": Bound(np.log2, gpu=4, slack=_LOG),
    "sqrt": Bound(np.sqrt, host=0, gpu=2, gpu64=0),
    "rsqrt": Bound(lambda x: 1.0 / np.sqrt(x), gpu=3),
    "sin": Bound(np.sin),
    "cos": Bound(np.cos),
    "erf": Bound(_erf),
    "tanh": Bound(np.tanh),
    "fast_expf": Bound(np.exp, gpu=4, grows=2),
    "fast_logf": Bound(np.log, gpu=4, slack=_LOG),
    "fast_log2f": Bound(np.log2, gpu=4, slack=_LOG),
    # Absolute errors in -pi to pi; farther out they are not bounded.
    "fast_sinf": Bound(np.sin, slack=2.0**-20, grows=1e30),
    "fast_cosf": Bound(np.cos, slack=2.0**-20, grows=1e30),
}


def near(d: Dtype, f: Callable[[Array], Array], x: Tracked, bound: Bound) -> Tracked:
    """f(x) rounded, and how far off a target may be."""
    exact = np.asarray(f(wide(x)), np.float64)
    found = rounded(d, exact)
    ulp = bound.host if not Machine.gpu else bound.gpu if d is F32 else bound.gpu64
    if not Machine.gpu and d is F64:
        ulp += 2.0 if bound.host else 0.0  # NumPy's own
    off = ulp * spacing(d, found)
    if Machine.gpu and d is F32:
        growth = np.abs(wide(x)) * bound.grows
        growth = np.where(growth < 1e30, growth, np.where(np.abs(wide(x)) < 3.1, 0.0, np.inf))
        growth = np.where(np.isfinite(wide(x)), growth, 0.0)
        off = off + bound.slack + growth * spacing(d, found)
        # Subnormal numbers may be taken as zeros.
        subnormal = (np.abs(wide(x)) - x.off < _TINY) & ((wide(x) != 0) | x.unsure())
        with np.errstate(all="ignore"):
            flushed = np.abs(np.asarray(f(np.copysign(0.0, wide(x))), np.float64) - exact)
        off = off + np.where(subnormal, np.where(np.isfinite(flushed), flushed, np.inf), 0.0)
    special = ~np.isfinite(found) | ~np.isfinite(wide(x)) | (ulp == 0)
    special &= ~np.isinf(off)
    off = np.where(special, 0.0, off)
    # Around the end of the range one target may have infinity already.
    off = np.where(np.isinf(found) & np.isfinite(wide(x)) & (wide(x) != 0) & (ulp > 0)
                   & (np.abs(exact) < d.greatest * (1 + 2.0**-10)), np.inf, off)  # fmt: skip
    if x.e is not None:
        with np.errstate(all="ignore"):
            sides = [np.abs(np.asarray(f(wide(x) + s * x.off)) - exact) for s in (-1.0, 1.0)]
        spread = np.maximum(*sides) * 1.01 + spacing(d, found)
        if name_turns(f):
            spread = np.where(x.off == np.inf, np.inf, np.minimum(x.off, 2.0) * 1.01)
            spread = spread + spacing(d, found)
        usual = np.isfinite(spread) & np.isfinite(found)
        off = np.where(x.unsure(), np.where(usual, off + spread, np.inf), off)
    return Tracked(d, found, off)


def name_turns(f: Any) -> bool:
    """Whether a function is not monotonic."""
    return f in (np.sin, np.cos)


def _function(name: str, bound: Bound) -> None:
    kinds = (F32,) if name.startswith("fast_") else (F32, F64)

    def apply(x: Any) -> Tracked:
        x = value(x)
        if x.d not in kinds:
            raise RefusedError(f"{name} of {x.d}")
        return near(x.d, bound.f, x, bound)

    LANGUAGE[name] = apply


for _name, _bound in FUNCTIONS.items():
    _function(_name, _bound)


@language
def sqrt_rn(x: Any) -> Tracked:
    x = value(x)
    if x.d not in (F32, F64):
        raise RefusedError("sqrt_rn of these")
    found = np.sqrt(x.v)
    if x.e is None:
        return Tracked(x.d, found)
    return near(x.d, np.sqrt, x, Bound(np.sqrt, 0, 0, 0, 0.0))


@language
def div_rn(x: Any, y: Any) -> Tracked:
    d, (a, b) = promoted(x, y, division=True)
    if not d.is_float:
        d, a, b = F32, reading.cast(a, F32), reading.cast(b, F32)
    return reading.quotient(d, a, b, 0.0)


@language
def fdiv(x: Any, y: Any, ieee_rounding: bool = False, approx: bool = False) -> Tracked:
    d, (a, b) = promoted(x, y, division=True)
    if not d.is_float or (approx and d is not F32):
        raise RefusedError("fdiv of these")
    if approx:
        return LANGUAGE["fast_dividef"](a, b)  # type: ignore[no-any-return]
    exact = ieee_rounding or d is F64 or not Machine.gpu
    return reading.quotient(d, a, b, 0.0 if exact else 2.0)


@language
def fast_dividef(x: Any, y: Any) -> Tracked:
    d, (a, b) = promoted(x, y)
    if d is not F32:
        raise RefusedError("fast_dividef of these")
    found = reading.quotient(d, a, b, 2.0 if Machine.gpu else 0.0)
    if not Machine.gpu:
        return found
    size = np.abs(wide(b))
    usual = (size >= _TINY) & (size <= 2.0**126) & np.isfinite(wide(a))
    return Tracked(d, found.v, np.where(usual, found.off + _TINY, np.inf))


@language
def sigmoid(x: Any) -> Tracked:
    return 1 / (1 + LANGUAGE["exp"](-value(x)))  # type: ignore[no-any-return]


@language
def cdiv(x: Any, div: Any) -> Any:
    if not isinstance(x, Tracked) and not isinstance(div, Tracked):
        return -(-x // div)
    return (x + (div - 1)) // div


@language
def umulhi(x: Any, y: Any) -> Tracked:
    d, (a, b) = promoted(x, y)
    if not d.is_int or d.bits < 32:
        raise RefusedError("umulhi of these")
    mask = (1 << d.bits) - 1
    each = np.frompyfunc(lambda p, q: ((int(p) & mask) * (int(q) & mask)) >> d.bits, 2, 1)
    found = np.asarray(each(a.v, b.v), object)
    return Tracked(d, found.astype(f"u{d.bits // 8}").astype(d.held), unknown([a, b]))


# --- libdevice ------------------------------------------------------------------------------------


def _half_away(x: Array) -> Array:
    return np.trunc(x) + np.copysign(np.abs(x - np.trunc(x)) >= 0.5, x)


exact_function("rint", np.rint, (F32, F64))
exact_function("nearbyint", np.rint, (F32, F64))
exact_function("trunc", np.trunc, (F32, F64))
exact_function("round", _half_away, (F32, F64))


def _floats(name: str, f: Callable[..., Tracked]) -> None:
    """A libdevice function of floats of one dtype; literals take that of the others."""

    def apply(*operands: Any) -> Tracked:
        kinds = {x.d for x in operands if isinstance(x, Tracked)}
        if len(kinds) != 1 or not kinds <= {F32, F64}:
            raise RefusedError(f"{name} of these")
        (d,) = kinds
        return f(*(x if isinstance(x, Tracked) else full(float(x), d) for x in operands))

    LANGUAGE[name] = apply


def _flushed(found: Tracked, *operands: Tracked) -> Tracked:
    """Libdevice takes and gives zeros for subnormal f32."""
    if not Machine.gpu or found.d is not F32:
        return found
    tiny = np.zeros(found.shape, bool)
    for x in operands:
        tiny |= (np.abs(wide(x)) - x.off < _TINY) & ((wide(x) != 0) | x.unsure())
    small = (np.abs(wide(found)) < 4 * _TINY) & (wide(found) != 0)
    return Tracked(F32, found.v, np.where(tiny, np.inf, found.off + np.where(small, _TINY, 0.0)))


def _copysign(x: Tracked, y: Tracked) -> Tracked:
    unsure = y.unsure() & ~(np.abs(wide(y)) > y.off)
    unsure |= np.isnan(wide(y))  # its sign is not said
    return Tracked(x.d, np.copysign(x.v, y.v), np.where(unsure, np.inf, x.off + 0 * y.off))


def _fmod(x: Tracked, y: Tracked) -> Tracked:
    found = Tracked(x.d, np.fmod(x.v, y.v).astype(x.d.held), unknown([x, y]))
    return _flushed(found, x, y)


_floats("copysign", _copysign)
_floats("fmod", _fmod)
_floats("add_rn", lambda x, y: _flushed(x + y, x, y))
_floats("sub_rn", lambda x, y: _flushed(x - y, x, y))
_floats("mul_rn", lambda x, y: _flushed(x * y, x, y))
_floats("fma_rn", lambda x, y, z: _flushed(reading.fma(x, y, z), x, y, z))


def _question(name: str, f: Callable[[Array], Array]) -> None:
    def apply(x: Any) -> Tracked:
        x = value(x)
        if x.d not in (F32, F64):
            raise RefusedError(f"{name} of these")
        return Tracked(I32, f(x.v).astype(np.int32), np.where(x.off == np.inf, np.inf, 0.0))

    LANGUAGE[name] = apply


_question("isnan", np.isnan)
_question("isinf", np.isinf)


def _on_bits(name: str, f: Callable[[int, int], int], same: bool) -> None:
    def apply(x: Any) -> Tracked:
        x = value(x)
        if not x.d.is_int or x.d.bits < 32:
            raise RefusedError(f"{name} of these")
        mask = (1 << x.d.bits) - 1
        found = np.asarray(np.frompyfunc(lambda p: f(x.d.bits, int(p) & mask), 1, 1)(x.v), object)
        d = (I32 if x.d.bits == 32 else I64) if same else I32
        return Tracked(d, found.astype(f"u{x.d.bits // 8}").astype(d.held), unknown([x]))

    LANGUAGE[name] = apply


_on_bits("popc", lambda bits, x: x.bit_count(), same=False)
_on_bits("clz", lambda bits, x: bits - x.bit_length(), same=False)
_on_bits("brev", lambda bits, x: int(f"{x:0{bits}b}"[::-1], 2), same=True)
