"""Buffers: contents, conversions, lifetime."""

from __future__ import annotations

import gc
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny_cuda import Buffer, Device
from teeny_cuda.dtypes import DTYPES, host_dtype
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.testing import fake_driver, import_library
from teeny_macros.diagnostics import LaunchError
from teeny_macros.protocol import Buffer as BufferProtocol


class _Typed:
    """What `tl.typed` gives: an array with the name of its element type."""

    def __init__(self, array: Any, dtype: str) -> None:
        self.array = array
        self.dtype = dtype


def _samples(dtype: str) -> Any:
    numbers = [0, 1, 1, 0, 1, 0] if dtype == "i1" else [0, 1, 2, 3, 100, 7]
    return np.array(numbers).astype(host_dtype(DTYPES[dtype])).reshape(2, 3)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_contents_come_back_as_they_went(device: Device, dtype: str) -> None:
    _round_trip(device, dtype)


def test_memory_that_only_cycles_hold_is_found_before_memory_is_exhausted() -> None:
    with fake_driver(FakeDriver(memory=1 << 20)):
        device = Device(0)
        gc.collect()
        gc.disable()
        try:
            for _ in range(5):
                cycle: list[Any] = [device.buffer(700_000, "u8")]
                cycle.append(cycle)
                del cycle
        finally:
            gc.enable()
        with pytest.raises(LaunchError) as caught:
            device.buffer(2 << 20, "u8")
        assert caught.value.code == "E1059"
        device.synchronize()


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_contents_come_back_from_the_gpu_as_they_went(gpu: Device, dtype: str) -> None:
    _round_trip(gpu, dtype)


def _round_trip(device: Device, dtype: str) -> None:
    array = _samples(dtype)
    buffer = device.buffer((2, 3), dtype)
    buffer.copy_from(array)
    back = buffer.to_host()
    assert back.dtype == array.dtype
    assert back.shape == (2, 3)
    assert back.tobytes() == array.tobytes()
    assert buffer.nbytes == 6 * DTYPES[dtype].itemsize
    copy = device.copy_of(buffer)
    buffer.release()
    assert copy.to_host().tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_fill_sets_every_element(device: Device, dtype: str) -> None:
    _fill(device, dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_fill_sets_every_element_on_the_gpu(gpu: Device, dtype: str) -> None:
    _fill(gpu, dtype)


def _fill(device: Device, dtype: str) -> None:
    number: float = 1 if dtype == "i1" else 3
    buffer = device.buffer(1001, dtype)
    buffer.fill(number)
    wanted = np.array(number).astype(host_dtype(DTYPES[dtype]))
    assert buffer.to_host().tobytes() == wanted.tobytes() * 1001


def test_fill_of_eight_bytes_sets_both_words(device: Device) -> None:
    buffer = device.buffer(5, "u64")
    for number in (0x0123456789ABCDEF, 0x1111111111111111, 0):
        buffer.fill(number)
        assert buffer.to_host().tolist() == [number] * 5


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("u8", 300), ("i32", 1.5), ("i8", -129), ("f32", "one"), ("f32", object())],
)
def test_fill_refuses_what_the_dtype_cannot_hold(device: Device, dtype: str, value: Any) -> None:
    buffer = device.buffer(4, dtype)
    with pytest.raises(LaunchError) as caught:
        buffer.fill(value)
    assert caught.value.code == "E1070"


def test_dtypes_are_named_by_kernels_numpy_and_ml_dtypes(device: Device) -> None:
    class DslType:
        name = "bf16"

    for spec, name in (
        ("f32", "f32"),
        ("float32", "f32"),
        (np.float64, "f64"),
        (np.dtype("uint16"), "u16"),
        (ml_dtypes.bfloat16, "bf16"),
        (np.dtype(ml_dtypes.float8_e5m2), "f8e5m2"),
        (bool, "i1"),
        (DslType, "bf16"),
    ):
        assert device.buffer(1, spec).dtype == name
    with pytest.raises(LaunchError) as caught:
        device.buffer(1, "complex64")
    assert caught.value.code == "E1071"


def test_bits_of_bf16_come_from_unsigned_and_typed_arrays(device: Device) -> None:
    values = np.array([1.5, -2.0, 3.25], ml_dtypes.bfloat16)
    for array in (values, values.view(np.uint16), _Typed(values.view(np.uint16), "bf16")):
        buffer = device.buffer(3, "bf16")
        buffer.copy_from(array)
        assert buffer.to_host().tolist() == [1.5, -2.0, 3.25]
    with pytest.raises(LaunchError):
        device.buffer(3, "bf16").copy_from(_Typed(values.view(np.uint16), "f16"))
    with pytest.raises(LaunchError):
        device.buffer(3, "f32").copy_from(np.zeros(3, np.uint32))


def test_without_ml_dtypes_bf16_is_its_bits(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.array([1.5, -2.0], ml_dtypes.bfloat16).view(np.uint16)
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    buffer = device.buffer(2, "bf16")
    buffer.copy_from(values)
    assert buffer.to_host().dtype == np.uint16
    assert buffer.to_host().tobytes() == values.tobytes()
    with pytest.raises(LaunchError, match="ml_dtypes"):
        buffer.fill(1.0)


def test_a_strided_host_array_is_copied_in_order(device: Device) -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4).T
    buffer = device.copy_of(array)
    assert buffer.shape == (4, 3)
    assert buffer.to_host().tolist() == array.tolist()


def test_scalars_and_lists_become_elements(device: Device) -> None:
    buffer = device.buffer((), "f16")
    buffer.copy_from(2.5)
    assert buffer.to_host() == np.float16(2.5)
    assert device.copy_of([[1, 2], [3, 4]]).dtype == "i64"


