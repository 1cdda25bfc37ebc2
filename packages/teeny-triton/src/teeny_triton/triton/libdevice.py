"""CUDA's libdevice, also as `tl.math.NAME` and `tl.extra.libdevice.NAME`: functions of floats.

Operands are f32 or f64, or what a function names. What the language has itself (exp, log, sin,
sqrt, fma, ...) is not here again.
"""

from teeny_triton.rules import elementwise, rule


@elementwise("W")
def acos(arg0):
    """The arc cosine of each element, in radians; NaN outside -1 to 1; f32 or f64."""
    ...


@elementwise("W")
def acosh(arg0):
    """The inverse hyperbolic cosine of each element; NaN below 1; f32 or f64."""
    ...


@elementwise("W")
def asin(arg0):
    """The arc sine of each element, in radians; NaN outside -1 to 1; f32 or f64."""
    ...


@elementwise("W")
def asinh(arg0):
    """The inverse hyperbolic sine of each element; f32 or f64."""
    ...


@elementwise("W")
def atan(arg0):
    """The arc tangent of each element, in radians; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def atan2(arg0, arg1):
    """The angle of the point (arg1, arg0), in radians from -pi to pi; f32 or f64."""
    ...


@elementwise("W")
def atanh(arg0):
    """The inverse hyperbolic tangent of each element; NaN outside -1 to 1; f32 or f64."""
    ...


@elementwise("W")
def cbrt(arg0):
    """The cube root of each element; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def copysign(arg0, arg1):
    """The magnitude of arg0 with the sign of arg1, elementwise; f32 or f64."""
    ...


@elementwise("W")
def cosh(arg0):
    """The hyperbolic cosine of each element; f32 or f64."""
    ...


@elementwise("W")
def cospi(arg0):
    """cos(pi * x) of each element; f32 or f64."""
    ...


@elementwise("W")
def cyl_bessel_i0(arg0):
    """The modified cylindrical Bessel function of order 0 of each element; f32 or f64."""
    ...


@elementwise("W")
def cyl_bessel_i1(arg0):
    """The modified cylindrical Bessel function of order 1 of each element; f32 or f64."""
    ...


@elementwise("W")
def erfc(arg0):
    """1 - erf(x) of each element, without the loss of digits; f32 or f64."""
    ...


@elementwise("W")
def erfcinv(arg0):
    """The inverse of erfc, for elements from 0 to 2; f32 or f64."""
    ...


@elementwise("W")
def erfcx(arg0):
    """exp(x * x) * erfc(x) of each element; f32 or f64."""
    ...


@elementwise("W")
def erfinv(arg0):
    """The inverse of erf, for elements from -1 to 1; f32 or f64."""
    ...


@elementwise("W")
def exp10(arg0):
    """10 to the power of each element; f32 or f64."""
    ...


@elementwise("W")
def expm1(arg0):
    """exp(x) - 1 of each element, without the loss of digits near 0; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def fdim(arg0, arg1):
    """arg0 - arg1 where that is positive, else 0, elementwise; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def fmod(arg0, arg1):
    """The remainder of arg0 / arg1 truncated, with the sign of arg0; exact; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def hypot(arg0, arg1):
    """sqrt(arg0**2 + arg1**2), without overflow on the way; f32 or f64."""
    ...


@elementwise("W")
def j0(arg0):
    """The Bessel function of the first kind of order 0 of each element; f32 or f64."""
    ...


@elementwise("W")
def j1(arg0):
    """The Bessel function of the first kind of order 1 of each element; f32 or f64."""
    ...


@elementwise("W")
def lgamma(arg0):
    """The natural logarithm of the gamma function's magnitude at each element; f32 or f64."""
    ...


@elementwise("W")
def log10(arg0):
    """The logarithm to base 10 of each element; NaN below 0; f32 or f64."""
    ...


@elementwise("W")
def log1p(arg0):
    """log(1 + x) of each element, without the loss of digits near 0; NaN below -1; f32 or f64."""
    ...


@elementwise("W")
def logb(arg0):
    """The binary exponent of each element as a float; -inf for 0; f32 or f64."""
    ...


