"""What can be learnt of an array on a GPU by what it offers.

Our Buffer, torch, the CUDA array interface and DLPack are known. No array library is imported here:
an array is recognized by its attributes, and nothing is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_cuda.buffer import Buffer
from teeny_cuda.codes import E1065, E1076, E1081
from teeny_cuda.context import current_ordinal, require_context
from teeny_cuda.dlpack import read_dlpack
from teeny_cuda.dtypes import dtype_of_typestr, find_dtype, require_dtype
from teeny_cuda.found import Found
from teeny_cuda.layout import Layout, row_major
from teeny_cuda.memory import Allocation
from teeny_cuda.stream import DEFAULT, current_torch_stream, interface_stream, order
from teeny_macros.protocol import ArrayInfo

if TYPE_CHECKING:
    from teeny_cuda.device import Device

_INVALID_VALUE = 1


def find_array(array: Any) -> Found | None:
    """What is known of `array`; None when it does not lie on a GPU or is no array.

    Raises:
        LaunchError: E1069 for a released buffer, E1076 for an interface that contradicts its
            protocol.
    """
    if isinstance(array, Buffer):
        return array.describe()
    if getattr(array, "is_cuda", None) is True and hasattr(array, "data_ptr"):
        return _torch(array)
    inner = getattr(array, "array", None)
    if inner is not None and isinstance(getattr(array, "dtype", None), str):
        # A typed array of the kernel language: the same memory, read as another dtype.
        found = find_array(inner)
        return found and found._replace(info=found.info._replace(dtype=array.dtype))
    interface = _interface_of(array)
    has_dlpack = hasattr(array, "__dlpack_device__")
    # Before version 3 the interface names no stream; through DLPack a producer orders its work.
    if interface is not None and not (has_dlpack and interface.get("version", 0) < 3):
        return _cuda_interface(array, interface)
    return _dlpack(array) if has_dlpack else None


def wrap(device: Device, array: Any) -> Buffer:
    """A buffer over the memory of an array of another library; see `Device.wrap`."""
    found = find_array(array)
    if found is None or not found.info.dtype:
        shown = f"a {type(array).__name__}" if found is None else "a dtype unknown to kernels"
        raise E1065.error(name="array", wanted=f"an array on {device.name}", found=shown).help(
            "copy host arrays into a buffer of the device: `device.buffer(shape, dtype)`"
        )
    if found.info.device != device.name and found.info.nbytes:
        raise E1081.error(what="the array", found=found.info.device, wanted=device.name).help(
            "copy it with `copy_of`"
        )
    if found.stream is not None:
        order(device.context, found.stream, DEFAULT)
    memory = Allocation(found.info.pointer, array)
    return Buffer.over(device, memory, layout_of(array), require_dtype(found.info.dtype))


def layout_of(array: Any) -> Layout:
    """Where the elements of an array on a GPU lie, from its first element on."""
    if isinstance(array, Buffer):
        return array.layout._replace(offset=0)
    inner = getattr(array, "array", None)
    if inner is not None and isinstance(getattr(array, "dtype", None), str):
        return layout_of(inner)
    if getattr(array, "is_cuda", None) is True and hasattr(array, "stride"):
        return Layout(tuple(array.shape), tuple(array.stride()))
    interface = _interface_of(array)
    if interface is not None:
        shape = tuple(int(size) for size in interface["shape"])
        itemsize = int(str(interface["typestr"])[2:])
        strides = interface.get("strides")
        return Layout(
            shape,
            row_major(shape) if strides is None else tuple(int(s) // itemsize for s in strides),
        )
    tensor = read_dlpack(array)
    assert tensor is not None
    return Layout(tensor.shape, tensor.strides or row_major(tensor.shape))


def _torch(tensor: Any) -> Found:
    ordinal = int(tensor.device.index or 0)
    dtype = find_dtype(tensor.dtype)
    itemsize = int(tensor.element_size())
    contiguous = bool(tensor.is_contiguous())
    nbytes = (
        int(tensor.numel()) * itemsize
        if contiguous
        else _extent(tuple(tensor.shape), tuple(tensor.stride()), itemsize)
    )
    info = ArrayInfo(
        int(tensor.data_ptr()),
        dtype.name if dtype else "",
        nbytes,
        f"cuda:{ordinal}",
        contiguous=contiguous,
    )
    return Found(info, current_torch_stream(ordinal))


def _interface_of(array: Any) -> Any:
    try:
        return getattr(array, "__cuda_array_interface__", None)
    except (RuntimeError, TypeError, ValueError):
        return None  # JAX raises for arrays that it can only hand out through DLPack


def _cuda_interface(array: Any, interface: Any) -> Found:
    name = type(array).__name__
    try:
        pointer, readonly = interface["data"]
        shape = tuple(int(size) for size in interface["shape"])
        typestr = str(interface["typestr"])
        strides = interface.get("strides")
        itemsize = int(typestr[2:])
    except (KeyError, TypeError, ValueError) as error:
        raise E1076.error(type=name, reason=f"`__cuda_array_interface__` lacks {error}").help(
            "hand over the array of torch or CuPy that it stands for"
        ) from error
    if interface.get("mask") is not None:
        raise E1076.error(type=name, reason="kernels cannot read a masked array").help(
            "pass the mask as an array of its own"
        )
    steps = row_major(shape) if strides is None else tuple(int(s) // itemsize for s in strides)
    pointer = int(pointer or 0)
    info = ArrayInfo(
        pointer,
        dtype_of_typestr(typestr),
        _extent(shape, steps, itemsize),
        f"cuda:{_ordinal(array, pointer)}",
        bool(readonly),
        contiguous=Layout(shape, steps).is_contiguous,
    )
    return Found(info, interface_stream(interface.get("stream")), must_wait=True)


def _dlpack(array: Any) -> Found | None:
    tensor = read_dlpack(array)
    if tensor is None:
        return None
    steps = row_major(tensor.shape) if tensor.strides is None else tensor.strides
    info = ArrayInfo(
        tensor.pointer,
        tensor.dtype,
        _extent(tensor.shape, steps, tensor.itemsize),
        f"cuda:{tensor.ordinal}",
        contiguous=Layout(tensor.shape, steps).is_contiguous,
    )
    # The producer was asked to make the default stream wait for its work.
    return Found(info, 0, must_wait=True)


def _ordinal(array: Any, pointer: int) -> int:
    device = getattr(array, "device", None)
    ordinal = getattr(device, "id", None)
    if isinstance(ordinal, int):  # CuPy
        return ordinal
    if not pointer:
        return current_ordinal()  # an empty array lies everywhere
    context = require_context(current_ordinal())
    name = "cuPointerGetAttribute"
    attribute = context.driver.api.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    with context.bound():
        number, value = context.driver.attempt(name, attribute, pointer)
    if number == _INVALID_VALUE:
        raise E1076.error(
            type=type(array).__name__, reason=f"no memory of a GPU is at {pointer:#x}"
        ).help("keep the array until its last use")
    if number:
        raise context.driver.failure(name, number)
    return int(value)


def _extent(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """Bytes from the first element to the end of the last.

    Elements before the first do not count.
    """
    return Layout(shape, tuple(max(step, 0) for step in strides)).extent * itemsize
