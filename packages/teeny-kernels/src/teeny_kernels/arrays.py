"""Arrays of any library, seen alike: shape, strides, dtype, device; and new ones of the same kind.

NumPy, torch, CuPy and JAX arrays and this project's buffers are known by their attributes; none of
the libraries is imported before an array of it has come.
"""

from __future__ import annotations

import sys
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_kernels.codes import E1203, E1206, E1209, E1210
from teeny_kernels.options import not_an_array
from teeny_macros import devices

if TYPE_CHECKING:
    from collections.abc import Sequence

# Names of NumPy, torch, CuPy and JAX for the dtypes of the language.
FOREIGN = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "float64": "f64", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
}  # fmt: skip
_LIBRARY_NAMES = {own: foreign for foreign, own in FOREIGN.items()}
ITEMSIZES = {
    own: max(1, int("".join(c for c in own.partition("e")[0] if c.isdigit())) // 8)
    for own in FOREIGN.values()
}
_MOST_ELEMENTS = 2**47  # what processors address is no more


class Operand(NamedTuple):
    """One array of a call.

    `array` is what a launch takes; `strides` count elements; `dtype` is a name of the language
    (`f32`); `device` is `cpu` or `cuda:0`; `library` is `numpy`, `torch`, `cupy`, `jax` or
    `buffer`.
    """

    array: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: str
    library: str

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after the other, the last axis fastest."""
        return is_contiguous(self.shape, self.strides)


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements of `shape` with `strides` (in elements) lie one after the other."""
    step = 1
    for side, stride in zip(reversed(shape), reversed(strides), strict=True):
        if side != 1 and stride != step:
            return 0 in shape
        step *= side
    return True


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a contiguous array."""
    strides: list[int] = []
    step = 1
    for side in reversed(shape):
        strides.append(step)
        step *= side
    return tuple(reversed(strides))


def operand(name: str, value: Any) -> Operand:
    """What is known of an array argument called `name`.

    Raises:
        KernelError: E1201 for anything but an array, E1203 for a dtype that kernels do not have,
            E1209 for elements that do not lie in memory as the dtype and strides say.
    """
    kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind in _TENSOR_KINDS:
        return _tensor(name, value)
    library = kind.__module__.partition(".")[0]
    if library == "torch" and hasattr(value, "data_ptr"):
        _TENSOR_KINDS.add(kind)
        return _tensor(name, value)
    if library == "numpy" and hasattr(value, "__array_interface__") and hasattr(value, "strides"):
        if hasattr(value, "mask"):
            raise E1209.error(name=name, found="an array with a mask").help(
                "fill it first: `.filled(value)`"
            )
        value = sys.modules["numpy"].asarray(value)  # a NumPy scalar is an array of no axes
        item = value.itemsize
        dtype = _dtype(name, value.dtype.name)
        steps = tuple(step // item for step in value.strides)
        if any(step % item for step in value.strides):
            raise E1209.error(
                name=name, found=f"an array with strides of {value.strides} bytes for {dtype}"
            ).help("copy it first: `numpy.ascontiguousarray`")
        return Operand(value, value.shape, steps, dtype, "cpu", "numpy")
    if library == "cupy":
        dtype = _dtype(name, value.dtype.name)
        steps = tuple(step // value.itemsize for step in value.strides)
        return Operand(value, value.shape, steps, dtype, f"cuda:{value.device.id}", "cupy")
    if library in {"jax", "jaxlib"} and hasattr(value, "__dlpack_device__"):
        dtype = _dtype(name, str(value.dtype))
        shape = tuple(value.shape)
        return Operand(value, shape, row_major(shape), dtype, _where(value), "jax")
    if isinstance(getattr(value, "dtype", None), str) and hasattr(value, "copy_from"):
        shape = tuple(value.shape)
        steps = tuple(getattr(value, "strides", None) or row_major(shape))
        return Operand(value, shape, steps, value.dtype, _where(value), "buffer")
    raise not_an_array(name, value)


def dtype_of(name: str, value: Any) -> str:
    """The dtype of an array argument called `name`. Raises as `operand`."""
    if type(value) in _TENSOR_KINDS:
        known = _TENSOR_DTYPES.get(value.dtype)
        if known is not None:
            return known
    return operand(name, value).dtype


def _tensor(name: str, tensor: Any) -> Operand:
    """A tensor of torch; what is asked of every one is asked by few calls."""
    foreign, where = tensor.dtype, tensor.device
    dtype = _TENSOR_DTYPES.get(foreign)
    if dtype is None:
        dtype = _TENSOR_DTYPES[foreign] = _dtype(name, str(foreign).rpartition(".")[2])
    torch = sys.modules["torch"]
    if tensor.layout is not torch.strided or tensor.is_neg() or tensor.is_meta:
        raise _unlike_memory(name, tensor)
    device = _TENSOR_DEVICES.get(where)
    if device is None:
        device = "cpu" if where.type == "cpu" else f"{where.type}:{where.index or 0}"
        _TENSOR_DEVICES[where] = device
    # Nothing that follows is part of torch's graph, or sees a subclass.
    is_plain = type(tensor) is torch.Tensor and not tensor.requires_grad
    array = tensor if is_plain else tensor.detach()
    return Operand(array, tuple(tensor.shape), tuple(tensor.stride()), dtype, device, "torch")


# Torch's tensors, dtypes and devices, as they come.
_TENSOR_KINDS: set[type] = set()
_TENSOR_DTYPES: dict[Any, str] = {}
_TENSOR_DEVICES: dict[Any, str] = {}


def _unlike_memory(name: str, tensor: Any) -> Exception:
    """The error for a torch tensor whose elements kernels cannot read."""
    if tensor.is_meta:
        found, do = "a tensor on `meta`, without elements", "make it on the CPU or a GPU"
    elif tensor.layout is sys.modules["torch"].strided:
        found, do = "a view that negates what it reads", "copy it first: `.resolve_neg()`"
    else:
        layout = str(tensor.layout).rpartition(".")[2]
        found, do = f"a tensor of layout `{layout}`", "make it dense first: `.to_dense()`"
    return E1209.error(name=name, found=found).help(do)


def _dtype(name: str, foreign: str) -> str:
    found = FOREIGN.get(foreign)
    if found is None:
        raise E1203.error(name=name, found=foreign, reason="no kernel has it").help(
            f"convert it to one of {', '.join(sorted(FOREIGN))}"
        )
    return found


def _where(array: Any) -> str:
    found = devices.describe(array)
    # `cpu:...` is a planned device, for which operations choose as for the host.
    return "cpu" if found is None or found.device.startswith("cpu") else found.device


def empty(like: Operand, shape: Sequence[int], dtype: str | None = None) -> Operand:
    """A new contiguous array, not initialized, of the library and on the device of `like`.

    For JAX, whose arrays do not change, it is a buffer that `finish` hands over.

    Raises:
        KernelError: E1210 for more elements than any memory has.
    """
    shape = tuple(shape)
    if prod(shape) >= _MOST_ELEMENTS:
        raise E1210.error(shape=shape).help("look at the options that its sides come from")
    dtype = dtype or like.dtype
    made: Any
    if like.library == "numpy":
        import numpy as np

        made = np.empty(shape, numpy_dtype(dtype))
    elif like.library == "torch":
        if dtype == like.dtype:
            made = like.array.new_empty(shape)
        else:
            foreign = getattr(sys.modules["torch"], _LIBRARY_NAMES[dtype])
            made = like.array.new_empty(shape, dtype=foreign)
    elif like.library == "cupy":
        cupy = sys.modules["cupy"]
        with like.array.device:
            made = cupy.empty(shape, numpy_dtype(dtype))
    else:
        info = devices.describe(like.array) if like.device == "cpu" else None
        made = devices.device(info.device if info else like.device).buffer(shape, dtype)
    return Operand(made, shape, row_major(shape), dtype, like.device, like.library)


def is_aligned(array: Any) -> bool:
    """Whether an array, as a launch takes it, begins at a multiple of 16 bytes."""
    address = getattr(array, "data_ptr", None)
    if address is not None:  # torch
        return int(address()) % 16 == 0
    found = devices.describe(array)
    return found is not None and found.pointer % 16 == 0


@cache
def arch_of(device: str) -> str:
    """The architecture of a GPU by the name of its device; empty for a CPU."""
    return "" if device == "cpu" else str(devices.device(device).target.arch)


@cache
def processors_of(device: str) -> int:
    """The multiprocessors of a GPU; 1 for a CPU."""
    if device == "cpu":
        return 1
    found: Any = devices.device(device)
    return int(found.properties["multiprocessor_count"])


def numpy_dtype(dtype: str) -> Any:
    """NumPy's dtype for one of the language; bf16 and fp8 are those of ml_dtypes."""
    import numpy as np

    foreign = _LIBRARY_NAMES[dtype]
    if foreign.startswith(("bfloat", "float8")):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, foreign))
    return np.dtype(foreign)


def finish(result: Operand) -> Any:
    """What the caller gets of a result: the array itself, for JAX one of its own."""
    if result.library != "jax":
        return result.array
    jax = sys.modules["jax"]
    return jax.dlpack.from_dlpack(result.array)


def same_place(operation: str, operands: Sequence[tuple[str, Operand]]) -> None:
    """Raise E1206 unless all arrays are of one library and on one device."""
    first_name, first = operands[0]
    for name, other in operands[1:]:
        if (other.library, other.device) != (first.library, first.device):
            raise E1206.error(
                operation=operation,
                first=first_name,
                first_place=f"{first.library} array on `{first.device}`",
                second=name,
                second_place=f"{other.library} array on `{other.device}`",
            ).help("bring them together first")
