"""Faults of launches that users reported of comparable tools, on the fake driver and on a GPU."""

# Launches that a checker refuses too are meant.
# mypy: disable-error-code="arg-type, call-arg, call-overload, index, misc, unused-ignore"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cuda import Device
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.provider import PROVIDER
from teeny_cuda.testing import fake_driver, require_gpu
from teeny_macros import devices, kernel
from teeny_macros.diagnostics import CaptureError, LaunchError
from teeny_triton import Const, Ptr, bf16, f16, f32, f64, i32


@kernel
def count_programs(out_ptr: Ptr[i32]) -> None:
    tl.atomic_add(out_ptr, 1)


@kernel
def add_weight(
    x_ptr: Ptr[f32], w_ptr: Ptr[f32] | None, out_ptr: Ptr[f32], BLOCK: Const[int] = 16
) -> None:
    at = tl.arange(0, BLOCK)
    if w_ptr is not None:  # noqa: SIM108 - as users write it
        w = tl.load(w_ptr + at)
    else:
        w = tl.full((BLOCK,), 1.0, f32)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + w)


@kernel
def store_scalars(out_ptr: Ptr[f64], half: f16, brain: bf16, double: f64) -> None:
    tl.store(out_ptr, half.to(f64))
    tl.store(out_ptr + 1, brain.to(f64))
    tl.store(out_ptr + 2, double)


