"""conv_transpose1d, conv_transpose2d, conv_transpose3d: forward, and the gradients.

    out[n, o, i] = bias[o] + sum over c, k of x[n, c, p] weight[c, o, k]
                   where i = p stride - padding + k dilation

which is the gradient of a convolution by its input; the gradient of it by `x` is that convolution.
Kernels in kernels.py and weight_kernels.py. `x` and `grad` are read with the strides they have,
results are contiguous.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from teeny_kernels.convolution import run
from teeny_kernels.convolution.cases import (
    SUM_OF_PRODUCTS,
    TRANSPOSE_BENCHMARKS,
    TRANSPOSE_CASES,
    make,
)
from teeny_kernels.convolution.geometry import transposed
from teeny_kernels.convolution.reference import (
    gradient_calls,
    gradients_of,
    size_of,
    torch_function,
    transpose_cost,
    transpose_gradients,
    transpose_reference,
)
from teeny_kernels.spec import KernelSpec

if TYPE_CHECKING:
    from teeny_kernels.convolution.geometry import Sides

A = TypeVar("A")


def conv_transpose1d(
    x: A,
    weight: A,
    bias: A | None = None,
    stride: Sides = 1,
    padding: Sides = 0,
    output_padding: Sides = 0,
    groups: int = 1,
    dilation: Sides = 1,
    *,
    allow_tf32: bool = False,
    out: A | None = None,
) -> A:
    """The transposed convolution of `x` (N, C, L) with `weight` (C, O / groups, K).

    `output_padding` makes the result longer at the end; it is below the stride or the dilation.
    `allow_tf32` lets f32 be rounded to tf32 on a GPU.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204 for options, E1206, E1207.
    """
    options = (stride, padding, output_padding, dilation, groups)
    found: A = _forward("conv_transpose1d", 1, x, weight, bias, options, allow_tf32, out)
    return found


def conv_transpose1d_backward(
    grad: A,
    x: A,
    weight: A,
    stride: Sides = 1,
    padding: Sides = 0,
    output_padding: Sides = 0,
    groups: int = 1,
    dilation: Sides = 1,
    *,
    allow_tf32: bool = False,
) -> tuple[A, A, A]:
    """The gradients of `conv_transpose1d` by x, weight and bias."""
    options = (stride, padding, output_padding, dilation, groups)
    return _backward("conv_transpose1d_backward", 1, grad, x, weight, options, allow_tf32)


def conv_transpose2d(
    x: A,
    weight: A,
    bias: A | None = None,
    stride: Sides = 1,
    padding: Sides = 0,
    output_padding: Sides = 0,
    groups: int = 1,
    dilation: Sides = 1,
    *,
    allow_tf32: bool = False,
    out: A | None = None,
) -> A:
    """The transposed convolution of `x` (N, C, H, W) with `weight` (C, O / groups, KH, KW).

    `output_padding` makes the result longer at the end; it is below the stride or the dilation.
    `allow_tf32` lets f32 be rounded to tf32 on a GPU.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204 for options, E1206, E1207.
    """
    options = (stride, padding, output_padding, dilation, groups)
    found: A = _forward("conv_transpose2d", 2, x, weight, bias, options, allow_tf32, out)
    return found


def conv_transpose2d_backward(
    grad: A,
    x: A,
    weight: A,
    stride: Sides = 1,
    padding: Sides = 0,
    output_padding: Sides = 0,
    groups: int = 1,
    dilation: Sides = 1,
    *,
    allow_tf32: bool = False,
) -> tuple[A, A, A]:
    """The gradients of `conv_transpose2d` by x, weight and bias."""
    options = (stride, padding, output_padding, dilation, groups)
    return _backward("conv_transpose2d_backward", 2, grad, x, weight, options, allow_tf32)


def conv_transpose3d(
    x: A,
    weight: A,
    bias: A | None = None,
    stride: Sides = 1,
    padding: Sides = 0,
    output_padding: Sides = 0,
    groups: int = 1,
    dilation: Sides = 1,
    *,
    allow_tf32: bool = False,
    out: A | None = None,
) -> A:
    """The transposed convolution of `x` (N, C, D, H, W) with `weight` (C, O / groups, ...).

    `output_padding` makes the result longer at the end; it is below the stride or the dilation.
    `allow_tf32` lets f32 be rounded to tf32 on a GPU.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204 for options, E1206, E1207.
    """
    options = (stride, padding, output_padding, dilation, groups)
    found: A = _forward("conv_transpose3d", 3, x, weight, bias, options, allow_tf32, out)
    return found


def conv_transpose3d_backward(
    grad: A,
    x: A,
    weight: A,
    stride: Sides = 1,
    padding: Sides = 0,
    output_padding: Sides = 0,
    groups: int = 1,
    dilation: Sides = 1,
    *,
    allow_tf32: bool = False,
) -> tuple[A, A, A]:
    """The gradients of `conv_transpose3d` by x, weight and bias."""
    options = (stride, padding, output_padding, dilation, groups)
    return _backward("conv_transpose3d_backward", 3, grad, x, weight, options, allow_tf32)


_Options = tuple["Sides", "Sides", "Sides", "Sides", int]


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
    how = transposed(operation, axes, source, w, *options)
    b = run.by_channel(operation, "bias", rest[0], how.groups * how.inner) if rest else None
    return run.convolved(
        operation, how, source, w, b, transposed=True, allow_tf32=allow_tf32, out=out
    )


def _backward(
    operation: str, axes: int, grad: Any, x: Any, weight: Any, options: _Options, allow_tf32: bool
) -> tuple[Any, Any, Any]:
    source, w, upstream = run.arrays(operation, x, weight, grad=grad)
    how = transposed(operation, axes, source, w, *options)
    run.require_shape(operation, upstream, how.shape(of_x=True))
    sums = run.channel_sums(operation, upstream, axes)
    source, upstream = run.laid(how, source, how.outer), run.laid(how, upstream, how.inner)
    dx = run.convolved(operation, how, upstream, w, None, allow_tf32=allow_tf32)
    dw = run.weight_gradient(operation, how, source, upstream, w, allow_tf32=allow_tf32)
    return dx, dw, sums


def _spec(axes: int, function: Any, backward: Any) -> KernelSpec:
    name = f"conv_transpose{axes}d"
    return KernelSpec(
        name=name,
        family="convolution",
        function=function,
        kernels=run.KERNELS,
        backward=gradient_calls(backward),
        differentiable=(0, 1, 2),
        formula="out[n, o, p stride - padding + k dilation] += x[n, c, p] weight[c, o, k]",
        source=f"PyTorch, torch.nn.functional.{name}",
        reference=transpose_reference,
        backward_reference=gradients_of(transpose_gradients),
        torch_name=f"torch.nn.functional.{name}",
        torch=torch_function(name),
        cases=TRANSPOSE_CASES[axes],
        make=make,
        tolerance=SUM_OF_PRODUCTS,
        magnitude=size_of(transpose_reference),
        backward_magnitude=gradients_of(transpose_gradients, sizes=True),
        cost=transpose_cost,
        benchmarks=TRANSPOSE_BENCHMARKS[axes],
    )


SPECS = (
    _spec(1, conv_transpose1d, conv_transpose1d_backward),
    _spec(2, conv_transpose2d, conv_transpose2d_backward),
    _spec(3, conv_transpose3d, conv_transpose3d_backward),
)
