"""Layer norm and RMS norm over the last axes, forward and backward.

    layer_norm(x) = (x - mean(x)) / sqrt(var(x) + eps) w + b
    rms_norm(x)   = x / sqrt(mean(x^2) + eps) w

Kernels in kernels.py. The whole computation is in f32 (f64 for f64) and rounded once, w included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from teeny_kernels.arrays import operand
from teeny_kernels.norm import run
from teeny_kernels.norm.kernels import column_sums, row_norm_backward, row_norm_forward
from teeny_kernels.spec import EPSILON, Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")

Shape = int | Sequence[int]


def layer_norm(
    x: A,
    normalized_shape: Shape,
    weight: A | None = None,
    bias: A | None = None,
    eps: float = 1e-5,
    *,
    out: A | None = None,
) -> A:
    """`x` over its last axes `normalized_shape`, shifted and scaled to mean 0 and variance 1.

    `weight` and `bias` are of the shape `normalized_shape`.

    Raises:
        KernelError: E1202 when a shape does not fit, E1203, E1204, E1206, E1207.
    """
    found: A = run.forward("layer_norm", x, normalized_shape, weight, bias, eps, out, center=True)
    return found


def layer_norm_backward(
    grad: A,
    x: A,
    normalized_shape: Shape,
    weight: A | None = None,
    eps: float = 1e-5,
) -> tuple[A, A | None, A]:
    """The gradients by x, by weight (None without one) and by bias."""
    return run.backward(
        "layer_norm_backward", grad, x, normalized_shape, weight, eps, center=True, with_bias=True
    )


def rms_norm(
    x: A,
    normalized_shape: Shape,
    weight: A | None = None,
    eps: float | None = None,
    *,
    out: A | None = None,
) -> A:
    """`x` over its last axes `normalized_shape`, scaled to a mean square of 1.

    `eps` None is the spacing of the dtype of `x` at 1. The product with `weight` is taken before
    the result is rounded.

    Raises:
        KernelError: E1202 when a shape does not fit, E1203, E1204, E1206, E1207.
    """
    found: A = run.forward(
        "rms_norm", x, normalized_shape, weight, None, _eps(x, eps), out, center=False
    )
    return found


def rms_norm_backward(
    grad: A,
    x: A,
    normalized_shape: Shape,
    weight: A | None = None,
    eps: float | None = None,
) -> tuple[A, A | None]:
    """The gradients by x and by weight (None without one)."""
    dx, dw, _ = run.backward(
        "rms_norm_backward",
        grad,
        x,
        normalized_shape,
        weight,
        _eps(x, eps),
        center=False,
        with_bias=False,
    )
    return dx, dw


def _eps(x: Any, eps: float | None) -> float:
    return EPSILON.get(operand("x", x).dtype, 0.0) if eps is None else eps


def _axes(x: np.ndarray, normalized_shape: Shape) -> tuple[int, ...]:
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return tuple(range(x.ndim - count, x.ndim))


def _mean(x: Any, axes: tuple[int, ...]) -> Any:
    total = x.astype(np.longdouble).mean(axis=axes, keepdims=True)
    return total.astype(np.float64)


def _normal(x: Any, axes: tuple[int, ...], eps: float, *, center: bool) -> tuple[Any, Any]:
    if center:
        x = x - _mean(x, axes)
    rstd = 1 / np.sqrt(_mean(x * x, axes) + eps)
    return x * rstd, rstd


def layer_norm_reference(x: Any, w: Any, b: Any, normalized_shape: Shape, eps: float = 1e-5) -> Any:
    return _normal(x, _axes(x, normalized_shape), eps, center=True)[0] * w + b


def rms_norm_reference(x: Any, w: Any, normalized_shape: Shape, eps: float) -> Any:
    return _normal(x, _axes(x, normalized_shape), eps, center=False)[0] * w


def _gradients(center: bool) -> Any:
    def gradients(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
    ) -> Sequence[Any]:
        (grad,), (x, w, *_) = grads, arrays
        axes = _axes(x, options["normalized_shape"])
        rows = tuple(range(x.ndim - len(axes)))
        normal, rstd = _normal(x, axes, options.get("eps", 1e-5), center=center)
        scaled = grad * w
        dx = scaled - normal * _mean(scaled * normal, axes)
        if center:
            dx = dx - _mean(scaled, axes)
        found = [dx * rstd, _sum(grad * normal, rows)]
        return [*found, _sum(grad, rows)] if center else found

    return gradients


def _sum(x: Any, axes: tuple[int, ...]) -> Any:
    return x.astype(np.longdouble).sum(axis=axes).astype(np.float64)


def _magnitude(center: bool) -> Any:
    def magnitude(x: Any, w: Any, *rest: Any, **options: Any) -> Any:
        axes = _axes(x, options["normalized_shape"])
        normal, rstd = _normal(x, axes, options.get("eps", 1e-5), center=center)
        # The mean is rounded in units of the largest element.
        shift = np.abs(x).max(axis=axes, keepdims=True) * rstd if center and x.size else 0.0
        size = (np.abs(normal) + shift) * np.abs(w) + np.abs(normal * w) * shift
        return size + np.abs(rest[0]) if rest else size

    return magnitude


def _gradient_magnitude(center: bool) -> Any:
    def magnitude(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], _rounding: float
    ) -> Sequence[Any]:
        (grad,), (x, w, *_) = grads, arrays
        axes = _axes(x, options["normalized_shape"])
        rows = tuple(range(x.ndim - len(axes)))
        normal, rstd = _normal(x, axes, options.get("eps", 1e-5), center=center)
        shift = np.abs(x).max(axis=axes, keepdims=True) * rstd if x.size and center else 1.0
        normal, scaled = np.abs(normal), np.abs(grad * w)
        along = _mean(scaled * normal, axes)
        dx = (scaled + _mean(scaled, axes) + (normal + 1) * along) * rstd * (1 + shift)
        found = [dx, _sum(np.abs(grad) * (normal + shift) * (1 + shift), rows)]
        return [*found, _sum(np.abs(grad), rows)] if center else found

    return magnitude


def _case(shape: Sequence[int], sides: Shape, values: str = "normal", **options: Any) -> Case:
    own = (sides,) if isinstance(sides, int) else tuple(sides)
    return Case((tuple(shape), own, own), {"normalized_shape": sides, **options}, values)


SIZES = (
    _case((1, 1), 1, eps=1e-5),
    _case((0, 7), 7, eps=1e-5),
    _case((4, 1), 1, eps=1e-3),
    _case((3, 17), 17, eps=1e-5),
    _case((5, 128), 128, eps=1e-6),
    _case((7, 1000), 1000, eps=1e-5),
    _case((300, 64), 64, eps=1e-5),
    _case((2, 3, 33), 33, eps=1e-5),
    _case((2, 3, 4, 5), (4, 5), eps=1e-5),
    _case((6, 1024), (1024,), "wide", eps=1e-5),
    _case((6, 768), 768, "shifted", eps=1e-5),
    _case((6, 100), 100, "ties", eps=1e-5),
    _case((2, 9001), 9001, eps=1e-5),
)


def _cost(case: Case, itemsize: int) -> Cost:
    count = prod(case.shapes[0])
    return Cost(2 * itemsize * count, 8 * count)


def _two(cases: Sequence[Case]) -> tuple[Case, ...]:
    return tuple(case._replace(shapes=case.shapes[:2]) for case in cases)


_COMMON: dict[str, Any] = {
    "family": "norm",
    "kernels": (row_norm_forward, row_norm_backward, column_sums),
    "cost": _cost,
}

SPECS = (
    KernelSpec(
        name="layer_norm",
        function=layer_norm,
        call=lambda x, w, b, normalized_shape, eps=1e-5: layer_norm(x, normalized_shape, w, b, eps),
        backward=lambda grads, arrays, outputs, options: layer_norm_backward(
            grads[0], arrays[0], options["normalized_shape"], arrays[1], options.get("eps", 1e-5)
        ),
        differentiable=(0, 1, 2),
        gradients=("x", "weight", "bias"),
        formula="(x - mean) / sqrt(var + eps) w + b",
        source="Ba, Kiros, Hinton 2016",
        reference=layer_norm_reference,
        backward_reference=_gradients(center=True),
        torch_name="torch.nn.functional.layer_norm",
        torch=lambda t, x, w, b, normalized_shape, eps=1e-5: t.nn.functional.layer_norm(
            x, np.atleast_1d(normalized_shape).tolist(), w, b, eps
        ),
        cases=SIZES,
        tolerance=Tolerance(4, "mean and variance by tree sums, a square root, two products"),
        backward_tolerance=Tolerance(8, "sums over rows and over columns"),
        magnitude=_magnitude(center=True),
        backward_magnitude=_gradient_magnitude(center=True),
        benchmarks=tuple(_case((32768, n), n) for n in (1000, 1024, 4096, 8192, 16384)),
        **_COMMON,
    ),
    KernelSpec(
        name="rms_norm",
        function=rms_norm,
        call=lambda x, w, normalized_shape, eps=None: rms_norm(x, normalized_shape, w, eps),
        backward=lambda grads, arrays, outputs, options: rms_norm_backward(
            grads[0], arrays[0], options["normalized_shape"], arrays[1], options.get("eps")
        ),
        differentiable=(0, 1),
        gradients=("x", "weight"),
        formula="x / sqrt(mean(x^2) + eps) w",
        source="Zhang, Sennrich 2019",
        reference=rms_norm_reference,
        backward_reference=_gradients(center=False),
        torch_name="torch.nn.functional.rms_norm",
        torch=lambda t, x, w, normalized_shape, eps=None: t.nn.functional.rms_norm(
            x, np.atleast_1d(normalized_shape).tolist(), w, eps
        ),
        cases=_two(SIZES),
        tolerance=Tolerance(4, "a mean square by a tree sum, a square root, two products"),
        backward_tolerance=Tolerance(8, "sums over rows and over columns"),
        magnitude=_magnitude(center=False),
        backward_magnitude=_gradient_magnitude(center=False),
        benchmarks=_two([_case((32768, n), n) for n in (1000, 1024, 4096, 8192, 16384)]),
        **_COMMON,
    ),
)
