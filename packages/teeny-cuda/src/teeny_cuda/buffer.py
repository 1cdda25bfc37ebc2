"""`Buffer`: typed memory of one GPU, whole or a view of another's.

The memory is given back with the last buffer that uses it, by `release`, or at the end of a `with`
block. What moves its contents stands in copies.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_cuda import copies
from teeny_cuda.codes import E1069, E1087
from teeny_cuda.dtypes import DType, require_dtype
from teeny_cuda.found import Found
from teeny_cuda.layout import Layout, checked_shape, reshaped, row_major, sliced
from teeny_cuda.memory import Allocation, allocate
from teeny_macros.protocol import ArrayInfo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from teeny_cuda.device import Device

_ALIGNMENT = 16


class Buffer:
    """Memory for `shape` elements of `dtype`, row-major unless it is a view; not initialized.

    With `stream` it comes from the device's pool in the order of that stream: use it there, or
    order other streams after it. It offers DLPack and `__cuda_array_interface__` (version 3), so
    torch, CuPy and JAX read it without a copy.
    """

    # `_launch_kind` and `_address` are read by the machine code of short launches: the kind is one
    # object for all buffers of the same device, dtype and alignment, None once released.
    __slots__ = (
        "__weakref__",
        "_address",
        "_dtype",
        "_found",
        "_launch_kind",
        "_layout",
        "_memory",
        "device",
    )

    def __init__(
        self, device: Device, shape: int | Sequence[int], dtype: str | Any, *, stream: Any = None
    ) -> None:
        sizes = checked_shape(shape)
        element = require_dtype(dtype)
        layout = Layout(sizes, row_major(sizes))
        nbytes = layout.size * element.itemsize
        memory = allocate(
            device,
            nbytes,
            f"{element.name}{list(sizes)} of {nbytes} bytes on {device.name}",
            stream,
        )
        self._set(device, memory, layout, element)

    def _set(self, device: Device, memory: Allocation, layout: Layout, dtype: DType) -> None:
        self.device = device
        self._memory = memory
        self._layout = layout
        self._dtype = dtype
        self._address = memory.pointer + layout.offset * dtype.itemsize if layout.size else 0
        self._found: Found | None = None
        aligned = self._address % _ALIGNMENT == 0
        kinds = device.context.kinds
        self._launch_kind: Any = kinds.setdefault((dtype.name, aligned), (dtype.name, aligned))
        memory.watch(self)

    def end(self) -> None:
        """Called when the memory is given back: launches must look again."""
        self._launch_kind = None

    @classmethod
    def over(cls, device: Device, memory: Allocation, layout: Layout, dtype: DType) -> Buffer:
        """A buffer over memory that is there already."""
        found = cls.__new__(cls)
        found._set(device, memory, layout, dtype)  # noqa: SLF001 - it is one of ours
        return found

    # --- what it is -------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self._layout.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """How many elements lie from one index of an axis to the next."""
        return self._layout.strides

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
        return self._layout.size

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._layout.size * self._dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie row-major without gaps."""
        return self._layout.is_contiguous

    @property
    def pointer(self) -> int:
        """The address of the first element on the GPU; 0 when there are no elements.

        Raises:
            LaunchError: E1069 when the memory was released.
        """
        self._require_memory()
        return self._address

    @property
    def is_released(self) -> bool:
        """Whether the memory was given back."""
        return self._memory.is_released

    @property
    def memory(self) -> Allocation:
        """The owner of the memory."""
        return self._memory

    @property
    def layout(self) -> Layout:
        """Where the elements lie."""
        return self._layout

    @property
    def element(self) -> DType:
        """The element type with its sizes."""
        return self._dtype

    def describe(self) -> Found:
        """What a launch asks of an array. Raises E1069 when the memory was released."""
        self._require_memory()
        found = self._found
        if found is None:
            layout = self._layout
            info = ArrayInfo(
                self._address,
                self._dtype.name,
                layout.extent * self._dtype.itemsize,
                self.device.name,
                contiguous=layout.is_contiguous,
            )
            found = self._found = Found(info)
        return found

    def _require_memory(self) -> None:
        if self._memory.is_released:
            raise E1069.error().note(repr(self)).help("keep the buffer until its last use")

    def release(self) -> None:
        """Give the memory back once kernels in flight have ended; a second call does nothing.

        Views of the same memory end with it.
        """
        self._memory.release()

    # --- views ------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Buffer:
        """A view of some elements: ints, slices with positive steps, `...`. Raises E1080."""
        return self._view(sliced(self._layout, index, repr(self)))

    def __setitem__(self, index: Any, value: Any) -> None:
        """Copy an array, or one number, into some elements and wait for it."""
        part = self[index]
        if isinstance(value, (bool, int, float)):
            part.fill(value)
        else:
            part.copy_from(value)

    def reshape(self, *shape: Any) -> Buffer:
        """A view with another shape; one size may be -1.

        Raises:
            LaunchError: E1077 when the number of elements differs, E1087 for a strided view.
        """
        sizes = shape[0] if len(shape) == 1 else shape
        self.require_contiguous("reshaping")
        return self._view(reshaped(self._layout, sizes, repr(self)))

    @property
    def T(self) -> Buffer:  # noqa: N802 - NumPy's name
        """A view with the axes in reverse order."""
        layout = self._layout
        return self._view(Layout(layout.shape[::-1], layout.strides[::-1], layout.offset))

    def _view(self, layout: Layout) -> Buffer:
        self._require_memory()
        return Buffer.over(self.device, self._memory, layout, self._dtype)

    def require_contiguous(self, use: str) -> None:
        """Raise E1087 for a strided view; `use` says what it cannot be used for."""
        if not self._layout.is_contiguous:
            raise E1087.error(what=repr(self), use=use).help("copy it into a buffer of its own")

    # --- contents ---------------------------------------------------------------------------------

    def copy_from(self, array: Any, *, stream: Any = None, wait: bool = True) -> None:
        """Copy `array` into this buffer, and wait for it unless told otherwise.

        `array` has this buffer's shape and dtype and lies on the host or on a GPU, this one or
        another. bf16 and fp8 come as ml_dtypes arrays, torch tensors, typed arrays, or unsigned
        integers with their bits. Without `wait`, leave pinned memory alone until `stream` has
        copied it.

        Raises:
            LaunchError: E1070 when shape or dtype differ.
        """
        copies.copy_in(self, array, stream, wait=wait)

    def to_host(self, *, out: Any = None, stream: Any = None, wait: bool = True) -> Any:
        """The contents as a NumPy array, after the work in `stream` and the default stream.

        A new one, or `out` (a row-major array of the same shape and item size, `device.pinned`'s to
        copy without waiting). bf16 and fp8 are ml_dtypes arrays where ml_dtypes is installed, else
        uint16 and uint8.

        Raises:
            LaunchError: E1070 when `out` does not fit.
        """
        return copies.copy_out(self, out, stream, wait=wait)

    def fill(self, value: Any, *, stream: Any = None) -> None:
        """Set every element to `value`, in `stream`. Raises E1070 when the dtype cannot hold it."""
        copies.fill(self, value, stream)

    # --- other libraries --------------------------------------------------------------------------

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        layout, size = self._layout, self._dtype.itemsize
        return {
            "shape": layout.shape,
            "typestr": self._dtype.typestr,
            "data": (self.pointer, False),
            "strides": None if layout.is_contiguous else tuple(s * size for s in layout.strides),
            "stream": None,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        from teeny_cuda.dlpack import CUDA

        return CUDA, self.device.ordinal

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule; `stream` is made to wait for the default stream."""
        from teeny_cuda.dlpack import make_capsule

        return make_capsule(self, stream, dl_device, copy=copy)

    # --- Python -----------------------------------------------------------------------------------

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
        state = "released" if self.is_released else f"at {self._address:#x}"
        strided = "" if self.is_contiguous else f", strides {list(self.strides)}"
        return f"Buffer({self.dtype}{list(self.shape)} on {self.device.name}{strided}, {state})"