@pytest.fixture(params=["fake", pytest.param("gpu", marks=pytest.mark.gpu)])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A GPU, or what stands for one; the kernels begin anew."""
    monkeypatch.setitem(devices._providers, "cuda", PROVIDER)
    for used in (count_programs, add_weight, store_scalars):
        used._shared.site = None
        used._over.clear()
    if request.param == "gpu":
        yield require_gpu()
        return
    pytest.importorskip("triton")
    fake = FakeDriver()
    fake.kernels["count_programs_entry_point"] = _count
    fake.kernels["add_weight_entry_point"] = _add
    with fake_driver(fake):
        yield Device(0)


def _count(run: Any) -> None:
    cell = run.view(int.from_bytes(run.params[0], "little"), 4)
    x, y, z = run.grid
    cell[:] = (int.from_bytes(cell, "little") + x * y * z).to_bytes(4, "little")


def _add(run: Any) -> None:
    pointers = [int.from_bytes(data, "little") for data in run.params[:-2]]
    x, *w, out = (np.frombuffer(run.view(pointer, 64), np.float32) for pointer in pointers)
    out[:] = x + (w[0] if w else 1)


def _refusal(call: Any) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        call()
    return caught.value


def test_a_grid_with_a_zero_runs_nothing_and_lists_and_functions_are_grids(place: Device) -> None:
    out = place.buffer(1, "i32")
    out.fill(0)
    for grid in ((0,), 0, (4, 0, 1), [0], lambda meta: 0, lambda meta: [3, 0]):
        count_programs[grid](out)
    assert out.to_host()[0] == 0
    for grid in ([2], lambda meta: [2], lambda meta: 2, (2, 1, 1), [1, 2]):
        count_programs[grid](out)
    assert out.to_host()[0] == 10
    error = _refusal(lambda: count_programs["4"](out))
    assert (error.code, "grid" in str(error)) == ("E1019", True)


def test_a_grid_beyond_65535_on_axis_y_or_z_names_axis_and_limit(place: Device) -> None:
    out = place.buffer(1, "i32")
    out.fill(0)
    for grid, axis in (((1, 65536, 1), "y"), ((1, 1, 65536), "z"), ((2, 70000), "y")):
        error = _refusal(lambda grid=grid: count_programs[grid](out))
        assert error.code == "E1060"
        assert f"axis {axis} of the grid" in str(error)
        assert "65535" in str(error)
    count_programs[(1, 65535)](out)
    count_programs[70000](out)
    assert out.to_host()[0] == 65535 + 70000


@pytest.mark.gpu
def test_a_float_for_a_half_or_double_parameter_arrives_as_itself(gpu: Device) -> None:
    out = gpu.buffer(3, "f64")
    for value in (42.0, 1.5):
        store_scalars[1](out, value, value, value)
        assert out.to_host().tolist() == [value, value, value]
    store_scalars[1](out, 0.0, 0.0, 0.1)
    assert out.to_host()[2] == 0.1


@pytest.mark.gpu
def test_arrays_of_another_gpu_run_there_and_mixed_ones_are_named(gpu: Device) -> None:
    from teeny_cuda import device_count

    if device_count() < 2:
        pytest.skip("two GPUs are needed")
    other = Device(1)
    _on_the_other(gpu, other)


def test_arrays_of_another_fake_gpu_run_there_and_mixed_ones_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("triton")
    monkeypatch.setitem(devices._providers, "cuda", PROVIDER)
    add_weight._shared.site = None
    add_weight._over.clear()
    with fake_driver(FakeDriver(count=2)) as fake:
        fake.kernels["add_weight_entry_point"] = _add
        _on_the_other(Device(0), Device(1))


def _on_the_other(gpu: Device, other: Device) -> None:
    x = np.arange(16, dtype=np.float32)
    arrays = [other.copy_of(x), other.copy_of(x), other.buffer(16, "f32")]
    add_weight[1](*arrays)  # the GPU whose context is current is another
    assert arrays[2].to_host().tolist() == (2 * x).tolist()
    error = _refusal(lambda: add_weight[1](gpu.copy_of(x), *arrays[1:]))
    assert error.code == "E1016"
    assert "`x_ptr`" in str(error)
    assert "cuda:1" in str(error)


def test_a_host_array_for_a_kernel_on_the_gpu_is_named_before_the_launch(place: Device) -> None:
    x = np.arange(16, dtype=np.float32)
    arrays = [place.copy_of(x), place.copy_of(x), place.buffer(16, "f32")]
    for at, name in enumerate(("x_ptr", "w_ptr", "out_ptr")):
        mixed: list[Any] = [*arrays]
        mixed[at] = x
        error = _refusal(lambda mixed=mixed: add_weight[1](*mixed))
        assert error.code == "E1016"
        assert f"`{name}`" in str(error)
        assert "`cpu`" in str(error)
    add_weight[1](*arrays)
    assert arrays[2].to_host().tolist() == (2 * x).tolist()


class _Interface:
    """An array that offers the CUDA array interface alone."""

    def __init__(self, buffer: Any, **changes: Any) -> None:
        self.kept = buffer
        interface = {**buffer.__cuda_array_interface__, **changes}
        self.__cuda_array_interface__ = {k: v for k, v in interface.items() if v != "absent"}


@pytest.mark.parametrize("strides", ["absent", None])
@pytest.mark.parametrize("stream", ["absent", None, 1, 2, "own"])
def test_missing_strides_are_rows_and_the_stream_is_honored(
    place: Device, strides: Any, stream: Any
) -> None:
    x = np.arange(16, dtype=np.float32)
    own = place.stream()
    number = own.handle if stream == "own" else stream
    buffers = [place.copy_of(x), place.copy_of(x), place.buffer(16, "f32")]
    if stream == "own":
        buffers[0].fill(5.0, stream=own)
    if isinstance(place.context.driver.api, FakeDriver):
        place.context.driver.api.queues.setdefault(2, type(place.context.driver.api.queues[0])())
    add_weight[1](*(_Interface(b, strides=strides, stream=number) for b in buffers))
    place.synchronize()
    first = np.full(16, 5, np.float32) if stream == "own" else x
    assert buffers[2].to_host().tolist() == (first + x).tolist()


def test_a_parameter_may_not_be_compile_time_and_not_specialized() -> None:
    def fill(out_ptr: Ptr[f32], BLOCK: Const[int]) -> None:
        tl.store(out_ptr + tl.arange(0, BLOCK), 1.0)

    for option in ("do_not_specialize", "do_not_specialize_on_alignment"):
        options: dict[str, Any] = {option: ("BLOCK",)}
        with pytest.raises(CaptureError) as caught:
            kernel(**options)(fill)
        assert caught.value.code == "E0027"
        assert "`BLOCK`" in str(caught.value)


def test_none_and_an_array_for_an_optional_pointer_take_turns(place: Device) -> None:
    x = np.arange(16, dtype=np.float32)
    arrays = [place.copy_of(x), place.copy_of(10 * x), place.buffer(16, "f32")]
    for _ in range(20):  # until both are hot
        add_weight[1](arrays[0], None, arrays[2])
        assert arrays[2].to_host().tolist() == (x + 1).tolist()
        add_weight[1](*arrays)
        assert arrays[2].to_host().tolist() == (11 * x).tolist()
    assert len(add_weight.site().programs) == 2
