"""Sine, cosine, tangent and their inverses.

Angles in radians. Large arguments are reduced exactly.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.narrow import short_atan
from teeny_kernels.elementwise.operation import Pointwise, unary_cases
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")


@device
def sin_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.sin(x)


@device
def sin_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * tl.cos(x)


_sin = Pointwise("sin", sin_formula, sin_gradient)


def sin(x: A, *, out: A | None = None) -> A:
    """The sine."""
    found: A = _sin(x, out=out)
    return found


def sin_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` cos(x)."""
    found: A = _sin.backward(grad, x, out=out)
    return found


@device
def cos_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.cos(x)


@device
def cos_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return -grad * tl.sin(x)


_cos = Pointwise("cos", cos_formula, cos_gradient)


def cos(x: A, *, out: A | None = None) -> A:
    """The cosine."""
    found: A = _cos(x, out=out)
    return found


def cos_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """-`grad` sin(x)."""
    found: A = _cos.backward(grad, x, out=out)
    return found


@device
def tan_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.math.tan(x)


@device
def tan_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * (1.0 + tl.math.tan(x) * tl.math.tan(x))


_tan = Pointwise("tan", tan_formula, tan_gradient)


def tan(x: A, *, out: A | None = None) -> A:
    """The tangent."""
    found: A = _tan(x, out=out)
    return found


def tan_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` (1 + tan(x)^2)."""
    found: A = _tan.backward(grad, x, out=out)
    return found


@device
def asin_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.math.asin(x)


@device
def asin_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad * tl.rsqrt((1.0 - x) * (1.0 + x))


_asin = Pointwise("asin", asin_formula, asin_gradient)


def asin(x: A, *, out: A | None = None) -> A:
    """The angle in [-pi/2, pi/2] whose sine is x; NaN outside of [-1, 1]."""
    found: A = _asin(x, out=out)
    return found


def asin_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` / sqrt(1 - x^2)."""
    found: A = _asin.backward(grad, x, out=out)
    return found


@device
def acos_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.math.acos(x)


@device
def acos_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return -grad * tl.rsqrt((1.0 - x) * (1.0 + x))


_acos = Pointwise("acos", acos_formula, acos_gradient)


def acos(x: A, *, out: A | None = None) -> A:
    """The angle in [0, pi] whose cosine is x; NaN outside of [-1, 1]."""
    found: A = _acos(x, out=out)
    return found


def acos_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """-`grad` / sqrt(1 - x^2)."""
    found: A = _acos.backward(grad, x, out=out)
    return found


@device
def atan_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.math.atan(x)


@device
def atan_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad / (1.0 + x * x)


_atan = Pointwise("atan", atan_formula, atan_gradient, narrow=short_atan, heavy=True)


def atan(x: A, *, out: A | None = None) -> A:
    """The angle in [-pi/2, pi/2] whose tangent is x."""
    found: A = _atan(x, out=out)
    return found


def atan_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad` / (1 + x^2)."""
    found: A = _atan.backward(grad, x, out=out)
    return found


SPECS = (
    _sin.spec(
        sin,
        sin_backward,
        formula="The sine",
        reference=lambda x: np.sin(x),
        derivative=lambda x: np.cos(x),
        torch=lambda t, x: t.sin(x),
        torch_name="torch.sin",
        ulps=4,
        reason="a reduced argument and a polynomial",
        family="elementwise",
    ),
    _cos.spec(
        cos,
        cos_backward,
        formula="The cosine",
        reference=lambda x: np.cos(x),
        derivative=lambda x: -np.sin(x),
        torch=lambda t, x: t.cos(x),
        torch_name="torch.cos",
        ulps=4,
        reason="a reduced argument and a polynomial",
        family="elementwise",
    ),
    _tan.spec(
        tan,
        tan_backward,
        formula="The tangent",
        reference=lambda x: np.tan(x),
        derivative=lambda x: 1 + np.tan(x) ** 2,
        torch=lambda t, x: t.tan(x),
        torch_name="torch.tan",
        ulps=4,
        reason="a reduced argument and a polynomial",
        family="elementwise",
        cases=unary_cases(within="unit", fillings=("special", "ties", "unit")),
    ),
    _asin.spec(
        asin,
        asin_backward,
        formula="The angle in [-pi/2, pi/2] whose sine is x; NaN outside of [-1, 1]",
        reference=lambda x: np.arcsin(x),
        derivative=lambda x: 1 / np.sqrt((1 - x) * (1 + x)),
        torch=lambda t, x: t.asin(x),
        torch_name="torch.asin",
        ulps=4,
        reason="a polynomial",
        family="elementwise",
        cases=unary_cases(within="unit", fillings=("special", "ties", "unit")),
        torch_error=1e-13,
    ),
    _acos.spec(
        acos,
        acos_backward,
        formula="The angle in [0, pi] whose cosine is x; NaN outside of [-1, 1]",
        reference=lambda x: np.arccos(x),
        derivative=lambda x: -1 / np.sqrt((1 - x) * (1 + x)),
        torch=lambda t, x: t.acos(x),
        torch_name="torch.acos",
        ulps=4,
        reason="a polynomial",
        family="elementwise",
        cases=unary_cases(within="unit", fillings=("special", "ties", "unit")),
        torch_error=1e-13,
    ),
    _atan.spec(
        atan,
        atan_backward,
        formula="The angle in [-pi/2, pi/2] whose tangent is x",
        reference=lambda x: np.arctan(x),
        derivative=lambda x: 1 / (1 + x * x),
        torch=lambda t, x: t.atan(x),
        torch_name="torch.atan",
        ulps=4,
        reason="a polynomial",
        family="elementwise",
    ),
)
