"""Losses over the classes of a row: multi margin, and soft margin of several labels; with backward.

    multi margin = w[t] / C sum over i != t of max(0, margin - x[t] + x[i])^p
    multilabel soft margin = -1 / C sum(w (t log s(x) + (1 - t) log s(-x))),  s = sigmoid

Grid: one program for each tile of rows, which are read once (twice where the row of a multi margin
has to be summed for its gradient). All arrays are contiguous; no output is an input. Computed in
f32, f64 for f64. A target of the multi margin that is no class reads nothing: its x is 0 and its
weight 1, and every class counts. Source: PyTorch, multi_margin_loss and
multilabel_soft_margin_loss.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.arrays import Operand, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, broadcast_shape, contiguous, expanded, require_dtype
from teeny_kernels.loss.rows import PLAIN, PLAIN_BACK, checked, incoming, reduced, tiles
from teeny_kernels.loss.several_spec import multi_margin_spec, soft_margin_spec
from teeny_kernels.numerics import R, number, widen
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, Tensor, bf16, f16, f32, f64, i64

A = TypeVar("A")
D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)

DTYPES = (f32, f16, bf16, f64)
INTEGERS = ("i64", "i32", "i16", "i8", "u8")


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN_BACK)
def multi_margin_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    x_ptr: Ptr[D],
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_rows: i64 | int,
    n_cols: i64 | int,
    grad_step: i64 | int,
    divisor: f64 | float,
    margin: f64 | float,
    SQUARED: Const[bool],
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    base = (row * n_cols)[:, None]
    target = tl.load(target_ptr + row, mask=inside, other=0)
    known = inside & (target >= 0) & (target < n_cols)
    own = widen(tl.load(x_ptr + row * n_cols + target, mask=known, other=0.0))
    scale = widen(tl.load(grad_ptr + row * grad_step, mask=inside, other=0.0))
    scale = scale / number(divisor, scale) / number(n_cols, scale)
    if w_ptr is not None:
        scale = scale * widen(tl.load(w_ptr + target, mask=known, other=1.0))
    least = (number(margin, own) - own)[:, None]
    lanes = tl.arange(0, BLOCK_SIZE)[None, :]
    total = widen(tl.zeros((ROWS, BLOCK_SIZE), tl.elem(x_ptr)))
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + lanes
        mask = inside[:, None] & (cols < n_cols) & (cols != target[:, None])
        z = least + widen(tl.load(x_ptr + base + cols, mask=mask, other=0.0))
        slope = 2.0 * z if SQUARED else tl.full((ROWS, BLOCK_SIZE), 1.0, own.dtype)
        dx = tl.where(mask & (z > 0.0), slope * scale[:, None], 0.0)
        total += dx
        tl.store(dx_ptr + base + cols, dx.to(tl.elem(dx_ptr)), mask=mask)
    by_own = -tl.sum(total, axis=1)
    tl.store(dx_ptr + row * n_cols + target, by_own.to(tl.elem(dx_ptr)), mask=known)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN, backward=multi_margin_backward_kernel)
def multi_margin_forward_kernel(
    out_ptr: Ptr[C],
    x_ptr: Ptr[D],
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_rows: i64 | int,
    n_cols: i64 | int,
    margin: f64 | float,
    SQUARED: Const[bool],
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    base = (row * n_cols)[:, None]
    target = tl.load(target_ptr + row, mask=inside, other=0)
    known = inside & (target >= 0) & (target < n_cols)
    own = widen(tl.load(x_ptr + row * n_cols + target, mask=known, other=0.0))
    least = (number(margin, own) - own)[:, None]
    lanes = tl.arange(0, BLOCK_SIZE)[None, :]
    total = widen(tl.zeros((ROWS, BLOCK_SIZE), tl.elem(x_ptr)))
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + lanes
        mask = inside[:, None] & (cols < n_cols) & (cols != target[:, None])
        z = least + widen(tl.load(x_ptr + base + cols, mask=mask, other=0.0))
        if SQUARED:
            total += tl.where(mask & (z > 0.0), z * z, 0.0)
        else:
            total += tl.where(mask & (z > 0.0), z, 0.0)
    loss = tl.sum(total, axis=1) / number(n_cols, own)
    if w_ptr is not None:
        loss = loss * widen(tl.load(w_ptr + target, mask=known, other=1.0))
    tl.store(out_ptr + row, loss.to(tl.elem(out_ptr)), mask=inside)


@device
def log_sigmoid(x: Tensor[f32, R]) -> Tensor[f32, R]:
    least = tl.minimum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    return least - tl.math.log1p(tl.exp(-tl.abs(x)))


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN_BACK)
def multilabel_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    x_ptr: Ptr[D],
    target_ptr: Ptr[D],
    w_ptr: Ptr[D] | None,
    n_rows: i64 | int,
    n_cols: i64 | int,
    w_step: i64 | int,
    grad_step: i64 | int,
    divisor: f64 | float,
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    scale = widen(tl.load(grad_ptr + row * grad_step, mask=inside, other=0.0))
    scale = (scale / number(divisor, scale) / number(n_cols, scale))[:, None]
    lanes = tl.arange(0, BLOCK_SIZE)[None, :]
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + lanes
        mask = inside[:, None] & (cols < n_cols)
        at = (row * n_cols)[:, None] + cols
        x = widen(tl.load(x_ptr + at, mask=mask, other=0.0))
        t = widen(tl.load(target_ptr + at, mask=mask, other=0.0))
        dx = scale * ((1.0 - t) * tl.sigmoid(x) - t * tl.sigmoid(-x))
        if w_ptr is not None:
            dx = dx * widen(tl.load(w_ptr + (row * w_step)[:, None] + cols, mask=mask, other=0.0))
        tl.store(dx_ptr + at, dx.to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN, backward=multilabel_backward_kernel)
def multilabel_forward_kernel(
    out_ptr: Ptr[C],
    x_ptr: Ptr[D],
    target_ptr: Ptr[D],
    w_ptr: Ptr[D] | None,
    n_rows: i64 | int,
    n_cols: i64 | int,
    w_step: i64 | int,
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    lanes = tl.arange(0, BLOCK_SIZE)[None, :]
    total = widen(tl.zeros((ROWS, BLOCK_SIZE), tl.elem(x_ptr)))
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + lanes
        mask = inside[:, None] & (cols < n_cols)
        at = (row * n_cols)[:, None] + cols
        x = widen(tl.load(x_ptr + at, mask=mask, other=0.0))
        t = widen(tl.load(target_ptr + at, mask=mask, other=0.0))
        own = t * log_sigmoid(x) + (1.0 - t) * log_sigmoid(-x)
        if w_ptr is not None:
            own = own * widen(tl.load(w_ptr + (row * w_step)[:, None] + cols, mask=mask, other=0.0))
        total -= tl.where(mask, own, 0.0)
    loss = tl.sum(total, axis=1) / number(n_cols, widen(tl.zeros((1,), tl.elem(x_ptr))))
    tl.store(out_ptr + row, loss.to(tl.elem(out_ptr)), mask=inside)


def multi_margin_loss(
    x: A,
    target: A,
    p: int = 1,
    margin: float = 1.0,
    weight: A | None = None,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """The mean over all other classes of max(0, `margin` - x[target] + x[class])^`p`.

    `x` is (N, C) or (C), `target` (N) or () of integers, `weight` (C), that of the target counts;
    `p` is 1 or 2.

    Raises:
        KernelError: E1202 when a shape does not fit, E1203, E1204, E1206, E1207.
    """
    operation = "multi_margin_loss"
    source, classes, weights = _classes(operation, x, target, weight, p)
    how = tiles(source)

    def store(losses: Operand) -> None:
        launch: Any = multi_margin_forward_kernel.options(num_warps=8)[how.grid]
        launch(
            *(losses.array, source.array, classes.array, weights, how.rows, how.columns, margin),
            SQUARED=p == 2,
            ROWS=how.height,
            BLOCK_SIZE=how.width,
        )

    found: A = reduced(operation, source, classes.shape, reduction, store, out)
    return found


def multi_margin_loss_backward(
    grad: A,
    x: A,
    target: A,
    p: int = 1,
    margin: float = 1.0,
    weight: A | None = None,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """The gradient by `x` of `multi_margin_loss`."""
    operation = "multi_margin_loss_backward"
    source, classes, weights = _classes(operation, x, target, weight, p)
    upstream, step, divisor = incoming(operation, grad, source, classes.shape, reduction)
    result, how = Output(operation, source, source.shape, out=out), tiles(source)
    if source.size:
        launch: Any = multi_margin_backward_kernel.options(num_warps=8)[how.grid]
        launch(
            *(result.operand.array, upstream.array, source.array, classes.array, weights),
            *(how.rows, how.columns, step, divisor, margin),
            SQUARED=p == 2,
            ROWS=how.height,
            BLOCK_SIZE=how.width,
        )
    found: A = result.finish()
    return found


def multilabel_soft_margin_loss(
    x: A,
    target: A,
    weight: A | None = None,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """The mean over the classes, the last axis, of binary cross entropies with logits.

    `target` is of the shape of `x`, of numbers within 0 and 1; `weight` broadcasts to it. The
    losses are (...), without the last axis.

    Raises:
        KernelError: E1202 when a shape does not fit, E1203, E1204, E1206, E1207.
    """
    operation = "multilabel_soft_margin_loss"
    source, labels, weights, w_step = _labels(operation, x, target, weight)
    how = tiles(source)

    def store(losses: Operand) -> None:
        launch: Any = multilabel_forward_kernel.options(num_warps=8)[how.grid]
        launch(
            *(losses.array, source.array, labels.array, weights, how.rows, how.columns, w_step),
            ROWS=how.height,
            BLOCK_SIZE=how.width,
        )

    found: A = reduced(operation, source, source.shape[:-1], reduction, store, out)
    return found


def multilabel_soft_margin_loss_backward(
    grad: A,
    x: A,
    target: A,
    weight: A | None = None,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """The gradient by `x` of `multilabel_soft_margin_loss`."""
    operation = "multilabel_soft_margin_loss_backward"
    source, labels, weights, w_step = _labels(operation, x, target, weight)
    upstream, step, divisor = incoming(operation, grad, source, source.shape[:-1], reduction)
    result, how = Output(operation, source, source.shape, out=out), tiles(source)
    if source.size:
        launch: Any = multilabel_backward_kernel.options(num_warps=8)[how.grid]
        launch(
            *(result.operand.array, upstream.array, source.array, labels.array, weights),
            *(how.rows, how.columns, w_step, step, divisor),
            ROWS=how.height,
            BLOCK_SIZE=how.width,
        )
    found: A = result.finish()
    return found


def _classes(
    operation: str, x: Any, target: Any, weight: Any, p: int
) -> tuple[Operand, Operand, Any]:
    if p not in (1, 2):
        raise E1204.error(operation=operation, name="p", found=f"{p!r}").help("it is 1 or 2")
    (source,) = checked(operation, {"x": x})
    classes = operand("target", target)
    same_place(operation, [("x", source), ("target", classes)])
    require_dtype(operation, "target", classes, INTEGERS)
    if classes.shape != source.shape[:-1] or source.ndim > 2 or not source.shape[-1]:
        what = f"`x` {source.shape}, `target` {classes.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "`x` is (N, C) or (C), and `target` has no axis C"
        )
    weights = None
    if weight is not None:
        own = operand("weight", weight)
        same_place(operation, [("x", source), ("weight", own)])
        require_dtype(operation, "weight", own, (source.dtype,))
        if own.shape != source.shape[-1:]:
            what = f"`weight` {own.shape}, and there are {source.shape[-1]} classes"
            raise E1202.error(operation=operation, what=what).help("give one number for each class")
        weights = contiguous(operation, own).array
    return source, contiguous(operation, classes, "i64"), weights


def _labels(operation: str, x: Any, target: Any, weight: Any) -> tuple[Operand, Operand, Any, int]:
    source, labels = checked(operation, {"x": x, "target": target})
    if weight is None:
        return source, labels, None, 0
    own = operand("weight", weight)
    same_place(operation, [("x", source), ("weight", own)])
    require_dtype(operation, "weight", own, (source.dtype,))
    if own.shape == source.shape[-1:]:
        return source, labels, contiguous(operation, own).array, 0
    if broadcast_shape(operation, source.shape, own.shape) != source.shape:
        what = f"`x` {source.shape}, `weight` {own.shape}"
        raise E1202.error(operation=operation, what=what).help("`weight` broadcasts to `x`")
    full = contiguous(operation, expanded(own, source.shape))
    return source, labels, full.array, source.shape[-1]


SPECS = (
    multi_margin_spec(
        multi_margin_loss,
        multi_margin_loss_backward,
        (multi_margin_forward_kernel, multi_margin_backward_kernel),
    ),
    soft_margin_spec(
        multilabel_soft_margin_loss,
        multilabel_soft_margin_loss_backward,
        (multilabel_forward_kernel, multilabel_backward_kernel),
    ),
)
