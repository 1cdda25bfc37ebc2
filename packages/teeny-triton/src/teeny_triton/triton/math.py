"""Elementwise functions of floats.

Their operands are f32 or f64, unless a function says otherwise; narrower floats are cast by the
kernel, else it is an error.
"""

from teeny_triton.rules import binary, elementwise, rule
from teeny_triton.triton.enums import PropagateNan


@elementwise("W")
def exp(x):
    """The exponential e ** x of each element; f32 or f64."""
    ...


@elementwise("W")
def exp2(x):
    """2 to the power of each element; f32 or f64."""
    ...


@elementwise("W")
def log(x):
    """The natural logarithm of each element; f32 or f64; NaN below 0."""
    ...


@elementwise("W")
def log2(x):
    """The logarithm to base 2 of each element; f32 or f64; NaN below 0."""
    ...


@elementwise("W")
def sqrt(x):
    """The square root of each element, approximate on GPUs; f32 or f64; NaN below 0."""
    ...


@elementwise("W")
def rsqrt(x):
    """1 / sqrt of each element; f32 or f64."""
    ...


@elementwise("N")
def abs(x):
    """The absolute value of each element; any number; the least signed integer stays itself."""
    ...


@elementwise("W")
def sin(x):
    """The sine of each element, in radians; f32 or f64."""
    ...


@elementwise("W")
def cos(x):
    """The cosine of each element, in radians; f32 or f64."""
    ...


@elementwise("W")
def erf(x):
    """The error function of each element; f32 or f64."""
    ...


@elementwise("W")
def floor(x):
    """The greatest integer that is not above each element, as a float; f32 or f64."""
    ...


@elementwise("W")
def ceil(x):
    """The least integer that is not below each element, as a float; f32 or f64."""
    ...


@elementwise("W")
def sqrt_rn(x):
    """The square root of each element, rounded to nearest (IEEE 754); f32 or f64; NaN below 0."""
    ...


@binary
def div_rn(x, y):
    """The quotient x / y of each element, rounded to nearest (IEEE 754); f32 or f64.

    f16 and bf16 are divided as f32, which is also the dtype of the result.
    """
    ...


@rule(x="Tensor[F, R]", y="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(x="F | float", y="Tensor[F, R]", returns="Tensor[F, R]")
@rule(x="F", y="F | float", returns="F")
def fdiv(x, y, ieee_rounding: bool = False, approx: bool = False):
    """The quotient x / y of each element; floats only, f16 and bf16 as f32.

    `ieee_rounding=True` rounds to nearest; `approx=True` (f32 only) is fast and within 2 ulp for
    divisors of a magnitude from 2**-126 to 2**126. At most one of them is set.
    """
    ...


@rule(
    x="Tensor[F, R]",
    y="Tensor[F, R] | F | float",
    z="Tensor[F, R] | F | float",
    returns="Tensor[F, R]",
)
@rule(x="F", y="F | float", z="F | float", returns="F")
def fma(x, y, z):
    """The sum x * y + z of each element, rounded once; f16, bf16, f32 or f64."""
    ...


@rule(x="Tensor[I, R]", y="Tensor[I, R] | I | int", returns="Tensor[I, R]")
@rule(x="I | int", y="Tensor[I, R]", returns="Tensor[I, R]")
@rule(x="I", y="I | int", returns="I")
def umulhi(x, y):
    """The upper half of the product of two integers of 32 or 64 bits, read without a sign."""
    ...


@rule(
    x="Tensor[F, R]",
    min="Tensor[F, R] | F | float",
    max="Tensor[F, R] | F | float",
    returns="Tensor[F, R]",
)
@rule(
    x="Tensor[N, R]",
    min="Tensor[N, R] | N | int",
    max="Tensor[N, R] | N | int",
    returns="Tensor[N, R]",
)
@rule(x="F", min="F | float", max="F | float", returns="F")
@rule(x="N", min="N | int", max="N | int", returns="N")
def clamp(x, min, max, propagate_nan: PropagateNan = PropagateNan.NONE):
    """Each element of x, but at least `min` and at most `max`; `min` is not above `max`.

    A NaN in x becomes `min`, or, with `propagate_nan=PropagateNan.ALL`, stays.
    """
    ...


@binary
def add(x, y, sanitize_overflow: bool = True):
    """The sum x + y, as the operator: integers wrap.

    `sanitize_overflow=False` leaves this sum out of the overflow checks.
    """
    ...


@binary
def sub(x, y, sanitize_overflow: bool = True):
    """The difference x - y, as the operator: integers wrap.

    `sanitize_overflow=False` leaves this difference out of the overflow checks.
    """
    ...


@binary
def mul(x, y, sanitize_overflow: bool = True):
    """The product x * y, as the operator: integers wrap.

    `sanitize_overflow=False` leaves this product out of the overflow checks.
    """
    ...
