"""Numbers of the IR as Python scalars: wrapping, rounding and IEEE division, without NumPy.

Constant folding computes with these. An integer is kept in its signed form (`i1` as 0 or 1), a
float as the Python float that is exactly its value. Rounding is to nearest, ties to even, unless
said otherwise.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class FloatFormat(NamedTuple):
    """A binary float format.

    `precision` counts the hidden bit, `min_exponent` is that of the smallest normal number,
    `largest` the largest finite number; what lies beyond becomes `largest` where `saturates`, else
    infinity.
    """

    precision: int
    min_exponent: int
    largest: float
    saturates: bool = False


FORMATS: dict[str, FloatFormat] = {
    "f16": FloatFormat(11, -14, 65504.0),
    "bf16": FloatFormat(8, -126, (2 - 2**-7) * 2.0**127),
    "f32": FloatFormat(24, -126, (2 - 2**-23) * 2.0**127),
    # GPUs convert to 8-bit floats with `cvt.rn.satfinite`.
    "f8E4M3FN": FloatFormat(4, -6, 448.0, saturates=True),
    "f8E5M2": FloatFormat(3, -14, 57344.0, saturates=True),
}


def bits_of(name: str) -> int:
    """The width of an integer type: `i32` is 32."""
    return int(name[1:])


def wrap(value: int, bits: int) -> int:
    """`value` modulo 2**bits in signed form; 0 or 1 for one bit."""
    value &= (1 << bits) - 1
    if bits > 1 and value >> (bits - 1):
        value -= 1 << bits
    return value


def unsigned(value: int, bits: int) -> int:
    """The same bits read without a sign."""
    return value & ((1 << bits) - 1)


def round_float(value: float, name: str, *, toward_zero: bool = False) -> float:
    """`value` rounded once to the float type `name`."""
    if name == "f64" or value == 0 or math.isnan(value):
        return value
    precision, min_exponent, largest, saturates = FORMATS[name]
    if math.isinf(value):
        return math.copysign(largest, value) if saturates else value
    magnitude = abs(value)
    beyond = largest if saturates or toward_zero else math.inf
    if magnitude >= 2 * largest:
        return math.copysign(beyond, value)
    exponent = max(math.frexp(magnitude)[1] - 1, min_exponent) - (precision - 1)
    scaled = math.ldexp(magnitude, -exponent)
    rounded = math.ldexp(math.trunc(scaled) if toward_zero else round(scaled), exponent)
    return math.copysign(beyond if rounded > largest else rounded, value)


def divide(x: float, y: float) -> float:
    """IEEE division: by zero gives an infinity or NaN."""
    if y != 0:
        return x / y
    if x == 0 or math.isnan(x):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def remainder(x: float, y: float) -> float:
    """The remainder of truncated division, with the sign of `x`; NaN where there is none."""
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    return math.fmod(x, y)


def square_root(x: float) -> float:
    """IEEE square root: NaN below zero."""
    if math.isnan(x) or x < 0:
        return math.nan
    return math.sqrt(x)


def _greater(x: float, y: float) -> float:
    return x + y if x == y == 0 else max(x, y)


def number_max(x: float, y: float) -> float:
    """The greater number, +0.0 above -0.0; a NaN gives the other operand."""
    if math.isnan(x):
        return y
    return x if math.isnan(y) else _greater(x, y)


def number_min(x: float, y: float) -> float:
    """The smaller number, -0.0 below +0.0; a NaN gives the other operand."""
    return -number_max(-x, -y)


def ieee_max(x: float, y: float) -> float:
    """The greater number, +0.0 above -0.0; NaN where one is NaN."""
    return math.nan if math.isnan(x) or math.isnan(y) else _greater(x, y)


def ieee_min(x: float, y: float) -> float:
    """The smaller number, -0.0 below +0.0; NaN where one is NaN."""
    return -ieee_max(-x, -y)
