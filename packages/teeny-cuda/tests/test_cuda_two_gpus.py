"""Two GPUs in one process: launches, copies, order and peers. Skipped where there is only one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from teeny_cuda import Device, device_count
from teeny_cuda.testing import require_gpu
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import MakeArtifact

pytestmark = pytest.mark.gpu

N = 100_000


@pytest.fixture
def pair() -> Iterator[tuple[Device, Device]]:
    first = require_gpu()
    if device_count() < 2:
        pytest.skip("the machine has one GPU")
    second = Device(1)
    yield first, second
    first.synchronize()
    second.synchronize()


def test_each_gpu_runs_its_own_program_on_its_own_memory(
    pair: tuple[Device, Device], artifact_of: MakeArtifact
) -> None:
    artifact = artifact_of("vector_add")
    x = np.arange(N, dtype=np.float32)
    results = []
    for factor, device in enumerate(pair, start=1):
        program = device.load(artifact)
        a, b, out = device.copy_of(x), device.copy_of(factor * x), device.buffer(N, "f32")
        device.launch(program, -(-N // 128), [a, b, out, N])
        results.append(out)
    for factor, out in enumerate(results, start=1):
        assert np.array_equal(out.to_host(), x + factor * x)
    assert results[0].device.name == "cuda:0"
    assert results[1].device.name == "cuda:1"
    assert pair[0].uuid != pair[1].uuid


def test_an_array_of_the_other_gpu_is_refused(
    pair: tuple[Device, Device], artifact_of: MakeArtifact
) -> None:
    first, second = pair
    program = first.load(artifact_of("vector_add"))
    own = first.buffer(N, "f32")
    with pytest.raises(LaunchError, match="cuda:1"):
        first.launch(program, 1, [own, second.buffer(N, "f32"), own, N])
    first.launch(program, 1, [own, own, own, 1])  # the context is usable


@pytest.mark.parametrize("connected", [False, True])
def test_copies_between_gpus_are_right(pair: tuple[Device, Device], connected: bool) -> None:
    first, second = pair
    if connected:
        try:
            first.enable_peer(second)
            second.enable_peer(first)
        except LaunchError as error:
            if error.code != "E1082":
                raise
            pytest.skip("the machine does not connect its GPUs")
    x = np.random.default_rng(0).standard_normal(N).astype(np.float32)
    there = first.copy_of(x)
    here = second.buffer(N, "f32")
    here.copy_from(there)
    back = first.buffer(N, "f32")
    back.copy_from(here)
    assert np.array_equal(here.to_host(), x)
    assert np.array_equal(back.to_host(), x)


def test_a_copy_waits_for_the_other_gpus_kernel(
    pair: tuple[Device, Device], artifact_of: MakeArtifact
) -> None:
    first, second = pair
    spin = first.load(artifact_of("spin"))
    out = first.buffer(1, "f32")
    out.fill(0.0)
    here = second.buffer(1, "f32")
    first.launch(spin, 1, [out, 50_000_000])  # writes when 50 ms are over
    here.copy_from(out)
    assert here.to_host()[0] != 0.0
    assert np.array_equal(here.to_host(), out.to_host())


def test_a_stream_waits_for_an_event_of_the_other_gpu(
    pair: tuple[Device, Device], artifact_of: MakeArtifact
) -> None:
    first, second = pair
    spin = first.load(artifact_of("spin"))
    out = first.buffer(1, "f32")
    stream, other = first.stream(), second.stream()
    first.launch(spin, 1, [out, 50_000_000], stream=stream)
    done = first.event()
    done.record(stream)
    other.wait(done)
    assert not other.is_done
    other.synchronize()
    assert done.is_done


def test_two_threads_launch_on_two_gpus(
    pair: tuple[Device, Device], artifact_of: MakeArtifact
) -> None:
    artifact = artifact_of("vector_add")
    x = np.arange(N, dtype=np.float32)
    wrong: list[str] = []

    def work(device: Device, factor: int) -> None:
        program = device.load(artifact)
        a, b, out = device.copy_of(x), device.copy_of(factor * x), device.buffer(N, "f32")
        for _ in range(200):
            device.launch(program, -(-N // 128), [a, b, out, N])
        if not np.array_equal(out.to_host(), (1 + factor) * x):
            wrong.append(device.name)

    threads = [
        threading.Thread(target=work, args=(device, factor))
        for factor, device in enumerate(pair, start=2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
