"""Gated units, rotary embedding, dropout and embedding: what their specs do not say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels.codes import KernelError


def test_halves_of_one_array_are_gated_where_they_lie() -> None:
    both = np.random.default_rng(1).standard_normal((5, 2, 66)).astype(np.float32)
    x, y = both[:, 0], both[:, 1]
    assert not x.flags.c_contiguous
    assert tk.swiglu(x, y).tobytes() == tk.swiglu(x.copy(), y.copy()).tobytes()
    grad = np.ones_like(x)
    plain = tk.swiglu_backward(grad, x.copy(), y.copy())
    for own, other in zip(tk.swiglu_backward(grad, x, y), plain, strict=True):
        assert own.tobytes() == other.tobytes()


def test_a_gate_of_no_known_form_is_refused() -> None:
    with pytest.raises(KernelError, match="E1204"):
        tk.geglu(np.ones(3), np.ones(3), approximate="sigmoid")


def test_both_orders_of_rope_are_each_others_rearrangement() -> None:
    rng = np.random.default_rng(2)
    x, angles = rng.standard_normal((1, 6, 2, 8)), rng.standard_normal((6, 4))
    cos, sin = np.cos(angles), np.sin(angles)
    order = np.array([0, 2, 4, 6, 1, 3, 5, 7])
    apart = tk.rope(np.ascontiguousarray(x[..., order]), cos, sin)
    beside = tk.rope(x, cos, sin, interleaved=True)
    np.testing.assert_array_equal(apart, beside[..., order])
    back = tk.rope_backward(beside, cos, sin, interleaved=True)
    np.testing.assert_allclose(back, x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(6, 5), (5, 4), (4,)])
def test_angles_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(KernelError, match="E1202"):
        tk.rope(np.ones((1, 6, 2, 8)), np.ones(shape), np.ones(shape))


def test_dropout_drops_its_share_and_the_same_places_for_the_same_seed() -> None:
    x = np.ones(100_000, np.float32)
    found = tk.dropout(x, 0.3, seed=7)
    assert set(np.unique(found)) == {0.0, np.float32(1 / 0.7)}
    assert abs((found == 0).mean() - 0.3) < 0.01
    wide = tk.dropout(x.astype(np.float64), 0.3, seed=7)
    np.testing.assert_array_equal(wide == 0, found == 0)
    np.testing.assert_array_equal(tk.dropout_backward(x, 0.3, seed=7), found)
    other = tk.dropout(x, 0.3, seed=8)
    assert 0.5 < ((other == 0) == (found == 0)).mean() < 0.65


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_a_share_beyond_one_is_refused(p: float) -> None:
    with pytest.raises(KernelError, match="E1204"):
        tk.dropout(np.ones(3), p, seed=1)


def test_the_gradient_of_topk_goes_to_the_chosen_elements() -> None:
    x: Any = np.random.default_rng(3).standard_normal((4, 30, 3)).astype(np.float32)
    values, places = tk.topk(x, 5, axis=1)
    np.testing.assert_array_equal(values, np.take_along_axis(x, places, 1))
    grad = np.random.default_rng(4).standard_normal(values.shape).astype(np.float32)
    wanted = np.zeros_like(x)
    np.put_along_axis(wanted, places, grad, 1)
    assert tk.topk_backward(grad, places, x, axis=1).tolist() == wanted.tolist()


@pytest.mark.parametrize(("shape", "k"), [((5,), 6), ((5,), -1), ((5000,), 3000)])
def test_more_elements_than_there_are_is_refused(shape: tuple[int, ...], k: int) -> None:
    with pytest.raises(KernelError, match="E1204"):
        tk.topk(np.ones(shape, np.float32), k)


def test_samples_come_as_often_as_their_probabilities_say() -> None:
    p = np.array([0.5, 0.25, 0.15, 0.1])
    logits = np.broadcast_to(np.log(p).astype(np.float32), (20_000, 4))
    share = np.bincount(tk.sample(logits, seed=5), minlength=4) / 20_000
    np.testing.assert_allclose(share, p, atol=0.015)
    kept = np.bincount(tk.sample(logits, seed=5, top_p=0.7), minlength=4) / 20_000
    np.testing.assert_allclose(kept, [2 / 3, 1 / 3, 0, 0], atol=0.015)
    best = np.bincount(tk.sample(logits, seed=5, top_k=3), minlength=4) / 20_000
    np.testing.assert_allclose(best, [0.5 / 0.9, 0.25 / 0.9, 0.15 / 0.9, 0], atol=0.015)
    assert tk.sample(logits, seed=5).tolist() == tk.sample(logits, seed=5).tolist()
    assert tk.sample(logits, seed=5).tolist() != tk.sample(logits, seed=6).tolist()


def test_rows_without_a_possible_element_give_one_of_their_places() -> None:
    logits = np.full((3, 5), -np.inf, np.float32)
    assert not tk.sample(logits, seed=5, temperature=0.0).any()
    assert np.isin(tk.sample(logits, seed=5), np.arange(5)).all()


@pytest.mark.parametrize(
    ("options", "code"),
    [({"top_k": 0}, "E1204"), ({"top_p": 0.0}, "E1204"), ({"temperature": -1.0}, "E1204")],
)
def test_what_cannot_be_sampled_is_refused(options: dict[str, float], code: str) -> None:
    with pytest.raises(KernelError, match=code):
        tk.sample(np.ones((2, 3), np.float32), seed=1, **options)  # type: ignore[arg-type]


def test_an_index_that_is_none_gives_zeros_and_no_gradient() -> None:
    weight = np.arange(1.0, 7.0).reshape(3, 2)
    index = np.array([2, -1, 3, 2])
    assert tk.embedding(index, weight).tolist() == [[5, 6], [0, 0], [0, 0], [5, 6]]
    grad = np.ones((4, 2))
    assert tk.embedding_backward(grad, index, weight).tolist() == [[0, 0], [0, 0], [2, 2]]


def test_a_word_that_comes_often_is_summed_over_many_chunks() -> None:
    index = np.r_[np.full(1000, 3), np.arange(5), np.full(700, 3), 4]
    grad = np.random.default_rng(6).standard_normal((index.size, 3))
    wanted = np.zeros((9, 3))
    np.add.at(wanted, index, grad)
    found = tk.embedding_backward(grad, index, np.empty((9, 3)))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.torch
def test_both_results_of_add_rms_norm_are_in_pytorchs_graph() -> None:
    import torch

    from teeny_kernels import autograd

    def double(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, requires_grad=True)

    inputs = (double(3, 9), double(3, 9), double(9))
    assert torch.autograd.gradcheck(lambda x, r, w: autograd.add_rms_norm(x, r, 9, w, 1e-5), inputs)


@pytest.mark.torch
def test_values_of_topk_and_rows_of_embedding_are_in_pytorchs_graph() -> None:
    import torch

    from teeny_kernels import autograd

    x = torch.randn(4, 20, requires_grad=True)
    autograd.topk(x, 3)[0].sum().backward()
    wanted = torch.zeros(4, 20).scatter_(1, torch.topk(x, 3).indices, 1.0)
    assert x.grad is not None
    assert torch.equal(x.grad, wanted)
    weight = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    index = torch.tensor([4, 0, 4])
    assert torch.autograd.gradcheck(lambda w: autograd.embedding(index, w), (weight,))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_])
def test_integers_are_reduced_in_64_bits_as_in_pytorch(dtype: Any) -> None:
    x = np.random.default_rng(7).integers(0, 2, (40, 9)).astype(dtype)
    for found, wanted in (
        (tk.reduce_sum(x, 0), x.sum(0, dtype=np.int64)),
        (tk.reduce_prod(x, 1), x.prod(1, dtype=np.int64)),
        (tk.cumsum(x, 0), x.cumsum(0, dtype=np.int64)),
        (tk.reduce_max(x, 1), x.max(1)),
        (tk.reduce_min(x, 0), x.min(0)),
        (tk.any(x, 1), x.any(1)),
        (tk.all(x, 1), x.all(1)),
    ):
        assert found.dtype == wanted.dtype
        assert found.tolist() == wanted.tolist()
    with pytest.raises(KernelError, match="E1203"):
        tk.reduce_mean(x)


def test_sums_of_integers_are_exact_beyond_the_range_of_floats() -> None:
    x = np.array([2**53, 1, -5, 2**40], np.int64)
    assert tk.reduce_sum(x).item() == 2**53 + 2**40 - 4
    assert tk.reduce_max(np.array([2**62, 2**62 + 1])).item() == 2**62 + 1
    assert tk.reduce_min(np.array([-(2**63), 5])).item() == -(2**63)


@pytest.mark.parametrize("log", [False, True])
def test_a_wide_row_of_far_apart_values_has_its_softmax(log: bool) -> None:
    x = np.full((2, 20_000), -150.0, np.float32)
    x[0, 7], x[1, 17_000] = 200.0, 150.0
    exact = x.astype(np.float64) - x.max(axis=1, keepdims=True)
    exact = exact if log else np.exp(exact)
    found = (tk.log_softmax if log else tk.softmax)(x)
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-30)
