"""Choosing between values.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import overload

from teeny_triton.triton.dtypes import E, N, F, i1, i32, f32
from teeny_triton.triton.enums import PropagateNan
from teeny_triton.triton.types import Tensor, R

@overload
def maximum(x: Tensor[F, R], y: Tensor[F, R] | F | float, propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[F, R]:
    """The greater of x and y, elementwise; both are broadcast to one shape, of one dtype.

    A NaN gives the other operand, or, with `propagate_nan=PropagateNan.ALL`, NaN.
    """
@overload
def maximum(x: Tensor[N, R], y: Tensor[N, R] | N | int, propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[N, R]: ...
@overload
def maximum(x: N | int, y: Tensor[N, R], propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[N, R]: ...
@overload
def maximum(x: F | float, y: Tensor[F, R], propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[F, R]: ...
@overload
def maximum(x: F, y: F | float, propagate_nan: PropagateNan = PropagateNan.NONE) -> F: ...
@overload
def maximum(x: N, y: N | int, propagate_nan: PropagateNan = PropagateNan.NONE) -> N: ...
@overload
def maximum(x: int, y: int, propagate_nan: PropagateNan = PropagateNan.NONE) -> int: ...
@overload
def maximum(x: int, y: N, propagate_nan: PropagateNan = PropagateNan.NONE) -> N: ...
@overload
def maximum(x: float, y: F, propagate_nan: PropagateNan = PropagateNan.NONE) -> F: ...

@overload
def minimum(x: Tensor[F, R], y: Tensor[F, R] | F | float, propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[F, R]:
    """The smaller of x and y, elementwise; both are broadcast to one shape, of one dtype.

    A NaN gives the other operand, or, with `propagate_nan=PropagateNan.ALL`, NaN.
    """
@overload
def minimum(x: Tensor[N, R], y: Tensor[N, R] | N | int, propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[N, R]: ...
@overload
def minimum(x: N | int, y: Tensor[N, R], propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[N, R]: ...
@overload
def minimum(x: F | float, y: Tensor[F, R], propagate_nan: PropagateNan = PropagateNan.NONE) -> Tensor[F, R]: ...
@overload
def minimum(x: F, y: F | float, propagate_nan: PropagateNan = PropagateNan.NONE) -> F: ...
@overload
def minimum(x: N, y: N | int, propagate_nan: PropagateNan = PropagateNan.NONE) -> N: ...
@overload
def minimum(x: int, y: int, propagate_nan: PropagateNan = PropagateNan.NONE) -> int: ...
@overload
def minimum(x: int, y: N, propagate_nan: PropagateNan = PropagateNan.NONE) -> N: ...
@overload
def minimum(x: float, y: F, propagate_nan: PropagateNan = PropagateNan.NONE) -> F: ...

@overload
def where(condition: Tensor[i1, R] | i1, x: Tensor[F, R], y: Tensor[F, R] | F | float) -> Tensor[F, R]:
    """Take x where the condition holds, else y, elementwise; all three are broadcast to one shape.

    `condition` is i1; x and y have one dtype. Both are computed: a load that must not happen is
    masked.
    """
@overload
def where(condition: Tensor[i1, R] | i1, x: Tensor[E, R], y: Tensor[E, R] | E | int) -> Tensor[E, R]: ...
@overload
def where(condition: Tensor[i1, R] | i1, x: E | int, y: Tensor[E, R]) -> Tensor[E, R]: ...
@overload
def where(condition: Tensor[i1, R] | i1, x: F | float, y: Tensor[F, R]) -> Tensor[F, R]: ...
@overload
def where(condition: Tensor[i1, R], x: int, y: int) -> Tensor[i32, R]: ...
@overload
def where(condition: Tensor[i1, R], x: float, y: float) -> Tensor[f32, R]: ...
@overload
def where(condition: Tensor[i1, R], x: E, y: E | int) -> Tensor[E, R]: ...
@overload
def where(condition: Tensor[i1, R], x: F, y: F | float) -> Tensor[F, R]: ...
@overload
def where(condition: Tensor[i1, R], x: int, y: E) -> Tensor[E, R]: ...
@overload
def where(condition: i1, x: E, y: E | int) -> E: ...
