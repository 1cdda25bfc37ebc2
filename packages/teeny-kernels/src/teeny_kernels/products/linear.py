"""Linear layers, forward and backward, alone and with what follows them in the same kernel.

    z = scale x weight^T + bias        out = activation(z) + residual

The gradients are products themselves, of transposed views, and the sum of the rows of a gradient;
that by z is made by the kernel that makes z again. Nothing is copied for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from math import erf, prod
from typing import Any, TypeVar

import numpy as np

from teeny_kernels.arrays import Operand, empty, operand
from teeny_kernels.calls import Plans, aligned, key_of
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, reshaped
from teeny_kernels.products.run import KERNELS, Epilogue, plan_of, product
from teeny_kernels.products.shapes import (
    SUM_OF_PRODUCTS,
    check,
    exactly,
    flattened,
    sizes_of,
    sum_rows,
)
from teeny_kernels.products.views import turned
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")

_ACTIVATIONS = ("gelu", "gelu_tanh", "relu", "silu", "identity")


def linear(x: A, weight: A, bias: A | None = None, *, allow_tf32: bool = False) -> A:
    """X weight^T + bias, as `torch.nn.functional.linear`.

    `x` is (..., in), `weight` (out, in), `bias` (out). A weight (in), with a bias (), gives (...).

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1206.
    """
    key = key_of((x, weight, bias), "linear", allow_tf32)
    key = key and (*key, *aligned(x, weight))
    plan = _plans.find(key)
    known: A | None = None if plan is None else plan(x, weight, None, None, None, bias, None)
    if known is not None:
        return known
    source, w = operand("x", x), operand("weight", weight)
    b = None if bias is None else operand("bias", bias)
    check("linear", source, w, *(() if b is None else (b,)))
    is_row = w.ndim == 1
    if is_row:
        w, b = _as_row(w), b and _with_last(b)
    _require_fit("linear", source, w, b)
    shape = (*source.shape[:-1], w.shape[0])
    result = Output("linear", source, shape[:-1] if is_row else shape)
    ready = None if b is None else contiguous("linear", b)
    flat = flattened("linear", source)
    target = reshaped(result.operand, shape)
    run = product(target, flat, turned(w), Epilogue(bias=ready), relaxed=allow_tf32)
    if key and run and not is_row and _as_given((source, flat), (b, ready)):
        _plans.keep(key, plan_of(run, result.operand))
    found: A = result.finish()
    return found


def _as_row(weight: Operand) -> Operand:
    """A weight of one output as a matrix of one row."""
    (side,), (step,) = weight.shape, weight.strides
    return weight._replace(shape=(1, side), strides=(side * step, step))


def _with_last(x: Operand) -> Operand:
    """`x` with an axis of one element behind its last."""
    return x._replace(shape=(*x.shape, 1), strides=(*x.strides, 1))


_plans = Plans()


def _as_given(*pairs: tuple[Operand | None, Operand | None]) -> bool:
    """Whether no operand was copied, which has to be done each time."""
    return all(a is None or (b is not None and a.array is b.array) for a, b in pairs)


def linear_backward(grad: A, x: A, weight: A, *, allow_tf32: bool = False) -> tuple[A, A, A]:
    """The gradients by x, `grad` weight, by weight, `grad`^T x, and by bias, the sum of `grad`."""
    source, w, upstream = operand("x", x), operand("weight", weight), operand("grad", grad)
    check("linear_backward", source, w, upstream)
    shape, of_bias = w.shape, w.shape[:-1]
    if w.ndim == 1:
        w, upstream = _as_row(w), _with_last(upstream)
    _require_fit("linear_backward", source, w, None, upstream)
    flat = flattened("linear_backward", source)
    g = flattened("linear_backward", upstream)
    dx = Output("linear_backward", source, source.shape)
    product(dx.operand, g, w, relaxed=allow_tf32)
    dw = Output("linear_backward", w, shape)
    product(reshaped(dw.operand, w.shape), turned(g), flat, relaxed=allow_tf32)
    return dx.finish(), dw.finish(), sum_rows("linear_backward", w, g, of_bias)


def linear_activation(
    x: A,
    weight: A,
    bias: A | None = None,
    residual: A | None = None,
    *,
    activation: str = "gelu",
    scale: float = 1.0,
    allow_tf32: bool = False,
) -> A:
    """Activation(scale x weight^T + bias) + residual, in one kernel.

    `x` is (..., in), `weight` (out, in), `bias` (out), `residual` (..., out). `activation` is
    `gelu`, `gelu_tanh`, `relu`, `silu` or `identity`, as PyTorch's functions. Nothing is rounded
    between the product and the result.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204 for another activation, E1206.
    """
    key = key_of((x, weight, bias, residual), "linear_activation", activation, scale, allow_tf32)
    key = key and (*key, *aligned(x, weight))
    plan = _plans.find(key)
    known: A | None = None if plan is None else plan(x, weight, None, None, None, bias, residual)
    if known is not None:
        return known
    source, w = operand("x", x), operand("weight", weight)
    b = None if bias is None else operand("bias", bias)
    r = None if residual is None else operand("residual", residual)
    check("linear_activation", source, w, *(own for own in (b, r) if own is not None))
    _require_fit("linear_activation", source, w, b, r)
    result = Output("linear_activation", source, (*source.shape[:-1], w.shape[0]))
    epilogue = Epilogue(
        bias=None if b is None else contiguous("linear_activation", b),
        residual=None if r is None else contiguous("linear_activation", r),
        alpha=scale,
        activation=_activation(activation),
    )
    flat = flattened("linear_activation", source)
    run = product(result.operand, flat, turned(w), epilogue, relaxed=allow_tf32)
    if key and run and _as_given((source, flat), (b, epilogue.bias), (r, epilogue.residual)):
        _plans.keep(key, plan_of(run, result.operand))
    found: A = result.finish()
    return found


def linear_activation_backward(
    grad: A,
    x: A,
    weight: A,
    bias: A | None = None,
    *,
    activation: str = "gelu",
    scale: float = 1.0,
    allow_tf32: bool = False,
) -> tuple[A, A, A, A]:
    """The gradients by x, weight, bias and residual; the last is `grad` itself."""
    name = "linear_activation_backward"
    source, w, upstream = operand("x", x), operand("weight", weight), operand("grad", grad)
    b = None if bias is None else operand("bias", bias)
    check(name, source, w, upstream, *(() if b is None else (b,)))
    _require_fit(name, source, w, b, upstream)
    flat, g = flattened(name, source), flattened(name, upstream)
    kind = _activation(activation)
    if kind is not None:
        again = Epilogue(
            bias=None if b is None else contiguous(name, b),
            residual=contiguous(name, g),
            alpha=scale,
            activation=kind,
            gradient=True,
        )
        g = empty(source, g.shape)
        product(g, flat, turned(w), again, relaxed=allow_tf32)
    scaled = Epilogue(alpha=scale)
    dx = Output(name, source, source.shape)
    product(dx.operand, g, w, scaled, relaxed=allow_tf32)
    dw = Output(name, w, w.shape)
    product(dw.operand, turned(g), flat, scaled, relaxed=allow_tf32)
    return dx.finish(), dw.finish(), sum_rows(name, w, g), grad


def _activation(activation: str) -> str | None:
    if activation not in _ACTIVATIONS:
        raise E1204.error(
            operation="linear_activation", name="activation", found=repr(activation)
        ).help(f"give one of {', '.join(_ACTIVATIONS)}")
    return None if activation == "identity" else activation


def _require_fit(
    operation: str, x: Operand, weight: Operand, bias: Operand | None, grad: Operand | None = None
) -> None:
    """Raise E1202 unless the arrays are those of a linear layer."""
    fits = weight.ndim == 2 and x.ndim >= 1 and x.shape[-1] == weight.shape[1]
    if fits and bias is not None:
        fits = bias.shape == weight.shape[:1]
    if fits and grad is not None:
        fits = grad.shape == (*x.shape[:-1], weight.shape[0])
    if not fits:
        shapes = f"`x` {x.shape}, `weight` {weight.shape}"
        shapes += "" if bias is None else f", `bias` {bias.shape}"
        shapes += "" if grad is None else f", `grad` {grad.shape}"
        raise E1202.error(operation=operation, what=shapes).help(
            "x is (..., in), weight (out, in), bias (out), grad (..., out)"
        )


def _linear_gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    (grad,), (x, w, _) = grads, arrays
    rows = prod(x.shape[:-1])
    flat, g = x.reshape(rows, x.shape[-1]), grad.reshape(rows, w.shape[0])
    return exactly(grad, w), exactly(g.T, flat), g.astype(np.longdouble).sum(axis=0)


def _cost(case: Case, itemsize: int) -> Cost:
    """What a linear layer has to move and compute."""
    x, w = case.shapes[:2]
    moved = prod(x) + prod(w) + prod(x[:-1]) * w[0]
    return Cost(itemsize * moved, 2 * prod(x) * w[0])


def _activated(z: Any, activation: str) -> Any:
    """NumPy: an activation and its slope."""
    distribution = 0.5 * (1 + np.vectorize(erf, otypes=[np.float64])(z / math.sqrt(2)))
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    root = math.sqrt(2 / math.pi)
    tanh = np.tanh(root * (z + 0.044715 * z**3))
    share = 1 / (1 + np.exp(-z))
    slope = 0.5 * (1 + tanh) + 0.5 * z * (1 - tanh**2) * root * (1 + 3 * 0.044715 * z * z)
    return {
        "identity": (z, np.ones_like(z)),
        "relu": (np.where(z < 0, 0.0, z), np.where(z <= 0, 0.0, 1.0)),
        "gelu": (z * distribution, distribution + z * density),
        "gelu_tanh": (0.5 * z * (1 + tanh), slope),
        "silu": (z * share, share * (1 + z * (1 - share))),
    }[activation]


def _reference(x: Any, w: Any, b: Any, r: Any, activation: str = "gelu", scale: float = 1.0) -> Any:
    return _activated(scale * (x @ w.T) + b, activation)[0] + r


def _gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    (grad,), (x, w, b, _) = grads, arrays
    scale = options.get("scale", 1.0)
    slope = _activated(scale * (x @ w.T) + b, options.get("activation", "gelu"))[1]
    dx, dw, db = _linear_gradients([grad * slope], [x, w, b], {})
    return scale * dx, scale * dw, db, grad


def _gradient_sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    """Slopes are at most 1.13; that by z is rounded, and z itself has an error of its size."""
    (grad,), (x, w, b, _) = [np.abs(own) for own in grads], [np.abs(own) for own in arrays]
    scale = abs(options.get("scale", 1.0))
    z = np.nan_to_num(scale * (x @ w.T) + b, nan=0.0, posinf=0.0)
    dx, dw, db = _linear_gradients([grad * (1.2 * rounding + 1 + z)], [x, w, b], {})
    return scale * dx, scale * dw, db, grad


def _torch(
    t: Any, x: Any, w: Any, b: Any, r: Any, activation: str = "gelu", scale: float = 1.0
) -> Any:
    z = t.nn.functional.linear(x * scale if scale != 1 else x, w, b)
    own = t.nn.functional
    made: dict[str, Any] = {
        "identity": lambda z: z,
        "relu": own.relu,
        "gelu": own.gelu,
        "gelu_tanh": lambda z: own.gelu(z, approximate="tanh"),
        "silu": own.silu,
    }
    return made[activation](z) + r


SPECS = (
    KernelSpec(
        name="linear",
        family="linear algebra",
        function=linear,
        kernels=KERNELS,
        backward=lambda grads, arrays, outputs, options: linear_backward(
            grads[0], arrays[0], arrays[1]
        ),
        differentiable=(0, 1, 2),
        formula="out[..., o] = sum over i of x[..., i] weight[o, i] + bias[o]",
        source="PyTorch, torch.nn.functional.linear",
        reference=lambda x, w, b: exactly(x, w.T) + b,
        backward_reference=_linear_gradients,
        torch_name="torch.nn.functional.linear",
        torch=lambda t, x, w, b: t.nn.functional.linear(x, w, b),
        cases=tuple(
            Case(((*lead, i), (o, i), (o,)), {}, values)
            for lead, i, o, values in (
                ((1,), 1, 1, "normal"),
                ((), 8, 5, "normal"),
                ((0,), 4, 3, "normal"),
                ((3,), 0, 4, "normal"),
                ((16,), 16, 16, "normal"),
                ((33,), 17, 9, "normal"),
                ((64,), 128, 64, "wide"),
                ((2, 3), 20, 30, "normal"),
                ((2, 3, 4), 33, 65, "ties"),
                ((130,), 64, 129, "normal"),
                ((5,), 300, 7, "normal"),
                ((10,), 20, 12, "special"),
            )
        ),
        tolerance=Tolerance(3, SUM_OF_PRODUCTS),
        magnitude=lambda x, w, b: np.abs(x) @ np.abs(w).T + np.abs(b),
        backward_magnitude=sizes_of(_linear_gradients),
        cost=_cost,
        benchmarks=(
            Case(((8192, 4096), (4096, 4096), (4096,))),
            Case(((16, 4096), (4096, 4096), (4096,))),
        ),
    ),
    KernelSpec(
        name="linear_activation",
        family="linear algebra",
        function=linear_activation,
        kernels=KERNELS,
        backward=lambda grads, arrays, outputs, options: linear_activation_backward(
            grads[0], *arrays[:3], **options
        ),
        differentiable=(0, 1, 2, 3),
        formula="out[..., o] = f(scale sum over i of x[..., i] weight[o, i] + bias[o]) + r[..., o]",
        source="PyTorch, torch.nn.functional.linear, gelu, relu and silu",
        reference=_reference,
        backward_reference=_gradients,
        torch_name="",
        torch=_torch,
        cases=tuple(
            Case(((*lead, i), (o, i), (o,), (*lead, o)), options, values)
            for lead, i, o, options, values in (
                ((1,), 1, 1, {}, "normal"),
                ((), 8, 5, {"activation": "relu"}, "normal"),
                ((0,), 4, 3, {}, "normal"),
                ((3,), 0, 4, {}, "normal"),
                ((16,), 16, 16, {"activation": "silu"}, "normal"),
                ((33,), 17, 9, {"activation": "gelu_tanh"}, "normal"),
                ((64,), 32, 64, {"activation": "gelu", "scale": 0.5}, "normal"),
                ((2, 3), 20, 30, {"activation": "identity", "scale": -2.0}, "ties"),
                ((2, 3, 4), 33, 65, {"activation": "relu", "scale": 0.125}, "normal"),
                ((70,), 24, 129, {"activation": "silu", "scale": 0.25}, "normal"),
                ((5,), 300, 7, {"scale": 0.0625}, "normal"),
                ((10,), 20, 12, {"activation": "relu"}, "special"),
            )
        ),
        tolerance=Tolerance(6, "a sum of k products in f32, then the activation's own error"),
        magnitude=lambda x, w, b, r, activation="gelu", scale=1.0: (
            abs(scale) * (np.abs(x) @ np.abs(w).T) + np.abs(b) + np.abs(r)
        ),
        backward_tolerance=Tolerance(4, "as forward; the gradient by z is rounded on its way"),
        backward_magnitude=_gradient_sizes,
        cost=_cost,
        benchmarks=tuple(
            Case(((8192, 4096), (4096, 4096), (4096,), (8192, 4096)), {"activation": activation})
            for activation in ("relu", "gelu", "silu")
        ),
    ),
)
