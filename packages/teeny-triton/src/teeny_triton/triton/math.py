"""Elementwise functions of one float.

Their operands are f32 or f64 (`abs`: any number); narrower floats are cast by the kernel, else it
is an error.
"""

from teeny_triton.rules import elementwise


@elementwise("F")
def exp(x):
    """The exponential e ** x of each element; f32 or f64."""
    ...


@elementwise("F")
def exp2(x):
    """2 to the power of each element; f32 or f64."""
    ...


@elementwise("F")
def log(x):
    """The natural logarithm of each element; f32 or f64; NaN below 0."""
    ...


@elementwise("F")
def log2(x):
    """The logarithm to base 2 of each element; f32 or f64; NaN below 0."""
    ...


@elementwise("F")
def sqrt(x):
    """The square root of each element, approximate on GPUs; f32 or f64; NaN below 0."""
    ...


@elementwise("F")
def rsqrt(x):
    """1 / sqrt of each element; f32 or f64."""
    ...


@elementwise("N")
def abs(x):
    """The absolute value of each element; any number; the least signed integer stays itself."""
    ...
