"""What a kernel declares of its arrays is checked in every launch, hot or not."""

# mypy: disable-error-code="arg-type, call-arg, misc, unused-ignore"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cuda import Device
from teeny_macros import kernel
from teeny_macros.diagnostics import CaptureError, LaunchError
from teeny_macros.hot import HOT
from teeny_triton import Const, Ptr, f32, i32

pytestmark = pytest.mark.usefixtures("launchers")

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Compiler, Slow

    from teeny_cuda.fake_driver import FakeDriver


@kernel(
    contiguous=("x_ptr",),
    separate=("out_ptr",),
    alignment={"x_ptr": 64},
    strides={"table_ptr": ("stride_row", 1)},
)
def gather(
    x_ptr: Ptr[f32],
    table_ptr: Ptr[f32] | None,
    out_ptr: Ptr[f32],
    stride_row: i32 | int,
    n: i32 | int,
    BLOCK: Const[int] = 64,
) -> None:
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, offsets < n)
    if table_ptr is not None:
        x += tl.load(table_ptr + offsets * stride_row, offsets < n)
    tl.store(out_ptr + offsets, x, offsets < n)


def _good(device: Device) -> dict[str, Any]:
    return {
        "x_ptr": device.copy_of(np.arange(64, dtype=np.float32)),
        "table_ptr": device.copy_of(np.ones((64, 4), np.float32)),
        "out_ptr": device.buffer(64, "f32"),
        "stride_row": 4,
        "n": 64,
    }


def _wrong(device: Device) -> dict[str, tuple[dict[str, Any], str]]:
    """Arguments to change, and the code of the refusal."""
    wide = device.buffer(256, "f32")
    table = _good(device)["table_ptr"]
    return {
        "a step in x": ({"x_ptr": wide[:128:2]}, "E1034"),
        "x turned round": ({"x_ptr": device.buffer((8, 8), "f32").T}, "E1034"),
        "x off by 4 bytes": ({"x_ptr": wide[1:65]}, "E1035"),
        "x off by 32 bytes": ({"x_ptr": wide[8:72]}, "E1035"),
        "out is x": ({"x_ptr": wide[:64], "out_ptr": wide[:64]}, "E1036"),
        "out begins in x": ({"x_ptr": wide[:64], "out_ptr": wide[63:127]}, "E1036"),
        "out ends in x": ({"x_ptr": wide[64:128], "out_ptr": wide[1:65]}, "E1036"),
        "out around x": ({"x_ptr": wide[64:80], "out_ptr": wide[:]}, "E1036"),
        "out is the table": ({"out_ptr": table, "table_ptr": table}, "E1036"),
        "another stride": ({"stride_row": 5}, "E1037"),
        "rows and columns changed": ({"table_ptr": device.buffer((4, 64), "f32").T}, "E1037"),
        "one axis": ({"table_ptr": wide}, "E1037"),
        "three axes": ({"table_ptr": device.buffer((64, 4, 1), "f32")}, "E1037"),
        "every second row": ({"table_ptr": device.buffer((128, 4), "f32")[::2]}, "E1037"),
    }


def _refuse_all(device: Device, check: Callable[[], None]) -> None:
    good = _good(device)
    for _ in range(HOT + 2):
        gather[1](**good)
    for name, (changes, code) in _wrong(device).items():
        with pytest.raises(LaunchError) as caught:
            gather[1](**{**good, **changes})
        assert caught.value.code == code, (name, str(caught.value))
        for changed in changes:
            if code != "E1037":
                assert changed in str(caught.value) or len(changes) > 1, name
        check()
    gather[1](**good)


def test_each_wrong_array_is_refused_before_the_driver(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    launched = HOT + 2
    _refuse_all(device, lambda: None)
    assert len(fake.launches) == launched + 1
    assert fake.fault is None


def test_what_the_declarations_allow_is_launched(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    good = _good(device)
    wide = device.buffer(256, "f32")
    for changes in (
        {"x_ptr": wide[64:128], "out_ptr": wide[:64]},
        {"table_ptr": None},
        {"table_ptr": device.buffer((64, 6), "f32")[:, :2], "stride_row": 6},
        {"table_ptr": device.buffer((1, 4), "f32"), "stride_row": 99},
        {"x_ptr": device.buffer(0, "f32"), "n": 0},
        {"x_ptr": device.buffer((1, 64), "f32").reshape(64)},
    ):
        count = len(fake.launches)
        gather[1](**{**good, **changes})
        assert len(fake.launches) == count + 1, changes


def test_an_instance_is_checked_too(device: Device, compiler: Compiler) -> None:
    instance = gather.instantiate()
    good = _good(device)
    instance[1](**good)
    with pytest.raises(LaunchError) as caught:
        instance[1](**{**good, "stride_row": 8})
    assert caught.value.code == "E1037"
    assert "(stride_row = 8, 1)" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"contiguous": ("y_ptr",)}, "E0027"),
        ({"separate": ("n",)}, "E0027"),
        ({"alignment": {"BLOCK": 16}}, "E0027"),
        ({"strides": {"x_ptr": ("step", 1)}}, "E0027"),
        ({"alignment": {"x_ptr": 24}}, "E0030"),
        ({"alignment": {"x_ptr": 0}}, "E0030"),
        ({"alignment": ("x_ptr",)}, "E0030"),
        ({"strides": {"x_ptr": 1}}, "E0030"),
        ({"contiguous": 3}, "E0030"),
        ({"separate": (3,)}, "E0030"),
    ],
)
def test_wrong_declarations_are_refused_at_the_decorator(
    options: dict[str, Any], code: str
) -> None:
    def fill(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = 64) -> None:
        tl.store(x_ptr + n + BLOCK, 1.0)

    with pytest.raises(CaptureError) as caught:
        kernel(**options)(fill)
    assert caught.value.code == code, str(caught.value)