@elementwise("W")
def nearbyint(arg0):
    """Each element rounded to an integer, ties to even; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def nextafter(arg0, arg1):
    """The next float after arg0 towards arg1, elementwise; f32 or f64."""
    ...


@rule(
    arg0="Tensor[W, R]",
    arg1="Tensor[W, R] | W | float",
    arg2="Tensor[W, R] | W | float",
    returns="Tensor[W, R]",
)
@rule(arg0="W", arg1="W | float", arg2="W | float", returns="W")
def norm3d(arg0, arg1, arg2):
    """sqrt(arg0**2 + arg1**2 + arg2**2), without overflow on the way; f32 or f64."""
    ...


@rule(
    arg0="Tensor[W, R]",
    arg1="Tensor[W, R] | W | float",
    arg2="Tensor[W, R] | W | float",
    arg3="Tensor[W, R] | W | float",
    returns="Tensor[W, R]",
)
@rule(arg0="W", arg1="W | float", arg2="W | float", arg3="W | float", returns="W")
def norm4d(arg0, arg1, arg2, arg3):
    """sqrt(arg0**2 + arg1**2 + arg2**2 + arg3**2), without overflow on the way; f32 or f64."""
    ...


@elementwise("W")
def normcdf(arg0):
    """The cumulative distribution function of the normal distribution; f32 or f64."""
    ...


@elementwise("W")
def normcdfinv(arg0):
    """The inverse of normcdf, for elements from 0 to 1; f32 or f64."""
    ...


@elementwise("W")
def rcbrt(arg0):
    """1 / cbrt of each element; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def remainder(arg0, arg1):
    """arg0 - n * arg1 for the integer n nearest to arg0 / arg1, ties to even; exact; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def rhypot(arg0, arg1):
    """1 / sqrt(arg0**2 + arg1**2), without overflow on the way; f32 or f64."""
    ...


@elementwise("W")
def rint(arg0):
    """Each element rounded to an integer, ties to even; f32 or f64."""
    ...


@rule(
    arg0="Tensor[W, R]",
    arg1="Tensor[W, R] | W | float",
    arg2="Tensor[W, R] | W | float",
    returns="Tensor[W, R]",
)
@rule(arg0="W", arg1="W | float", arg2="W | float", returns="W")
def rnorm3d(arg0, arg1, arg2):
    """1 / sqrt(arg0**2 + arg1**2 + arg2**2), without overflow on the way; f32 or f64."""
    ...


@rule(
    arg0="Tensor[W, R]",
    arg1="Tensor[W, R] | W | float",
    arg2="Tensor[W, R] | W | float",
    arg3="Tensor[W, R] | W | float",
    returns="Tensor[W, R]",
)
@rule(arg0="W", arg1="W | float", arg2="W | float", arg3="W | float", returns="W")
def rnorm4d(arg0, arg1, arg2, arg3):
    """1 / sqrt(arg0**2 + arg1**2 + arg2**2 + arg3**2), without overflow on the way; f32 or f64."""
    ...


@elementwise("W")
def round(arg0):
    """Each element rounded to an integer, ties away from zero; f32 or f64."""
    ...


@elementwise("W")
def sinh(arg0):
    """The hyperbolic sine of each element; f32 or f64."""
    ...


@elementwise("W")
def sinpi(arg0):
    """sin(pi * x) of each element; f32 or f64."""
    ...


@elementwise("W")
def tan(arg0):
    """The tangent of each element, in radians; f32 or f64."""
    ...


@elementwise("W")
def tanh(arg0):
    """The hyperbolic tangent of each element; it never overflows; f32 or f64."""
    ...


@elementwise("W")
def tgamma(arg0):
    """The gamma function of each element; f32 or f64."""
    ...


@elementwise("W")
def trunc(arg0):
    """Each element without its fraction; f32 or f64."""
    ...


@elementwise("W")
def y0(arg0):
    """The Bessel function of the second kind of order 0, NaN below 0; f32 or f64."""
    ...


@elementwise("W")
def y1(arg0):
    """The Bessel function of the second kind of order 1, NaN below 0; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", returns="Tensor[i64, R]")
