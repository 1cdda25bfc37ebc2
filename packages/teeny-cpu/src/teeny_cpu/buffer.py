"""`Buffer`: typed memory of the host, aligned to 64 bytes, with the methods of a GPU's buffer."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any

from teeny_cpu.arrays import as_elements, find_view
from teeny_cpu.codes import E1111, E1112, E1114, E1118
from teeny_cpu.dtypes import host_dtype, require_dtype
from teeny_cpu.stream import finish_streams

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

_ALIGNMENT = 64  # a cache line, and the widest vector


class Buffer:
    """Memory for `shape` elements of `dtype`, row-major, not initialized.

    Copies wait for the work in `stream`, or in all streams. `np.asarray(buffer)` and DLPack give
    its memory without a copy, and without waiting.
    """

    __slots__ = ("_array", "_dtype", "shape")

    def __init__(self, shape: int | Sequence[int], dtype: str | Any) -> None:
        import numpy as np

        self.shape = checked_shape(shape)
        self._dtype = require_dtype(dtype)
        try:
            raw = np.empty(self.nbytes + _ALIGNMENT, np.uint8)
        except MemoryError as error:
            what = f"{self._dtype.name}{list(self.shape)}"
            raise E1118.error(nbytes=self.nbytes, what=what).help("use a smaller buffer") from error
        start = -raw.__array_interface__["data"][0] % _ALIGNMENT
        elements = raw[start : start + self.nbytes].view(host_dtype(self._dtype))
        self._array: Any = elements.reshape(self.shape)

    @property
    def array(self) -> Any:
        """The memory as a NumPy array, without a copy. Raises E1111 when it was released."""
        if self._array is None:
            raise E1111.error().note(repr(self)).help("keep the buffer until its last use")
        return self._array

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
        """The address, a multiple of 64. Raises E1111 when the memory was released."""
        return int(self.array.__array_interface__["data"][0])

    @property
    def is_released(self) -> bool:
        """Whether the memory was given back."""
        return self._array is None

    def release(self) -> None:
        """Give the memory back once nobody else uses it; a second call does nothing."""
        self._array = None

    def copy_from(self, array: Any, *, stream: Any = None) -> None:
        """Copy a host array of the same shape and dtype into this buffer.

        bf16 and fp8 come as ml_dtypes arrays, torch tensors, typed arrays, or unsigned integers
        with their bits. Python numbers and lists are converted.

        Raises:
            LaunchError: E1112 when shape or dtype differ.
        """
        finish_streams(stream)
        target = self.array
        found = find_view(array)
        if found is None and hasattr(array, "dtype") and getattr(array, "shape", ()) != ():
            raise E1112.error(found="an array of another device", wanted=repr(self)).help(
                "bring it to the host first"
            )
        host = as_elements(array, self._dtype) if found is None else found.array
        if host is None:
            raise E1112.error(found=f"`{array!r}`", wanted=repr(self))
        bits = (
            self._dtype.is_narrow_float
            and host.itemsize == self.itemsize
            and host.dtype.kind in "iu"
        )
        if found is not None and found.dtype != self.dtype and not bits:
            shown = f"an array of {found.dtype or host.dtype}"
            raise E1112.error(found=shown, wanted=repr(self)).help("convert the array first")
        if host.shape != self.shape:
            raise E1112.error(found=f"an array of shape {host.shape}", wanted=repr(self)).help(
                "reshape the array first"
            )
        target.view(f"u{self.itemsize}")[...] = host.view(f"u{self.itemsize}")

    def to_host(self, *, stream: Any = None) -> Any:
        """A new NumPy array with the contents.

        bf16 and fp8 are ml_dtypes arrays where ml_dtypes is installed, else uint16 and uint8.
        """
        finish_streams(stream)
        return self.array.copy()

    def fill(self, value: Any, *, stream: Any = None) -> None:
        """Set every element to `value`. Raises E1112 when the dtype cannot hold it."""
        element = as_elements(value, self._dtype)
        if element is None or element.shape != ():
            raise E1112.error(found=f"`{value!r}`", wanted=repr(self))
        finish_streams(stream)
        self.array[...] = element

    @property
    def __array_interface__(self) -> dict[str, Any]:
        interface: dict[str, Any] = self.array.__array_interface__
        return interface

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        if copy:
            return np.array(self.array, dtype)
        return np.asarray(self.array, dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self.array.__dlpack_device__()
        return device

    if TYPE_CHECKING:  # checkers ask it of what a launch passes as a pointer

        def __add__(self, _offset: int, /) -> Self:
            raise AssertionError

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
        state = "released" if self.is_released else f"at {self.pointer:#x}"
        return f"Buffer({self.dtype}{list(self.shape)} on cpu, {state})"


def checked_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    """`shape` as a tuple. Raises E1114 when a size is no integer or negative."""
    try:
        sizes = tuple(map(index, shape)) if isinstance(shape, Iterable) else (index(shape),)
    except TypeError:
        raise E1114.error(shape=f"`{shape!r}`", reason="sizes are integers").help(
            "pass an int or a tuple of ints"
        ) from None
    if any(size < 0 for size in sizes):
        raise E1114.error(shape=f"`{shape!r}`", reason="a size is negative").help(
            "sizes are 0 or more"
        )
    return sizes
