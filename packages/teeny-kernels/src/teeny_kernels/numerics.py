"""Helpers of kernels: the dtype that a kernel computes in, and constants shared by families."""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_macros import device
from teeny_triton import Rank, Tensor, bf16, f16, f32, f64, i32, i64

R = TypeVar("R", bound=Rank)


@device
def widen(x: Tensor[Any, R]) -> Tensor[f32, R]:
    """f16 and bf16 as f32; any other dtype stays what it is.

    Checkers see f32: with f64 arrays a kernel computes in f64 instead, by the same text.
    """
    if x.dtype == f16 or x.dtype == bf16:
        return x.to(f32)
    return x


@device
def number(value: f32 | f64 | i32 | i64 | float, x: Tensor[f32, R] | f32) -> f32:
    """A number given to a kernel, in the dtype that it computes `x` in."""
    return tl.cast(value, x.dtype)


@device
def narrow(x: Any, WIDE: bool) -> Any:
    """A place or a size: i32, whose arithmetic is fast, unless it may be too large for that.

    Checkers see what the name is declared to be: i32, for one text of kernels.
    """
    if WIDE:
        return tl.cast(x, i64)
    return tl.cast(x, i32)


@device
def accumulated(x: Tensor[Any, R]) -> Tensor[Any, R]:
    """`x` in the dtype of its sums: integers and bools in i64, floats as `widen` says."""
    if x.dtype == f16 or x.dtype == bf16:
        return x.to(f32)
    if x.dtype.is_int():
        return x.to(i64)
    return x
