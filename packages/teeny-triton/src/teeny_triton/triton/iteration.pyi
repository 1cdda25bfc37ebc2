"""Loops, and what is checked at compile time.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from collections.abc import Iterator
from typing import overload

from teeny_triton.triton.dtypes import i1, i32, i64

@overload
def range(arg1: i32 | int, arg2: i32 | int | None = None, step: i32 | int | None = None, num_stages: int | None = None, loop_unroll_factor: int | None = None, disallow_acc_multi_buffer: bool = False, flatten: bool = False, warp_specialize: bool = False, disable_licm: bool = False) -> Iterator[i32]:
    """Numbers for a `for` loop that runs on the device, as of Python's range.

    `num_stages` is how many iterations' loads are in flight at once, else the kernel's own number;
    the other options steer the loop as in Triton.
    """
@overload
def range(arg1: i64 | int, arg2: i64 | int | None = None, step: i64 | int | None = None, num_stages: int | None = None, loop_unroll_factor: int | None = None, disallow_acc_multi_buffer: bool = False, flatten: bool = False, warp_specialize: bool = False, disable_licm: bool = False) -> Iterator[i64]: ...

def condition(arg1: i1 | bool, disable_licm: bool = False) -> i1:
    """What a `while` loop goes on by: `while tl.condition(x < n, disable_licm=True):`.

    With `disable_licm` what does not change in the loop is not computed before it, which saves
    registers.
    """

def static_range(arg1: int, arg2: int | None = None, step: int | None = None) -> Iterator[int]:
    """Numbers for a `for` loop that is unrolled when compiled; all of them are constants."""

def static_assert(cond: bool, msg: str = '') -> None:
    """Stop compiling with an error that says `msg` unless `cond`, a compile-time value, holds."""
