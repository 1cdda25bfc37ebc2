"""What applies a function of scalars: reductions, running combinations, one call an element.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from collections.abc import Callable
from typing import Any, Literal, overload

from teeny_triton.triton.dtypes import E, X, Elem
from teeny_triton.triton.types import R1, R2, R3, Tensor, R

@overload
def reduce(input: Tensor[E, R], axis: None, combine_fn: Callable[[E, E], E], keep_dims: Literal[False] = False) -> E:
    """All elements along `axis` combined into one, or, with `axis=None`, all elements.

    `combine_fn(left, right)` gets two scalars and returns one of the same dtype; for a tuple of
    tensors of one shape it gets one scalar of each on either side, and returns a tuple of them. It
    is associative and commutative: the order in which elements meet is not that of the elements.
    `keep_dims=True` keeps the axis, with length 1.
    """
@overload
def reduce(input: Tensor[E, R1], axis: Literal[0, -1], combine_fn: Callable[[E, E], E], keep_dims: Literal[False] = False) -> E: ...
@overload
def reduce(input: Tensor[E, R2], axis: Literal[0, 1, -1, -2], combine_fn: Callable[[E, E], E], keep_dims: Literal[False] = False) -> Tensor[E, R1]: ...
@overload
def reduce(input: Tensor[E, R3], axis: Literal[0, 1, 2, -1, -2, -3], combine_fn: Callable[[E, E], E], keep_dims: Literal[False] = False) -> Tensor[E, R2]: ...
@overload
def reduce(input: Tensor[E, R], axis: Literal[0, 1, 2, -1, -2, -3] | None, combine_fn: Callable[[E, E], E], keep_dims: Literal[True]) -> Tensor[E, R]: ...
@overload
def reduce(input: tuple[Tensor[E, R1], Tensor[X, R1]], axis: Literal[0, -1], combine_fn: Callable[[E, X, E, X], tuple[E, X]], keep_dims: Literal[False] = False) -> tuple[E, X]: ...
@overload
def reduce(input: tuple[Tensor[E, R2], Tensor[X, R2]], axis: Literal[0, 1, -1, -2], combine_fn: Callable[[E, X, E, X], tuple[E, X]], keep_dims: Literal[False] = False) -> tuple[Tensor[E, R1], Tensor[X, R1]]: ...
@overload
def reduce(input: tuple[Tensor[Any, R], ...], axis: Literal[0, 1, 2, -1, -2, -3] | None, combine_fn: Callable[..., Any], keep_dims: bool = False) -> Any: ...

@overload
def associative_scan(input: Tensor[E, R], axis: int, combine_fn: Callable[[E, E], E], reverse: bool = False) -> Tensor[E, R]:
    """Each element combined with all before it along `axis`, or, with `reverse`, all after it.

    `combine_fn(before, element)` is as in `reduce`, and need not commute. The shape is kept.
    """
@overload
def associative_scan(input: tuple[Tensor[E, R], Tensor[X, R]], axis: int, combine_fn: Callable[[E, X, E, X], tuple[E, X]], reverse: bool = False) -> tuple[Tensor[E, R], Tensor[X, R]]: ...
@overload
def associative_scan(input: tuple[Tensor[Any, R], ...], axis: int, combine_fn: Callable[..., Any], reverse: bool = False) -> Any: ...

@overload
def map_elementwise(scalar_fn: Callable[[E], X], *args: Tensor[E, R], pack: int = 1) -> Tensor[X, R]:
    """`scalar_fn` called with the elements of the tensors, which are broadcast to one shape.

    It gets scalars and may branch on them, unlike `where`, which computes both sides; it returns a
    scalar, or a tuple for several tensors. With `pack=n` one call gets n elements of each tensor
    (x0, x1, y0, y1) and returns n of each result; which elements meet in a call is not defined.
    """
@overload
def map_elementwise(scalar_fn: Callable[..., Any], *args: Tensor[Any, R] | Elem | float, pack: int = 1) -> Any: ...
