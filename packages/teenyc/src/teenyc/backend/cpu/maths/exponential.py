"""exp, exp2, sigmoid and tanh: reduction by powers of two and a polynomial."""

from __future__ import annotations

import math

from teenyc.backend.cpu.maths import coefficients
from teenyc.backend.cpu.maths.emitter import Emitter, Value
from teenyc.backend.cpu.maths.layout import (
    layout_of,
    power_of_two,
    rounded_quotient,
    scaled,
)

# ln(2) as a short head, whose product with any exponent is exact, and the rest
# (Cephes `expf`; FreeBSD `e_exp.c`).
_LN2 = {
    "f32": (0.693359375, -2.12194440e-4),
    "f64": (float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")),
}
# Beyond these exp is 0 or infinite whatever the rounding. The lower ends lie where the power of two
# is a product of zeros: -inf, which masked-off lanes of a softmax are, must not underflow, since
# that is slow on many processors.
_EXP_RANGE = {"f32": (-176.0, 89.0), "f64": (-1418.0, 710.0)}
_EXP2_RANGE = {"f32": (-254.0, 129.0), "f64": (-2046.0, 1025.0)}
# atanh(1/2), rounded up, and where tanh has become 1.
_TANH_SPLIT = 0.55
_TANH_END = {"f32": 9.1, "f64": 19.1}


def exp_parts(e: Emitter, element: str, x: Value) -> tuple[Value, Value]:
    """(p, n) with exp(x) = (1 + p) 2**n and |p| < 0.42.

    n = round(x / ln 2), r = x - n ln 2, p = r + r**2 q(r).
    """
    high, low = _LN2[element]
    k, n = rounded_quotient(e, x, 1 / math.log(2))
    r = e.multiply_add(k, -low, e.multiply_add(k, -high, x))
    q = e.polynomial(r, coefficients.EXP[element])
    return e.multiply_add(r * r, q, r), n


def exp(e: Emitter, element: str, x: Value) -> Value:
    """The product (1 + p) 2**n.

    Half an ulp from the last sum; r, p and the polynomial (2**-27, 2**-55) add less than another
    half, since |p| < 0.42. Subnormal results are rounded once more.
    """
    low, high = _EXP_RANGE[element]
    p, n = exp_parts(e, element, e.at_least(e.at_most(x, high), low))
    return scaled(e, p + 1.0, n)


def exp2(e: Emitter, element: str, x: Value) -> Value:
    """The product (1 + r q(r)) 2**n with n = round(x) and r = x - n, which is exact.

    Half an ulp from the last sum, less than another half from r q(r).
    """
    low, high = _EXP2_RANGE[element]
    limited = e.at_least(e.at_most(x, high), low)
    k, n = rounded_quotient(e, limited, 1.0)
    r = limited - k
    q = e.polynomial(r, coefficients.EXP2[element])
    return scaled(e, e.multiply_add(r, q, 1.0), n)


def sigmoid(e: Emitter, element: str, x: Value) -> Value:
    """For x >= 0 1 / (1 + z) and z / (1 + z) below, with z = exp(-|x|) <= 1.

    So no small result is a difference of large numbers, and subnormal results are right. What the
    sum s = 1 + z loses is put back into the quotient, by a factor of 1 - lost / s in which the line
    (3 - s) / 2 does for 1 / s: up to 1.3 ulp from z and half an ulp from the quotient remain.
    """
    z = exp(e, element, e.negated(e.absolute(x)))
    s = z + 1.0
    lost = (1.0 - s) + z
    quotient = e.select(x.compare("olt", 0.0), z, 1.0) / s
    return e.multiply_add(quotient * lost, e.multiply_add(s, 0.5, -1.5), quotient)


def tanh(e: Emitter, element: str, x: Value) -> Value:
    """With y = |x|: y + y**3 T(y**2) for y < 0.55, else 1 - 2 / (exp(2 y) + 1); the sign of x.

    Near zero half an ulp of the sum dominates. Beyond, the quotient is at most half of the result:
    its two roundings and that of the exponential weigh half.
    """
    y = e.at_most(e.absolute(x), _TANH_END[element])
    z = y * y
    near = e.multiply_add(y * z, e.polynomial(z, coefficients.TANH[element]), y)
    p, n = exp_parts(e, element, y + y)
    power = power_of_two(e, n, layout_of(x))
    far = 1.0 - 2.0 / (e.multiply_add(p, power, power) + 1.0)
    return e.with_sign_of(e.select(y.compare("olt", _TANH_SPLIT), near, far), x)
