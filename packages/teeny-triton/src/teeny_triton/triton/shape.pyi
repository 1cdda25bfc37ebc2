"""Shapes: what changes the arrangement and never the values.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Any, Literal, overload

from teeny_triton.triton.dtypes import E, X
from teeny_triton.triton.types import R1, R2, R3, R4, Tensor, R, Sides

@overload
def broadcast(input: Tensor[E, R], other: Tensor[X, R] | X) -> tuple[Tensor[E, R], Tensor[X, R]]:
    """Both in their common shape: each side of length 1 is repeated.

    A lower rank gets sides of length 1 in front; sides that differ otherwise are an error.
    """
@overload
def broadcast(input: E, other: Tensor[X, R]) -> tuple[Tensor[E, R], Tensor[X, R]]: ...

@overload
def broadcast_to(input: Tensor[E, R1] | E, shape: tuple[int], /) -> Tensor[E, R1]:
    """`input` with the shape given: each of its sides of length 1 is repeated; a scalar fills it.

    The shape is one tuple or several numbers, known at compile time, and has the rank of `input`.
    """
@overload
def broadcast_to(input: Tensor[E, R2] | E, shape: tuple[int, int], /) -> Tensor[E, R2]: ...
@overload
def broadcast_to(input: Tensor[E, R3] | E, shape: tuple[int, int, int], /) -> Tensor[E, R3]: ...
@overload
def broadcast_to(input: Tensor[E, R2] | E, shape_0: int, shape_1: int, /) -> Tensor[E, R2]: ...
@overload
def broadcast_to(input: Tensor[E, R3] | E, shape_0: int, shape_1: int, shape_2: int, /) -> Tensor[E, R3]: ...
@overload
def broadcast_to(input: Tensor[E, Any], shape: list[int] | Sides, /) -> Tensor[E, Any]: ...

@overload
def expand_dims(input: Tensor[E, R1], axis: Literal[0, 1, -1, -2]) -> Tensor[E, R2]:
    """`input` with a side of length 1 more, at position `axis` of the result; also `x[:, None]`."""
@overload
def expand_dims(input: Tensor[E, R2], axis: Literal[0, 1, 2, -1, -2, -3]) -> Tensor[E, R3]: ...

@overload
def trans(input: Tensor[E, R2], /) -> Tensor[E, R2]:
    """`input` with its sides in another order; also `x.T`.

    Without `dims` the two sides of a tensor of rank 2 change places; with them, side i of the
    result is side `dims[i]` of `input`.
    """
@overload
def trans(input: Tensor[E, R2], dims_0: int, dims_1: int, /) -> Tensor[E, R2]: ...
@overload
def trans(input: Tensor[E, R3], dims_0: int, dims_1: int, dims_2: int, /) -> Tensor[E, R3]: ...
@overload
def trans(input: Tensor[E, R2], dims: tuple[int, int], /) -> Tensor[E, R2]: ...
@overload
def trans(input: Tensor[E, R3], dims: tuple[int, int, int], /) -> Tensor[E, R3]: ...

@overload
def permute(input: Tensor[E, R2], dims: tuple[int, int], /) -> Tensor[E, R2]:
    """`input` with its sides in another order: side i of the result is side `dims[i]` of `input`.

    The order is one tuple or several numbers, known at compile time.
    """
@overload
def permute(input: Tensor[E, R3], dims: tuple[int, int, int], /) -> Tensor[E, R3]: ...
@overload
def permute(input: Tensor[E, R2], dims_0: int, dims_1: int, /) -> Tensor[E, R2]: ...
@overload
def permute(input: Tensor[E, R3], dims_0: int, dims_1: int, dims_2: int, /) -> Tensor[E, R3]: ...
@overload
def permute(input: Tensor[E, Any], dims: list[int] | Sides, /) -> Tensor[E, Any]: ...

@overload
def reshape(input: Tensor[E, Any], shape: tuple[int], /, *, can_reorder: bool = False) -> Tensor[E, R1]:
    """The elements of `input`, in their order, as a tensor of another shape.

    The shape is one tuple or several numbers, known at compile time; `()` makes a scalar of one
    element. With `can_reorder=True` the elements may come in any order.
    """
@overload
def reshape(input: Tensor[E, Any], shape: tuple[int, int], /, *, can_reorder: bool = False) -> Tensor[E, R2]: ...
@overload
def reshape(input: Tensor[E, Any], shape: tuple[int, int, int], /, *, can_reorder: bool = False) -> Tensor[E, R3]: ...
@overload
def reshape(input: Tensor[E, Any], shape: tuple[int, int, int, int], /, *, can_reorder: bool = False) -> Tensor[E, R4]: ...
@overload
def reshape(input: Tensor[E, Any], shape_0: int, /, *, can_reorder: bool = False) -> Tensor[E, R1]: ...
@overload
def reshape(input: Tensor[E, Any], shape_0: int, shape_1: int, /, *, can_reorder: bool = False) -> Tensor[E, R2]: ...
@overload
def reshape(input: Tensor[E, Any], shape_0: int, shape_1: int, shape_2: int, /, *, can_reorder: bool = False) -> Tensor[E, R3]: ...
@overload
def reshape(input: Tensor[E, Any], shape_0: int, shape_1: int, shape_2: int, shape_3: int, /, *, can_reorder: bool = False) -> Tensor[E, R4]: ...
@overload
def reshape(input: Tensor[E, Any], shape: list[int] | Sides, /, *, can_reorder: bool = False) -> Tensor[E, Any]: ...

@overload
def view(input: Tensor[E, Any], shape: tuple[int], /) -> Tensor[E, R1]:
    """The elements of `input`, in any order, as a tensor of another shape: see `reshape`."""
@overload
def view(input: Tensor[E, Any], shape: tuple[int, int], /) -> Tensor[E, R2]: ...
@overload
def view(input: Tensor[E, Any], shape: tuple[int, int, int], /) -> Tensor[E, R3]: ...
@overload
def view(input: Tensor[E, Any], shape: tuple[int, int, int, int], /) -> Tensor[E, R4]: ...
@overload
def view(input: Tensor[E, Any], shape_0: int, /) -> Tensor[E, R1]: ...
@overload
def view(input: Tensor[E, Any], shape_0: int, shape_1: int, /) -> Tensor[E, R2]: ...
@overload
def view(input: Tensor[E, Any], shape_0: int, shape_1: int, shape_2: int, /) -> Tensor[E, R3]: ...
@overload
def view(input: Tensor[E, Any], shape_0: int, shape_1: int, shape_2: int, shape_3: int, /) -> Tensor[E, R4]: ...
@overload
def view(input: Tensor[E, Any], shape: list[int] | Sides, /) -> Tensor[E, Any]: ...

def ravel(x: Tensor[E, Any], can_reorder: bool = False) -> Tensor[E, R1]:
    """The elements of `x` as a tensor of rank 1; in any order with `can_reorder=True`."""

@overload
def unsqueeze(x: Tensor[E, R1], dim: Literal[0, 1, -1, -2]) -> Tensor[E, R2]:
    """`x` with a side of length 1 more, at position `dim` of the result: `expand_dims`."""
@overload
def unsqueeze(x: Tensor[E, R2], dim: Literal[0, 1, 2, -1, -2, -3]) -> Tensor[E, R3]: ...

@overload
def squeeze(x: Tensor[E, R1], dim: Literal[0, -1]) -> E:
    """`x` without its side `dim`, which has length 1."""
@overload
def squeeze(x: Tensor[E, R2], dim: Literal[0, 1, -1, -2]) -> Tensor[E, R1]: ...
@overload
def squeeze(x: Tensor[E, R3], dim: Literal[0, 1, 2, -1, -2, -3]) -> Tensor[E, R2]: ...

@overload
def join(a: Tensor[E, R1], b: Tensor[E, R1] | E) -> Tensor[E, R2]:
    """Both in one tensor, with a last side of length 2 more: `a` at 0 there, `b` at 1.

    Both are broadcast to one shape, and have one dtype. The inverse is `split`.
    """
@overload
def join(a: Tensor[E, R2], b: Tensor[E, R2] | E) -> Tensor[E, R3]: ...
@overload
def join(a: Tensor[E, R3], b: Tensor[E, R3] | E) -> Tensor[E, R4]: ...
@overload
def join(a: E, b: E) -> Tensor[E, R1]: ...

@overload
def split(a: Tensor[E, R1]) -> tuple[E, E]:
    """The two halves of `a` along its last side, which has length 2: the inverse of `join`."""
@overload
def split(a: Tensor[E, R2]) -> tuple[Tensor[E, R1], Tensor[E, R1]]: ...
@overload
def split(a: Tensor[E, R3]) -> tuple[Tensor[E, R2], Tensor[E, R2]]: ...
@overload
def split(a: Tensor[E, R4]) -> tuple[Tensor[E, R3], Tensor[E, R3]]: ...

@overload
def interleave(a: Tensor[E, R], b: Tensor[E, R]) -> Tensor[E, R]:
    """The elements of both in turn along the last side, which is twice as long."""
@overload
def interleave(a: E, b: E) -> Tensor[E, R1]: ...

def cat(input: Tensor[E, R], other: Tensor[E, R], can_reorder: bool = False, dim: int = 0) -> Tensor[E, R]:
    """Two tensors of one shape and dtype, one after the other along the axis `dim`.

    With `can_reorder=True` tensors of rank 1 may differ in length, and the elements come in any
    order.
    """
