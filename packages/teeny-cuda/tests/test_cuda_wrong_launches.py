"""Wrong launches: each is a coded error before the driver is reached, and the GPU stays usable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from teeny_cuda import Device
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from conftest import MakeArtifact

    from teeny_cuda.fake_driver import FakeDriver

GRIDS: list[tuple[Any, str]] = [
    (-1, "E1061"), ((-1,), "E1061"), ((1, -1), "E1061"), ((1, 1, -1), "E1061"),
    ((1, 1, 1, 1), "E1061"), ((), "E1061"), (1.0, "E1061"), ((1.5,), "E1061"), (None, "E1061"),
    ("1", "E1061"), ((1, None), "E1061"), ([], "E1061"), ({}, "E1061"), (object(), "E1061"),
    (2**31, "E1060"), ((1, 65536), "E1060"), ((1, 1, 65536), "E1060"), ((2**40, 1), "E1060"),
    (2**100, "E1060"), ((0, 65536), "E1060"),
]  # fmt: skip

# The parameters of store_scalars after the array: each with values that it cannot take.
SCALARS: list[tuple[int, Any, str]] = [
    (1, 2, "E1066"), (1, -1, "E1066"), (1, 1.0, "E1065"), (1, None, "E1065"), (1, "1", "E1065"),
    (2, 128, "E1066"), (2, -129, "E1066"), (2, 1.0, "E1065"), (2, np.float32(1), "E1065"),
    (3, 32768, "E1066"), (3, -32769, "E1066"), (3, [1], "E1065"),
    (4, 2**32, "E1066"), (4, -1, "E1066"), (4, 2.5, "E1065"), (4, np.int64(-1), "E1066"),
    (5, 2**63, "E1066"), (5, -(2**63) - 1, "E1066"), (5, b"1", "E1065"), (5, 1j, "E1065"),
    (6, 65520.0, "E1066"), (6, -1e6, "E1066"), (6, "1.0", "E1065"), (6, None, "E1065"),
    (7, 1e39, "E1066"), (7, -1e39, "E1066"), (7, 1j, "E1065"),
    (8, 1e39, "E1066"), (8, np.zeros(2), "E1065"), (8, "x", "E1065"),
    (9, "x", "E1065"), (9, None, "E1065"), (9, object(), "E1065"), (9, 10**400, "E1065"),
]  # fmt: skip


def _arrays(device: Device) -> list[tuple[Any, str]]:
    """Values that the array parameter of store_scalars (u8) cannot take."""
    released = device.buffer(4, "u8")
    released.release()
    return [
        (released, "E1069"),
        (released.T if not released.is_released else released, "E1069"),
        (device.buffer(4, "f32"), "E1065"),
        (device.buffer(4, "i8"), "E1065"),
        (np.zeros(80, np.uint8), "E1067"),
        (b"bytes", "E1065"),
        (0x1000, "E1065"),
        (3.5, "E1065"),
        ([1, 2], "E1065"),
        ({}, "E1065"),
        (True, "E1065"),
    ]


GOOD = [1, -1, -2, 3, 4, 1.5, 2.5, 3.5, 4.5]
ARRAYS = 11
STREAMS: list[Any] = ["x", -1, 1.5, object(), [0], True]


def test_there_are_more_than_sixty_of_them() -> None:
    assert len(GRIDS) + len(SCALARS) + ARRAYS + len(STREAMS) > 60


def _check(
    device: Device, program: Any, grid: Any, args: list[Any], code: str, **named: Any
) -> None:
    for launch in (
        lambda: device.launch(program, grid, args, **named),
        lambda: program.bind(grid, *args, **named),
    ):
        with pytest.raises(LaunchError) as caught:
            launch()
        assert caught.value.code == code, str(caught.value)
        assert str(caught.value).count("\n") >= 1


def _wrong(device: Device, program: Any) -> int:
    """Every wrong launch; the number of them. After each ten a right one gives its result."""
    out = device.buffer(80, "u8")
    count = 0
    cases: list[tuple[Any, list[Any], str, dict[str, Any]]] = [
        *((grid, [out, *GOOD], code, {}) for grid, code in GRIDS),
        *((1, [out, *GOOD[: at - 1], value, *GOOD[at:]], code, {}) for at, value, code in SCALARS),
        *((1, [value, *GOOD], code, {}) for value, code in _arrays(device)),
        *((1, [out, *GOOD], "E1072", {"stream": stream}) for stream in STREAMS),
        *((1, [out, *GOOD][:n], "E1064", {}) for n in range(10)),
        (1, [out, *GOOD, 1], "E1064", {}),
        (1, [out, *GOOD], "E1079", {"priority": 99}),
    ]
    for grid, args, code, named in cases:
        _check(device, program, grid, args, code, **named)
        count += 1
        if count % 10 == 0:
            out.fill(0)
            device.launch(program, 1, [out, *GOOD])
            host = out.to_host()
            assert host[8:9].view(np.int8) == -1
            assert host[64:72].view(np.float64) == 4.5
    return count


def test_every_wrong_launch_is_refused_before_the_driver(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    program = device.load(artifact_of("store_scalars"))
    count = _wrong(device, program)
    assert count > 80
    assert len(fake.launches) == count // 10
    assert fake.fault is None


@pytest.mark.gpu
def test_every_wrong_launch_leaves_the_gpu_usable(gpu: Device, artifact_of: MakeArtifact) -> None:
    assert _wrong(gpu, gpu.load(artifact_of("store_scalars"))) > 80
