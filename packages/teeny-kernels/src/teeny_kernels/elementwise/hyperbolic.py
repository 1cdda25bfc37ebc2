"""Hyperbolic sine and cosine, and the inverses of all three hyperbolic functions.

tanh stands with the activations.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.narrow import (
    LOG_2,
    short_acosh,
    short_asinh,
    short_cosh,
    short_sinh,
    signed_as,
)
from teeny_kernels.elementwise.operation import Pointwise, unary_cases
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")


@device
def sinh_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.math.sinh(x)


@device
def sinh_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * tl.math.cosh(x)


_sinh = Pointwise("sinh", sinh_formula, sinh_gradient, narrow=short_sinh, heavy=True)


def sinh(x: A, *, out: A | None = None) -> A:
    """(e^x - e^-x) / 2."""
    found: A = _sinh(x, out=out)
    return found


def sinh_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` cosh(x)."""
    found: A = _sinh.backward(grad, x, out=out)
    return found


@device
def cosh_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.math.cosh(x)


@device
def cosh_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * tl.math.sinh(x)


_cosh = Pointwise("cosh", cosh_formula, cosh_gradient, narrow=short_cosh)


def cosh(x: A, *, out: A | None = None) -> A:
    """(e^x + e^-x) / 2."""
    found: A = _cosh(x, out=out)
    return found


def cosh_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` sinh(x)."""
    found: A = _cosh.backward(grad, x, out=out)
    return found


@device
def asinh_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    if x.dtype == f32:
        # log1p of |x| + sqrt(x^2 + 1) - 1, without the difference; beyond 1e15 log(2 |x|).
        size = tl.abs(x)
        square = x * x
        near = size + square / (1.0 + tl.sqrt_rn(square + 1.0))
        large = size > 1e15
        found = tl.math.log1p(tl.where(large, size, near)) + tl.where(large, LOG_2, 0.0)
        # The logarithm of a GPU takes subnormals for 0; up to here asinh(x) is x.
        return signed_as(tl.where(size < 1e-4, size, found), x)
    return tl.math.asinh(x)


@device
def asinh_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * tl.rsqrt(x * x + 1.0)


_asinh = Pointwise("asinh", asinh_formula, asinh_gradient, narrow=short_asinh, heavy=True)


def asinh(x: A, *, out: A | None = None) -> A:
    """The number whose hyperbolic sine is x."""
    found: A = _asinh(x, out=out)
    return found


def asinh_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` / sqrt(x^2 + 1)."""
    found: A = _asinh.backward(grad, x, out=out)
    return found


@device
def acosh_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    if x.dtype == f32:
        # log1p of x - 1 + sqrt((x - 1) (x + 1)); beyond 1e15 log(2 x).
        above = x - 1.0
        near = above + tl.sqrt_rn(above * (x + 1.0))
        large = x > 1e15
        found = tl.math.log1p(tl.where(large, x, near)) + tl.where(large, LOG_2, 0.0)
        return tl.where(x < 1.0, float("nan"), found)
    return tl.math.acosh(x)


@device
def acosh_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * tl.rsqrt((x - 1.0) * (x + 1.0))


_acosh = Pointwise("acosh", acosh_formula, acosh_gradient, narrow=short_acosh, heavy=True)


def acosh(x: A, *, out: A | None = None) -> A:
    """The number, not below 0, whose hyperbolic cosine is x; NaN below 1."""
    found: A = _acosh(x, out=out)
    return found


def acosh_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` / sqrt(x^2 - 1)."""
    found: A = _acosh.backward(grad, x, out=out)
    return found


@device
def atanh_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.math.atanh(x)


@device
def atanh_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad / ((1.0 - x) * (1.0 + x))


_atanh = Pointwise("atanh", atanh_formula, atanh_gradient)


def atanh(x: A, *, out: A | None = None) -> A:
    """The number whose hyperbolic tangent is x; NaN outside of [-1, 1]."""
    found: A = _atanh(x, out=out)
    return found


def atanh_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` / (1 - x^2)."""
    found: A = _atanh.backward(grad, x, out=out)
    return found


SPECS = (
    _sinh.spec(
        sinh,
        sinh_backward,
        formula="(e^x - e^-x) / 2",
        reference=lambda x: np.sinh(x),
        derivative=lambda x: np.cosh(x),
        torch=lambda t, x: t.sinh(x),
        torch_name="torch.sinh",
        ulps=6,
        reason="two exponentials",
        family="elementwise",
    ),
    _cosh.spec(
        cosh,
        cosh_backward,
        formula="(e^x + e^-x) / 2",
        reference=lambda x: np.cosh(x),
        derivative=lambda x: np.sinh(x),
        torch=lambda t, x: t.cosh(x),
        torch_name="torch.cosh",
        ulps=6,
        reason="two exponentials",
        family="elementwise",
    ),
    _asinh.spec(
        asinh,
        asinh_backward,
        formula="The number whose hyperbolic sine is x",
        reference=lambda x: np.arcsinh(x),
        derivative=lambda x: 1 / np.sqrt(x * x + 1),
        torch=lambda t, x: t.asinh(x),
        torch_name="torch.asinh",
        ulps=6,
        reason="a logarithm of a sum",
        family="elementwise",
    ),
    _acosh.spec(
        acosh,
        acosh_backward,
        formula="The number, not below 0, whose hyperbolic cosine is x; NaN below 1",
        reference=lambda x: np.arccosh(x),
        derivative=lambda x: 1 / np.sqrt((x - 1) * (x + 1)),
        torch=lambda t, x: t.acosh(x),
        torch_name="torch.acosh",
        ulps=6,
        reason="a logarithm of a sum",
        family="elementwise",
        cases=unary_cases(within="above one", fillings=("special", "ties", "shifted", "above one")),
        torch_error=1e-13,
    ),
    _atanh.spec(
        atanh,
        atanh_backward,
        formula="The number whose hyperbolic tangent is x; NaN outside of [-1, 1]",
        reference=lambda x: np.arctanh(x),
        derivative=lambda x: 1 / ((1 - x) * (1 + x)),
        torch=lambda t, x: t.atanh(x),
        torch_name="torch.atanh",
        ulps=6,
        reason="a logarithm of a quotient",
        family="elementwise",
        cases=unary_cases(within="unit", fillings=("special", "ties", "unit")),
        torch_error=1e-13,
    ),
)
