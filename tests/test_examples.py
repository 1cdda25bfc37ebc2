"""Every example equals its NumPy reference: compiled for the CPU, interpreted, and on a GPU.

The GPU's are under `-m gpu`.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from example_cases import EPS, NUMPY, TINY, Case, all_cases, inputs, interpreted_cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from teeny_macros.protocol import Device

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
CASES = all_cases()
INTERPRETED = interpreted_cases()


def load_example(name: str) -> ModuleType:
    """The example's module, from its file."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Poisoned:
    """A device whose fresh buffers hold NaN, so that an element no program writes is seen."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.name = device.name

    def buffer(self, shape: Any, dtype: str) -> Any:
        """A buffer full of NaN."""
        buffer = self._device.buffer(shape, dtype)
        buffer.copy_from(np.full(buffer.shape, np.nan).astype(NUMPY[dtype]))
        return buffer

    def synchronize(self) -> None:
        """As the device's."""
        self._device.synchronize()


MODULES = {name: load_example(name) for name in dict.fromkeys(case.example for case in CASES)}


def worst_excess(case: Case, device: Any) -> float:
    """Largest error over its bound: at most 1 is right, 0 where no error is allowed."""
    module = MODULES[case.example]
    arrays = inputs(case)
    out = np.asarray(module.run(Poisoned(device), *arrays, case.dtype)).astype(np.float64)
    exact = module.reference(*arrays)
    rounded = exact.astype(NUMPY[case.out]).astype(np.float64)
    bound = module.tolerance(*arrays, EPS[case.out], TINY[case.out])
    assert out.shape == rounded.shape
    if out.size == 0:
        return 0.0
    with np.errstate(invalid="ignore"):
        error = np.where(out == rounded, 0.0, np.abs(out - rounded))  # equal infinities too
    assert not np.isnan(error).any(), "an element was not written, or is NaN"
    return float(np.max(np.where(error == 0, 0.0, error / np.maximum(bound, 1e-320))))


@pytest.fixture(scope="module")
def interpreter() -> Iterator[Any]:
    import teeny_cpu

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEENY_DEVICE", "interpret")  # examples launch where their arrays lie
        yield teeny_cpu.Interpreter()


@pytest.fixture(scope="module")
def cpu() -> Any:
    import teeny_cpu

    return teeny_cpu.Device()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_example_equals_its_reference_on_the_cpu(case: Case, cpu: Device) -> None:
    assert worst_excess(case, cpu) <= 1


@pytest.mark.parametrize("case", INTERPRETED, ids=lambda case: case.name)
def test_example_equals_its_reference_in_the_interpreter(case: Case, interpreter: Device) -> None:
    assert worst_excess(case, interpreter) <= 1


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_example_equals_its_reference_on_the_gpu(case: Case) -> None:
    import teeny_cuda

    assert worst_excess(case, teeny_cuda.Device(0)) <= 1


def test_every_example_file_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(MODULES)


def test_every_size_of_every_dimension_is_interpreted_in_every_dtype() -> None:
    def sizes(cases: list[Case]) -> set[tuple[str, str, int, int]]:
        return {
            (case.example, case.dtype, axis, size)
            for case in cases
            for axis, size in enumerate(case.sizes)
        }

    assert sizes(INTERPRETED) == sizes(CASES)
