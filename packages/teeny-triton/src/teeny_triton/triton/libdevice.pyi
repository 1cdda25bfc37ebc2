"""CUDA's libdevice, also as `tl.math.NAME` and `tl.extra.libdevice.NAME`: functions of floats.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import overload

from teeny_triton.triton.dtypes import W, i32, i64, f32, f64
from teeny_triton.triton.types import Tensor, R

@overload
def acos(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The arc cosine of each element, in radians; NaN outside -1 to 1; f32 or f64."""
@overload
def acos(arg0: W) -> W: ...
@overload
def acos(arg0: float) -> f32: ...

@overload
def acosh(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The inverse hyperbolic cosine of each element; NaN below 1; f32 or f64."""
@overload
def acosh(arg0: W) -> W: ...
@overload
def acosh(arg0: float) -> f32: ...

@overload
def asin(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The arc sine of each element, in radians; NaN outside -1 to 1; f32 or f64."""
@overload
def asin(arg0: W) -> W: ...
@overload
def asin(arg0: float) -> f32: ...

@overload
def asinh(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The inverse hyperbolic sine of each element; f32 or f64."""
@overload
def asinh(arg0: W) -> W: ...
@overload
def asinh(arg0: float) -> f32: ...

@overload
def atan(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The arc tangent of each element, in radians; f32 or f64."""
@overload
def atan(arg0: W) -> W: ...
@overload
def atan(arg0: float) -> f32: ...

@overload
def atan2(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The angle of the point (arg1, arg0), in radians from -pi to pi; f32 or f64."""
@overload
def atan2(arg0: W, arg1: W | float) -> W: ...

@overload
def atanh(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The inverse hyperbolic tangent of each element; NaN outside -1 to 1; f32 or f64."""
@overload
def atanh(arg0: W) -> W: ...
@overload
def atanh(arg0: float) -> f32: ...

@overload
def cbrt(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The cube root of each element; f32 or f64."""
@overload
def cbrt(arg0: W) -> W: ...
@overload
def cbrt(arg0: float) -> f32: ...

@overload
def copysign(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The magnitude of arg0 with the sign of arg1, elementwise; f32 or f64."""
@overload
def copysign(arg0: W, arg1: W | float) -> W: ...

@overload
def cosh(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The hyperbolic cosine of each element; f32 or f64."""
@overload
def cosh(arg0: W) -> W: ...
@overload
def cosh(arg0: float) -> f32: ...

@overload
def cospi(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """cos(pi * x) of each element; f32 or f64."""
@overload
def cospi(arg0: W) -> W: ...
@overload
def cospi(arg0: float) -> f32: ...

@overload
def cyl_bessel_i0(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The modified cylindrical Bessel function of order 0 of each element; f32 or f64."""
@overload
def cyl_bessel_i0(arg0: W) -> W: ...
@overload
def cyl_bessel_i0(arg0: float) -> f32: ...

@overload
def cyl_bessel_i1(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The modified cylindrical Bessel function of order 1 of each element; f32 or f64."""
@overload
def cyl_bessel_i1(arg0: W) -> W: ...
@overload
def cyl_bessel_i1(arg0: float) -> f32: ...

@overload
def erfc(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """1 - erf(x) of each element, without the loss of digits; f32 or f64."""
@overload
def erfc(arg0: W) -> W: ...
@overload
def erfc(arg0: float) -> f32: ...

@overload
def erfcinv(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The inverse of erfc, for elements from 0 to 2; f32 or f64."""
@overload
def erfcinv(arg0: W) -> W: ...
@overload
def erfcinv(arg0: float) -> f32: ...

@overload
def erfcx(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """exp(x * x) * erfc(x) of each element; f32 or f64."""
@overload
def erfcx(arg0: W) -> W: ...
@overload
def erfcx(arg0: float) -> f32: ...

@overload
def erfinv(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The inverse of erf, for elements from -1 to 1; f32 or f64."""
@overload
def erfinv(arg0: W) -> W: ...
@overload
def erfinv(arg0: float) -> f32: ...

@overload
def exp10(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """10 to the power of each element; f32 or f64."""
@overload
def exp10(arg0: W) -> W: ...
@overload
def exp10(arg0: float) -> f32: ...

@overload
def expm1(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """exp(x) - 1 of each element, without the loss of digits near 0; f32 or f64."""
@overload
def expm1(arg0: W) -> W: ...
@overload
def expm1(arg0: float) -> f32: ...

@overload
def fdim(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """arg0 - arg1 where that is positive, else 0, elementwise; f32 or f64."""
@overload
def fdim(arg0: W, arg1: W | float) -> W: ...

@overload
def fmod(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The remainder of arg0 / arg1 truncated, with the sign of arg0; exact; f32 or f64."""
@overload
def fmod(arg0: W, arg1: W | float) -> W: ...

@overload
def hypot(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """sqrt(arg0**2 + arg1**2), without overflow on the way; f32 or f64."""
@overload
def hypot(arg0: W, arg1: W | float) -> W: ...

@overload
def j0(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The Bessel function of the first kind of order 0 of each element; f32 or f64."""
@overload
def j0(arg0: W) -> W: ...
@overload
def j0(arg0: float) -> f32: ...

@overload
def j1(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The Bessel function of the first kind of order 1 of each element; f32 or f64."""
@overload
def j1(arg0: W) -> W: ...
@overload
def j1(arg0: float) -> f32: ...

@overload
def lgamma(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The natural logarithm of the gamma function's magnitude at each element; f32 or f64."""
@overload
def lgamma(arg0: W) -> W: ...
@overload
def lgamma(arg0: float) -> f32: ...

@overload
def log10(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The logarithm to base 10 of each element; NaN below 0; f32 or f64."""
@overload
def log10(arg0: W) -> W: ...
@overload
def log10(arg0: float) -> f32: ...

@overload
def log1p(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """log(1 + x) of each element, without the loss of digits near 0; NaN below -1; f32 or f64."""
@overload
def log1p(arg0: W) -> W: ...
@overload
def log1p(arg0: float) -> f32: ...

@overload
def logb(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The binary exponent of each element as a float; -inf for 0; f32 or f64."""
@overload
def logb(arg0: W) -> W: ...
@overload
def logb(arg0: float) -> f32: ...

@overload
def nearbyint(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """Each element rounded to an integer, ties to even; f32 or f64."""
@overload
def nearbyint(arg0: W) -> W: ...
@overload
def nearbyint(arg0: float) -> f32: ...

@overload
def nextafter(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The next float after arg0 towards arg1, elementwise; f32 or f64."""
@overload
def nextafter(arg0: W, arg1: W | float) -> W: ...

@overload
def norm3d(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float, arg2: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """sqrt(arg0**2 + arg1**2 + arg2**2), without overflow on the way; f32 or f64."""
@overload
def norm3d(arg0: W, arg1: W | float, arg2: W | float) -> W: ...

@overload
def norm4d(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float, arg2: Tensor[W, R] | W | float, arg3: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """sqrt(arg0**2 + arg1**2 + arg2**2 + arg3**2), without overflow on the way; f32 or f64."""
@overload
def norm4d(arg0: W, arg1: W | float, arg2: W | float, arg3: W | float) -> W: ...

@overload
def normcdf(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The cumulative distribution function of the normal distribution; f32 or f64."""
@overload
def normcdf(arg0: W) -> W: ...
@overload
def normcdf(arg0: float) -> f32: ...

@overload
def normcdfinv(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The inverse of normcdf, for elements from 0 to 1; f32 or f64."""
@overload
def normcdfinv(arg0: W) -> W: ...
@overload
def normcdfinv(arg0: float) -> f32: ...

@overload
def rcbrt(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """1 / cbrt of each element; f32 or f64."""
@overload
def rcbrt(arg0: W) -> W: ...
@overload
def rcbrt(arg0: float) -> f32: ...

@overload
def remainder(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """arg0 - n * arg1 for the integer n nearest to arg0 / arg1, ties to even; exact; f32 or f64."""
@overload
def remainder(arg0: W, arg1: W | float) -> W: ...

@overload
def rhypot(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """1 / sqrt(arg0**2 + arg1**2), without overflow on the way; f32 or f64."""
@overload
def rhypot(arg0: W, arg1: W | float) -> W: ...

@overload
def rint(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """Each element rounded to an integer, ties to even; f32 or f64."""
@overload
def rint(arg0: W) -> W: ...
@overload
def rint(arg0: float) -> f32: ...

@overload
def rnorm3d(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float, arg2: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """1 / sqrt(arg0**2 + arg1**2 + arg2**2), without overflow on the way; f32 or f64."""
@overload
def rnorm3d(arg0: W, arg1: W | float, arg2: W | float) -> W: ...

@overload
def rnorm4d(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float, arg2: Tensor[W, R] | W | float, arg3: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """1 / sqrt(arg0**2 + arg1**2 + arg2**2 + arg3**2), without overflow on the way; f32 or f64."""
@overload
def rnorm4d(arg0: W, arg1: W | float, arg2: W | float, arg3: W | float) -> W: ...

@overload
def round(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """Each element rounded to an integer, ties away from zero; f32 or f64."""
@overload
def round(arg0: W) -> W: ...
@overload
def round(arg0: float) -> f32: ...

@overload
def sinh(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The hyperbolic sine of each element; f32 or f64."""
@overload
def sinh(arg0: W) -> W: ...
@overload
def sinh(arg0: float) -> f32: ...

@overload
def sinpi(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """sin(pi * x) of each element; f32 or f64."""
@overload
def sinpi(arg0: W) -> W: ...
@overload
def sinpi(arg0: float) -> f32: ...

@overload
def tan(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The tangent of each element, in radians; f32 or f64."""
@overload
def tan(arg0: W) -> W: ...
@overload
def tan(arg0: float) -> f32: ...

@overload
def tanh(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The hyperbolic tangent of each element; it never overflows; f32 or f64."""
@overload
def tanh(arg0: W) -> W: ...
@overload
def tanh(arg0: float) -> f32: ...

@overload
def tgamma(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The gamma function of each element; f32 or f64."""
@overload
def tgamma(arg0: W) -> W: ...
@overload
def tgamma(arg0: float) -> f32: ...

@overload
def trunc(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """Each element without its fraction; f32 or f64."""
@overload
def trunc(arg0: W) -> W: ...
@overload
def trunc(arg0: float) -> f32: ...

@overload
def y0(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The Bessel function of the second kind of order 0, NaN below 0; f32 or f64."""
@overload
def y0(arg0: W) -> W: ...
@overload
def y0(arg0: float) -> f32: ...

@overload
def y1(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The Bessel function of the second kind of order 1, NaN below 0; f32 or f64."""
@overload
def y1(arg0: W) -> W: ...
@overload
def y1(arg0: float) -> f32: ...

@overload
def llrint(arg0: Tensor[W, R]) -> Tensor[i64, R]:
    """Each element rounded to an i64, ties to even; f32 or f64."""
@overload
def llrint(arg0: W) -> i64: ...

@overload
def llround(arg0: Tensor[W, R]) -> Tensor[i64, R]:
    """Each element rounded to an i64, ties away from zero; f32 or f64."""
@overload
def llround(arg0: W) -> i64: ...

@overload
def ilogb(arg0: Tensor[W, R]) -> Tensor[i32, R]:
    """The binary exponent of each element as an i32; f32 or f64."""
@overload
def ilogb(arg0: W) -> i32: ...

@overload
def isnan(arg0: Tensor[W, R]) -> Tensor[i32, R]:
    """1 where an element is NaN, else 0, as i32; f32 or f64."""
@overload
def isnan(arg0: W) -> i32: ...

@overload
def isinf(arg0: Tensor[W, R]) -> Tensor[i32, R]:
    """1 where an element is infinite, else 0, as i32; f32 or f64."""
@overload
def isinf(arg0: W) -> i32: ...

@overload
def signbit(arg0: Tensor[W, R]) -> Tensor[i32, R]:
    """1 where the sign of an element is negative (that of -0.0 is), else 0, as i32; f32 or f64."""
@overload
def signbit(arg0: W) -> i32: ...

@overload
def finitef(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """1 where an f32 element is neither infinite nor NaN, else 0, as i32."""
@overload
def finitef(arg0: f32) -> i32: ...

@overload
def isfinited(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """1 where an f64 element is neither infinite nor NaN, else 0, as i32."""
@overload
def isfinited(arg0: f64) -> i32: ...

@overload
def saturatef(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """Each element clamped to 0.0 to 1.0; NaN gives 0.0."""
@overload
def saturatef(arg0: f32) -> f32: ...

@overload
def pow(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """arg0 to the power of arg1, elementwise; the exponent may be an i32; f32 or f64."""
@overload
def pow(arg0: W, arg1: W | float) -> W: ...
@overload
def pow(arg0: Tensor[W, R], arg1: Tensor[i32, R] | i32 | int) -> Tensor[W, R]: ...
@overload
def pow(arg0: W, arg1: i32 | int) -> W: ...

@overload
def ldexp(arg0: Tensor[W, R], arg1: Tensor[i32, R] | i32 | int) -> Tensor[W, R]:
    """arg0 * 2**arg1, elementwise; arg1 is an i32; f32 or f64."""
@overload
def ldexp(arg0: W, arg1: i32 | int) -> W: ...

@overload
def scalbn(arg0: Tensor[W, R], arg1: Tensor[i32, R] | i32 | int) -> Tensor[W, R]:
    """arg0 * 2**arg1, elementwise; arg1 is an i32; f32 or f64."""
@overload
def scalbn(arg0: W, arg1: i32 | int) -> W: ...

@overload
def jn(arg0: Tensor[i32, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The Bessel function of the first kind of the order arg0 at arg1; f32 or f64.

    NaN for negative orders. On a GPU also NaN for orders from 2 on where arg1 is nearly zero (less
    than 2**-40 for orders to 128).
    """
@overload
def jn(arg0: i32, arg1: W | float) -> W: ...

@overload
def yn(arg0: Tensor[i32, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The Bessel function of the second kind of the order arg0 at arg1; f32 or f64.

    NaN for negative orders.
    """
@overload
def yn(arg0: i32, arg1: W | float) -> W: ...

@overload
def rcp64h(arg0: Tensor[f64, R]) -> Tensor[f64, R]:
    """A coarse reciprocal of each element, of which the low 32 bits are zero."""
@overload
def rcp64h(arg0: f64) -> f64: ...

@overload
def fast_sinf(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """A fast sine, for elements from -pi to pi."""
@overload
def fast_sinf(arg0: f32) -> f32: ...

@overload
def fast_cosf(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """A fast cosine, for elements from -pi to pi."""
@overload
def fast_cosf(arg0: f32) -> f32: ...

@overload
def fast_tanf(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """A fast tangent: fast_sinf / fast_cosf."""
@overload
def fast_tanf(arg0: f32) -> f32: ...

@overload
def fast_log2f(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """A fast logarithm to base 2."""
@overload
def fast_log2f(arg0: f32) -> f32: ...

@overload
def fast_logf(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """A fast natural logarithm."""
@overload
def fast_logf(arg0: f32) -> f32: ...

@overload
def fast_log10f(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """A fast logarithm to base 10."""
@overload
def fast_log10f(arg0: f32) -> f32: ...

@overload
def fast_expf(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """A fast exponential."""
@overload
def fast_expf(arg0: f32) -> f32: ...

@overload
def fast_exp10f(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """A fast power of 10."""
@overload
def fast_exp10f(arg0: f32) -> f32: ...

@overload
def fast_powf(arg0: Tensor[f32, R], arg1: Tensor[f32, R] | f32 | float) -> Tensor[f32, R]:
    """A fast power, for arg0 of at least 0."""
@overload
def fast_powf(arg0: f32, arg1: f32 | float) -> f32: ...

@overload
def fast_dividef(arg0: Tensor[f32, R], arg1: Tensor[f32, R] | f32 | float) -> Tensor[f32, R]:
    """A fast quotient: within 2 ulp for divisors of a magnitude from 2**-126 to 2**126."""
@overload
def fast_dividef(arg0: f32, arg1: f32 | float) -> f32: ...
