"""The largest, the smallest and the product of elements over any axes.

    reduce_max = max(x)      reduce_min = min(x)      reduce_prod = prod(x)

Kernels in kernels.py. NaN anywhere makes a maximum or a minimum NaN; equal elements share its
gradient evenly, as in `torch.amax`. A product's gradient is that of the others' product, through
one zero too: no element is divided by zero. A product of nothing is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.elementwise.broadcast import broadcasting, launch_broadcasting
from teeny_kernels.numerics import R
from teeny_kernels.reduce.kernels import plus, reduction
from teeny_kernels.reduce.operation import REDUCING, dims, reduction_spec, spread
from teeny_kernels.reduce.run import Axes, Gradient, forward, reduced
from teeny_kernels.reduce.sums import SUM
from teeny_kernels.spec import Case
from teeny_macros import device
from teeny_triton import PropagateNan, Tensor, f32

A = TypeVar("A")

INFINITY = float("inf")


@device
def larger(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.maximum(x, y, propagate_nan=PropagateNan.ALL)


@device
def smaller(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.minimum(x, y, propagate_nan=PropagateNan.ALL)


@device
def times(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return x * y


@device
def one_for_zero(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x == 0.0, 1.0, x)


@device
def is_zero(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x == 0.0, 1.0, 0.0).to(x.dtype)


MAX = reduction("reduce_max", larger, -INFINITY, whole=-(2**63))
MIN = reduction("reduce_min", smaller, INFINITY, whole=2**63 - 1)
PROD = reduction("reduce_prod", times, 1.0, whole=1)
OF_OTHERS = reduction("reduce_prod_of_nonzero", times, 1.0, each=one_for_zero)
ZEROS = reduction("reduce_count_of_zeros", plus, 0.0, each=is_zero, padding=1.0)


@device
def is_extreme(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x == y, 1.0, 0.0).to(x.dtype)


@device
def share(grad: Tensor[f32, R], count: Tensor[f32, R]) -> Tensor[f32, R]:
    return grad / count


@device
def extreme_gradient(x: Tensor[f32, R], y: Tensor[f32, R], each: Tensor[f32, R]) -> Tensor[f32, R]:
    # Where y is NaN nothing equals it: the share is infinite or NaN, and so all is NaN.
    return tl.where(x == y, each, each * 0.0)


@device
def if_zeros(
    grad: Tensor[f32, R], product: Tensor[f32, R], zeros: Tensor[f32, R], wanted: f32
) -> Tensor[f32, R]:
    return tl.where(zeros == wanted, grad * product, 0.0)


@device
def prod_gradient(
    x: Tensor[f32, R], product: Tensor[f32, R], at_zero: Tensor[f32, R]
) -> Tensor[f32, R]:
    return tl.where(x == 0.0, at_zero, product / x)


_equal = broadcasting("reduce_extreme_places", is_extreme)
_share = broadcasting("reduce_extreme_share", share)
_extreme = broadcasting("reduce_extreme_backward", extreme_gradient, inputs=3)
_if_zeros = broadcasting("reduce_prod_share", if_zeros, inputs=3, scalars=1)
_prod = broadcasting("reduce_prod_backward", prod_gradient, inputs=3)


def reduce_max(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A:
    """The largest element over `axis`, NaN where one is NaN.

    Raises:
        KernelError: E1202 when there is no element to choose from.
    """
    found: A = forward("reduce_max", MAX, x, axis, keepdims, out, needs_one=True, whole="same")
    return found


def reduce_max_backward(
    grad: A, x: A, y: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """`grad` where x is `y`, the result of `reduce_max`, shared evenly where several are."""
    return _shared("reduce_max_backward", grad, x, y, axis, keepdims, out)


def reduce_min(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A:
    """The smallest element over `axis`, NaN where one is NaN.

    Raises:
        KernelError: E1202 when there is no element to choose from.
    """
    found: A = forward("reduce_min", MIN, x, axis, keepdims, out, needs_one=True, whole="same")
    return found


def reduce_min_backward(
    grad: A, x: A, y: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """`grad` where x is `y`, the result of `reduce_min`, shared evenly where several are."""
    return _shared("reduce_min_backward", grad, x, y, axis, keepdims, out)


def _shared(operation: str, grad: A, x: A, y: A, axis: Axes, keepdims: bool, out: A | None) -> A:
    own = Gradient(operation, grad, x, axis, keepdims, y)
    places = launch_broadcasting(operation, _equal, [own.x, own.y], own.x.shape).operand
    count = reduced(operation, SUM, places, own.axes)
    each = own.small(_share, [own.grad, count])
    found: A = own.apply(_extreme, [own.x, own.y, each], (), out)
    return found


def reduce_prod(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A:
    """The product over `axis`, one, several or (None) all; in i64 of integers and bools."""
    found: A = forward("reduce_prod", PROD, x, axis, keepdims, out, whole="i64")
    return found


def reduce_prod_backward(
    grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """`grad` times the product of all other elements."""
    own = Gradient("reduce_prod_backward", grad, x, axis, keepdims)
    product = reduced(own.operation, OF_OTHERS, own.x, own.axes)
    zeros = reduced(own.operation, ZEROS, own.x, own.axes)
    without, with_one = (
        own.small(_if_zeros, [own.grad, product, zeros], [wanted]) for wanted in (0.0, 1.0)
    )
    found: A = own.apply(_prod, [own.x, without, with_one], (), out)
    return found


def _prod_reference(x: np.ndarray, axis: Axes = None, keepdims: bool = False) -> np.ndarray:
    found = np.prod(np.asarray(x).astype(np.longdouble), axis=axis, keepdims=keepdims)
    return np.asarray(found).astype(np.float64)


def _prod_slope(
    grad: np.ndarray, x: np.ndarray, _y: np.ndarray, options: Mapping[str, Any]
) -> np.ndarray:
    axis = options.get("axis")
    nonzero = spread(_prod_reference(np.where(x == 0, 1.0, x), axis), x, options)
    zeros = spread(np.sum(x == 0, axis=axis), x, options)
    alone = np.where(zeros == 0, nonzero / np.where(x == 0, 1.0, x), 0.0)
    return np.asarray(grad * np.where((zeros == 1) & (x == 0), nonzero, alone))


def _extreme_slope(
    grad: np.ndarray, x: np.ndarray, y: np.ndarray, options: Mapping[str, Any]
) -> np.ndarray:
    count = spread(np.sum(x == y, axis=options.get("axis")), x, options)
    return np.asarray(grad * (x == y) / count)


_MULTIPLIED = tuple(
    Case(((shape),), options, values)
    for shape, options, values in (
        ((), {}, "normal"),
        ((1,), {}, "normal"),
        ((5, 0), {"axis": 1}, "normal"),
        ((0, 5), {"axis": 1}, "normal"),
        ((4, 0, 3), {"axis": -2}, "normal"),
        ((33, 15), {"axis": 1}, "normal"),
        ((33, 15), {"axis": 0}, "normal"),
        ((40, 3), {"axis": 1}, "ties"),
        ((3, 40), {"axis": 0}, "ties"),
        ((2, 3, 4, 5), {"axis": (1, 3)}, "normal"),
        ((2, 3, 4, 5), {"axis": (0, 2), "keepdims": True}, "unit"),
        ((40, 5), {"axis": 1}, "integers"),
        ((3, 1000), {"axis": -1}, "sign"),
        ((20001,), {"keepdims": True}, "sign"),
        ((20001, 3), {"axis": 0}, "sign"),
    )
)


def _torch_prod(_t: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    found = dims(x, axis)
    axes = [found] if isinstance(found, int) else found
    for own in sorted((one % x.ndim for one in axes), reverse=True):
        x = x.prod(own, keepdim=keepdims)
    return x


SPECS = (
    reduction_spec(
        reduce_max,
        reduce_max_backward,
        (MAX, _equal, _share, _extreme),
        formula="max(x)",
        reference=lambda x, axis=None, keepdims=False: np.max(x, axis=axis, keepdims=keepdims),
        gradient=_extreme_slope,
        takes_result=True,
        cases=(*REDUCING, Case(((33, 15),), {"axis": 1}, "integers")),
        ulps=0,
        reason="a choice",
        torch=lambda t, x, axis=None, keepdims=False: t.amax(x, dims(x, axis), keepdim=keepdims),
        torch_name="torch.amax",
    ),
    reduction_spec(
        reduce_min,
        reduce_min_backward,
        (MIN, _equal, _share, _extreme),
        formula="min(x)",
        reference=lambda x, axis=None, keepdims=False: np.min(x, axis=axis, keepdims=keepdims),
        gradient=_extreme_slope,
        takes_result=True,
        cases=(*REDUCING, Case(((33, 15),), {"axis": 1}, "integers")),
        ulps=0,
        reason="a choice",
        torch=lambda t, x, axis=None, keepdims=False: t.amin(x, dims(x, axis), keepdim=keepdims),
        torch_name="torch.amin",
    ),
    reduction_spec(
        reduce_prod,
        reduce_prod_backward,
        (PROD, OF_OTHERS, ZEROS, _if_zeros, _prod),
        formula="prod(x)",
        reference=_prod_reference,
        gradient=_prod_slope,
        cases=_MULTIPLIED,
        ulps=34,
        reason="as many roundings as there are factors other than 1 and -1, here up to 33",
        gradient_ulps=40,
        torch=_torch_prod,
        torch_name="torch.prod",
        torch_error=40 * 2.0**-52,
    ),
)
