"""The fake driver gives the answers that a real driver gave, to what it refuses and takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from teeny_cuda.driver import FAILURES
from teeny_cuda.fake_base import CUresult
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.fake_memory import FaultError
from teeny_cuda.fake_probe import KERNELS, TRIALS, Probe
from teeny_cuda.fake_refusals import answer, recorded

if TYPE_CHECKING:
    from teeny_cuda import Device

RECORDED = recorded()
# The real driver reads memory that it has freed: it crashed, or by chance did not. The fake one
# refuses, so that a test sees the mistake.
FREED = {"attribute: of a function of an unloaded module"}


def _taught() -> FakeDriver:
    """A fake driver that knows what the trials' kernels do."""
    fake = FakeDriver()

    def store(run: Any) -> None:
        pointer = int.from_bytes(run.params[0], "little")
        if pointer % 4:
            raise FaultError(CUresult.CUDA_ERROR_MISALIGNED_ADDRESS)
        run.view(pointer, 4)[:] = (7).to_bytes(4, "little")

    def trapped(run: Any) -> None:
        raise FaultError(CUresult.CUDA_ERROR_LAUNCH_FAILED)

    fake.kernels.update(store=store, trapped=trapped)
    return fake


def test_a_real_driver_was_recorded_with_every_trial() -> None:
    assert RECORDED["answers"].keys() == TRIALS.keys()
    assert len(TRIALS) > 200
    assert RECORDED["driver"] >= 12000
    assert not [
        name
        for name, numbers in RECORDED["answers"].items()
        if isinstance(numbers, str) and not numbers.startswith("signal")
    ]
    # More than half of the trials are refusals, and none of them is only a crash.
    refused = [n for n, a in RECORDED["answers"].items() if isinstance(a, list) and any(a)]
    assert len(refused) > 100


@pytest.mark.parametrize("name", TRIALS)
def test_the_fake_driver_answers_as_the_real_one_did(name: str) -> None:
    expected = RECORDED["answers"][name]
    found = answer(_taught(), name)
    if isinstance(expected, str) or name in FREED:
        assert any(found), "the real driver read freed memory here: the fake one has to refuse"
    else:
        assert found == expected


def test_the_fake_gpu_has_the_attributes_of_the_real_one() -> None:
    fake = FakeDriver()
    probe = Probe(fake).start()
    for member in fake.CUdevice_attribute:
        assert probe.attempt("cuDeviceGetAttribute", member, probe.device) == 0
        assert probe.value == RECORDED["device"][member.name.removeprefix("CU_DEVICE_ATTRIBUTE_")]
    assert probe.must("cuCtxGetStreamPriorityRange") == tuple(RECORDED["priorities"])


@pytest.mark.parametrize("kernel", KERNELS)
def test_functions_have_the_attributes_that_the_real_driver_gave(kernel: str) -> None:
    fake = FakeDriver()
    function = Probe(fake).start().function(kernel)
    found = fake.functions[function].attributes
    expected = RECORDED["functions"][kernel]
    for name in ("SHARED_SIZE_BYTES", "MAX_DYNAMIC_SHARED_SIZE_BYTES", "BINARY_VERSION"):
        assert found[name] == expected[name], name
    if kernel != "heavy":  # the fake driver has no register allocator
        assert found["MAX_THREADS_PER_BLOCK"] == expected["MAX_THREADS_PER_BLOCK"]


def test_every_result_that_was_recorded_has_a_coded_error() -> None:
    numbers = {
        number
        for numbers in RECORDED["answers"].values()
        if isinstance(numbers, list)
        for number in numbers
    }
    # A missing function is told apart where modules are loaded, a graph's state where it is used.
    assert numbers - {0} - FAILURES.keys() <= {217, 401, 500, 709}


@pytest.mark.gpu
def test_this_machines_driver_still_answers_so(gpu: Device) -> None:
    api = gpu.context.driver.api
    safe = [name for name, row in TRIALS.items() if not row.alone]
    found = {name: answer(api, name) for name in safe}
    different = {
        name: (numbers, RECORDED["answers"][name])
        for name, numbers in found.items()
        if numbers != RECORDED["answers"][name]
    }
    # Architectures and drivers differ in details; most answers are the interface's.
    assert len(different) <= len(safe) // 20, different
