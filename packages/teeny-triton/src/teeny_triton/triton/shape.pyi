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
from teeny_triton.triton.types import R1, R2, R3, Tensor, R, Sides

def broadcast(input: Tensor[E, R] | E, other: Tensor[X, R]) -> Tensor[E, R]:
    """`input` with the common shape of both: each side of length 1 is repeated.

    A lower rank gets sides of length 1 in front; sides that differ otherwise are an error.
    """

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
