"""More faults that other kernel libraries were reported to have: gradients, packed rows, traces."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels import testing
from teeny_kernels.attention import reference
from teeny_kernels.codes import KernelError

BF16 = ml_dtypes.bfloat16


def normal(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_rms_norm_is_rounded_once_behind_the_weight_liger_370() -> None:
    x, weight = normal(64, 512).astype(BF16), normal(512, seed=2).astype(BF16)
    wide = x.astype(np.float64)
    scaled = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-6)
    once = (scaled * weight.astype(np.float64)).astype(BF16)
    twice = (scaled.astype(BF16).astype(np.float32) * weight.astype(np.float32)).astype(BF16)
    found = tk.rms_norm(x, 512, weight, 1e-6)
    assert (found != once).mean() < 1e-3  # where f32 rounds to the other side
    assert (found != twice).mean() > 0.1
    # The form with 1 + w is given by a weight of the wide dtype.
    shifted = tk.rms_norm(x.astype(np.float32), 512, 1.0 + weight.astype(np.float32), 1e-6)
    known = scaled * (1.0 + weight.astype(np.float64))
    np.testing.assert_allclose(shifted, known, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("vocabulary", [100, 1000])
def test_a_target_in_the_padding_of_the_vocabulary_chooses_nothing_ml_cross_entropy_59(
    vocabulary: int,
) -> None:
    x, weight = normal(5, 16), normal(vocabulary, 16, seed=2)
    target = np.array([vocabulary, vocabulary + 20, 1023, 0, vocabulary - 1])
    logits = (x @ weight.T).astype(np.float64)
    total = np.log(np.exp(logits).sum(axis=1))
    inside = target < vocabulary
    chosen = np.where(inside, logits[np.arange(5), np.where(inside, target, 0)], 0.0)
    for found in (
        tk.linear_cross_entropy(x, weight, target, reduction="none"),
        tk.cross_entropy(logits, target, reduction="none"),
    ):
        np.testing.assert_allclose(found, total - chosen, rtol=1e-5)


@pytest.mark.parametrize("pool", [tk.avg_pool2d, tk.max_pool2d])
def test_a_window_of_padding_alone_cannot_be_fastnn_5(pool: Any) -> None:
    with pytest.raises(KernelError, match="at most half of the window"):
        pool(np.ones((1, 1, 1, 1), np.float32), 3, 3, 3)


@pytest.mark.parametrize("rows", [1, 7, 129, 192, 1000])
def test_gradients_of_attention_of_any_length_jax_27224(rows: int) -> None:
    q, k, v = (normal(1, 2, rows, 16, seed=own) for own in range(3))
    grad = normal(1, 2, rows, 16, seed=9)
    out, lse = tk.flash_attention(q, k, v, causal=True)
    found = tk.flash_attention_backward(grad, q, k, v, out, lse, causal=True)
    plain = [own.astype(np.float64) for own in (grad, q, k, v)]
    for own, wanted in zip(found, reference.gradients(*plain, causal=True), strict=False):
        np.testing.assert_allclose(own, wanted, atol=2e-5)


def test_gradients_of_packed_rows_of_a_depth_of_100_flash_linear_attention_836() -> None:
    starts = np.array([0, 15, 100, 300, 1200, 2000], np.int32)
    q, k, v = (normal(2000, 2, 100, seed=own) for own in range(3))
    grad = normal(2000, 2, 100, seed=9)
    call = (starts, starts, 900, 900)
    out, lse = tk.flash_attention_varlen(q, k, v, *call, causal=True)
    found = tk.flash_attention_varlen_backward(grad, q, k, v, out, lse, *call, causal=True)
    for begin, end in pairwise(starts):
        plain = [
            own[begin:end].transpose(1, 0, 2)[None].astype(np.float64) for own in (grad, q, k, v)
        ]
        for own, wanted in zip(found, reference.gradients(*plain, causal=True), strict=False):
            piece = own[begin:end].transpose(1, 0, 2)
            np.testing.assert_allclose(piece, wanted[0], atol=5e-5)
        assert not found[0][begin, :].astype(np.float64).round(5).any()  # a row that sees itself


def test_a_gradient_seen_in_another_order_is_read_right_flash_attention_355() -> None:
    q = normal(2, 4, 32, 128).astype(np.float16)
    k, v = (normal(2, 1, 32, 128, seed=own).astype(np.float16) for own in (2, 3))
    out, lse = tk.flash_attention(q, k, v)
    grad = normal(2, 32, 4, 128, seed=4).astype(np.float16).transpose(0, 2, 1, 3)
    found = tk.flash_attention_backward(grad, q, k, v, out, lse)
    wanted = tk.flash_attention_backward(np.ascontiguousarray(grad), q, k, v, out, lse)
    assert all(testing.same_bits(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.torch
@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_masked_losses_of_a_linear_layer_have_their_gradients_liger_968(reduction: str) -> None:
    import torch

    rng = np.random.default_rng(5)
    x, weight, bias = (rng.standard_normal(own) for own in ((8, 10), (15, 10), (15,)))
    target = np.where(rng.random(8) < 0.3, -100, rng.integers(0, 15, 8))
    mask = rng.random(8) if reduction == "none" else np.array(1.0)
    tensors = [torch.tensor(own, requires_grad=True) for own in (x, weight, bias)]
    logits = tensors[0] @ tensors[1].T + tensors[2]
    known = torch.nn.functional.cross_entropy(logits, torch.tensor(target), reduction=reduction)
    (known * torch.tensor(mask)).sum().backward()
    options: dict[str, Any] = {"reduction": reduction}
    found: Any = tk.linear_cross_entropy(x, weight, target, bias, **options)
    assert found.shape == tuple(known.shape)
    np.testing.assert_allclose(found, known.detach().numpy(), rtol=1e-12)
    back: Any = tk.linear_cross_entropy_backward(mask, x, weight, target, bias, **options)
    for own, tensor in zip(back, tensors, strict=True):
        assert tensor.grad is not None
        np.testing.assert_allclose(own, tensor.grad.numpy(), rtol=1e-10, atol=1e-14)


@pytest.mark.torch
def test_a_loss_of_logits_without_a_gradient_is_no_zero_liger_507() -> None:
    import torch

    from teeny_kernels import autograd

    logits, target = torch.tensor(normal(4, 3)), torch.zeros(4, dtype=torch.int64)
    found = autograd.cross_entropy(logits, target)
    assert not found.requires_grad
    torch.testing.assert_close(found, torch.nn.functional.cross_entropy(logits, target))
    assert found > 0.1


def _compiled_layer_norm(place: str) -> None:
    import torch

    from teeny_kernels import autograd

    def layer(x: Any, weight: Any, bias: Any) -> Any:
        return autograd.layer_norm(x * 1, (768,), weight, bias) + 0

    x = torch.tensor(normal(4, 16, 768), device=place).bfloat16()
    weight, bias = (torch.tensor(normal(768, seed=own), device=place).bfloat16() for own in (2, 3))
    traced: Any = torch.compile(layer, backend="aot_eager")
    for _ in range(3):
        found = traced(x, weight, bias)
        assert torch.equal(found, layer(x, weight, bias))
    wanted = torch.nn.functional.layer_norm(x, (768,), weight, bias)
    torch.testing.assert_close(found, wanted, rtol=1e-2, atol=1e-2)
    assert found.abs().max() > 1


@pytest.mark.torch
def test_a_traced_layer_norm_has_the_bits_of_the_plain_one_liger_871() -> None:
    _compiled_layer_norm("cpu")


@pytest.mark.gpu
def test_a_traced_layer_norm_has_the_bits_of_the_plain_one_on_a_gpu() -> None:
    _compiled_layer_norm("cuda")


@pytest.mark.gpu
def test_gradients_of_long_attention_are_the_same_every_time_on_a_gpu() -> None:
    import torch

    q, k, v, grad = (
        torch.randn(4, 8, 1024, 128, device="cuda", dtype=torch.bfloat16) for _ in range(4)
    )
    slopes = torch.linspace(0.1, 0.8, 8, device="cuda", dtype=torch.float32)
    options: Any = {"causal": True, "alibi_slopes": slopes}
    out, lse = tk.flash_attention(q, k, v, **options)
    first = tk.flash_attention_backward(grad, q, k, v, out, lse, **options)
    for _ in range(10):
        again = tk.flash_attention_backward(grad, q, k, v, out, lse, **options)
        assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
