"""A CUDA driver in memory, for tests without a GPU: it stands where `cuda.bindings.driver` stands.

It keeps what the driver keeps (contexts, allocations, modules, streams as queues that run late) and
refuses what the driver refuses. It cannot run PTX: a test says in Python what an entry point does.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import threading
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from teeny_cuda.fake_base import Answer, CUresult, bound, call, numbered, ok, waiting
from teeny_cuda.fake_graph import FakeGraphs
from teeny_cuda.fake_launch import FakeLaunches
from teeny_cuda.fake_link import FakeLinks
from teeny_cuda.fake_memory import FaultError, Memory
from teeny_cuda.fake_native import FakeNative
from teeny_cuda.fake_pool import FakePools
from teeny_cuda.fake_queue import Event, Queue
from teeny_cuda.fake_tensor import FakeTensorMaps

if TYPE_CHECKING:
    from collections.abc import Callable

# What the recorded driver says of itself and its GPU.
_RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_name("fake_refusals.json").read_text(encoding="utf-8")
)
_LEAST, _GREATEST = _RECORDED["priorities"]
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_EVENT_FLAGS, _NO_TIMING = 0x7, 0x2  # CU_EVENT_BLOCKING_SYNC, _DISABLE_TIMING, _INTERPROCESS


class FakeDriver(FakeGraphs, FakeLaunches, FakeLinks, FakeNative, FakePools, FakeTensorMaps):
    """A driver with `count` GPUs of `memory` bytes each. `kernels` says what entry points do.

    `calls` lists the names of the functions that were called, `attributes` the GPUs' attributes.
    """

    CUresult = CUresult
    CUdevice_attribute = numbered(
        "CUdevice_attribute", [f"CU_DEVICE_ATTRIBUTE_{name}" for name in _RECORDED["device"]]
    )
    CUpointer_attribute = numbered("CUpointer_attribute", ["CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL"])

    def __init__(self, count: int = 1, memory: int = 1 << 30, version: int = 13000) -> None:
        self.count = count
        self.version = version
        self.attributes: dict[str, int] = dict(_RECORDED["device"])
        self.initialized = False
        self.fault: CUresult | None = None
        self.memories = [Memory(ordinal, memory) for ordinal in range(count)]
        self.calls: list[str] = []
        self._threads = threading.local()
        self.retained: dict[int, int] = {}
        self.handles = itertools.count(0x1000)
        self.events: dict[int, Event] = {}
        self.queues: dict[int, Queue] = {0: Queue()}
        self.non_blocking: set[int] = set()
        self.untimed: set[int] = set()
        self.freeing: set[int] = set()
        self.destroyed: deque[int] = deque(maxlen=64)  # events, the last ones
        self.stream_numbers = itertools.count(100)
        self.numbers: dict[int, int] = {0: 99}  # of streams, by their handles; never used twice
        self.start_graphs()
        self.start_launches()
        self.start_links()
        self.start_pools(count)

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("cu") and name[2:3].isupper():
            object.__getattribute__(self, "calls").append(name)
        return object.__getattribute__(self, name)

    @property
    def current(self) -> list[int]:
        """This thread's stack of contexts."""
        stack: list[int] = self._threads.__dict__.setdefault("stack", [])
        return stack

    def fork(self) -> None:
        """What a forked child sees: the driver of its parent, not initialized."""
        self.initialized = False

    # --- start, devices, contexts -----------------------------------------------------------------
    def cuInit(self, flags: int) -> Answer:
        if not self.count:
            return (CUresult.CUDA_ERROR_NO_DEVICE,)
        self.initialized = True
        return (CUresult.CUDA_SUCCESS,)

    def cuGetErrorName(self, result: Any) -> Answer:
        return ok(result.name.encode())

    def cuGetErrorString(self, result: Any) -> Answer:
        return ok(result.name.removeprefix("CUDA_ERROR_").lower().replace("_", " ").encode())

    @call
    def cuDriverGetVersion(self) -> Answer:
        return ok(self.version)

    @call
    def cuDeviceGetCount(self) -> Answer:
        return ok(self.count)

    @call
    def cuDeviceGet(self, ordinal: int) -> Answer:
        if not 0 <= ordinal < self.count:
            return (CUresult.CUDA_ERROR_INVALID_DEVICE,)
        return ok(ordinal)

    @call
    def cuDeviceGetName(self, length: int, device: int) -> Answer:
        return ok(f"Fake GPU {device}".encode()[: length - 1].ljust(length, b"\0"))

    @call
    def cuDeviceGetUuid(self, device: int) -> Answer:
        return ok(SimpleNamespace(bytes=bytes(range(device, device + 16))))

    @call
    def cuDeviceGetAttribute(self, attribute: Any, device: int) -> Answer:
        return ok(self.attributes[attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_")])

    @call
    def cuDevicePrimaryCtxRetain(self, device: int) -> Answer:
        self.retained[device] = self.retained.get(device, 0) + 1
        return ok(0x100 + device)

    @call
    def cuCtxGetCurrent(self) -> Answer:
        return ok(self.current[-1] if self.current else 0)

    @call
    def cuCtxPushCurrent(self, context: int) -> Answer:
        self.current.append(context)
        return ok()

    def cuCtxPopCurrent(self) -> Answer:
        if not self.current:
            return (CUresult.CUDA_ERROR_INVALID_CONTEXT,)
        return ok(self.current.pop())

    @call
    def cuCtxGetDevice(self) -> Answer:
        return (
            ok(self.current[-1] - 0x100) if self.current else (CUresult.CUDA_ERROR_INVALID_CONTEXT,)
        )

    @call
    @bound
    def cuCtxSynchronize(self) -> Answer | None:
        if self.is_unsafe(relaxed=True):
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        for queue in list(self.queues.values()):
            queue.run()
        return None

    # --- memory -----------------------------------------------------------------------------------
    def memory(self) -> Memory | None:
        """The memory of the GPU whose context is current."""
        return self.memories[self.current[-1] - 0x100] if self.current else None

    @call
    def cuMemGetInfo(self) -> Answer:
        memory = self.memory()
        if memory is None:
            return (CUresult.CUDA_ERROR_INVALID_CONTEXT,)
        return ok(memory.total - memory.used, memory.total)

    @call
    @waiting
    def cuMemAlloc(self, nbytes: int) -> Answer:
        if self.current and nbytes <= 0:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        return self._allocate(nbytes)

    def _allocate(self, nbytes: int) -> Answer:
        memory = self.memory()
        if memory is None:
            return (CUresult.CUDA_ERROR_INVALID_CONTEXT,)
        pointer = memory.allocate(nbytes)
        return (CUresult.CUDA_ERROR_OUT_OF_MEMORY,) if pointer is None else ok(pointer)

    @call
    @waiting
    def cuMemFree(self, pointer: int) -> Answer | None:
        if not int(pointer):
            return None
        for queue in list(self.queues.values()):
            queue.run()  # the driver waits for the work in flight
        for queue in list(self.queues.values()):
            if queue.is_running:  # a finalizer that runs in the middle of a kernel's Python
                queue.add(lambda: [memory.free(int(pointer)) for memory in self.memories])
                return None
        if not any(memory.free(int(pointer)) for memory in self.memories):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        return None

    @call
    def cuMemAllocAsync(self, nbytes: int, stream: int) -> Answer:
        answer = self._allocate(nbytes)
        if not answer[0]:
            self.pool_used[self.current[-1] - 0x100] += nbytes
            self.pooled[answer[1]] = (self.current[-1] - 0x100, nbytes)
        return answer

    @call
    def cuMemFreeAsync(self, pointer: int, stream: int) -> Answer | None:
        if not int(pointer):
            return None
        address = int(pointer)
        starts = any(address in memory.blocks for memory in self.memories)
        if not starts or address in self.freeing:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        self.freeing.add(address)

        def free() -> None:
            self.freeing.discard(address)
            if not any(memory.free(address) for memory in self.memories):
                raise FaultError(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)
            ordinal, nbytes = self.pooled.pop(address, (0, 0))
            self.pool_used[ordinal] -= nbytes

        return self.enqueue(stream, free)

    def view(self, pointer: int, nbytes: int) -> memoryview:
        """The bytes of device memory; a range outside of every allocation is an illegal address."""
        for memory in self.memories:
            found = memory.view(int(pointer), nbytes)
            if found is not None:
                return found
        raise FaultError(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)

    def _known(self, pointer: int, nbytes: int) -> bool:
        return any(memory.view(int(pointer), nbytes) is not None for memory in self.memories)

    @call
    def cuMemcpyHtoDAsync(
        self, target: int, source: int, nbytes: int, stream: int
    ) -> Answer | None:
        if not self._known(target, nbytes):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        data = ctypes.string_at(source, nbytes)  # pageable memory is staged at once
        return self.enqueue(
            stream, lambda: self.view(target, nbytes).__setitem__(slice(None), data)
        )

    @call
    def cuMemcpyDtoHAsync(
        self, target: int, source: int, nbytes: int, stream: int
    ) -> Answer | None:
        if not self._known(source, nbytes):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        return self.enqueue(
            stream, lambda: ctypes.memmove(target, bytes(self.view(source, nbytes)), nbytes)
        )

    @call
    def cuMemcpyAsync(self, target: int, source: int, nbytes: int, stream: int) -> Answer | None:
        if not (self._known(source, nbytes) and self._known(target, nbytes)):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)

        def copy() -> None:
            self.view(target, nbytes)[:] = bytes(self.view(source, nbytes))

        return self.enqueue(stream, copy)

    def _set(self, pointer: int, word: bytes, count: int, pitch: int, stream: int) -> Answer | None:
        nbytes = pitch * (count - 1) + len(word)
        if not count:
            return None
        if pointer % min(len(word), 4) or (count > 1 and len(word) > pitch):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        if not self._known(pointer, nbytes):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)

        def fill() -> None:
            data = self.view(pointer, nbytes)
            for start in range(0, pitch * count, pitch):
                data[start : start + len(word)] = word

        return self.enqueue(stream, fill)

    @call
    def cuMemsetD8Async(self, pointer: int, value: int, count: int, stream: int) -> Answer | None:
        return self._set(pointer, value.to_bytes(1, "little"), count, 1, stream)

    @call
    def cuMemsetD16Async(self, pointer: int, value: int, count: int, stream: int) -> Answer | None:
        return self._set(pointer, value.to_bytes(2, "little"), count, 2, stream)

    @call
    def cuMemsetD32Async(self, pointer: int, value: int, count: int, stream: int) -> Answer | None:
        return self._set(pointer, value.to_bytes(4, "little"), count, 4, stream)

    @call
    def cuMemsetD2D32Async(
        self, pointer: int, pitch: int, value: int, width: int, height: int, stream: int
    ) -> Answer | None:
        return self._set(pointer, value.to_bytes(4, "little") * width, height, pitch, stream)

    @call
    def cuPointerGetAttribute(self, attribute: Any, pointer: int) -> Answer:
        for memory in self.memories:
            if memory.view(int(pointer), 1) is not None:
                return ok(memory.ordinal)
        return (CUresult.CUDA_ERROR_INVALID_VALUE,)

    # --- streams and events -----------------------------------------------------------------------
    def enqueue(
        self, stream: int, work: Callable[[], object], kind: object = "work"
    ) -> Answer | None:
        """Put work into a stream, or into the capture of it."""
        queue = self.queues.get(int(stream))
        if queue is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        if self.capture(int(stream), work, kind):
            return None
        if not int(stream) and self.spoils_captures():
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,)
        # The default stream runs after the work of all others, and they after its.
        for other in list(self.queues.values()) if queue is self.queues[0] else [self.queues[0]]:
            if other is not queue:
                queue.wait(other.mark())
        queue.add(work)
        return None

    @call
    @bound
    def cuStreamCreateWithPriority(self, flags: int, priority: int) -> Answer:
        if flags not in {0, _NON_BLOCKING}:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        handle = next(self.handles)
        self.queues[handle] = Queue()
        self.numbers[handle] = next(self.stream_numbers)
        if flags == _NON_BLOCKING:
            self.non_blocking.add(handle)
        return ok(handle)

    @call
    def cuStreamGetId(self, stream: int) -> Answer:
        if int(stream) not in self.queues:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        return ok(self.numbers[int(stream)])

    @call
    def cuStreamIsCapturing(self, stream: int) -> Answer:
        if int(stream) not in self.queues:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        if not int(stream) and set(self.captures) - self.non_blocking:
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,)
        return ok(int(int(stream) in self.captures))

    @call
    def cuStreamDestroy(self, stream: int) -> Answer | None:
        if int(stream) not in self.queues or not int(stream):
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        self.queues.pop(int(stream)).run()
        return None

    @call
    @bound
    def cuCtxGetStreamPriorityRange(self) -> Answer:
        return ok(_LEAST, _GREATEST)

    @call
    def cuStreamQuery(self, stream: int) -> Answer | None:
        queue = self.queues.get(int(stream))
        if queue is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        if self.refuses(int(stream)):
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        return None if queue.is_empty else (CUresult.CUDA_ERROR_NOT_READY,)

    @call
    @bound
    def cuStreamSynchronize(self, stream: int) -> Answer | None:
        if not int(stream) and self.is_unsafe():
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        queue = self.queues.get(int(stream))
        if queue is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        if self.refuses(int(stream)):
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        queue.run()
        return None

    @call
    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> Answer | None:
        queue, found = self.queues.get(int(stream)), self.events.get(int(event))
        if queue is None or found is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        queue.wait(found)
        return None

    @call
    @bound
    def cuEventCreate(self, flags: int) -> Answer:
        if flags & ~_EVENT_FLAGS:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        handle = next(self.handles)
        self.events[handle] = Event()
        if flags & _NO_TIMING:
            self.untimed.add(handle)
        return ok(handle)

    def unknown_event(self, event: int) -> Answer:
        """The answer to a call with an event that is not there, or not any more."""
        if int(event) in self.destroyed:
            return (CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED,)
        return (CUresult.CUDA_ERROR_INVALID_HANDLE,)

    @call
    def cuEventDestroy(self, event: int) -> Answer | None:
        if self.events.pop(int(event), None) is None:
            return self.unknown_event(event)
        self.untimed.discard(int(event))
        self.destroyed.append(int(event))
        return None

    @call
    def cuEventRecord(self, event: int, stream: int) -> Answer | None:
        queue = self.queues.get(int(stream))
        if queue is None or int(event) not in self.events:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        self.events[int(event)] = queue.mark()
        return None

    @call
    def cuEventQuery(self, event: int) -> Answer | None:
        found = self.events.get(int(event))
        if found is None:
            return self.unknown_event(event)
        return None if found.is_done else (CUresult.CUDA_ERROR_NOT_READY,)

    @call
    def cuEventSynchronize(self, event: int) -> Answer | None:
        found = self.events.get(int(event))
        if found is None:
            return self.unknown_event(event)
        found.complete()
        return None

    @call
    def cuEventElapsedTime(self, start: int, end: int) -> Answer:
        first, last = self.events.get(int(start)), self.events.get(int(end))
        if (
            first is None
            or last is None
            or not (first.is_recorded and last.is_recorded)
            or not self.untimed.isdisjoint((int(start), int(end)))
        ):
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        if not (first.is_done and last.is_done):
            return (CUresult.CUDA_ERROR_NOT_READY,)
        return ok((last.time - first.time) * 1e3)
