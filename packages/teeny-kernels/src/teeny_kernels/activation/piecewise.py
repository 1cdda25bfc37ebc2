"""Activations of straight pieces: relu and its relatives, and those that cut or shrink.

NaN stays NaN in every one. Derivatives where two pieces meet, and at NaN, are PyTorch's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.operation import Pointwise, unary_cases
from teeny_kernels.numerics import R
from teeny_kernels.options import require
from teeny_macros import device
from teeny_triton import Tensor, f32

if TYPE_CHECKING:
    from teeny_kernels.options import NotNegative

A = TypeVar("A")


@device
def relu_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x <= 0.0, 0.0, x)


@device
def relu_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x <= 0.0, 0.0, grad)


_relu = Pointwise("relu", relu_formula, relu_gradient)


def relu(x: A, *, out: A | None = None) -> A:
    """max(x, 0) of each element."""
    return _relu(x, out=out)


def relu_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` where x > 0, else 0."""
    return _relu.backward(grad, x, out=out)


@device
def relu6_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x <= 0.0, 0.0, tl.where(x >= 6.0, 6.0, x))


@device
def relu6_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where((x > 0.0) & (x < 6.0), grad, 0.0)


_relu6 = Pointwise("relu6", relu6_formula, relu6_gradient)


def relu6(x: A, *, out: A | None = None) -> A:
    """min(max(x, 0), 6) of each element."""
    return _relu6(x, out=out)


def relu6_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` where 0 < x < 6, else 0."""
    return _relu6.backward(grad, x, out=out)


@device
def leaky_relu_formula(x: Tensor[f32, R], slope: f32) -> Tensor[f32, R]:
    return tl.where(x > 0.0, x, x * slope)


@device
def leaky_relu_gradient(grad: Tensor[f32, R], x: Tensor[f32, R], slope: f32) -> Tensor[f32, R]:
    return tl.where(x > 0.0, grad, grad * slope)


_leaky_relu = Pointwise("leaky_relu", leaky_relu_formula, leaky_relu_gradient, scalars=1)


def leaky_relu(x: A, negative_slope: float = 0.01, *, out: A | None = None) -> A:
    """X where x > 0, else `negative_slope` x."""
    return _leaky_relu(x, negative_slope, out=out)


def leaky_relu_backward(grad: A, x: A, negative_slope: float = 0.01, *, out: A | None = None) -> A:
    """`grad` where x > 0, else `negative_slope` `grad`."""
    return _leaky_relu.backward(grad, x, negative_slope, out=out)


@device
def threshold_formula(x: Tensor[f32, R], limit: f32, value: f32) -> Tensor[f32, R]:
    return tl.where(x <= limit, value, x)


@device
def threshold_gradient(
    grad: Tensor[f32, R], x: Tensor[f32, R], limit: f32, value: f32
) -> Tensor[f32, R]:
    return tl.where(x <= limit, 0.0, grad)


_threshold = Pointwise("threshold", threshold_formula, threshold_gradient, scalars=2)


def threshold(x: A, threshold: float, value: float, *, out: A | None = None) -> A:
    """X where x > `threshold`, else `value`."""
    return _threshold(x, threshold, value, out=out)


def threshold_backward(
    grad: A, x: A, threshold: float, value: float = 0.0, *, out: A | None = None
) -> A:
    """`grad` where x > `threshold`, else 0."""
    return _threshold.backward(grad, x, threshold, value, out=out)


_thresholded_relu = Pointwise("thresholded_relu", threshold_formula, threshold_gradient, scalars=2)


def thresholded_relu(x: A, alpha: float = 1.0, *, out: A | None = None) -> A:
    """X where x > `alpha`, else 0 (ONNX's ThresholdedRelu)."""
    return _thresholded_relu(x, alpha, 0.0, out=out)


def thresholded_relu_backward(grad: A, x: A, alpha: float = 1.0, *, out: A | None = None) -> A:
    """`grad` where x > `alpha`, else 0."""
    return _thresholded_relu.backward(grad, x, alpha, 0.0, out=out)


@device
def hardtanh_formula(x: Tensor[f32, R], low: f32, high: f32) -> Tensor[f32, R]:
    return tl.where(x < low, low, tl.where(x > high, high, x))


@device
def hardtanh_gradient(
    grad: Tensor[f32, R], x: Tensor[f32, R], low: f32, high: f32
) -> Tensor[f32, R]:
    return tl.where((x > low) & (x < high), grad, 0.0)


_hardtanh = Pointwise("hardtanh", hardtanh_formula, hardtanh_gradient, scalars=2)


def hardtanh(x: A, min_val: float = -1.0, max_val: float = 1.0, *, out: A | None = None) -> A:
    """X cut to `min_val` <= x <= `max_val`."""
    _require_order("hardtanh", min_val, max_val)
    return _hardtanh(x, min_val, max_val, out=out)


def hardtanh_backward(
    grad: A, x: A, min_val: float = -1.0, max_val: float = 1.0, *, out: A | None = None
) -> A:
    """`grad` where `min_val` < x < `max_val`, else 0."""
    _require_order("hardtanh_backward", min_val, max_val)
    return _hardtanh.backward(grad, x, min_val, max_val, out=out)


def _require_order(operation: str, least: float, most: float) -> None:
    require(operation, "min_val", least, least <= most, f"at most `max_val`, {most!r}")


@device
def hardsigmoid_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    y = x + 3.0
    return tl.where(y < 0.0, 0.0, tl.where(y > 6.0, 6.0, y)) / 6.0


@device
def hardsigmoid_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where((x > -3.0) & (x < 3.0), grad / 6.0, 0.0)


_hardsigmoid = Pointwise("hardsigmoid", hardsigmoid_formula, hardsigmoid_gradient)


def hardsigmoid(x: A, *, out: A | None = None) -> A:
    """min(max(x + 3, 0), 6) / 6."""
    return _hardsigmoid(x, out=out)


def hardsigmoid_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` / 6 where -3 < x < 3, else 0."""
    return _hardsigmoid.backward(grad, x, out=out)


@device
def hardswish_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return x * hardsigmoid_formula(x)


@device
def hardswish_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    inner = grad * (x / 3.0 + 0.5)
    return tl.where(x <= -3.0, 0.0, tl.where(x >= 3.0, grad, inner))


_hardswish = Pointwise("hardswish", hardswish_formula, hardswish_gradient)


def hardswish(x: A, *, out: A | None = None) -> A:
    """X min(max(x + 3, 0), 6) / 6."""
    return _hardswish(x, out=out)


def hardswish_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` (x / 3 + 1 / 2) where -3 < x < 3; 0 below, `grad` above."""
    return _hardswish.backward(grad, x, out=out)


