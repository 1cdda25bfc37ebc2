"""Activations without corners: sigmoid, tanh and what is made of them.

At infinities a product of 0 and infinity is NaN, as in PyTorch.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.operation import Pointwise, unary_cases
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


@device
def sigmoid_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.sigmoid(x)


@device
def sigmoid_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    s = tl.sigmoid(x)
    return grad * s * (1.0 - s)


_sigmoid = Pointwise("sigmoid", sigmoid_formula, sigmoid_gradient)


def sigmoid(x: A, *, out: A | None = None) -> A:
    """1 / (1 + exp(-x))."""
    return _sigmoid(x, out=out)


def sigmoid_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` s (1 - s) with s = sigmoid(x)."""
    return _sigmoid.backward(grad, x, out=out)


@device
def silu_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return x * tl.sigmoid(x)


@device
def silu_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    s = tl.sigmoid(x)
    return grad * (s * (1.0 + x * (1.0 - s)))


_silu = Pointwise("silu", silu_formula, silu_gradient)


def silu(x: A, *, out: A | None = None) -> A:
    """X sigmoid(x)."""
    return _silu(x, out=out)


def silu_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` s (1 + x (1 - s)) with s = sigmoid(x)."""
    return _silu.backward(grad, x, out=out)


@device
def swish_formula(x: Tensor[f32, R], beta: f32) -> Tensor[f32, R]:
    return x * tl.sigmoid(x * beta)


@device
def swish_gradient(grad: Tensor[f32, R], x: Tensor[f32, R], beta: f32) -> Tensor[f32, R]:
    s = tl.sigmoid(x * beta)
    return grad * (s + beta * x * s * (1.0 - s))


_swish = Pointwise("swish", swish_formula, swish_gradient, scalars=1)


def swish(x: A, beta: float = 1.0, *, out: A | None = None) -> A:
    """X sigmoid(`beta` x)."""
    return _swish(x, beta, out=out)


def swish_backward(grad: A, x: A, beta: float = 1.0, *, out: A | None = None) -> A:
    """`grad` (s + `beta` x s (1 - s)) with s = sigmoid(`beta` x)."""
    return _swish.backward(grad, x, beta, out=out)


@device
def tanh_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.math.tanh(x)


@device
def tanh_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    y = tl.math.tanh(x)
    return grad * (1.0 - y * y)


_tanh = Pointwise("tanh", tanh_formula, tanh_gradient)


def tanh(x: A, *, out: A | None = None) -> A:
    """The hyperbolic tangent."""
    return _tanh(x, out=out)


def tanh_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` (1 - tanh(x)^2)."""
    return _tanh.backward(grad, x, out=out)


@device
def tanhshrink_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return x - tl.math.tanh(x)


@device
def tanhshrink_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    y = tl.math.tanh(x)
    return grad * (y * y)


_tanhshrink = Pointwise("tanhshrink", tanhshrink_formula, tanhshrink_gradient)


def tanhshrink(x: A, *, out: A | None = None) -> A:
    """X - tanh(x)."""
    return _tanhshrink(x, out=out)


def tanhshrink_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` tanh(x)^2."""
    return _tanhshrink.backward(grad, x, out=out)


@device
def softsign_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return x / (1.0 + tl.abs(x))


@device
def softsign_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    scale = 1.0 / (1.0 + tl.abs(x))
    return grad * (scale * scale)


_softsign = Pointwise("softsign", softsign_formula, softsign_gradient)


def softsign(x: A, *, out: A | None = None) -> A:
    """X / (1 + |x|)."""
    return _softsign(x, out=out)


