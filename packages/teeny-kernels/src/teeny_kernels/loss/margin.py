"""Losses of signs and margins: soft margin, hinge embedding, margin ranking."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.loss.pointwise_spec import pointwise_spec
from teeny_kernels.loss.template import PointwiseLoss
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")


@device
def soft_margin_formula(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    z = -y * x
    soft = tl.math.log1p(tl.exp(-tl.abs(z)))
    return soft + tl.maximum(z, 0.0, propagate_nan=tl.PropagateNan.ALL)


@device
def soft_margin_slope(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return -y * tl.sigmoid(-y * x)


_soft_margin = PointwiseLoss("soft_margin_loss", soft_margin_formula, soft_margin_slope)


def soft_margin_loss(x: A, target: A, reduction: str = "mean", *, out: A | None = None) -> A:
    """log(1 + exp(-target x)), without overflow; `target` is 1 or -1."""
    return _soft_margin({"x": x, "target": target}, reduction=reduction, out=out)


def soft_margin_loss_backward(
    grad: A, x: A, target: A, reduction: str = "mean", *, out: A | None = None
) -> A:
    """The gradient by x: -target sigmoid(-target x)."""
    return _soft_margin.backward(grad, {"x": x, "target": target}, reduction=reduction, out=out)[0]


@device
def hinge_formula(x: Tensor[f32, R], y: Tensor[f32, R], margin: f32) -> Tensor[f32, R]:
    inner = tl.maximum(margin - x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    return tl.where(y != 1.0, inner, 0.0) + tl.where(y != -1.0, x, 0.0)


@device
def hinge_slope(x: Tensor[f32, R], y: Tensor[f32, R], margin: f32) -> Tensor[f32, R]:
    inner = tl.where(margin - x >= 0.0, -1.0, 0.0).to(x.dtype)
    return tl.where(y != 1.0, inner, 0.0) + tl.where(y != -1.0, 1.0, 0.0).to(x.dtype)


_hinge = PointwiseLoss("hinge_embedding_loss", hinge_formula, hinge_slope, scalars=1)


def hinge_embedding_loss(
    x: A, target: A, margin: float = 1.0, reduction: str = "mean", *, out: A | None = None
) -> A:
    """X where `target` is 1, max(0, `margin` - x) where it is -1."""
    return _hinge({"x": x, "target": target}, margin, reduction=reduction, out=out)


def hinge_embedding_loss_backward(
    grad: A, x: A, target: A, margin: float = 1.0, reduction: str = "mean", *, out: A | None = None
) -> A:
    """The gradient by x: 1 where `target` is 1; where it is -1, -1 up to the margin."""
    arrays = {"x": x, "target": target}
    return _hinge.backward(grad, arrays, margin, reduction=reduction, out=out)[0]


@device
def ranking_formula(
    x: Tensor[f32, R], z: Tensor[f32, R], y: Tensor[f32, R], margin: f32
) -> Tensor[f32, R]:
    return tl.maximum(-y * (x - z) + margin, 0.0, propagate_nan=tl.PropagateNan.ALL)


@device
def ranking_slope(
    x: Tensor[f32, R], z: Tensor[f32, R], y: Tensor[f32, R], margin: f32
) -> Tensor[f32, R]:
    return tl.where(-y * (x - z) + margin >= 0.0, -y, 0.0)


@device
def ranking_other_slope(
    x: Tensor[f32, R], z: Tensor[f32, R], y: Tensor[f32, R], margin: f32
) -> Tensor[f32, R]:
    return tl.where(-y * (x - z) + margin >= 0.0, y, 0.0)


_ranking = PointwiseLoss(
    "margin_ranking_loss",
    ranking_formula,
    ranking_slope,
    ranking_other_slope,
    arrays=3,
    scalars=1,
    alike=True,
)


def margin_ranking_loss(
    x1: A, x2: A, target: A, margin: float = 0.0, reduction: str = "mean", *, out: A | None = None
) -> A:
    """max(0, -target (x1 - x2) + `margin`); `target` is 1 or -1, of the shape of both."""
    arrays = {"x1": x1, "x2": x2, "target": target}
    return _ranking(arrays, margin, reduction=reduction, out=out)


def margin_ranking_loss_backward(
    grad: A, x1: A, x2: A, target: A, margin: float = 0.0, reduction: str = "mean"
) -> tuple[A, A]:
    """The gradients by x1 and x2: -target and target, up to the margin."""
    arrays = {"x1": x1, "x2": x2, "target": target}
    dx, dz = _ranking.backward(grad, arrays, margin, reduction=reduction)
    return dx, dz


def _hinge_derivative(x: np.ndarray, y: np.ndarray, margin: float = 1.0) -> np.ndarray:
    return np.where(y == 1, 1.0, np.where(x <= margin, -1.0, 0.0))


def _ranking_derivative(
    x: np.ndarray, z: np.ndarray, y: np.ndarray, margin: float = 0.0
) -> np.ndarray:
    return np.where(margin - y * (x - z) >= 0, -y, 0.0)


SPECS = (
    pointwise_spec(
        _soft_margin,
        soft_margin_loss,
        soft_margin_loss_backward,
        formula="log(1 + exp(-y x))",
        reference=lambda x, y: np.logaddexp(0, -y * x),
        size=lambda x, y: np.logaddexp(0, -y * x) * (1 + np.abs(x)),
        slopes=[lambda x, y: -y / (1 + np.exp(y * x))],
        slope_size=lambda x, y: (1 + np.abs(x)) / (1 + np.exp(y * x)),
        fillings=("normal", "sign"),
        special=False,  # PyTorch's own form overflows
        reason="exp and log1p, a tree sum",
    ),
    pointwise_spec(
        _hinge,
        hinge_embedding_loss,
        hinge_embedding_loss_backward,
        formula="x where y = 1, max(0, margin - x) where y = -1",
        reference=lambda x, y, margin=1.0: np.where(y == 1, x, np.maximum(margin - x, 0)),
        size=lambda x, y, margin=1.0: np.abs(x) + abs(margin),
        slopes=[_hinge_derivative],
        fillings=("normal", "sign"),
        options=[{"margin": 0.5}, {"margin": -0.25}],
        reason="a difference, a tree sum",
    ),
    pointwise_spec(
        _ranking,
        margin_ranking_loss,
        margin_ranking_loss_backward,
        formula="max(0, -y (x1 - x2) + margin)",
        reference=lambda x, z, y, margin=0.0: np.maximum(margin - y * (x - z), 0),
        size=lambda x, z, y, margin=0.0: np.abs(x) + np.abs(z) + abs(margin),
        slopes=[
            _ranking_derivative,
            lambda x, z, y, margin=0.0: -_ranking_derivative(x, z, y, margin),
        ],
        differentiable=(0, 1),
        fillings=("normal", "normal", "sign"),
        options=[{"margin": 0.5}],
        reason="a difference, a product, a tree sum",
    ),
)