@device
def hardshrink_formula(x: Tensor[f32, R], lambd: f32) -> Tensor[f32, R]:
    return tl.where((x >= -lambd) & (x <= lambd), 0.0, x)


@device
def hardshrink_gradient(grad: Tensor[f32, R], x: Tensor[f32, R], lambd: f32) -> Tensor[f32, R]:
    return tl.where((x > lambd) | (x < -lambd), grad, 0.0)


_hardshrink = Pointwise("hardshrink", hardshrink_formula, hardshrink_gradient, scalars=1)


def hardshrink(x: A, lambd: float = 0.5, *, out: A | None = None) -> A:
    """X where |x| > `lambd`, else 0."""
    return _hardshrink(x, lambd, out=out)


def hardshrink_backward(grad: A, x: A, lambd: float = 0.5, *, out: A | None = None) -> A:
    """`grad` where |x| > `lambd`, else 0."""
    return _hardshrink.backward(grad, x, lambd, out=out)


@device
def shrink_formula(x: Tensor[f32, R], lambd: f32, bias: f32) -> Tensor[f32, R]:
    inside = tl.where(x != x, x, 0.0)
    return tl.where(x > lambd, x - bias, tl.where(x < -lambd, x + bias, inside))


@device
def shrink_gradient(
    grad: Tensor[f32, R], x: Tensor[f32, R], lambd: f32, bias: f32
) -> Tensor[f32, R]:
    return tl.where((x > lambd) | (x < -lambd), grad, 0.0)


