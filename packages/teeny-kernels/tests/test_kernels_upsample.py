"""Larger images: refused factors and gradients, empty images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels.codes import KernelError


@pytest.mark.parametrize(
    ("shape", "factor", "code"),
    [((2, 2), 0, "E1204"), ((2, 2), (1, 2, 3), "E1204"), ((4,), 2, "E1202")],
)
def test_factors_that_do_not_fit_are_refused(shape: Any, factor: Any, code: str) -> None:
    with pytest.raises(KernelError) as caught:
        tk.upsample_nearest2d(np.ones(shape, np.float32), factor)
    assert caught.value.code == code


def test_a_gradient_of_another_size_is_refused() -> None:
    with pytest.raises(KernelError) as caught:
        tk.upsample_nearest2d_backward(np.ones((3, 4), np.float32), 2)
    assert caught.value.code == "E1202"


def test_an_empty_image_stays_empty() -> None:
    assert tk.upsample_nearest2d(np.ones((2, 0, 3, 3), np.float32), 2).shape == (2, 0, 6, 6)
