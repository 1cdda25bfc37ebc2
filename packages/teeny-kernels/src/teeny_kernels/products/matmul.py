"""matmul and linear, forward and backward: shapes as PyTorch's, one kernel with strides.

The gradients are products themselves, of transposed views; nothing is copied for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from teeny_kernels.arrays import Operand, empty, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import (
    Output,
    broadcast_shape,
    contiguous,
    permuted,
    require_dtype,
    reshaped,
)
from teeny_kernels.norm.kernels import column_sums
from teeny_kernels.products.kernels import matmul_kernel
from teeny_kernels.products.persistent import matmul_persistent
from teeny_kernels.products.run import Epilogue, product
from teeny_kernels.products.stream import matmul_join, matmul_shares
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")


def matmul(x: A, y: A, *, allow_tf32: bool = False, out: A | None = None) -> A:
    """The product of matrices, as `torch.matmul`: (..., m, k) times (..., k, n).

    Leading axes broadcast; one-dimensional arrays are a row and a column, whose axis goes again.
    `allow_tf32` lets f32 inputs be rounded to tf32 on a GPU.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1206, E1207.
    """
    left, right = operand("x", x), operand("y", y)
    _check("matmul", left, right)
    shape = _shape("matmul", left, right)
    result = Output("matmul", left, shape, out=out)
    a, b = _matrix(left, row=True), _matrix(right, row=False)
    product(result.operand, a, b, relaxed=allow_tf32)
    found: A = result.finish()
    return found


def matmul_backward(grad: A, x: A, y: A, *, allow_tf32: bool = False) -> tuple[A, A]:
    """The gradients by x, `grad` y^T, and by y, x^T `grad`, summed where an input was broadcast."""
    left, right, upstream = operand("x", x), operand("y", y), operand("grad", grad)
    _check("matmul_backward", left, right, upstream)
    shape = _shape("matmul_backward", left, right)
    if upstream.shape != shape:
        what = f"`grad` {upstream.shape}, and the product is {shape}"
        raise E1202.error(operation="matmul_backward", what=what).help("give one of its shape")
    a, b = _matrix(left, row=True), _matrix(right, row=False)
    batch = broadcast_shape("matmul_backward", a.shape[:-2], b.shape[:-2])
    full = (*batch, a.shape[-2], b.shape[-1])
    g = reshaped(contiguous("matmul_backward", upstream), full)
    dx = _gradient(left, a, g, _turned(b), allow_tf32)
    dy = _gradient(right, b, _turned(a), g, allow_tf32)
    return dx, dy


def linear(x: A, weight: A, bias: A | None = None, *, allow_tf32: bool = False) -> A:
    """X weight^T + bias, as `torch.nn.functional.linear`.

    `x` is (..., in), `weight` (out, in), `bias` (out).

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1206.
    """
    source, w = operand("x", x), operand("weight", weight)
    b = None if bias is None else operand("bias", bias)
    _check("linear", source, w, *(() if b is None else (b,)))
    fits = w.ndim == 2 and source.ndim >= 1 and source.shape[-1] == w.shape[1]
    if not fits or (b is not None and b.shape != w.shape[:1]):
        shapes = f"`x` {source.shape}, `weight` {w.shape}"
        if b is not None:
            shapes += f", `bias` {b.shape}"
        raise E1202.error(operation="linear", what=shapes).help("weight is (out, in), bias (out)")
    flat = reshaped(contiguous("linear", source), (prod(source.shape[:-1]), source.shape[-1]))
    result = Output("linear", source, (*source.shape[:-1], w.shape[0]))
    ready = None if b is None else contiguous("linear", b)
    product(result.operand, flat, _turned(w), Epilogue(bias=ready), relaxed=allow_tf32)
    found: A = result.finish()
    return found


def linear_backward(grad: A, x: A, weight: A, *, allow_tf32: bool = False) -> tuple[A, A, A]:
    """The gradients by x, `grad` weight, by weight, `grad`^T x, and by bias, the sum of `grad`."""
    source, w, upstream = operand("x", x), operand("weight", weight), operand("grad", grad)
    _check("linear_backward", source, w, upstream)
    if w.ndim != 2 or upstream.shape != (*source.shape[:-1], w.shape[0]):
        what = f"`grad` {upstream.shape}, `x` {source.shape}, `weight` {w.shape}"
        raise E1202.error(operation="linear_backward", what=what).help("grad is (..., out)")
    rows = prod(source.shape[:-1])
    flat = reshaped(contiguous("linear_backward", source), (rows, source.shape[-1]))
    g = reshaped(contiguous("linear_backward", upstream), (rows, w.shape[0]))
    dx = Output("linear_backward", source, source.shape)
    product(dx.operand, g, w, relaxed=allow_tf32)
    dw = Output("linear_backward", w, w.shape)
    product(dw.operand, _turned(g), flat, relaxed=allow_tf32)
    db = Output("linear_backward", w, w.shape[:1])
    _sum_rows(db.operand, g)
    return dx.finish(), dw.finish(), db.finish()


def _check(operation: str, *arrays: Operand) -> None:
    first = arrays[0]
    same_place(operation, [(f"array {at}", own) for at, own in enumerate(arrays)])
    require_dtype(operation, "x", first, FLOATS)
    for other in arrays[1:]:
        require_dtype(operation, "every array", other, (first.dtype,))


def _matrix(x: Operand, *, row: bool) -> Operand:
    if x.ndim != 1:
        return x
    (side,), (step,) = x.shape, x.strides
    if row:
        return x._replace(shape=(1, side), strides=(0, step))
    return x._replace(shape=(side, 1), strides=(step, 0))


def _turned(x: Operand) -> Operand:
    order = list(range(x.ndim))
    order[-2:] = reversed(order[-2:])
    return permuted(x, order)


def _shape(operation: str, x: Operand, y: Operand) -> tuple[int, ...]:
    if not x.ndim or not y.ndim or x.shape[-1] != _matrix(y, row=False).shape[-2]:
        what = f"`x` {x.shape}, `y` {y.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "the last axis of x must be as long as the last but one of y"
        )
    a, b = _matrix(x, row=True), _matrix(y, row=False)
    batch = broadcast_shape(operation, a.shape[:-2], b.shape[:-2])
    rows = a.shape[-2:-1] if x.ndim > 1 else ()
    columns = b.shape[-1:] if y.ndim > 1 else ()
    return (*batch, *rows, *columns)


def _gradient(like: Operand, matrix: Operand, a: Operand, b: Operand, allow_tf32: bool) -> Any:
    batch = broadcast_shape("matmul_backward", a.shape[:-2], b.shape[:-2])
    result = Output("matmul_backward", like, like.shape)
    own = (*(1,) * (len(batch) + 2 - matrix.ndim), *matrix.shape)
    repeated = [axis for axis in range(len(batch)) if own[axis] != batch[axis]]
    if not repeated:
        product(reshaped(result.operand, (*batch, *matrix.shape[-2:])), a, b, relaxed=allow_tf32)
        return result.finish()
    # What is summed is not rounded to a narrow dtype before.
    exact = "f64" if like.dtype == "f64" else "f32"
    whole = empty(like, (*batch, *matrix.shape[-2:]), exact)
    product(whole, a, b, relaxed=allow_tf32)
    kept = [axis for axis in range(len(own)) if axis not in repeated]
    moved = contiguous("matmul_backward", permuted(whole, [*repeated, *kept]))
    count = prod(batch[axis] for axis in repeated)
    _sum_rows(result.operand, reshaped(moved, (count, result.operand.size)))
    return result.finish()


def _sum_rows(target: Operand, rows: Operand) -> None:
    count, columns = rows.shape
    exact = contiguous("sum", rows, "f64" if rows.dtype == "f64" else "f32")
    column_sums[-(-columns // 32)](
        target.array, exact.array, count, columns, ROWS=32, BLOCK_SIZE=32
    )


def _matmul_gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    x = arrays[0][np.newaxis, :] if arrays[0].ndim == 1 else arrays[0]
    y = arrays[1][:, np.newaxis] if arrays[1].ndim == 1 else arrays[1]
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    grad = grads[0].reshape((*batch, x.shape[-2], y.shape[-1]))
    dx = grad @ np.swapaxes(y, -1, -2)
    dy = np.swapaxes(x, -1, -2) @ grad
    return (_unbroadcast(dx, x.shape, arrays[0]), _unbroadcast(dy, y.shape, arrays[1]))


def _unbroadcast(found: Any, shape: Sequence[int], like: Any) -> Any:
    extra = found.ndim - len(shape)
    found = found.sum(axis=tuple(range(extra)))
    axes = tuple(at for at, side in enumerate(shape) if side == 1 and found.shape[at] != 1)
    return found.sum(axis=axes, keepdims=True).reshape(like.shape)


def _linear_gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    (grad,), (x, w, _) = grads, arrays
    rows = prod(x.shape[:-1])
    flat, g = x.reshape(rows, x.shape[-1]), grad.reshape(rows, w.shape[0])
    return (grad @ w, g.T @ flat, g.sum(axis=0))


def _sizes(of: Any) -> Any:
    def sizes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], _rounding: float
    ) -> Sequence[Any]:
        found: Sequence[Any] = of([np.abs(g) for g in grads], [np.abs(a) for a in arrays], options)
        return found

    return sizes


def _cost(case: Case, itemsize: int) -> Cost:
    x, y = case.shapes[:2]
    moved = prod(x) + prod(y) + prod(x[:-1]) * y[-1]
    return Cost(itemsize * moved, 2 * prod(x) * y[-1])


def _linear_cost(case: Case, itemsize: int) -> Cost:
    x, w = case.shapes[:2]
    moved = prod(x) + prod(w) + prod(x[:-1]) * w[0]
    return Cost(itemsize * moved, 2 * prod(x) * w[0])


_SUM = "a sum of k products in f32; its error stays far below one rounding of each product"

SPECS = (
    KernelSpec(
        name="matmul",
        family="linear algebra",
        function=matmul,
        kernels=(matmul_kernel, matmul_shares, matmul_join, matmul_persistent, column_sums),
        backward=lambda grads, arrays, outputs, options: matmul_backward(grads[0], *arrays),
        differentiable=(0, 1),
        formula="out[..., m, n] = sum over k of x[..., m, k] y[..., k, n]",
        source="PyTorch, torch.matmul",
        reference=lambda x, y: x @ y,
        backward_reference=_matmul_gradients,
        torch_name="torch.matmul",
        torch=lambda t, x, y: t.matmul(x, y),
        cases=(
            Case(((1, 1), (1, 1))),
            Case(((0, 5), (5, 3))),
            Case(((4, 0), (0, 3))),
            Case(((16, 16), (16, 16))),
            Case(((17, 33), (33, 9))),
            Case(((64, 64), (64, 64)), {}, "wide"),
            Case(((100, 300), (300, 70))),
            Case(((129, 64), (64, 130)), {}, "ties"),
            Case(((20, 40), (40, 24)), {}, "special"),
            Case(((3, 10, 20), (3, 20, 30))),
            Case(((2, 1, 10, 20), (3, 20, 30))),
            Case(((5, 7, 11), (11, 13))),
            Case(((50,), (50, 20))),
            Case(((20, 50), (50,))),
            Case(((50,), (50,))),
        ),
        tolerance=Tolerance(2, _SUM),
        magnitude=lambda x, y: np.abs(x) @ np.abs(y),
        backward_magnitude=_sizes(_matmul_gradients),
        cost=_cost,
        benchmarks=tuple(Case(((n, n), (n, n))) for n in (1024, 4096, 8192)),
    ),
    KernelSpec(
        name="linear",
        family="linear algebra",
        function=linear,
        kernels=(matmul_kernel, matmul_shares, matmul_join, matmul_persistent, column_sums),
        backward=lambda grads, arrays, outputs, options: linear_backward(
            grads[0], arrays[0], arrays[1]
        ),
        differentiable=(0, 1, 2),
        formula="out[..., o] = sum over i of x[..., i] weight[o, i] + bias[o]",
        source="PyTorch, torch.nn.functional.linear",
        reference=lambda x, w, b: x @ w.T + b,
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
        tolerance=Tolerance(2, _SUM),
        magnitude=lambda x, w, b: np.abs(x) @ np.abs(w).T + np.abs(b),
        backward_magnitude=_sizes(_linear_gradients),
        cost=_linear_cost,
        benchmarks=(Case(((8192, 4096), (4096, 4096), (4096,))),),
    ),
)
