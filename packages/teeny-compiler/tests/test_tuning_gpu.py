"""Tuning on a GPU of which only the driver is made up: what it runs is written in Python here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import teeny_triton as tl
from teeny_compiler import Config, autotune, find_teenyc, tune, workers
from teeny_compiler.tuning import measure
from teeny_compiler.versions import ABSENT, versions_of
from teeny_macros import Kernel, TeenyError, devices, kernel
from teeny_triton import Const, Ptr, f32, i32

np = pytest.importorskip("numpy")
testing = pytest.importorskip("teeny_cuda.testing")

CONFIGS = [Config({"BLOCK": 64}), Config({"BLOCK": 128}), Config({"BLOCK": 256}, num_warps=8)]


def make_kernel() -> Kernel[...]:
    """A kernel of its own: a kernel keeps the device that it was launched on, here its driver."""

    @kernel
    def grow(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = tl.auto()) -> None:
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)

    return grow


class Gpu:
    """The made-up GPU, and how many warps each run of `grow` had."""

    def __init__(self, fake: Any) -> None:
        self.fake = fake
        self.device = devices.device("cuda:0")
        self.kernel = make_kernel()
        self.is_broken = False
        self.warps: list[int] = []
        fake.kernels["grow_entry_point"] = self.run

    def run(self, run: Any) -> None:
        """Adds one to each element, as the kernel does."""
        pointer, count = (int.from_bytes(param, "little") for param in run.params[:2])
        self.warps.append(run.block[0] // 32)
        if self.is_broken:
            run.view(0, 4)  # no such address
        memory = np.frombuffer(run.view(pointer, 4 * count), np.float32)
        memory += 1

    def array(self, values: Any) -> Any:
        """A buffer with `values`."""
        buffer = self.device.buffer(values.shape, "f32")
        buffer.copy_from(values)
        return buffer


@pytest.fixture
def gpu(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    if dict(versions_of(find_teenyc()))["triton"] == ABSENT:
        pytest.skip("triton is not installed beside teenyc")
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("TEENY_LOG", "quiet")
    monkeypatch.setattr(measure, "MILLISECONDS", 1.0)
    with testing.fake_driver() as fake:
        yield Gpu(fake)
    workers.close_workers()


def grid(meta: Mapping[str, Any]) -> tuple[int]:
    return (-(-200 // meta["BLOCK"]),)


def test_a_kernel_on_a_gpu_is_tuned_and_then_launched_once(gpu: Gpu) -> None:
    tuned = autotune(configs=CONFIGS, key=["n"])(gpu.kernel)
    x = gpu.array(np.arange(200, dtype=np.float32))
    for call in (1, 2, 3):
        tuned[grid](x, 200)
        np.testing.assert_array_equal(x.to_host(), np.arange(200) + call)
    (tuning,) = tuned.tunings
    assert tuning.measured == 3
    assert tuning.scope.device.startswith("cuda:sm_90")
    assert set(gpu.warps) == {4, 8}


def test_the_driver_compiles_nothing_where_there_is_machine_code(gpu: Gpu) -> None:
    x = gpu.array(np.zeros(200, np.float32))
    tune(gpu.kernel, [x, 200], CONFIGS, grid=grid)
    assert gpu.fake.calls.count("cuLinkComplete") == 0
    assert gpu.fake.calls.count("cuModuleLoadDataEx") == len(CONFIGS)
    assert not gpu.fake.compiled


def test_the_driver_compiles_each_config_once(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENYC_CUBIN", "off")
    x = gpu.array(np.zeros(200, np.float32))
    tune(gpu.kernel, [x, 200], CONFIGS, grid=grid)
    assert gpu.fake.compiled == len(CONFIGS)
    assert gpu.fake.calls.count("cuLinkComplete") == len(CONFIGS)
    tune(gpu.kernel, [x, 200], CONFIGS, grid=grid, force=True)
    assert gpu.fake.compiled == len(CONFIGS)  # cubins are kept
    assert gpu.fake.calls.count("cuLinkComplete") == len(CONFIGS)


def test_a_config_that_the_gpu_cannot_launch_costs_itself_alone(gpu: Gpu) -> None:
    x = gpu.array(np.zeros(200, np.float32))

    def too_tall(meta: Mapping[str, Any]) -> tuple[int, int]:
        return 4, 70_000 if meta["BLOCK"] == 64 else 1

    found = tune(gpu.kernel, [x, 200], CONFIGS, grid=too_tall)
    states = [row.state for row in found.rows.values()]
    assert states[0] == "failed"
    assert "failed" not in states[1:]
    assert found.rows[CONFIGS[0]].note.startswith("E10")
    assert (x.to_host() == 0).all()


def test_a_gpu_that_is_lost_ends_the_search(gpu: Gpu) -> None:
    x = gpu.array(np.zeros(200, np.float32))
    gpu.is_broken = True
    with pytest.raises(TeenyError) as caught:
        tune(gpu.kernel, [x, 200], CONFIGS, grid=grid)
    assert caught.value.code == "E1074"
    assert len(gpu.warps) == 1


def test_an_argument_on_the_host_is_the_launch_s_own_error(gpu: Gpu, tmp_path: Path) -> None:
    with pytest.raises(TeenyError) as caught:
        tune(gpu.kernel, [np.zeros(200, np.float32), 200], CONFIGS, grid=grid, device=gpu.device)
    assert caught.value.code == "E1015"
