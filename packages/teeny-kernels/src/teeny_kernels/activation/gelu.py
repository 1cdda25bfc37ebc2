"""GELU, x times the normal distribution function, exact or by tanh; forward and backward.

    gelu(x) = x / 2 (1 + erf(x / sqrt(2)))
    gelu(x, "tanh") = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))

Hendrycks, Gimpel 2016, "Gaussian error linear units". 1 + tanh(u) is 2 sigmoid(2 u), which takes
one exponential. For f16 and bf16 polynomials stand for erf. -inf gives NaN, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import dtype_of
from teeny_kernels.codes import E1204
from teeny_kernels.elementwise.operation import Pointwise, unary_cases
from teeny_kernels.numerics import R
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")

SQRT_HALF = 0.70710678118654752440
INVERSE_SQRT_TAU = 0.39894228040143267794  # 1 / sqrt(2 pi)
SQRT_2_OVER_PI = 0.79788456080286535588
CUBIC = 0.044715


@device
def gelu_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return x * 0.5 * (1.0 + tl.erf(x * SQRT_HALF))


@device
def gelu_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    share = 0.5 * (1.0 + tl.erf(x * SQRT_HALF))
    density = INVERSE_SQRT_TAU * tl.exp(-0.5 * x * x)
    return grad * (share + x * density)


@device
def gelu_tanh_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    inner = 2.0 * SQRT_2_OVER_PI * (x + CUBIC * x * x * x)
    return x * tl.sigmoid(inner)


@device
def gelu_tanh_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    share = tl.sigmoid(2.0 * SQRT_2_OVER_PI * (x + CUBIC * x * x * x))
    slope = 2.0 * SQRT_2_OVER_PI * (1.0 + 3.0 * CUBIC * x * x)
    return grad * (share + x * share * (1.0 - share) * slope)


@device
def short_erf(x: Tensor[f32, R]) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    """erf(x / sqrt(2)) to 1.5e-7, and exp(-x^2 / 2), on which it rests.

    Abramowitz, Stegun 1964, 7.1.26: one reciprocal, one exponential, five products; the function
    of the library costs more than reading x.
    """
    z = tl.abs(x) * SQRT_HALF
    t = 1.0 / (1.0 + 0.3275911 * z)
    falling = tl.exp(-z * z)
    poly = t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
    poly = t * (0.254829592 + t * (-0.284496736 + poly))
    y = 1.0 - poly * falling
    return tl.where(x < 0.0, -y, y), falling


@device
def gelu_short_formula(x: Tensor[f32, R]) -> Tensor[f32, R]:
    """X P(X <= x) with an error of 1.5e-7 x at most, and of 0.5 % of itself down to x = -9.

    log2(P(X <= -z)) is a polynomial in z: least maximal error over 0..9 in these two measures,
    found by reweighted least squares. It costs one exponential, and falls for any larger z.
    """
    z = tl.abs(x)
    poly = 2.429415e-06 + z * (3.8138003e-06 + z * -2.0265392e-07)
    poly = 0.007752852 + z * (-0.0006342734 + z * poly)
    poly = -0.45904613 + z * (-0.05298708 + z * poly)
    below = tl.exp2(-0.99999964 + z * (-1.1511245 + z * poly))
    return x * tl.where(x < 0.0, below, 1.0 - below)


@device
def gelu_short_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    erf, falling = short_erf(x)
    return grad * (0.5 * (1.0 + erf) + x * (INVERSE_SQRT_TAU * falling))


_short = Pointwise("gelu_short", gelu_short_formula, gelu_short_gradient)
_exact = Pointwise("gelu", gelu_formula, gelu_gradient, heavy=True)
_by_tanh = Pointwise("gelu_tanh", gelu_tanh_formula, gelu_tanh_gradient)


def gelu(x: A, approximate: str = "none", *, out: A | None = None) -> A:
    """X P(X <= x) for a normal X; `approximate="tanh"` for the form with tanh."""
    return _chosen("gelu", x, approximate)(x, out=out)


def gelu_backward(grad: A, x: A, approximate: str = "none", *, out: A | None = None) -> A:
    """The gradient of `gelu` by x."""
    return _chosen("gelu_backward", x, approximate).backward(grad, x, out=out)


def _chosen(operation: str, x: Any, approximate: str) -> Pointwise:
    if approximate not in {"none", "tanh"}:
        raise E1204.error(operation=operation, name="approximate", found=f"{approximate!r}").help(
            'it is "none" or "tanh"'
        )
    if approximate == "tanh":
        return _by_tanh
    # An error of 1.5e-7 x is a sixteenth of the spacing of f16 at most, and less of bf16's.
    return _short if dtype_of("x", x) in {"f16", "bf16"} else _exact


def _erf(x: np.ndarray) -> np.ndarray:
    from math import erf

    return np.vectorize(erf, otypes=[np.float64])(x)


def _reference(x: np.ndarray, approximate: str = "none") -> np.ndarray:
    if approximate == "tanh":
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x / 2 * (1 + _erf(x / np.sqrt(2)))


def _derivative(x: np.ndarray, approximate: str = "none") -> np.ndarray:
    if approximate == "tanh":
        t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
        return (1 + t) / 2 + x / 2 * (1 - t**2) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2)
    return (1 + _erf(x / np.sqrt(2))) / 2 + x * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def _torch(t: Any, x: Any, approximate: str = "none") -> Any:
    return t.nn.functional.gelu(x, approximate=approximate)


_of: Callable[..., Any] = lambda x, approximate="none": np.abs(x)  # noqa: E731

SPEC = _exact.spec(
    gelu,
    gelu_backward,
    formula="x (1 + erf(x / sqrt(2))) / 2, or x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2",
    source="Hendrycks, Gimpel 2016",
    reference=_reference,
    derivative=_derivative,
    torch=_torch,
    torch_name="torch.nn.functional.gelu",
    cases=unary_cases({"approximate": "tanh"}),
    magnitude=_of,
    slope_magnitude=lambda x, approximate="none": 1 + np.abs(x),
    ulps=8,
    reason="1 + erf(x) cancels below 0: an error of some ulp of x; exp of a cubic",
    flops=10,
)
