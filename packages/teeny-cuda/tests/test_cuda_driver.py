"""What is missing, and what the driver refuses, is said in codes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from teeny_cuda import Device, device_count
from teeny_cuda.driver import FAILURES, STICKY, Driver, driver
from teeny_cuda.fake_base import CUresult
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.testing import fake_driver
from teeny_macros.diagnostics import LaunchError


def _python(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=60
    )
    assert not done.stderr, done.stderr
    return done.stdout.strip()


def test_the_package_imports_without_cuda_python_numpy_and_a_driver() -> None:
    assert (
        _python(
            "import sys; sys.modules['cuda'] = None\n"
            "import teeny_cuda\n"
            "print('numpy' in sys.modules, 'ml_dtypes' in sys.modules)"
        )
        == "False False"
    )


def test_using_it_without_cuda_python_names_what_to_install() -> None:
    text = _python(
        "import sys; sys.modules['cuda'] = None\n"
        "import teeny_cuda\n"
        "try: teeny_cuda.Device(0)\n"
        "except Exception as error: print(error.code, error.diagnostics[0].helps)"
    )
    assert text == "E1050 ['pip install cuda-python']"


class _NoLibrary:
    def cuInit(self, flags: int) -> tuple[int]:
        raise RuntimeError("libcuda.so.1: cannot open shared object file")


def test_a_missing_driver_library_is_named_with_the_loaders_words() -> None:
    with pytest.raises(LaunchError) as caught:
        Driver(_NoLibrary())
    assert caught.value.code == "E1051"
    assert "libcuda.so.1" in caught.value.diagnostics[0].notes[0]


def test_a_driver_without_a_gpu_is_told_from_a_missing_driver() -> None:
    with pytest.raises(LaunchError) as caught, fake_driver(FakeDriver(count=0)):
        pass
    assert caught.value.code == "E1052"


def test_the_real_driver_is_loaded_once_and_replaced_only_for_the_block() -> None:
    with fake_driver() as fake:
        assert driver().api is fake
        assert driver() is driver()
        Device(0)
        Device(0)
        assert fake.calls.count("cuInit") == 1
        assert fake.retained == {0: 1}


def test_a_device_that_is_not_there_is_refused_with_those_that_are(fake: FakeDriver) -> None:
    with pytest.raises(LaunchError) as caught:
        Device(1)
    assert caught.value.code == "E1053"
    assert "`cuda:1`" in str(caught.value)
    assert "one device, `cuda:0`" in str(caught.value)
    assert device_count() == 1


def test_an_unknown_function_of_an_old_driver_is_an_outdated_driver(fake: FakeDriver) -> None:
    with pytest.raises(LaunchError) as caught:
        driver().call("cuFunctionOfTomorrow")
    assert caught.value.code == "E1054"
    assert "CUDA 13.0" in str(caught.value)


def test_a_result_without_a_row_shows_the_drivers_own_words(fake: FakeDriver) -> None:
    error = driver().failure("cuMagic", CUresult.CUDA_ERROR_NOT_FOUND)
    assert error.code == "E1099"
    assert "`cuMagic`: not found (CUDA_ERROR_NOT_FOUND, 500)" in str(error)
    assert "CUresult 12345" in str(driver().failure("cuMagic", 12345))


@pytest.mark.parametrize("number", sorted(FAILURES))
def test_every_row_of_the_table_gives_a_whole_message(number: int, fake: FakeDriver) -> None:
    error = driver().failure("cuCall", number)
    assert error.code == FAILURES[number].code.code
    assert "{" not in error.diagnostics[0].message
    assert error.diagnostics[0].helps
    assert (number in STICKY) == ("TEENY_LAUNCH_BLOCKING" in str(error))


def test_a_forked_child_is_told_to_use_spawn(fake: FakeDriver) -> None:
    device = Device(0)
    fake.fork()
    with pytest.raises(LaunchError) as caught:
        device.buffer(4, "f32")
    assert caught.value.code == "E1075"
    assert "spawn" in str(caught.value)


@pytest.mark.gpu
def test_the_real_enumerations_hold_every_name_used_here() -> None:
    from cuda.bindings import driver as real

    fake = FakeDriver()
    for name in ("CUfunction_attribute", "CUjit_option", "CUdevice_attribute"):
        members = {member.name for member in getattr(real, name)}
        assert {member.name for member in getattr(fake, name)} <= members
    for result in CUresult:
        assert int(getattr(real.CUresult, result.name)) == result
