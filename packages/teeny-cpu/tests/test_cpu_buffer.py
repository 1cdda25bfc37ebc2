"""Buffers of the host: contents, conversions, lifetime; streams and events."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny_cpu import Device, Interpreter
from teeny_cpu.dtypes import DTYPES, host_dtype
from teeny_macros.diagnostics import LaunchError
from teeny_macros.protocol import Buffer as BufferProtocol
from teeny_macros.protocol import Device as DeviceProtocol
from teeny_macros.target import Target


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_contents_come_back_as_they_went(device: Interpreter, dtype: str) -> None:
    numbers = [0, 1, 1, 0, 1, 0] if dtype == "i1" else [0, 1, 2, 3, 100, 7]
    array = np.array(numbers).astype(host_dtype(DTYPES[dtype])).reshape(2, 3)
    buffer = device.buffer((2, 3), dtype)
    buffer.copy_from(array)
    back = buffer.to_host()
    assert (back.dtype, back.shape) == (array.dtype, (2, 3))
    assert back.tobytes() == array.tobytes()
    assert buffer.pointer % 64 == 0
    buffer.fill(1)
    assert back.tobytes() == array.tobytes()
    assert device.copy_of(buffer).to_host().tobytes() == buffer.to_host().tobytes()


def test_bits_of_bf16_come_from_unsigned_and_typed_arrays(device: Interpreter) -> None:
    values = np.array([1.5, -2.0, 3.25], ml_dtypes.bfloat16)
    bits = values.view(np.uint16)
    for array in (values, bits, bits.view(np.int16), SimpleNamespace(array=bits, dtype="bf16")):
        buffer = device.buffer(3, "bf16")
        buffer.copy_from(array)
        assert buffer.to_host().tolist() == [1.5, -2.0, 3.25]


def test_without_ml_dtypes_bf16_is_its_bits(
    device: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    bits = np.array([1.5, -2.0], ml_dtypes.bfloat16).view(np.uint16)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    buffer = device.buffer(2, "bf16")
    buffer.copy_from(bits)
    assert buffer.to_host().dtype == np.uint16
    assert buffer.to_host().tobytes() == bits.tobytes()
    with pytest.raises(LaunchError):
        buffer.fill(1.0)


@pytest.mark.parametrize(
    ("dtype", "array"),
    [
        ("f32", np.zeros(4, np.float32)),
        ("f32", np.zeros((3, 1), np.float32)),
        ("f32", np.zeros(3)),
        ("f32", np.zeros(3, np.uint32)),
        ("f32", np.zeros(3, ">f4")),
        ("i32", [1.5, 2.0, 3.0]),
        ("u8", [1, 2, 300]),
        ("f32", "abc"),
        ("bf16", SimpleNamespace(array=np.zeros(3, np.float16), dtype="f16")),
        ("f32", SimpleNamespace(dtype="float32", shape=(3,))),
    ],
)
def test_other_contents_are_refused(device: Interpreter, dtype: str, array: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        device.buffer(3, dtype).copy_from(array)
    assert caught.value.code == "E1112"


def test_strided_arrays_lists_and_numbers_are_copied(device: Interpreter) -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4).T
    assert device.copy_of(array).to_host().tolist() == array.tolist()
    assert device.copy_of([[1, 2], [3, 4]]).dtype == "i64"
    scalar = device.buffer((), "f16")
    scalar.copy_from(2.5)
    assert scalar.to_host() == np.float16(2.5)


@pytest.mark.parametrize("shape", [-1, (2, -3), 1.5, ("a",), None])
def test_what_is_no_shape_is_refused(device: Interpreter, shape: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        device.buffer(shape, "f32")
    assert caught.value.code == "E1114"


def test_an_unknown_dtype_is_refused(device: Interpreter) -> None:
    for dtype in ("complex64", object(), "tl.f33"):
        with pytest.raises(LaunchError) as caught:
            device.buffer(1, dtype)
        assert caught.value.code == "E1113"


def test_more_memory_than_there_is_is_refused(device: Interpreter) -> None:
    with pytest.raises(LaunchError) as caught:
        device.buffer(1 << 60, "u8")
    assert caught.value.code == "E1118"


def test_a_released_buffer_is_not_used(device: Interpreter) -> None:
    with device.buffer(4, "f32") as buffer:
        assert repr(buffer) == f"Buffer(f32[4] on cpu, at {buffer.pointer:#x})"
    buffer.release()
    assert buffer.is_released
    for use in (lambda: buffer.pointer, buffer.to_host, lambda: buffer.fill(0)):
        with pytest.raises(LaunchError) as caught:
            use()
        assert caught.value.code == "E1111"
    assert repr(buffer) == "Buffer(f32[4] on cpu, released)"


def test_numpy_and_dlpack_share_the_memory(device: Interpreter) -> None:
    buffer = device.buffer((2, 2), "f32")
    np.asarray(buffer)[:] = 3
    np.from_dlpack(buffer)[0, 0] = 4
    assert buffer.to_host().tolist() == [[4, 3], [3, 3]]
    copy = np.array(buffer, copy=True)
    copy[:] = 0
    assert buffer.array[0, 0] == 4
    assert np.asarray(buffer, np.float64).dtype == np.float64


def test_an_empty_buffer_has_no_elements(device: Interpreter) -> None:
    buffer = device.buffer((0, 5), "f32")
    buffer.fill(1.0)
    assert (buffer.nbytes, buffer.size, len(buffer), buffer.to_host().shape) == (0, 0, 0, (0, 5))


def test_buffers_and_devices_follow_their_protocols(device: Interpreter) -> None:
    protocol: DeviceProtocol = device
    assert protocol.target == Target.interpret()
    assert (device.name, repr(device)) == ("interpret", "Interpreter()")
    assert isinstance(device.buffer(1, "f32"), BufferProtocol)
    assert {device, Interpreter()} == {device}
    compiled: DeviceProtocol = Device(threads=2)
    assert compiled.target == Target.cpu()
    assert (compiled.name, repr(compiled)) == ("cpu", "Device(threads=2)")
    assert {compiled, Device(2)} == {compiled}
    assert device != object() != compiled != Device(3)


def test_events_measure_the_time_between_them(device: Interpreter) -> None:
    start, end, stream = device.event(), device.event(), device.stream()
    start.record(stream)
    end.record()
    end.synchronize()
    stream.synchronize()
    stream.wait(device.stream())
    device.synchronize()
    assert 0 <= start.elapsed_ms(end) < 1000
    assert start.elapsed_ms(end) == -end.elapsed_ms(start)
    assert end.is_done
    assert repr(end) == "Event(interpret, reached)"
    assert repr(stream) == "Stream(interpret, 0 pending)"


def test_events_that_were_not_recorded_are_refused(device: Interpreter) -> None:
    start, end = device.event(), device.event()
    start.record()
    for first, last in ((start, end), (end, start), (start, object())):
        with pytest.raises(LaunchError) as caught:
            first.elapsed_ms(last)
        assert caught.value.code == "E1116"
    with pytest.raises(LaunchError) as caught:
        start.record(0)
    assert caught.value.code == "E1115"
