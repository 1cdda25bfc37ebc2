"""Forms of calls that users of PyTorch know: arrays of no axes, targets that repeat, bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels.codes import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.linspace(-2.0, 2.0, 24).reshape(4, 6)


@pytest.mark.parametrize("axis", [0, -1, None])
def test_a_number_has_one_axis_to_reduce(axis: int | None) -> None:
    number = np.array(2.5)
    for found in (
        tk.reduce_sum(number, axis),
        tk.reduce_max(number, axis, keepdims=True),
        tk.reduce_log_sum_exp(number, axis),
        tk.reduce_sum_backward(number, number, axis),
    ):
        assert found.shape == ()
        assert found == 2.5
    assert tk.all(number > 1, axis) == np.True_


@pytest.mark.parametrize("axis", [0, -1])
def test_a_number_is_a_row_of_one(axis: int) -> None:
    number = np.array(2.5)
    assert tk.softmax(number, axis).tolist() == 1.0
    assert tk.log_softmax(number, axis).tolist() == 0.0
    assert tk.softmax_backward(number, np.array(1.0), axis).tolist() == 0.0
    assert tk.cumsum(number, axis).tolist() == 2.5


def test_a_number_has_no_second_axis() -> None:
    for call in (tk.softmax, tk.reduce_sum, tk.cumsum):
        with pytest.raises(KernelError, match="E1205"):
            call(np.array(2.5), 1)


def test_a_limit_that_is_nan_makes_all_nan() -> None:
    x: Any = X
    every: tuple[dict[str, float], ...] = (
        {"min": np.nan}, {"max": np.nan}, {"min": 0.0, "max": np.nan}
    )  # fmt: skip
    for limits in every:
        assert np.isnan(tk.clip(x, **limits)).all()
        assert not tk.clip_backward(np.ones_like(x), x, **limits).any()


LOSSES: dict[str, dict[str, Any]] = {
    "l1_loss": {},
    "mse_loss": {},
    "smooth_l1_loss": {"beta": 0.5},
    "huber_loss": {"delta": 0.5},
    "soft_margin_loss": {},
    "hinge_embedding_loss": {},
    "poisson_nll_loss": {},
    "kl_div": {"log_target": True},
}


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", LOSSES)
def test_targets_repeat_as_in_pytorch(name: str, reduction: str) -> None:
    import torch

    rng = np.random.default_rng(1)
    for shape in ((6,), (4, 1), (), (1, 6)):
        target = np.where(rng.standard_normal(shape) > 0, 1.0, -1.0)
        options = {**LOSSES[name], "reduction": reduction}
        x = torch.tensor(X, requires_grad=True)
        wanted = getattr(torch.nn.functional, name)(x, torch.tensor(target), **options)
        found = getattr(tk, name)(X, target, **options)
        np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-12)
        grad = rng.standard_normal(found.shape)
        wanted.backward(torch.tensor(grad))
        back = getattr(tk, f"{name}_backward")(grad, X, target, **options)
        assert x.grad is not None
        np.testing.assert_allclose(back, x.grad.numpy(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["binary_cross_entropy", "binary_cross_entropy_with_logits"])
def test_targets_of_entropies_do_not_repeat(name: str) -> None:
    with pytest.raises(KernelError, match="E1202"):
        getattr(tk, name)(np.full((4, 6), 0.5), np.full(6, 0.5))
    with pytest.raises(KernelError, match="E1202"):
        tk.margin_ranking_loss(X, X, np.ones(6))
    with pytest.raises(KernelError, match="E1202"):
        tk.mse_loss(X[0], X)


A = np.array([3, 1, 200, 255, 0, 7], np.uint8)
B = np.array([1, 1, 100, 3, 2, 255], np.uint8)
BYTES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (tk.add, np.add),
    "sub": (tk.sub, np.subtract),
    "mul": (tk.mul, np.multiply),
    "maximum": (tk.maximum, np.maximum),
    "minimum": (tk.minimum, np.minimum),
    "less": (tk.less, np.less),
    "greater_equal": (tk.greater_equal, np.greater_equal),
    "equal": (tk.equal, np.equal),
    "where": (lambda a, b: tk.where(a > b, a, b), np.maximum),
    "neg": (lambda a, _: tk.neg(a), lambda a, _: np.negative(a)),
    "abs": (lambda a, _: tk.abs(a), lambda a, _: a),
    "sign": (lambda a, _: tk.sign(a), lambda a, _: np.sign(a)),
    "number": (lambda a, _: tk.less(a, 200), lambda a, _: a < 200),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes_are_numbers_without_a_sign(name: str) -> None:
    ours, known = BYTES[name]
    found, wanted = ours(A, B), known(A, B)
    assert found.dtype == wanted.dtype
    assert found.tolist() == wanted.tolist()
    assert np.array_equal(A, [3, 1, 200, 255, 0, 7])


def test_a_number_that_no_byte_is_is_refused() -> None:
    for number in (-1, 256, 0.5):
        with pytest.raises(KernelError, match="E1204"):
            tk.add(A, number)


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 3, 6), (0, 6)])
def test_a_weight_of_one_output_is_taken_as_in_pytorch(shape: tuple[int, ...]) -> None:
    import torch

    rng = np.random.default_rng(3)
    wide = rng.standard_normal(12)
    x, weight, bias = rng.standard_normal(shape), wide[::2], np.array(0.5)
    tensors = [torch.tensor(np.array(own), requires_grad=True) for own in (x, weight, bias)]
    # With a bias PyTorch takes such a weight for one row alone.
    wanted = torch.nn.functional.linear(*tensors[:2]) + tensors[2]
    found = tk.linear(x, weight, bias)
    assert found.shape == tuple(wanted.shape)
    np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-12)
    plain = torch.nn.functional.linear(*tensors[:2]).detach().numpy()
    np.testing.assert_allclose(tk.linear(x, weight), plain, rtol=1e-12, atol=1e-15)
    grad = rng.standard_normal(found.shape)
    wanted.backward(torch.tensor(grad))
    for own, tensor in zip(tk.linear_backward(grad, x, weight), tensors, strict=True):
        assert tensor.grad is not None
        assert own.shape == tuple(tensor.grad.shape)
        np.testing.assert_allclose(own, tensor.grad.numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.gpu
@pytest.mark.parametrize("name", BYTES)
def test_bytes_are_numbers_without_a_sign_on_a_gpu(name: str) -> None:
    import torch

    ours, known = BYTES[name]
    a, b = (torch.from_numpy(own.copy()).cuda() for own in (A, B))
    found, wanted = ours(a, b).cpu().numpy(), known(A, B)
    assert found.dtype == wanted.dtype
    assert found.tolist() == wanted.tolist()


@pytest.mark.gpu
def test_forms_of_pytorch_on_a_gpu() -> None:
    import torch

    x = torch.randn(4, 6, device="cuda")
    number = torch.tensor(2.5, device="cuda")
    assert tk.softmax(number, dim=0).item() == 1.0
    assert tk.reduce_sum(number, dim=-1).item() == 2.5
    assert tk.clip(x, torch.nan).isnan().all()
    torch.testing.assert_close(tk.linear(x, x[0]), x @ x[0], rtol=1e-5, atol=1e-5)
    wanted = torch.nn.functional.mse_loss(x, x[:1].expand(4, 6))
    torch.testing.assert_close(tk.mse_loss(x, x[0]), wanted)
