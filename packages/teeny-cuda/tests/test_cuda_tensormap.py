"""Tensor maps: what the driver gets, and every rule with its message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from teeny_cuda import Device
from teeny_cuda.tensormap import BYTES, TensorMap
from teeny_cuda.testing import write_artifact
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from pathlib import Path

    from teeny_cuda.fake_driver import FakeDriver
    from teeny_cuda.module import Program


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


# --- descriptors as arguments ---------------------------------------------------------------------

DESCRIBED = """\
.version 8.6
.target sm_90a
.address_size 64

.visible .entry described_entry_point(
	.param .align 64 .b8 described_entry_point_param_0[128],
	.param .u32 described_entry_point_param_1,
	.param .u32 described_entry_point_param_2,
	.param .u64 described_entry_point_param_3,
	.param .u64 described_entry_point_param_4,
	.param .u64 .ptr .global .align 1 described_entry_point_param_5,
	.param .u64 .ptr .global .align 1 described_entry_point_param_6
)
.reqntid 128
{
	ret;
}
"""


class Described(NamedTuple):
    base: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block_shape: tuple[int, ...] = (32, 64)
    padding: str = "nan"


def _described(device: Device, folder: Path) -> Program:
    params = [
        ("x", "descriptor", "f16[32,64]"),
        *((f"x.shape.{axis}", "scalar", "i32") for axis in range(2)),
        *((f"x.stride.{axis}", "scalar", "i64") for axis in range(2)),
    ]
    maps: dict[str, Any] = {"descriptors": (((16, 64), 128),)}
    return device.load(write_artifact(folder, DESCRIBED, "described", params, **maps))


def test_a_descriptor_is_passed_as_its_tensor_map(
    fake: FakeDriver, device: Device, tmp_path: Path
) -> None:
    program = _described(device, tmp_path)
    buffer = device.buffer((100, 64), "f16")
    x = Described(buffer, (90, 50), (64, 1))
    device.launch(program, 1, [x, 90, 50, 64, 1])
    program.bind(1, x, 90, 50, 64, 1)()
    for run in fake.launches:
        words = [int.from_bytes(run.params[0][at : at + 8], "little") for at in range(0, 80, 8)]
        assert words[:8] == [buffer.pointer, 2, 6, 50, 90, 128, 64, 16]
        assert [int.from_bytes(part, "little") for part in run.params[1:5]] == [90, 50, 64, 1]


def test_a_map_is_made_once_for_what_it_depends_on(
    fake: FakeDriver, device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from teeny_cuda import arguments

    monkeypatch.setattr(arguments, "_MOST_MAPS", 4)
    program = _described(device, tmp_path)
    one, two = (device.buffer((100, 64), "f16") for _ in range(2))
    cases = [
        Described(one, (90, 50), (64, 1)),
        Described(two, (90, 50), (64, 1)),
        Described(one, (80, 50), (64, 1)),
        Described(one, (90, 40), (64, 1)),
        Described(one, (40, 50), (128, 1)),
        Described(one, (90, 50), (64, 1), padding="zero"),
        Described(one[8:], (90, 50), (64, 1)),
    ]
    for _ in range(2):
        for case in cases:
            wanted = TensorMap(
                device, case.base, (16, 64), swizzle=128, nan_fill=case.padding == "nan",
                shape=case.shape, strides=case.strides,
            )  # fmt: skip
            for _ in range(2):
                encoded = fake.calls.count("cuTensorMapEncodeTiled")
                device.launch(program, 1, [case, *case.shape, *case.strides])
                assert fake.launches[-1].params[0] == wanted.to_bytes()
            assert fake.calls.count("cuTensorMapEncodeTiled") == encoded
            assert len(device.context.maps) <= 4
    one.release()
    with pytest.raises(LaunchError) as caught:
        device.launch(program, 1, [cases[0], 90, 50, 64, 1])
    assert caught.value.code == "E1069"


def test_what_is_described_lies_on_the_gpu(device: Device, tmp_path: Path) -> None:
    program = _described(device, tmp_path)
    for base in (np.zeros((100, 64), np.float16), device.buffer((100, 64), "f32"), 3):
        with pytest.raises(LaunchError):
            device.launch(program, 1, [Described(base, (90, 50), (64, 1)), 90, 50, 64, 1])
