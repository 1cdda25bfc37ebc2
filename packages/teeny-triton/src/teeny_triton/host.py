"""Host-side names of the kernel language: typed arrays, compile-time values, tuned defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from teeny_triton.codes import E0011, E0012, E0013
from teeny_triton.triton import dtypes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_triton.scalar import Scalar

_T = TypeVar("_T")
_E = TypeVar("_E")

Const = Annotated[_T, "const"]

# dtype names of NumPy, ml_dtypes and torch -> ours
_FOREIGN: dict[str, str] = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
}


class constexpr:
    """Annotation of a compile-time parameter, and wrapper of a compile-time value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value.value if isinstance(value, constexpr) else value

    def __eq__(self, other: object) -> bool:
        return bool(self.value == (other.value if isinstance(other, constexpr) else other))

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"constexpr({self.value!r})"


class DeviceArray(Generic[_E]):
    """An array with its dtype: `array` as it was given, `dtype` the name of its element type."""

    __slots__ = ("array", "dtype")

    def __init__(self, array: Any, dtype: str) -> None:
        self.array = array
        self.dtype = dtype

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __add__(self, offset: int) -> DeviceArray[_E]:
        raise E0011.error(name="pointer + offset").help("slice the array, or add inside the kernel")

    def __repr__(self) -> str:
        return f"DeviceArray({self.dtype}, {self.array!r})"


def typed(array: Any, dtype: type[Scalar] | None = None) -> DeviceArray[Any]:
    """The array with its dtype attached, so that checkers see it at a launch; nothing is copied.

    Without `dtype` it is the array's own; with it, elements of the same size are read as that dtype
    (`typed(bits_uint16, bf16)`).

    Raises:
        LaunchError: E0012 when the array has no dtype that kernels know, or one of another size.
    """
    found = str(getattr(array, "dtype", type(array).__name__)).rpartition(".")[2]
    own: type[Scalar] | None = getattr(dtypes, _FOREIGN.get(found, found), None)
    if dtype is None:
        if own is None:
            raise E0012.error(found=found, wanted="any dtype").help(
                "pass the dtype: `typed(array, f32)`"
            )
        return DeviceArray(array, own.name)
    size = getattr(array, "itemsize", None)
    known = own.itemsize if own is not None else size if isinstance(size, int) else dtype.itemsize
    if known != dtype.itemsize:
        raise E0012.error(found=found, wanted=dtype.name).help(
            f"convert the array first, or pass the dtype of {known} bytes that it holds"
        )
    return DeviceArray(array, dtype.name)


# As many elements as a tensor may have.
TRITON_MAX_TENSOR_NUMEL = 1 << 20


class DescriptorType:
    """The type of a descriptor parameter, for `instantiate`: a dtype's name and the tile."""

    __slots__ = ("block_shape", "dtype")

    def __init__(self, dtype: str, block_shape: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.block_shape = block_shape

    def __repr__(self) -> str:
        return f"DescriptorType({self.dtype}, {self.block_shape})"


def descriptor_type(dtype: type[Scalar], block_shape: Sequence[int]) -> Any:
    """The type of a descriptor of `dtype` with tiles of `block_shape`, for `instantiate`."""
    return DescriptorType(dtype.name, tuple(block_shape))


class HostDescriptor:
    """A tensor descriptor as an argument of a launch: see `tensor_descriptor`."""

    __slots__ = ("base", "block_shape", "padding", "shape", "strides")

    def __init__(
        self,
        base: Any,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        block_shape: tuple[int, ...],
        padding: str,
    ) -> None:
        self.base = base
        self.shape = shape
        self.strides = strides
        self.block_shape = block_shape
        self.padding = padding

    def __repr__(self) -> str:
        return f"HostDescriptor({list(self.shape)} in tiles of {list(self.block_shape)})"


def tensor_descriptor(
    array: Any,
    block_shape: Sequence[int],
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    padding: str = "zero",
) -> Any:
    """Describe an array to a kernel whose parameter is a `TensorDescriptor`.

    `block_shape` is the tile that one load or store moves. `shape` and `strides` are in elements,
    those of the array where they are left out; the array and all strides but the last, which is 1,
    are multiples of 16 bytes. What a tile has outside is read as zero, or as NaN with
    `padding="nan"`, and not written.

    Raises:
        LaunchError: E0013 for what has no shape, and for sides that are no tuple.
    """
    inner: Any = array
    if isinstance(array, DeviceArray):
        inner = array.array
    try:
        sides = tuple(inner.shape if shape is None else shape)
        steps = _strides(inner, sides) if strides is None else tuple(strides)
        block = tuple(block_shape)
    except (AttributeError, TypeError):
        raise _undescribable(inner, block_shape) from None
    return HostDescriptor(array, sides, steps, block, padding)


def _undescribable(array: Any, block_shape: object) -> Exception:
    if not hasattr(array, "shape"):
        return E0013.error(what=f"a `{type(array).__name__}`, which has no shape").help(
            "pass an array: NumPy's, a tensor, or a buffer of a device"
        )
    return E0013.error(what=f"an array in tiles of {block_shape!r}").help(
        "shape, strides and tile are tuples of integers: `block_shape=(64, 64)`"
    )


def _strides(array: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array in elements; of one that does not tell, as if it had no gaps."""
    if callable(getattr(array, "stride", None)):  # torch
        return tuple(array.stride())
    interface: Any = getattr(array, "__array_interface__", None)
    interface = interface or getattr(array, "__cuda_array_interface__", None) or {}
    if interface.get("strides") is not None:
        size = int(interface["typestr"].lstrip("<>|=")[1:])
        return tuple(step // size for step in interface["strides"])
    found: list[int] = []
    step = 1
    for side in reversed(shape):
        found.append(step)
        step *= max(side, 1)
    return tuple(reversed(found))


class Extent:
    """How many elements of an array a kernel may touch, as text over its parameters.

    `x_ptr: Annotated[Ptr[f32], Extent("n_rows * n_cols")]`; `teeny check --bounds` proves that the
    kernel keeps to it.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Extent({self.text!r})"


class Auto:
    """Default of a compile-time parameter whose value a tuner chooses."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "auto()"


_AUTO = Auto()


def auto() -> Any:
    """Default of a compile-time parameter whose value a tuner chooses."""
    return _AUTO
