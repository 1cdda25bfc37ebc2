"""cross_entropy and nll_loss of integer classes, forward and backward.

    cross_entropy = (1 - s) w[t] (lse(x) - x[t]) + s / C sum(w (lse(x) - x)),  s = label_smoothing
    nll_loss = -w[t] x[t]

The mean divides by the sum of w[t] over the targets that are not ignored. Kernels in
entropy_kernels.py and class_kernels.py. Computed in f32, f64 for f64, and rounded once.
"""

from __future__ import annotations

from typing import TypeVar

from teeny_kernels.arrays import ITEMSIZES, Operand, empty
from teeny_kernels.layout import Output, contiguous, copy
from teeny_kernels.loss.class_kernels import (
    likelihood_backward_kernel,
    likelihood_forward_kernel,
    likelihood_row_backward_kernel,
)
from teeny_kernels.loss.class_run import (
    ROW_BLOCK,
    check_smoothing,
    class_call,
    class_gradient,
    reduced_losses,
    row_tile,
    weight_sum,
)
from teeny_kernels.loss.class_specs import specs_of
from teeny_kernels.loss.entropy_kernels import (
    cross_entropy_backward_kernel,
    cross_entropy_forward_kernel,
)
from teeny_kernels.rows import as_rows, block_of, from_rows, resident, unit_of

A = TypeVar("A")


def cross_entropy(
    x: A,
    target: A,
    weight: A | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    *,
    out: A | None = None,
) -> A:
    """The cross entropy of softmax(x) and the classes `target`; in the dtype of `x`.

    `x` is (C,), (N, C) or (N, C, ...), unnormalized; `target` holds integers, without the axis C;
    `weight` is (C,). With `reduction="none"` the result has the shape of `target`, with `"mean"`
    (NaN when every target is ignored) and `"sum"` none. Any integer but `ignore_index` that is no
    class reads nothing and counts as a class with a logit of 0.

    Raises:
        KernelError: E1202 when a shape does not fit, E1203, E1204, E1206, E1207.
    """
    check_smoothing("cross_entropy", label_smoothing)
    call = class_call("cross_entropy", x, target, weight, ignore_index, reduction)

    def launch(losses: Operand) -> None:
        rows = as_rows(call.operation, call.x, call.axis)
        tile = row_tile(rows.columns, ITEMSIZES[call.x.dtype])
        unit = unit_of(rows.columns)
        cross_entropy_forward_kernel.options(num_warps=tile.warps)[rows.rows](
            losses.array,
            rows.array.array,
            call.target.array,
            call.weights,
            rows.columns // unit,
            ignore_index,
            label_smoothing,
            UNIT=unit,
            SMOOTH=label_smoothing > 0,
            **tile.constants,
        )

    return reduced_losses(call, launch, out)


def cross_entropy_backward(
    grad: A,
    x: A,
    target: A,
    weight: A | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    *,
    out: A | None = None,
) -> A:
    """The gradient by x, of its shape; `grad` is that of the loss. Nothing of the forward is kept.

    It is w[t] (softmax(x) - onehot(t)) without smoothing, 0 where the target is ignored.
    """
    operation = "cross_entropy_backward"
    check_smoothing(operation, label_smoothing)
    call = class_call(operation, x, target, weight, ignore_index, reduction)
    upstream = class_gradient(call, grad)
    rows = as_rows(operation, call.x, call.axis)
    result = Output(operation, call.x, call.x.shape, out=out)
    direct = rows.order[-1] == call.x.ndim - 1
    flat = result.operand if direct else empty(call.x, (rows.rows, rows.columns))
    if call.x.size:
        tile = row_tile(rows.columns, ITEMSIZES[call.x.dtype], twice=True)
        unit = unit_of(rows.columns)
        resident(cross_entropy_backward_kernel, tile.warps, tile.height * tile.width)[rows.rows](
            flat.array,
            upstream.array,
            weight_sum(call),
            rows.array.array,
            call.target.array,
            call.weights,
            rows.columns // unit,
            ignore_index,
            label_smoothing,
            UNIT=unit,
            ROWS=reduction == "none",
            SMOOTH=label_smoothing > 0,
            WHOLE=tile.whole,
            **tile.constants,
        )
    if not direct:
        copy(operation, result.operand, from_rows(flat, rows))
    return result.finish()


def nll_loss(
    x: A,
    target: A,
    weight: A | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """The negative log likelihood of the classes `target`, whose logarithms `x` holds.

    Arguments, shapes and errors are those of `cross_entropy`.
    """
    call = class_call("nll_loss", x, target, weight, ignore_index, reduction)

    def launch(losses: Operand) -> None:
        ready = contiguous(call.operation, call.x)
        likelihood_forward_kernel[-(-call.target.size // ROW_BLOCK)](
            losses.array,
            ready.array,
            call.target.array,
            call.weights,
            call.target.size,
            call.columns,
            call.inner,
            ignore_index,
            BLOCK_SIZE=ROW_BLOCK,
        )

    return reduced_losses(call, launch, out)


def nll_loss_backward(
    grad: A,
    x: A,
    target: A,
    weight: A | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """The gradient by x, of its shape: -w[t] at the target, 0 elsewhere and where ignored."""
    operation = "nll_loss_backward"
    call = class_call(operation, x, target, weight, ignore_index, reduction)
    upstream = class_gradient(call, grad)
    result = Output(operation, call.x, call.x.shape, out=out)
    if call.x.size and call.inner == 1:
        block = min(max(block_of(call.columns), 128), 4096)
        blocks = -(-call.columns // block)
        unit = unit_of(call.columns)
        likelihood_row_backward_kernel[call.x.size // call.columns * blocks](
            result.operand.array,
            upstream.array,
            weight_sum(call),
            call.target.array,
            call.weights,
            call.columns // unit,
            ignore_index,
            UNIT=unit,
            ROWS=reduction == "none",
            BLOCK_SIZE=block,
        )
    elif call.x.size:
        likelihood_backward_kernel[-(-call.x.size // 1024)](
            result.operand.array,
            upstream.array,
            weight_sum(call),
            call.target.array,
            call.weights,
            call.x.size,
            call.columns,
            call.inner,
            ignore_index,
            ROWS=reduction == "none",
            BLOCK_SIZE=1024,
        )
    return result.finish()


SPECS = specs_of(cross_entropy, cross_entropy_backward, nll_loss, nll_loss_backward)
