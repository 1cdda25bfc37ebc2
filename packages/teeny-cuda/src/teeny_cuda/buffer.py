"""`Buffer`: typed memory of one GPU.

It is released with the object, by `release`, or at the end of a `with` block.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING, Any

from teeny_cuda.codes import E1069, E1070, E1077
from teeny_cuda.dtypes import host_dtype, require_dtype
from teeny_cuda.found import Found
from teeny_cuda.host import host_array
from teeny_cuda.stream import order, stream_handle
from teeny_macros.protocol import ArrayInfo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from teeny_cuda.device import Device


class Buffer:
    """Memory for `shape` elements of `dtype`, row-major, not initialized.

    It offers `__cuda_array_interface__` (version 3), so torch and CuPy can read it without a copy.
    """

    __slots__ = ("__weakref__", "_dtype", "_finalizer", "_found", "_released", "device", "shape")

    def __init__(self, device: Device, shape: int | Sequence[int], dtype: str | Any) -> None:
        self.device = device
        self.shape = checked_shape(shape)
        self._dtype = require_dtype(dtype)
        self._released = False
        self._finalizer: Any = None
        start = 0
        if self.nbytes:
            context = device.context
            with context.bound():
                number, pointer = context.driver.attempt("cuMemAlloc", self.nbytes)
            if number:
                what = (
                    f"{self._dtype.name}{list(self.shape)} of {self.nbytes} bytes on {device.name}"
                )
                raise context.driver.failure("cuMemAlloc", number, what=what)
            start = int(pointer)
            self._finalizer = weakref.finalize(self, context.release, "cuMemFree", pointer)
        self._found = Found(ArrayInfo(start, self._dtype.name, self.nbytes, device.name))

    @property
    def dtype(self) -> str:
        """The DSL name of the element type."""
        return self._dtype.name

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._dtype.itemsize

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return prod(self.shape) * self._dtype.itemsize

    @property
    def pointer(self) -> int:
        """The address on the GPU, a multiple of 256; 0 when there are no elements.

        Raises:
            LaunchError: E1069 when the memory was released.
        """
        return self.describe().info.pointer

    def describe(self) -> Found:
        """What a launch asks of an array. Raises E1069 when the memory was released."""
        if self._released:
            raise E1069.error().note(repr(self)).help("keep the buffer until its last use")
        return self._found

    @property
    def is_released(self) -> bool:
        """Whether the memory was given back."""
        return self._released

    def release(self) -> None:
        """Give the memory back once kernels in flight have ended; a second call does nothing."""
        if self._finalizer is not None:
            self._released = True
            self._finalizer()

    def copy_from(self, array: Any, *, stream: Any = None) -> None:
        """Copy `array` into this buffer and wait for it.

        `array` has this buffer's shape and dtype and lies on the host or on a GPU. bf16 and fp8
        come as ml_dtypes arrays, torch tensors, typed arrays, or unsigned integers with their bits.

        Raises:
            LaunchError: E1070 when shape or dtype differ.
        """
        from teeny_cuda.interfaces import find_array  # it knows Buffer

        context = self.device.context
        handle = stream_handle(stream, self.device)
        found = find_array(array)
        if found is None:
            host = host_array(array, self._dtype)
            self._require_shape(host.shape, f"a host array of shape {host.shape}")
            source: Any = host.ctypes.data
            call = "cuMemcpyHtoDAsync"
        else:
            shape = tuple(getattr(array, "shape", getattr(array, "array", array).shape))
            self._require_shape(shape, f"an array of shape {shape} on {found.info.device}")
            if found.info.dtype != self.dtype:
                raise E1070.error(found=f"an array of {found.info.dtype or '?'}", wanted=repr(self))
            if not found.info.contiguous:
                raise E1070.error(found="an array that is not contiguous", wanted=repr(self)).help(
                    "make it contiguous first"
                )
            if found.stream is not None:
                order(context, found.stream, handle)
            source = found.info.pointer
            call = "cuMemcpyAsync"
        if self.nbytes:
            with context.bound():
                context.driver.call(call, self.pointer, source, self.nbytes, handle)
                context.driver.call("cuStreamSynchronize", handle)

    def to_host(self, *, stream: Any = None) -> Any:
        """A new NumPy array with the contents, after the work in `stream` and the default stream.

        bf16 and fp8 are ml_dtypes arrays where ml_dtypes is installed, else uint16 and uint8.
        """
        import numpy as np

        host = np.empty(self.shape, host_dtype(self._dtype))
        context = self.device.context
        handle = stream_handle(stream, self.device)
        if self.nbytes:
            with context.bound():
                driver = context.driver
                driver.call(
                    "cuMemcpyDtoHAsync", host.ctypes.data, self.pointer, self.nbytes, handle
                )
                driver.call("cuStreamSynchronize", handle)
        return host

    def fill(self, value: Any, *, stream: Any = None) -> None:
        """Set every element to `value`, in `stream`. Raises E1070 when the dtype cannot hold it."""
        bits = int.from_bytes(host_array(value, self._dtype).tobytes(), "little")
        handle = stream_handle(stream, self.device)
        if not self.nbytes:
            return
        size, pointer, call = self.size, self.pointer, self.device.context.call
        if self.itemsize == 1:
            call("cuMemsetD8Async", pointer, bits, size, handle)
        elif self.itemsize == 2:
            call("cuMemsetD16Async", pointer, bits, size, handle)
        elif self.itemsize == 4:
            call("cuMemsetD32Async", pointer, bits, size, handle)
        elif (low := bits & 0xFFFFFFFF) == (high := bits >> 32):
            call("cuMemsetD32Async", pointer, low, 2 * size, handle)
        else:
            # Columns one word wide and 8 bytes apart: first the low words, then the high ones.
            call("cuMemsetD2D32Async", pointer, 8, low, 1, size, handle)
            call("cuMemsetD2D32Async", pointer + 4, 8, high, 1, size, handle)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self._dtype.typestr,
            "data": (self.pointer, False),
            "strides": None,
            "stream": None,
            "version": 3,
        }

    def _require_shape(self, shape: tuple[int, ...], found: str) -> None:
        if shape != self.shape:
            raise E1070.error(found=found, wanted=repr(self)).help("reshape the array first")

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "released" if self.is_released else f"at {self._found.info.pointer:#x}"
        return f"Buffer({self.dtype}{list(self.shape)} on {self.device.name}, {state})"


def checked_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    """`shape` as a tuple. Raises E1077 when a size is no integer or negative."""
    from operator import index

    try:
        sizes = tuple(map(index, shape)) if isinstance(shape, Iterable) else (index(shape),)
    except TypeError:
        raise E1077.error(shape=f"`{shape!r}`", reason="sizes are integers").help(
            "pass an int or a tuple of ints"
        ) from None
    if any(size < 0 for size in sizes):
        raise E1077.error(shape=f"`{shape!r}`", reason="a size is negative")
    return sizes
