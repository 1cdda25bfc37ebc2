"""add_rms_norm: the RMS norm of a sum of two arrays, and the sum, in one pass; with backward.

    h = x + residual      y = h / sqrt(mean(h^2) + eps) w

Both results are rounded once: the norm is that of the sum before it is. Kernels and grid:
kernels.py. An output may be an input.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from teeny_kernels.arrays import ITEMSIZES, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.norm import run
from teeny_kernels.norm.kernels import add_norm_forward, column_sums, row_norm_backward
from teeny_kernels.rows import block_of, resident, unit_of, warps_of
from teeny_kernels.spec import EPSILON, FLOATS, Case, Cost, KernelSpec, Tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

A = TypeVar("A")


def add_rms_norm(
    x: A,
    residual: A,
    normalized_shape: int | Sequence[int],
    weight: A | None = None,
    eps: float | None = None,
) -> tuple[A, A]:
    """The RMS norm of `x` + `residual` over the last axes `normalized_shape`, and the sum.

    `eps` None is the spacing of the dtype of `x` at 1.

    Raises:
        KernelError: E1202 when a shape does not fit, E1203, E1204, E1206.
    """
    operation = "add_rms_norm"
    source, other = operand("x", x), operand("residual", residual)
    require_dtype(operation, "x", source, FLOATS)
    same_place(operation, [("x", source), ("residual", other)])
    require_dtype(operation, "residual", other, (source.dtype,))
    if other.shape != source.shape:
        what = f"`x` {source.shape}, `residual` {other.shape}"
        raise E1202.error(operation=operation, what=what).help("give arrays of one shape")
    sides = run.sides_of(operation, source, normalized_shape)
    own = run.taken(operation, source, sides, {"weight": weight})["weight"]
    result, total = (Output(operation, source, source.shape) for _ in range(2))
    if source.size:
        columns = prod(sides)
        block = block_of(columns)
        warps, unit = warps_of(block, ITEMSIZES[source.dtype]), unit_of(columns)
        launch: Any = resident(add_norm_forward, warps, block)[source.size // columns]
        launch(
            *(result.operand.array, total.operand.array),
            *(contiguous(operation, given).array for given in (source, other)),
            *(None if own is None else own.array, columns // unit, _eps(source.dtype, eps)),
            UNIT=unit,
            BLOCK_SIZE=block,
        )
    return result.finish(), total.finish()


def add_rms_norm_backward(
    grad: A,
    sum_grad: A | None,
    h: A,
    normalized_shape: int | Sequence[int],
    weight: A | None = None,
    eps: float | None = None,
) -> tuple[A, A, A | None]:
    """The gradients by `x` and `residual`, which are one array, and weight (None without one).

    `grad` is the gradient of the norm, `sum_grad` that of the sum (None for none), and `h` the sum
    that the forward gave.
    """
    operation = "add_rms_norm_backward"
    dx, dw, _ = run.backward(
        *(operation, grad, h, normalized_shape, weight, _eps(operand("h", h).dtype, eps)),
        center=False,
        with_bias=False,
        sum_grad=sum_grad,
    )
    return dx, dx, dw


def _eps(dtype: str, eps: float | None) -> float:
    return EPSILON.get(dtype, 0.0) if eps is None else eps


def _axes(x: Any, normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return tuple(range(x.ndim - count, x.ndim))


def _scaled(h: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any]:
    square = (h.astype(np.longdouble) ** 2).mean(axis=axes, keepdims=True)
    rstd = (1 / np.sqrt(square + eps)).astype(np.float64)
    return h * rstd, rstd


def _reference(
    x: Any, residual: Any, w: Any, normalized_shape: int | Sequence[int], eps: float
) -> tuple[Any, Any]:
    h = x + residual
    return _scaled(h, _axes(x, normalized_shape), eps)[0] * w, h


def _magnitude(
    x: Any, residual: Any, w: Any, normalized_shape: int | Sequence[int], eps: float
) -> tuple[Any, Any]:
    terms = np.abs(x) + np.abs(residual)
    rstd = _scaled(x + residual, _axes(x, normalized_shape), eps)[1]
    return 2 * terms * rstd * np.abs(w), terms


def _gradients(
    grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
) -> Sequence[Any]:
    return add_rms_norm_backward(
        grads[0],
        grads[1],
        outputs[1],
        options["normalized_shape"],
        arrays[2],
        options["eps"],
    )


def _slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    (grad, sum_grad), (x, residual, w) = grads, arrays
    axes = _axes(x, options["normalized_shape"])
    rows = tuple(range(x.ndim - len(axes)))
    normal, rstd = _scaled(x + residual, axes, options["eps"])
    along = (grad * w * normal).mean(axis=axes, keepdims=True)
    dx = (grad * w - normal * along) * rstd + sum_grad
    return [dx, dx, (grad * normal).astype(np.longdouble).sum(axis=rows).astype(np.float64)]


def _sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    (grad, sum_grad), (x, residual, w) = grads, arrays
    axes = _axes(x, options["normalized_shape"])
    rows = tuple(range(x.ndim - len(axes)))
    normal, rstd = _scaled(x + residual, axes, options["eps"])
    scaled, normal = np.abs(grad * w), np.abs(normal)
    along = (scaled * normal).mean(axis=axes, keepdims=True)
    # The sum was rounded to its dtype: rstd is off by half of its spacing, a normal element by one,
    # a product of both by two; an eighth of that for each of the eight ulp of the tolerance.
    scaled, bent = scaled * (1 + rounding / 16), normal * along * (1 + rounding / 4)
    dx = (scaled + bent) * rstd + np.abs(sum_grad)
    return [dx, dx, (np.abs(grad) * normal).sum(axis=rows) * (1 + rounding / 8)]


def _torch(t: Any, x: Any, residual: Any, w: Any, normalized_shape: Any, eps: float) -> Any:
    h = x + residual
    sides = np.atleast_1d(normalized_shape).tolist()
    return t.nn.functional.rms_norm(h, sides, w, eps), h


def _case(
    shape: tuple[int, ...], sides: int | tuple[int, ...], values: str = "normal", eps: float = 1e-5
) -> Case:
    own = (sides,) if isinstance(sides, int) else sides
    return Case((shape, shape, own), {"normalized_shape": sides, "eps": eps}, values)


SPEC = KernelSpec(
    name="add_rms_norm",
    family="norm",
    function=add_rms_norm,
    call=lambda x, residual, w, normalized_shape, eps: add_rms_norm(
        x, residual, normalized_shape, w, eps
    ),
    backward=_gradients,
    differentiable=(0, 1, 2),
    gradients=("x", "residual", "weight"),
    kernels=(add_norm_forward, row_norm_backward, column_sums),
    formula="h = x + residual;  y = h / sqrt(mean(h^2) + eps) w",
    source="Zhang, Sennrich 2019",
    reference=_reference,
    magnitude=_magnitude,
    backward_reference=_slopes,
    backward_magnitude=_sizes,
    outputs=2,
    torch_name="torch.nn.functional.rms_norm(x + residual)",
    torch=_torch,
    torch_error=1e-14,
    cases=(
        _case((1, 1), 1),
        _case((0, 7), 7),
        _case((4, 1), 1, eps=1e-3),
        _case((3, 17), 17),
        _case((5, 128), 128, eps=1e-6),
        _case((7, 1000), 1000),
        _case((300, 64), 64),
        _case((2, 3, 33), 33, "special"),
        _case((2, 3, 4, 5), (4, 5)),
        _case((6, 1000), 1000, "wide"),
        _case((6, 100), 100, "shifted"),
        _case((6, 100), 100, "ties"),
    ),
    tolerance=Tolerance(4, "a sum, a mean square by a tree sum, a square root, two products"),
    backward_tolerance=Tolerance(8, "sums over rows and over columns"),
    cost=lambda case, itemsize: Cost(4 * itemsize * prod(case.shapes[0]), 8 * prod(case.shapes[0])),
    benchmarks=tuple(_case((32768, n), n) for n in (1000, 1024, 4096, 8192, 16384)),
)
