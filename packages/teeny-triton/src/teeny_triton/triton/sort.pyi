"""Sorting by compare and swap, and reversing: along the last axis, in the language itself.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false

from teeny_triton.triton.dtypes import E
from teeny_triton.triton.types import Tensor, R

def sort(x: Tensor[E, R], dim: int | None = None, descending: bool = False) -> Tensor[E, R]:
    """`x` with each row (last axis) in ascending order, or in descending order.

    `dim` is None or the last axis. -0.0 comes before 0.0; a NaN is greater than every number.
    """

def topk(x: Tensor[E, R], k: int, dim: int | None = None, descending: bool = True) -> Tensor[E, R]:
    """The `k` greatest elements of each row (last axis), in order; or the smallest.

    `k` is a power of two; `dim` is None or the last axis. The order is that of `sort`: a NaN is
    greater than every number. The dtype is kept.
    """

def bitonic_merge(x: Tensor[E, R], dim: int | None = None, descending: bool = False) -> Tensor[E, R]:
    """Each row (last axis) in order, where its first half ascends and its second half descends.

    `dim` is None or the last axis. The order is that of `sort`.
    """

def flip(x: Tensor[E, R], dim: int | None = None) -> Tensor[E, R]:
    """`x` with its elements along the axis `dim` (None: the last) in reverse order."""
