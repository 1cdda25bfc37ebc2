"""Sums over any axes: plain, mean and logarithm; and the sum that undoes broadcasting.

    reduce_sum = sum(x)      reduce_mean = sum(x) / n      reduce_log_sum = log(sum(x))

Kernels in kernels.py. Added up in f32 (f64 for f64), first along tiles, then by trees; the order
depends on the shape alone. A sum of nothing is 0, a mean of nothing NaN. `axis=()` reduces nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import operand, same_place
from teeny_kernels.elementwise.broadcast import broadcasting
from teeny_kernels.layout import Output, copy, expanded, require_dtype
from teeny_kernels.numerics import R
from teeny_kernels.reduce.kernels import plus, reduce_into, reduction
from teeny_kernels.reduce.operation import (
    OF_NOTHING,
    REDUCING,
    count_of,
    dims,
    reduction_spec,
    spread,
    total,
)
from teeny_kernels.reduce.run import Axes, Gradient, forward, reduced, repeated_axes
from teeny_kernels.spec import FLOATS, Case
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")

WHOLE = (
    Case(((33, 15),), {"axis": 1}, "integers"),
    Case(((2, 3, 4, 5),), {"axis": (0, 2)}, "integers"),
    Case(((50001,),), {}, "integers"),
)
_TO = tuple(
    Case((of,), {"shape": to}, values)
    for of, to, values in (
        ((), (), "normal"),
        ((1,), (), "normal"),
        ((17,), (1,), "normal"),
        ((4, 17), (17,), "ties"),
        ((4, 17), (4, 1), "wide"),
        ((4, 17), (4, 17), "normal"),
        ((0, 3), (3,), "normal"),
        ((2, 3, 4, 5), (3, 1, 5), "shifted"),
        ((2, 3, 4, 5), (1, 4, 1), "special"),
        ((2, 3, 4, 5), (), "wide"),
        ((7, 1000), (1000,), "special"),
        ((20001, 3), (1, 3), "normal"),
    )
)


@device
def over_count(total: Tensor[f32, R], count: f32) -> Tensor[f32, R]:
    return total / count


@device
def logarithm(total: Tensor[f32, R], count: f32) -> Tensor[f32, R]:
    return tl.log(total)


SUM = reduction("reduce_sum", plus, 0.0)
MEAN = reduction("reduce_mean", plus, 0.0, finish=over_count)
LOG_SUM = reduction("reduce_log_sum", plus, 0.0, finish=logarithm)


@device
def quotient(grad: Tensor[f32, R], total: Tensor[f32, R], count: f32) -> Tensor[f32, R]:
    return grad / (total * count)


@device
def quotient_by_count(grad: Tensor[f32, R], other: Tensor[f32, R], count: f32) -> Tensor[f32, R]:
    return grad / count


_by_sum = broadcasting("reduce_log_sum_backward", quotient, scalars=1)
_by_count = broadcasting("reduce_mean_backward", quotient_by_count, scalars=1)


def reduce_sum(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A:
    """The sum over `axis`, one, several or (None) all; in i64 of integers and bools."""
    found: A = forward("reduce_sum", SUM, x, axis, keepdims, out, whole="i64")
    return found


def reduce_sum_backward(
    grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """`grad`, repeated along what was summed."""
    own = Gradient("reduce_sum_backward", grad, x, axis, keepdims)
    found: A = own.spread(own.grad, out)
    return found


def reduce_mean(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A:
    """The mean over `axis`, one, several or (None) all; of the dtype of `x`."""
    found: A = forward("reduce_mean", MEAN, x, axis, keepdims, out)
    return found


def reduce_mean_backward(
    grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """`grad` / n, repeated along the n elements of each mean."""
    own = Gradient("reduce_mean_backward", grad, x, axis, keepdims)
    found: A = own.spread(own.small(_by_count, [own.grad, own.grad], [own.count]), out)
    return found


def reduce_log_sum(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A:
    """The natural logarithm of the sum over `axis`."""
    found: A = forward("reduce_log_sum", LOG_SUM, x, axis, keepdims, out)
    return found


def reduce_log_sum_backward(
    grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """`grad` / sum(x), repeated along what was summed."""
    own = Gradient("reduce_log_sum_backward", grad, x, axis, keepdims)
    total = reduced(own.operation, SUM, own.x, own.axes)
    found: A = own.spread(own.small(_by_sum, [own.grad, total], [1.0]), out)
    return found


def sum_to(x: A, shape: Sequence[int], *, out: A | None = None) -> A:
    """The sum of `x` over the axes along which an array of `shape` was repeated to fit `x`.

    Raises:
        KernelError: E1202 when `shape` does not broadcast to that of `x`.
    """
    source = operand("x", x)
    require_dtype("sum_to", "x", source, FLOATS)
    sides = tuple(shape)
    axes = repeated_axes("sum_to", source.shape, sides)
    result = Output("sum_to", source, sides, out=out)
    reduce_into("sum_to", SUM, result.operand, source, axes)
    found: A = result.finish()
    return found


def sum_to_backward(grad: A, x: A, *, out: A | None = None) -> A:
    """`grad`, of the shape that `x` was summed to, repeated to the shape of `x`.

    Raises:
        KernelError: E1202 when `grad` does not broadcast to the shape of `x`.
    """
    source, upstream = operand("x", x), operand("grad", grad)
    same_place("sum_to_backward", [("x", source), ("grad", upstream)])
    require_dtype("sum_to_backward", "grad", upstream, (source.dtype,))
    repeated_axes("sum_to_backward", source.shape, upstream.shape)
    result = Output("sum_to_backward", source, source.shape, out=out)
    copy("sum_to_backward", result.operand, expanded(upstream, source.shape))
    found: A = result.finish()
    return found


def _sum_to_reference(x: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    missing = x.ndim - len(shape)
    axes = [at for at in range(x.ndim) if at < missing or shape[at - missing] != x.shape[at]]
    return np.asarray(total(x, tuple(axes))).reshape(shape)


def _absolute(x: np.ndarray, axis: Axes = None, keepdims: bool = False) -> np.ndarray:
    return np.asarray(total(np.abs(x), axis, keepdims))


def _mean(x: np.ndarray, axis: Axes = None, keepdims: bool = False) -> np.ndarray:
    return np.asarray(total(x, axis, keepdims) / count_of(x, {"axis": axis}))


def _log_sum_magnitude(x: np.ndarray, axis: Axes = None, keepdims: bool = False) -> np.ndarray:
    found = total(x, axis, keepdims)
    return np.asarray(_absolute(x, axis, keepdims) / np.abs(found) + np.abs(np.log(found)))


def _log_sum_slope_size(
    grad: np.ndarray, x: np.ndarray, _y: Any, options: Mapping[str, Any], _rounding: float
) -> np.ndarray:
    axis = options.get("axis")
    found, terms = (spread(total(of, axis), x, options) for of in (x, np.abs(x)))
    return np.asarray(np.abs(grad / found) * (1 + terms / np.abs(found)))


SPECS = (
    reduction_spec(
        reduce_sum,
        reduce_sum_backward,
        (SUM,),
        formula="sum(x)",
        reference=total,
        magnitude=_absolute,
        gradient=lambda grad, x, y, options: grad,
        gradient_ulps=0,
        torch=lambda t, x, axis=None, keepdims=False: t.sum(x, dims(x, axis), keepdim=keepdims),
        torch_name="torch.sum",
        cases=(*REDUCING, *OF_NOTHING, *WHOLE),
        torch_error=1e-14,
    ),
    reduction_spec(
        reduce_mean,
        reduce_mean_backward,
        (MEAN, _by_count),
        formula="sum(x) / n",
        reference=_mean,
        magnitude=lambda x, **options: _absolute(x, **options) / count_of(x, options),
        gradient=lambda grad, x, y, options: grad / count_of(x, options),
        gradient_ulps=1,
        torch=lambda t, x, axis=None, keepdims=False: t.mean(x, dims(x, axis), keepdim=keepdims),
        torch_name="torch.mean",
        torch_error=1e-14,
    ),
    reduction_spec(
        reduce_log_sum,
        reduce_log_sum_backward,
        (LOG_SUM, _by_sum),
        formula="log(sum(x))",
        reference=lambda x, **options: np.log(total(x, **options)),
        magnitude=_log_sum_magnitude,
        gradient=lambda grad, x, y, options: (
            grad / spread(total(x, options.get("axis")), x, options)
        ),
        gradient_magnitude=_log_sum_slope_size,
        gradient_ulps=8,
        cases=tuple(
            case._replace(values="positive") if case.values in ("normal", "wide") else case
            for case in (*REDUCING, *OF_NOTHING)
        ),
        torch=lambda t, x, axis=None, keepdims=False: t.log(
            t.sum(x, dims(x, axis), keepdim=keepdims)
        ),
        torch_name="torch.log(torch.sum)",
        torch_error=1e-14,
    ),
    replace(
        reduction_spec(
            sum_to,
            sum_to_backward,
            (SUM,),
            formula="sum(x) over the axes along which an array of `shape` repeats to fit x",
            source="NumPy, broadcasting",
            reference=_sum_to_reference,
            magnitude=lambda x, shape: _sum_to_reference(np.abs(x), shape),
            gradient=lambda *given: given[0],
            gradient_ulps=0,
            torch=lambda t, x, shape: x.sum_to_size(shape),
            torch_name="torch.Tensor.sum_to_size",
            cases=_TO,
            torch_error=1e-14,
        ),
        backward=lambda grads, arrays, outputs, options: (sum_to_backward(grads[0], arrays[0]),),
        backward_reference=lambda grads, arrays, options: (
            np.broadcast_to(grads[0], np.asarray(arrays[0]).shape),
        ),
        benchmarks=(Case(((32768, 4096),), {"shape": (4096,)}),),
    ),
)
