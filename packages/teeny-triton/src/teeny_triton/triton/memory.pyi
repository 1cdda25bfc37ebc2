"""Loads and stores.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Literal, overload

from teeny_triton.triton.dtypes import E, F, i1
from teeny_triton.triton.types import Ptr, PtrTensor, BlockPtr, Tensor, R

@overload
def load(pointer: PtrTensor[E, R], mask: Tensor[i1, R] | i1 | None = None, other: None = None, boundary_check: tuple[int, ...] = (), padding_option: Literal['', 'zero', 'nan'] = '', cache_modifier: Literal['', '.ca', '.cg', '.cv'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '', volatile: bool = False) -> Tensor[E, R]:
    """The values at a pointer, at each element of a tensor of pointers, or of a block.

    Where `mask` (i1, broadcast to the pointers' shape) is false nothing is read, and the result is
    `other` (cast to the pointer's dtype), or undefined without it. `other` needs a mask.

    A block pointer has `boundary_check` instead: the axes along which the block may leave its
    array. What lies outside is 0 (`padding_option="zero"`), NaN ("nan"), or undefined without it.

    `cache_modifier` is ".ca", ".cg" or ".cv", `eviction_policy` "evict_first" or "evict_last", both
    hints for GPUs; a `volatile` load is made each time.
    """
@overload
def load(pointer: PtrTensor[F, R], mask: Tensor[i1, R] | i1, other: Tensor[F, R] | F | float, boundary_check: tuple[int, ...] = (), padding_option: Literal['', 'zero', 'nan'] = '', cache_modifier: Literal['', '.ca', '.cg', '.cv'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '', volatile: bool = False) -> Tensor[F, R]: ...
@overload
def load(pointer: PtrTensor[E, R], mask: Tensor[i1, R] | i1, other: Tensor[E, R] | E | int, boundary_check: tuple[int, ...] = (), padding_option: Literal['', 'zero', 'nan'] = '', cache_modifier: Literal['', '.ca', '.cg', '.cv'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '', volatile: bool = False) -> Tensor[E, R]: ...
@overload
def load(pointer: BlockPtr[E, R], mask: None = None, other: None = None, boundary_check: tuple[int, ...] = (), padding_option: Literal['', 'zero', 'nan'] = '', cache_modifier: Literal['', '.ca', '.cg', '.cv'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '', volatile: bool = False) -> Tensor[E, R]: ...
@overload
def load(pointer: Ptr[E], mask: i1 | bool | None = None, other: None = None, boundary_check: tuple[int, ...] = (), padding_option: Literal['', 'zero', 'nan'] = '', cache_modifier: Literal['', '.ca', '.cg', '.cv'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '', volatile: bool = False) -> E: ...
@overload
def load(pointer: Ptr[F], mask: i1 | bool, other: F | float, boundary_check: tuple[int, ...] = (), padding_option: Literal['', 'zero', 'nan'] = '', cache_modifier: Literal['', '.ca', '.cg', '.cv'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '', volatile: bool = False) -> F: ...
@overload
def load(pointer: Ptr[E], mask: i1 | bool, other: E | int, boundary_check: tuple[int, ...] = (), padding_option: Literal['', 'zero', 'nan'] = '', cache_modifier: Literal['', '.ca', '.cg', '.cv'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '', volatile: bool = False) -> E: ...

@overload
def store(pointer: PtrTensor[F, R], value: Tensor[F, R] | F | float, mask: Tensor[i1, R] | i1 | None = None, boundary_check: tuple[int, ...] = (), cache_modifier: Literal['', '.wb', '.cg', '.cs', '.wt'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '') -> None:
    """Write `value` (cast to the pointer's dtype, broadcast to the pointers' shape) to memory.

    Where `mask` (i1) is false nothing is written; of a block pointer's block, what lies outside of
    the array along the axes of `boundary_check`. `cache_modifier` is ".wb", ".cg", ".cs" or ".wt",
    `eviction_policy` "evict_first" or "evict_last", both hints for GPUs.

    Two programs, or two elements, that write one place leave either value there.
    """
@overload
def store(pointer: PtrTensor[E, R], value: Tensor[E, R] | E | int, mask: Tensor[i1, R] | i1 | None = None, boundary_check: tuple[int, ...] = (), cache_modifier: Literal['', '.wb', '.cg', '.cs', '.wt'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '') -> None: ...
@overload
def store(pointer: BlockPtr[E, R], value: Tensor[E, R] | E | int, mask: None = None, boundary_check: tuple[int, ...] = (), cache_modifier: Literal['', '.wb', '.cg', '.cs', '.wt'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '') -> None: ...
@overload
def store(pointer: BlockPtr[F, R], value: Tensor[F, R] | F | float, mask: None = None, boundary_check: tuple[int, ...] = (), cache_modifier: Literal['', '.wb', '.cg', '.cs', '.wt'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '') -> None: ...
@overload
def store(pointer: Ptr[F], value: F | float, mask: i1 | bool | None = None, boundary_check: tuple[int, ...] = (), cache_modifier: Literal['', '.wb', '.cg', '.cs', '.wt'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '') -> None: ...
@overload
def store(pointer: Ptr[E], value: E | int, mask: i1 | bool | None = None, boundary_check: tuple[int, ...] = (), cache_modifier: Literal['', '.wb', '.cg', '.cs', '.wt'] = '', eviction_policy: Literal['', 'evict_first', 'evict_last'] = '') -> None: ...