def softsign_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` / (1 + |x|)^2."""
    return _softsign.backward(grad, x, out=out)


@device
def tanh_of_softplus(x: Tensor[f32, R]) -> Tensor[f32, R]:
    # With n = e^x (e^x + 2) it is n / (n + 2); beyond 40 it is 1 in every dtype.
    e = tl.exp(tl.minimum(x, 40.0, propagate_nan=tl.PropagateNan.ALL))
    n = e * (e + 2.0)
    return n / (n + 2.0)


@device
def mish_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return x * tanh_of_softplus(x)


@device
def mish_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    w = tanh_of_softplus(x)
    return grad * (w + x * (1.0 - w * w) * tl.sigmoid(x))


_mish = Pointwise("mish", mish_formula, mish_gradient)


def mish(x: A, *, out: A | None = None) -> A:
    """X tanh(softplus(x))."""
    return _mish(x, out=out)


def mish_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` (w + x (1 - w^2) sigmoid(x)) with w = tanh(softplus(x))."""
    return _mish.backward(grad, x, out=out)


SPECS = (
    _sigmoid.spec(
        sigmoid,
        sigmoid_backward,
        formula="1 / (1 + exp(-x))",
        reference=_logistic,
        derivative=lambda x: _logistic(x) * (1 - _logistic(x)),
        torch=lambda t, x: t.sigmoid(x),
        torch_name="torch.sigmoid",
        magnitude=lambda x: _logistic(x) * (1 + np.abs(x)),
        slope_magnitude=lambda x: _logistic(x) * (1 + np.abs(x)),
        ulps=4,
        reason="exp of a rounded argument, a sum, a quotient",
    ),
    _silu.spec(
        silu,
        silu_backward,
        formula="x / (1 + exp(-x))",
        reference=lambda x: x * _logistic(x),
        derivative=lambda x: _logistic(x) * (1 + x * (1 - _logistic(x))),
        torch=lambda t, x: t.nn.functional.silu(x),
        torch_name="torch.nn.functional.silu",
        magnitude=lambda x: np.abs(x) * _logistic(x) * (1 + np.abs(x)),
        ulps=6,
        reason="sigmoid and a product",
    ),
    _swish.spec(
        swish,
        swish_backward,
        formula="x / (1 + exp(-beta x))",
        reference=lambda x, beta=1.0: x * _logistic(beta * x),
        derivative=lambda x, beta=1.0: (
            _logistic(beta * x) * (1 + beta * x * (1 - _logistic(beta * x)))
        ),
        torch=lambda t, x, beta=1.0: x * t.sigmoid(x * beta),
        torch_name="",
        magnitude=lambda x, beta=1.0: np.abs(x) * _logistic(beta * x) * (1 + np.abs(beta * x)),
        source="Ramachandran, Zoph, Le 2017, eq. 1",
        cases=unary_cases({"beta": 1.5}, {"beta": -0.5}),
        ulps=16,
        reason="sigmoid of a rounded product of up to some tens",
    ),
    _tanh.spec(
        tanh,
        tanh_backward,
        formula="tanh(x)",
        reference=lambda x: np.tanh(x),
        derivative=lambda x: 1 - np.tanh(x) ** 2,
        torch=lambda t, x: t.tanh(x),
        torch_name="torch.tanh",
        ulps=3,
        reason="tanh to 2 ulp",
    ),
    _tanhshrink.spec(
        tanhshrink,
        tanhshrink_backward,
        formula="x - tanh(x)",
        reference=lambda x: x - np.tanh(x),
        derivative=lambda x: np.tanh(x) ** 2,
        torch=lambda t, x: t.nn.functional.tanhshrink(x),
        torch_name="torch.nn.functional.tanhshrink",
        magnitude=np.abs,
        ulps=3,
        reason="tanh to 2 ulp; for small x the terms cancel",
    ),
    _softsign.spec(
        softsign,
        softsign_backward,
        formula="x / (1 + |x|)",
        reference=lambda x: x / (1 + np.abs(x)),
        derivative=lambda x: 1 / (1 + np.abs(x)) ** 2,
        torch=lambda t, x: t.nn.functional.softsign(x),
        torch_name="torch.nn.functional.softsign",
        ulps=4,
        reason="a sum and a quotient",
    ),
    _mish.spec(
        mish,
        mish_backward,
        formula="x tanh(log(1 + exp(x)))",
        reference=lambda x: x * np.tanh(np.logaddexp(0, x)),
        derivative=lambda x: (
            np.tanh(np.logaddexp(0, x)) + x * (1 - np.tanh(np.logaddexp(0, x)) ** 2) * _logistic(x)
        ),
        torch=lambda t, x: t.nn.functional.mish(x),
        torch_name="torch.nn.functional.mish",
        ulps=24,
        reason="exp, squared, in a quotient",
    ),
)
