"""Streams and events: order, time, and those of other libraries."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from teeny_cuda import Device
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.stream import interface_stream, order, stream_handle
from teeny_cuda.testing import fake_driver, import_library
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from conftest import MakeArtifact


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (None, 0),
        (0, 0),
        (1, 0),
        (2, 2),
        (0x7000, 0x7000),
        (SimpleNamespace(cuda_stream=7), 7),
        (SimpleNamespace(ptr=8), 8),
        (SimpleNamespace(__cuda_stream__=lambda: (0, 9)), 9),
        (SimpleNamespace(__cuda_stream__=(0, 10)), 10),
    ],
)
def test_streams_of_other_libraries_are_taken(device: Device, stream: Any, handle: int) -> None:
    assert stream_handle(stream, device) == handle


@pytest.mark.parametrize("stream", ["default", 1.0, True, -4, object(), SimpleNamespace(ptr="a")])
def test_what_is_no_stream_is_refused(device: Device, stream: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        stream_handle(stream, device)
    assert caught.value.code == "E1072"


def test_a_stream_of_another_device_is_refused() -> None:
    with fake_driver(FakeDriver(count=2)):
        stream = Device(1).stream()
        with pytest.raises(LaunchError) as caught:
            Device(0).buffer(1, "f32").fill(0, stream=stream)
        assert caught.value.code == "E1072"


def test_work_of_a_stream_runs_when_it_is_waited_for(device: Device) -> None:
    buffer, stream = device.buffer(4, "f32"), device.stream()
    buffer.fill(1.0, stream=stream)
    event = device.event()
    event.record(stream)
    assert not event.is_done
    stream.synchronize()
    assert event.is_done
    assert buffer.to_host().tolist() == [1.0] * 4
    assert stream.__cuda_stream__() == (0, stream.handle)


def test_a_stream_waits_for_another(device: Device) -> None:
    buffer, first, second = device.buffer(4, "f32"), device.stream(), device.stream()
    event = device.event()
    buffer.fill(1.0, stream=first)
    event.record(first)
    second.wait(first)
    second.synchronize()
    assert event.is_done


def test_without_an_order_a_stream_does_not_wait(device: Device) -> None:
    buffer, first, second = device.buffer(4, "f32"), device.stream(), device.stream()
    event = device.event()
    buffer.fill(1.0, stream=first)
    event.record(first)
    order(device.context, second.handle, second.handle)
    second.synchronize()
    assert not event.is_done


def test_streams_and_events_are_given_back(fake: FakeDriver, device: Device) -> None:
    queues, events = len(fake.queues), len(fake.events)
    stream, event = device.stream(), device.event()
    event.record(stream)
    order(device.context, stream.handle, 0)
    assert (len(fake.queues), len(fake.events)) == (queues + 1, events + 1)
    del stream, event
    gc.collect()
    assert (len(fake.queues), len(fake.events)) == (queues, events)


def test_elapsed_time_waits_for_the_second_event(device: Device) -> None:
    start, end = device.event(), device.event()
    buffer = device.buffer(1 << 16, "f32")
    start.record()
    buffer.fill(1.0)
    end.record()
    assert not end.is_done
    assert 0 <= start.elapsed_ms(end) < 10_000
    assert end.is_done


def test_time_between_events_that_were_not_recorded_is_refused(device: Device) -> None:
    start, end = device.event(), device.event()
    start.record()
    for pair in ((start, end), (end, start), (start, object())):
        with pytest.raises(LaunchError) as caught:
            pair[0].elapsed_ms(pair[1])
        assert caught.value.code == "E1073"
    assert "recorded" in repr(start)


def test_the_stream_entry_of_an_array_interface() -> None:
    assert interface_stream(None) is None
    assert [interface_stream(value) for value in (1, 2, 77)] == [0, 2, 77]


@pytest.mark.gpu
def test_events_measure_a_kernel_of_known_length(gpu: Device, artifact_of: MakeArtifact) -> None:
    program = gpu.load(artifact_of("spin"))
    out, start, end = gpu.buffer(1, "f32"), gpu.event(), gpu.event()
    gpu.launch(program, (1, 1, 1), [out, 0])
    start.record()
    gpu.launch(program, (1, 1, 1), [out, 20_000_000])
    end.record()
    assert 19.5 < start.elapsed_ms(end) < 60
    assert out.to_host().tolist() == [1.0]


@pytest.mark.gpu
def test_a_stream_of_the_gpu_runs_beside_another_and_waits_when_told(
    gpu: Device, artifact_of: MakeArtifact
) -> None:
    program = gpu.load(artifact_of("spin"))
    out, first, second = gpu.buffer(1, "f32"), gpu.stream(), gpu.stream()
    marks = [gpu.event(), gpu.event()]
    gpu.launch(program, (1, 1, 1), [out, 200_000_000], stream=first)
    marks[0].record(first)
    marks[1].record(second)
    marks[1].synchronize()
    assert not marks[0].is_done
    second.wait(first)
    second.synchronize()
    assert marks[0].is_done


@pytest.mark.gpu
def test_the_current_torch_stream_is_used(gpu: Device, artifact_of: MakeArtifact) -> None:
    torch = import_library("torch")
    spin, add = gpu.load(artifact_of("spin")), gpu.load(artifact_of("vector_add"))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x = torch.zeros(1000, device="cuda:0")
        gpu.launch(spin, 1, [x[:1], 100_000_000])
        done = gpu.event()
        done.record(side)
        assert not done.is_done
        out = torch.empty_like(x)
        gpu.launch(add, 8, [x, x, out, 1000])
        total = (out + 1).cpu()
    assert total[0] == 3
    assert total[1:].eq(1).all()


@pytest.mark.gpu
def test_the_stream_of_an_array_interface_is_waited_for(
    gpu: Device, artifact_of: MakeArtifact
) -> None:
    cupy = import_library("cupy")
    spin, add = gpu.load(artifact_of("spin")), gpu.load(artifact_of("vector_add"))
    side = cupy.cuda.Stream(non_blocking=True)
    with side:
        x = cupy.zeros(4, cupy.float32)
        y = cupy.zeros(4, cupy.float32)
        gpu.launch(spin, 1, [x, 100_000_000])
        out = gpu.buffer(4, "f32")
        ours = gpu.stream()
        gpu.launch(add, 1, [x, y, out, 4], stream=ours)
    assert out.to_host(stream=ours).tolist() == [1, 0, 0, 0]
    assert np.array_equal(cupy.asnumpy(x), [1, 0, 0, 0])
