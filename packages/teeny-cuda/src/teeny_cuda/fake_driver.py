"""A CUDA driver in memory, for tests without a GPU: it stands where `cuda.bindings.driver` stands.

It keeps what the driver keeps (contexts, allocations, modules, streams as queues that run late) and
refuses what the driver refuses. It cannot run PTX: a test says in Python what an entry point does.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from teeny_cuda.fake_base import Answer, CUresult, Struct, call, numbered, ok, waiting
from teeny_cuda.fake_code import Function, Module, RejectedError, parse_ptx
from teeny_cuda.fake_graph import FakeGraphs
from teeny_cuda.fake_link import FakeLinks
from teeny_cuda.fake_memory import FaultError, Memory
from teeny_cuda.fake_native import FakeNative
from teeny_cuda.fake_pool import FakePools
from teeny_cuda.fake_queue import Event, Queue
from teeny_cuda.fake_tensor import FakeTensorMaps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The attributes that an H200 reports, as far as this package asks.
_ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "WARP_SIZE": 32,
    "MULTIPROCESSOR_COUNT": 132,
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
    "MEMORY_POOLS_SUPPORTED": 1,
    "COOPERATIVE_LAUNCH": 1,
    "L2_CACHE_SIZE": 62914560,
    "CLOCK_RATE": 1980000,
}
_PLAIN_SHARED = 49152
_REGISTERS = 65536


class FakeDriver(FakeGraphs, FakeLinks, FakeNative, FakePools, FakeTensorMaps):
    """A driver with `count` GPUs of `memory` bytes each. `kernels` says what entry points do.

    `calls` lists the names of the functions that were called, `attributes` the GPUs' attributes.
    """

    CUresult = CUresult
    CUdevice_attribute = numbered(
        "CUdevice_attribute", [f"CU_DEVICE_ATTRIBUTE_{name}" for name in _ATTRIBUTES]
    )
    CUfunction_attribute = numbered(
        "CUfunction_attribute",
        [
            f"CU_FUNC_ATTRIBUTE_{name}"
            for name in (
                "MAX_THREADS_PER_BLOCK",
                "SHARED_SIZE_BYTES",
                "CONST_SIZE_BYTES",
                "LOCAL_SIZE_BYTES",
                "NUM_REGS",
                "PTX_VERSION",
                "BINARY_VERSION",
                "MAX_DYNAMIC_SHARED_SIZE_BYTES",
                "NON_PORTABLE_CLUSTER_SIZE_ALLOWED",
            )
        ],
    )
    CUjit_option = numbered(
        "CUjit_option",
        [
            "CU_JIT_INFO_LOG_BUFFER",
            "CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES",
            "CU_JIT_ERROR_LOG_BUFFER",
            "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES",
            "CU_JIT_GENERATE_LINE_INFO",
        ],
    )
    CUpointer_attribute = numbered("CUpointer_attribute", ["CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL"])
    CUlaunchAttributeID = numbered(
        "CUlaunchAttributeID",
        {
            "CU_LAUNCH_ATTRIBUTE_COOPERATIVE": 2,
            "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION": 4,
            "CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE": 5,
            "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION": 6,
            "CU_LAUNCH_ATTRIBUTE_PRIORITY": 8,
        },
    )
    CUclusterSchedulingPolicy = numbered(
        "CUclusterSchedulingPolicy", ["CU_CLUSTER_SCHEDULING_POLICY_SPREAD"]
    )
    CUlaunchAttribute = Struct
    CUlaunchConfig = Struct

    def __init__(self, count: int = 1, memory: int = 1 << 30, version: int = 13000) -> None:
        self.count = count
        self.version = version
        self.attributes = dict(_ATTRIBUTES)
        self.initialized = False
        self.fault: CUresult | None = None
        self.memories = [Memory(ordinal, memory) for ordinal in range(count)]
        self.kernels: dict[str, Callable[[Any], None]] = {}
        self.launches: list[Any] = []
        self.calls: list[str] = []
        self._threads = threading.local()
        self.retained: dict[int, int] = {}
        self.handles = itertools.count(0x1000)
        self.modules: dict[int, Module] = {}
        self.functions: dict[int, Function] = {}
        self.events: dict[int, Event] = {}
        self.queues: dict[int, Queue] = {0: Queue()}
        self.start_graphs()
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
    @waiting
    def cuCtxSynchronize(self) -> None:
        for queue in list(self.queues.values()):
            queue.run()

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
        return self._allocate(nbytes)

    def _allocate(self, nbytes: int) -> Answer:
        memory = self.memory()
        if memory is None:
            return (CUresult.CUDA_ERROR_INVALID_CONTEXT,)
        if nbytes <= 0:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        pointer = memory.allocate(nbytes)
        return (CUresult.CUDA_ERROR_OUT_OF_MEMORY,) if pointer is None else ok(pointer)

    @call
    @waiting
    def cuMemFree(self, pointer: int) -> Answer | None:
        for queue in list(self.queues.values()):
            queue.run()  # the driver waits for the work in flight
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
        def free() -> None:
            ordinal, nbytes = self.pooled.pop(int(pointer), (0, 0))
            self.pool_used[ordinal] -= nbytes
            if not any(memory.free(int(pointer)) for memory in self.memories):
                raise FaultError(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)

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
        # The default stream runs after the work of all others, and they after its.
        for other in list(self.queues.values()) if queue is self.queues[0] else [self.queues[0]]:
            if other is not queue:
                queue.wait(other.mark())
        queue.add(work)
        return None

    @call
    def cuStreamCreateWithPriority(self, flags: int, priority: int) -> Answer:
        handle = next(self.handles)
        self.queues[handle] = Queue()
        return ok(handle)

    @call
    def cuStreamDestroy(self, stream: int) -> Answer | None:
        if int(stream) not in self.queues or not int(stream):
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        self.queues.pop(int(stream)).run()
        return None

    @call
    def cuCtxGetStreamPriorityRange(self) -> Answer:
        return ok(0, -5)

    @call
    def cuStreamQuery(self, stream: int) -> Answer | None:
        queue = self.queues.get(int(stream))
        if queue is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        return None if queue.is_empty else (CUresult.CUDA_ERROR_NOT_READY,)

    @call
    def cuStreamSynchronize(self, stream: int) -> Answer | None:
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
    def cuEventCreate(self, flags: int) -> Answer:
        handle = next(self.handles)
        self.events[handle] = Event()
        return ok(handle)

    @call
    def cuEventDestroy(self, event: int) -> Answer | None:
        return None if self.events.pop(int(event), None) else (CUresult.CUDA_ERROR_INVALID_HANDLE,)

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
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        return None if found.is_done else (CUresult.CUDA_ERROR_NOT_READY,)

    @call
    def cuEventSynchronize(self, event: int) -> Answer | None:
        found = self.events.get(int(event))
        if found is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        found.complete()
        return None

    @call
    def cuEventElapsedTime(self, start: int, end: int) -> Answer:
        first, last = self.events.get(int(start)), self.events.get(int(end))
        if first is None or last is None or not first.is_recorded or not last.is_recorded:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        if not (first.is_done and last.is_done):
            return (CUresult.CUDA_ERROR_NOT_READY,)
        return ok((last.time - first.time) * 1e3)

    # --- code -------------------------------------------------------------------------------------
    @call
    @waiting
    def cuModuleLoadDataEx(
        self, image: bytes, count: int, options: Sequence[Any], values: Sequence[Any]
    ) -> Answer:
        given = {option.name: value for option, value in zip(options, values, strict=True)}
        if image[:4] == b"CUBN":  # what a test calls a cubin: PTX under another name
            image = image[4:] + b"\0"
        if len(given) != count or not image.endswith(b"\0"):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        capability = 10 * self.attributes["COMPUTE_CAPABILITY_MAJOR"]
        capability += self.attributes["COMPUTE_CAPABILITY_MINOR"]
        try:
            module = parse_ptx(image[:-1].decode(), capability, self.version)
        except RejectedError as error:
            log = f"{error}\0".encode()
            given.get("CU_JIT_ERROR_LOG_BUFFER", bytearray())[: len(log)] = log
            return (CUresult(error.number),)
        handle = next(self.handles)
        self.modules[handle] = module
        return ok(handle)

    @call
    @waiting
    def cuModuleUnload(self, module: int) -> Answer | None:
        found = self.modules.pop(module, None)
        if found is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        self.functions = {h: f for h, f in self.functions.items() if f.module is not found}
        return None

    @call
    def cuModuleGetFunction(self, module: int, name: bytes) -> Answer:
        found = self.modules.get(module)
        if found is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        function = found.functions.get(name.decode())
        if function is None:
            return (CUresult.CUDA_ERROR_NOT_FOUND,)
        handle = next(self.handles)
        self.functions[handle] = function
        return ok(handle)

    @call
    def cuFuncGetAttribute(self, attribute: Any, function: int) -> Answer:
        found = self.functions.get(function)
        if found is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        return ok(found.attributes.get(attribute.name.removeprefix("CU_FUNC_ATTRIBUTE_"), 0))

    @call
    def cuFuncSetAttribute(self, function: int, attribute: Any, value: int) -> Answer | None:
        found = self.functions.get(function)
        if found is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        limit = self.attributes["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"]
        name = attribute.name.removeprefix("CU_FUNC_ATTRIBUTE_")
        if name == "MAX_DYNAMIC_SHARED_SIZE_BYTES" and value > limit:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        found.attributes[name] = value
        return None

    @call
    def cuOccupancyMaxActiveBlocksPerMultiprocessor(
        self, function: int, threads: int, shared: int
    ) -> Answer:
        if function not in self.functions:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        return ok(self._blocks_fit(threads, shared))

    def _blocks_fit(self, threads: int, shared: int) -> int:
        """Blocks that a multiprocessor runs at the same time."""
        by_memory = self.attributes["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"] // max(1, shared)
        return min(2048 // max(1, threads), by_memory, 32)

    # --- launches ---------------------------------------------------------------------------------
    @call
    def cuLaunchKernel(self, function: int, *rest: Any) -> Answer | None:
        *sizes, shared, stream, params, _extra = rest
        return self._launch(function, sizes[:3], sizes[3:], shared, stream, params)

    @call
    def cuLaunchKernelEx(
        self, config: Any, function: int, params: int, extra: Any
    ) -> Answer | None:
        if len(config.attrs) != config.numAttrs:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        grid = [config.gridDimX, config.gridDimY, config.gridDimZ]
        block = [config.blockDimX, config.blockDimY, config.blockDimZ]
        given = {
            row.id.name.removeprefix("CU_LAUNCH_ATTRIBUTE_"): row.value for row in config.attrs
        }
        if len(given) != config.numAttrs:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        options = {"cluster": 1, "cooperative": 0, "overlap": 0, "priority": 0}
        if "CLUSTER_DIMENSION" in given:
            options["cluster"] = given["CLUSTER_DIMENSION"].clusterDim.x
        if "COOPERATIVE" in given:
            options["cooperative"] = given["COOPERATIVE"].cooperative
        if "PROGRAMMATIC_STREAM_SERIALIZATION" in given:
            value = given["PROGRAMMATIC_STREAM_SERIALIZATION"]
            options["overlap"] = value.programmaticStreamSerializationAllowed
        if "PRIORITY" in given:
            options["priority"] = given["PRIORITY"].priority
        return self._launch(
            function, grid, block, config.sharedMemBytes, config.hStream, params, **options
        )

    def _launch(
        self,
        handle: int,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        stream: int,
        params: int,
        cluster: int = 1,
        cooperative: int = 0,
        overlap: int = 0,
        priority: int = 0,
    ) -> Answer | None:
        function = self.functions.get(handle)
        if function is None or not self.current:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        limits = [self.attributes[f"MAX_GRID_DIM_{axis}"] for axis in "XYZ"]
        threads = block[0] * block[1] * block[2]
        allowed = function.attributes.get("MAX_DYNAMIC_SHARED_SIZE_BYTES", _PLAIN_SHARED)
        portable = not function.attributes.get("NON_PORTABLE_CLUSTER_SIZE_ALLOWED")
        if (
            any(not 0 < size <= limit for size, limit in zip(grid, limits, strict=True))
            or not 0 < threads <= self.attributes["MAX_THREADS_PER_BLOCK"]
            or (function.required_threads and threads != function.required_threads)
            or shared > allowed
            or grid[0] % cluster
            or cluster > (8 if portable else 16)
            or not -5 <= priority <= 0
        ):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        fit = self._blocks_fit(threads, shared) * self.attributes["MULTIPROCESSOR_COUNT"]
        if cooperative and grid[0] * grid[1] * grid[2] > fit:
            return (CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,)
        if threads * function.attributes["NUM_REGS"] > _REGISTERS:
            return (CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,)
        # What cuLaunchKernel does: read each parameter, with its size, through the table of
        # addresses.
        table = (ctypes.c_void_p * len(function.param_sizes)).from_address(params)
        values = [
            ctypes.string_at(address, size)
            for address, size in zip(table, function.param_sizes, strict=True)
        ]
        run = SimpleNamespace(
            name=function.name,
            params=values,
            grid=tuple(grid),
            block=tuple(block),
            shared=shared,
            stream=int(stream),
            cluster=cluster,
            cooperative=bool(cooperative),
            overlap=bool(overlap),
            priority=priority,
            view=self.view,
        )
        self.launches.append(run)
        body = self.kernels.get(function.name, lambda run: None)
        return self.enqueue(stream, lambda: body(run), ("kernel", function.name))
