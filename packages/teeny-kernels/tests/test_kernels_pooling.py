"""Pools: windows at the ends, refused options, ties and NaN, places of maxima."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels.codes import KernelError
from teeny_kernels.pooling import maximum


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


def test_a_window_of_minus_infinity_chooses_its_first_place() -> None:
    x = np.full((1, 1, 6, 4, 4), -np.inf, np.float32)
    found, places = tk.max_pool(x, 2, return_indices=True)
    assert np.isneginf(found).all()
    first = np.arange(96).reshape(6, 4, 4)[::2, ::2, ::2]
    assert places[0, 0].tolist() == first.tolist()


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


@pytest.mark.torch
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kept", [(3,), (2, 3)])
def test_pools_under_pytorchs_names_take_its_arguments(count: int, kept: Any) -> None:
    import torch

    x = np.random.default_rng(count).standard_normal((*kept, *(9, 8, 7)[:count]))
    for name, arguments in (
        ("avg_pool", (3, 2, 1, True, False)),
        ("max_pool", (3, 2, 1, 2)),
        ("lp_pool", (2.0, 3, 2)),
    ):
        function = getattr(torch.nn.functional, f"{name}{count}d")
        given = torch.from_numpy(x).requires_grad_()
        wanted = function(given, *arguments)
        found = getattr(tk, f"{name}{count}d")(x, *arguments)
        np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-12)
        grad = np.random.default_rng(9).standard_normal(found.shape)
        wanted.backward(torch.from_numpy(grad))
        back = getattr(tk, f"{name}{count}d_backward")(grad, x, *arguments)
        np.testing.assert_allclose(back, given.grad.numpy(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("arguments", "code"), [(((3, 3, 3),), "E1204"), ((2,), "E1202")])
def test_pools_of_another_number_of_axes_are_refused(arguments: Any, code: str) -> None:
    shape = (4, 4) if code == "E1202" else (1, 4, 4)
    with pytest.raises(KernelError, match=code):
        tk.avg_pool2d(np.ones(shape, np.float32), *arguments)


@pytest.mark.parametrize("power", [0, -1.0, float("nan")])
def test_norms_of_no_positive_power_are_refused(power: float) -> None:
    with pytest.raises(KernelError, match="E1204"):
        tk.lp_pool(np.ones((1, 1, 4), np.float32), power, 2)


def test_the_gradient_of_a_norm_of_nothing_is_zero() -> None:
    x = np.array([[[0.0, 0.0, 3.0, 4.0]]])
    grad = np.ones((1, 1, 2))
    np.testing.assert_allclose(tk.lp_pool1d_backward(grad, x, 2, 2), [[[0, 0, 0.6, 0.8]]])


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((2, 3, 9, 40), {"kernel_size": 3, "stride": 2, "padding": 1}),
        ((2, 3, 9, 19), {"kernel_size": (2, 2)}),
        ((2, 5, 7, 35), {"kernel_size": (3, 2, 3), "stride": (2, 1, 2), "padding": (1, 0, 1)}),
        ((3, 70), {"kernel_size": 5, "stride": 2, "dilation": 3}),
        ((3, 70), {"kernel_size": 4, "stride": 1, "ceil_mode": True}),
    ],
)
def test_lines_give_the_gradient_that_blocks_do(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], options: dict[str, Any]
) -> None:
    rng = np.random.default_rng(0)
    if isinstance(options["kernel_size"], int):
        options = {**options, "kernel_size": (options["kernel_size"],) * max(1, len(shape) - 2)}
    x = np.round(rng.standard_normal(shape), 1)  # with ties
    grad = rng.standard_normal(tk.max_pool(x, **options).shape)
    monkeypatch.setattr(maximum, "SHORTEST", 1 << 30)
    wanted = tk.max_pool_backward(grad, x, **options)
    monkeypatch.setattr(maximum, "SHORTEST", 1)
    monkeypatch.setattr(maximum, "LONGEST", 16)
    np.testing.assert_array_equal(tk.max_pool_backward(grad, x, **options), wanted)
    assert np.count_nonzero(wanted)


@pytest.mark.torch
@pytest.mark.parametrize("count", [1, 2, 3])
def test_places_of_adaptive_maxima_are_pytorchs(count: int) -> None:
    import torch

    sides, outs = (9, 8, 7)[:count], (4, 3, 5)[:count]
    x = np.random.default_rng(count).integers(0, 4, (2, 3, *sides)).astype(np.float32)
    function = getattr(torch.nn.functional, f"adaptive_max_pool{count}d")
    own = getattr(tk, f"adaptive_max_pool{count}d")
    for size in (outs, 1, (*(None,) * (count - 1), 2)):
        wanted = function(torch.from_numpy(x), size, return_indices=True)
        found = own(x, size, return_indices=True)
        for one, theirs in zip(found, wanted, strict=True):
            assert one.tolist() == theirs.tolist()
        grad = np.random.default_rng(9).standard_normal(found[0].shape).astype(np.float32)
        backward = getattr(tk, f"adaptive_max_pool{count}d_backward")
        given = backward(grad, x, indices=found[1])
        assert given.tolist() == backward(grad, x).tolist()


def test_an_adaptive_pool_without_windows_is_empty_and_has_no_gradient() -> None:
    x = np.ones((2, 3, 4, 5), np.float32)
    assert tk.adaptive_avg_pool2d(x, (0, 2)).shape == (2, 3, 0, 2)
    found = tk.adaptive_max_pool2d_backward(np.ones((2, 3, 0, 2), np.float32), x)
    assert not found.any()


@pytest.mark.parametrize(
    ("shape", "size", "code"),
    [
        ((4, 5), 2, "E1202"),
        ((2, 3, 0, 5), 2, "E1202"),
        ((2, 3, 4, 5), -1, "E1204"),
        ((2, 3, 4, 5), (2, 2, 2), "E1204"),
        ((2, 3, 4, 5), (2, 1.5), "E1204"),
    ],
)
def test_adaptive_pools_that_do_not_fit_are_refused(shape: Any, size: Any, code: str) -> None:
    for pool in (tk.adaptive_avg_pool2d, tk.adaptive_max_pool2d):
        with pytest.raises(KernelError, match=code):
            pool(np.ones(shape, np.float32), size)


def test_windows_of_a_long_axis_are_counted_in_64_bits() -> None:
    x = np.arange(200_000, dtype=np.float64).reshape(1, 1, -1)
    found = tk.adaptive_avg_pool1d(x, 30_000)
    at = np.arange(30_000)
    begin, end = at * 200_000 // 30_000, -(-(at + 1) * 200_000 // 30_000)
    np.testing.assert_allclose(found[0, 0], (begin + end - 1) / 2, rtol=1e-12)
    back = tk.adaptive_avg_pool1d_backward(np.ones_like(found), x)
    assert abs(back.sum() - 30_000) < 1e-6
