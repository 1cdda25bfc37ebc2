"""The logarithm of the sum of exponentials over any axes.

    reduce_log_sum_exp = m + log(sum(exp(x - m))),  m = max(x)

Grid: one program for `ROWS` rows and one of `splits` shares of their columns. Each lane keeps a
maximum and a sum of its own (Milakov, Gimelshein 2018, alg. 3), so x is read once; shares are put
together by a second launch. Axes that do not lie last are brought there by a copy. Of nothing but
-inf it is -inf, with +inf it is +inf, and NaN with NaN. The output may be no input.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, empty, operand
from teeny_kernels.elementwise.broadcast import broadcasting
from teeny_kernels.layout import Output, contiguous, permuted, require_dtype, reshaped
from teeny_kernels.numerics import R, widen
from teeny_kernels.reduce.kernels import DTYPES, exact, shares
from teeny_kernels.reduce.operation import OF_NOTHING, REDUCING, dims, reduction_spec, total
from teeny_kernels.reduce.run import Axes, Gradient, normal_axes, reduced_shape
from teeny_kernels.spec import FLOATS
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, Tensor, i64

A = TypeVar("A")
D = TypeVar("D", bound=Float)
E = TypeVar("E", bound=Float)

INFINITY = float("inf")


@device
def finite(x: Tensor[Any, R]) -> Tensor[Any, R]:
    """What to subtract before exp: `x`, and 0 for a maximum that is infinite."""
    return tl.where((x == INFINITY) | (x == -INFINITY), 0.0, x)


@kernel(dtypes=DTYPES, do_not_specialize=("n_rows", "share", "splits"))
def log_sum_exp_rows(
    out_ptr: Ptr[E],
    out_sum_ptr: Ptr[E] | None,
    x_ptr: Ptr[D],
    x_sum_ptr: Ptr[D] | None,
    n_rows: i64 | int,
    n_cols: i64 | int,
    share: i64 | int,
    splits: i64 | int,
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X).to(i64)
    split = program % splits
    row = program // splits * ROWS + tl.arange(0, ROWS)
    inside = (row < n_rows)[:, None]
    lanes = tl.arange(0, BLOCK_SIZE)[None, :]
    begin = split * share * BLOCK_SIZE
    width = tl.minimum(share * BLOCK_SIZE, n_cols - begin)
    base = (row * n_cols)[:, None] + begin
    largest = widen(tl.full((ROWS, BLOCK_SIZE), -INFINITY, tl.elem(x_ptr)))
    sums = widen(tl.zeros((ROWS, BLOCK_SIZE), tl.elem(x_ptr)))
    for start in range(0, width, BLOCK_SIZE):
        mask = inside & (lanes < width - start)
        at = base + start + lanes
        x = widen(tl.load(x_ptr + at, mask=mask, other=-INFINITY))
        higher = tl.maximum(largest, x)
        shift = finite(higher)
        added = tl.exp(x - shift)
        if x_sum_ptr is not None:
            added = added * widen(tl.load(x_sum_ptr + at, mask=mask, other=0.0))
        sums = sums * tl.exp(largest - shift) + added
        largest = higher
    top = tl.max(largest, axis=1)
    shift = finite(top)
    # A lane that has seen infinity has infinity for its sum.
    own = tl.where(largest == INFINITY, 0.0, largest)
    found = tl.sum(sums * tl.exp(own - shift[:, None]), axis=1)
    target = row * splits + split
    if out_sum_ptr is not None:
        tl.store(out_ptr + target, top.to(tl.elem(out_ptr)), mask=row < n_rows)
        tl.store(out_sum_ptr + target, found.to(tl.elem(out_sum_ptr)), mask=row < n_rows)
    else:
        y = tl.log(found) + shift
        tl.store(out_ptr + target, y.to(tl.elem(out_ptr)), mask=row < n_rows)


@device
def log_sum_exp_gradient(
    x: Tensor[Any, R], grad: Tensor[Any, R], y: Tensor[Any, R]
) -> Tensor[Any, R]:
    return grad * tl.exp(x - y)


_gradient = broadcasting("reduce_log_sum_exp_backward", log_sum_exp_gradient, inputs=3)


def reduce_log_sum_exp(
    x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """log(sum(exp(x))) over `axis`, without overflow."""
    operation = "reduce_log_sum_exp"
    source = operand("x", x)
    require_dtype(operation, "x", source, FLOATS)
    axes = normal_axes(operation, axis, source.ndim)
    result = Output(
        operation, source, reduced_shape(source.shape, axes, keepdims=keepdims), out=out
    )
    rows = result.operand.size
    if rows:
        order = [at for at in range(source.ndim) if at not in axes]
        columns = 1
        for own in axes:
            columns *= source.shape[own]
        moved = contiguous(operation, permuted(source, [*order, *axes]))
        _launch(result.operand, reshaped(moved, (rows, columns)))
    found: A = result.finish()
    return found


def _launch(result: Operand, x: Operand) -> None:
    rows, length = x.shape
    sums: Operand | None = None
    while True:
        height, width, splits, share = shares(rows, length, 1)
        last = splits == 1
        target = result if last else empty(x, (rows, splits), exact(x))
        target_sums = None if last else empty(x, (rows, splits), exact(x))
        log_sum_exp_rows.options(num_warps=8)[-(-rows // height) * splits](
            target.array,
            None if target_sums is None else target_sums.array,
            x.array,
            None if sums is None else sums.array,
            *(rows, length, share, splits),
            ROWS=height,
            BLOCK_SIZE=width,
        )
        if last:
            return
        x, sums, length = target, target_sums, splits


def reduce_log_sum_exp_backward(
    grad: A, x: A, y: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """`grad` exp(x - y), where `y` is the result of `reduce_log_sum_exp`."""
    own = Gradient("reduce_log_sum_exp_backward", grad, x, axis, keepdims, y)
    found: A = own.apply(_gradient, [own.x, own.grad, own.y], (), out)
    return found


def _reference(x: np.ndarray, axis: Axes = None, keepdims: bool = False) -> np.ndarray:
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isinf(top), 0.0, top)
    found = np.log(total(np.exp(x - shift), axis, keepdims))
    own = shift if keepdims else np.squeeze(shift, axis)
    return np.asarray(found + own)


def _size(x: np.ndarray, axis: Axes = None, keepdims: bool = False) -> np.ndarray:
    y = _reference(x, axis, keepdims)
    far = np.max(np.where(np.isfinite(x), np.abs(x), 0.0), axis=axis, keepdims=keepdims, initial=0)
    return np.asarray(np.abs(y) + far + 1)


SPEC = reduction_spec(
    reduce_log_sum_exp,
    reduce_log_sum_exp_backward,
    (log_sum_exp_rows, _gradient),
    formula="max(x) + log(sum(exp(x - max(x))))",
    source="ONNX, ReduceLogSumExp; Milakov, Gimelshein 2018",
    reference=_reference,
    magnitude=_size,
    reason="exponentials of rounded differences, and a sum by trees",
    gradient=lambda grad, x, y, options: grad * np.exp(x - y),
    gradient_magnitude=lambda grad, x, y, options, rounding: (
        np.abs(grad) * np.exp(x - y) * (1 + np.abs(x - y) + np.abs(y) * (1 + rounding))
    ),
    gradient_ulps=8,
    takes_result=True,
    cases=(*REDUCING, *OF_NOTHING),
    torch=lambda t, x, axis=None, keepdims=False: t.logsumexp(x, dims(x, axis), keepdim=keepdims),
    torch_name="torch.logsumexp",
    torch_error=1e-13,
    flops=4,
)
