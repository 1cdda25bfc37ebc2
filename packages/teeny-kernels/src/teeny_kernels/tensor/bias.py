"""Adding one number for each channel, forward and backward.

    channel_bias_add(x, bias) = x + bias along one axis      nchw_bias_add: along axis 1

The gradient by the bias is the sum of `grad` over all other axes. Kernels: those of pointwise
operations that broadcast, and of sums. The output may be `x`.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from teeny_kernels.arrays import Operand, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.elementwise.broadcast import broadcasting, launch_broadcasting
from teeny_kernels.layout import Output, copy, normal_axis, require_dtype
from teeny_kernels.reduce.kernels import plus, reduce_into
from teeny_kernels.reduce.sums import SUM
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

A = TypeVar("A")

_add = broadcasting("channel_bias_add_forward", plus)


def channel_bias_add(x: A, bias: A, axis: int = -1, *, out: A | None = None) -> A:
    """`x` plus a number of `bias`, of one axis, for each place along `axis`.

    Raises:
        KernelError: E1202 when the bias is not as long as the axis, E1203, E1205-E1207.
    """
    return _forward("channel_bias_add", x, bias, axis, out)


def channel_bias_add_backward(grad: A, x: A, bias: A, axis: int = -1) -> tuple[A, A]:
    """The gradients by `x`, a copy of `grad`, and by `bias`; of both only the shapes matter."""
    return _backward("channel_bias_add_backward", grad, x, bias, axis)


def nchw_bias_add(x: A, bias: A, *, out: A | None = None) -> A:
    """`x` (N, C, ...) plus a number of `bias` (C) for each channel.

    Raises:
        KernelError: E1202 when the bias is not of C numbers, E1203, E1205-E1207.
    """
    return _forward("nchw_bias_add", x, bias, 1, out)


def nchw_bias_add_backward(grad: A, x: A, bias: A) -> tuple[A, A]:
    """The gradients by `x`, a copy of `grad`, and by `bias`; of both only the shapes matter."""
    return _backward("nchw_bias_add_backward", grad, x, bias, 1)


def _checked(operation: str, x: Any, bias: Any, axis: int) -> tuple[Operand, Operand, int]:
    source, own = operand("x", x), operand("bias", bias)
    same_place(operation, [("x", source), ("bias", own)])
    require_dtype(operation, "x", source, FLOATS)
    require_dtype(operation, "bias", own, (source.dtype,))
    at = normal_axis(operation, axis, source.ndim)
    if own.shape != source.shape[at : at + 1]:
        what = f"`x` {source.shape}, `bias` {own.shape}"
        raise E1202.error(operation=operation, what=what).help(
            f"give one number for each of the {source.shape[at]} channels of axis {at}"
        )
    return source, own, at


def _forward(operation: str, x: Any, bias: Any, axis: int, out: Any) -> Any:
    source, own, at = _checked(operation, x, bias, axis)
    shape = tuple(side if place == at else 1 for place, side in enumerate(source.shape))
    steps = tuple(own.strides[0] if place == at else 0 for place in range(source.ndim))
    seen = own._replace(shape=shape, strides=steps)
    return launch_broadcasting(operation, _add, [source, seen], source.shape, out=out).finish()


def _backward(operation: str, grad: Any, x: Any, bias: Any, axis: int) -> tuple[Any, Any]:
    source, own, at = _checked(operation, x, bias, axis)
    upstream = operand("grad", grad)
    same_place(operation, [("x", source), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (source.dtype,))
    if upstream.shape != source.shape:
        what = f"`grad` {upstream.shape}, the result is {source.shape}"
        raise E1202.error(operation=operation, what=what).help("give one of its shape")
    by_x = Output(operation, source, source.shape)
    copy(operation, by_x.operand, upstream)
    by_bias = Output(operation, own, own.shape)
    others = [place for place in range(source.ndim) if place != at]
    reduce_into(operation, SUM, by_bias.operand, upstream, others)
    return by_x.finish(), by_bias.finish()


def _seen(x: Any, bias: Any, axis: int) -> Any:
    shape = [1] * x.ndim
    shape[axis] = -1
    return bias.reshape(shape)


def _reference(default: int) -> Callable[..., Any]:
    def reference(x: np.ndarray, bias: np.ndarray, axis: int = default) -> Any:
        return x + _seen(x, bias, axis)

    return reference


def _torch(default: int) -> Callable[..., Any]:
    def torch(_t: Any, x: Any, bias: Any, axis: int = default) -> Any:
        return x + _seen(x, bias, axis)

    return torch


def _slopes(default: int) -> Callable[..., Sequence[Any]]:
    def slopes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        at = options.get("axis", default) % arrays[0].ndim
        others = tuple(own for own in range(arrays[0].ndim) if own != at)
        return [grads[0], grads[0].astype(np.longdouble).sum(axis=others).astype(np.float64)]

    return slopes


def _sizes(default: int) -> Callable[..., Sequence[Any]]:
    def sizes(grads: Sequence[Any], *given: Any) -> Sequence[Any]:
        return _slopes(default)([np.abs(grads[0])], *given)

    return sizes


def _spec(
    function: Callable[..., Any],
    backward: Callable[..., Any],
    default: int,
    cases: Sequence[tuple[tuple[int, ...], dict[str, int], str]],
) -> KernelSpec:
    made = tuple(
        Case((shape, (shape[options.get("axis", default)],)), options, values)
        for shape, options, values in cases
    )
    return KernelSpec(
        name=function.__name__,
        family="tensor",
        function=function,
        backward=lambda grads, arrays, _outputs, options: backward(grads[0], *arrays, **options),
        differentiable=(0, 1),
        kernels=(_add, SUM.rows, SUM.columns),
        formula="x + bias[channel]",
        source="PyTorch, x + bias.reshape(...)",
        reference=_reference(default),
        backward_reference=_slopes(default),
        backward_magnitude=_sizes(default),
        torch_name="x + bias",
        torch=_torch(default),
        torch_error=1e-13,
        cases=made,
        tolerance=Tolerance(1, "a sum"),
        backward_tolerance=Tolerance(8, "sums of tiles of one another, then of a tree"),
        cost=lambda case, itemsize: Cost(2 * itemsize * prod(case.shapes[0]), prod(case.shapes[0])),
        benchmarks=(made[0]._replace(shapes=((64, 256, 56, 56), ((256, 56)[default == -1],))),),
    )


SPECS = (
    _spec(
        channel_bias_add,
        channel_bias_add_backward,
        -1,
        (
            ((4, 7), {}, "normal"),
            ((1,), {}, "normal"),
            ((17,), {"axis": 0}, "special"),
            ((0, 5), {}, "normal"),
            ((5, 0), {}, "normal"),
            ((33, 64), {}, "wide"),
            ((3, 1000), {}, "special"),
            ((2, 3, 4, 5), {"axis": 1}, "normal"),
            ((2, 3, 4, 5), {"axis": -2}, "ties"),
            ((600, 3), {"axis": 0}, "normal"),
            ((2, 5000), {}, "normal"),
            ((20001, 3), {}, "shifted"),
        ),
    ),
    _spec(
        nchw_bias_add,
        nchw_bias_add_backward,
        1,
        (
            ((2, 3, 4, 5), {}, "normal"),
            ((1, 1, 1, 1), {}, "normal"),
            ((4, 7), {}, "normal"),
            ((0, 5, 2, 2), {}, "normal"),
            ((5, 3, 0, 2), {}, "normal"),
            ((2, 33, 6, 6), {}, "special"),
            ((3, 64, 9, 7), {}, "wide"),
            ((2, 5, 17), {}, "special"),
            ((2, 3, 4, 5, 6), {}, "ties"),
            ((1, 300, 7, 7), {}, "normal"),
            ((8, 4, 33, 31), {}, "normal"),
            ((2, 16, 28, 28), {}, "shifted"),
        ),
    ),
)
