"""The cut of every element to a range: min(max(x, low), high).

NaN stays NaN. The gradient goes through where x lies in the range, its ends included.
"""

from __future__ import annotations

from math import inf
from typing import TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.operation import Pointwise, unary_cases
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")


@device
def clip_formula(x: Tensor[f32, R], low: f32, high: f32) -> Tensor[f32, R]:
    # A limit that is NaN makes all NaN.
    above = tl.where((x >= low) | (x != x), x, low)
    return tl.where((above <= high) | (above != above), above, high)


@device
def clip_gradient(grad: Tensor[f32, R], x: Tensor[f32, R], low: f32, high: f32) -> Tensor[f32, R]:
    return tl.where((x >= low) & (x <= high), grad, 0.0)


_clip = Pointwise("clip", clip_formula, clip_gradient, scalars=2)


def clip(
    x: A,
    min: float | None = None,  # noqa: A002
    max: float | None = None,  # noqa: A002
    *,
    out: A | None = None,
) -> A:
    """`x` cut to the range from `min` to `max`; None is no limit. With min > max all is `max`.

    A limit that is NaN makes all NaN.
    """
    found: A = _clip(x, *_limits(min, max), out=out)
    return found


def clip_backward(
    grad: A,
    x: A,
    min: float | None = None,  # noqa: A002
    max: float | None = None,  # noqa: A002
    *,
    out: A | None = None,
) -> A:
    """`grad` where x lies in the range, ends included, else 0."""
    found: A = _clip.backward(grad, x, *_limits(min, max), out=out)
    return found


def _limits(low: float | None, high: float | None) -> tuple[float, float]:
    return -inf if low is None else low, inf if high is None else high


def _cut(x: np.ndarray, **limits: float) -> np.ndarray:
    return np.minimum(np.maximum(x, limits.get("min", -inf)), limits.get("max", inf))


def _inside(x: np.ndarray, **limits: float) -> np.ndarray:
    inside = (x >= limits.get("min", -inf)) & (x <= limits.get("max", inf))
    return np.where(inside, 1.0, 0.0)


SPEC = _clip.spec(
    clip,
    clip_backward,
    formula="min(max(x, min), max)",
    reference=_cut,
    derivative=_inside,
    torch=lambda t, x, **limits: t.clamp(x, **(limits or {"min": -inf})),
    torch_name="torch.clamp",
    cases=unary_cases({"min": -0.5}, {"max": 1.0}, {"min": -1, "max": 0.75}),
    ulps=0,
    reason="comparisons",
    family="elementwise",
)
