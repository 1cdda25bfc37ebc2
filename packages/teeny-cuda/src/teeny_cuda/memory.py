"""Memory of a GPU and its owner: allocated at once, in the order of a stream, or borrowed.

An `Allocation` is given back once, with the last buffer that views it or when it is released; then
its views and the launches prepared with them end.
"""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda.stream import stream_handle

if TYPE_CHECKING:
    from teeny_cuda.context import Context
    from teeny_cuda.device import Device
    from teeny_cuda.graph import Graph

_ATTRIBUTE = "CU_MEMPOOL_ATTR_"
_OUT_OF_MEMORY = 2


class Allocation:
    """Some bytes on a GPU. `owner` keeps borrowed memory alive."""

    __slots__ = ("__weakref__", "_dependents", "_finalizer", "_owner", "is_released", "pointer")

    def __init__(self, pointer: int, owner: Any = None) -> None:
        self.pointer = pointer
        self.is_released = False
        self._owner = owner
        self._finalizer: Any = None
        self._dependents: set[weakref.ref[Any]] = set()

    def watch(self, dependent: Any) -> None:
        """Let `dependent.end()` be called when the memory is given back."""
        dependents = self._dependents
        dependents.add(weakref.ref(dependent, dependents.discard))

    def release(self) -> None:
        """Give the memory back; a second call does nothing, nor one where there is no memory."""
        if self.is_released or not self.pointer:
            return
        self.is_released = True
        for reference in list(self._dependents):
            dependent = reference()
            if dependent is not None:
                dependent.end()
        self._dependents.clear()
        self._owner = None
        if self._finalizer is not None:
            self._finalizer()

    def free_with(self, context: Context, name: str, *args: Any, keep: Any = None) -> None:
        """Give the memory back through this function of the driver; `keep` lives until then."""
        # By its number: the graph keeps its arrays, so they must not keep the graph.
        capture = id(_capture(context, name, args))
        self._finalizer = weakref.finalize(self, _free, keep, context, name, args, capture)


def _free(_keep: Any, context: Context, name: str, args: tuple[Any, ...], capture: int) -> None:
    inside = _capture(context, name, args)
    context.release(name, *args, at_once=inside is not None and id(inside) == capture)


def _capture(context: Context, name: str, args: tuple[Any, ...]) -> Graph | None:
    """The capture that stream-ordered memory belongs to."""
    return context.captures.get(args[-1]) if name == "cuMemFreeAsync" else None


def allocate(device: Device, nbytes: int, what: str, stream: Any = None) -> Allocation:
    """New memory: for all streams at once, or from the pool in the order of `stream`.

    Raises:
        LaunchError: E1059 when it is not there; `what` says what for.
    """
    if not nbytes:
        return Allocation(0)
    context = device.context
    args: tuple[int, ...] = (nbytes,)
    name = "cuMemAlloc"
    if stream is not None:
        name, args = "cuMemAllocAsync", (nbytes, stream_handle(stream, device))
    number, pointer = _attempt(context, name, args)
    if number == _OUT_OF_MEMORY:
        # Python collects cycles by the number of objects; what they hold of the GPU it cannot know.
        gc.collect()
        number, pointer = _attempt(context, name, args)
    if number:
        raise context.driver.failure(name, number, what=what)
    found = Allocation(int(pointer))
    if stream is None:
        found.free_with(context, "cuMemFree", pointer)
    else:
        found.free_with(context, "cuMemFreeAsync", pointer, args[1], keep=stream)
    return found


def _attempt(context: Context, name: str, args: tuple[int, ...]) -> tuple[int, Any]:
    with context.bound(), context.unguarded():
        return context.driver.attempt(name, *args)


class PoolUse(NamedTuple):
    """Bytes of a memory pool: held from the GPU, and in use by buffers now."""

    reserved: int
    used: int


class MemoryPool:
    """The pool that stream-ordered buffers of a GPU come from: the driver's own for the device."""

    __slots__ = ("_handle", "device")

    def __init__(self, device: Device) -> None:
        self.device = device
        self._handle: Any = device.context.call("cuDeviceGetDefaultMemPool", device.context.device)

    @property
    def use(self) -> PoolUse:
        """How much the pool holds, and how much of it is in use."""
        return PoolUse(self._read("RESERVED_MEM_CURRENT"), self._read("USED_MEM_CURRENT"))

    @property
    def keep_bytes(self) -> int:
        """So many free bytes stay in the pool when the GPU is synchronized; 0 at first.

        With drivers before CUDA 12, 16 MiB, unless it is more, once a kernel that needs scratch
        memory is launched often.
        """
        return self._read("RELEASE_THRESHOLD")

    @keep_bytes.setter
    def keep_bytes(self, nbytes: int) -> None:
        context = self.device.context
        value: Any = nbytes
        kind = getattr(context.driver.api, "cuuint64_t", None)
        if kind is not None:
            value = kind(nbytes)
        context.call(
            "cuMemPoolSetAttribute", self._handle, self._member("RELEASE_THRESHOLD"), value
        )

    def trim(self, keep_bytes: int = 0) -> None:
        """Give free memory back to the GPU, all but `keep_bytes`."""
        self.device.context.call("cuMemPoolTrimTo", self._handle, keep_bytes)

    def _member(self, name: str) -> Any:
        return getattr(self.device.context.driver.api.CUmemPool_attribute, _ATTRIBUTE + name)

    def _read(self, name: str) -> int:
        return int(
            self.device.context.call("cuMemPoolGetAttribute", self._handle, self._member(name))
        )

    def __repr__(self) -> str:
        use = self.use
        return f"MemoryPool({self.device.name}, {use.used} of {use.reserved} bytes in use)"


def pinned_array(device: Device, shape: tuple[int, ...], dtype: Any) -> Any:
    """A NumPy array in page-locked host memory, which the GPU copies without a detour.

    Raises:
        LaunchError: E1059 when the memory cannot be locked.
    """
    import ctypes

    import numpy as np

    wanted = np.dtype(dtype)
    nbytes = int(np.prod(shape, dtype=np.int64)) * wanted.itemsize
    if not nbytes:
        return np.empty(shape, wanted)
    context = device.context
    with context.bound(), context.unguarded():
        number, pointer = context.driver.attempt("cuMemHostAlloc", nbytes, 1)  # portable
    if number:
        raise context.driver.failure(
            "cuMemHostAlloc", number, what=f"{nbytes} bytes of pinned host memory"
        )
    block = (ctypes.c_uint8 * nbytes).from_address(int(pointer))
    # The array's base is `block`: it lives as long as any view of the memory.
    weakref.finalize(block, context.release, "cuMemFreeHost", int(pointer))
    return np.frombuffer(block, wanted).reshape(shape)
