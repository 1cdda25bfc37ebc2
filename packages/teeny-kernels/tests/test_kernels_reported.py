"""Faults that other kernel libraries were reported to have, on ours: the right values."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels import testing
from teeny_kernels.activation.softmax import log_softmax_reference, softmax_reference
from teeny_kernels.attention.reference import attention as attention_reference

RNG = np.random.default_rng(7)


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("start", [40000.0, 80000.0])
def test_layer_norm_of_a_large_row_is_finite_onnxruntime_28463(start: float) -> None:
    row = np.array([[start, start + 1, start + 2, start + 3]], np.float32)
    found = tk.layer_norm(row, 4)
    assert np.allclose(found, [[-1.34164, -0.44721, 0.44721, 1.34164]], atol=2e-5)


def test_a_constant_row_is_normalized_to_zero_onnxruntime_21935() -> None:
    row = np.full((1, 256), 1234.0, np.float32)
    bias = normal(256)
    assert np.array_equal(tk.layer_norm(row, 256), np.zeros_like(row))
    assert np.array_equal(tk.layer_norm(row, 256, np.ones(256, np.float32), bias)[0], bias)
    for gradient in tk.layer_norm_backward(np.ones_like(row), row, 256):
        assert gradient is None or np.isfinite(gradient).all()


def test_rms_norm_backward_takes_an_expanded_gradient_quack_88() -> None:
    x = normal(2, 64, 256).astype(ml_dtypes.bfloat16)
    weight = np.ones(256, ml_dtypes.bfloat16)
    expanded = np.broadcast_to(np.ones((), ml_dtypes.bfloat16), x.shape)
    found = tk.rms_norm_backward(expanded, x, 256, weight)
    wanted = tk.rms_norm_backward(np.ones_like(x), x, 256, weight)
    assert all(testing.same_bits(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
def test_norm_backward_reads_a_strided_gradient_unsloth_10617(norm: str, dtype: Any) -> None:
    x, wide = normal(6, 64, dtype=dtype), normal(6, 128, dtype=dtype)
    tall = normal(12, 64, dtype=dtype)
    backward = getattr(tk, f"{norm}_backward")
    for strided in (wide[:, ::2], tall[::2]):
        found = backward(strided, x, 64)
        wanted = backward(np.ascontiguousarray(strided), x, 64)
        assert all(
            a is b is None or testing.same_bits(a, b) for a, b in zip(found, wanted, strict=True)
        )


@pytest.mark.parametrize("columns", [1, 17, 128, 781])
def test_softmax_of_narrow_rows_is_right_triton_5435(columns: int) -> None:
    x = normal(1823, columns)
    assert np.abs(tk.softmax(x) - softmax_reference(x.astype(np.float64))).max() < 1e-6


@pytest.mark.parametrize("columns", [1, 2, 31, 257, 1023])
def test_log_softmax_of_rows_with_infinities_is_right_mojo_319(columns: int) -> None:
    x = normal(5, columns)
    x[1, : columns // 2] = -np.inf
    x[2] = -np.inf
    with np.errstate(invalid="ignore"):
        wanted = log_softmax_reference(x.astype(np.float64))
    found = tk.log_softmax(x)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.isnan(found[2]).all()
    assert np.allclose(found, wanted, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize(("rows", "depth"), [(192, 16), (1, 64), (7, 80), (129, 96), (100, 100)])
def test_attention_of_any_length_and_depth_is_right_jax_27224(rows: int, depth: int) -> None:
    q, k, v = (normal(1, 2, rows, depth) for _ in range(3))
    out, _ = tk.flash_attention(q, k, v, causal=True)
    wanted, _ = attention_reference(*(own.astype(np.float64) for own in (q, k, v)), causal=True)
    assert np.abs(out - wanted).max() < 1e-5


def test_rows_of_q_before_the_first_of_k_are_zero_flash_attention_1778() -> None:
    q, k, v = normal(1, 1, 5, 16), normal(1, 1, 3, 16), normal(1, 1, 3, 16)
    out, lse = tk.flash_attention(q, k, v, causal=True)
    assert np.array_equal(out[0, 0, :2], np.zeros((2, 16), np.float32))
    assert np.array_equal(lse[0, 0, :2], np.full(2, -np.inf, np.float32))
    assert np.isfinite(lse[0, 0, 2:]).all()
    assert np.allclose(out[0, 0, 2], v[0, 0, 0])  # it sees one key
    gradients = tk.flash_attention_backward(np.ones_like(out), q, k, v, out, lse, causal=True)
    assert np.array_equal(gradients[0][0, 0, :2], np.zeros((2, 16), np.float32))
    assert all(np.isfinite(own).all() for own in gradients)


def test_scores_far_below_zero_are_not_taken_for_masked_flashinfer_4401() -> None:
    q = np.zeros((1, 1, 1, 16), np.float32)
    k = np.zeros((1, 1, 2, 16), np.float32)
    q[..., 0], k[0, 0, 0, 0], k[0, 0, 1, 0] = 1.0, -60000.0, -60001.0
    v = np.stack([np.ones(16, np.float32), np.zeros(16, np.float32)])[None, None]
    out, lse = tk.flash_attention(q, k, v, scale=1.0)
    assert np.allclose(out, 0.7310586, atol=1e-6)
    assert lse[0, 0, 0] == np.float32(-59999.6875)


def test_attention_takes_slices_of_one_projection_flash_attention_2541() -> None:
    qkv = normal(1, 33, 3, 2, 64)
    q, k, v = (qkv[:, :, at].transpose(0, 2, 1, 3) for at in range(3))
    a, b, c = (np.ascontiguousarray(own) for own in (q, k, v))
    out, lse = tk.flash_attention(q, k, v, causal=True)
    assert testing.same_bits(out, tk.flash_attention(a, b, c, causal=True)[0])
    grad = normal(1, 33, 2, 64).transpose(0, 2, 1, 3)  # not contiguous: flash-attention 355
    found = tk.flash_attention_backward(grad, q, k, v, out, lse, causal=True)
    wanted = tk.flash_attention_backward(np.ascontiguousarray(grad), a, b, c, out, lse, causal=True)
    assert all(testing.same_bits(x, y) for x, y in zip(found, wanted, strict=True))


def test_attention_backward_gives_the_same_bits_every_time_flash_attention_429() -> None:
    q, k, v = (normal(1, 2, 70, 32).astype(ml_dtypes.bfloat16) for _ in range(3))
    out, lse = tk.flash_attention(q, k, v, causal=True)
    runs = [tk.flash_attention_backward(out, q, k, v, out, lse, causal=True) for _ in range(5)]
    for run in runs[1:]:
        assert all(testing.same_bits(a, b) for a, b in zip(run, runs[0], strict=True))
