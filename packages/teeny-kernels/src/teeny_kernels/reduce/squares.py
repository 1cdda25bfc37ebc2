"""Sums of absolute values and of squares over any axes, and the root of the latter.

    reduce_l1 = sum(|x|)      reduce_l2 = sqrt(sum(x^2))      reduce_sum_square = sum(x^2)

Kernels in kernels.py; as plain sums (sums.py). At x = 0 the gradient of |x| is 0, and where y is 0
that of the root.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.broadcast import broadcasting
from teeny_kernels.numerics import R
from teeny_kernels.reduce.kernels import plus, reduction, square
from teeny_kernels.reduce.operation import dims, reduction_spec, total
from teeny_kernels.reduce.run import Axes, Gradient, forward
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")


@device
def size(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.abs(x)


@device
def root(total: Tensor[f32, R], count: f32) -> Tensor[f32, R]:
    return tl.sqrt_rn(total)


L1 = reduction("reduce_l1", plus, 0.0, each=size)
L2 = reduction("reduce_l2", plus, 0.0, each=square, finish=root)
SUM_SQUARE = reduction("reduce_sum_square", plus, 0.0, each=square)


@device
def l1_gradient(x: Tensor[f32, R], grad: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x > 0.0, grad, tl.where(x < 0.0, -grad, grad * x))


@device
def l2_gradient(x: Tensor[f32, R], grad: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(y == 0.0, 0.0, grad * (x / y))


@device
def sum_square_gradient(x: Tensor[f32, R], grad: Tensor[f32, R]) -> Tensor[f32, R]:
    return 2.0 * grad * x


_l1 = broadcasting("reduce_l1_backward", l1_gradient)
_l2 = broadcasting("reduce_l2_backward", l2_gradient, inputs=3)
_sum_square = broadcasting("reduce_sum_square_backward", sum_square_gradient)


def reduce_l1(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A:
    """The sum of |x| over `axis`."""
    found: A = forward("reduce_l1", L1, x, axis, keepdims, out)
    return found


def reduce_l1_backward(
    grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """`grad` sign(x)."""
    own = Gradient("reduce_l1_backward", grad, x, axis, keepdims)
    found: A = own.apply(_l1, [own.x, own.grad], (), out)
    return found


def reduce_l2(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A:
    """The square root of the sum of x^2 over `axis`."""
    found: A = forward("reduce_l2", L2, x, axis, keepdims, out)
    return found


def reduce_l2_backward(
    grad: A, x: A, y: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """`grad` x / y, and 0 where y is 0; `y` is the result of `reduce_l2`."""
    own = Gradient("reduce_l2_backward", grad, x, axis, keepdims, y)
    found: A = own.apply(_l2, [own.x, own.grad, own.y], (), out)
    return found


def reduce_sum_square(
    x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """The sum of x^2 over `axis`."""
    found: A = forward("reduce_sum_square", SUM_SQUARE, x, axis, keepdims, out)
    return found


def reduce_sum_square_backward(
    grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """2 `grad` x."""
    own = Gradient("reduce_sum_square_backward", grad, x, axis, keepdims)
    found: A = own.apply(_sum_square, [own.x, own.grad], (), out)
    return found


SPECS = (
    reduction_spec(
        reduce_l1,
        reduce_l1_backward,
        (L1, _l1),
        formula="sum(|x|)",
        reference=lambda x, **options: total(np.abs(x), **options),
        gradient=lambda grad, x, y, options: grad * np.sign(x),
        gradient_ulps=0,
        torch=lambda t, x, axis=None, keepdims=False: t.sum(
            t.abs(x), dims(x, axis), keepdim=keepdims
        ),
        torch_name="torch.linalg.vector_norm(x, 1)",
        torch_error=1e-14,
        flops=2,
    ),
    reduction_spec(
        reduce_l2,
        reduce_l2_backward,
        (L2, _l2),
        formula="sqrt(sum(x^2))",
        reference=lambda x, **options: np.sqrt(total(x * x, **options)),
        gradient=lambda grad, x, y, options: np.where(y == 0, 0.0, grad * (x / y)),
        gradient_magnitude=lambda grad, x, y, options, rounding: np.abs(grad * x / y) * rounding,
        takes_result=True,
        torch=lambda t, x, axis=None, keepdims=False: t.linalg.vector_norm(
            x, 2, dims(x, axis), keepdim=keepdims
        ),
        torch_name="torch.linalg.vector_norm",
        torch_error=1e-14,
        flops=2,
    ),
    reduction_spec(
        reduce_sum_square,
        reduce_sum_square_backward,
        (SUM_SQUARE, _sum_square),
        formula="sum(x^2)",
        reference=lambda x, **options: total(x * x, **options),
        gradient=lambda grad, x, y, options: 2 * grad * x,
        gradient_ulps=1,
        torch=lambda t, x, axis=None, keepdims=False: t.sum(x * x, dims(x, axis), keepdim=keepdims),
        torch_name="torch.sum(x * x)",
        torch_error=1e-14,
        flops=2,
    ),
)
