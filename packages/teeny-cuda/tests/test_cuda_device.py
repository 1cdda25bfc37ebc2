"""Devices: names, properties, context handling."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from teeny_cuda import Device
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.testing import fake_driver, import_library
from teeny_macros.diagnostics import LaunchError
from teeny_macros.target import Target

if TYPE_CHECKING:
    from teeny_macros.protocol import Device as DeviceProtocol


def test_a_device_says_what_it_is(device: Device) -> None:
    assert device.name == "cuda:0"
    assert device.model == "Fake GPU 0"
    assert device.capability == (9, 0)
    assert device.target == Target.cuda("sm_90")
    assert device.uuid == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert repr(device) == "Device(0: Fake GPU 0, sm_90)"


def test_properties_have_their_cuda_names_and_are_read_once(
    fake: FakeDriver, device: Device
) -> None:
    assert device.properties["multiprocessor_count"] == 132
    before = len(fake.calls)
    assert device.properties["multiprocessor_count"] == 132
    assert len(fake.calls) == before
    assert "warp_size" in device.properties
    assert len(device.properties) == len(list(device.properties))
    with pytest.raises(KeyError):
        device.properties["number_of_wheels"]


def test_memory_goes_down_with_an_allocation(device: Device) -> None:
    before = device.memory
    buffer = device.buffer(1000, "f64")
    assert before.free - device.memory.free == buffer.nbytes == 8000
    assert before.total == device.memory.total == 1 << 30


def test_devices_with_one_number_are_equal(device: Device) -> None:
    assert device == Device(0)
    assert hash(device) == hash(Device(0))
    assert device != object()


@pytest.mark.parametrize(
    ("capability", "targets"),
    [
        ((7, 5), ["sm_75"]),
        ((8, 6), ["sm_86", "sm_80", "sm_75"]),
        ((9, 0), ["sm_90", "sm_89", "sm_87", "sm_86", "sm_80", "sm_75"]),
        ((12, 0), ["sm_120", "sm_89", "sm_87", "sm_86", "sm_80", "sm_75"]),
    ],
)
def test_a_device_names_every_target_whose_code_it_runs(
    capability: tuple[int, int], targets: list[str]
) -> None:
    fake = FakeDriver()
    fake.attributes["COMPUTE_CAPABILITY_MAJOR"] = capability[0]
    fake.attributes["COMPUTE_CAPABILITY_MINOR"] = capability[1]
    with fake_driver(fake):
        assert [target.arch for target in Device(0).targets] == targets


def test_a_gpu_older_than_the_compiler_knows_has_no_target() -> None:
    fake = FakeDriver()
    fake.attributes["COMPUTE_CAPABILITY_MAJOR"] = 6
    with fake_driver(fake), pytest.raises(LaunchError, match="sm_60"):
        _ = Device(0).target


def test_the_threads_current_context_is_left_as_it_was() -> None:
    with fake_driver(FakeDriver(count=2)) as fake:
        first, second = Device(0), Device(1)
        assert fake.current == []
        with first.context.bound():
            second.buffer(8, "f32").fill(1.0)
            assert fake.current == [0x100]
        assert fake.current == []
        with pytest.raises(LaunchError):
            second.buffer(1 << 40, "f32")
        assert fake.current == []


def test_a_thread_that_never_saw_the_context_can_use_the_device(device: Device) -> None:
    found: list[float] = []

    def work() -> None:
        with device.buffer(3, "f32") as buffer:
            buffer.fill(2.5)
            found.extend(buffer.to_host())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [2.5, 2.5, 2.5]


def test_a_device_follows_the_protocol(device: Device) -> None:
    protocol: DeviceProtocol = device
    assert protocol.name == "cuda:0"


@pytest.mark.gpu
def test_the_gpu_says_what_it_is(gpu: Device) -> None:
    assert gpu.model.startswith("NVIDIA")
    assert gpu.uuid.startswith("GPU-")
    assert len(gpu.uuid) == 40
    assert gpu.properties["multiprocessor_count"] > 0
    assert gpu.properties["warp_size"] == 32
    assert gpu.target == Target.cuda("sm_{}{}".format(*gpu.capability))
    assert 0 < gpu.memory.free <= gpu.memory.total
    assert repr(gpu).startswith("Device(0: NVIDIA")


@pytest.mark.gpu
def test_the_primary_context_is_shared_with_torch(gpu: Device) -> None:
    torch = import_library("torch")
    tensor = torch.ones(4, device="cuda:0")
    assert gpu.copy_of(tensor).to_host().tolist() == [1.0] * 4
    assert torch.cuda.current_device() == 0
