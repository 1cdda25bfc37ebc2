"""Arrays on the host as the driver copies them: row-major, with the bits of a kernel's dtype."""

from __future__ import annotations

import sys
from typing import Any

from teeny_cuda.codes import E1070
from teeny_cuda.dtypes import DType, find_dtype, host_dtype


def host_array(array: Any, dtype: DType) -> Any:
    """`array` as a row-major NumPy array of the same shape whose elements have the bits of `dtype`.

    An array has that dtype already; bf16 and fp8 may also come as unsigned integers with their
    bits, or typed by the kernel language. Python numbers and lists are converted.

    Raises:
        LaunchError: E1070 when the dtype differs, or cannot hold a number.
    """
    import numpy as np

    if not hasattr(array, "dtype"):
        return _converted(array, dtype)
    as_bits = dtype.is_narrow_float
    inner = getattr(array, "array", None)
    if inner is not None and isinstance(array.dtype, str):
        if array.dtype != dtype.name:
            raise _mismatch(f"an array of {array.dtype}", dtype)
        array, as_bits = inner, True
    found = find_dtype(array.dtype)
    if hasattr(array, "detach"):
        array = _from_torch(array, found)
    host = np.asarray(array)
    matches = found is not None and found.name == dtype.name
    if not matches and not (
        as_bits and host.itemsize == dtype.itemsize and host.dtype.kind in "iu"
    ):
        raise _mismatch(f"an array of {host.dtype}", dtype)
    return np.ascontiguousarray(host).reshape(host.shape)


def _converted(numbers: Any, dtype: DType) -> Any:
    import numpy as np

    plain = np.asarray(numbers)
    wanted = host_dtype(dtype)
    if dtype.is_narrow_float and wanted.kind == "u":
        raise _mismatch(f"`{numbers!r}`", dtype).help("pip install ml_dtypes")
    if plain.dtype.kind not in "biuf" or (plain.dtype.kind == "f" and not dtype.is_float):
        raise _mismatch(f"`{numbers!r}`", dtype)
    try:
        return np.ascontiguousarray(np.asarray(numbers, wanted)).reshape(plain.shape)
    except OverflowError as error:
        raise _mismatch(f"`{numbers!r}`", dtype) from error


def _from_torch(tensor: Any, found: DType | None) -> Any:
    tensor = tensor.detach().contiguous()
    if found is not None and found.is_narrow_float:  # NumPy has no such dtype: take the bits
        torch = sys.modules["torch"]
        tensor = tensor.view(torch.int16 if found.itemsize == 2 else torch.uint8)
    return tensor.numpy()


def _mismatch(found: str, dtype: DType) -> Any:
    return E1070.error(found=found, wanted=f"a buffer of {dtype.name}").help(
        f"convert it to {dtype.foreign} first"
    )