# --- hot launches ---------------------------------------------------------------------------------
@kernel(strides={"x_ptr": ("step", "ROW", 1)}, separate=("x_ptr", "y_ptr"))
def planes(
    x_ptr: Ptr[f32],
    y_ptr: Ptr[f32],
    z_ptr: Ptr[f32],
    step: i32 | int = 64,
    *,
    ROW: Const[int],
) -> None:
    at = tl.arange(0, 16) * step + ROW
    tl.store(z_ptr + at, tl.load(x_ptr + at) + tl.load(y_ptr + at))


@pytest.fixture(params=["buffer", "exchange", "method"])
def make(
    request: pytest.FixtureRequest,
    device: Device,
    torch_stream: list[int],
    tensor_type: Any,
    exchange_type: Any,
) -> Any:
    """Makes an array of f32 of each kind from a buffer, and says whether it can be short."""
    kind, dtypes = tensor_type
    if request.param == "exchange":
        kind, _ = exchange_type(kind)
    if request.param == "buffer":
        return lambda buffer: buffer
    return lambda buffer: kind(buffer, dtypes["float32"])


def _made(make: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        name: make(value) if name.endswith("_ptr") and value is not None else value
        for name, value in arguments.items()
    }


def test_declared_kernels_are_short_and_what_is_wrong_is_refused(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    make: Any,
) -> None:
    pytest.importorskip("llvmlite")
    good = _made(make, _good(device))
    for _ in range(HOT + 2):
        gather[1](**good)
    before = slow.count
    gather[1](**good)
    assert slow.count == before
    for name, (changes, code) in _wrong(device).items():
        count, before = len(fake.launches), slow.count
        with pytest.raises(LaunchError) as caught:
            gather[1](**{**good, **_made(make, changes)})
        assert (caught.value.code, len(fake.launches), slow.count) == (code, count, before + 1), (
            name
        )
        # The launch beside it stays what it was.
        gather[1](**good)
        assert slow.count == before + 1, name


def test_what_is_allowed_is_launched_by_hot_kernels_too(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, make: Any
) -> None:
    pytest.importorskip("llvmlite")
    good = _made(make, _good(device))
    for _ in range(HOT + 2):
        gather[1](**good)
    wide = device.buffer(256, "f32")
    for changes in (
        {"x_ptr": wide[64:128], "out_ptr": wide[:64]},
        {"x_ptr": wide[:64], "out_ptr": wide[64:]},
        {"table_ptr": device.buffer((64, 6), "f32")[:, :2], "stride_row": 6},
        {"table_ptr": device.buffer((1, 4), "f32"), "stride_row": 99},
        {"x_ptr": device.buffer(0, "f32"), "n": 0},
        {"x_ptr": device.buffer((1, 64), "f32")},
        {"x_ptr": device.buffer((8, 1, 8), "f32")},
    ):
        count = len(fake.launches)
        gather[1](**{**good, **_made(make, changes)})
        assert len(fake.launches) == count + 1, changes
        pointers = [int.from_bytes(p, "little") for p in fake.launches[-1].params[:3]]
        assert pointers == [
            value.pointer if hasattr(value, "pointer") else value.data_ptr()
            for value in {**good, **_made(make, changes)}.values()
            if not isinstance(value, int)
        ]


def test_strides_by_constants_and_defaults_are_checked_when_hot(
    device: Device, compiler: Compiler, slow: Slow, make: Any
) -> None:
    pytest.importorskip("llvmlite")
    memory = device.buffer((4, 16, 4), "f32")
    x, y, z = memory[:, :8], device.buffer(9, "f32"), device.buffer(64, "f32")
    arrays = [make(own) for own in (x, y, z)]
    for _ in range(HOT + 2):
        planes[1](*arrays, ROW=4)
    before = slow.count
    planes[1](*arrays, ROW=4)
    assert slow.count == before
    wrong: list[tuple[list[Any], dict[str, Any], str]] = [
        ([x, y, z], {"ROW": 8}, "E1037"),
        ([x, y, z], {"ROW": 4, "step": 32}, "E1037"),
        ([device.buffer((4, 8, 4), "f32"), y, z], {"ROW": 4}, "E1037"),
        ([memory[:, ::2], y, z], {"ROW": 4}, "E1037"),
        ([x, x, z], {"ROW": 4}, "E1036"),
        ([x, y, y], {"ROW": 4}, "E1036"),
        ([x, y, x], {"ROW": 4}, "E1036"),
        ([x, memory[:, 8:], z], {"ROW": 4}, "E1036"),  # between the rows of x
        ([x, y, memory[3, 15]], {"ROW": 4}, ""),  # behind them
    ]
    for given, named, code in wrong:
        made = [make(own) for own in given]
        if not code:
            planes[1](*made, **named)
            continue
        with pytest.raises(LaunchError) as caught:
            planes[1](*made, **named)
        assert caught.value.code == code, named
    with pytest.raises(LaunchError):  # an empty grid is checked as well
        planes[0](*[make(own) for own in (x, x, z)], ROW=4)


