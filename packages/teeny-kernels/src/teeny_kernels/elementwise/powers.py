"""Exponential, logarithm, square root, reciprocal and the error function.

Outside of where they are defined, results are NaN or infinite as in PyTorch.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.narrow import short_sqrt
from teeny_kernels.elementwise.operation import Pointwise, unary_cases
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")

TWO_OVER_ROOT_PI = 1.1283791670955125739


@device
def exp_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.exp(x)


@device
def exp_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * tl.exp(x)


_exp = Pointwise("exp", exp_formula, exp_gradient)


def exp(x: A, *, out: A | None = None) -> A:
    """e^x."""
    found: A = _exp(x, out=out)
    return found


def exp_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` e^x."""
    found: A = _exp.backward(grad, x, out=out)
    return found


@device
def log_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.log(x)


@device
def log_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad / x


_log = Pointwise("log", log_formula, log_gradient)


def log(x: A, *, out: A | None = None) -> A:
    """The natural logarithm."""
    found: A = _log(x, out=out)
    return found


def log_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` / x."""
    found: A = _log.backward(grad, x, out=out)
    return found


@device
def sqrt_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.sqrt_rn(x)


@device
def sqrt_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad / (2.0 * tl.sqrt_rn(x))


_sqrt = Pointwise("sqrt", sqrt_formula, sqrt_gradient, narrow=short_sqrt, heavy=True)


def sqrt(x: A, *, out: A | None = None) -> A:
    """The square root."""
    found: A = _sqrt(x, out=out)
    return found


def sqrt_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` / (2 sqrt(x))."""
    found: A = _sqrt.backward(grad, x, out=out)
    return found


@device
def reciprocal_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return 1.0 / x


@device
def reciprocal_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return -grad / (x * x)


_reciprocal = Pointwise("reciprocal", reciprocal_formula, reciprocal_gradient)


def reciprocal(x: A, *, out: A | None = None) -> A:
    """1 / x."""
    found: A = _reciprocal(x, out=out)
    return found


def reciprocal_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """-`grad` / x^2."""
    found: A = _reciprocal.backward(grad, x, out=out)
    return found


@device
def erf_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.erf(x)


@device
def erf_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * (TWO_OVER_ROOT_PI * tl.exp(-x * x))


_erf = Pointwise("erf", erf_formula, erf_gradient)


def erf(x: A, *, out: A | None = None) -> A:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
    found: A = _erf(x, out=out)
    return found


def erf_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """2 / sqrt(pi) `grad` exp(-x^2)."""
    found: A = _erf.backward(grad, x, out=out)
    return found


def _error(x: np.ndarray) -> np.ndarray:
    from math import erf

    return np.vectorize(erf, otypes=[np.float64])(x)


SPECS = (
    _exp.spec(
        exp,
        exp_backward,
        formula="e^x",
        reference=lambda x: np.exp(x),
        derivative=lambda x: np.exp(x),
        torch=lambda t, x: t.exp(x),
        torch_name="torch.exp",
        ulps=4,
        reason="exp of up to 2 ulp, and its rounded argument",
        family="elementwise",
        magnitude=lambda x: (1 + np.abs(x)) * np.exp(x),
        slope_magnitude=lambda x: (1 + np.abs(x)) * np.exp(x),
    ),
    _log.spec(
        log,
        log_backward,
        formula="The natural logarithm",
        reference=lambda x: np.log(x),
        derivative=lambda x: 1 / x,
        torch=lambda t, x: t.log(x),
        torch_name="torch.log",
        ulps=4,
        reason="the logarithm of the machine",
        family="elementwise",
        cases=unary_cases(within="positive", fillings=("special", "ties", "shifted", "positive")),
    ),
    _sqrt.spec(
        sqrt,
        sqrt_backward,
        formula="The square root",
        reference=lambda x: np.sqrt(x),
        derivative=lambda x: 1 / (2 * np.sqrt(x)),
        torch=lambda t, x: t.sqrt(x),
        torch_name="torch.sqrt",
        ulps=1,
        reason="correctly rounded",
        family="elementwise",
        cases=unary_cases(within="positive", fillings=("special", "ties", "shifted", "positive")),
    ),
    _reciprocal.spec(
        reciprocal,
        reciprocal_backward,
        formula="1 / x",
        reference=lambda x: 1 / x,
        derivative=lambda x: -1 / (x * x),
        torch=lambda t, x: t.reciprocal(x),
        torch_name="torch.reciprocal",
        ulps=2,
        reason="a quotient",
        family="elementwise",
        cases=unary_cases(within="positive", fillings=("special", "ties", "shifted", "positive")),
    ),
    _erf.spec(
        erf,
        erf_backward,
        formula="The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x",
        reference=lambda x: _error(x),
        derivative=lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x),
        torch=lambda t, x: t.erf(x),
        torch_name="torch.erf",
        ulps=4,
        reason="a polynomial",
        family="elementwise",
    ),
)
