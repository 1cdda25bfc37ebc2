"""Formulas for f16 and bf16 in few instructions, whose errors are small beside the rounding.

Each is taken in f32, to 1e-5 of the result or better (f16 rounds by up to 5e-4), and keeps the
answers of PyTorch for zeros, infinities and NaN. The functions of the library cost more than
reading 2 bytes. Polynomials: least maximal relative error, by reweighted least squares.
"""

from __future__ import annotations

from typing import Any

import teeny_triton as tl
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32, i32

HALF_PI = 1.5707963267948966
LOG_2 = 0.6931471805599453
LARGE = 1e15  # its square is in f32, and x^2 + 1 is x^2
LEAST_NORMAL = 1.1754943508222875e-38  # 2^-126
INFINITY = float("inf")


@device
def signed_as(size: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    """`size`, not negative, with the sign of x, of -0 too."""
    sign = x.to(i32, bitcast=True) & -0x80000000
    return (size.to(i32, bitcast=True) | sign).to(f32, bitcast=True)


@device
def short_sinh(x: Tensor[f32, R]) -> Tensor[f32, R]:
    """(e^|x| - e^-|x|) / 2, below 1 a polynomial of x^2, to 6e-6."""
    size = tl.abs(x)
    half = tl.exp(size - LOG_2)
    square = x * x
    near = size * (1.000005841 + square * (0.16655654 + square * 0.008631883))
    return signed_as(tl.where(size < 1.0, near, half - 0.25 / half), x)


@device
def short_cosh(x: Tensor[f32, R]) -> Tensor[f32, R]:
    half = tl.exp(tl.abs(x) - LOG_2)
    return half + 0.25 / half


@device
def short_asinh(x: Tensor[f32, R]) -> Tensor[f32, R]:
    """log(|x| + sqrt(x^2 + 1)), below 0.6 a polynomial of x^2, to 3e-6."""
    size = tl.abs(x)
    square = x * x
    poly = 0.07185636 + square * -0.028877145
    near = size * (0.99999774 + square * (-0.16645466 + square * poly))
    half = tl.where(size > LARGE, size, 0.5 * (size + tl.sqrt(square + 1.0)))
    return signed_as(tl.where(size < 0.6, near, tl.math.fast_logf(half) + LOG_2), x)


@device
def short_acosh(x: Tensor[f32, R]) -> Tensor[f32, R]:
    """log(x + sqrt((x - 1) (x + 1))); a number above 1 is so by 2^-10 at least."""
    total = x + tl.sqrt((x - 1.0) * (x + 1.0))
    found = tl.math.fast_logf(tl.where(x > LARGE, x, total)) + tl.where(x > LARGE, LOG_2, 0.0)
    return tl.where(x < 1.0, float("nan"), found)


@device
def short_atan(x: Tensor[f32, R]) -> Tensor[f32, R]:
    """A polynomial of x^2 up to 1, and pi/2 less that of 1 / x beyond, to 5e-6."""
    size = tl.abs(x)
    inside = tl.where(size > 1.0, 1.0 / size, size)
    square = inside * inside
    poly = -0.121238694 + square * (0.057476878 + square * -0.013480295)
    poly = 0.99999565 + square * (-0.33299458 + square * (0.1956358 + square * poly))
    near = inside * poly
    return signed_as(tl.where(size > 1.0, HALF_PI - near, near), x)


@device
def short_sqrt(x: Tensor[f32, R]) -> Tensor[f32, R]:
    """The root to 2e-7; of subnormals, which the instruction takes for 0, scaled."""
    small = x < LEAST_NORMAL
    root = tl.sqrt(tl.where(small, x * 16777216.0, x))
    return tl.where(small, root * 0.000244140625, root)


@device
def short_log2(x: Tensor[f32, R]) -> Tensor[f32, R]:
    """log2(x) to 2e-7 of itself, for x > 0 and finite: near 1 too, where the instruction is not.

    x = 2^e m, m in [sqrt(1/2), sqrt(2)); log2(m) is odd in (m - 1) / (m + 1).
    """
    small = x < LEAST_NORMAL
    bits = tl.where(small, x * 16777216.0, x).to(i32, bitcast=True) - 0x3F3504F3
    exponent = bits >> 23
    mantissa = ((bits & 0x7FFFFF) + 0x3F3504F3).to(f32, bitcast=True)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    u = s * s
    poly = 0.9617988 + u * (0.57671416 + u * 0.43174225)
    return exponent.to(f32) - tl.where(small, 24.0, 0.0) + s * (2.88539 + u * poly)


@device
def short_power(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    """x^y as 2^(y log2 |x|), with the answers of C's pow where x or y is 0, 1, infinite or NaN."""
    size = tl.abs(x)
    edge = (size == 0.0) | (size == INFINITY)
    log = tl.where(edge, tl.where(size == 0.0, -INFINITY, INFINITY), short_log2(size))
    power = tl.where(size != size, size, y * log)
    tiny = power < -125.0  # the instruction gives 0 for subnormals
    found = tl.exp2(tl.where(tiny, power + 24.0, power)) * tl.where(
        tiny, 5.9604644775390625e-08, 1.0
    )
    found = tl.where((size == 1.0) & (y == y), 1.0, found)
    whole = tl.floor(y) == y
    odd = whole & (y - 2.0 * tl.floor(y * 0.5) == 1.0)
    found = tl.where(odd, signed_as(found, x), found)
    found = tl.where((x < 0.0) & (size != INFINITY) & (tl.floor(y) != y), float("nan"), found)
    return tl.where((y == 0.0) | (x == 1.0), 1.0, found)


@device
def short_pow(x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return short_power(x, x * 0.0 + y if x.shape != y.shape else y)
