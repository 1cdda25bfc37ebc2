"""Absolute value, negation, sign, rounding to integers, and whether a number is one.

PyTorch's results: sign(NaN) is 0 and its gradient 0, as are those of ceil and floor; the gradient
of abs at 0 is 0. `abs`, `neg` and `sign` take signed integers too.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.operation import Pointwise, unary_cases
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32, i1

A = TypeVar("A")


@device
def abs_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.abs(x)


@device
def abs_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x > 0.0, grad, tl.where(x < 0.0, -grad, grad * x))


_abs = Pointwise("abs", abs_formula, abs_gradient, integers=True)


def abs(x: A, *, out: A | None = None) -> A:  # noqa: A001
    """|x|."""
    found: A = _abs(x, out=out)
    return found


def abs_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` sign(x), 0 at 0."""
    found: A = _abs.backward(grad, x, out=out)
    return found


@device
def neg_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return -x


@device
def neg_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return -grad


_neg = Pointwise("neg", neg_formula, neg_gradient, integers=True)


def neg(x: A, *, out: A | None = None) -> A:
    """-x."""
    found: A = _neg(x, out=out)
    return found


def neg_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """-`grad`."""
    found: A = _neg.backward(grad, x, out=out)
    return found


@device
def sign_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x > 0, 1, tl.where(x < 0, -1, 0)).to(x.dtype)


@device
def sign_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.zeros_like(grad)


_sign = Pointwise("sign", sign_formula, sign_gradient, integers=True)


def sign(x: A, *, out: A | None = None) -> A:
    """1, 0 or -1, as x is above, at or below 0; 0 for NaN."""
    found: A = _sign(x, out=out)
    return found


def sign_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """Zeros."""
    found: A = _sign.backward(grad, x, out=out)
    return found


@device
def ceil_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    # A GPU's ceil takes a subnormal for 0.
    y = tl.ceil(x)
    return tl.where((x > 0.0) & (y < 1.0), 1.0, y)


@device
def ceil_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.zeros_like(grad)


_ceil = Pointwise("ceil", ceil_formula, ceil_gradient)


def ceil(x: A, *, out: A | None = None) -> A:
    """The least integer that is not below x."""
    found: A = _ceil(x, out=out)
    return found


def ceil_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """Zeros."""
    found: A = _ceil.backward(grad, x, out=out)
    return found


@device
def floor_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    # A GPU's floor takes a subnormal for 0.
    y = tl.floor(x)
    return tl.where((x < 0.0) & (y > -1.0), -1.0, y)


@device
def floor_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.zeros_like(grad)


_floor = Pointwise("floor", floor_formula, floor_gradient)


def floor(x: A, *, out: A | None = None) -> A:
    """The largest integer that is not above x."""
    found: A = _floor(x, out=out)
    return found


def floor_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """Zeros."""
    found: A = _floor.backward(grad, x, out=out)
    return found


@device
def isnan_formula(x: Tensor[f32, R]) -> Tensor[i1, R]:
    return x != x


_isnan = Pointwise("isnan", isnan_formula, None, result="i1")


def isnan(x: A, *, out: Any = None) -> A:
    """Whether an element is NaN: an array of bool."""
    found: A = _isnan(x, out=out)
    return found


SPECS = (
    _abs.spec(
        abs,
        abs_backward,
        formula="|x|",
        reference=lambda x: np.abs(x),
        derivative=lambda x: np.sign(x),
        torch=lambda t, x: t.abs(x),
        torch_name="torch.abs",
        ulps=0,
        reason="exact",
        family="elementwise",
        cases=unary_cases(values=("integers",)),
    ),
    _neg.spec(
        neg,
        neg_backward,
        formula="-x",
        reference=lambda x: -x,
        derivative=lambda x: -np.ones_like(x),
        torch=lambda t, x: t.neg(x),
        torch_name="torch.neg",
        ulps=0,
        reason="exact",
        family="elementwise",
        cases=unary_cases(values=("integers",)),
    ),
    _sign.spec(
        sign,
        sign_backward,
        formula="1, 0 or -1, as x is above, at or below 0; 0 for NaN",
        reference=lambda x: np.where(np.isnan(x), 0.0, np.sign(x)),
        derivative=lambda x: np.zeros_like(x),
        torch=lambda t, x: t.sign(x),
        torch_name="torch.sign",
        ulps=0,
        reason="exact",
        family="elementwise",
        cases=unary_cases(values=("integers",)),
    ),
    _ceil.spec(
        ceil,
        ceil_backward,
        formula="The least integer that is not below x",
        reference=lambda x: np.ceil(x),
        derivative=lambda x: np.zeros_like(x),
        torch=lambda t, x: t.ceil(x),
        torch_name="torch.ceil",
        ulps=0,
        reason="exact",
        family="elementwise",
    ),
    _floor.spec(
        floor,
        floor_backward,
        formula="The largest integer that is not above x",
        reference=lambda x: np.floor(x),
        derivative=lambda x: np.zeros_like(x),
        torch=lambda t, x: t.floor(x),
        torch_name="torch.floor",
        ulps=0,
        reason="exact",
        family="elementwise",
    ),
    _isnan.spec(
        isnan,
        None,
        formula="x != x",
        reference=np.isnan,
        torch=lambda t, x: t.isnan(x),
        torch_name="torch.isnan",
        ulps=0,
        reason="a comparison",
        family="elementwise",
    ),
)
