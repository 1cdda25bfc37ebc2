"""CUDA's libdevice: arithmetic with its rounding mode in the name (rn, rz, rd, ru).

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import overload

from teeny_triton.triton.dtypes import W, f32
from teeny_triton.triton.types import Tensor, R

@overload
def add_rn(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The sum rounded to nearest, ties to even; never fused; f32 or f64."""
@overload
def add_rn(arg0: W, arg1: W | float) -> W: ...

@overload
def add_rz(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The sum rounded towards zero; never fused; f32 or f64."""
@overload
def add_rz(arg0: W, arg1: W | float) -> W: ...

@overload
def add_rd(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The sum rounded down; never fused; f32 or f64."""
@overload
def add_rd(arg0: W, arg1: W | float) -> W: ...

@overload
def add_ru(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The sum rounded up; never fused; f32 or f64."""
@overload
def add_ru(arg0: W, arg1: W | float) -> W: ...

@overload
def sub_rn(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The difference rounded to nearest, ties to even; never fused; f32 or f64."""
@overload
def sub_rn(arg0: W, arg1: W | float) -> W: ...

@overload
def sub_rz(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The difference rounded towards zero; never fused; f32 or f64."""
@overload
def sub_rz(arg0: W, arg1: W | float) -> W: ...

@overload
def sub_rd(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The difference rounded down; never fused; f32 or f64."""
@overload
def sub_rd(arg0: W, arg1: W | float) -> W: ...

@overload
def sub_ru(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The difference rounded up; never fused; f32 or f64."""
@overload
def sub_ru(arg0: W, arg1: W | float) -> W: ...

@overload
def mul_rn(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The product rounded to nearest, ties to even; never fused; f32 or f64."""
@overload
def mul_rn(arg0: W, arg1: W | float) -> W: ...

@overload
def mul_rz(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The product rounded towards zero; never fused; f32 or f64."""
@overload
def mul_rz(arg0: W, arg1: W | float) -> W: ...

@overload
def mul_rd(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The product rounded down; never fused; f32 or f64."""
@overload
def mul_rd(arg0: W, arg1: W | float) -> W: ...

@overload
def mul_ru(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The product rounded up; never fused; f32 or f64."""
@overload
def mul_ru(arg0: W, arg1: W | float) -> W: ...

@overload
def div_rz(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The quotient rounded towards zero; never fused; f32 or f64."""
@overload
def div_rz(arg0: W, arg1: W | float) -> W: ...

@overload
def div_rd(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The quotient rounded down; never fused; f32 or f64."""
@overload
def div_rd(arg0: W, arg1: W | float) -> W: ...

@overload
def div_ru(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """The quotient rounded up; never fused; f32 or f64."""
@overload
def div_ru(arg0: W, arg1: W | float) -> W: ...

@overload
def rcp_rn(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The reciprocal rounded to nearest, ties to even; never fused; f32 or f64."""
@overload
def rcp_rn(arg0: W) -> W: ...
@overload
def rcp_rn(arg0: float) -> f32: ...

@overload
def rcp_rz(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The reciprocal rounded towards zero; never fused; f32 or f64."""
@overload
def rcp_rz(arg0: W) -> W: ...
@overload
def rcp_rz(arg0: float) -> f32: ...

@overload
def rcp_rd(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The reciprocal rounded down; never fused; f32 or f64."""
@overload
def rcp_rd(arg0: W) -> W: ...
@overload
def rcp_rd(arg0: float) -> f32: ...

@overload
def rcp_ru(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The reciprocal rounded up; never fused; f32 or f64."""
@overload
def rcp_ru(arg0: W) -> W: ...
@overload
def rcp_ru(arg0: float) -> f32: ...

@overload
def sqrt_rz(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The square root rounded towards zero; never fused; f32 or f64."""
@overload
def sqrt_rz(arg0: W) -> W: ...
@overload
def sqrt_rz(arg0: float) -> f32: ...

@overload
def sqrt_rd(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The square root rounded down; never fused; f32 or f64."""
@overload
def sqrt_rd(arg0: W) -> W: ...
@overload
def sqrt_rd(arg0: float) -> f32: ...

@overload
def sqrt_ru(arg0: Tensor[W, R]) -> Tensor[W, R]:
    """The square root rounded up; never fused; f32 or f64."""
@overload
def sqrt_ru(arg0: W) -> W: ...
@overload
def sqrt_ru(arg0: float) -> f32: ...

@overload
def fma_rn(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float, arg2: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """arg0 * arg1 + arg2, rounded once, to nearest, ties to even; f32 or f64."""
@overload
def fma_rn(arg0: W, arg1: W | float, arg2: W | float) -> W: ...

@overload
def fma_rz(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float, arg2: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """arg0 * arg1 + arg2, rounded once, towards zero; f32 or f64."""
@overload
def fma_rz(arg0: W, arg1: W | float, arg2: W | float) -> W: ...

@overload
def fma_rd(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float, arg2: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """arg0 * arg1 + arg2, rounded once, down; f32 or f64."""
@overload
def fma_rd(arg0: W, arg1: W | float, arg2: W | float) -> W: ...

@overload
def fma_ru(arg0: Tensor[W, R], arg1: Tensor[W, R] | W | float, arg2: Tensor[W, R] | W | float) -> Tensor[W, R]:
    """arg0 * arg1 + arg2, rounded once, up; f32 or f64."""
@overload
def fma_ru(arg0: W, arg1: W | float, arg2: W | float) -> W: ...

@overload
def rsqrt_rn(arg0: Tensor[f32, R]) -> Tensor[f32, R]:
    """1 / sqrt of each element, rounded to nearest, ties to even."""
@overload
def rsqrt_rn(arg0: f32) -> f32: ...
