"""Modules, functions and launches of the fake driver, refused as the recorded one does."""

from __future__ import annotations

import ctypes
import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from teeny_cuda.fake_base import Answer, CUresult, Struct, bound, call, numbered, ok, waiting
from teeny_cuda.fake_code import Function, Module, RejectedError, parse_ptx
from teeny_cuda.lines import ptx_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_PORTABLE_CLUSTER, _LARGEST_CLUSTER = 8, 16
# What may be set of a function; the rest is only read.
_SETTABLE = frozenset(("MAX_DYNAMIC_SHARED_SIZE_BYTES", "NON_PORTABLE_CLUSTER_SIZE_ALLOWED"))


class FakeLaunches:
    """The functions of code and launches. `kernels` says what entry points do.

    `compiled` counts the PTX that was loaded. `cubins_fail` makes it refuse machine code, as a
    driver does that is older than the ptxas.
    """

    attributes: dict[str, int]
    handles: Iterator[int]
    version: int
    view: Callable[[int, int], memoryview]
    enqueue: Callable[..., Answer | None]
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

    def start_launches(self) -> None:
        """Begin without any code."""
        self.kernels: dict[str, Callable[[Any], None]] = {}
        self.cubins_fail = False
        self.compiled = 0
        self.launches: list[Any] = []
        self.modules: dict[int, Module] = {}
        self.functions: dict[int, Function] = {}

    @property
    def capability(self) -> int:
        """Such as 90 for sm_90."""
        return (
            10 * self.attributes["COMPUTE_CAPABILITY_MAJOR"]
            + self.attributes["COMPUTE_CAPABILITY_MINOR"]
        )

    @call
    @bound
    def cuModuleLoadDataEx(
        self, image: bytes, count: int, options: Sequence[Any], values: Sequence[Any]
    ) -> Answer:
        given = {option.name: value for option, value in zip(options, values, strict=True)}
        is_cubin = image[:4] in (b"CUBN", b"\x7fELF")
        if image[:4] == b"CUBN":  # what a test calls a cubin: PTX under another name
            image = image[4:] + b"\0"
        elif is_cubin:
            image = ptx_of(image).encode() + b"\0"
        if is_cubin and self.cubins_fail:
            return (CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU,)
        if len(given) != count or not image.endswith(b"\0"):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        try:
            module = parse_ptx(image[:-1].decode(), self.capability, self.version)
        except RejectedError as error:
            log = f"{error}\0".encode()
            given.get("CU_JIT_ERROR_LOG_BUFFER", bytearray())[: len(log)] = log
            return (CUresult(error.number),)
        self.compiled += not is_cubin
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
        limit -= found.attributes["SHARED_SIZE_BYTES"]
        name = attribute.name.removeprefix("CU_FUNC_ATTRIBUTE_")
        fits = name != "MAX_DYNAMIC_SHARED_SIZE_BYTES" or 0 <= value <= limit
        if name not in _SETTABLE or not fits:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        found.attributes[name] = value
        return None

    @call
    def cuOccupancyMaxActiveBlocksPerMultiprocessor(
        self, function: int, threads: int, shared: int
    ) -> Answer:
        if function not in self.functions:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        if threads <= 0:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        return ok(self._blocks_fit(threads, shared))

    def _blocks_fit(self, threads: int, shared: int) -> int:
        """Blocks that a multiprocessor runs at the same time."""
        by_memory = self.attributes["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"] // max(1, shared)
        by_threads = self.attributes["MAX_THREADS_PER_MULTIPROCESSOR"] // max(1, threads)
        return min(by_threads, by_memory, self.attributes["MAX_BLOCKS_PER_MULTIPROCESSOR"])

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
        options: dict[str, Any] = {"cooperative": 0, "overlap": 0, "priority": 0}
        if "CLUSTER_DIMENSION" in given:
            shape = given["CLUSTER_DIMENSION"].clusterDim
            options["cluster"] = (shape.x, shape.y, shape.z)
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
        cluster: tuple[int, ...] = (),
        cooperative: int = 0,
        overlap: int = 0,
        priority: int = 0,
    ) -> Answer | None:
        if not self.current:  # type: ignore[attr-defined]
            return (CUresult.CUDA_ERROR_INVALID_CONTEXT,)
        function = self.functions.get(handle)
        if function is None:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        refusal = self._refusal(function, grid, block, shared, cluster)
        if refusal is not None:
            return (refusal,)
        threads = math.prod(block)
        fit = self._blocks_fit(threads, shared) * self.attributes["MULTIPROCESSOR_COUNT"]
        if cooperative and math.prod(grid) > fit:
            return (CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,)
        registers = self.attributes["MAX_REGISTERS_PER_BLOCK"]
        if threads * function.attributes["NUM_REGS"] > registers:
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
            cluster=math.prod(cluster or function.required_cluster or (1,)),
            cooperative=bool(cooperative),
            overlap=bool(overlap),
            priority=priority,
            view=self.view,
        )
        self.launches.append(run)
        body = self.kernels.get(function.name, lambda run: None)
        return self.enqueue(stream, lambda: body(run), ("kernel", function.name))

    def _refusal(
        self,
        function: Function,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        cluster: tuple[int, ...],
    ) -> CUresult | None:
        """Why the sizes of a launch are refused."""
        attributes, own = self.attributes, function.attributes
        limits = [attributes[f"MAX_GRID_DIM_{axis}"] for axis in "XYZ"]
        sides = [attributes[f"MAX_BLOCK_DIM_{axis}"] for axis in "XYZ"]
        if (
            any(not 0 < size <= limit for size, limit in zip(grid, limits, strict=True))
            or any(not 0 < size <= limit for size, limit in zip(block, sides, strict=True))
            or math.prod(block) > min(own["MAX_THREADS_PER_BLOCK"], 1024)
            or (function.required_block and tuple(block) != function.required_block)
            or shared > own["MAX_DYNAMIC_SHARED_SIZE_BYTES"]
        ):
            return CUresult.CUDA_ERROR_INVALID_VALUE
        required = function.required_cluster
        cluster = cluster or required
        if not cluster:
            return None
        allowed = own.get("NON_PORTABLE_CLUSTER_SIZE_ALLOWED")
        if (
            (required and cluster != required)
            or not 0 < math.prod(cluster) <= (_LARGEST_CLUSTER if allowed else _PORTABLE_CLUSTER)
            or any(size % part for size, part in zip(grid, cluster, strict=True))
        ):
            return CUresult.CUDA_ERROR_INVALID_CLUSTER_SIZE
        return None
