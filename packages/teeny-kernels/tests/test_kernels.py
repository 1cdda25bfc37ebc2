"""Every operation of the library against its references: one test for all of them."""

from __future__ import annotations

from typing import Any

import pytest

from teeny_kernels import testing
from teeny_kernels.registry import specs

SPECS = specs()
PAIRS = [
    pytest.param(spec, dtype, id=f"{name}-{dtype}")
    for name, spec in SPECS.items()
    for dtype in spec.dtypes
]


@pytest.mark.parametrize(("spec", "dtype"), PAIRS)
def test_the_result_equals_the_reference(spec: Any, dtype: str) -> None:
    wrong = [fault for case in spec.cases for fault in testing.check_forward(spec, case, dtype)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("spec", "dtype"), PAIRS)
def test_the_gradients_equal_the_reference(spec: Any, dtype: str) -> None:
    wrong = [fault for case in spec.cases for fault in testing.check_backward(spec, case, dtype)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if spec.backward])
def test_the_gradients_are_those_of_our_own_forward(name: str) -> None:
    spec = SPECS[name]
    wrong = [fault for case in spec.cases for fault in testing.check_numerically(spec, case)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.torch
@pytest.mark.parametrize(("spec", "dtype"), PAIRS)
def test_result_and_gradients_equal_pytorchs(spec: Any, dtype: str) -> None:
    import torch

    wrong = [
        fault for case in spec.cases for fault in testing.check_torch(spec, case, dtype, torch)
    ]
    assert not wrong, "\n".join(wrong)


def _to_gpu(array: Any) -> Any:
    import torch

    return testing.as_tensor(torch, array).cuda()


@pytest.mark.gpu
@pytest.mark.parametrize(("spec", "dtype"), PAIRS)
def test_result_and_gradients_on_a_gpu_equal_the_reference(spec: Any, dtype: str) -> None:
    wrong: list[str] = []
    for case in spec.cases:
        wrong += testing.check_forward(spec, case, dtype, _to_gpu)
        wrong += testing.check_backward(spec, case, dtype, _to_gpu)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", SPECS)
def test_strided_inputs_give_the_same_bits(name: str) -> None:
    spec = SPECS[name]
    wrong = [fault for case in spec.cases for fault in testing.check_strided(spec, case)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_tests_at_least_twelve_cases_with_special_values(name: str) -> None:
    spec = SPECS[name]
    assert len(spec.cases) >= 12
    assert len(set(map(repr, spec.cases))) == len(spec.cases)
    assert spec.formula
    assert spec.source
    assert spec.tolerance.reason
    assert spec.function.__doc__
    assert all(kernel.dtypes for kernel in spec.kernels)