@rule(arg0="W", returns="i64")
def llrint(arg0):
    """Each element rounded to an i64, ties to even; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", returns="Tensor[i64, R]")
@rule(arg0="W", returns="i64")
def llround(arg0):
    """Each element rounded to an i64, ties away from zero; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", returns="Tensor[i32, R]")
@rule(arg0="W", returns="i32")
def ilogb(arg0):
    """The binary exponent of each element as an i32; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", returns="Tensor[i32, R]")
@rule(arg0="W", returns="i32")
def isnan(arg0):
    """1 where an element is NaN, else 0, as i32; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", returns="Tensor[i32, R]")
@rule(arg0="W", returns="i32")
def isinf(arg0):
    """1 where an element is infinite, else 0, as i32; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", returns="Tensor[i32, R]")
@rule(arg0="W", returns="i32")
def signbit(arg0):
    """1 where the sign of an element is negative (that of -0.0 is), else 0, as i32; f32 or f64."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def finitef(arg0):
    """1 where an f32 element is neither infinite nor NaN, else 0, as i32."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def isfinited(arg0):
    """1 where an f64 element is neither infinite nor NaN, else 0, as i32."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def saturatef(arg0):
    """Each element clamped to 0.0 to 1.0; NaN gives 0.0."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
@rule(arg0="Tensor[W, R]", arg1="Tensor[i32, R] | i32 | int", returns="Tensor[W, R]")
@rule(arg0="W", arg1="i32 | int", returns="W")
def pow(arg0, arg1):
    """arg0 to the power of arg1, elementwise; the exponent may be an i32; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[i32, R] | i32 | int", returns="Tensor[W, R]")
@rule(arg0="W", arg1="i32 | int", returns="W")
def ldexp(arg0, arg1):
    """arg0 * 2**arg1, elementwise; arg1 is an i32; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[i32, R] | i32 | int", returns="Tensor[W, R]")
@rule(arg0="W", arg1="i32 | int", returns="W")
def scalbn(arg0, arg1):
    """arg0 * 2**arg1, elementwise; arg1 is an i32; f32 or f64."""
    ...


@rule(arg0="Tensor[i32, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="i32", arg1="W | float", returns="W")
def jn(arg0, arg1):
    """The Bessel function of the first kind of the order arg0 at arg1; f32 or f64.

    NaN for negative orders. On a GPU also NaN for orders from 2 on where arg1 is nearly zero (less
    than 2**-40 for orders to 128).
    """
    ...


@rule(arg0="Tensor[i32, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="i32", arg1="W | float", returns="W")
def yn(arg0, arg1):
    """The Bessel function of the second kind of the order arg0 at arg1; f32 or f64.

    NaN for negative orders.
    """
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[f64, R]")
@rule(arg0="f64", returns="f64")
def rcp64h(arg0):
    """A coarse reciprocal of each element, of which the low 32 bits are zero."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def fast_sinf(arg0):
    """A fast sine, for elements from -pi to pi."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def fast_cosf(arg0):
    """A fast cosine, for elements from -pi to pi."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def fast_tanf(arg0):
    """A fast tangent: fast_sinf / fast_cosf."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def fast_log2f(arg0):
    """A fast logarithm to base 2."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def fast_logf(arg0):
    """A fast natural logarithm."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def fast_log10f(arg0):
    """A fast logarithm to base 10."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def fast_expf(arg0):
    """A fast exponential."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def fast_exp10f(arg0):
    """A fast power of 10."""
    ...


@rule(arg0="Tensor[f32, R]", arg1="Tensor[f32, R] | f32 | float", returns="Tensor[f32, R]")
@rule(arg0="f32", arg1="f32 | float", returns="f32")
def fast_powf(arg0, arg1):
    """A fast power, for arg0 of at least 0."""
    ...


@rule(arg0="Tensor[f32, R]", arg1="Tensor[f32, R] | f32 | float", returns="Tensor[f32, R]")
@rule(arg0="f32", arg1="f32 | float", returns="f32")
def fast_dividef(arg0, arg1):
    """A fast quotient: within 2 ulp for divisors of a magnitude from 2**-126 to 2**126."""
    ...
