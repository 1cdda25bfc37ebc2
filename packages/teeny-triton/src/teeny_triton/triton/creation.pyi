"""Tensors from nothing, and casts.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Any, Literal, overload

from teeny_triton.triton.dtypes import E, X, F, Elem, i1, i32, f32
from teeny_triton.triton.types import R1, R2, R3, Ptr, PtrTensor, Tensor, R, Sides

def arange(start: int, end: int) -> Tensor[i32, R1]:
    """The i32 numbers start, start + 1, ..., end - 1 as a tensor of rank 1.

    Both are known at compile time; `end - start` is a power of two, else E0401. Padding is masked:
    take the next power of two and compare with the true length.
    """

@overload
def full(shape: tuple[int], value: F | float, dtype: type[F]) -> Tensor[F, R1]:
    """A tensor with `value` in each element.

    `shape` is a tuple of powers of two known at compile time; `value` a scalar, cast to `dtype`.
    """
@overload
def full(shape: tuple[int, int], value: F | float, dtype: type[F]) -> Tensor[F, R2]: ...
@overload
def full(shape: tuple[int, int, int], value: F | float, dtype: type[F]) -> Tensor[F, R3]: ...
@overload
def full(shape: tuple[int], value: E | int, dtype: type[E]) -> Tensor[E, R1]: ...
@overload
def full(shape: tuple[int, int], value: E | int, dtype: type[E]) -> Tensor[E, R2]: ...
@overload
def full(shape: tuple[int, int, int], value: E | int, dtype: type[E]) -> Tensor[E, R3]: ...
@overload
def full(shape: list[int] | Sides, value: E | int | float, dtype: type[E]) -> Tensor[E, Any]: ...

@overload
def to_tensor(x: Tensor[E, R]) -> Tensor[E, R]:
    """A value of the kernel: itself, or a literal as i1, i32 (i64, u64 beyond) or f32."""
@overload
def to_tensor(x: E) -> E: ...
@overload
def to_tensor(x: bool) -> i1: ...
@overload
def to_tensor(x: int) -> i32: ...
@overload
def to_tensor(x: float) -> f32: ...

@overload
def cast(input: Tensor[Any, R], dtype: type[X], fp_downcast_rounding: Literal["rtne", "rtz"] | None = None, bitcast: bool = False) -> Tensor[X, R]:
    """The same values as another dtype; also `x.to(dtype)`.

    Float to float rounds to nearest even (`fp_downcast_rounding="rtz"`: towards zero); float to
    integer truncates, and what does not fit is undefined; to i1 is `!= 0`. `bitcast=True` keeps the
    bits instead: the dtypes have the same size.
    """
@overload
def cast(input: Elem | int | float, dtype: type[X], fp_downcast_rounding: Literal["rtne", "rtz"] | None = None, bitcast: bool = False) -> X: ...

def elem(pointer: Ptr[E] | PtrTensor[E, Any]) -> type[E]:
    """The dtype that a pointer, or a tensor of pointers, points at: `y.to(elem(y_ptr))`."""

def pointer_type(element_ty: type[Elem]) -> Any:
    """The dtype of pointers to elements: `address.to(pointer_type(f32))` of an i64 or u64."""
