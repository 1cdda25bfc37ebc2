"""Activations of exp(x) - 1 and log(1 + x): elu, celu, selu, softplus, logsigmoid.

Both are computed without cancellation. NaN stays NaN.
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

# Klambauer et al. 2017, "Self-normalizing neural networks", section 2.
ALPHA = 1.6732632423543772848170429916717
SCALE = 1.0507009873554804934193349852946


@device
def elu_formula(x: Tensor[f32, R], alpha: f32) -> Tensor[f32, R]:
    return tl.where(x > 0.0, x, alpha * tl.math.expm1(x))


@device
def elu_gradient(grad: Tensor[f32, R], x: Tensor[f32, R], alpha: f32) -> Tensor[f32, R]:
    return tl.where(x > 0.0, grad, grad * alpha * tl.exp(x))


_elu = Pointwise("elu", elu_formula, elu_gradient, scalars=1)


def elu(x: A, alpha: float = 1.0, *, out: A | None = None) -> A:
    """X where x > 0, else `alpha` (exp(x) - 1)."""
    return _elu(x, alpha, out=out)


def elu_backward(grad: A, x: A, alpha: float = 1.0, *, out: A | None = None) -> A:
    """`grad` where x > 0, else `grad` `alpha` exp(x)."""
    return _elu.backward(grad, x, alpha, out=out)


@device
def celu_formula(x: Tensor[f32, R], alpha: f32) -> Tensor[f32, R]:
    return tl.where(x > 0.0, x, alpha * tl.math.expm1(x / alpha))


@device
def celu_gradient(grad: Tensor[f32, R], x: Tensor[f32, R], alpha: f32) -> Tensor[f32, R]:
    return tl.where(x > 0.0, grad, grad * tl.exp(x / alpha))


_celu = Pointwise("celu", celu_formula, celu_gradient, scalars=1)


def celu(x: A, alpha: float = 1.0, *, out: A | None = None) -> A:
    """max(x, 0) + min(`alpha` (exp(x / `alpha`) - 1), 0)."""
    return _celu(x, alpha, out=out)


def celu_backward(grad: A, x: A, alpha: float = 1.0, *, out: A | None = None) -> A:
    """`grad` where x > 0, else `grad` exp(x / `alpha`)."""
    return _celu.backward(grad, x, alpha, out=out)


@device
def selu_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return SCALE * tl.where(x > 0.0, x, ALPHA * tl.math.expm1(x))


@device
def selu_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * (SCALE * tl.where(x > 0.0, 1.0, ALPHA * tl.exp(x)))


_selu = Pointwise("selu", selu_formula, selu_gradient)


def selu(x: A, *, out: A | None = None) -> A:
    """S (x where x > 0, else a (exp(x) - 1)), s = 1.0507..., a = 1.6732... ."""
    return _selu(x, out=out)


def selu_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """S `grad` where x > 0, else s a `grad` exp(x)."""
    return _selu.backward(grad, x, out=out)


@device
def softplus_formula(x: Tensor[f32, R], beta: f32, threshold: f32) -> Tensor[f32, R]:
    z = x * beta
    soft = (tl.maximum(z, 0.0) + tl.math.log1p(tl.exp(-tl.abs(z)))) / beta
    return tl.where(z > threshold, x, soft)


@device
def softplus_gradient(
    grad: Tensor[f32, R], x: Tensor[f32, R], beta: f32, threshold: f32
) -> Tensor[f32, R]:
    z = x * beta
    return tl.where(z > threshold, grad, grad * tl.sigmoid(z))


_softplus = Pointwise("softplus", softplus_formula, softplus_gradient, scalars=2)


def softplus(x: A, beta: float = 1.0, threshold: float = 20.0, *, out: A | None = None) -> A:
    """log(1 + exp(`beta` x)) / `beta`, and x where `beta` x > `threshold`."""
    return _softplus(x, beta, threshold, out=out)


def softplus_backward(
    grad: A, x: A, beta: float = 1.0, threshold: float = 20.0, *, out: A | None = None
) -> A:
    """`grad` sigmoid(`beta` x), and `grad` where `beta` x > `threshold`."""
    return _softplus.backward(grad, x, beta, threshold, out=out)


@device
def logsigmoid_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.minimum(x, 0.0, propagate_nan=tl.PropagateNan.ALL) - tl.math.log1p(tl.exp(-tl.abs(x)))


@device
def logsigmoid_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * tl.sigmoid(-x)


_logsigmoid = Pointwise("logsigmoid", logsigmoid_formula, logsigmoid_gradient)


def logsigmoid(x: A, *, out: A | None = None) -> A:
    """log(1 / (1 + exp(-x)))."""
    return _logsigmoid(x, out=out)


def logsigmoid_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` sigmoid(-x)."""
    return _logsigmoid.backward(grad, x, out=out)


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


