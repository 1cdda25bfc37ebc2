"""Devices, memory, streams, events and graphs that a CUDA driver refuses: more trials."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from teeny_cuda.fake_probe import BOGUS, SUCCESS, TRIALS, Probe, Trial, trial


# --- start ----------------------------------------------------------------------------------------
@trial("start: calls before cuInit", alone=True, started=False)
def _(probe: Probe) -> tuple[int, ...]:
    return (
        probe.attempt("cuDeviceGetCount"),
        probe.attempt("cuMemAlloc", 256),
        probe.attempt("cuCtxGetCurrent"),
    )


@trial("device: number 99")
def _(probe: Probe) -> int:
    return probe.attempt("cuDeviceGet", 99)


@trial("device: number -1")
def _(probe: Probe) -> int:
    return probe.attempt("cuDeviceGet", -1)


# Calls that need a context, with their arguments.
_BOUND: dict[str, tuple[Any, ...]] = {
    "cuMemAlloc": (256,),
    "cuMemGetInfo": (),
    "cuCtxSynchronize": (),
    "cuCtxGetDevice": (),
    "cuCtxPopCurrent": (),
    "cuStreamCreateWithPriority": (0, 0),
    "cuEventCreate": (0,),
    "cuMemHostAlloc": (4096, 0),
    "cuCtxGetStreamPriorityRange": (),
    "cuCtxGetCurrent": (),
    "cuMemAllocAsync": (256, 0),
    "cuStreamSynchronize": (0,),
}


def _add_bound() -> None:
    for name, args in _BOUND.items():

        def run(probe: Probe, name: str = name, args: tuple[Any, ...] = args) -> int:
            probe.must("cuCtxPopCurrent")
            return probe.attempt(name, *args)

        TRIALS[f"no context: {name}"] = Trial(run, alone=True)


_add_bound()


# --- memory ---------------------------------------------------------------------------------------
def _simple(name: str, call: str, *args: Any, alone: bool = False) -> None:
    TRIALS[name] = Trial(lambda probe: probe.attempt(call, *args), alone)


for _bytes in (0, 1, 1 << 50, 2**64 - 1):
    _simple(f"memory: {_bytes} bytes", "cuMemAlloc", _bytes)
    _simple(f"memory: {_bytes} bytes in order", "cuMemAllocAsync", _bytes, 0)
    if _bytes != 1:
        _simple(f"memory: {_bytes} pinned bytes", "cuMemHostAlloc", _bytes, 0)
_simple("memory: null freed", "cuMemFree", 0)
_simple("memory: a bogus address freed", "cuMemFree", BOGUS)
_simple("memory: a bogus address freed in order", "cuMemFreeAsync", BOGUS, 0)
_simple("memory: null freed in order", "cuMemFreeAsync", 0, 0)
_simple("memory: a bogus pinned address freed", "cuMemFreeHost", BOGUS)
_simple("memory: a byte of a bogus address set", "cuMemsetD8Async", BOGUS, 0, 4, 0)
_simple("memory: nothing of null set", "cuMemsetD8Async", 0, 0, 0, 0)


@trial("memory: freed twice")
def _(probe: Probe) -> tuple[int, ...]:
    pointer = probe.must("cuMemAlloc", 256)
    return probe.attempt("cuMemFree", pointer), probe.attempt("cuMemFree", pointer)


@trial("memory: freed in its middle")
def _(probe: Probe) -> tuple[int, ...]:
    pointer = probe.must("cuMemAlloc", 1024)
    return probe.attempt("cuMemFree", int(pointer) + 256), probe.attempt("cuMemFree", pointer)


@trial("memory: freed twice in order")
def _(probe: Probe) -> tuple[int, ...]:
    pointer = probe.must("cuMemAllocAsync", 256, 0)
    first = probe.attempt("cuMemFreeAsync", pointer, 0)
    second = probe.attempt("cuMemFreeAsync", pointer, 0)
    return first, second, probe.attempt("cuCtxSynchronize")


@trial("memory: of a stream freed at once")
def _(probe: Probe) -> tuple[int, ...]:
    pointer = probe.must("cuMemAllocAsync", 256, 0)
    return probe.attempt("cuMemFree", pointer), probe.attempt("cuCtxSynchronize")


@trial("memory: at once freed in order")
def _(probe: Probe) -> tuple[int, ...]:
    pointer = probe.must("cuMemAlloc", 256)
    first = probe.attempt("cuMemFreeAsync", pointer, 0)
    return first, probe.attempt("cuCtxSynchronize")


@trial("memory: pinned memory freed twice")
def _(probe: Probe) -> tuple[int, ...]:
    pointer = probe.must("cuMemHostAlloc", 4096, 0)
    return probe.attempt("cuMemFreeHost", pointer), probe.attempt("cuMemFreeHost", pointer)


@trial("memory: words of 4 and 2 bytes off their boundary")
def _(probe: Probe) -> tuple[int, ...]:
    pointer = int(probe.must("cuMemAlloc", 256))
    return (
        probe.attempt("cuMemsetD32Async", pointer + 2, 0, 1, 0),
        probe.attempt("cuMemsetD16Async", pointer + 1, 0, 1, 0),
        probe.attempt("cuMemsetD8Async", pointer + 1, 0, 1, 0),
        probe.attempt("cuMemsetD2D32Async", pointer + 2, 8, 0, 1, 1, 0),
        probe.attempt("cuMemsetD2D32Async", pointer, 8, 0, 3, 2, 0),
        probe.attempt("cuCtxSynchronize"),
    )


@trial("memory: copies of bogus addresses")
def _(probe: Probe) -> tuple[int, ...]:
    host = ctypes.create_string_buffer(64)
    start = ctypes.addressof(host)
    pointer = int(probe.must("cuMemAlloc", 256))
    return (
        probe.attempt("cuMemcpyHtoDAsync", BOGUS, start, 64, 0),
        probe.attempt("cuMemcpyDtoHAsync", start, BOGUS, 64, 0),
        probe.attempt("cuMemcpyHtoDAsync", pointer, start, 64, 0),
        probe.attempt("cuMemcpyHtoDAsync", 0, start, 64, 0),
        probe.attempt("cuMemcpyHtoDAsync", pointer, start, 0, 0),
        probe.attempt("cuCtxSynchronize"),
    )


@trial("memory: more copied than there is")
def _(probe: Probe) -> tuple[int, ...]:
    size = 64 << 20
    pointer = int(probe.must("cuMemAlloc", size))
    host = ctypes.create_string_buffer(size + 64)
    start = ctypes.addressof(host)
    return (
        probe.attempt("cuMemcpyHtoDAsync", pointer + 64, start, size, 0),
        probe.attempt("cuMemcpyDtoHAsync", start, pointer + 64, size, 0),
        probe.attempt("cuMemsetD8Async", pointer + 64, 0, size, 0),
        probe.attempt("cuMemFree", pointer),
    )


@trial("memory: the owner of an address")
def _(probe: Probe) -> tuple[int, ...]:
    kind = probe.member("CUpointer_attribute", "CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL")
    pointer = int(probe.must("cuMemAlloc", 256))
    inside = probe.attempt("cuPointerGetAttribute", kind, pointer + 8)
    probe.must("cuMemFree", pointer)
    return (
        inside,
        probe.attempt("cuPointerGetAttribute", kind, BOGUS),
        probe.attempt("cuPointerGetAttribute", kind, 0),
    )


@trial("pool: an attribute that is only read")
def _(probe: Probe) -> int:
    pool = probe.must("cuDeviceGetDefaultMemPool", probe.device)
    kind = probe.member("CUmemPool_attribute", "CU_MEMPOOL_ATTR_USED_MEM_CURRENT")
    number: Any = getattr(probe.api, "cuuint64_t", int)(5)
    return probe.attempt("cuMemPoolSetAttribute", pool, kind, number)


@trial("peer: access to itself")
def _(probe: Probe) -> tuple[int, ...]:
    first = probe.attempt("cuDeviceCanAccessPeer", probe.device, probe.device)
    assert not int(probe.value)
    return first, probe.attempt("cuCtxEnablePeerAccess", probe.context, 0)


# --- streams and events ---------------------------------------------------------------------------
for _priority in (0, -5, -99, 99):
    _simple(
        f"stream: priority {_priority}",
        "cuStreamCreateWithPriority",
        0,
        _priority,
    )
_simple("stream: unknown flags", "cuStreamCreateWithPriority", 77, 0)
_simple("stream: the default one destroyed", "cuStreamDestroy", 0)
_simple("event: unknown flags", "cuEventCreate", 0x77)

for _call in ("cuStreamSynchronize", "cuStreamQuery", "cuStreamDestroy"):
    for _state in ("bogus", "destroyed"):

        def _stream_call(probe: Probe, name: str = _call, state: str = _state) -> int:
            stream: Any = BOGUS
            if state == "destroyed":
                stream = probe.stream()
                probe.must("cuStreamDestroy", stream)
            return probe.attempt(name, stream)

        TRIALS[f"stream: {_state} in {_call}"] = Trial(_stream_call, alone=True)

for _call in ("cuEventSynchronize", "cuEventQuery", "cuEventDestroy"):
    for _state in ("null", "bogus", "destroyed"):

        def _event_call(probe: Probe, name: str = _call, state: str = _state) -> int:
            event: Any = 0 if state == "null" else BOGUS
            if state == "destroyed":
                event = probe.must("cuEventCreate", 0)
                probe.must("cuEventDestroy", event)
            return probe.attempt(name, event)

        TRIALS[f"event: {_state} in {_call}"] = Trial(_event_call, alone=True)


@trial("event: null waited for and recorded")
def _(probe: Probe) -> tuple[int, ...]:
    stream = probe.stream()
    return (
        probe.attempt("cuStreamWaitEvent", stream, 0, 0),
        probe.attempt("cuEventRecord", 0, stream),
    )


@trial("event: never recorded")
def _(probe: Probe) -> tuple[int, ...]:
    one, two = probe.must("cuEventCreate", 0), probe.must("cuEventCreate", 0)
    return (
        probe.attempt("cuEventQuery", one),
        probe.attempt("cuEventSynchronize", one),
        probe.attempt("cuStreamWaitEvent", 0, one, 0),
        probe.attempt("cuEventElapsedTime", one, two),
    )


@trial("event: time to one that is not done")
def _(probe: Probe) -> tuple[int, ...]:
    one, two = probe.must("cuEventCreate", 0), probe.must("cuEventCreate", 0)
    stream = probe.busy_stream()
    probe.must("cuEventRecord", one, stream)
    probe.must("cuEventRecord", two, stream)
    return (
        probe.attempt("cuStreamQuery", stream),
        probe.attempt("cuEventQuery", two),
        probe.attempt("cuEventElapsedTime", one, two),
        probe.attempt("cuEventSynchronize", two),
        probe.attempt("cuEventElapsedTime", one, two),
    )


@trial("event: time without timing")
def _(probe: Probe) -> int:
    one, two = probe.must("cuEventCreate", 2), probe.must("cuEventCreate", 2)
    for event in (one, two):
        probe.must("cuEventRecord", event, 0)
    probe.must("cuCtxSynchronize")
    return probe.attempt("cuEventElapsedTime", one, two)


@trial("stream: destroyed with work in flight")
def _(probe: Probe) -> tuple[int, ...]:
    stream = probe.busy_stream()
    return probe.attempt("cuStreamDestroy", stream), probe.attempt("cuCtxSynchronize")


# --- captures and graphs --------------------------------------------------------------------------
def _captured(probe: Probe, mode: str = "GLOBAL") -> Any:
    stream = probe.stream()
    kind = probe.member("CUstreamCaptureMode", f"CU_STREAM_CAPTURE_MODE_{mode}")
    probe.must("cuStreamBeginCapture", stream, kind)
    return stream


# What is called while another stream is captured, then the end of the capture.
_IN_CAPTURE: dict[str, Callable[[Probe, Any], int]] = {
    "a wait for its stream": lambda p, s: p.attempt("cuStreamSynchronize", s),
    "a question to its stream": lambda p, s: p.attempt("cuStreamQuery", s),
    "a wait for the device": lambda p, s: p.attempt("cuCtxSynchronize"),
    "a wait for the default stream": lambda p, s: p.attempt("cuStreamSynchronize", 0),
    "an allocation": lambda p, s: p.attempt("cuMemAlloc", 256),
    "an allocation in order": lambda p, s: p.attempt("cuMemAllocAsync", 256, s),
    "pinned memory": lambda p, s: p.attempt("cuMemHostAlloc", 4096, 0),
    "a new stream": lambda p, s: p.attempt("cuStreamCreateWithPriority", 1, 0),
    "a new event": lambda p, s: p.attempt("cuEventCreate", 0),
    "another capture of it": lambda p, s: p.attempt(
        "cuStreamBeginCapture",
        s,
        p.member("CUstreamCaptureMode", "CU_STREAM_CAPTURE_MODE_GLOBAL"),
    ),
    "code": lambda p, s: p.load(),
    "memory freed": lambda p, s: p.attempt("cuMemFree", 0),
    "a question for memory": lambda p, s: p.attempt("cuMemGetInfo"),
}


def _add_captures() -> None:
    for name, call in _IN_CAPTURE.items():
        for mode in ("GLOBAL", "THREAD_LOCAL", "RELAXED"):

            def run(
                probe: Probe, call: Callable[[Probe, Any], int] = call, mode: str = mode
            ) -> tuple[int, ...]:
                stream = _captured(probe, mode)
                first = call(probe, stream)
                return first, probe.attempt("cuStreamEndCapture", stream)

            TRIALS[f"capture ({mode.lower()}): {name}"] = Trial(run, alone=True)


_add_captures()


@trial("capture: of the default stream")
def _(probe: Probe) -> int:
    kind = probe.member("CUstreamCaptureMode", "CU_STREAM_CAPTURE_MODE_GLOBAL")
    return probe.attempt("cuStreamBeginCapture", 0, kind)


@trial("capture: ended without a beginning")
def _(probe: Probe) -> int:
    return probe.attempt("cuStreamEndCapture", probe.stream())


@trial("capture: the default stream used in it", alone=True)
def _(probe: Probe) -> tuple[int, ...]:
    function, pointer = probe.function("nothing"), probe.must("cuMemAlloc", 256)
    stream = probe.must("cuStreamCreateWithPriority", 0, 0)  # one that waits for the default one
    kind = probe.member("CUstreamCaptureMode", "CU_STREAM_CAPTURE_MODE_GLOBAL")
    probe.must("cuStreamBeginCapture", stream, kind)
    first = probe.launch(function)
    second = probe.attempt("cuMemsetD8Async", pointer, 0, 4, 0)
    return first, second, probe.attempt("cuStreamEndCapture", stream)


def _graph(probe: Probe, kernels: tuple[str, ...], nbytes: int = 0) -> Any:
    functions = [probe.function(name) for name in kernels]
    pointer = probe.must("cuMemAlloc", 256)
    stream = _captured(probe)
    for function in functions:
        assert probe.launch(function, stream=stream) == SUCCESS
    if nbytes:
        probe.must("cuMemsetD8Async", pointer, 0, nbytes, stream)
    return probe.must("cuStreamEndCapture", stream)


@trial("graph: launched, updated, and updated with more work")
def _(probe: Probe) -> tuple[int, ...]:
    run = probe.must("cuGraphInstantiate", _graph(probe, ("nothing",), 4), 0)
    same, more = _graph(probe, ("nothing",), 8), _graph(probe, ("nothing", "nothing"), 4)
    return (
        probe.attempt("cuGraphLaunch", run, 0),
        probe.attempt("cuGraphExecUpdate", run, same),
        probe.attempt("cuGraphExecUpdate", run, more),
        probe.attempt("cuGraphLaunch", run, 0),
        probe.attempt("cuCtxSynchronize"),
        probe.attempt("cuGraphExecDestroy", run),
        probe.attempt("cuGraphDestroy", same),
    )


for _call in ("cuGraphDestroy", "cuGraphExecDestroy"):
    _simple(f"graph: null in {_call}", _call, 0, alone=True)
_simple("graph: null launched", "cuGraphLaunch", 0, 0, alone=True)
_simple("graph: null instantiated", "cuGraphInstantiate", 0, 0, alone=True)
_simple("graph: a bogus one launched", "cuGraphLaunch", BOGUS, 0, alone=True)


@trial("graph: launched after its end", alone=True)
def _(probe: Probe) -> int:
    run = probe.must("cuGraphInstantiate", _graph(probe, ("nothing",)), 0)
    probe.must("cuGraphExecDestroy", run)
    return probe.attempt("cuGraphLaunch", run, 0)


# --- tensor maps ----------------------------------------------------------------------------------
# A row of 64 x 256 f32 in boxes of 32 x 8, with one thing changed.
_MAPS: dict[str, dict[str, Any]] = {
    "a good one": {},
    "an address off 16 bytes": {"pointer": 8},
    "no rows": {"sizes": (256, 0)},
    "2**32 columns": {"sizes": (2**32, 64)},
    "2**32 + 1 columns": {"sizes": (2**32 + 1, 64)},
    "rows off 16 bytes": {"strides": (1028,)},
    "rows of no bytes": {"strides": (0,)},
    "rows of 2**40 bytes": {"strides": (2**40,)},
    "rows of 2**40 - 16 bytes": {"strides": (2**40 - 16,)},
    "rows that overlap": {"strides": (512,)},
    "a box of 256 rows": {"box": (32, 256)},
    "a box of 257 rows": {"box": (32, 257)},
    "a box of no rows": {"box": (32, 0)},
    "a box of 12 bytes": {"box": (3, 8)},
    "a box larger than the array": {"box": (32, 128)},
    "a box wider than its swizzle": {"box": (64, 8), "swizzle": "128B"},
    "a box as wide as its swizzle": {"box": (32, 8), "swizzle": "128B"},
    "a box wider than a swizzle of 32": {"box": (16, 8), "swizzle": "32B"},
    "steps of 8": {"steps": (1, 8)},
    "steps of 9": {"steps": (1, 9)},
    "steps of 0": {"steps": (1, 0)},
}


def _add_maps() -> None:
    for name, changes in _MAPS.items():

        def run(probe: Probe, changes: dict[str, Any] = changes) -> int:
            base = int(probe.must("cuMemAlloc", 65536))
            swizzle = changes.get("swizzle", "NONE")
            kinds = ("CUtensorMapL2promotion", "CUtensorMapFloatOOBfill")
            names = ("CU_TENSOR_MAP_L2_PROMOTION_NONE", "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE")
            wide = getattr(probe.api, "cuuint64_t", int)
            narrow = getattr(probe.api, "cuuint32_t", int)
            return probe.attempt(
                "cuTensorMapEncodeTiled",
                probe.member("CUtensorMapDataType", "CU_TENSOR_MAP_DATA_TYPE_FLOAT32"),
                2,
                base + changes.get("pointer", 0),
                [wide(n) for n in changes.get("sizes", (256, 64))],
                [wide(n) for n in changes.get("strides", (1024,))],
                [narrow(n) for n in changes.get("box", (32, 8))],
                [narrow(n) for n in changes.get("steps", (1, 1))],
                probe.member("CUtensorMapInterleave", "CU_TENSOR_MAP_INTERLEAVE_NONE"),
                probe.member("CUtensorMapSwizzle", f"CU_TENSOR_MAP_SWIZZLE_{swizzle}"),
                *(probe.member(kind, of) for kind, of in zip(kinds, names, strict=True)),
            )

        TRIALS[f"tensor map: {name}"] = Trial(run)


_add_maps()
