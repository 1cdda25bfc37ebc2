"""The running statistics of batch norm, weights left out, and what the channel norms refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels
from teeny_kernels.codes import KernelError
from teeny_kernels.norm import channel_run


@pytest.mark.torch
def test_training_moves_the_running_statistics_as_pytorch_does() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(8)
    ours = [np.zeros(5), np.ones(5)]
    theirs = [torch.zeros(5, dtype=torch.float64), torch.ones(5, dtype=torch.float64)]
    for _ in range(3):
        x = rng.standard_normal((4, 5, 3, 2)) * 3 + 1
        found = teeny_kernels.batch_norm(x, ours[0], ours[1], training=True, momentum=0.3)
        wanted = torch.nn.functional.batch_norm(
            torch.from_numpy(x), *theirs, training=True, momentum=0.3
        )
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-12, atol=1e-12)
        for own, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(own, other.numpy(), rtol=1e-12)


def test_inference_leaves_the_running_statistics_alone() -> None:
    mean, var = np.full(3, 0.5), np.full(3, 2.0)
    found = teeny_kernels.batch_norm(np.full((2, 3, 4), 1.5), mean, var, eps=0.0)
    np.testing.assert_allclose(found, np.full((2, 3, 4), 1 / np.sqrt(2)))
    assert mean.tolist() == [0.5] * 3
    assert var.tolist() == [2.0] * 3


def test_strided_running_statistics_are_changed_where_they_lie() -> None:
    x = np.random.default_rng(9).standard_normal((6, 3, 2))
    plain = [np.zeros(3), np.ones(3)]
    wide = [np.zeros(6), np.ones(6)]
    teeny_kernels.batch_norm(x, plain[0], plain[1], training=True)
    teeny_kernels.batch_norm(x, wide[0][::2], wide[1][::2], training=True)
    for own, other in zip(wide, plain, strict=True):
        assert own[::2].tobytes() == other.tobytes()
    assert wide[0][1::2].tolist() == [0.0] * 3


@pytest.mark.parametrize(
    ("name", "first"), [("batch_norm", (None, None)), ("group_norm", (2,)), ("instance_norm", ())]
)
def test_without_weight_and_bias_they_are_one_and_zero(name: str, first: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(10)
    x, grad = rng.standard_normal((2, 3, 4, 5, 6))[:, 0], rng.standard_normal((2, 4, 5, 6))
    options = {"training": True} if name == "batch_norm" else {}
    norm = getattr(teeny_kernels, name)
    backward = getattr(teeny_kernels, f"{name}_backward")
    one, zero = np.ones(4), np.zeros(4)
    found, wanted = norm(x, *first, **options), norm(x, *first, one, zero, **options)
    assert found.tobytes() == wanted.tobytes()
    dx, dw, db = backward(grad, x, *first, **options)
    assert dw is None
    whole = backward(grad, x, *first, one, **options)
    assert dx.tobytes() == whole[0].tobytes()
    assert db.tobytes() == whole[2].tobytes()


@pytest.mark.parametrize(
    ("name", "arguments", "options", "code"),
    [
        ("batch_norm", (np.ones((2, 3)), None, None), {}, "E1204"),
        ("batch_norm", (np.ones((1, 3)), None, None), {"training": True}, "E1202"),
        ("batch_norm", (np.ones(3), None, None), {"training": True}, "E1202"),
        ("batch_norm", (np.ones((2, 3)), np.ones(2), np.ones(3)), {}, "E1202"),
        ("group_norm", (np.ones((2, 3)), 2), {}, "E1204"),
        ("group_norm", (np.ones((2, 3)), 0), {}, "E1204"),
        ("instance_norm", (np.ones((2, 3)), np.ones(2)), {}, "E1202"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    name: str, arguments: tuple[Any, ...], options: dict[str, Any], code: str
) -> None:
    with pytest.raises(KernelError, match=code):
        getattr(teeny_kernels, name)(*arguments, **options)


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("side", [7, 130])
def test_large_sets_give_the_gradients_that_small_ones_do(
    monkeypatch: pytest.MonkeyPatch, samples: int, side: int
) -> None:
    """A set that is one tile is read once; the sums by weight and bias come from the sets."""
    rng = np.random.default_rng(0)
    x, grad = rng.standard_normal((2, samples, 5, side, 9))
    weight = rng.standard_normal(5)

    def gradients() -> list[Any]:
        return [
            *teeny_kernels.instance_norm_backward(grad, x, weight),
            *teeny_kernels.group_norm_backward(grad, x, 5, weight),
            *teeny_kernels.batch_norm_backward(grad, x, None, None, weight, training=True),
        ]

    monkeypatch.setattr(channel_run, "WHOLE_ELEMENTS", 1 << 14)
    found = gradients()
    monkeypatch.setattr(channel_run, "WHOLE_ELEMENTS", 0)
    for ours, own in zip(found, gradients(), strict=True):
        np.testing.assert_allclose(ours, own, rtol=1e-11, atol=1e-12)
