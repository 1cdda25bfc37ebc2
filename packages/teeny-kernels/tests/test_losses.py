"""Losses of classes: faults that other libraries had, and calls that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as k
from teeny_kernels.codes import KernelError

LOGITS = np.array([[1, 2, 3], [3, 1, 0], [0, 0, 0]], np.float32)
TARGET = np.array([2, -100, 0])
ONE = np.ones((), np.float32)


@pytest.mark.parametrize(
    ("smoothing", "reduction", "wanted"),
    [
        (0.1, "none", [0.5076, 0.0, 1.0986]),
        (0.1, "mean", 0.8031),
        (0.1, "sum", 1.6062),
        (0.0, "mean", 0.7531),
    ],
)
def test_label_smoothing_leaves_ignored_rows_out(
    smoothing: float, reduction: str, wanted: Any
) -> None:
    found = k.cross_entropy(LOGITS, TARGET, reduction=reduction, label_smoothing=smoothing)
    np.testing.assert_allclose(found, wanted, atol=6e-5)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
def test_nothing_but_ignored_targets_has_no_mean(name: str) -> None:
    loss, backward = getattr(k, name), getattr(k, f"{name}_backward")
    target = np.full(3, -100)
    assert np.isnan(loss(LOGITS, target))
    assert loss(LOGITS, target, reduction="sum") == 0
    assert loss(LOGITS, target, reduction="none").tolist() == [0, 0, 0]
    for reduction in ("mean", "sum"):
        assert not backward(ONE, LOGITS, target, reduction=reduction).any()


@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_a_large_common_offset_costs_nothing(offset: float) -> None:
    logits = np.array([[offset, offset + 1, offset + 2]], np.float32)
    assert k.cross_entropy(logits, np.array([2])) == pytest.approx(0.4076, abs=5e-5)


@pytest.mark.parametrize("target", [3, 1 << 40, -1, -(1 << 62)])
def test_a_target_outside_of_the_classes_reads_nothing(target: int) -> None:
    # A logit that would be read past the row is NaN here.
    logits = np.full((3, 5), np.nan, np.float32)
    logits[:, :3] = LOGITS
    weight = np.full(5, np.nan, np.float32)
    weight[:3] = 1
    targets = np.array([target, 1, 2])
    found = k.cross_entropy(logits[:, :3], targets, weight[:3], reduction="none")
    np.testing.assert_allclose(found[0], np.log(np.exp(LOGITS[0]).sum()), rtol=1e-6)
    grad = k.cross_entropy_backward(ONE, logits[:, :3], targets, reduction="sum")
    np.testing.assert_allclose(grad[0], np.exp(LOGITS[0]) / np.exp(LOGITS[0]).sum(), rtol=1e-5)
    assert k.nll_loss(LOGITS, targets, reduction="none")[0] == 0
    assert not k.nll_loss_backward(ONE, LOGITS, targets, reduction="sum")[0].any()


def test_without_a_reduction_every_target_has_its_loss_and_its_gradient() -> None:
    rng = np.random.default_rng(3)
    logits = rng.standard_normal((2, 15, 4)).astype(np.float32)
    target = np.where(rng.random((2, 4)) < 0.4, -100, rng.integers(0, 15, (2, 4)))
    mask = rng.random((2, 4)).astype(np.float32)
    assert k.cross_entropy(logits, target, reduction="none").shape == (2, 4)
    found = k.cross_entropy_backward(mask, logits, target, reduction="none")
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    hot = np.arange(15)[:, None] == target[:, None]
    np.testing.assert_allclose(
        found, np.where(target == -100, 0, mask)[:, None] * (p - hot), atol=1e-6
    )


def test_an_ignored_row_of_nan_does_no_harm() -> None:
    logits = LOGITS.copy()
    logits[1] = np.nan
    assert k.cross_entropy(logits, TARGET) == pytest.approx(0.7531, abs=5e-5)
    assert not k.cross_entropy_backward(ONE, logits, TARGET)[1].any()


def test_narrow_integers_are_targets_too() -> None:
    for dtype in (np.int8, np.int16, np.int32):
        assert k.cross_entropy(LOGITS, TARGET.astype(dtype)) == k.cross_entropy(LOGITS, TARGET)


@pytest.mark.parametrize(
    ("code", "arguments", "options"),
    [
        ("E1202", (LOGITS, TARGET[:2]), {}),
        ("E1202", (LOGITS, TARGET, np.ones(2, np.float32)), {}),
        ("E1203", (LOGITS, TARGET.astype(np.float32)), {}),
        ("E1203", (LOGITS, TARGET, np.ones(3)), {}),
        ("E1204", (LOGITS, TARGET), {"reduction": "average"}),
        ("E1204", (LOGITS, TARGET), {"label_smoothing": 1.5}),
    ],
)
def test_a_call_that_does_not_fit_is_refused(code: str, arguments: Any, options: Any) -> None:
    with pytest.raises(KernelError) as caught:
        k.cross_entropy(*arguments, **options)
    assert code in str(caught.value)


def test_a_gradient_has_the_shape_of_the_loss() -> None:
    with pytest.raises(KernelError, match="E1202"):
        k.cross_entropy_backward(ONE, LOGITS, TARGET, reduction="none")
    with pytest.raises(KernelError, match="E1202"):
        k.nll_loss_backward(np.ones(3, np.float32), LOGITS, TARGET)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_the_mean_of_nothing_is_nan(name: str) -> None:
    nothing = np.zeros((0, 3), np.float32)
    assert np.isnan(getattr(k, name)(nothing, nothing))
    assert getattr(k, name)(nothing, nothing, "sum") == 0
    assert getattr(k, f"{name}_backward")(ONE, nothing, nothing).shape == (0, 3)


def test_a_large_sum_walks_over_many_blocks() -> None:
    x = np.ones(1056 * 4096 * 2 + 5, np.float32)
    assert k.l1_loss(x, 0 * x, "sum") == np.float32(x.size)
    assert k.l1_loss(x, 0 * x) == 1


@pytest.mark.parametrize(
    ("code", "name", "arguments"),
    [
        ("E1202", "mse_loss", (LOGITS, LOGITS[:2])),
        ("E1203", "mse_loss", (LOGITS, LOGITS.astype(np.float64))),
        ("E1204", "mse_loss", (LOGITS, LOGITS, "batchmean")),
        ("E1204", "smooth_l1_loss", (LOGITS, LOGITS, "mean", -1.0)),
        ("E1204", "huber_loss", (LOGITS, LOGITS, "mean", 0.0)),
    ],
)
def test_a_loss_of_elements_refuses_what_does_not_fit(code: str, name: str, arguments: Any) -> None:
    with pytest.raises(KernelError, match=code):
        getattr(k, name)(*arguments)


def test_probabilities_of_exactly_0_and_1_have_finite_losses_and_gradients() -> None:
    x = np.array([0, 1, 0, 1], np.float32)
    y = np.array([0, 1, 1, 0], np.float32)
    assert k.binary_cross_entropy(x, y, reduction="none").tolist() == [0, 0, 100, 100]
    grad = k.binary_cross_entropy_backward(ONE, x, y, reduction="sum")
    np.testing.assert_allclose(grad, [0, 0, -1e12, 1e12])


def test_a_kl_target_of_0_counts_nothing() -> None:
    zero = np.zeros(3, np.float32)
    assert k.kl_div(LOGITS[0], zero, "sum") == 0


def test_weights_of_binary_cross_entropy_broadcast() -> None:
    x, y = LOGITS, (LOGITS > 1).astype(np.float32)
    weight = np.array([1, 2, 3], np.float32)
    for name in ("binary_cross_entropy_with_logits", "binary_cross_entropy"):
        loss = getattr(k, name)
        own = x if name.endswith("logits") else np.full_like(x, 0.25)
        plain = loss(own, y, reduction="none")
        np.testing.assert_allclose(loss(own, y, weight, "none"), plain * weight, rtol=1e-6)
    with pytest.raises(KernelError, match="E1202"):
        k.binary_cross_entropy(x, y, np.ones(2, np.float32))
    with pytest.raises(KernelError, match="E1202"):
        k.binary_cross_entropy(x[:1], y[:1], weight[:, None])


def test_logits_far_out_do_not_overflow() -> None:
    x = np.array([1000, -1000], np.float32)
    y = np.array([0, 1], np.float32)
    assert k.binary_cross_entropy_with_logits(x, y, reduction="none").tolist() == [1000, 1000]
    assert k.soft_margin_loss(-x, np.array([1, -1], np.float32), "none").tolist() == [1000, 1000]


def test_a_variance_below_eps_is_eps() -> None:
    x, y = np.ones(2, np.float32), np.zeros(2, np.float32)
    var = np.array([0.0, 0.01], np.float32)
    found = k.gaussian_nll_loss(x, y, var, eps=0.5, reduction="none")
    np.testing.assert_allclose(found, 0.5 * (np.log(0.5) + 2), rtol=1e-6)
    with pytest.raises(KernelError, match="E1204"):
        k.gaussian_nll_loss(x, y, var, eps=0.0)


def test_logits_of_a_linear_layer_are_never_held_all_at_once() -> None:
    from teeny_kernels.loss import linear_classes

    module: Any = linear_classes
    shapes: list[tuple[int, ...]] = []
    made = module.empty

    def empty(like: Any, shape: Any, dtype: Any = None) -> Any:
        shapes.append(tuple(shape))
        return made(like, shape, dtype)

    rng = np.random.default_rng(3)
    x, weight = rng.standard_normal((256, 8)), rng.standard_normal((100, 8))
    target = rng.integers(0, 100, 256)
    patch = pytest.MonkeyPatch()
    patch.setattr(linear_classes, "empty", empty)
    try:
        loss = k.linear_cross_entropy(x, weight, target)
        k.linear_cross_entropy_backward(np.ones(()), x, weight, target)
    finally:
        patch.undo()
    assert max(np.prod(shape) for shape in shapes) <= 32 * 100
    np.testing.assert_allclose(loss, k.cross_entropy(x @ weight.T, target))


@pytest.mark.parametrize("rows", [4096, 5000, 16384, 16500])
def test_losses_of_many_rows_are_all_added(rows: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 5, (rows, 3)).astype(np.float32)  # whose sums are exact
    target = rng.integers(0, 3, rows)
    target[::7] = -100
    counts = target != -100
    picked = -np.where(counts, x[np.arange(rows), np.where(counts, target, 0)], 0.0)
    assert k.nll_loss(x, target, reduction="sum") == picked.sum()
    assert k.nll_loss(x, target) == np.float32(picked.sum()) / np.float32(counts.sum())
    slopes: Any = k.nll_loss_backward(np.asarray(counts.sum(), np.float32), x, target)
    assert slopes.sum() == -counts.sum()
