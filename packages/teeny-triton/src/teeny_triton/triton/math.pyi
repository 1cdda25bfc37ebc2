"""Elementwise functions of floats.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import overload

from teeny_triton.triton.dtypes import N, F, W, I, f32
from teeny_triton.triton.enums import PropagateNan
from teeny_triton.triton.types import Tensor, R

@overload
def exp(x: Tensor[W, R]) -> Tensor[W, R]:
    """The exponential e ** x of each element; f32 or f64."""
@overload
def exp(x: W) -> W: ...
@overload
def exp(x: float) -> f32: ...

@overload
def exp2(x: Tensor[W, R]) -> Tensor[W, R]:
    """2 to the power of each element; f32 or f64."""
@overload
def exp2(x: W) -> W: ...
@overload
def exp2(x: float) -> f32: ...

@overload
def log(x: Tensor[W, R]) -> Tensor[W, R]:
    """The natural logarithm of each element; f32 or f64; NaN below 0."""
@overload
def log(x: W) -> W: ...
@overload
def log(x: float) -> f32: ...

@overload
def log2(x: Tensor[W, R]) -> Tensor[W, R]:
    """The logarithm to base 2 of each element; f32 or f64; NaN below 0."""
@overload
def log2(x: W) -> W: ...
@overload
def log2(x: float) -> f32: ...

@overload
def sqrt(x: Tensor[W, R]) -> Tensor[W, R]:
    """The square root of each element, approximate on GPUs; f32 or f64; NaN below 0."""
@overload
def sqrt(x: W) -> W: ...
@overload
def sqrt(x: float) -> f32: ...

@overload
def rsqrt(x: Tensor[W, R]) -> Tensor[W, R]:
    """1 / sqrt of each element; f32 or f64."""
@overload
def rsqrt(x: W) -> W: ...
@overload
def rsqrt(x: float) -> f32: ...

@overload
def abs(x: Tensor[N, R]) -> Tensor[N, R]:
    """The absolute value of each element; any number; the least signed integer stays itself."""
@overload
def abs(x: N) -> N: ...

@overload
def sin(x: Tensor[W, R]) -> Tensor[W, R]:
    """The sine of each element, in radians; f32 or f64."""
@overload
def sin(x: W) -> W: ...
@overload
def sin(x: float) -> f32: ...

@overload
def cos(x: Tensor[W, R]) -> Tensor[W, R]:
    """The cosine of each element, in radians; f32 or f64."""
@overload
def cos(x: W) -> W: ...
@overload
def cos(x: float) -> f32: ...

@overload
def erf(x: Tensor[W, R]) -> Tensor[W, R]:
    """The error function of each element; f32 or f64."""
@overload
def erf(x: W) -> W: ...
@overload
def erf(x: float) -> f32: ...

@overload
def floor(x: Tensor[W, R]) -> Tensor[W, R]:
    """The greatest integer that is not above each element, as a float; f32 or f64."""
@overload
def floor(x: W) -> W: ...
@overload
def floor(x: float) -> f32: ...

@overload
def ceil(x: Tensor[W, R]) -> Tensor[W, R]:
    """The least integer that is not below each element, as a float; f32 or f64."""
@overload
def ceil(x: W) -> W: ...
@overload
def ceil(x: float) -> f32: ...

@overload
def sqrt_rn(x: Tensor[W, R]) -> Tensor[W, R]:
    """The square root of each element, rounded to nearest (IEEE 754); f32 or f64; NaN below 0."""
@overload
def sqrt_rn(x: W) -> W: ...
@overload
def sqrt_rn(x: float) -> f32: ...

@overload
def div_rn(x: Tensor[F, R], y: Tensor[F, R] | F | float) -> Tensor[F, R]:
    """The quotient x / y of each element, rounded to nearest (IEEE 754); f32 or f64.

    f16 and bf16 are divided as f32, which is also the dtype of the result.
    """
@overload
def div_rn(x: Tensor[N, R], y: Tensor[N, R] | N | int) -> Tensor[N, R]: ...
@overload
def div_rn(x: N | int, y: Tensor[N, R]) -> Tensor[N, R]: ...
@overload
def div_rn(x: F | float, y: Tensor[F, R]) -> Tensor[F, R]: ...
@overload
def div_rn(x: F, y: F | float) -> F: ...
@overload
def div_rn(x: N, y: N | int) -> N: ...
@overload
def div_rn(x: int, y: int) -> int: ...
@overload
def div_rn(x: int, y: N) -> N: ...
@overload
def div_rn(x: float, y: F) -> F: ...

@overload
def fdiv(x: Tensor[F, R], y: Tensor[F, R] | F | float, ieee_rounding: bool = False, approx: bool = False) -> Tensor[F, R]:
    """The quotient x / y of each element; floats only, f16 and bf16 as f32.

    `ieee_rounding=True` rounds to nearest; `approx=True` (f32 only) is fast and within 2 ulp for
    divisors of a magnitude from 2**-126 to 2**126. At most one of them is set.
    """
@overload
def fdiv(x: F | float, y: Tensor[F, R], ieee_rounding: bool = False, approx: bool = False) -> Tensor[F, R]: ...
@overload
def fdiv(x: F, y: F | float, ieee_rounding: bool = False, approx: bool = False) -> F: ...

@overload
def fma(x: Tensor[F, R], y: Tensor[F, R] | F | float, z: Tensor[F, R] | F | float) -> Tensor[F, R]:
    """The sum x * y + z of each element, rounded once; f16, bf16, f32 or f64."""
@overload
def fma(x: F, y: F | float, z: F | float) -> F: ...

@overload
def umulhi(x: Tensor[I, R], y: Tensor[I, R] | I | int) -> Tensor[I, R]:
    """The upper half of the product of two integers of 32 or 64 bits, read without a sign."""
@overload
def umulhi(x: I | int, y: Tensor[I, R]) -> Tensor[I, R]: ...
@overload
def umulhi(x: I, y: I | int) -> I: ...

@overload
def clamp(x: Tensor[F, R], min: Tensor[F, R] | F | float, max: Tensor[F, R] | F | float, propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[F, R]:
    """Each element of x, but at least `min` and at most `max`; `min` is not above `max`.

    A NaN in x becomes `min`, or, with `propagate_nan=PropagateNan.ALL`, stays.
    """
@overload
def clamp(x: Tensor[N, R], min: Tensor[N, R] | N | int, max: Tensor[N, R] | N | int, propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[N, R]: ...
@overload
def clamp(x: F, min: F | float, max: F | float, propagate_nan: PropagateNan = PropagateNan.NONE) -> F: ...
@overload
def clamp(x: N, min: N | int, max: N | int, propagate_nan: PropagateNan = PropagateNan.NONE) -> N: ...

@overload
def add(x: Tensor[F, R], y: Tensor[F, R] | F | float, sanitize_overflow: bool = True) -> Tensor[F, R]:
    """The sum x + y, as the operator: integers wrap.

    `sanitize_overflow=False` leaves this sum out of the overflow checks.
    """
@overload
def add(x: Tensor[N, R], y: Tensor[N, R] | N | int, sanitize_overflow: bool = True) -> Tensor[N, R]: ...
@overload
def add(x: N | int, y: Tensor[N, R], sanitize_overflow: bool = True) -> Tensor[N, R]: ...
@overload
def add(x: F | float, y: Tensor[F, R], sanitize_overflow: bool = True) -> Tensor[F, R]: ...
@overload
def add(x: F, y: F | float, sanitize_overflow: bool = True) -> F: ...
@overload
def add(x: N, y: N | int, sanitize_overflow: bool = True) -> N: ...
@overload
def add(x: int, y: int, sanitize_overflow: bool = True) -> int: ...
@overload
def add(x: int, y: N, sanitize_overflow: bool = True) -> N: ...
@overload
def add(x: float, y: F, sanitize_overflow: bool = True) -> F: ...

@overload
def sub(x: Tensor[F, R], y: Tensor[F, R] | F | float, sanitize_overflow: bool = True) -> Tensor[F, R]:
    """The difference x - y, as the operator: integers wrap.

    `sanitize_overflow=False` leaves this difference out of the overflow checks.
    """
@overload
def sub(x: Tensor[N, R], y: Tensor[N, R] | N | int, sanitize_overflow: bool = True) -> Tensor[N, R]: ...
@overload
def sub(x: N | int, y: Tensor[N, R], sanitize_overflow: bool = True) -> Tensor[N, R]: ...
@overload
def sub(x: F | float, y: Tensor[F, R], sanitize_overflow: bool = True) -> Tensor[F, R]: ...
@overload
def sub(x: F, y: F | float, sanitize_overflow: bool = True) -> F: ...
@overload
def sub(x: N, y: N | int, sanitize_overflow: bool = True) -> N: ...
@overload
def sub(x: int, y: int, sanitize_overflow: bool = True) -> int: ...
@overload
def sub(x: int, y: N, sanitize_overflow: bool = True) -> N: ...
@overload
def sub(x: float, y: F, sanitize_overflow: bool = True) -> F: ...

@overload
def mul(x: Tensor[F, R], y: Tensor[F, R] | F | float, sanitize_overflow: bool = True) -> Tensor[F, R]:
    """The product x * y, as the operator: integers wrap.

    `sanitize_overflow=False` leaves this product out of the overflow checks.
    """
@overload
def mul(x: Tensor[N, R], y: Tensor[N, R] | N | int, sanitize_overflow: bool = True) -> Tensor[N, R]: ...
@overload
def mul(x: N | int, y: Tensor[N, R], sanitize_overflow: bool = True) -> Tensor[N, R]: ...
@overload
def mul(x: F | float, y: Tensor[F, R], sanitize_overflow: bool = True) -> Tensor[F, R]: ...
@overload
def mul(x: F, y: F | float, sanitize_overflow: bool = True) -> F: ...
@overload
def mul(x: N, y: N | int, sanitize_overflow: bool = True) -> N: ...
@overload
def mul(x: int, y: int, sanitize_overflow: bool = True) -> int: ...
@overload
def mul(x: int, y: N, sanitize_overflow: bool = True) -> N: ...
@overload
def mul(x: float, y: F, sanitize_overflow: bool = True) -> F: ...
