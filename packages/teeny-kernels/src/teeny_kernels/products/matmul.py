"""matmul, bmm and addmm, forward and backward: shapes as PyTorch's.

The gradients are products themselves, of transposed views; nothing is copied for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from teeny_kernels.arrays import operand
from teeny_kernels.calls import Plans, aligned, key_of
from teeny_kernels.codes import E1202
from teeny_kernels.elementwise.arithmetic import mul
from teeny_kernels.layout import Output, contiguous, expanded
from teeny_kernels.products.run import KERNELS, Epilogue, plan_of, product
from teeny_kernels.products.shapes import (
    SUM_OF_PRODUCTS,
    check,
    exactly,
    gradients,
    matrix,
    shape_of,
    sizes_of,
    unbroadcast,
)
from teeny_kernels.reduce.sums import sum_to
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")


def matmul(x: A, y: A, *, allow_tf32: bool = False, out: A | None = None) -> A:
    """The product of matrices, as `torch.matmul`: (..., m, k) times (..., k, n).

    Leading axes broadcast; one-dimensional arrays are a row and a column, whose axis goes again.
    `allow_tf32` lets f32 inputs be rounded to tf32 on a GPU.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1206, E1207.
    """
    key = key_of((x, y, out), allow_tf32)
    key = key and (*key, *aligned(x, y, out))
    plan = _plans.find(key)
    found: A | None = None if plan is None else plan(x, y, out, None, None, None, None)
    if found is not None:
        return found
    left, right = operand("x", x), operand("y", y)
    check("matmul", left, right)
    shape = shape_of("matmul", left, right)
    result = Output("matmul", left, shape, out=out)
    a, b = matrix(left, row=True), matrix(right, row=False)
    run = product(result.operand, a, b, relaxed=allow_tf32)
    # What is strided is copied each time.
    target: Any = out
    laid = a.array is left.array and b.array is right.array
    if key and run and laid and (out is None or target.is_contiguous()):
        _plans.keep(key, plan_of(run, result.operand))
    made: A = result.finish()
    return made


_plans = Plans()


def matmul_backward(grad: A, x: A, y: A, *, allow_tf32: bool = False) -> tuple[A, A]:
    """The gradients by x, `grad` y^T, and by y, x^T `grad`, summed where an input was broadcast."""
    left, right, upstream = operand("x", x), operand("y", y), operand("grad", grad)
    check("matmul_backward", left, right, upstream)
    return gradients("matmul_backward", upstream, left, right, relaxed=allow_tf32)


def bmm(x: A, y: A, *, allow_tf32: bool = False, out: A | None = None) -> A:
    """The products of as many matrices, as `torch.bmm`: (b, m, k) times (b, k, n).

    Raises:
        KernelError: as `matmul`, and E1202 when the arrays have other than three axes, or another
            number of matrices.
    """
    _three_axes("bmm", x, y)
    return matmul(x, y, allow_tf32=allow_tf32, out=out)


def bmm_backward(grad: A, x: A, y: A, *, allow_tf32: bool = False) -> tuple[A, A]:
    """The gradients by x and by y."""
    _three_axes("bmm_backward", x, y)
    return matmul_backward(grad, x, y, allow_tf32=allow_tf32)


def _three_axes(operation: str, x: Any, y: Any) -> None:
    left, right = operand("x", x), operand("y", y)
    if not left.ndim == right.ndim == 3 or left.shape[0] != right.shape[0]:
        what = f"`x` {left.shape}, `y` {right.shape}"
        raise E1202.error(operation=operation, what=what).help("give (b, m, k) and (b, k, n)")


def addmm(
    input: A,  # noqa: A002 - as PyTorch calls it
    x: A,
    y: A,
    *,
    beta: float = 1.0,
    alpha: float = 1.0,
    allow_tf32: bool = False,
    out: A | None = None,
) -> A:
    """Beta input + alpha x y, as `torch.addmm`; input broadcasts to the product of the matrices.

    With `beta` 0 the input is not read, so that its NaN does not count.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1206, E1207.
    """
    left, right, base = operand("x", x), operand("y", y), operand("input", input)
    check("addmm", left, right, base)
    shape = _two_axes("addmm", left, right, base)
    result = Output("addmm", left, shape, out=out)
    epilogue = Epilogue(alpha=alpha)
    if beta == 1 and base.shape == shape[1:]:
        epilogue = epilogue._replace(bias=contiguous("addmm", base))
    elif beta != 0:
        full = contiguous("addmm", expanded(base, shape))
        epilogue = epilogue._replace(residual=full, beta=beta)
    product(result.operand, left, right, epilogue, relaxed=allow_tf32)
    found: A = result.finish()
    return found


def addmm_backward(
    grad: A,
    input: A,  # noqa: A002
    x: A,
    y: A,
    *,
    beta: float = 1.0,
    alpha: float = 1.0,
    allow_tf32: bool = False,
) -> tuple[A, A, A]:
    """The gradients by input, by x and by y."""
    left, right = operand("x", x), operand("y", y)
    upstream, base = operand("grad", grad), operand("input", input)
    check("addmm_backward", left, right, upstream, base)
    _two_axes("addmm_backward", left, right, base)
    dx, dy = gradients("addmm_backward", upstream, left, right, relaxed=allow_tf32, alpha=alpha)
    return mul(sum_to(grad, base.shape), beta), dx, dy


def _two_axes(operation: str, x: Any, y: Any, base: Any) -> tuple[int, ...]:
    shape = shape_of(operation, x, y)
    sides = zip(reversed(base.shape), reversed(shape), strict=False)
    fits = base.ndim <= 2 and all(own in (1, side) for own, side in sides)
    if not x.ndim == y.ndim == 2 or not fits:
        what = f"`input` {base.shape}, `x` {x.shape}, `y` {y.shape}"
        raise E1202.error(operation=operation, what=what).help("give (m, n), (m, k) and (k, n)")
    return shape


def _matmul_gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    x = arrays[0][np.newaxis, :] if arrays[0].ndim == 1 else arrays[0]
    y = arrays[1][:, np.newaxis] if arrays[1].ndim == 1 else arrays[1]
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    grad = grads[0].reshape((*batch, x.shape[-2], y.shape[-1]))
    dx = unbroadcast(exactly(grad, np.swapaxes(y, -1, -2)), x)
    dy = unbroadcast(exactly(np.swapaxes(x, -1, -2), grad), y)
    return dx.reshape(arrays[0].shape), dy.reshape(arrays[1].shape)


def _addmm_gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    (grad,), (base, x, y) = grads, arrays
    alpha, beta = options.get("alpha", 1.0), options.get("beta", 1.0)
    return beta * unbroadcast(grad, base), alpha * grad @ y.T, alpha * x.T @ grad


def _addmm_sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    sizes = {name: abs(value) for name, value in options.items()}
    return sizes_of(_addmm_gradients)(grads, arrays, sizes, rounding)


def _cost(case: Case, itemsize: int) -> Cost:
    x, y = case.shapes[-2:]
    moved = prod(x) + prod(y) + prod(x[:-1]) * y[-1]
    return Cost(itemsize * moved, 2 * prod(x) * y[-1])


_SQUARES = tuple(Case(((n, n), (n, n))) for n in (1024, 2048, 4096, 8192))
_THIN = (Case(((16, 4096), (4096, 4096))), Case(((1, 4096), (4096, 4096))))

SPECS = (
    KernelSpec(
        name="matmul",
        family="linear algebra",
        function=matmul,
        kernels=KERNELS,
        backward=lambda grads, arrays, outputs, options: matmul_backward(grads[0], *arrays),
        differentiable=(0, 1),
        formula="out[..., m, n] = sum over k of x[..., m, k] y[..., k, n]",
        source="PyTorch, torch.matmul",
        reference=exactly,
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
        tolerance=Tolerance(3, SUM_OF_PRODUCTS),
        magnitude=lambda x, y: np.abs(x) @ np.abs(y),
        backward_magnitude=sizes_of(_matmul_gradients),
        cost=_cost,
        benchmarks=(*_SQUARES, *_THIN, Case(((65536, 512), (512, 512)))),
    ),
    KernelSpec(
        name="bmm",
        family="linear algebra",
        function=bmm,
        kernels=KERNELS,
        backward=lambda grads, arrays, outputs, options: bmm_backward(grads[0], *arrays),
        differentiable=(0, 1),
        formula="out[b, m, n] = sum over k of x[b, m, k] y[b, k, n]",
        source="PyTorch, torch.bmm",
        reference=exactly,
        backward_reference=_matmul_gradients,
        torch_name="torch.bmm",
        torch=lambda t, x, y: t.bmm(x, y),
        cases=tuple(
            Case(((b, m, k), (b, k, n)), {}, values)
            for b, m, k, n, values in (
                (1, 1, 1, 1, "normal"),
                (0, 3, 4, 5, "normal"),
                (2, 0, 4, 5, "normal"),
                (2, 3, 0, 5, "normal"),
                (3, 16, 16, 16, "normal"),
                (5, 17, 33, 9, "normal"),
                (2, 64, 64, 64, "wide"),
                (7, 1, 40, 1, "normal"),
                (2, 65, 24, 130, "ties"),
                (4, 8, 200, 8, "normal"),
                (16, 2, 3, 4, "normal"),
                (2, 20, 12, 20, "special"),
            )
        ),
        tolerance=Tolerance(3, SUM_OF_PRODUCTS),
        magnitude=lambda x, y: np.abs(x) @ np.abs(y),
        backward_magnitude=sizes_of(_matmul_gradients),
        cost=_cost,
        benchmarks=(
            Case(((64, 1024, 1024), (64, 1024, 1024))),
            Case(((512, 128, 128), (512, 128, 128))),
        ),
    ),
    KernelSpec(
        name="addmm",
        family="linear algebra",
        function=addmm,
        kernels=KERNELS,
        backward=lambda grads, arrays, outputs, options: addmm_backward(
            grads[0], *arrays, **options
        ),
        differentiable=(0, 1, 2),
        formula="out[m, n] = beta input[m, n] + alpha sum over k of x[m, k] y[k, n]",
        source="PyTorch, torch.addmm",
        reference=lambda base, x, y, beta=1.0, alpha=1.0: (
            (beta * base if beta else 0.0) + alpha * (x @ y)
        ),
        backward_reference=_addmm_gradients,
        torch_name="torch.addmm",
        torch=lambda t, base, x, y, **options: t.addmm(base, x, y, **options),
        cases=tuple(
            Case((base, (m, k), (k, n)), options, values)
            for base, m, k, n, options, values in (
                ((1, 1), 1, 1, 1, {}, "normal"),
                ((5,), 0, 4, 5, {}, "normal"),
                ((3, 5), 3, 0, 5, {"beta": 2.0}, "normal"),
                ((16, 16), 16, 16, 16, {"alpha": 0.5}, "normal"),
                ((16,), 16, 32, 16, {}, "normal"),
                ((17, 1), 17, 33, 9, {}, "normal"),
                ((1, 70), 64, 40, 70, {"beta": -0.25}, "wide"),
                ((), 20, 40, 20, {}, "normal"),
                ((65, 24), 65, 130, 24, {"beta": 0.5, "alpha": -2.0}, "ties"),
                ((8, 8), 8, 200, 8, {"alpha": 0.0}, "normal"),
                ((9, 30), 9, 12, 30, {"beta": 0.0}, "normal"),
                ((20, 20), 20, 12, 20, {}, "special"),
            )
        ),
        tolerance=Tolerance(3, SUM_OF_PRODUCTS),
        magnitude=lambda base, x, y, beta=1.0, alpha=1.0: (
            np.abs(beta * base) + abs(alpha) * (np.abs(x) @ np.abs(y))
        ),
        backward_magnitude=_addmm_sizes,
        cost=_cost,
        benchmarks=(Case(((4096, 4096), (4096, 4096), (4096, 4096))),),
    ),
)