def test_layouts_that_cannot_be_read_take_the_slow_path(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    torch_stream: list[int],
    exchange_type: Any,
    tensor_type: Any,
) -> None:
    pytest.importorskip("llvmlite")
    base, dtypes = tensor_type
    kind, state = exchange_type(base)

    def hot(make: Any) -> dict[str, Any]:
        good = _made(make, _good(device))
        for _ in range(HOT + 2):
            gather[1](**good)
        return good

    # A library that leaves out the strides of arrays without gaps.
    good = hot(lambda buffer: kind(buffer, dtypes["float32"]))
    before = slow.count
    state["strides"] = False
    gather[1](**good)
    assert slow.count == before + 1
    # A tensor that fails when it is asked.
    good = hot(lambda buffer: base(buffer, dtypes["float32"]))
    before, count = slow.count, len(fake.launches)
    good["x_ptr"].stride = lambda: 1 // 0
    good["x_ptr"].is_contiguous = lambda: True
    gather[1](**good)
    assert (slow.count, len(fake.launches)) == (before + 1, count + 1)
    # Sizes that are no plain ints.
    good = hot(lambda buffer: buffer)
    before = slow.count
    layout = good["x_ptr"]._layout
    good["x_ptr"]._layout = layout._replace(shape=tuple(np.array(layout.shape)))
    gather[1](**good)
    assert slow.count == before + 1


def test_many_axes_and_steps_backwards_take_the_slow_path(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    pytest.importorskip("llvmlite")
    good = _good(device)
    for _ in range(HOT + 2):
        gather[1](**good)
    before = slow.count
    nine = device.buffer((1,) * 8 + (64,), "f32")
    gather[1](**{**good, "x_ptr": nine})
    assert slow.count == before + 1
    count = len(fake.launches)
    turned = device.buffer(64, "f32")
    turned._layout = turned._layout._replace(strides=(-1,))
    turned._found = None
    with pytest.raises(LaunchError):
        gather[1](**{**good, "x_ptr": turned})
    assert len(fake.launches) == count


@pytest.mark.gpu
def test_declared_kernels_are_short_on_the_gpu(gpu: Device, slow: Slow) -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(64, dtype=torch.float32, device=gpu.name)
    table, out = torch.ones((64, 4), device=gpu.name), torch.empty(64, device=gpu.name)
    for _ in range(HOT + 2):
        gather[1](x, table, out, 4, 64)
    before = slow.count
    for turn in range(20):
        other = torch.full((64, 8), float(turn), device=gpu.name)[:, ::2]
        with pytest.raises(LaunchError):
            gather[1](x, other, out, 4, 64)
        wide = torch.full((64, 4), float(turn), device=gpu.name)
        gather[1](x, wide, out, 4, 64)
        assert torch.equal(out, x + turn)
    assert slow.count == before + 20
    for arguments, code in (
        ((x, table.T, out, 4, 64), "E1037"),
        ((x[::2], table, out, 4, 32), "E1034"),
        ((x, table, x, 4, 64), "E1036"),
        ((x[1:], table, out, 4, 63), "E1035"),
    ):
        with pytest.raises(LaunchError) as caught:
            gather[1](*arguments)
        assert caught.value.code == code
    gather[1](x, table, out, 4, 64)
    assert torch.equal(out, x + 1)


@pytest.mark.gpu
def test_declared_arrays_are_checked_on_the_gpu(gpu: Device) -> None:
    good = _good(gpu)

    def usable() -> None:
        gather[1](**good)
        assert good["out_ptr"].to_host().tolist() == [at + 1 for at in range(64)]

    _refuse_all(gpu, usable)


@pytest.mark.gpu
def test_declared_strides_of_tensors_are_checked_on_the_gpu(gpu: Device) -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(64, dtype=torch.float32, device=gpu.name)
    table, out = torch.ones((64, 4), device=gpu.name), torch.empty(64, device=gpu.name)
    gather[1](x, table, out, table.stride(0), 64)
    assert torch.equal(out, x + 1)
    for arguments, code in (
        ((x, table.T, out, 4, 64), "E1037"),
        ((x[::2], table, out, 4, 32), "E1034"),
        ((x, table, x, 4, 64), "E1036"),
        ((x[1:], table, out, 4, 63), "E1035"),
    ):
        with pytest.raises(LaunchError) as caught:
            gather[1](*arguments)
        assert caught.value.code == code
