"""What can be learnt of an array on the host, and its memory as a NumPy array without a copy.

NumPy, torch, `__array_interface__` and DLPack are known. No array library but NumPy is imported: an
array is recognized by its attributes.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from teeny_cpu.codes import E1117
from teeny_cpu.dtypes import DType, find_dtype, host_dtype
from teeny_macros.protocol import ArrayInfo

_DLPACK_CPU = 1
_DLPACK_PINNED = 3


class View(NamedTuple):
    """Memory on the host: a NumPy array over it (bf16 and fp8 perhaps as bits).

    Its DSL dtype.
    """

    array: Any
    dtype: str


def find_view(array: Any) -> View | None:
    """The memory of `array`; None when it is no array or lies elsewhere.

    Raises:
        LaunchError: E1111 for a released buffer, E1117 when it hands out no memory.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(array, numpy.ndarray):
        return View(array, _name(array))
    if numpy is not None and isinstance(array, numpy.generic):
        return None  # a scalar, though it has an array's interfaces
    inner = getattr(array, "array", None)
    if inner is not None and isinstance(getattr(array, "dtype", None), str):
        # A buffer, or a typed array of the kernel language: its memory, read as another dtype.
        found = find_view(inner)
        return found and View(found.array, array.dtype)
    if hasattr(array, "data_ptr") and hasattr(array, "is_cuda"):
        return _torch(array)
    if hasattr(array, "__array_interface__"):
        return _from_numpy(array, "asarray")
    if hasattr(array, "__dlpack_device__"):
        return _dlpack(array)
    return None


def describe(view: View) -> ArrayInfo:
    """What a launch asks of an array."""
    array = view.array
    flags = array.flags
    contiguous = bool(flags.c_contiguous)
    nbytes = array.nbytes
    if not contiguous:
        sides = zip(array.shape, array.strides, strict=True)
        nbytes = sum((n - 1) * max(s, 0) for n, s in sides) + array.itemsize
    # `ctypes.data` makes an object for every call; the interface does not.
    pointer = array.__array_interface__["data"][0]
    return ArrayInfo(
        pointer, view.dtype, nbytes, "cpu", readonly=not flags.writeable, contiguous=contiguous
    )


def _torch(tensor: Any) -> View | None:
    if tensor.device.type != "cpu":
        return None
    dtype = find_dtype(tensor.dtype)
    tensor = tensor.detach()
    if dtype is not None and dtype.is_narrow_float:  # NumPy has no such dtype: take the bits
        torch = sys.modules["torch"]
        tensor = tensor.view(torch.int16 if dtype.itemsize == 2 else torch.uint8)
    try:
        return View(tensor.numpy(), dtype.name if dtype else "")
    except (RuntimeError, TypeError) as error:  # sparse, or a view that negates what it reads
        raise _malformed(tensor, error) from error


def _dlpack(array: Any) -> View | None:
    try:
        kind = int(array.__dlpack_device__()[0])
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _malformed(array, error) from error
    return _from_numpy(array, "from_dlpack") if kind in {_DLPACK_CPU, _DLPACK_PINNED} else None


def _from_numpy(array: Any, how: str) -> View:
    import numpy as np

    try:
        return View(host := getattr(np, how)(array), _name(host))
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _malformed(array, error) from error


# NumPy's dtypes know their names only by a search, and every launch asks.
_names: dict[Any, str] = {}


def _name(host: Any) -> str:
    known = _names.get(host.dtype)
    if known is None:
        dtype = find_dtype(host.dtype) if host.dtype.isnative else None
        known = dtype.name if dtype else ""
        if len(_names) < 256:
            _names[host.dtype] = known
    return known


def _malformed(array: Any, error: Exception) -> Exception:
    return E1117.error(type=type(array).__name__, reason=str(error) or type(error).__name__).help(
        "pass a NumPy array of its contents"
    )


def as_elements(numbers: Any, dtype: DType) -> Any:
    """Python numbers or lists as a NumPy array of `dtype`; None when it cannot hold them."""
    import numpy as np

    plain = np.asarray(numbers)
    wanted = host_dtype(dtype)
    if dtype.is_narrow_float and wanted.kind == "u":
        return None  # without ml_dtypes nothing here rounds to it
    if plain.dtype.kind not in "biuf" or (plain.dtype.kind == "f" and not dtype.is_float):
        return None
    try:
        return np.asarray(numbers, wanted)
    except OverflowError:
        return None
