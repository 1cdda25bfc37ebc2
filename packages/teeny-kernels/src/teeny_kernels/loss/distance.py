"""Losses of the difference d = x - target: mse, l1, smooth l1 and Huber, with a reduction each.

The gradient by the target is the negative of that by x.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.codes import E1204
from teeny_kernels.loss.pointwise_spec import pointwise_spec
from teeny_kernels.loss.template import PointwiseLoss
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")


@device
def mse_formula(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return (x - y) * (x - y)


@device
def mse_slope(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return 2.0 * (x - y)


_mse = PointwiseLoss("mse_loss", mse_formula, mse_slope)


def mse_loss(x: A, target: A, reduction: str = "mean", *, out: A | None = None) -> A:
    """The squared difference d d of `x` and `target`, reduced by `none`, `mean` or `sum`."""
    return _mse({"x": x, "target": target}, reduction=reduction, out=out)


def mse_loss_backward(
    grad: A, x: A, target: A, reduction: str = "mean", *, out: A | None = None
) -> A:
    """The gradient by x, 2 d; `grad` is that of the loss."""
    return _mse.backward(grad, {"x": x, "target": target}, reduction=reduction, out=out)[0]


@device
def l1_formula(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.abs(x - y)


@device
def l1_slope(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x > y, 1.0, tl.where(x < y, -1.0, 0.0)).to(x.dtype)


_l1 = PointwiseLoss("l1_loss", l1_formula, l1_slope)


def l1_loss(x: A, target: A, reduction: str = "mean", *, out: A | None = None) -> A:
    """The absolute difference of `x` and `target`, reduced by `none`, `mean` or `sum`."""
    return _l1({"x": x, "target": target}, reduction=reduction, out=out)


def l1_loss_backward(
    grad: A, x: A, target: A, reduction: str = "mean", *, out: A | None = None
) -> A:
    """The gradient by x, the sign of d; `grad` is that of the loss."""
    return _l1.backward(grad, {"x": x, "target": target}, reduction=reduction, out=out)[0]


@device
def smooth_l1_formula(x: Tensor[f32, R], y: Tensor[f32, R], beta: f32) -> Tensor[f32, R]:
    far = tl.abs(x - y)
    return tl.where(far < beta, 0.5 * far * far / beta, far - 0.5 * beta)


@device
def smooth_l1_slope(x: Tensor[f32, R], y: Tensor[f32, R], beta: f32) -> Tensor[f32, R]:
    d = x - y
    near = tl.where(d == 0.0, 0.0, d / beta)  # of a `beta` of 0 too
    return tl.where((d > 0.0) & (d >= beta), 1.0, tl.where((d < 0.0) & (d <= -beta), -1.0, near))


_smooth_l1 = PointwiseLoss("smooth_l1_loss", smooth_l1_formula, smooth_l1_slope, scalars=1)


def smooth_l1_loss(
    x: A, target: A, reduction: str = "mean", beta: float = 1.0, *, out: A | None = None
) -> A:
    """D d / (2 `beta`) where |d| < `beta`, else |d| - `beta` / 2; a `beta` of 0 gives |d|."""
    _not_negative("smooth_l1_loss", "beta", beta)
    return _smooth_l1({"x": x, "target": target}, beta, reduction=reduction, out=out)


def smooth_l1_loss_backward(
    grad: A, x: A, target: A, reduction: str = "mean", beta: float = 1.0, *, out: A | None = None
) -> A:
    """The gradient by x: d / `beta` within (-1, 1), else the sign of d."""
    _not_negative("smooth_l1_loss_backward", "beta", beta)
    arrays = {"x": x, "target": target}
    return _smooth_l1.backward(grad, arrays, beta, reduction=reduction, out=out)[0]


@device
def huber_formula(x: Tensor[f32, R], y: Tensor[f32, R], delta: f32) -> Tensor[f32, R]:
    far = tl.abs(x - y)
    return tl.where(far < delta, 0.5 * far * far, delta * (far - 0.5 * delta))


@device
def huber_slope(x: Tensor[f32, R], y: Tensor[f32, R], delta: f32) -> Tensor[f32, R]:
    d = x - y
    return tl.where(d > delta, delta, tl.where(d < -delta, -delta, d))


_huber = PointwiseLoss("huber_loss", huber_formula, huber_slope, scalars=1)


def huber_loss(
    x: A, target: A, reduction: str = "mean", delta: float = 1.0, *, out: A | None = None
) -> A:
    """D d / 2 where |d| < `delta` (positive), else `delta` (|d| - `delta` / 2)."""
    _positive("huber_loss", "delta", delta)
    return _huber({"x": x, "target": target}, delta, reduction=reduction, out=out)


def huber_loss_backward(
    grad: A, x: A, target: A, reduction: str = "mean", delta: float = 1.0, *, out: A | None = None
) -> A:
    """The gradient by x: d, no further from 0 than `delta`."""
    _positive("huber_loss_backward", "delta", delta)
    arrays = {"x": x, "target": target}
    return _huber.backward(grad, arrays, delta, reduction=reduction, out=out)[0]


def _not_negative(operation: str, name: str, value: float) -> None:
    if not value >= 0:
        raise E1204.error(operation=operation, name=name, found=value).help("it is 0 or more")


def _positive(operation: str, name: str, value: float) -> None:
    if not value > 0:
        raise E1204.error(operation=operation, name=name, found=value).help("it is positive")


def _smooth_reference(x: np.ndarray, y: np.ndarray, beta: float = 1.0) -> np.ndarray:
    far = np.abs(x - y)
    return np.where(far < beta, far**2 / (2 * beta or 1.0), far - beta / 2)


def _smooth_derivative(x: np.ndarray, y: np.ndarray, beta: float = 1.0) -> np.ndarray:
    return np.clip((x - y) / beta, -1, 1) if beta else np.sign(x - y)


def _huber_reference(x: np.ndarray, y: np.ndarray, delta: float = 1.0) -> np.ndarray:
    far = np.abs(x - y)
    return np.where(far < delta, far**2 / 2, delta * (far - delta / 2))


_REASON = "a difference and a product, a tree sum"

SPECS = (
    pointwise_spec(
        _mse,
        mse_loss,
        mse_loss_backward,
        formula="(x - y)^2",
        reference=lambda x, y: (x - y) ** 2,
        slopes=[lambda x, y: 2 * (x - y)],
        reason=_REASON,
    ),
    pointwise_spec(
        _l1,
        l1_loss,
        l1_loss_backward,
        formula="|x - y|",
        reference=lambda x, y: np.abs(x - y),
        slopes=[lambda x, y: np.where(np.isnan(x - y), 0.0, np.sign(x - y))],
        reason=_REASON,
    ),
    pointwise_spec(
        _smooth_l1,
        smooth_l1_loss,
        smooth_l1_loss_backward,
        formula="d^2 / (2 beta) where |d| < beta, else |d| - beta / 2; d = x - y",
        reference=_smooth_reference,
        slopes=[_smooth_derivative],
        options=[{"beta": 0.25}, {"beta": 0.0}],
        reason=_REASON,
    ),
    pointwise_spec(
        _huber,
        huber_loss,
        huber_loss_backward,
        formula="d^2 / 2 where |d| < delta, else delta (|d| - delta / 2); d = x - y",
        reference=_huber_reference,
        slopes=[lambda x, y, delta=1.0: np.clip(x - y, -delta, delta)],
        options=[{"delta": 0.3}, {"delta": 2.0}],
        reason=_REASON,
    ),
)
