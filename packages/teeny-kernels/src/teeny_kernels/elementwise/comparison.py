"""Comparisons of two operands that broadcast, the larger and the smaller of them.

The second operand is an array of the dtype of the first, or a number; integers too. Comparisons
give arrays of bool: with NaN all are false. maximum and minimum are NaN where one operand is; equal
operands share their gradient evenly, as in PyTorch. Kernels: broadcast.py.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.binary_spec import binary_spec
from teeny_kernels.elementwise.operands import Binary
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32, i1

A = TypeVar("A")


@device
def equal_formula(x: Tensor[f32, R], y: Any) -> Tensor[i1, R]:
    return x == y


_equal = Binary("equal", equal_formula, result="i1")


def equal(x: A, y: A | float, *, out: Any = None) -> A:
    """X == y: an array of bool."""
    found: A = _equal(x, y, out=out)
    return found


@device
def greater_formula(x: Tensor[f32, R], y: Any) -> Tensor[i1, R]:
    return x > y


_greater = Binary("greater", greater_formula, result="i1")


def greater(x: A, y: A | float, *, out: Any = None) -> A:
    """X > y: an array of bool."""
    found: A = _greater(x, y, out=out)
    return found


@device
def greater_equal_formula(x: Tensor[f32, R], y: Any) -> Tensor[i1, R]:
    return x >= y


_greater_equal = Binary("greater_equal", greater_equal_formula, result="i1")


def greater_equal(x: A, y: A | float, *, out: Any = None) -> A:
    """X >= y: an array of bool."""
    found: A = _greater_equal(x, y, out=out)
    return found


@device
def less_formula(x: Tensor[f32, R], y: Any) -> Tensor[i1, R]:
    return x < y


_less = Binary("less", less_formula, result="i1")


def less(x: A, y: A | float, *, out: Any = None) -> A:
    """X < y: an array of bool."""
    found: A = _less(x, y, out=out)
    return found


@device
def less_equal_formula(x: Tensor[f32, R], y: Any) -> Tensor[i1, R]:
    return x <= y


_less_equal = Binary("less_equal", less_equal_formula, result="i1")


def less_equal(x: A, y: A | float, *, out: Any = None) -> A:
    """X <= y: an array of bool."""
    found: A = _less_equal(x, y, out=out)
    return found


@device
def maximum_formula(x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return tl.where((x > y) | (x != x), x, y)


@device
def maximum_gradient_x(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return tl.where(x == y, grad * 0.5, tl.where(x < y, 0.0, grad))


@device
def maximum_gradient_y(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return tl.where(x == y, grad * 0.5, tl.where(x > y, 0.0, grad))


_maximum = Binary("maximum", maximum_formula, (maximum_gradient_x, maximum_gradient_y))


def maximum(x: A, y: A | float, *, out: A | None = None) -> A:
    """The larger of x and y, NaN where one is NaN."""
    found: A = _maximum(x, y, out=out)
    return found


def maximum_backward(grad: A, x: A, y: A | float) -> tuple[A, A | None]:
    """`grad` for the larger operand, half of it for both where they are equal."""
    return _maximum.backward(grad, x, y)


@device
def minimum_formula(x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return tl.where((x < y) | (x != x), x, y)


@device
def minimum_gradient_x(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return tl.where(x == y, grad * 0.5, tl.where(x > y, 0.0, grad))


@device
def minimum_gradient_y(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return tl.where(x == y, grad * 0.5, tl.where(x < y, 0.0, grad))


_minimum = Binary("minimum", minimum_formula, (minimum_gradient_x, minimum_gradient_y))


def minimum(x: A, y: A | float, *, out: A | None = None) -> A:
    """The smaller of x and y, NaN where one is NaN."""
    found: A = _minimum(x, y, out=out)
    return found


def minimum_backward(grad: A, x: A, y: A | float) -> tuple[A, A | None]:
    """`grad` for the smaller operand, half of it for both where they are equal."""
    return _minimum.backward(grad, x, y)


SPECS = (
    binary_spec(
        _equal,
        equal,
        formula="x == y",
        reference=lambda x, y: x == y,
        torch=lambda t, x, y: t.eq(x, y),
        torch_name="torch.eq",
        values=("ties", "ties"),
        integers=True,
    ),
    binary_spec(
        _greater,
        greater,
        formula="x > y",
        reference=lambda x, y: x > y,
        torch=lambda t, x, y: t.gt(x, y),
        torch_name="torch.gt",
        values=("ties", "ties"),
        integers=True,
    ),
    binary_spec(
        _greater_equal,
        greater_equal,
        formula="x >= y",
        reference=lambda x, y: x >= y,
        torch=lambda t, x, y: t.ge(x, y),
        torch_name="torch.ge",
        values=("ties", "ties"),
        integers=True,
    ),
    binary_spec(
        _less,
        less,
        formula="x < y",
        reference=lambda x, y: x < y,
        torch=lambda t, x, y: t.lt(x, y),
        torch_name="torch.lt",
        values=("ties", "ties"),
        integers=True,
    ),
    binary_spec(
        _less_equal,
        less_equal,
        formula="x <= y",
        reference=lambda x, y: x <= y,
        torch=lambda t, x, y: t.le(x, y),
        torch_name="torch.le",
        values=("ties", "ties"),
        integers=True,
    ),
    binary_spec(
        _maximum,
        maximum,
        maximum_backward,
        formula="max(x, y)",
        reference=lambda x, y: np.maximum(x, y),
        gradients=(
            lambda g, x, y: np.where(x == y, g / 2, np.where(x < y, 0.0, g)),
            lambda g, x, y: np.where(x == y, g / 2, np.where(x > y, 0.0, g)),
        ),
        torch=lambda t, x, y: t.maximum(x, t.as_tensor(y, dtype=x.dtype)),
        torch_name="torch.maximum",
        integers=True,
    ),
    binary_spec(
        _minimum,
        minimum,
        minimum_backward,
        formula="min(x, y)",
        reference=lambda x, y: np.minimum(x, y),
        gradients=(
            lambda g, x, y: np.where(x == y, g / 2, np.where(x > y, 0.0, g)),
            lambda g, x, y: np.where(x == y, g / 2, np.where(x < y, 0.0, g)),
        ),
        torch=lambda t, x, y: t.minimum(x, t.as_tensor(y, dtype=x.dtype)),
        torch_name="torch.minimum",
        integers=True,
    ),
)
