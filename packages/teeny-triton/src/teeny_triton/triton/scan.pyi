"""Running sums and products along an axis.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Any, overload

from teeny_triton.triton.dtypes import X, N, i1, i8, i16, i32, u8, u16, u32, bf16, f32
from teeny_triton.triton.types import Tensor, R

@overload
def cumsum(input: Tensor[i1, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[u32, R]:
    """Each element plus all before it along `axis`, or, with `reverse`, all after it.

    i8 and i16 are summed as i32, i1, u8 and u16 as u32, bf16 as f32, or all as `dtype`.
    """
@overload
def cumsum(input: Tensor[i8, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[i32, R]: ...
@overload
def cumsum(input: Tensor[i16, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[i32, R]: ...
@overload
def cumsum(input: Tensor[u8, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[u32, R]: ...
@overload
def cumsum(input: Tensor[u16, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[u32, R]: ...
@overload
def cumsum(input: Tensor[bf16, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[f32, R]: ...
@overload
def cumsum(input: Tensor[N, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[N, R]: ...
@overload
def cumsum(input: Tensor[Any, R], axis: int = 0, reverse: bool = False, *, dtype: type[X]) -> Tensor[X, R]: ...

@overload
def cumprod(input: Tensor[i1, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[u32, R]:
    """Each element times all before it along `axis`, or, with `reverse`, all after it.

    i8 and i16 are multiplied as i32, i1, u8 and u16 as u32, bf16 as f32, or all as `dtype`.
    """
@overload
def cumprod(input: Tensor[i8, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[i32, R]: ...
@overload
def cumprod(input: Tensor[i16, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[i32, R]: ...
@overload
def cumprod(input: Tensor[u8, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[u32, R]: ...
@overload
def cumprod(input: Tensor[u16, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[u32, R]: ...
@overload
def cumprod(input: Tensor[bf16, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[f32, R]: ...
@overload
def cumprod(input: Tensor[N, R], axis: int = 0, reverse: bool = False, dtype: None = None) -> Tensor[N, R]: ...
@overload
def cumprod(input: Tensor[Any, R], axis: int = 0, reverse: bool = False, *, dtype: type[X]) -> Tensor[X, R]: ...
