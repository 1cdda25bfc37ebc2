"""Sums, differences, products, quotients, powers and remainders of two operands that broadcast.

The second operand is an array of the dtype of the first, or a number. `X_backward` gives the
gradients by both, each of the shape of its operand (None for a number). add, sub and mul take
integers too. Kernels: broadcast.py.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.binary_spec import binary_spec
from teeny_kernels.elementwise.narrow import short_pow
from teeny_kernels.elementwise.operands import Binary
from teeny_kernels.elementwise.power_formula import full_power
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")

LEAST_NORMAL = 1.1754943508222875e-38  # 2^-126
SCALE = 16777216.0  # 2^24
LOG_SCALE = 16.635532333438686


@device
def to_shape(y: Any, x: Tensor[f32, R]) -> Tensor[f32, R]:
    """`y`, an array or a number, as an array."""
    return x * 0.0 + y if x.shape != y.shape else y


@device
def whole(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    """trunc(x / y), for a quotient that rounding takes to an integer too."""
    rest = tl.math.fmod(x, y)
    return tl.where(rest == rest, tl.math.rint((x - rest) / y), tl.math.trunc(x / y))


@device
def add_formula(x: Tensor[f32, R], y: Any, alpha: f32) -> Tensor[f32, R]:
    return x + y * alpha


@device
def add_gradient_x(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any, alpha: f32) -> Tensor[f32, R]:
    return grad


@device
def add_gradient_y(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any, alpha: f32) -> Tensor[f32, R]:
    return grad * alpha


_add = Binary("add", add_formula, (add_gradient_x, add_gradient_y), scalars=1, passed="xy")


def add(x: A, y: A | float, alpha: float = 1, *, out: A | None = None) -> A:
    """X + `alpha` y."""
    found: A = _add(x, y, alpha, out=out)
    return found


def add_backward(grad: A, x: A, y: A | float, alpha: float = 1) -> tuple[A, A | None]:
    """`grad`, and `alpha` `grad`; `grad` itself, no copy, where it is the gradient as it is."""
    return _add.backward(grad, x, y, alpha)


@device
def sub_formula(x: Tensor[f32, R], y: Any, alpha: f32) -> Tensor[f32, R]:
    return x - y * alpha


@device
def sub_gradient_x(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any, alpha: f32) -> Tensor[f32, R]:
    return grad


@device
def sub_gradient_y(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any, alpha: f32) -> Tensor[f32, R]:
    return -grad * alpha


_sub = Binary("sub", sub_formula, (sub_gradient_x, sub_gradient_y), scalars=1, passed="x")


def sub(x: A, y: A | float, alpha: float = 1, *, out: A | None = None) -> A:
    """X - `alpha` y."""
    found: A = _sub(x, y, alpha, out=out)
    return found


def sub_backward(grad: A, x: A, y: A | float, alpha: float = 1) -> tuple[A, A | None]:
    """`grad`, and -`alpha` `grad`; `grad` itself, no copy, where it is the gradient as it is."""
    return _sub.backward(grad, x, y, alpha)


@device
def mul_formula(x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return x * y


@device
def mul_gradient_x(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return grad * y


@device
def mul_gradient_y(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return grad * x


_mul = Binary("mul", mul_formula, (mul_gradient_x, mul_gradient_y))


def mul(x: A, y: A | float, *, out: A | None = None) -> A:
    """X y."""
    found: A = _mul(x, y, out=out)
    return found


def mul_backward(grad: A, x: A, y: A | float) -> tuple[A, A | None]:
    """`grad` y, and `grad` x."""
    return _mul.backward(grad, x, y)


@device
def div_formula(x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return x / y


@device
def div_gradient_x(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return grad / y


@device
def div_gradient_y(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return -grad * (x / y / y)


_div = Binary("div", div_formula, (div_gradient_x, div_gradient_y), integers=False)


def div(x: A, y: A | float, *, out: A | None = None) -> A:
    """X / y."""
    found: A = _div(x, y, out=out)
    return found


def div_backward(grad: A, x: A, y: A | float) -> tuple[A, A | None]:
    """`grad` / y, and -`grad` x / y^2."""
    return _div.backward(grad, x, y)


@device
def power(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    """x^y; a GPU's own function takes a subnormal x of f32 for another number, and is long."""
    if x.dtype == f32:
        return full_power(x, y)
    return tl.math.pow(x, y)


@device
def logarithm(x: Tensor[f32, R]) -> Tensor[f32, R]:
    """log(x), of subnormals too."""
    if x.dtype == f32:
        small = x < LEAST_NORMAL
        return tl.log(tl.where(small, x * SCALE, x)) - tl.where(small, LOG_SCALE, 0.0)
    return tl.log(x)


