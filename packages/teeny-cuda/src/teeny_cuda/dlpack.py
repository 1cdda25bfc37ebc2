"""DLPack tensors on a GPU, by their structures: read from capsules, and handed out in them.

A capsule that was read stays its producer's.

The layout is that of dlpack.h 0.8, which every producer still gives to who asks for no version.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda.codes import E1076
from teeny_cuda.dtypes import dtype_of_dlpack
from teeny_cuda.stream import DEFAULT, order

if TYPE_CHECKING:
    from teeny_cuda.buffer import Buffer

CUDA = 2
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
        if kind not in {CUDA, _CUDA_MANAGED}:
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


# --- handing out ----------------------------------------------------------------------------------

_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (
        ("tensor", _Tensor),
        ("owner", ctypes.c_void_p),
        ("deleter", _Deleter),
    )


# What was handed out, by the address of its structure, until its consumer lets go of it.
_given: dict[int, Any] = {}


def _let_go(address: int) -> None:
    _given.pop(address, None)


def _drop_capsule(capsule: int) -> None:
    """Let go of a tensor whose capsule nobody took."""
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
    if is_valid(capsule, _NAME):
        pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", ctypes.pythonapi)
        )
        _let_go(pointer_of(capsule, _NAME))


_DELETER = _Deleter(_let_go)
_DROP = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop_capsule)


def make_capsule(
    buffer: Buffer, stream: int | None, device: tuple[int, int] | None, *, copy: bool | None
) -> Any:
    """A capsule with a tensor over a buffer's memory, which it keeps alive.

    `stream` is the consumer's, as the array API has it: -1 asks for no ordering, None and 1 are
    the legacy default stream.

    Raises:
        BufferError: for a copy or another device, as the protocol demands.
    """
    if copy or (device is not None and tuple(device) != (CUDA, buffer.device.ordinal)):
        raise BufferError(f"{buffer!r} is handed out where it is, without a copy")
    if stream is not None and stream > 1:
        order(buffer.device.context, DEFAULT, stream)
    rank = len(buffer.shape)
    shape = (ctypes.c_int64 * max(rank, 1))(*buffer.shape)
    strides = (ctypes.c_int64 * max(rank, 1))(*buffer.strides)
    dtype = buffer.element
    managed = _Managed(
        _Tensor(
            buffer.pointer,
            _Device(CUDA, buffer.device.ordinal),
            rank,
            _DataType(dtype.dlpack, 8 * dtype.itemsize, 1),
            shape,
            strides,
            0,
        ),
        None,
        _DELETER,
    )
    address = ctypes.addressof(managed)
    _given[address] = (managed, shape, strides, buffer)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(address, _NAME, ctypes.cast(_DROP, ctypes.c_void_p))
