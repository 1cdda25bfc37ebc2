"""conv1d, conv2d, conv3d: forward, and the gradients by x, weight and bias.

    out[n, o, p] = bias[o] + sum over c, k of x[n, c, p stride - padding + k dilation] w[o, c, k]

with c over the channels of the group that o is in, and zeros outside of x. Kernels in kernels.py
and weight_kernels.py; everything else is one geometry for all numbers of axes. `x` and `grad` are
read with the strides they have (so `channels_last` costs no copy), results are contiguous.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from teeny_kernels.convolution import run
from teeny_kernels.convolution.cases import CONV_BENCHMARKS, CONV_CASES, SUM_OF_PRODUCTS, make
from teeny_kernels.convolution.geometry import convolution
from teeny_kernels.convolution.reference import (
    conv_gradients,
    conv_reference,
    cost,
    gradient_calls,
    gradients_of,
    size_of,
    torch_function,
)
from teeny_kernels.spec import KernelSpec

if TYPE_CHECKING:
    from teeny_kernels.convolution.geometry import Padding, Sides

A = TypeVar("A")


def conv1d(
    x: A,
    weight: A,
    bias: A | None = None,
    stride: Sides = 1,
    padding: Padding = 0,
    dilation: Sides = 1,
    groups: int = 1,
    *,
    allow_tf32: bool = False,
    out: A | None = None,
) -> A:
    """The convolution of `x` (N, C, L) or (C, L) with `weight` (O, C / groups, K).

    `padding` may be 'valid' or 'same'. `allow_tf32` lets f32 be rounded to tf32 on a GPU.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204 for options, E1206, E1207.
    """
    options = (stride, padding, dilation, groups)
    found: A = _forward("conv1d", 1, x, weight, bias, options, allow_tf32, out)
    return found


def conv1d_backward(
    grad: A,
    x: A,
    weight: A,
    stride: Sides = 1,
    padding: Padding = 0,
    dilation: Sides = 1,
    groups: int = 1,
    *,
    allow_tf32: bool = False,
) -> tuple[A, A, A]:
    """The gradients of `conv1d` by x, weight and bias."""
    options = (stride, padding, dilation, groups)
    return _backward("conv1d_backward", 1, grad, x, weight, options, allow_tf32)


def conv2d(
    x: A,
    weight: A,
    bias: A | None = None,
    stride: Sides = 1,
    padding: Padding = 0,
    dilation: Sides = 1,
    groups: int = 1,
    *,
    allow_tf32: bool = False,
    out: A | None = None,
) -> A:
    """The convolution of `x` (N, C, H, W) or (C, H, W) with `weight` (O, C / groups, KH, KW).

    `padding` may be 'valid' or 'same'. `allow_tf32` lets f32 be rounded to tf32 on a GPU.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204 for options, E1206, E1207.
    """
    options = (stride, padding, dilation, groups)
    found: A = _forward("conv2d", 2, x, weight, bias, options, allow_tf32, out)
    return found


def conv2d_backward(
    grad: A,
    x: A,
    weight: A,
    stride: Sides = 1,
    padding: Padding = 0,
    dilation: Sides = 1,
    groups: int = 1,
    *,
    allow_tf32: bool = False,
) -> tuple[A, A, A]:
    """The gradients of `conv2d` by x, weight and bias."""
    options = (stride, padding, dilation, groups)
    return _backward("conv2d_backward", 2, grad, x, weight, options, allow_tf32)


def conv3d(
    x: A,
    weight: A,
    bias: A | None = None,
    stride: Sides = 1,
    padding: Padding = 0,
    dilation: Sides = 1,
    groups: int = 1,
    *,
    allow_tf32: bool = False,
    out: A | None = None,
) -> A:
    """The convolution of `x` (N, C, D, H, W) or (C, D, H, W) with `weight` (O, C / groups, ...).

    `padding` may be 'valid' or 'same'. `allow_tf32` lets f32 be rounded to tf32 on a GPU.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204 for options, E1206, E1207.
    """
    options = (stride, padding, dilation, groups)
    found: A = _forward("conv3d", 3, x, weight, bias, options, allow_tf32, out)
    return found


def conv3d_backward(
    grad: A,
    x: A,
    weight: A,
    stride: Sides = 1,
    padding: Padding = 0,
    dilation: Sides = 1,
    groups: int = 1,
    *,
    allow_tf32: bool = False,
) -> tuple[A, A, A]:
    """The gradients of `conv3d` by x, weight and bias."""
    options = (stride, padding, dilation, groups)
    return _backward("conv3d_backward", 3, grad, x, weight, options, allow_tf32)


_Options = tuple["Sides", "Padding", "Sides", int]


def _forward(
    operation: str,
    axes: int,
    x: Any,
    weight: Any,
    bias: Any,
    options: _Options,
    allow_tf32: bool,
    out: Any,
) -> Any:
    source, w, *rest = run.arrays(operation, x, weight, bias=bias)
    how = convolution(operation, axes, source, w, *options)
    b = run.by_channel(operation, "bias", rest[0], w.shape[0]) if rest else None
    return run.convolved(operation, how, source, w, b, allow_tf32=allow_tf32, out=out)


def _backward(
    operation: str, axes: int, grad: Any, x: Any, weight: Any, options: _Options, allow_tf32: bool
) -> tuple[Any, Any, Any]:
    source, w, upstream = run.arrays(operation, x, weight, grad=grad)
    how = convolution(operation, axes, source, w, *options)
    run.require_shape(operation, upstream, how.shape())
    sums = run.channel_sums(operation, upstream, axes)
    source, upstream = run.laid(how, source, how.inner), run.laid(how, upstream, how.outer)
    dx = run.convolved(operation, how, upstream, w, None, transposed=True, allow_tf32=allow_tf32)
    dw = run.weight_gradient(operation, how, upstream, source, w, allow_tf32=allow_tf32)
    return dx, dw, sums


def _spec(axes: int, function: Any, backward: Any) -> KernelSpec:
    name = f"conv{axes}d"
    return KernelSpec(
        name=name,
        family="convolution",
        function=function,
        kernels=run.KERNELS,
        backward=gradient_calls(backward),
        differentiable=(0, 1, 2),
        formula="out[n, o, p] = bias[o] + sum over c, k of "
        "x[n, c, p stride - padding + k dilation] weight[o, c, k]",
        source=f"PyTorch, torch.nn.functional.{name}",
        reference=conv_reference,
        backward_reference=gradients_of(conv_gradients),
        torch_name=f"torch.nn.functional.{name}",
        torch=torch_function(name),
        cases=CONV_CASES[axes],
        make=make,
        tolerance=SUM_OF_PRODUCTS,
        magnitude=size_of(conv_reference),
        backward_magnitude=gradients_of(conv_gradients, sizes=True),
        cost=cost,
        benchmarks=CONV_BENCHMARKS[axes],
    )


SPECS = (
    _spec(1, conv1d, conv1d_backward),
    _spec(2, conv2d, conv2d_backward),
    _spec(3, conv3d, conv3d_backward),
)