@device
def pow_formula(x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return power(x, to_shape(y, x))


@device
def pow_gradient_x(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return tl.where(y == 0.0, 0.0, grad * (y * power(x, to_shape(y - 1.0, x))))


@device
def pow_gradient_y(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    slope = grad * power(x, to_shape(y, x)) * logarithm(x)
    return tl.where((x == 0.0) & (y >= 0.0), 0.0, slope)


_pow = Binary(
    "pow", pow_formula, (pow_gradient_x, pow_gradient_y), integers=False, narrow=short_pow
)


def pow(x: A, y: A | float, *, out: A | None = None) -> A:  # noqa: A001
    """X to the power of y."""
    found: A = _pow(x, y, out=out)
    return found


def pow_backward(grad: A, x: A, y: A | float) -> tuple[A, A | None]:
    """`grad` y x^(y - 1), and `grad` x^y log(x)."""
    return _pow.backward(grad, x, y)


@device
def fmod_formula(x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return tl.math.fmod(x, to_shape(y, x))


@device
def fmod_gradient_x(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return grad


@device
def fmod_gradient_y(grad: Tensor[f32, R], x: Tensor[f32, R], y: Any) -> Tensor[f32, R]:
    return -grad * whole(x, to_shape(y, x))


_fmod = Binary("fmod", fmod_formula, (fmod_gradient_x, fmod_gradient_y), integers=False, passed="x")


def fmod(x: A, y: A | float, *, out: A | None = None) -> A:
    """X less y as often as it goes into x towards 0; of the sign of x."""
    found: A = _fmod(x, y, out=out)
    return found


def fmod_backward(grad: A, x: A, y: A | float) -> tuple[A, A | None]:
    """`grad` itself, or its sum, and -`grad` trunc(x / y)."""
    return _fmod.backward(grad, x, y)


SPECS = (
    binary_spec(
        _add,
        add,
        add_backward,
        formula="x + alpha y",
        reference=lambda x, y, alpha=1.0: x + alpha * y,
        gradients=(
            lambda g, x, y, alpha=1.0: g,
            lambda g, x, y, alpha=1.0: alpha * g,
        ),
        torch=lambda t, x, y, alpha=1: t.add(x, y, alpha=alpha),
        torch_name="torch.add",
        ulps=1,
        reason="a product and a sum",
        magnitude=lambda x, y, alpha=1.0: np.abs(x) + np.abs(alpha * y),
        options=({"alpha": -2.5},),
        integers=True,
    ),
    binary_spec(
        _sub,
        sub,
        sub_backward,
        formula="x - alpha y",
        reference=lambda x, y, alpha=1.0: x - alpha * y,
        gradients=(
            lambda g, x, y, alpha=1.0: g,
            lambda g, x, y, alpha=1.0: -alpha * g,
        ),
        torch=lambda t, x, y, alpha=1: t.sub(x, y, alpha=alpha),
        torch_name="torch.sub",
        ulps=1,
        reason="a product and a difference",
        magnitude=lambda x, y, alpha=1.0: np.abs(x) + np.abs(alpha * y),
        options=({"alpha": -2.5},),
        integers=True,
    ),
    binary_spec(
        _mul,
        mul,
        mul_backward,
        formula="x y",
        reference=lambda x, y: x * y,
        gradients=(
            lambda g, x, y: g * y,
            lambda g, x, y: g * x,
        ),
        torch=lambda t, x, y: t.mul(x, y),
        torch_name="torch.mul",
        ulps=1,
        reason="a product",
        integers=True,
    ),
    binary_spec(
        _div,
        div,
        div_backward,
        formula="x / y",
        reference=lambda x, y: x / y,
        gradients=(
            lambda g, x, y: g / y,
            lambda g, x, y: -g * (x / y / y),
        ),
        torch=lambda t, x, y: t.div(x, y),
        torch_name="torch.div",
        ulps=2,
        reason="a quotient",
        special="ties",
    ),
    binary_spec(
        _pow,
        pow,
        pow_backward,
        formula="x^y",
        reference=lambda x, y: np.power(x, y),
        gradients=(
            lambda g, x, y: np.where(y == 0, 0.0, g * (y * np.power(x, y - 1))),
            lambda g, x, y: np.where((x == 0) & (y >= 0), 0.0, g * (np.power(x, y) * np.log(x))),
        ),
        torch=lambda t, x, y: t.pow(x, y),
        torch_name="torch.pow",
        ulps=16,
        reason="an exponential of a rounded product of a logarithm",
        gradient_magnitude=(
            lambda g, x, y: np.abs(g * y * np.power(x, y - 1)),
            lambda g, x, y: np.where(
                (x == 0) & (y >= 0), 0.0, np.abs(g * np.power(x, y)) * (1 + np.abs(np.log(x)))
            ),
        ),
        values=("positive", "positive"),
        special="ties",
    ),
    binary_spec(
        _fmod,
        fmod,
        fmod_backward,
        formula="x - y trunc(x / y)",
        reference=lambda x, y: np.fmod(x, y),
        gradients=(
            lambda g, x, y: g,
            lambda g, x, y: -g * np.trunc(x / y),
        ),
        torch=lambda t, x, y: t.fmod(x, y),
        torch_name="torch.fmod",
        ulps=0,
        reason="exact",
        special="ties",
        values=("wide", "positive"),
    ),
)
