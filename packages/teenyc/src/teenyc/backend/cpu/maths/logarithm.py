"""log and log2: the exponent is taken out, a polynomial gives the rest."""

from __future__ import annotations

import math

from teenyc.backend.cpu.maths import coefficients
from teenyc.backend.cpu.maths.emitter import Emitter, Value
from teenyc.backend.cpu.maths.layout import integer_as_float, layout_of, leading_half

# ln(2) as in exponential.py; 1/ln(2) as a half-length head and the rest.
_LN2 = {
    "f32": (0.693359375, -2.12194440e-4),
    "f64": (float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")),
}
_LOG2_E = {
    "f32": (float.fromhex("0x1.716p0"), float.fromhex("-0x1.7135a8p-13")),
    "f64": (float.fromhex("0x1.7154768p0"), float.fromhex("-0x1.6a3e80f444178p-27")),
}
# The bits of sqrt(1/2), where the range of the fraction begins.
_SQRT_HALF = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}


def _split(e: Emitter, element: str, x: Value) -> tuple[Value, Value]:
    """(k, f) with x = (1 + f) 2**k, sqrt(1/2) <= 1 + f < sqrt(2); both exact, x > 0."""
    layout = layout_of(x)
    subnormal = x.compare("olt", layout.smallest_normal)
    normal = e.select(subnormal, x * 2.0**layout.mantissa, x)
    bits = e.bitcast(normal, layout.integer)
    exponent = (bits - _SQRT_HALF[element]).arithmetic_shift(layout.mantissa)
    fraction = e.bitcast(bits - (exponent << layout.mantissa), layout.kind) - 1.0
    shift = e.select(subnormal, e.constant(layout.mantissa, layout.integer), 0)
    return integer_as_float(e, exponent - shift, layout), fraction


def _tail(e: Emitter, element: str, f: Value, half_square: Value) -> Value:
    """What log(1 + f) - f + f**2 / 2 is: f**3 P(f), or s (f**2 / 2 + s**2 P(s**2)) in f64.

    There s = f / (2 + f), as in FreeBSD's `e_log.c`, whose series is half as long.
    """
    if element == "f32":
        return f * f * f * e.polynomial(f, coefficients.LOG[element])
    s = f / (f + 2.0)
    z = s * s
    return s * e.multiply_add(z, e.polynomial(z, coefficients.LOG_RATIO[element]), half_square)


def _outside(e: Emitter, x: Value, result: Value) -> Value:
    """-inf at zero of either sign, NaN below and for NaN, inf at inf."""
    result = e.select(x.compare("oeq", math.inf), math.inf, result)
    result = e.select(x.compare("oeq", 0.0), -math.inf, result)
    return e.select(x.compare("ult", 0.0), math.nan, result)


def log(e: Emitter, element: str, x: Value) -> Value:
    """The sum k ln 2 + (f + (tail - f**2 / 2)).

    The terms of f**2 are below 0.3 |f|, so near 1 half an ulp of the last sum and less than another
    half from them remain; elsewhere k ln 2 outweighs both.
    """
    high, low = _LN2[element]
    k, f = _split(e, element, x)
    half_square = f * f * 0.5
    rest = e.multiply_add(k, low, _tail(e, element, f, half_square)) - half_square
    return _outside(e, x, e.multiply_add(k, high, f + rest))


def log2(e: Emitter, element: str, x: Value) -> Value:
    """The sum k + log(1 + f) / ln 2, both factors as head and rest (FreeBSD `e_log2.c`).

    The product of the heads is exact and so is what the sum with k loses, so that half an ulp of
    the last sum remains, and less than half of what the small terms lose.
    """
    high, low = _LOG2_E[element]
    k, f = _split(e, element, x)
    half_square = f * f * 0.5
    head = leading_half(e, f - half_square)
    rest = (f - head) - half_square + _tail(e, element, f, half_square)
    product = head * high
    small = e.multiply_add(rest, high, (rest + head) * low)
    total = k + product
    lost = (k - total) + product
    return _outside(e, x, total + (small + lost))
