"""What moves the contents of buffers: from the host and back, between GPUs, and fills.

A strided view is copied run by run; everything is put into one stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_cuda.codes import E1070
from teeny_cuda.dtypes import host_dtype
from teeny_cuda.host import host_array
from teeny_cuda.printing import InOrder
from teeny_cuda.stream import order, stream_handle

if TYPE_CHECKING:
    from teeny_cuda.buffer import Buffer


def copy_in(buffer: Buffer, array: Any, stream: Any, *, wait: bool) -> None:
    """Copy an array of the host or of a GPU into a buffer."""
    from teeny_cuda.interfaces import find_array, layout_of  # they know Buffer

    context = buffer.device.context
    handle = stream_handle(stream, buffer.device)
    found = find_array(array)
    if found is None:
        host = host_array(array, buffer.element)
        _require_shape(buffer, host.shape, f"a host array of shape {host.shape}")
        _copy_runs(buffer, "cuMemcpyHtoDAsync", host.ctypes.data, handle)
        if wait and buffer.nbytes:
            context.wait("cuStreamSynchronize", handle)
        return
    layout = layout_of(array)
    _require_shape(buffer, layout.shape, f"an array of shape {layout.shape} on {found.info.device}")
    if found.info.dtype != buffer.dtype:
        raise E1070.error(found=f"an array of {found.info.dtype or '?'}", wanted=repr(buffer))
    if not layout.is_contiguous:
        raise E1070.error(found="an array that is not contiguous", wanted=repr(buffer)).help(
            "make it contiguous first"
        )
    if found.info.device != buffer.device.name:
        _order_across(buffer, found.info.device, found.stream, handle)
    elif found.stream is not None:
        order(context, found.stream, handle)
    _copy_runs(buffer, "cuMemcpyAsync", found.info.pointer, handle)
    if wait and buffer.nbytes:
        context.wait("cuStreamSynchronize", handle)


def copy_out(buffer: Buffer, out: Any, stream: Any, *, wait: bool) -> Any:
    """Copy a buffer into a NumPy array."""
    import numpy as np

    context = buffer.device.context
    handle = stream_handle(stream, buffer.device)
    if out is None:
        out = np.empty(buffer.shape, host_dtype(buffer.element))
    elif (
        tuple(out.shape) != buffer.shape
        or out.itemsize != buffer.itemsize
        or not out.flags.c_contiguous
        or not out.flags.writeable
    ):
        raise E1070.error(
            found=repr(buffer), wanted=f"an array of {out.dtype} and shape {out.shape}"
        ).help("give a writable row-major array of the same shape and item size")
    if not buffer.nbytes:
        return out
    with context.bound(), InOrder(context):  # a copy to pageable memory waits by itself
        driver = context.driver
        start, size = buffer.pointer, buffer.itemsize
        length, offsets = buffer.layout.runs()
        target = out.ctypes.data
        for number, offset in enumerate(offsets):
            driver.call(
                "cuMemcpyDtoHAsync",
                target + number * length * size,
                start + offset * size,
                length * size,
                handle,
            )
        if wait:
            context.wait("cuStreamSynchronize", handle)
    return out


def fill(buffer: Buffer, value: Any, stream: Any) -> None:
    """Set all elements of a buffer."""
    bits = int.from_bytes(host_array(value, buffer.element).tobytes(), "little")
    handle = stream_handle(stream, buffer.device)
    if not buffer.nbytes:
        return
    start, size = buffer.pointer, buffer.itemsize
    length, offsets = buffer.layout.runs()
    for offset in offsets:
        _fill_run(buffer, start + offset * size, length, bits, handle)


def _fill_run(buffer: Buffer, pointer: int, size: int, bits: int, handle: int) -> None:
    call = buffer.device.context.call
    if buffer.itemsize == 1:
        call("cuMemsetD8Async", pointer, bits, size, handle)
    elif buffer.itemsize == 2:
        call("cuMemsetD16Async", pointer, bits, size, handle)
    elif buffer.itemsize == 4:
        call("cuMemsetD32Async", pointer, bits, size, handle)
    elif (low := bits & 0xFFFFFFFF) == (high := bits >> 32):
        call("cuMemsetD32Async", pointer, low, 2 * size, handle)
    else:
        # Columns one word wide and 8 bytes apart: first the low words, then the high ones.
        call("cuMemsetD2D32Async", pointer, 8, low, 1, size, handle)
        call("cuMemsetD2D32Async", pointer + 4, 8, high, 1, size, handle)


def _copy_runs(buffer: Buffer, name: str, source: int, handle: int) -> None:
    """Copy row-major memory at `source` into the buffer."""
    if not buffer.nbytes:
        return
    context = buffer.device.context
    start, size = buffer.pointer, buffer.itemsize
    length, offsets = buffer.layout.runs()
    with context.bound():
        for number, offset in enumerate(offsets):
            context.driver.call(
                name,
                start + offset * size,
                source + number * length * size,
                length * size,
                handle,
            )


def _order_across(buffer: Buffer, source: str, stream: int | None, handle: int) -> None:
    """Let a stream wait for work of another GPU: its named stream, or its default one."""
    from teeny_cuda.context import require_context

    other = require_context(int(source.partition(":")[2]))
    order(other, stream or 0, handle, after_context=buffer.device.context)


def _require_shape(buffer: Buffer, shape: tuple[int, ...], found: str) -> None:
    if tuple(shape) != buffer.shape:
        raise E1070.error(found=found, wanted=repr(buffer)).help("reshape the array first")
