"""Tensor maps: what the driver gets, and every rule with its message."""

from __future__ import annotations

from typing import Any

import pytest

from teeny_cuda import Device
from teeny_cuda.tensormap import BYTES, TensorMap
from teeny_macros.diagnostics import LaunchError


def _words(found: TensorMap) -> list[int]:
    data = found.to_bytes()
    assert len(data) == BYTES
    return [int.from_bytes(data[at : at + 8], "little") for at in range(0, BYTES, 8)]


def test_the_driver_gets_axes_from_the_innermost_one(device: Device) -> None:
    buffer = device.buffer((100, 64), "f16")
    found = TensorMap(device, buffer, (32, 64), swizzle=128, promotion=256)
    assert _words(found)[:10] == [buffer.pointer, 2, 6, 64, 100, 128, 64, 32, 3, 3]
    assert repr(found) == "TensorMap(f16[100, 64] in boxes of [32, 64])"
    part = TensorMap(device, buffer[8:, 8:24], (8, 16))
    assert _words(part)[:8] == [buffer.pointer + 2 * (8 * 64 + 8), 2, 6, 16, 92, 128, 16, 8]


WRONG: list[tuple[tuple[int, ...], str, tuple[int, ...], dict[str, Any], str]] = [
    ((64, 65), "f16", (8, 8), {}, "stride of 130 bytes"),
    ((64, 64), "f16", (8, 4), {}, "8 bytes, no multiple of 16"),
    ((64, 64), "f16", (8, 128), {"swizzle": 128}, "more than the swizzle's span"),
    ((64, 64), "f16", (8, 8), {"swizzle": 48}, "swizzle 48 is none of 0, 32, 64, 128"),
    ((64, 64), "f16", (8, 8), {"promotion": 32}, "promotion 32"),
    ((64, 512), "f16", (8, 264), {}, "axis 1 of the box is 264"),
    ((64, 64), "f16", (0, 8), {}, "axis 0 of the box is 0"),
    ((64, 64), "f16", (8,), {}, "a box of 1 axes for an array of 2"),
    ((2, 2, 2, 2, 2, 8), "f16", (1, 1, 1, 1, 1, 8), {}, "an array of 6 axes"),
    ((), "f16", (), {}, "an array of 0 axes"),
    ((0, 64), "f16", (8, 8), {}, "axis 0 of the array has 0 elements"),
    ((64, 64), "f16", (8, 8), {"element_strides": (1, 9)}, "element stride 9 of axis 1"),
    ((64, 64), "i32", (8, 8), {"nan_fill": True}, "i32 has no NaN"),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_what_the_hardware_cannot_describe_is_refused_by_name(device: Device, case: int) -> None:
    _refused(device, case)


@pytest.mark.gpu
@pytest.mark.parametrize("case", range(len(WRONG)))
def test_refused_maps_leave_the_gpu_usable(gpu: Device, case: int) -> None:
    _refused(gpu, case)
    _encode_all(gpu)


def _refused(device: Device, case: int) -> None:
    shape, dtype, box, options, words = WRONG[case]
    with pytest.raises(LaunchError) as caught:
        TensorMap(device, device.buffer(shape, dtype), box, **options)
    assert caught.value.code == "E1085"
    assert words in str(caught.value)


def test_misaligned_transposed_and_foreign_arrays_are_refused(device: Device) -> None:
    buffer = device.buffer((64, 64), "f16")
    for array, words in (
        (buffer[:, 1:], "no multiple of 16 bytes"),
        (buffer.T, "the last axis has stride 64"),
        ([1, 2], "does not lie on cuda:0"),
    ):
        with pytest.raises(LaunchError) as caught:
            TensorMap(device, array, (8, 8))
        assert caught.value.code == "E1085"
        assert words in str(caught.value)


@pytest.mark.gpu
def test_the_driver_takes_every_dtype_and_option(gpu: Device) -> None:
    _encode_all(gpu)


def _encode_all(device: Device) -> None:
    for dtype in ("u8", "i16", "i32", "u32", "i64", "f16", "bf16", "f32", "f64", "f8e4m3"):
        buffer = device.buffer((4, 64, 64), dtype)
        for swizzle in (0, 32, 64, 128):
            box = (1, 8, max(swizzle, 16) // buffer.itemsize)
            found = TensorMap(device, buffer, box, swizzle=swizzle, promotion=2 * swizzle or 0)
            assert any(_words(found))
    TensorMap(device, device.buffer((8, 64), "f32"), (8, 64), nan_fill=True)


def test_every_encoding_is_one_that_the_driver_takes(device: Device) -> None:
    _encode_all(device)
