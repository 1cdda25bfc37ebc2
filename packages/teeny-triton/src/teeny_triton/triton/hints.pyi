"""What a kernel tells the compiler; values stay as they are.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Any, overload

from teeny_triton.triton.dtypes import E, I, i1
from teeny_triton.triton.types import Ptr, PtrTensor, Tensor, R

@overload
def multiple_of(input: Tensor[E, R], values: int | list[int] | tuple[int, ...]) -> Tensor[E, R]:
    """Say that the first element of each contiguous group is a multiple of `values`.

    `values` has a number for each side; a lie gives wrong results. The result is `input`.
    """
@overload
def multiple_of(input: PtrTensor[E, R], values: int | list[int] | tuple[int, ...]) -> PtrTensor[E, R]: ...
@overload
def multiple_of(input: Ptr[E], values: int | list[int] | tuple[int, ...]) -> Ptr[E]: ...
@overload
def multiple_of(input: E, values: int | list[int] | tuple[int, ...]) -> E: ...

@overload
def max_contiguous(input: Tensor[E, R], values: int | list[int] | tuple[int, ...]) -> Tensor[E, R]:
    """Say that elements come in contiguous groups of `values`: 4, 5, 6, 7 is one of four.

    `values` has a number for each side; a lie gives wrong results. The result is `input`.
    """
@overload
def max_contiguous(input: PtrTensor[E, R], values: int | list[int] | tuple[int, ...]) -> PtrTensor[E, R]: ...

@overload
def max_constancy(input: Tensor[E, R], values: int | list[int] | tuple[int, ...]) -> Tensor[E, R]:
    """Say that elements come in groups of `values` equal ones.

    `values` has a number for each side; a lie gives wrong results. The result is `input`.
    """
@overload
def max_constancy(input: PtrTensor[E, R], values: int | list[int] | tuple[int, ...]) -> PtrTensor[E, R]: ...

def assume(cond: i1 | bool) -> None:
    """Let the compiler take it that `cond`, a scalar, holds."""

def gdc_wait() -> None:
    """Wait for the kernel before this one in the stream: its memory is written (sm_90 on).

    Also `tl.extra.cuda.gdc_wait`. It matters where `launch_pdl=True` lets this one start early, and
    does nothing elsewhere.
    """

def gdc_launch_dependents() -> None:
    """Let the kernel behind this one start, if it is launched with `launch_pdl=True` (sm_90 on).

    Also `tl.extra.cuda.gdc_launch_dependents`. What the next one reads is there only once it has
    called `gdc_wait`.
    """

def debug_barrier() -> None:
    """Let all threads of the program wait for each other here."""

@overload
def inline_asm_elementwise(asm: str, constraints: str, args: list[Any] | tuple[Any, ...], dtype: type[E], is_pure: bool, pack: int) -> Any:
    """PTX for each `pack` elements of the operands `args`, which are broadcast to one shape.

    `constraints` is LLVM's ("=r,r,r": one result, two operands); narrow elements share registers.
    A tuple of dtypes gives a tuple of tensors. `is_pure` says that there are no other effects.
    Elsewhere than on a GPU it is an error.
    """
@overload
def inline_asm_elementwise(asm: str, constraints: str, args: list[Any] | tuple[Any, ...], dtype: tuple[type[E], ...], is_pure: bool, pack: int) -> tuple[Any, ...]: ...

@overload
def swizzle2d(i: I, j: I, size_i: I | int, size_j: I | int, size_g: I | int) -> tuple[I, I]:
    """The place of (i, j) when rows of size_i x size_j are walked column by column in groups.

    A group has `size_g` rows: programs that run at the same time then share columns and rows.
    """
@overload
def swizzle2d(i: Tensor[I, R], j: Tensor[I, R], size_i: I | int, size_j: I | int, size_g: I | int) -> tuple[Tensor[I, R], Tensor[I, R]]: ...
