"""Reads DLPack tensors that lie on a GPU, by their structures; the capsule stays its producer's.

The layout is that of dlpack.h 0.8, which every producer still gives to who asks for no version.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from teeny_cuda.codes import E1076
from teeny_cuda.dtypes import dtype_of_dlpack

_CUDA = 2
_CUDA_MANAGED = 13
_LEGACY_STREAM = 1
_NAME = b"dltensor"


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DLTensor(NamedTuple):
    """A tensor on GPU `ordinal`; `strides` in elements, None when it is row-major."""

    pointer: int
    dtype: str
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    ordinal: int


def read_dlpack(array: Any) -> DLTensor | None:
    """The tensor that `array` hands out; None when it does not lie on a GPU.

    The producer makes the legacy default stream wait for its pending work. Raises E1076 when it
    fails.
    """
    try:
        kind = int(array.__dlpack_device__()[0])
        if kind not in {_CUDA, _CUDA_MANAGED}:
            return None
        capsule = array.__dlpack__(stream=_LEGACY_STREAM)
        tensor = _Tensor.from_address(_pointer_of(capsule))
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise (
            E1076.error(type=type(array).__name__, reason="DLPack fails")
            .note(str(error))
            .help("detach or copy the array first")
        ) from error
    return DLTensor(
        (tensor.data or 0) + tensor.byte_offset,
        dtype_of_dlpack(tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes),
        (tensor.dtype.bits * tensor.dtype.lanes + 7) // 8,
        tuple(tensor.shape[: tensor.ndim]),
        tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None,
        int(tensor.device.id),
    )


def _pointer_of(capsule: Any) -> int:
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)
    return int(pointer_of(capsule, _NAME))
