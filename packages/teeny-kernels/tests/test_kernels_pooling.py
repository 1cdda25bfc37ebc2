"""Pools: windows at the ends, refused options, ties and NaN, places of maxima."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels.codes import KernelError


def test_a_window_over_the_end_is_divided_by_what_it_holds() -> None:
    x = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6)
    found = tk.avg_pool(x, 3, 2, ceil_mode=True)
    assert found.tolist() == [[[[7, 9, 10.5], [19, 21, 22.5], [28, 30, 31.5]]]]


def test_padding_counts_but_not_what_lies_beyond_it() -> None:
    x = np.ones((1, 1, 4, 4), np.float32)
    found = tk.avg_pool(x, (1, 2), (2, 2), (0, 1), ceil_mode=True)
    assert found.tolist() == [[[[0.5, 1, 0.5], [0.5, 1, 0.5]]]]


@pytest.mark.parametrize("pool", [tk.avg_pool, tk.max_pool])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"kernel_size": 3, "padding": 2}, "E1204"),
        ({"kernel_size": 3, "stride": 0}, "E1204"),
        ({"kernel_size": (3, 3), "padding": (1, 1, 1)}, "E1204"),
        ({"kernel_size": 0}, "E1204"),
        ({"kernel_size": 9}, "E1202"),
        ({"kernel_size": (1, 1, 1, 1)}, "E1202"),
    ],
)
def test_windows_that_do_not_fit_are_refused(pool: Any, arguments: Any, code: str) -> None:
    with pytest.raises(KernelError) as caught:
        pool(np.ones((1, 1, 4, 4), np.float32), **arguments)
    assert caught.value.code == code


def test_no_divisor_is_refused() -> None:
    with pytest.raises(KernelError) as caught:
        tk.avg_pool(np.ones((1, 1, 4, 4), np.float32), 2, divisor_override=0)
    assert caught.value.code == "E1204"


def test_the_first_of_equal_maxima_is_chosen_and_the_last_nan() -> None:
    x = np.array([[[1, 1, 0, 0, np.nan, np.nan, -np.inf, -np.inf]]], np.float32)
    found, places = tk.max_pool(x, 2, return_indices=True)
    np.testing.assert_array_equal(found, [[[1, 0, np.nan, -np.inf]]])
    assert places.dtype == np.int64
    assert places.tolist() == [[[0, 2, 5, 6]]]


@pytest.mark.torch
@pytest.mark.parametrize("count", [1, 2, 3])
def test_places_of_maxima_are_pytorchs(count: int) -> None:
    import torch

    x = np.random.default_rng(count).integers(0, 4, (2, 3, *(9, 8, 7)[:count]))
    x = x.astype(np.float32)
    function = getattr(torch.nn.functional, f"max_pool{count}d")
    wanted = function(torch.from_numpy(x), 3, 2, 1, ceil_mode=True, return_indices=True)
    found = tk.max_pool(x, 3, 2, 1, ceil_mode=True, return_indices=True)
    for own, theirs in zip(found, wanted, strict=True):
        assert own.tolist() == theirs.tolist()


def test_given_places_lead_to_the_same_gradient() -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, 9, 8)).astype(np.float32)
    found, places = tk.max_pool(x, 3, 2, 1, return_indices=True)
    grad = np.random.default_rng(2).standard_normal(found.shape).astype(np.float32)
    again = tk.max_pool_backward(grad, x, 3, 2, 1)
    assert tk.max_pool_backward(grad, x, 3, 2, 1, indices=places).tolist() == again.tolist()


@pytest.mark.parametrize("pool", [tk.global_avg_pool, tk.global_max_pool])
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 0)])
def test_a_global_pool_needs_elements_in_each_channel(pool: Any, shape: Any) -> None:
    with pytest.raises(KernelError) as caught:
        pool(np.ones(shape, np.float32))
    assert caught.value.code == "E1202"
