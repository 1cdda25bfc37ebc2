"""Functions of mathematics that Python's `math` lacks, of one float64: readings for the tests.

Integrals are taken by the trapezoid rule, which converges geometrically for the periodic ones; each
function names its formula (DLMF: Digital Library of Mathematical Functions).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from teenyc.ops.scalars import divide

_SQRT_PI = math.sqrt(math.pi)


def _mean(f: Callable[[float], float], points: int) -> float:
    """The mean of `f` over 0 to pi, both ends counted by half."""
    step = math.pi / points
    inner = math.fsum(f(i * step) for i in range(1, points))
    return (inner + (f(0.0) + f(math.pi)) / 2) / points


def bessel_j(n: int, x: float) -> float:
    """The Bessel function of the first kind, DLMF 10.9.2."""
    if math.isnan(x):
        return x
    if math.isinf(x):
        return 0.0
    points = 64 + 2 * int(abs(x)) + 2 * abs(n)
    return _mean(lambda t: math.cos(n * t - x * math.sin(t)), points)


def bessel_y(n: int, x: float) -> float:
    """The Bessel function of the second kind: a series, then the recurrence of DLMF 10.6.1."""
    if math.isnan(x) or x < 0:
        return math.nan
    if n < 0:
        return bessel_y(-n, x) * (-1 if n % 2 else 1)
    if x == 0:
        return -math.inf
    if math.isinf(x):
        return 0.0
    before, last = _y0(x), _y1(x)
    if n == 0:
        return before
    for order in range(1, n):
        before, last = last, 2 * order / x * last - before
        if math.isinf(last):
            break
    return last


def _y0(x: float) -> float:
    """The series over even orders, Abramowitz and Stegun 9.1.88."""
    euler = 0.577215664901532860606512090082402431
    first = (math.log(x / 2) + euler) * bessel_j(0, x)
    rest = math.fsum((-1) ** k * bessel_j(2 * k, x) / k for k in range(1, 12 + int(x)))
    return 2 / math.pi * (first - 2 * rest)


def _y1(x: float) -> float:
    """From the Wronskian J1 Y0 - J0 Y1 = 2 / (pi x), near zeros of J0 by differences of Y0."""
    j0, j1 = bessel_j(0, x), bessel_j(1, x)
    if abs(j0) > 0.05 * abs(j1) or abs(j0) > 0.02:
        return (j1 * _y0(x) - 2 / (math.pi * x)) / j0
    step = 2.0**-10  # Y1 = -Y0'
    near = _y0(x + step) - _y0(x - step)
    far = _y0(x + 2 * step) - _y0(x - 2 * step)
    return -(8 * near - far) / (12 * step)


def bessel_i(n: int, x: float) -> float:
    """The modified Bessel function of the first kind, DLMF 10.32.3."""
    if math.isnan(x):
        return x
    if abs(x) > 720:
        return math.inf * (1 if x > 0 or n % 2 == 0 else -1)
    points = 64 + 4 * int(math.sqrt(abs(x))) + int(abs(x)) // 2
    return _mean(lambda t: math.exp(x * math.cos(t)) * math.cos(n * t), points)


def erfcx(x: float) -> float:
    """exp(x * x) * erfc(x); a continued fraction beyond 4 (DLMF 7.9.3)."""
    if x < 4 or math.isnan(x):
        return math.inf if x < -26.7 else math.exp(x * x) * math.erfc(x)
    tail = 0.0
    for k in range(80, 0, -1):
        tail = k / 2 / (x + tail)
    return 1 / (x + tail) / _SQRT_PI


def erfinv(x: float) -> float:
    """The inverse of erf: Newton's steps from a start that is right to two digits."""
    if math.isnan(x) or abs(x) > 1:
        return math.nan
    if abs(x) == 1:
        return math.copysign(math.inf, x)
    if abs(x) > 0.5:
        return math.copysign(erfcinv(1 - abs(x)), x)
    found = x * _SQRT_PI / 2 * (1 + math.pi * x * x / 12)
    for _ in range(5):
        found -= (math.erf(found) - x) * _SQRT_PI / 2 * math.exp(found * found)
    return found


def erfcinv(x: float) -> float:
    """The inverse of erfc."""
    if math.isnan(x) or x < 0 or x > 2:
        return math.nan
    if x in (0, 2):
        return math.inf if x == 0 else -math.inf
    if x > 0.5:
        return -erfcinv(2 - x) if x > 1.5 else erfinv(1 - x)
    found = math.sqrt(-math.log(x))
    for _ in range(60):
        value = math.erfc(found)
        if value == 0:
            found -= 0.5 / found
            continue
        # Newton on log(erfc), which is nearly a parabola.
        slope = -2 / _SQRT_PI * math.exp(-found * found) / value
        step = (math.log(value) - math.log(x)) / slope
        found -= step
        if abs(step) <= 1e-16 * abs(found):
            break
    return found


def normcdf(x: float) -> float:
    """The distribution function of the normal distribution."""
    return math.erfc(-x / math.sqrt(2)) / 2


def normcdfinv(x: float) -> float:
    """The inverse of `normcdf`."""
    if math.isnan(x) or x < 0 or x > 1:
        return math.nan
    return -math.sqrt(2) * erfcinv(2 * x)


def gamma(x: float) -> float:
    """The gamma function; infinite at 0, NaN at negative integers."""
    if x == 0:
        return divide(1.0, x)
    if x == -math.inf or (x < 0 and x == math.floor(x)):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf


def log_gamma(x: float) -> float:
    """log(abs(gamma(x))); infinite at 0 and at negative integers."""
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def sine_of_turns(x: float) -> float:
    """sin(pi * x), exact at multiples of a half."""
    if not math.isfinite(x):
        return math.nan
    rest = math.fmod(x, 2.0)
    if rest in (0.0, 1.0, -1.0):
        return math.copysign(0.0, x)
    quarter = round(2 * rest)
    angle = math.pi * (rest - quarter / 2)
    turned = (math.sin, math.cos, lambda t: -math.sin(t), lambda t: -math.cos(t))
    return turned[quarter % 4](angle)


def cosine_of_turns(x: float) -> float:
    """cos(pi * x), exact at multiples of a half."""
    if not math.isfinite(x):
        return math.nan
    rest = math.fmod(abs(x), 2.0)
    quarter = round(2 * rest)
    if 2 * rest == quarter and quarter % 2:
        return 0.0
    angle = math.pi * (rest - quarter / 2)
    turned = (math.cos, lambda t: -math.sin(t), lambda t: -math.cos(t), math.sin)
    return turned[quarter % 4](angle)


def ieee_remainder(x: float, y: float) -> float:
    """The rest of x / y rounded to the nearest integer; NaN where there is none."""
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    return math.remainder(x, y)


def round_half_away(x: float) -> float:
    """The nearest integer, ties away from zero."""
    if not math.isfinite(x):
        return x
    whole = math.trunc(x)
    return math.copysign(float(abs(whole) + (abs(x - whole) >= 0.5)), x)
