"""Elementwise functions of one float.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import overload

from teeny_triton.triton.dtypes import N, F
from teeny_triton.triton.types import Tensor, R

@overload
def exp(x: Tensor[F, R]) -> Tensor[F, R]:
    """The exponential e ** x of each element; f32 or f64."""
@overload
def exp(x: F) -> F: ...

@overload
def exp2(x: Tensor[F, R]) -> Tensor[F, R]:
    """2 to the power of each element; f32 or f64."""
@overload
def exp2(x: F) -> F: ...

@overload
def log(x: Tensor[F, R]) -> Tensor[F, R]:
    """The natural logarithm of each element; f32 or f64; NaN below 0."""
@overload
def log(x: F) -> F: ...

@overload
def log2(x: Tensor[F, R]) -> Tensor[F, R]:
    """The logarithm to base 2 of each element; f32 or f64; NaN below 0."""
@overload
def log2(x: F) -> F: ...

@overload
def sqrt(x: Tensor[F, R]) -> Tensor[F, R]:
    """The square root of each element, approximate on GPUs; f32 or f64; NaN below 0."""
@overload
def sqrt(x: F) -> F: ...

@overload
def rsqrt(x: Tensor[F, R]) -> Tensor[F, R]:
    """1 / sqrt of each element; f32 or f64."""
@overload
def rsqrt(x: F) -> F: ...

@overload
def abs(x: Tensor[N, R]) -> Tensor[N, R]:
    """The absolute value of each element; any number; the least signed integer stays itself."""
@overload
def abs(x: N) -> N: ...
