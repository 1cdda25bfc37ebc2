"""Printing and checking, while compiling and while running.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Any, overload

from teeny_triton.triton.dtypes import E, i1
from teeny_triton.triton.types import Tensor, R

def static_print(*values: object, sep: str = ' ', end: str = '\n', file: None = None, flush: bool = False) -> None:
    """Print compile-time values while compiling, to standard error; of others the type."""

def device_print(prefix: str, *args: object, hex: bool = False) -> None:
    """Print a line for each element of the values, behind the program's number and `prefix`.

    `prefix` is a string known at compile time. `hex=True` prints bits.
    """

def device_assert(cond: Tensor[i1, Any] | i1 | bool, msg: str = '', mask: Tensor[i1, Any] | i1 | None = None) -> None:
    """End the kernel with an error that says `msg` unless `cond` holds wherever `mask` does.

    GPUs check it in builds with assertions (`-C assertions=on`) only.
    """

@overload
def expect_zero(x: Tensor[E, R], mask: Tensor[i1, R] | i1) -> Tensor[E, R]:
    """The value x itself; builds with assertions check that it is zero where `mask` holds."""
@overload
def expect_zero(x: E, mask: i1 | bool) -> E: ...