@pytest.mark.parametrize("array", [np.zeros(4, np.float32), np.zeros((3, 1), np.float32)])
def test_another_shape_is_refused(device: Device, array: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        device.buffer(3, "f32").copy_from(array)
    assert caught.value.code == "E1070"
    assert str(array.shape) in str(caught.value)


def test_another_dtype_is_refused_from_host_and_gpu(device: Device) -> None:
    buffer = device.buffer(3, "f32")
    for array in (np.zeros(3), device.buffer(3, "i32")):
        with pytest.raises(LaunchError) as caught:
            buffer.copy_from(array)
        assert caught.value.code == "E1070"


@pytest.mark.parametrize("shape", [-1, (2, -3), 1.5, ("a",), None])
def test_what_is_no_shape_is_refused(device: Device, shape: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        device.buffer(shape, "f32")
    assert caught.value.code == "E1077"


def test_an_empty_buffer_needs_no_memory(fake: FakeDriver, device: Device) -> None:
    buffer = device.buffer((0, 5), "f32")
    buffer.fill(1.0)
    buffer.copy_from(np.zeros((0, 5), np.float32))
    assert buffer.to_host().shape == (0, 5)
    assert (buffer.pointer, buffer.nbytes, fake.memories[0].used) == (0, 0, 0)
    buffer.release()
    assert not buffer.is_released


def test_too_large_a_buffer_says_how_large(device: Device) -> None:
    with pytest.raises(LaunchError) as caught:
        device.buffer((1 << 20, 1 << 12), "f64")
    assert caught.value.code == "E1059"
    assert "f64[1048576, 4096] of 34359738368 bytes on cuda:0" in str(caught.value)
    assert device.buffer(8, "f32").pointer


def test_memory_is_given_back_once(fake: FakeDriver, device: Device) -> None:
    memory = fake.memories[0]
    buffer = device.buffer(100, "f32")
    buffer.release()
    buffer.release()
    assert memory.used == 0
    with device.buffer(100, "f32") as block:
        assert memory.used == 400
        kept = block
    assert kept.is_released
    device.buffer(100, "f32")
    gc.collect()
    assert memory.used == 0
    assert fake.calls.count("cuMemFree") == 3


def test_memory_is_given_back_when_the_block_fails(fake: FakeDriver, device: Device) -> None:
    with pytest.raises(ZeroDivisionError), device.buffer(100, "f32"):
        _ = 1 / 0
    assert fake.memories[0].used == 0


def test_a_released_buffer_is_not_used(device: Device) -> None:
    buffer = device.buffer(4, "f32")
    buffer.release()
    for use in (lambda: buffer.pointer, buffer.to_host, lambda: buffer.fill(0)):
        with pytest.raises(LaunchError) as caught:
            use()
        assert caught.value.code == "E1069"
    assert repr(buffer) == "Buffer(f32[4] on cuda:0, released)"


def test_the_representation_shows_what_it_is(device: Device) -> None:
    buffer = device.buffer((2, 3), "bf16")
    assert repr(buffer) == f"Buffer(bf16[2, 3] on cuda:0, at {buffer.pointer:#x})"
    assert len(buffer) == 2


def test_the_array_interface_is_version_three(device: Device) -> None:
    buffer = device.buffer((2, 3), "f32")
    assert buffer.__cuda_array_interface__ == {
        "shape": (2, 3),
        "typestr": "<f4",
        "data": (buffer.pointer, False),
        "strides": None,
        "stream": None,
        "version": 3,
    }


def test_a_buffer_follows_the_protocol(device: Device) -> None:
    assert isinstance(device.buffer(1, "f32"), BufferProtocol)
    assert isinstance(device.buffer(1, "f32"), Buffer)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool", "uint8"])
def test_torch_reads_a_buffer_without_a_copy(gpu: Device, dtype: str) -> None:
    torch = import_library("torch")
    buffer = gpu.copy_of(np.array([1, 0, 1], dtype))
    tensor = torch.as_tensor(buffer, device="cuda:0")
    assert tensor.data_ptr() == buffer.pointer
    assert tensor.cpu().numpy().tolist() == [1, 0, 1]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float32"])
@pytest.mark.parametrize("place", ["cpu", "cuda:0"])
def test_torch_tensors_are_copied_from(gpu: Device, dtype: str, place: str) -> None:
    torch = import_library("torch")
    tensor = torch.tensor([1.5, -2.0, 0.5], device=place).to(getattr(torch, dtype))
    buffer = gpu.copy_of(tensor)
    assert buffer.to_host().astype(np.float32).tolist() == [1.5, -2.0, 0.5]


@pytest.mark.gpu
def test_cupy_reads_and_writes_a_buffer(gpu: Device) -> None:
    cupy = import_library("cupy")
    buffer = gpu.copy_of(np.arange(5, dtype=np.float32))
    cupy.asarray(buffer)[:] += 1
    cupy.cuda.get_current_stream().synchronize()
    assert buffer.to_host().tolist() == [1, 2, 3, 4, 5]


@pytest.mark.gpu
def test_allocating_and_releasing_leaves_no_memory_behind(gpu: Device) -> None:
    with gpu.buffer(1 << 20, "f32"):
        pass
    before = gpu.memory.free
    for _ in range(300):
        gpu.buffer(1 << 22, "f32").fill(0)
    assert before - gpu.memory.free < 1 << 24  # one buffer; a leak would keep 300


@pytest.mark.gpu
def test_more_memory_than_the_gpu_has_is_refused_and_leaves_it_usable(gpu: Device) -> None:
    with pytest.raises(LaunchError) as caught:
        gpu.buffer(1 << 50, "u8")
    assert caught.value.code == "E1059"
    assert gpu.copy_of(np.ones(3)).to_host().tolist() == [1, 1, 1]
