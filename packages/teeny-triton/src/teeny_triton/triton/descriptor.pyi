"""Tiles of arrays: tensor descriptors and block pointers.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Any, Literal, overload

from teeny_triton.triton.dtypes import E, i32, i64
from teeny_triton.triton.types import R1, R2, R3, Ptr, BlockPtr, TensorDescriptor, Tensor, R

@overload
def make_tensor_descriptor(base: Ptr[E], shape: tuple[i32 | i64 | int], strides: tuple[i32 | i64 | int], block_shape: tuple[int], padding_option: Literal['zero', 'nan'] = 'zero') -> TensorDescriptor[E, R1]:
    """Describe an array, so that the hardware moves tiles of it (sm_90 on; pointers elsewhere).

    `base` is aligned to 16 bytes; `shape` and `strides` are in elements, the last stride is 1 and
    the others are multiples of 16 bytes. What a tile has outside of the array is read as zero
    (`padding_option="nan"`: NaN) and not written.
    """
@overload
def make_tensor_descriptor(base: Ptr[E], shape: tuple[i32 | i64 | int, i32 | i64 | int], strides: tuple[i32 | i64 | int, i32 | i64 | int], block_shape: tuple[int, int], padding_option: Literal['zero', 'nan'] = 'zero') -> TensorDescriptor[E, R2]: ...
@overload
def make_tensor_descriptor(base: Ptr[E], shape: tuple[i32 | i64 | int, i32 | i64 | int, i32 | i64 | int], strides: tuple[i32 | i64 | int, i32 | i64 | int, i32 | i64 | int], block_shape: tuple[int, int, int], padding_option: Literal['zero', 'nan'] = 'zero') -> TensorDescriptor[E, R3]: ...
@overload
def make_tensor_descriptor(base: Ptr[E], shape: list[Any], strides: list[Any], block_shape: list[int], padding_option: Literal['zero', 'nan'] = 'zero') -> TensorDescriptor[E, Any]: ...

@overload
def load_tensor_descriptor(desc: TensorDescriptor[E, R1], offsets: tuple[i32 | i64 | int]) -> Tensor[E, R1]:
    """The tile that begins at `offsets`, one i32 for each side; also `desc.load(offsets)`."""
@overload
def load_tensor_descriptor(desc: TensorDescriptor[E, R2], offsets: tuple[i32 | i64 | int, i32 | i64 | int]) -> Tensor[E, R2]: ...
@overload
def load_tensor_descriptor(desc: TensorDescriptor[E, R3], offsets: tuple[i32 | i64 | int, i32 | i64 | int, i32 | i64 | int]) -> Tensor[E, R3]: ...
@overload
def load_tensor_descriptor(desc: TensorDescriptor[E, R], offsets: list[Any]) -> Tensor[E, R]: ...

@overload
def store_tensor_descriptor(desc: TensorDescriptor[E, R1], offsets: tuple[i32 | i64 | int], value: Tensor[E, R1]) -> None:
    """Write `value` to the tile that begins at `offsets`; also `desc.store(offsets, value)`."""
@overload
def store_tensor_descriptor(desc: TensorDescriptor[E, R2], offsets: tuple[i32 | i64 | int, i32 | i64 | int], value: Tensor[E, R2]) -> None: ...
@overload
def store_tensor_descriptor(desc: TensorDescriptor[E, R3], offsets: tuple[i32 | i64 | int, i32 | i64 | int, i32 | i64 | int], value: Tensor[E, R3]) -> None: ...
@overload
def store_tensor_descriptor(desc: TensorDescriptor[E, R], offsets: list[Any], value: Tensor[E, R]) -> None: ...

@overload
def make_block_ptr(base: Ptr[E], shape: tuple[i32 | i64 | int], strides: tuple[i32 | i64 | int], offsets: tuple[i32 | i64 | int], block_shape: tuple[int], order: tuple[int]) -> BlockPtr[E, R1]:
    """A pointer to the tile of `block_shape` that begins at `offsets` in a strided array.

    `load` and `store` take it, with `boundary_check` (the axes along which a tile may leave the
    array) and `padding_option`. Everything is in elements. `order` names the axes, the one whose
    elements lie closest first.
    """
@overload
def make_block_ptr(base: Ptr[E], shape: tuple[i32 | i64 | int, i32 | i64 | int], strides: tuple[i32 | i64 | int, i32 | i64 | int], offsets: tuple[i32 | i64 | int, i32 | i64 | int], block_shape: tuple[int, int], order: tuple[int, int]) -> BlockPtr[E, R2]: ...
@overload
def make_block_ptr(base: Ptr[E], shape: tuple[i32 | i64 | int, i32 | i64 | int, i32 | i64 | int], strides: tuple[i32 | i64 | int, i32 | i64 | int, i32 | i64 | int], offsets: tuple[i32 | i64 | int, i32 | i64 | int, i32 | i64 | int], block_shape: tuple[int, int, int], order: tuple[int, int, int]) -> BlockPtr[E, R3]: ...

@overload
def advance(base: BlockPtr[E, R1], offsets: tuple[i32 | i64 | int]) -> BlockPtr[E, R1]:
    """The block pointer moved by `offsets`, one integer for each side."""
@overload
def advance(base: BlockPtr[E, R2], offsets: tuple[i32 | i64 | int, i32 | i64 | int]) -> BlockPtr[E, R2]: ...
@overload
def advance(base: BlockPtr[E, R3], offsets: tuple[i32 | i64 | int, i32 | i64 | int, i32 | i64 | int]) -> BlockPtr[E, R3]: ...
@overload
def advance(base: BlockPtr[E, R], offsets: list[Any]) -> BlockPtr[E, R]: ...
