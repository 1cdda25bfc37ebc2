"""Shapes of products: what fits, views of operands as matrices, and gradients of broadcast ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from teeny_kernels.arrays import Operand, empty, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import (
    Output,
    broadcast_shape,
    contiguous,
    require_dtype,
    reshaped,
)
from teeny_kernels.products.run import Epilogue, product
from teeny_kernels.products.views import turned
from teeny_kernels.reduce.kernels import reduce_into
from teeny_kernels.reduce.sums import SUM
from teeny_kernels.spec import FLOATS

# Partial sums of k terms of random signs are about 1.5 / sqrt(k) of the size of all terms. Each of
# them is rounded by a third of an ulp, so that sqrt(k) roundings add up to 0.4 ulp whatever k is;
# of the 10^5 elements of a test one reaches five or six times that.
SUM_OF_PRODUCTS = (
    "roundings of partial sums add up to 0.4 ulp of the terms, seldom to six times that"
)


def check(operation: str, *arrays: Operand) -> None:
    """All arrays in one place and of one float dtype. Raises E1203 and E1206."""
    first = arrays[0]
    same_place(operation, [(f"array {at}", own) for at, own in enumerate(arrays)])
    require_dtype(operation, "x", first, FLOATS)
    for other in arrays[1:]:
        require_dtype(operation, "every array", other, (first.dtype,))


def matrix(x: Operand, *, row: bool) -> Operand:
    """A one-dimensional array as a row or a column, others as they are."""
    if x.ndim != 1:
        return x
    (side,), (step,) = x.shape, x.strides
    if row:
        return x._replace(shape=(1, side), strides=(0, step))
    return x._replace(shape=(side, 1), strides=(step, 0))


def flattened(operation: str, x: Operand) -> Operand:
    """`x` as one matrix, its leading axes as rows: a view where they join, else a copy."""
    shape = (prod(x.shape[:-1]), x.shape[-1])
    sides = [(side, step) for side, step in zip(x.shape, x.strides, strict=True) if side != 1]
    if x.shape[-1] != 1:
        sides = sides[:-1]
    if any(step != below * length for (_, step), (length, below) in pairwise(sides)):
        return reshaped(contiguous(operation, x), shape)
    return x._replace(shape=shape, strides=(sides[-1][1] if sides else 0, x.strides[-1]))


def shape_of(operation: str, x: Operand, y: Operand) -> tuple[int, ...]:
    """The shape of the product, as `torch.matmul` has it. Raises E1202 when there is none."""
    if not x.ndim or not y.ndim or x.shape[-1] != matrix(y, row=False).shape[-2]:
        what = f"`x` {x.shape}, `y` {y.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "the last axis of x must be as long as the last but one of y"
        )
    a, b = matrix(x, row=True), matrix(y, row=False)
    batch = broadcast_shape(operation, a.shape[:-2], b.shape[:-2])
    rows = a.shape[-2:-1] if x.ndim > 1 else ()
    columns = b.shape[-1:] if y.ndim > 1 else ()
    return (*batch, *rows, *columns)


def gradients(
    operation: str,
    grad: Operand,
    x: Operand,
    y: Operand,
    *,
    relaxed: bool,
    alpha: float = 1.0,
) -> tuple[Any, Any]:
    """The gradients of alpha x y by x and by y, summed where one was broadcast.

    Raises:
        KernelError: E1202 when `grad` is not of the shape of the product.
    """
    shape = shape_of(operation, x, y)
    if grad.shape != shape:
        what = f"`grad` {grad.shape}, and the product is {shape}"
        raise E1202.error(operation=operation, what=what).help("give one of its shape")
    a, b = matrix(x, row=True), matrix(y, row=False)
    batch = broadcast_shape(operation, a.shape[:-2], b.shape[:-2])
    full = (*batch, a.shape[-2], b.shape[-1])
    g = grad if grad.shape == full else reshaped(contiguous(operation, grad), full)
    options: dict[str, Any] = {"epilogue": Epilogue(alpha=alpha), "relaxed": relaxed}
    return (
        _gradient(operation, x, a, (g, turned(b)), options),
        _gradient(operation, y, b, (turned(a), g), options),
    )


def _gradient(
    operation: str,
    like: Operand,
    own: Operand,
    pair: tuple[Operand, Operand],
    options: Mapping[str, Any],
) -> Any:
    batch = broadcast_shape(operation, pair[0].shape[:-2], pair[1].shape[:-2])
    result = Output(operation, like, like.shape)
    full = (*batch, *own.shape[-2:])
    sides = (*(1,) * (len(full) - own.ndim), *own.shape)
    repeated = [axis for axis in range(len(batch)) if sides[axis] != batch[axis]]
    if not repeated:
        product(reshaped(result.operand, full), *pair, **options)
        return result.finish()
    # What is summed is not rounded to a narrow dtype before.
    whole = empty(like, full, "f64" if like.dtype == "f64" else "f32")
    product(whole, *pair, **options)
    reduce_into(operation, SUM, result.operand, whole, repeated)
    return result.finish()


def sum_rows(
    operation: str, like: Operand, rows: Operand, shape: Sequence[int] | None = None
) -> Any:
    """The sums of the columns of a matrix, as an array like a bias, of `shape`."""
    sides = rows.shape[1:]
    result = Output(operation, like, sides if shape is None else shape, dtype=rows.dtype)
    reduce_into(operation, SUM, reshaped(result.operand, sides), rows, (0,))
    return result.finish()


def exactly(x: Any, y: Any) -> Any:
    """NumPy: a product added up in more than f64, as f64's own error is as large as ours."""
    with np.errstate(all="ignore"):
        own = np.matmul(x.astype(np.longdouble), y.astype(np.longdouble))
    return own.astype(np.float64)


def unbroadcast(found: Any, like: Any) -> Any:
    """NumPy: `found` summed to the shape of `like`, which was broadcast to it."""
    extra = found.ndim - like.ndim
    found = found.sum(axis=tuple(range(max(extra, 0))))
    axes = tuple(at for at, side in enumerate(like.shape) if side == 1 and found.shape[at] != 1)
    return found.sum(axis=axes, keepdims=True).reshape(like.shape)


def sizes_of(reference: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
    """The sizes of the terms of gradients: their reference on absolute values."""

    def sizes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], _rounding: float
    ) -> Sequence[Any]:
        return reference([np.abs(g) for g in grads], [np.abs(a) for a in arrays], options)

    return sizes
