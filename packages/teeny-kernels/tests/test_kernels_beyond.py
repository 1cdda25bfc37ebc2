"""Gated units, rotary embedding, dropout and embedding: what their specs do not say."""

from __future__ import annotations

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