_softshrink = Pointwise("softshrink", shrink_formula, shrink_gradient, scalars=2)


def softshrink(x: A, lambd: NotNegative = 0.5, *, out: A | None = None) -> A:
    """X - `lambd` where x > `lambd`, x + `lambd` where x < -`lambd`, else 0."""
    return _softshrink(x, lambd, lambd, out=out)


def softshrink_backward(grad: A, x: A, lambd: NotNegative = 0.5, *, out: A | None = None) -> A:
    """`grad` where |x| > `lambd`, else 0."""
    return _softshrink.backward(grad, x, lambd, lambd, out=out)


_shrink = Pointwise("shrink", shrink_formula, shrink_gradient, scalars=2)


def shrink(x: A, lambd: float = 0.5, bias: float = 0.0, *, out: A | None = None) -> A:
    """X - `bias` where x > `lambd`, x + `bias` where x < -`lambd`, else 0 (ONNX's Shrink)."""
    return _shrink(x, lambd, bias, out=out)


def shrink_backward(
    grad: A, x: A, lambd: float = 0.5, bias: float = 0.0, *, out: A | None = None
) -> A:
    """`grad` where |x| > `lambd`, else 0."""
    return _shrink.backward(grad, x, lambd, bias, out=out)


def _cut(x: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.clip(x, low, high)


SPECS = (
    _relu.spec(
        relu,
        relu_backward,
        formula="max(x, 0)",
        reference=lambda x: np.where(x <= 0, 0.0, x),
        derivative=lambda x: np.where(x <= 0, 0.0, 1.0),
        torch=lambda t, x: t.nn.functional.relu(x),
        torch_name="torch.nn.functional.relu",
        ulps=0,
        reason="one comparison",
    ),
    _relu6.spec(
        relu6,
        relu6_backward,
        formula="min(max(x, 0), 6)",
        reference=lambda x: _cut(x, 0.0, 6.0),
        derivative=lambda x: np.where((x > 0) & (x < 6), 1.0, 0.0),
        torch=lambda t, x: t.nn.functional.relu6(x),
        torch_name="torch.nn.functional.relu6",
        ulps=0,
        reason="comparisons",
    ),
    _leaky_relu.spec(
        leaky_relu,
        leaky_relu_backward,
        formula="x if x > 0 else negative_slope x",
        reference=lambda x, negative_slope=0.01: np.where(x > 0, x, x * negative_slope),
        derivative=lambda x, negative_slope=0.01: np.where(x > 0, 1.0, negative_slope),
        torch=lambda t, x, negative_slope=0.01: t.nn.functional.leaky_relu(x, negative_slope),
        torch_name="torch.nn.functional.leaky_relu",
        cases=unary_cases({"negative_slope": 0.25}, {"negative_slope": 0.0}),
        ulps=2,
        reason="the slope in f32, and a product",
    ),
    _threshold.spec(
        threshold,
        threshold_backward,
        formula="x if x > threshold else value",
        reference=lambda x, threshold, value: np.where(x <= threshold, value, x),
        derivative=lambda x, threshold, value: np.where(x <= threshold, 0.0, 1.0),
        torch=lambda t, x, threshold, value: t.nn.functional.threshold(x, threshold, value),
        benchmark={"threshold": 0.1, "value": 20.0},
        torch_name="torch.nn.functional.threshold",
        cases=[
            case._replace(options=case.options or {"threshold": 0.25, "value": -2.0})
            for case in unary_cases({"threshold": -1.0, "value": 20.0})
        ],
        ulps=0,
        reason="one comparison",
    ),
    _thresholded_relu.spec(
        thresholded_relu,
        thresholded_relu_backward,
        formula="x if x > alpha else 0",
        reference=lambda x, alpha=1.0: np.where(x <= alpha, 0.0, x),
        derivative=lambda x, alpha=1.0: np.where(x <= alpha, 0.0, 1.0),
        torch=lambda t, x, alpha=1.0: t.nn.functional.threshold(x, alpha, 0.0),
        torch_name="torch.nn.functional.threshold",
        source="ONNX, ThresholdedRelu",
        cases=unary_cases({"alpha": 0.5}),
        ulps=0,
        reason="one comparison",
    ),
    _hardtanh.spec(
        hardtanh,
        hardtanh_backward,
        formula="min(max(x, min_val), max_val)",
        reference=lambda x, min_val=-1.0, max_val=1.0: _cut(x, min_val, max_val),
        derivative=lambda x, min_val=-1.0, max_val=1.0: np.where(
            (x > min_val) & (x < max_val), 1.0, 0.0
        ),
        torch=lambda t, x, **options: t.nn.functional.hardtanh(x, **options),
        torch_name="torch.nn.functional.hardtanh",
        cases=unary_cases({"min_val": -0.5, "max_val": 2.0}),
        ulps=0,
        reason="comparisons",
    ),
    _hardsigmoid.spec(
        hardsigmoid,
        hardsigmoid_backward,
        formula="min(max(x + 3, 0), 6) / 6",
        reference=lambda x: _cut(x + 3.0, 0.0, 6.0) / 6.0,
        derivative=lambda x: np.where((x > -3) & (x < 3), 1 / 6, 0.0),
        torch=lambda t, x: t.nn.functional.hardsigmoid(x),
        torch_name="torch.nn.functional.hardsigmoid",
        torch_error=2.0**-24,  # PyTorch's gradient multiplies by 1/6 rounded to f32
        magnitude=lambda x: np.ones_like(x),
        ulps=2,
        reason="a sum of numbers up to 6, over 6",
    ),
    _hardswish.spec(
        hardswish,
        hardswish_backward,
        formula="x min(max(x + 3, 0), 6) / 6",
        reference=lambda x: x * (_cut(x + 3.0, 0.0, 6.0) / 6.0),
        derivative=lambda x: np.where(x <= -3, 0.0, np.where(x >= 3, 1.0, x / 3 + 0.5)),
        torch=lambda t, x: t.nn.functional.hardswish(x),
        torch_name="torch.nn.functional.hardswish",
        magnitude=np.abs,
        ulps=3,
        reason="a sum of numbers up to 6, over 6, and a product",
    ),
    _hardshrink.spec(
        hardshrink,
        hardshrink_backward,
        formula="x if |x| > lambd else 0",
        reference=lambda x, lambd=0.5: np.where(np.abs(x) <= lambd, 0.0, x),
        derivative=lambda x, lambd=0.5: np.where(np.abs(x) > lambd, 1.0, 0.0),
        torch=lambda t, x, lambd=0.5: t.nn.functional.hardshrink(x, lambd),
        torch_name="torch.nn.functional.hardshrink",
        cases=unary_cases({"lambd": 1.25}),
        ulps=0,
        reason="comparisons",
    ),
    _softshrink.spec(
        softshrink,
        softshrink_backward,
        formula="x - lambd if x > lambd, x + lambd if x < -lambd, else 0",
        reference=lambda x, lambd=0.5: _shrunk(x, lambd, lambd),
        derivative=lambda x, lambd=0.5: np.where(np.abs(x) > lambd, 1.0, 0.0),
        torch=lambda t, x, lambd=0.5: t.nn.functional.softshrink(x, lambd),
        torch_name="torch.nn.functional.softshrink",
        cases=unary_cases({"lambd": 1.25}),
        ulps=1,
        reason="one difference",
    ),
    _shrink.spec(
        shrink,
        shrink_backward,
        formula="x - bias if x > lambd, x + bias if x < -lambd, else 0",
        reference=lambda x, lambd=0.5, bias=0.0: _shrunk(x, lambd, bias),
        derivative=lambda x, lambd=0.5, bias=0.0: np.where(np.abs(x) > lambd, 1.0, 0.0),
        torch=None,
        source="ONNX, Shrink",
        cases=unary_cases({"lambd": 1.25, "bias": 0.75}),
        ulps=1,
        reason="one difference",
    ),
)


def _shrunk(x: np.ndarray, lambd: float, bias: float) -> np.ndarray:
    inside = np.where(np.isnan(x), x, 0.0)
    return np.where(x > lambd, x - bias, np.where(x < -lambd, x + bias, inside))
