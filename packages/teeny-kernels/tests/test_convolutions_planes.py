"""Depthwise convolutions by planes: the same results as a direct sum, on the CPU and on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels.arrays import operand
from teeny_kernels.convolution import planes
from teeny_kernels.convolution.geometry import convolution

# Sides of x, channels, results of each, window and options.
CASES = [
    ((9, 11), 6, 1, (3, 3), {"padding": 1}),
    ((11, 8), 5, 2, (3, 2), {"padding": (1, 0), "stride": 2}),
    ((17,), 6, 1, (4,), {"padding": 2, "stride": 2}),
    ((17, 9), 4, 1, (3, 3), {"padding": (2, 1), "stride": (2, 3), "dilation": (2, 1)}),
    ((8, 150), 3, 1, (5, 3), {"padding": 2, "stride": (1, 2)}),
    ((13, 7), 3, 1, (1, 1), {"stride": 3}),
    ((7, 7), 40, 1, (3, 3), {"padding": "same"}),
    ((10, 6), 2, 1, (2, 3), {"dilation": (3, 2), "padding": (4, 5)}),
]


def _taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Take this way for small arrays, too; for each launch, whether it is transposed."""
    monkeypatch.setattr(planes, "LEAST", 0)
    taken: list[bool] = []
    launch = planes.launch

    def noted(*args: Any, **options: Any) -> None:
        taken.append(options["transposed"])
        launch(*args, **options)

    monkeypatch.setattr(planes, "launch", noted)
    return taken


def _shapes(case: Any) -> tuple[tuple[int, ...], ...]:
    sides, channels, outer, window, _ = case
    return (3, channels, *sides), (channels * outer, 1, *window), (channels * outer,)


@pytest.mark.parametrize("case", CASES)
def test_planes_give_the_direct_sum_and_its_gradients(
    monkeypatch: pytest.MonkeyPatch, case: Any
) -> None:
    rng = np.random.default_rng(1)
    x, weight, bias = (rng.standard_normal(own) for own in _shapes(case))
    options = {**case[4], "groups": case[1]}
    name = f"conv{len(case[0])}d"
    forward, backward = getattr(tk, name), getattr(tk, f"{name}_backward")
    wanted = forward(x, weight, bias, **options)
    grad = rng.standard_normal(wanted.shape)
    gradients = backward(grad, x, weight, **options)
    taken = _taken(monkeypatch)
    np.testing.assert_allclose(forward(x, weight, bias, **options), wanted, rtol=0, atol=1e-13)
    found = backward(grad, x, weight, **options)
    for ours, own in zip(found, gradients, strict=True):
        np.testing.assert_allclose(ours, own, rtol=0, atol=1e-12)
    assert taken == ([False, True] if case[2] == 1 else [False])
    for ours, again in zip(found, backward(grad, x, weight, **options), strict=True):
        np.testing.assert_array_equal(ours, again)


def test_columns_may_lie_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    x, weight, _ = (rng.standard_normal(own) for own in _shapes(CASES[0]))
    grad = rng.standard_normal(x.shape)
    case: Any = CASES[0]
    options: dict[str, Any] = {**case[4], "groups": case[1]}
    wanted: Any = tk.conv2d(x, weight, **options), *tk.conv2d_backward(grad, x, weight, **options)
    taken = _taken(monkeypatch)
    turned, upstream = (
        np.ascontiguousarray(own.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2) for own in (x, grad)
    )
    found: Any = (
        tk.conv2d(turned, weight, **options),
        *tk.conv2d_backward(upstream, turned, weight, **options),
    )
    assert taken == [False, True]
    for ours, own in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, own, rtol=0, atol=1e-12)


def test_rows_that_are_no_results_meet_no_infinities(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last strip of a plane is not whole: what lies below its results changes no sum."""
    x = np.ones((1, 2, 11, 5), np.float32)
    x[:, :, 10] = np.inf
    weight = np.ones((2, 1, 3, 3), np.float32)
    grad = np.ones((1, 2, 9, 3), np.float32)
    wanted = tk.conv2d_backward(grad, x, weight, groups=2)[1]
    _taken(monkeypatch)
    monkeypatch.setattr(planes, "rows_of", lambda _side, _most: 8)
    found = tk.conv2d_backward(grad, x, weight, groups=2)[1]
    np.testing.assert_array_equal(found, wanted)
    assert np.isfinite(found[:, :, :2]).all()
    assert np.isinf(found[:, :, 2]).all()


def test_normalized_and_activated_planes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    x, weight = rng.standard_normal((2, 4, 9, 9)), rng.standard_normal((4, 1, 3, 3))
    rest: Any = [rng.random(4) + 0.5 for _ in range(5)]
    options: Any = {"padding": 1, "groups": 4}
    wanted = tk.conv2d_batch_norm_silu(x, weight, *rest, **options)
    taken = _taken(monkeypatch)
    found = tk.conv2d_batch_norm_silu(x, weight, *rest, **options)
    assert taken == [False]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("shape", "window", "pays"),
    [
        ((8, 64, 30, 30), (3, 3), True),
        ((8, 64, 30, 30), (7, 7), False),
        ((1, 4, 30, 30), (3, 3), False),
    ],
)
def test_large_planes_and_small_windows_take_this_way(
    shape: tuple[int, ...], window: tuple[int, ...], pays: bool
) -> None:
    x = operand("x", np.broadcast_to(np.float32(0), shape))
    weight = operand("w", np.zeros((shape[1], 1, *window), np.float32))
    how = convolution("conv2d", 2, x, weight, 1, "same", 1, shape[1])
    assert planes.pays(how, x, transposed=False) is pays


@pytest.mark.parametrize(
    ("side", "rows"), [(56, 14), (28, 14), (7, 7), (9, 9), (13, 13), (17, 9), (1, 1)]
)
def test_rows_of_a_program_leave_few_idle(side: int, rows: int) -> None:
    assert planes.rows_of(side, 14) == rows


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("case", CASES)
def test_planes_on_the_gpu(monkeypatch: pytest.MonkeyPatch, case: Any, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    kind = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype]
    given = [torch.randn(own, device="cuda").to(kind) for own in _shapes(case)]
    leaves = [own.double().requires_grad_() for own in given]
    options = {**case[4], "groups": case[1]}
    name = f"conv{len(case[0])}d"
    wanted = getattr(torch.nn.functional, name)(*leaves, **options)
    grad = torch.randn_like(wanted).to(kind)
    gradients = torch.autograd.grad(wanted, leaves, grad.double())
    taken = _taken(monkeypatch)
    found = getattr(tk, name)(*given, **options)
    assert taken == [False]
    backward = getattr(tk, f"{name}_backward")
    results = backward(grad, *given[:2], **options)
    rounding = {"f16": 2**-10, "bf16": 2**-7, "f32": 2**-19}[dtype]
    for ours, own in zip((found, *results), (wanted, *gradients), strict=True):
        size = own.abs().max().item() + 1
        assert (ours.double() - own).abs().max().item() <= 2 * rounding * size
    again = backward(grad, *given[:2], **options)
    assert all(torch.equal(ours, own) for ours, own in zip(results, again, strict=True))
