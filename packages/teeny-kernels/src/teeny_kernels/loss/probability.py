"""Losses of probabilities: binary cross entropy, Kullback-Leibler, Poisson and Gaussian likelihood.

Formulas are PyTorch's, with its clamps: logarithms of binary_cross_entropy are no less than -100.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import operand
from teeny_kernels.codes import E1204
from teeny_kernels.loss.pointwise_spec import pointwise_spec
from teeny_kernels.loss.reduction import REDUCTIONS, checked_reduction
from teeny_kernels.loss.template import PointwiseLoss
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")

LEAST_NORMAL = 1.1754943508222875e-38  # 2^-126
HALF_LOG_TAU = 0.9189385332046727  # log(2 pi) / 2


@device
def bce_formula(x: Tensor[f32, R], y: Tensor[f32, R], w: Tensor[f32, R]) -> Tensor[f32, R]:
    low = tl.maximum(tl.math.log1p(-x), -100.0, propagate_nan=tl.PropagateNan.ALL)
    high = tl.maximum(tl.log(x), -100.0, propagate_nan=tl.PropagateNan.ALL)
    return w * ((y - 1.0) * low - y * high)


@device
def bce_slope(x: Tensor[f32, R], y: Tensor[f32, R], w: Tensor[f32, R]) -> Tensor[f32, R]:
    spread = tl.maximum((1.0 - x) * x, 1e-12, propagate_nan=tl.PropagateNan.ALL)
    return w * (x - y) / spread


_bce = PointwiseLoss("binary_cross_entropy", bce_formula, bce_slope, arrays=3, alike=True)


def binary_cross_entropy(
    x: A, target: A, weight: A | None = None, reduction: str = "mean", *, out: A | None = None
) -> A:
    """-`weight` (target log(x) + (1 - target) log(1 - x)) of probabilities `x`.

    `weight` broadcasts to `x`. Elements of `x` beyond 0 and 1 give NaN.
    """
    arrays = {"x": x, "target": target, "weight": weight}
    return _bce(arrays, reduction=reduction, out=out)


def binary_cross_entropy_backward(
    grad: A,
    x: A,
    target: A,
    weight: A | None = None,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """The gradient by x: `weight` (x - target) / max(x (1 - x), 1e-12)."""
    arrays = {"x": x, "target": target, "weight": weight}
    return _bce.backward(grad, arrays, reduction=reduction, out=out)[0]


@device
def logits_formula(
    x: Tensor[f32, R], y: Tensor[f32, R], w: Tensor[f32, R], p: Tensor[f32, R]
) -> Tensor[f32, R]:
    soft = tl.math.log1p(tl.exp(-tl.abs(x))) + tl.maximum(-x, 0.0)
    return w * ((1.0 - y) * x + (1.0 + (p - 1.0) * y) * soft)


@device
def logits_slope(
    x: Tensor[f32, R], y: Tensor[f32, R], w: Tensor[f32, R], p: Tensor[f32, R]
) -> Tensor[f32, R]:
    return w * ((p * y + 1.0 - y) * tl.sigmoid(x) - p * y)


_logits = PointwiseLoss(
    "binary_cross_entropy_with_logits", logits_formula, logits_slope, arrays=4, alike=True
)


def binary_cross_entropy_with_logits(
    x: A,
    target: A,
    weight: A | None = None,
    reduction: str = "mean",
    pos_weight: A | None = None,
    *,
    out: A | None = None,
) -> A:
    """The binary cross entropy of sigmoid(x), computed without overflow.

    -`weight` (`pos_weight` target log(s) + (1 - target) log(1 - s)); both weights broadcast to `x`.
    """
    arrays = {"x": x, "target": target, "weight": weight, "pos_weight": pos_weight}
    return _logits(arrays, reduction=reduction, out=out)


def binary_cross_entropy_with_logits_backward(
    grad: A,
    x: A,
    target: A,
    weight: A | None = None,
    reduction: str = "mean",
    pos_weight: A | None = None,
    *,
    out: A | None = None,
) -> A:
    """The gradient by x: `weight` ((`pos_weight` t + 1 - t) sigmoid(x) - `pos_weight` t)."""
    arrays = {"x": x, "target": target, "weight": weight, "pos_weight": pos_weight}
    return _logits.backward(grad, arrays, reduction=reduction, out=out)[0]


@device
def kl_formula(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    own = tl.where(y == 0.0, 0.0, y * tl.log(y))
    return own - y * x


@device
def kl_narrow(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    """The formula with the logarithm of the GPU: to 1e-7, or 2e-4 of it next to 1."""
    small = y < LEAST_NORMAL  # which the instruction takes for 0
    log = tl.math.fast_logf(tl.where(small, y * 16777216.0, y))
    log = log - tl.where(small, 16.635532333438686, 0.0)
    return tl.where(y == 0.0, 0.0, y * log) - y * x


@device
def kl_slope(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return -y


@device
def kl_log_formula(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.exp(y) * (y - x)


@device
def kl_log_slope(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return -tl.exp(y)


_kl = PointwiseLoss("kl_div", kl_formula, kl_slope, narrow=kl_narrow)
_kl_log = PointwiseLoss("kl_div_log", kl_log_formula, kl_log_slope)


def kl_div(
    x: A, target: A, reduction: str = "mean", log_target: bool = False, *, out: A | None = None
) -> A:
    """The target times (log(target) - x), of logarithms `x`; with `log_target` of both.

    `reduction` may also be `batchmean`: the sum, divided by the length of the first axis.
    """
    how, divisor = _batch("kl_div", x, reduction)
    loss = _kl_log if log_target else _kl
    return loss({"x": x, "target": target}, reduction=how, divisor=divisor, out=out)


def kl_div_backward(
    grad: A,
    x: A,
    target: A,
    reduction: str = "mean",
    log_target: bool = False,
    *,
    out: A | None = None,
) -> A:
    """The gradient by x: -target, or -exp(target) with `log_target`."""
    how, divisor = _batch("kl_div_backward", x, reduction)
    loss = _kl_log if log_target else _kl
    arrays = {"x": x, "target": target}
    return loss.backward(grad, arrays, reduction=how, divisor=divisor, out=out)[0]


def _batch(operation: str, x: Any, reduction: str) -> tuple[str, float | None]:
    checked_reduction(operation, reduction, (*REDUCTIONS, "batchmean"))
    if reduction != "batchmean":
        return reduction, None
    shape = operand("x", x).shape
    return "mean", float(shape[0] if shape else 1)


@device
def stirling(y: Tensor[f32, R]) -> Tensor[f32, R]:
    """Log(y!) for y > 1, by Stirling; 0 up to 1."""
    found = y * tl.log(y) - y + 0.5 * tl.log(6.283185307179586 * y)
    return tl.where(y > 1.0, found, 0.0)


@device
def poisson_formula(
    x: Tensor[f32, R], y: Tensor[f32, R], _w: Tensor[f32, R], eps: f32
) -> Tensor[f32, R]:
    return x - y * tl.log(x + eps)


@device
def poisson_full_formula(
    x: Tensor[f32, R], y: Tensor[f32, R], _w: Tensor[f32, R], eps: f32
) -> Tensor[f32, R]:
    return x - y * tl.log(x + eps) + stirling(y)


@device
def poisson_slope(
    x: Tensor[f32, R], y: Tensor[f32, R], _w: Tensor[f32, R], eps: f32
) -> Tensor[f32, R]:
    return 1.0 - y / (x + eps)


@device
def poisson_log_formula(
    x: Tensor[f32, R], y: Tensor[f32, R], _w: Tensor[f32, R], eps: f32
) -> Tensor[f32, R]:
    return tl.exp(x) - y * x


@device
def poisson_log_full_formula(
    x: Tensor[f32, R], y: Tensor[f32, R], _w: Tensor[f32, R], eps: f32
) -> Tensor[f32, R]:
    return tl.exp(x) - y * x + stirling(y)


@device
def poisson_log_slope(
    x: Tensor[f32, R], y: Tensor[f32, R], _w: Tensor[f32, R], eps: f32
) -> Tensor[f32, R]:
    return tl.exp(x) - y


# By `log_input` and `full`: the two logarithms of Stirling's formula cost more than reading.
_poisson = {
    (log, full): PointwiseLoss(
        f"poisson_nll_loss{'_log' * log}{'_full' * full}", formula, slope, arrays=3, scalars=1
    )
    for log, full, formula, slope in (
        (False, False, poisson_formula, poisson_slope),
        (False, True, poisson_full_formula, poisson_slope),
        (True, False, poisson_log_formula, poisson_log_slope),
        (True, True, poisson_log_full_formula, poisson_log_slope),
    )
}


def poisson_nll_loss(
    x: A,
    target: A,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """exp(x) - target x, or x - target log(x + `eps`) without `log_input`.

    `full` adds Stirling's approximation t log(t) - t + log(2 pi t) / 2 where target > 1.
    """
    loss = _poisson[bool(log_input), bool(full)]
    return loss({"x": x, "target": target}, eps, reduction=reduction, out=out)


def poisson_nll_loss_backward(
    grad: A,
    x: A,
    target: A,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """The gradient by x: exp(x) - target, or 1 - target / (x + `eps`) without `log_input`."""
    loss = _poisson[bool(log_input), False]
    arrays = {"x": x, "target": target}
    return loss.backward(grad, arrays, eps, reduction=reduction, out=out)[0]


@device
def gaussian_formula(
    x: Tensor[f32, R], y: Tensor[f32, R], var: Tensor[f32, R], eps: f32, shift: f32
) -> Tensor[f32, R]:
    v = tl.maximum(var, eps, propagate_nan=tl.PropagateNan.ALL)
    return 0.5 * (tl.log(v) + (x - y) * (x - y) / v) + shift


@device
def gaussian_slope(
    x: Tensor[f32, R], y: Tensor[f32, R], var: Tensor[f32, R], eps: f32, shift: f32
) -> Tensor[f32, R]:
    return (x - y) / tl.maximum(var, eps, propagate_nan=tl.PropagateNan.ALL)


@device
def gaussian_var_slope(
    x: Tensor[f32, R], y: Tensor[f32, R], var: Tensor[f32, R], eps: f32, shift: f32
) -> Tensor[f32, R]:
    v = tl.maximum(var, eps, propagate_nan=tl.PropagateNan.ALL)
    return 0.5 * (1.0 - (x - y) * (x - y) / v) / v


_gaussian = PointwiseLoss(
    "gaussian_nll_loss",
    gaussian_formula,
    gaussian_slope,
    gaussian_var_slope,
    arrays=3,
    scalars=2,
)


def gaussian_nll_loss(
    x: A,
    target: A,
    var: A,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """(log(v) + (x - target)^2 / v) / 2 with v = max(`var`, `eps`); `var` has the shape of `x`.

    `full` adds log(2 pi) / 2.
    """
    shift = HALF_LOG_TAU if full else 0.0
    arrays = {"x": x, "target": target, "var": var}
    return _gaussian(arrays, _positive(eps), shift, reduction=reduction, out=out)


def gaussian_nll_loss_backward(
    grad: A,
    x: A,
    target: A,
    var: A,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> tuple[A, A]:
    """The gradients by x and by `var`; the clamp to `eps` passes that of var, as in PyTorch."""
    shift = HALF_LOG_TAU if full else 0.0
    arrays = {"x": x, "target": target, "var": var}
    dx, dvar = _gaussian.backward(grad, arrays, _positive(eps), shift, reduction=reduction)
    return dx, dvar


def _positive(eps: float) -> float:
    if not eps > 0:
        raise E1204.error(operation="gaussian_nll_loss", name="eps", found=eps).help(
            "it is positive"
        )
    return eps


def _bce_reference(x: np.ndarray, y: np.ndarray, weight: np.ndarray | float = 1.0) -> np.ndarray:
    high, low = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return -weight * (y * high + (1 - y) * low)


def _logits_reference(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray | float = 1.0, pos: np.ndarray | float = 1.0
) -> np.ndarray:
    loss = weight * (pos * y * np.logaddexp(0, -x) + (1 - y) * np.logaddexp(0, x))
    return np.where(np.isneginf(x), np.nan, loss)  # PyTorch's form subtracts infinities there


def _logits_size(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray | float = 1.0, pos: np.ndarray | float = 1.0
) -> np.ndarray:
    return np.abs(weight) * (1 + np.abs(y)) * (1 + np.abs(pos)) * (1 + np.abs(x))


def _logits_slope_size(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray | float = 1.0, pos: np.ndarray | float = 1.0
) -> np.ndarray:
    return weight * (1 + y) * (1 + pos) * np.ones_like(x)


def _logits_derivative(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray | float = 1.0, pos: np.ndarray | float = 1.0
) -> np.ndarray:
    s = 1 / (1 + np.exp(-x))
    return weight * ((1 - y) * s - pos * y * (1 - s))


def _kl_reference(x: np.ndarray, y: np.ndarray, log_target: bool = False) -> np.ndarray:
    if log_target:
        return np.exp(y) * (y - x)
    return np.where(y == 0, 0.0, y * np.log(y)) - y * x


def _kl_size(x: np.ndarray, y: np.ndarray, log_target: bool = False) -> np.ndarray:
    p, log = (np.exp(y), y) if log_target else (y, np.log(y))
    return p * (np.abs(log) + np.abs(x)) * (1 + np.abs(log))


def _stirling(y: np.ndarray) -> np.ndarray:
    return y * np.log(y) - y + np.log(2 * math.pi * y) / 2


def _poisson_reference(
    x: np.ndarray, y: np.ndarray, log_input: bool = True, full: bool = False, eps: float = 1e-8
) -> np.ndarray:
    loss = np.exp(x) - y * x if log_input else x - y * np.log(x + eps)
    return loss + np.where(y > 1, _stirling(y), 0.0) if full else loss


def _poisson_size(
    x: np.ndarray, y: np.ndarray, log_input: bool = True, full: bool = False, eps: float = 1e-8
) -> np.ndarray:
    far = 1 + np.abs(x)
    size = np.exp(x) * far + np.abs(y * x) if log_input else far + y * np.abs(np.log(x + eps)) + y
    return size + y * (2 + np.abs(np.log(y))) + 2


def _poisson_derivative(
    x: np.ndarray, y: np.ndarray, log_input: bool = True, full: bool = False, eps: float = 1e-8
) -> np.ndarray:
    return np.exp(x) - y if log_input else 1 - y / (x + eps)


def _poisson_slope_size(
    x: np.ndarray, y: np.ndarray, log_input: bool = True, full: bool = False, eps: float = 1e-8
) -> np.ndarray:
    return np.exp(x) * (1 + np.abs(x)) + np.abs(y) if log_input else 1 + np.abs(y / (x + eps))


def _gaussian_reference(
    x: np.ndarray, y: np.ndarray, var: np.ndarray, full: bool = False, eps: float = 1e-6
) -> np.ndarray:
    v = np.maximum(var, eps)
    return (np.log(v) + (x - y) ** 2 / v + (math.log(2 * math.pi) if full else 0.0)) / 2


def _gaussian_size(x: np.ndarray, y: np.ndarray, var: np.ndarray, **_: object) -> np.ndarray:
    return 2 + np.abs(np.log(var)) + (x - y) ** 2 / var


def _gaussian_slope_size(x: np.ndarray, y: np.ndarray, var: np.ndarray, **_: object) -> np.ndarray:
    return (1 + np.abs(x - y) + (x - y) ** 2 / var) / var


def _kl_torch(t: Any, x: Any, y: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    if reduction == "mean":  # of which PyTorch warns
        return t.nn.functional.kl_div(x, y, reduction="none", log_target=log_target).mean()
    return t.nn.functional.kl_div(x, y, reduction=reduction, log_target=log_target)


SPECS = (
    pointwise_spec(
        _bce,
        binary_cross_entropy,
        binary_cross_entropy_backward,
        formula="-w (y log(x) + (1 - y) log(1 - x))",
        reference=_bce_reference,
        slopes=[lambda x, y, w=1.0: w * (x - y) / np.maximum(x * (1 - x), 1e-12)],
        fillings=("probability", "probability", "positive"),
        optional=True,
        reason="two logarithms, a tree sum",
    ),
    pointwise_spec(
        _logits,
        binary_cross_entropy_with_logits,
        lambda grad, x, y, weight=None, pos_weight=None, reduction="mean": (
            binary_cross_entropy_with_logits_backward(grad, x, y, weight, reduction, pos_weight)
        ),
        formula="w (p y log(1 + exp(-x)) + (1 - y) log(1 + exp(x)))",
        reference=_logits_reference,
        size=_logits_size,
        slopes=[_logits_derivative],
        slope_size=_logits_slope_size,
        fillings=("normal", "probability", "positive", "positive"),
        optional=True,
        call=lambda x, y, weight=None, pos_weight=None, reduction="mean": (
            binary_cross_entropy_with_logits(x, y, weight, reduction, pos_weight)
        ),
        torch=lambda t, x, y, weight=None, pos_weight=None, reduction="mean": (
            t.nn.functional.binary_cross_entropy_with_logits(
                x, y, weight, pos_weight=pos_weight, reduction=reduction
            )
        ),
        reason="exp and log1p, a tree sum",
    ),
    pointwise_spec(
        _kl,
        kl_div,
        kl_div_backward,
        formula="y (log(y) - x)",
        reference=_kl_reference,
        size=_kl_size,
        slopes=[lambda x, y, log_target=False: -np.exp(y) if log_target else -y],
        slope_size=_kl_size,
        fillings=("normal", "probability"),
        options=[{"log_target": True}, {"reduction": "batchmean"}],
        kernels=(_kl_log.forward_kernel, *_kl_log.backward_kernels),
        torch=_kl_torch,
        reason="a logarithm or exp, a tree sum",
    ),
    pointwise_spec(
        _poisson[True, False],
        poisson_nll_loss,
        poisson_nll_loss_backward,
        formula="exp(x) - y x, or x - y log(x + eps)",
        reference=_poisson_reference,
        size=_poisson_size,
        slopes=[_poisson_derivative],
        slope_size=_poisson_slope_size,
        fillings=("positive", "positive"),
        options=[{"log_input": False}, {"full": True}, {"log_input": False, "eps": 0.1}],
        kernels=[
            kernel
            for loss in _poisson.values()
            if loss is not _poisson[True, False]
            for kernel in (loss.forward_kernel, *loss.backward_kernels)
        ],
        reason="exp or a logarithm, a tree sum",
    ),
    pointwise_spec(
        _gaussian,
        gaussian_nll_loss,
        gaussian_nll_loss_backward,
        formula="(log(v) + (x - y)^2 / v) / 2, v = max(var, eps)",
        reference=_gaussian_reference,
        size=_gaussian_size,
        slopes=[
            lambda x, y, var, full=False, eps=1e-6: (x - y) / np.maximum(var, eps),
            lambda x, y, var, full=False, eps=1e-6: (1 - (x - y) ** 2 / var) / var / 2,
        ],
        slope_size=_gaussian_slope_size,
        differentiable=(0, 2),
        fillings=("normal", "normal", "positive"),
        options=[{"full": True}],
        special=False,
        reason="a logarithm, a quotient, a tree sum",
    ),
)
