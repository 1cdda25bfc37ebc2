"""Functions of mathematics that Python's `math` lacks, of one float64: readings for the tests.

Integrals are taken by the trapezoid rule, which converges geometrically for the periodic ones; each
function names its formula (DLMF: Digital Library of Mathematical Functions).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from teenyc.ops.scalars import divide

_SQRT_PI = math.sqrt(math.pi)
_HALF_ROOT = Fraction(math.isqrt(1 << 255), 1 << 128)  # sqrt(1 / 2)


def _mean(f: Callable[[float], float], points: int) -> float:
    """The mean of `f` over 0 to pi, both ends counted by half."""
    step = math.pi / points
    inner = math.fsum(f(i * step) for i in range(1, points))
    return (inner + (f(0.0) + f(math.pi)) / 2) / points


def _leading(n: int, x: float) -> float:
    """(x / 2)**n / n!."""
    if n <= 20:
        return (x / 2) ** n / math.factorial(n)
    return math.exp(n * (math.log(x) - math.log(2)) - math.lgamma(n + 1)) if x else 0.0


def _power_series(n: int, x: float) -> float:
    """The series of J for a small x that is not negative, DLMF 10.2.2."""
    term = total = _leading(n, x)
    k, quarter = 0, x * x / 4
    while True:
        k += 1
        term *= -quarter / (k * (k + n))
        if total + term == total:
            return total
        total += term


def _is_far(n: int, x: float) -> bool:
    """Where Hankel's expansion has all digits; integrals would need more and more points."""
    return x > 25 + n * n / 2


def _hankel(n: int, x: float) -> tuple[float, float]:
    """J and Y of order `n` far out, DLMF 10.17.3 and 10.17.4."""
    term, k = 1.0, 0
    sums = [1.0, 0.0]
    while abs(term) > 1e-17 * abs(sums[0]):
        k += 1
        term *= (4 * n * n - (2 * k - 1) ** 2) / (8 * k * x)
        sums[k % 2] += term * (-1) ** (k // 2)
    turn = (n / 2 + 0.25) * math.pi
    sine, cosine = math.sin(x), math.cos(x)  # of x itself, whose digits a difference would lose
    cos = cosine * math.cos(turn) + sine * math.sin(turn)
    sin = sine * math.cos(turn) - cosine * math.sin(turn)
    size = math.sqrt(2 / math.pi) / math.sqrt(x)
    return size * (sums[0] * cos - sums[1] * sin), size * (sums[0] * sin + sums[1] * cos)


def bessel_j(n: int, x: float) -> float:
    """The Bessel function of the first kind, DLMF 10.9.2; NaN for negative orders, as in CUDA."""
    if math.isnan(x) or n < 0:
        return math.nan
    if math.isinf(x):
        return 0.0
    if x < 0:
        return bessel_j(n, -x) * (-1 if n % 2 else 1)
    if x * x / 4 <= n + 1:
        return _power_series(n, x)
    if _is_far(n, x):
        return _hankel(n, x)[0]
    if n > 2 * x + 1000:
        return 0.0
    points = 64 + 2 * int(x) + 2 * n
    return _mean(lambda t: math.cos(n * t - x * math.sin(t)), points)


def bessel_y(n: int, x: float) -> float:
    """The Bessel function of the second kind: a series, then the recurrence of DLMF 10.6.1.

    NaN for negative orders, as CUDA has it.
    """
    if math.isnan(x) or x < 0 or n < 0:
        return math.nan
    if x == 0:
        return -math.inf
    if math.isinf(x):
        return 0.0
    if _is_far(n, x):
        return _hankel(n, x)[1]
    before, last = (_hankel(0, x)[1], _hankel(1, x)[1]) if _is_far(1, x) else (_y0(x), _y1(x))
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
    first = (math.log(x) - math.log(2) + euler) * bessel_j(0, x)
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


# Bits behind the point of numbers that are held as integers.
_BITS = 200


def bessel_i(n: int, x: float) -> float:
    """The modified Bessel function of the first kind, n 0 or 1: DLMF 10.25.2, rounded once."""
    if math.isnan(x) or x == 0:
        return x if n or math.isnan(x) else 1.0
    sign = -1 if x < 0 and n % 2 else 1
    if abs(x) > 720:
        return sign * math.inf
    size = Fraction(abs(x)) / 2
    quarter = size * size
    term = total = 1 << _BITS  # of the series divided by (x / 2)**n
    k = 0
    while term:
        k += 1
        term = term * quarter.numerator // (quarter.denominator * k * (k + n))
        total += term
    try:
        return sign * float(Fraction(total, 1 << _BITS) * size**n)
    except OverflowError:
        return sign * math.inf


def erfcx(x: float) -> float:
    """exp(x * x) * erfc(x); a continued fraction beyond 4 (DLMF 7.9.3)."""
    if x < 4 or math.isnan(x):
        if not x > -26.7:
            return x if math.isnan(x) else math.inf
        square = x * x
        rest = float(Fraction(x) ** 2 - Fraction(square))  # which the exponential would multiply
        return math.exp(square) * math.erfc(x) * (1 + rest)
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
    wanted = math.log(x)
    found = math.sqrt(-wanted)
    for _ in range(60):
        # Newton on log(erfc), which is nearly a parabola; erfc itself runs out of bits.
        scaled = erfcx(found)
        step = (wanted + found * found - math.log(scaled)) * scaled * _SQRT_PI / 2
        found -= step
        if abs(step) <= 1e-16 * abs(found):
            break
    return found


def normcdf(x: float) -> float:
    """The distribution function of the normal distribution."""
    if not math.isfinite(x):
        return math.erfc(-x) / 2
    at = -x / math.sqrt(2)
    rest = float(-Fraction(x) * _HALF_ROOT - Fraction(at))
    slope = 2 / _SQRT_PI * math.exp(-at * at)
    return (math.erfc(at) - slope * rest) / 2


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
    except OverflowError:  # of large numbers, and around zero
        return math.copysign(math.inf, x)


def log_gamma(x: float) -> float:
    """log(abs(gamma(x))); infinite at 0 and at negative integers."""
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


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
