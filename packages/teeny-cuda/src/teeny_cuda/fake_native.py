"""The fake driver's functions as C functions, for machine code that calls the driver by address."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from teeny_cuda.fake_base import Answer, CUresult, call, ok

if TYPE_CHECKING:
    from collections.abc import Callable

_POINTER, _UNSIGNED = ctypes.c_void_p, ctypes.c_uint
_LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, *[_UNSIGNED] * 7, _POINTER, _POINTER, _POINTER)
_LAUNCH_EX = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _POINTER, _POINTER, _POINTER)
_ONE = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER)
_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, ctypes.c_size_t, _POINTER)
_TWO = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _POINTER)
_ENCODE = ctypes.CFUNCTYPE(
    ctypes.c_int, _POINTER, ctypes.c_int, _UNSIGNED, *[_POINTER] * 5, *[ctypes.c_int] * 4
)
# Where the driver's header has what: CUlaunchConfig, and CUlaunchAttribute of 72 bytes.
_STREAM_AT, _ATTRIBUTES_AT, _COUNT_AT, _ATTRIBUTE_BYTES = 32, 40, 48, 72
_MAP_ALIGNMENT = 64
_MEMBERS = {
    2: "cooperative",
    5: "clusterSchedulingPolicyPreference",
    6: "programmaticStreamSerializationAllowed",
    8: "priority",
}


class FakeNative:
    """`cuGetProcAddress`, and the functions whose addresses it gives."""

    CUlaunchAttributeID: Any

    @call
    def cuGetProcAddress(self, name: bytes, version: int, flags: int) -> Answer:
        kept: dict[bytes, Any] = self.__dict__.setdefault("native", {})
        if name not in kept:
            made = self._native(name)
            if made is None:
                return (CUresult.CUDA_ERROR_NOT_FOUND, 0, 1)
            kept[name] = made
        return ok(ctypes.cast(kept[name], _POINTER).value, 0)

    def _native(self, name: bytes) -> Any:
        driver: Any = self

        def status(function: Callable[..., Answer], *args: Any) -> int:
            return int(function(*args)[0])

        def get_current(out: int) -> int:
            number, *values = driver.cuCtxGetCurrent()
            _POINTER.from_address(out).value = values[0] if values else None
            return int(number)

        def pop(out: int) -> int:
            number, *values = driver.cuCtxPopCurrent()
            _POINTER.from_address(out).value = values[0] if values else None
            return int(number)

        def launch(function: int, *rest: Any) -> int:
            *sizes, stream, params, extra = rest
            return status(driver.cuLaunchKernel, function, *sizes, stream or 0, params, extra)

        def launch_ex(config: int, function: int, params: int, extra: int) -> int:
            read = self._read_config(config)
            return status(driver.cuLaunchKernelEx, read, function, params, extra)

        def push(context: int) -> int:
            return status(driver.cuCtxPushCurrent, context)

        def allocate(out: int, nbytes: int, stream: int) -> int:
            number, *values = driver.cuMemAllocAsync(nbytes, stream or 0)
            _POINTER.from_address(out).value = values[0] if values else None
            return int(number)

        def free(pointer: int, stream: int) -> int:
            return status(driver.cuMemFreeAsync, pointer or 0, stream or 0)

        def number_of(stream: int, out: int) -> int:
            number, *values = driver.cuStreamGetId(stream or 0)
            if values:
                ctypes.c_uint64.from_address(out).value = values[0]
            return int(number)

        def is_capturing(stream: int, out: int) -> int:
            number, *values = driver.cuStreamIsCapturing(stream or 0)
            if values:
                ctypes.c_int.from_address(out).value = values[0]
            return int(number)

        return {
            b"cuStreamGetId": _TWO(number_of),
            b"cuStreamIsCapturing": _TWO(is_capturing),
            b"cuMemAllocAsync": _ALLOCATE(allocate),
            b"cuMemFreeAsync": _TWO(free),
            b"cuTensorMapEncodeTiled": _ENCODE(self._encode),
            b"cuLaunchKernel": _LAUNCH(launch),
            b"cuLaunchKernelEx": _LAUNCH_EX(launch_ex),
            b"cuCtxGetCurrent": _ONE(get_current),
            b"cuCtxPushCurrent": _ONE(push),
            b"cuCtxPopCurrent": _ONE(pop),
        }.get(name)

    def _encode(
        self, out: int, kind: int, rank: int, pointer: int, sides: int, strides: int, box: int,
        steps: int, *options: int,
    ) -> int:  # fmt: skip
        """A tensor map, whose memory has to be aligned."""
        driver: Any = self
        if out % _MAP_ALIGNMENT:
            return int(CUresult.CUDA_ERROR_INVALID_VALUE)
        wide, narrow = ctypes.c_uint64, ctypes.c_uint32
        lists = (
            list((kind_of * count).from_address(at))
            for kind_of, count, at in (
                (wide, rank, sides), (wide, rank - 1, strides), (narrow, rank, box),
                (narrow, rank, steps),
            )
        )  # fmt: skip
        number, *values = driver.cuTensorMapEncodeTiled(kind, rank, pointer or 0, *lists, *options)
        if values:
            (wide * 16).from_address(out)[:] = values[0].opaque
        return int(number)

    def _read_config(self, address: int) -> Any:
        """A CUlaunchConfig in memory as the object that cuda-python has for it."""
        numbers = (_UNSIGNED * 7).from_address(address)
        count = _UNSIGNED.from_address(address + _COUNT_AT).value
        start = _POINTER.from_address(address + _ATTRIBUTES_AT).value or 0
        rows = []
        for at in range(count):
            row = start + at * _ATTRIBUTE_BYTES
            number = _UNSIGNED.from_address(row).value
            values = (ctypes.c_int * 3).from_address(row + 8)
            value = SimpleNamespace()
            if number == 4:
                value.clusterDim = SimpleNamespace(x=values[0], y=values[1], z=values[2])
            else:
                setattr(value, _MEMBERS[number], values[0])
            rows.append(SimpleNamespace(id=self.CUlaunchAttributeID(number), value=value))
        return SimpleNamespace(
            gridDimX=numbers[0],
            gridDimY=numbers[1],
            gridDimZ=numbers[2],
            blockDimX=numbers[3],
            blockDimY=numbers[4],
            blockDimZ=numbers[5],
            sharedMemBytes=numbers[6],
            hStream=_POINTER.from_address(address + _STREAM_AT).value or 0,
            attrs=rows,
            numAttrs=count,
        )