SPECS = (
    _elu.spec(
        elu,
        elu_backward,
        formula="x if x > 0 else alpha (exp(x) - 1)",
        reference=lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)),
        derivative=lambda x, alpha=1.0: np.where(x > 0, 1.0, alpha * np.exp(x)),
        torch=lambda t, x, alpha=1.0: t.nn.functional.elu(x, alpha),
        torch_name="torch.nn.functional.elu",
        cases=unary_cases({"alpha": 0.5}, {"alpha": 2.0}),
        ulps=4,
        reason="expm1 and a product",
    ),
    _celu.spec(
        celu,
        celu_backward,
        formula="x if x > 0 else alpha (exp(x / alpha) - 1)",
        reference=lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x / alpha)),
        derivative=lambda x, alpha=1.0: np.where(x > 0, 1.0, np.exp(x / alpha)),
        torch=lambda t, x, alpha=1.0: t.nn.functional.celu(x, alpha),
        torch_name="torch.nn.functional.celu",
        cases=unary_cases({"alpha": 0.5}, {"alpha": 2.0}),
        ulps=16,
        reason="expm1 of a rounded quotient",
    ),
    _selu.spec(
        selu,
        selu_backward,
        formula="s x if x > 0 else s a (exp(x) - 1), s = 1.0507..., a = 1.6732...",
        reference=lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x)),
        derivative=lambda x: SCALE * np.where(x > 0, 1.0, ALPHA * np.exp(x)),
        torch=lambda t, x: t.nn.functional.selu(x),
        torch_name="torch.nn.functional.selu",
        ulps=6,
        reason="expm1, products with rounded constants",
    ),
    _softplus.spec(
        softplus,
        softplus_backward,
        formula="log(1 + exp(beta x)) / beta; x where beta x > threshold",
        reference=lambda x, beta=1.0, threshold=20.0: np.where(
            beta * x > threshold, x, np.logaddexp(0, beta * x) / beta
        ),
        derivative=lambda x, beta=1.0, threshold=20.0: np.where(
            beta * x > threshold, 1.0, _logistic(beta * x)
        ),
        torch=lambda t, x, beta=1.0, threshold=20.0: t.nn.functional.softplus(x, beta, threshold),
        torch_name="torch.nn.functional.softplus",
        magnitude=lambda x, beta=1.0, threshold=20.0: np.logaddexp(0, beta * x) / beta,
        cases=unary_cases({"beta": 2.0, "threshold": 5.0}, {"beta": 0.5}),
        ulps=64,
        reason="exp of a rounded product of up to some tens",
    ),
    _logsigmoid.spec(
        logsigmoid,
        logsigmoid_backward,
        formula="-log(1 + exp(-x))",
        reference=lambda x: -np.logaddexp(0, -x),
        derivative=lambda x: _logistic(-x),
        torch=lambda t, x: t.nn.functional.logsigmoid(x),
        torch_name="torch.nn.functional.logsigmoid",
        ulps=8,
        reason="exp and log1p",
    ),
)
