"""What the language says in itself: these bodies are compiled like a helper of the kernel.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Any, overload

from teeny_triton.triton.dtypes import E, F, W, I, i1, f32
from teeny_triton.triton.types import R1, R2, R3, Tensor, R, Sides

@overload
def cdiv(x: int, div: int) -> int:
    """Divide and round up, for x >= 0 and div > 0; outside a kernel it takes Python integers."""
@overload
def cdiv(x: I, div: I | int) -> I: ...
@overload
def cdiv(x: Tensor[I, R], div: Tensor[I, R] | I | int) -> Tensor[I, R]: ...

@overload
def zeros(shape: tuple[int], dtype: type[E]) -> Tensor[E, R1]:
    """A tensor of zeros. `shape` is a tuple of powers of two known at compile time."""
@overload
def zeros(shape: tuple[int, int], dtype: type[E]) -> Tensor[E, R2]: ...
@overload
def zeros(shape: tuple[int, int, int], dtype: type[E]) -> Tensor[E, R3]: ...
@overload
def zeros(shape: list[int] | Sides, dtype: type[E]) -> Tensor[E, Any]: ...

def zeros_like(input: Tensor[E, R]) -> Tensor[E, R]:
    """A tensor of zeros with the shape and dtype of `input`."""

@overload
def sigmoid(x: Tensor[W, R]) -> Tensor[W, R]:
    """1 / (1 + exp(-x)) of each element; f32 or f64."""
@overload
def sigmoid(x: W) -> W: ...
@overload
def sigmoid(x: float) -> f32: ...

def softmax(x: Tensor[F, R], dim: int | None = None, keep_dims: bool = False, ieee_rounding: bool = False) -> Tensor[F, R]:
    """exp(x - max) / sum(exp(x - max)) along the axis `dim` (0 when None); f32 or f64.

    The shape is kept, whatever `keep_dims` says.
    """

@overload
def logical_and(input: Tensor[E, R], other: Tensor[E, R] | E | bool | int) -> Tensor[i1, R]:
    """Whether both are not zero, of each pair of elements; both are computed."""
@overload
def logical_and(input: E, other: E | bool | int) -> i1: ...

@overload
def logical_or(input: Tensor[E, R], other: Tensor[E, R] | E | bool | int) -> Tensor[i1, R]:
    """Whether one of both is not zero, of each pair of elements; both are computed."""
@overload
def logical_or(input: E, other: E | bool | int) -> i1: ...
