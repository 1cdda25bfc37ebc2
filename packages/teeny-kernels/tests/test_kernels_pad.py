"""Pads: gradients of several reflections, axes of one element, pads that no mode can fill."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels.codes import KernelError
from teeny_kernels.padding import pad as pads


def test_the_gradient_of_a_reflection_counts_every_mirror_image() -> None:
    grad = np.ones((1, 1, 5, 5), np.float32)
    dx = tk.reflection_pad_backward(grad, [1, 1, 1, 1])
    assert dx.tolist() == [[[[1, 3, 1], [3, 9, 3], [1, 3, 1]]]]


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_no_pad_of_an_axis_of_one_element_is_the_identity(mode: str) -> None:
    x = np.array([[[7.0]]], np.float32)
    assert tk.pad(x, [0, 0], mode).tolist() == x.tolist()
    assert tk.pad_backward(x, [0, 0], mode).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("mode", "pad"),
    [
        ("reflect", [3, 0]),
        ("reflect", [0, 3]),
        ("circular", [4, 0]),
        ("circular", [-1, 2]),
        ("constant", [-2, -2]),
        ("mirror", [1, 1]),
        ("constant", [1]),
        ("constant", []),
        ("constant", [1] * 8),
    ],
)
def test_a_pad_that_cannot_be_is_refused(mode: str, pad: list[int]) -> None:
    with pytest.raises(KernelError) as caught:
        tk.pad(np.ones((1, 1, 2, 3), np.float32), pad, mode)
    assert caught.value.code == "E1204"


def test_a_pad_of_more_axes_than_there_are_is_refused() -> None:
    with pytest.raises(KernelError) as caught:
        tk.pad(np.ones(3, np.float32), [1, 1, 1, 1])
    assert caught.value.code == "E1202"


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_integers_are_padded_too(dtype: Any) -> None:
    x = np.arange(6, dtype=dtype).reshape(2, 3)
    padded = tk.constant_pad(x, [1, 2, 0, 1], 9.0)
    assert padded.dtype == x.dtype
    assert padded.tolist() == [[9, 0, 1, 2, 9, 9], [9, 3, 4, 5, 9, 9], [9] * 6]


def test_a_pad_goes_into_a_strided_output() -> None:
    out = np.zeros((3, 10), np.float32)[:, ::2]
    x = np.arange(9, dtype=np.float32).reshape(3, 3)
    assert tk.circular_pad(x, [1, 1], out=out) is out
    assert out.tolist() == np.pad(x, ((0, 0), (1, 1)), mode="wrap").tolist()


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize(
    ("shape", "pad"),
    [((2, 3, 5, 21), [3, 2, 1, 4]), ((3, 19), [2, 0]), ((2, 4, 3, 18), [0, 1, 2, 0, 1, 2])],
)
def test_lines_add_up_what_blocks_do(
    monkeypatch: pytest.MonkeyPatch, mode: str, shape: tuple[int, ...], pad: list[int]
) -> None:
    grad = np.random.default_rng(0).standard_normal(tk.pad(np.zeros(shape), pad, mode).shape)
    monkeypatch.setattr(pads, "SHORTEST", 1 << 30)
    wanted = tk.pad_backward(grad, pad, mode)
    monkeypatch.setattr(pads, "SHORTEST", 1)
    monkeypatch.setattr(pads, "LONGEST", 16)
    np.testing.assert_array_equal(tk.pad_backward(grad, pad, mode), wanted)


def test_lines_of_negative_pads_add_up_what_blocks_do(monkeypatch: pytest.MonkeyPatch) -> None:
    grad = np.random.default_rng(1).standard_normal((2, 6, 37))
    monkeypatch.setattr(pads, "SHORTEST", 1 << 30)
    wanted = tk.pad_backward(grad, [-2, 3, 1, -1], "constant")
    monkeypatch.setattr(pads, "SHORTEST", 1)
    np.testing.assert_array_equal(tk.pad_backward(grad, [-2, 3, 1, -1], "constant"), wanted)
