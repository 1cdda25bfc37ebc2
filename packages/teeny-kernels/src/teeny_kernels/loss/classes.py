"""cross_entropy and nll_loss of integer classes, forward and backward.

    cross_entropy = (1 - s) w[t] (lse(x) - x[t]) + s / C sum(w (lse(x) - x)),  s = label_smoothing
    nll_loss = -w[t] x[t]

The mean divides by the sum of w[t] over the targets that are not ignored. Kernels in
class_kernels.py. Computed in f32, f64 for f64, and rounded once.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from teeny_kernels.arrays import ITEMSIZES, Operand, empty, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, copy, require_dtype
from teeny_kernels.loss import reduction as reductions
from teeny_kernels.loss.class_kernels import (
    cross_entropy_backward_kernel,
    cross_entropy_forward_kernel,
    likelihood_backward_kernel,
    likelihood_forward_kernel,
    row_shares,
)
from teeny_kernels.loss.class_specs import specs_of
from teeny_kernels.rows import as_rows, block_of, from_rows, warps_of
from teeny_kernels.spec import FLOATS

A = TypeVar("A")

INTEGERS = ("i64", "i32", "i16", "i8", "u8")
WIDEST = 4096  # elements of a row that a program reads at a time
ROW_BLOCK = 512


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
    _check_smoothing("cross_entropy", label_smoothing)
    call = _call("cross_entropy", x, target, weight, ignore_index, reduction)

    def launch(losses: Operand) -> None:
        rows = as_rows(call.operation, call.x, call.axis)
        block = min(block_of(rows.columns), WIDEST)
        warps = warps_of(block, ITEMSIZES[call.x.dtype])
        cross_entropy_forward_kernel.options(num_warps=warps)[rows.rows](
            losses.array,
            rows.array.array,
            call.target.array,
            call.weights,
            rows.columns,
            ignore_index,
            label_smoothing,
            SMOOTH=label_smoothing > 0,
            BLOCK_SIZE=block,
        )

    return _reduced(call, launch, out)


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
    _check_smoothing(operation, label_smoothing)
    call = _call(operation, x, target, weight, ignore_index, reduction)
    upstream = _gradient(call, grad)
    rows = as_rows(operation, call.x, call.axis)
    result = Output(operation, call.x, call.x.shape, out=out)
    direct = rows.order[-1] == call.x.ndim - 1
    flat = result.operand if direct else empty(call.x, (rows.rows, rows.columns))
    if call.x.size:
        block = min(block_of(rows.columns), WIDEST)
        warps = warps_of(block, ITEMSIZES[call.x.dtype])
        cross_entropy_backward_kernel.options(num_warps=warps)[rows.rows](
            flat.array,
            upstream.array,
            _weight_sum(call),
            rows.array.array,
            call.target.array,
            call.weights,
            rows.columns,
            ignore_index,
            label_smoothing,
            ROWS=reduction == "none",
            SMOOTH=label_smoothing > 0,
            BLOCK_SIZE=block,
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
    call = _call("nll_loss", x, target, weight, ignore_index, reduction)

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

    return _reduced(call, launch, out)


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
    call = _call(operation, x, target, weight, ignore_index, reduction)
    upstream = _gradient(call, grad)
    result = Output(operation, call.x, call.x.shape, out=out)
    if call.x.size:
        likelihood_backward_kernel[-(-call.x.size // 1024)](
            result.operand.array,
            upstream.array,
            _weight_sum(call),
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


class _Call(NamedTuple):
    """A checked call; `inner` counts the elements between two classes of a row."""

    operation: str
    x: Operand
    target: Operand
    weight: Operand | None
    ignore_index: int
    reduction: str
    axis: int
    columns: int
    inner: int

    @property
    def weights(self) -> Any:
        return None if self.weight is None else self.weight.array


def _call(
    operation: str, x: Any, target: Any, weight: Any, ignore_index: int, reduction: str
) -> _Call:
    reductions.checked_reduction(operation, reduction)
    source, classes = operand("x", x), operand("target", target)
    given = [("x", source), ("target", classes)]
    weights = None
    if weight is not None:
        weights = operand("weight", weight)
        given.append(("weight", weights))
    same_place(operation, given)
    require_dtype(operation, "x", source, FLOATS)
    require_dtype(operation, "target", classes, INTEGERS)
    axis = 1 if source.ndim > 1 else 0
    wanted = source.shape[:axis] + source.shape[axis + 1 :]
    if not source.ndim or classes.shape != wanted or not source.shape[axis]:
        what = f"`x` {source.shape}, `target` {classes.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "`x` is (C,), (N, C) or (N, C, ...), and `target` has no axis C"
        )
    columns = source.shape[axis]
    if weights is not None:
        require_dtype(operation, "weight", weights, (source.dtype,))
        if weights.shape != (columns,):
            what = f"`weight` {weights.shape}, and there are {columns} classes"
            raise E1202.error(operation=operation, what=what).help("give one number for each class")
        weights = contiguous(operation, weights)
    inner = 1
    for side in source.shape[axis + 1 :]:
        inner *= side
    ready = contiguous(operation, classes, "i64")
    return _Call(
        operation, source, ready, weights, ignore_index, reduction, axis, columns, max(1, inner)
    )


def _reduced(call: _Call, launch: Any, out: Any) -> Any:
    """The losses that `launch` stores for each target, reduced as the call says."""
    rows = call.target.size
    if call.reduction == "none":
        result = Output(call.operation, call.x, call.target.shape, out=out)
        if rows:
            launch(result.operand)
        return result.finish()
    result = Output(call.operation, call.x, (), out=out)
    losses = reductions.shares(call.x, rows)
    if rows:
        launch(losses)
    loss_shares, weight_shares = _shares(call, losses)
    weights = weight_shares if call.reduction == "mean" else None
    reductions.divide(result.operand, loss_shares, weights)
    return result.finish()


def _shares(call: _Call, losses: Operand | None) -> tuple[Operand, Operand]:
    rows = call.target.size
    programs = min(reductions.PROGRAMS, -(-rows // ROW_BLOCK))
    loss_shares, weight_shares = (reductions.shares(call.x, programs) for _ in range(2))
    if rows:
        row_shares[programs](
            loss_shares.array,
            weight_shares.array,
            None if losses is None else losses.array,
            call.target.array,
            call.weights,
            rows,
            call.columns,
            call.ignore_index,
            BLOCK_SIZE=ROW_BLOCK,
        )
    return loss_shares, weight_shares


def _weight_sum(call: _Call) -> Any:
    """The sum of the weights of all targets, for the gradient of a mean; else None."""
    if call.reduction != "mean":
        return None
    total = empty(call.x, (), reductions.computed(call.x))
    reductions.divide(total, _shares(call, None)[1], None)
    return total.array


def _gradient(call: _Call, grad: Any) -> Operand:
    upstream = operand("grad", grad)
    same_place(call.operation, [("x", call.x), ("grad", upstream)])
    shape = call.target.shape if call.reduction == "none" else ()
    reductions.checked_gradient(call.operation, upstream, call.x, shape)
    return contiguous(call.operation, upstream)


def _check_smoothing(operation: str, smoothing: float) -> None:
    if not 0.0 <= smoothing <= 1.0:
        raise E1204.error(operation=operation, name="label_smoothing", found=smoothing).help(
            "it lies within 0 and 1"
        )


SPECS = specs_of(cross_entropy, cross_entropy_backward, nll_loss, nll_loss_backward)
