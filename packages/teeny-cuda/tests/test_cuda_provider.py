"""The provider: which arrays are on a GPU, and what is told of them."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from teeny_cuda import Device
from teeny_cuda.driver import loaded, replace
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.provider import PROVIDER
from teeny_cuda.testing import fake_driver, import_library
from teeny_macros.diagnostics import LaunchError
from teeny_macros.protocol import ArrayInfo, DeviceProvider


class _Interface:
    def __init__(self, **interface: Any) -> None:
        self.__cuda_array_interface__ = {"version": 3, **interface}


def test_host_arrays_are_none_of_ours_and_load_no_driver() -> None:
    old = replace(None)
    try:
        for array in (np.zeros(3), np.float32(1), 3, "x", None, [1], object()):
            assert PROVIDER.describe(array) is None
        assert loaded() is None
    finally:
        replace(old)


def test_a_buffer_is_described(device: Device) -> None:
    buffer = device.buffer((2, 3), "bf16")
    assert PROVIDER.describe(buffer) == ArrayInfo(buffer.pointer, "bf16", 12, "cuda:0")


def test_a_typed_array_has_the_dtype_it_was_given(device: Device) -> None:
    buffer = device.buffer(4, "u16")
    typed = SimpleNamespace(array=buffer, dtype="bf16")
    assert PROVIDER.describe(typed) == ArrayInfo(buffer.pointer, "bf16", 8, "cuda:0")
    assert PROVIDER.describe(SimpleNamespace(array=np.zeros(3), dtype="f32")) is None


def test_strides_may_be_missing_or_none(device: Device) -> None:
    buffer = device.buffer(24, "f32")
    pointer = buffer.pointer
    for extra in ({}, {"strides": None}):
        array = _Interface(shape=(2, 3), typestr="<f4", data=(pointer, False), **extra)
        assert PROVIDER.describe(array) == ArrayInfo(pointer, "f32", 24, "cuda:0")


@pytest.mark.parametrize(
    ("shape", "strides", "nbytes", "contiguous"),
    [
        ((2, 3), (12, 4), 24, True),
        ((2, 3), (24, 4), 36, False),
        ((2, 3), (4, 8), 24, False),
        ((1, 3), (999, 4), 12, True),
        ((0, 3), (12, 4), 0, True),
        ((3,), (0,), 4, False),
        ((), (), 4, True),
    ],
)
def test_extent_and_contiguity_follow_the_strides(
    device: Device,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    nbytes: int,
    contiguous: bool,
) -> None:
    buffer = device.buffer(100, "f32")
    pointer = buffer.pointer
    array = _Interface(shape=shape, typestr="<f4", data=(pointer, True), strides=strides)
    found = PROVIDER.describe(array)
    assert found is not None
    assert (found.nbytes, found.contiguous, found.readonly) == (nbytes, contiguous, True)


def test_the_device_of_a_foreign_array_is_that_of_its_memory() -> None:
    with fake_driver(FakeDriver(count=2)):
        Device(0)
        buffer = Device(1).buffer(4, "f32")
        pointer = buffer.pointer
        array = _Interface(shape=(4,), typestr="<f4", data=(pointer, False))
        found = PROVIDER.describe(array)
        assert found is not None
        assert found.device == "cuda:1"
        empty = PROVIDER.describe(_Interface(shape=(0,), typestr="<f4", data=(0, False)))
        assert empty == ArrayInfo(0, "f32", 0, "cuda:0")


class _TorchTensor:
    """A tensor with torch's attributes."""

    is_cuda = True
    dtype = "torch.bfloat16"
    shape = (2, 3)
    device = SimpleNamespace(index=1)

    def __init__(self, strides: tuple[int, int]) -> None:
        self._strides = strides

    def data_ptr(self) -> int:
        return 0x1000

    def element_size(self) -> int:
        return 2

    def numel(self) -> int:
        return 6

    def stride(self) -> tuple[int, int]:
        return self._strides

    def is_contiguous(self) -> bool:
        return self._strides == (3, 1)


def test_torch_tensors_are_known_by_their_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = SimpleNamespace(
        cuda=SimpleNamespace(current_stream=lambda ordinal: SimpleNamespace(cuda_stream=ordinal))
    )
    monkeypatch.setitem(__import__("sys").modules, "torch", torch)
    whole = PROVIDER.describe(_TorchTensor((3, 1)))
    assert whole == ArrayInfo(0x1000, "bf16", 12, "cuda:1")
    part = PROVIDER.describe(_TorchTensor((10, 1)))
    assert part == ArrayInfo(0x1000, "bf16", 26, "cuda:1", contiguous=False)


