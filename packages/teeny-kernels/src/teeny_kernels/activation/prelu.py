"""prelu: a slope below zero that is learnt, one for all elements or one for each channel.

    prelu(x) = x where x > 0, else weight x

The gradient by the weight is the sum of grad x over what is not above zero. Kernels: those of
pointwise operations that broadcast, and of sums. The output may be `x`.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.elementwise.broadcast import broadcasting, launch_broadcasting
from teeny_kernels.layout import Output, require_dtype
from teeny_kernels.numerics import R
from teeny_kernels.reduce.kernels import exact, reduce_into
from teeny_kernels.reduce.sums import SUM
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_macros import device
from teeny_triton import Tensor, f32

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

A = TypeVar("A")


@device
def prelu_formula(x: Tensor[f32, R], weight: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x > 0.0, x, weight * x)


@device
def prelu_gradient(
    grad: Tensor[f32, R], x: Tensor[f32, R], weight: Tensor[f32, R]
) -> Tensor[f32, R]:
    return tl.where(x > 0.0, grad, weight * grad)


@device
def prelu_weight_gradient(grad: Tensor[f32, R], x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x > 0.0, 0.0, grad * x)


_forward = broadcasting("prelu_forward", prelu_formula)
_by_x = broadcasting("prelu_backward", prelu_gradient, inputs=3)
_by_weight = broadcasting("prelu_backward_weight", prelu_weight_gradient)


def prelu(x: A, weight: A, *, out: A | None = None) -> A:
    """`x` where it is above 0, else `weight` times it.

    `weight` is of one element, or (C) for arrays (N, C, ...).

    Raises:
        KernelError: E1202 when the weight does not fit, E1203, E1206, E1207.
    """
    source, _, seen = _checked("prelu", x, weight)
    found: A = launch_broadcasting(
        "prelu", _forward, [source, seen], source.shape, out=out
    ).finish()
    return found


def prelu_backward(grad: A, x: A, weight: A) -> tuple[A, A]:
    """The gradients by `x` and by `weight`, of their shapes."""
    operation = "prelu_backward"
    source, own, seen = _checked(operation, x, weight)
    upstream = operand("grad", grad)
    same_place(operation, [("x", source), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (source.dtype,))
    if upstream.shape != source.shape:
        what = f"`grad` {upstream.shape}, the result is {source.shape}"
        raise E1202.error(operation=operation, what=what).help("give one of its shape")
    arrays = [upstream, source]
    by_x = launch_broadcasting(operation, _by_x, [*arrays, seen], source.shape)
    each = launch_broadcasting(operation, _by_weight, arrays, source.shape, dtype=exact(source))
    by_weight = Output(operation, own, own.shape)
    kept = 1 if own.size > 1 else None
    others = [at for at in range(source.ndim) if at != kept]
    reduce_into(operation, SUM, by_weight.operand, each.operand, others)
    return by_x.finish(), by_weight.finish()


def _checked(operation: str, x: Any, weight: Any) -> tuple[Operand, Operand, Operand]:
    """x, the weight, and the weight as it broadcasts to x."""
    source, own = operand("x", x), operand("weight", weight)
    same_place(operation, [("x", source), ("weight", own)])
    require_dtype(operation, "x", source, FLOATS)
    require_dtype(operation, "weight", own, (source.dtype,))
    channels = own.shape == source.shape[1:2]
    if own.ndim > 1 or not (own.size == 1 or channels):
        what = f"`x` {source.shape}, `weight` {own.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "give a weight of one element, or one for each channel of axis 1"
        )
    if own.size == 1:
        return source, own, own._replace(shape=(1,) * source.ndim, strides=(0,) * source.ndim)
    shape = tuple(side if at == 1 else 1 for at, side in enumerate(source.shape))
    steps = tuple(own.strides[0] if at == 1 else 0 for at in range(source.ndim))
    return source, own, own._replace(shape=shape, strides=steps)


def _seen(x: Any, weight: Any) -> Any:
    if weight.size == 1:
        return weight.reshape((1,) * x.ndim)
    return weight.reshape([-1 if at == 1 else 1 for at in range(x.ndim)])


def _reference(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, _seen(x, weight) * x)


def _slopes(
    grads: Sequence[Any], arrays: Sequence[Any], _options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    (grad,), (x, weight) = grads, arrays
    each = np.where(x > 0, 0.0, grad * x).astype(np.longdouble)
    others = tuple(at for at in range(x.ndim) if weight.size == 1 or at != 1)
    total = each.sum(axis=others).astype(np.float64).reshape(weight.shape)
    return [np.where(x > 0, grad, _seen(x, weight) * grad), total]


def _sizes(grads: Sequence[Any], arrays: Sequence[Any], *given: Any) -> Sequence[Any]:
    (grad,), (x, weight) = grads, arrays
    finite = np.where(np.isfinite(x), x, 0.0)
    negative = np.where(x > 0, finite, -np.abs(finite))
    own = _slopes([np.abs(grad)], [negative, np.abs(weight)], *given)
    return [np.abs(part) for part in own]


SPEC = KernelSpec(
    name="prelu",
    family="activation",
    function=prelu,
    backward=lambda grads, arrays, _outputs, _options: prelu_backward(grads[0], *arrays),
    differentiable=(0, 1),
    kernels=(_forward, _by_x, _by_weight, SUM.rows, SUM.columns),
    formula="x where x > 0, else w x",
    source="He et al. 2015, Delving deep into rectifiers",
    reference=_reference,
    backward_reference=_slopes,
    backward_magnitude=_sizes,
    torch_name="torch.nn.functional.prelu",
    torch=lambda t, x, weight: t.nn.functional.prelu(x, weight.reshape(-1)),
    torch_error=1e-13,
    cases=tuple(
        Case((shape, weight), {}, values)
        for shape, weight, values in (
            ((), (), "normal"),
            ((1,), (1,), "normal"),
            ((17,), (1,), "special"),
            ((0, 5), (5,), "normal"),
            ((33, 7), (7,), "normal"),
            ((33, 7), (1,), "wide"),
            ((2, 3, 4, 5), (3,), "special"),
            ((2, 3, 4, 5), (), "normal"),
            ((2, 3, 4, 5), (3,), "ties"),
            ((3, 4, 1000), (4,), "normal"),
            ((5, 0), (1,), "normal"),
            ((33, 7), (7,), "shifted"),
        )
    ),
    tolerance=Tolerance(1, "a product"),
    backward_tolerance=Tolerance(8, "a product, sums of tiles of one another, then of a tree"),
    cost=lambda case, itemsize: Cost(2 * itemsize * prod(case.shapes[0]), prod(case.shapes[0])),
    benchmarks=(Case(((64, 256, 56, 56), (256,))),),
)
