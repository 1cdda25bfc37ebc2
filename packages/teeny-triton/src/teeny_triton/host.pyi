"""Types of host.py, written by hand: what a checker should see at a launch is not what runs there."""
# mypy: disable-error-code="overload-overlap"
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from teeny_triton.triton.dtypes import (
    E,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from teeny_triton.triton.types import Inv, Ptr, TensorDescriptor

_T = TypeVar("_T")
Const = Annotated[_T, "const"]  # Const[int] *is* int for a checker
constexpr: TypeAlias = Any  # Triton's spelling: unchecked

TRITON_MAX_TENSOR_NUMEL: int  # as many elements as a tensor may have

class Extent:
    """How many elements of an array a kernel may touch, as text over its parameters.

    `x_ptr: Annotated[Ptr[f32], Extent("n_rows * n_cols")]`; `teeny check --bounds` proves that the
    kernel keeps to it.
    """

    text: str
    def __init__(self, text: str) -> None: ...

class DeviceArray(Ptr[E]):
    """An array with its dtype: `array` as it was given, `dtype` the name of its element type."""

    array: Any
    dtype: str
    def __init__(self, array: Any, dtype: str) -> None: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __setattr__(self, name: str, value: Inv[E], /) -> None: ...
    def __dlpack_device__(self) -> Any: ...
    def __add__(self, o: int, /) -> DeviceArray[E]: ...

@overload
def typed(array: npt.NDArray[np.float32], dtype: None = None) -> DeviceArray[f32]:
    """The array with its dtype attached, so that checkers see it at a launch; nothing is copied.

    Without `dtype` it is the array's own; with it, elements of the same size are read as that dtype
    (`typed(bits_uint16, bf16)`).

    Raises:
        LaunchError: E0012 when the array has no dtype that kernels know, or one of another size.
    """

@overload
def typed(array: npt.NDArray[np.float64], dtype: None = None) -> DeviceArray[f64]: ...
@overload
def typed(array: npt.NDArray[np.float16], dtype: None = None) -> DeviceArray[f16]: ...
@overload
def typed(array: npt.NDArray[np.int32], dtype: None = None) -> DeviceArray[i32]: ...
@overload
def typed(array: npt.NDArray[np.int64], dtype: None = None) -> DeviceArray[i64]: ...
@overload
def typed(array: npt.NDArray[np.bool_], dtype: None = None) -> DeviceArray[i1]: ...
@overload
def typed(array: npt.NDArray[np.int8], dtype: None = None) -> DeviceArray[i8]: ...
@overload
def typed(array: npt.NDArray[np.int16], dtype: None = None) -> DeviceArray[i16]: ...
@overload
def typed(array: npt.NDArray[np.uint8], dtype: None = None) -> DeviceArray[u8]: ...
@overload
def typed(array: npt.NDArray[np.uint16], dtype: None = None) -> DeviceArray[u16]: ...
@overload
def typed(array: npt.NDArray[np.uint32], dtype: None = None) -> DeviceArray[u32]: ...
@overload
def typed(array: npt.NDArray[np.uint64], dtype: None = None) -> DeviceArray[u64]: ...
@overload
def typed(array: object, dtype: type[E]) -> DeviceArray[E]: ...
def tensor_descriptor(
    array: object,
    block_shape: Sequence[int],
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    padding: Literal["zero", "nan"] = "zero",
) -> TensorDescriptor[Any, Any]:
    """Describe an array to a kernel whose parameter is a `TensorDescriptor`.

    `block_shape` is the tile that one load or store moves. `shape` and `strides` are in elements,
    those of the array where they are left out; the array and all strides but the last, which is 1,
    are multiples of 16 bytes. What a tile has outside is read as zero, or as NaN with
    `padding="nan"`, and not written.
    """

def descriptor_type(dtype: type[Any], block_shape: Sequence[int]) -> type[Any]:
    """The type of a descriptor of `dtype` with tiles of `block_shape`, for `instantiate`."""

def auto() -> Any:
    """Default of a compile-time parameter whose value a tuner chooses."""