class _DLPack:
    """A producer of DLPack capsules whose memory is said to lie on GPU 1."""

    def __init__(self, kind: int, dtype: tuple[int, int, int], strides: list[int] | None) -> None:
        self.kind = kind
        from teeny_cuda import dlpack

        self._shape = (ctypes.c_int64 * 2)(2, 3)
        self._strides = (ctypes.c_int64 * 2)(*strides) if strides else None
        self._tensor = dlpack._Tensor(
            0x4000,
            dlpack._Device(kind, 1),
            2,
            dlpack._DataType(*dtype),
            ctypes.cast(self._shape, ctypes.POINTER(ctypes.c_int64)),
            ctypes.cast(self._strides, ctypes.POINTER(ctypes.c_int64)) if self._strides else None,
            16,
        )
        self.streams: list[int] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 1

    def __dlpack__(self, *, stream: int) -> Any:
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self._tensor), b"dltensor", None)


@pytest.mark.parametrize(
    ("dtype", "strides", "expected"),
    [
        ((2, 32, 1), None, ArrayInfo(0x4010, "f32", 24, "cuda:1")),
        ((4, 16, 1), [3, 1], ArrayInfo(0x4010, "bf16", 12, "cuda:1")),
        ((6, 8, 1), [6, 1], ArrayInfo(0x4010, "i1", 9, "cuda:1", contiguous=False)),
        ((10, 8, 1), None, ArrayInfo(0x4010, "f8e4m3", 6, "cuda:1")),
        ((5, 64, 1), None, ArrayInfo(0x4010, "", 48, "cuda:1")),
        ((2, 32, 2), None, ArrayInfo(0x4010, "", 48, "cuda:1")),
    ],
)
def test_dlpack_arrays_are_described(
    dtype: tuple[int, int, int], strides: list[int] | None, expected: ArrayInfo
) -> None:
    array = _DLPack(2, dtype, strides)
    assert PROVIDER.describe(array) == expected
    assert array.streams == [1]


@pytest.mark.parametrize(("version", "streams"), [(2, [1]), (3, [])])
def test_an_interface_that_names_no_stream_gives_way_to_dlpack(
    device: Device, version: int, streams: list[int]
) -> None:
    buffer = device.buffer(6, "f32")
    array = _DLPack(2, (2, 32, 1), None)
    interface = {**buffer.__cuda_array_interface__, "version": version}
    array.__cuda_array_interface__ = interface  # type: ignore[attr-defined]
    assert PROVIDER.describe(array) is not None
    assert array.streams == streams


def test_dlpack_arrays_of_the_host_are_none_of_ours() -> None:
    array = _DLPack(1, (2, 32, 1), None)
    assert PROVIDER.describe(array) is None
    assert not array.streams


def test_a_dlpack_producer_that_fails_is_named() -> None:
    class Failing:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

        def __dlpack__(self, *, stream: int) -> Any:
            raise BufferError("it needs a gradient")

    with pytest.raises(LaunchError) as caught:
        PROVIDER.describe(Failing())
    assert caught.value.code == "E1076"
    assert "it needs a gradient" in str(caught.value)


def test_devices_are_found_by_name() -> None:
    with fake_driver(FakeDriver(count=2)):
        assert PROVIDER.device("cuda:1").name == "cuda:1"
        assert PROVIDER.device("cuda") is PROVIDER.device("cuda:0")
        with Device(1).context.bound():
            assert PROVIDER.device("cuda").name == "cuda:1"
        for name in ("cuda:2", "cuda:x", "cuda:-1", "gpu", "cpu"):
            with pytest.raises(LaunchError) as caught:
                PROVIDER.device(name)
            assert caught.value.code == "E1053"


def test_devices_of_an_earlier_driver_are_not_kept() -> None:
    with fake_driver():
        first = PROVIDER.device("cuda:0")
    with fake_driver():
        assert PROVIDER.device("cuda:0") != first


def test_the_provider_follows_the_protocol() -> None:
    provider: DeviceProvider = PROVIDER
    assert provider.kind == "cuda"


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float8_e5m2", "bool", "int64"])
def test_torch_tensors_are_described(gpu: Device, name: str) -> None:
    torch = import_library("torch")
    from teeny_cuda.dtypes import find_dtype

    tensor = torch.zeros(4, 6, device="cuda:0").to(getattr(torch, name))
    dtype = find_dtype(name)
    assert dtype is not None
    found = PROVIDER.describe(tensor)
    assert found == ArrayInfo(tensor.data_ptr(), dtype.name, 24 * dtype.itemsize, gpu.name)
    turned = PROVIDER.describe(tensor.t())
    assert turned is not None
    assert (turned.contiguous, turned.nbytes) == (False, 24 * dtype.itemsize)
    assert PROVIDER.describe(tensor.cpu()) is None


@pytest.mark.gpu
def test_cupy_and_jax_arrays_are_described(gpu: Device) -> None:
    cupy = import_library("cupy")
    array = cupy.zeros((4, 6), cupy.int16)
    assert PROVIDER.describe(array) == ArrayInfo(array.data.ptr, "i16", 48, gpu.name)
    jax = import_library("jax")
    found = PROVIDER.describe(jax.numpy.zeros((4, 6), jax.numpy.bfloat16))
    assert found is not None
    assert (found.dtype, found.nbytes, found.device) == ("bf16", 48, gpu.name)
