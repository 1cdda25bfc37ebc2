"""Exact rational results rounded once, in any direction: the readings of `add_rz`, `sqrt_ru`, ...

Works on Python scalars; modes are `rn` (nearest, ties to even), `rz` (towards zero), `rd` (down)
and `ru` (up).
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from teenyc.ops.scalars import FORMATS, FloatFormat, divide, wrap

MODES = ("rn", "rz", "rd", "ru")
_F64 = FloatFormat(53, -1022, sys.float_info.max)
_HALF = Fraction(1, 2)
# Bits kept of a root that is not rational; one more, set, stands for all that follow.
_ROOT_BITS = 80


def _steps(value: Fraction, mode: str) -> int:
    """The magnitude of `value` as an integer."""
    magnitude = abs(value)
    whole = magnitude.numerator // magnitude.denominator
    rest = magnitude - whole
    if mode == "rn":
        return whole + int(rest > _HALF or (rest == _HALF and bool(whole & 1)))
    away = (mode == "rd" and value < 0) or (mode == "ru" and value > 0)
    return whole + int(away and rest > 0)


def round_exact(value: Fraction, name: str, mode: str) -> float:
    """A number other than zero rounded to the float type `name` (f32 or f64)."""
    precision, least, largest, _ = FORMATS.get(name, _F64)
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, least) - (precision - 1))
    found = _steps(value / quantum, mode) * quantum
    sign = -1.0 if value < 0 else 1.0
    if found > Fraction(largest):
        outward = mode == "rn" or (mode == "ru" and value > 0) or (mode == "rd" and value < 0)
        return sign * (math.inf if outward else largest)
    return sign * float(found)


def to_integer(value: float, bits: int, mode: str, *, signed: bool) -> int:
    """A float rounded to the nearest integer that fits, as PTX's `cvt`.

    A NaN gives 0 where neither side has 64 bits, the bit of the sign otherwise; the result is in
    signed form.
    """
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if math.isinf(value):
        return wrap(high if value > 0 else low, bits)
    exact = Fraction(value)
    found = _steps(exact, mode) * (-1 if exact < 0 else 1)
    return wrap(min(max(found, low), high), bits)


def from_integer(value: int, name: str, mode: str) -> float:
    """An integer rounded to a float type."""
    return round_exact(Fraction(value), name, mode) if value else 0.0


def _zero(mode: str, *signs: float) -> float:
    """A sum that is zero: the terms' sign where they agree, else that of the mode."""
    if len({math.copysign(1.0, sign) for sign in signs}) == 1:
        return math.copysign(0.0, signs[0])
    return -0.0 if mode == "rd" else 0.0


def add(name: str, mode: str, x: float, y: float) -> float:
    """The sum."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x + y
    exact = Fraction(x) + Fraction(y)
    if exact:
        return round_exact(exact, name, mode)
    return _zero(mode, x, y) if x == 0 else _zero(mode, 1.0, -1.0)


def subtract(name: str, mode: str, x: float, y: float) -> float:
    """The difference."""
    return add(name, mode, x, -y)


def multiply(name: str, mode: str, x: float, y: float) -> float:
    """The product."""
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        return x * y
    return round_exact(Fraction(x) * Fraction(y), name, mode)


def quotient(name: str, mode: str, x: float, y: float) -> float:
    """The quotient."""
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        return divide(x, y)
    return round_exact(Fraction(x) / Fraction(y), name, mode)


def reciprocal(name: str, mode: str, x: float) -> float:
    """1 / x."""
    return quotient(name, mode, 1.0, x)


def multiply_add(name: str, mode: str, x: float, y: float, z: float) -> float:
    """The sum x * y + z, rounded once."""
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z if not (math.isfinite(x) and math.isfinite(y)) else z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact:
        return round_exact(exact, name, mode)
    sign = math.copysign(1.0, x) * math.copysign(1.0, y)
    return _zero(mode, sign, math.copysign(1.0, z))


def _root(value: Fraction) -> Fraction:
    """The square root: exact, or with one more bit set that no rounding takes for a tie."""
    shift = max(0, value.denominator.bit_length() - value.numerator.bit_length()) + _ROOT_BITS
    scaled = value.numerator * (1 << (2 * shift)) // value.denominator
    whole = math.isqrt(scaled)
    root = Fraction(whole, 1 << shift)
    return root if root * root == value else root + Fraction(1, 1 << (shift + 1))


def square_root(name: str, mode: str, x: float) -> float:
    """The square root; NaN below zero."""
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0 or math.isinf(x):
        return x
    return round_exact(_root(Fraction(x)), name, mode)


def inverse_root(name: str, mode: str, x: float) -> float:
    """1 / sqrt(x)."""
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0:
        return math.copysign(math.inf, x)
    return 0.0 if math.isinf(x) else round_exact(_root(1 / Fraction(x)), name, mode)
