"""Kernels of losses of integer classes: cross entropy, negative log likelihood.

    nll = -w[t] x[t]
    cross entropy = (1 - s) w[t] (lse(x) - x[t]) + s / C sum(w (lse(x) - x))

Grid: one program for each row of C classes (`likelihood_*`: one for each block of rows or
elements; `row_shares`: at most 1056, each of which walks over blocks of rows). A row is read once
forward, maximum and sum found for each lane by itself (Milakov, Gimelshein 2018, alg. 3), and twice
backward. A target outside of the classes reads nothing: its logit is 0 and its weight 1; where it
is `ignore_index`, loss, weight and gradient are 0. No output may be an input.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import number, widen
from teeny_macros import device, kernel
from teeny_triton import R1, Axis, Const, Float, Ptr, Tensor, bf16, f16, f32, f64, i1, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)
E = TypeVar("E", bound=Float)

DTYPES = (f32, f16, bf16, f64)


@device
def row_statistics(row_ptr: Ptr[Any], n_cols: i32 | int, BLOCK_SIZE: Const[int]) -> tuple[f32, f32]:
    """The maximum of a row, and the sum of exp(x - maximum)."""
    lanes = tl.arange(0, BLOCK_SIZE)
    largest = widen(tl.full((BLOCK_SIZE,), -float("inf"), tl.elem(row_ptr)))
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(row_ptr)))
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        x = widen(tl.load(row_ptr + start + lanes, mask=mask, other=-float("inf")))
        higher = tl.maximum(largest, x)
        # A lane that has seen nothing but -inf has no finite maximum to subtract.
        base = tl.where(higher == -float("inf"), 0.0, higher)
        total = total * tl.exp(largest - base) + tl.exp(x - base)
        largest = higher
    top = tl.max(largest, axis=0)
    total = tl.where(largest == -float("inf"), total, total * tl.exp(largest - top))
    return top, tl.sum(total, axis=0)


@device
def number_at(ptr: Ptr[D], mask: i1, other: float, like: f32) -> f32:
    """One number of an array in the dtype of `like`, `other` unless `mask`."""
    return tl.cast(tl.load(ptr, mask=mask, other=other), like.dtype)


@device
def weights_of(
    w_ptr: Ptr[D] | None,
    like: Tensor[C, R1],
    at: Tensor[i32, R1] | Tensor[i64, R1],
    mask: Tensor[i1, R1],
) -> Tensor[C, R1]:
    """The weights of classes `at` where `mask`, and 1 elsewhere and without weights."""
    if w_ptr is not None:
        return tl.load(w_ptr + at, mask=mask, other=1.0).to(like.dtype)
    return tl.full(like.shape, 1.0, like.dtype)


@kernel(dtypes=DTYPES)
def cross_entropy_backward_kernel(
    dx_ptr: Ptr[E],
    grad_ptr: Ptr[E] | None,
    weights_ptr: Ptr[C] | None,
    x_ptr: Ptr[D],
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_cols: i32 | int,
    ignore_index: i64 | int,
    smoothing: f64 | float,
    ROWS: Const[bool],
    SMOOTH: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64)
    row_ptr = x_ptr + row * n_cols
    target = tl.load(target_ptr + row)
    counts = target != ignore_index
    inside = (target >= 0) & (target < n_cols)
    top, total = row_statistics(row_ptr, n_cols, BLOCK_SIZE)
    scale = tl.where(counts, number(1.0, top), number(0.0, top))
    if grad_ptr is not None:
        scale = number_at(grad_ptr + (row if ROWS else row * 0), counts, 0.0, top)
    if weights_ptr is not None:
        scale = scale / number_at(weights_ptr, counts, 1.0, top)
    weight = top * 0.0 + 1.0
    if w_ptr is not None:
        weight = number_at(w_ptr + target, inside, 1.0, top)
    lanes = tl.arange(0, BLOCK_SIZE)
    share = number(smoothing, top)
    sum_w = number(n_cols, top)
    if SMOOTH and w_ptr is not None:
        every = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
        for start in range(0, n_cols, BLOCK_SIZE):
            mask = lanes < n_cols - start
            every += widen(tl.load(w_ptr + start + lanes, mask=mask, other=0.0))
        sum_w = tl.sum(every, axis=0)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + lanes
        mask = cols < n_cols
        x = widen(tl.load(row_ptr + cols, mask=mask, other=0.0))
        p = tl.exp(x - top) / total
        hit = tl.where(cols.to(i64) == target, 1.0, 0.0).to(x.dtype)
        dx = weight * (p - hit)
        if SMOOTH:
            own = weights_of(w_ptr, x, cols, mask)
            dx = dx * (1.0 - share) + (p * sum_w - own) * (share / number(n_cols, top))
        dx = tl.where(counts, dx * scale, 0.0)
        tl.store(dx_ptr + row * n_cols + cols, dx.to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=DTYPES, backward=cross_entropy_backward_kernel)
def cross_entropy_forward_kernel(
    out_ptr: Ptr[C],
    x_ptr: Ptr[D],
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_cols: i32 | int,
    ignore_index: i64 | int,
    smoothing: f64 | float,
    SMOOTH: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64)
    row_ptr = x_ptr + row * n_cols
    target = tl.load(target_ptr + row)
    inside = (target >= 0) & (target < n_cols)
    top, total = row_statistics(row_ptr, n_cols, BLOCK_SIZE)
    log_total = tl.log(total)
    # Differences from the maximum first: a large common offset costs nothing.
    loss = top - number_at(row_ptr + target, inside, 0.0, top) + log_total
    if w_ptr is not None:
        loss = loss * number_at(w_ptr + target, inside, 1.0, top)
    if SMOOTH:
        lanes = tl.arange(0, BLOCK_SIZE)
        every = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
        for start in range(0, n_cols, BLOCK_SIZE):
            cols = start + lanes
            mask = cols < n_cols
            x = widen(tl.load(row_ptr + cols, mask=mask, other=0.0))
            own = weights_of(w_ptr, x, cols, mask)
            every += tl.where(mask, own * (top - x + log_total), 0.0)
        share = number(smoothing, top)
        loss = loss * (1.0 - share) + tl.sum(every, axis=0) * (share / number(n_cols, top))
    loss = tl.where(target != ignore_index, loss, 0)
    tl.store(out_ptr + row, loss.to(tl.elem(out_ptr)))


@kernel(dtypes=DTYPES)
def likelihood_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    weights_ptr: Ptr[C] | None,
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_elements: i64 | int,
    n_cols: i64 | int,
    inner: i64 | int,
    ignore_index: i64 | int,
    ROWS: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    at = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = at < n_elements
    column = at // inner % n_cols
    row = at // inner // n_cols * inner + at % inner
    target = tl.load(target_ptr + row, mask=mask, other=0)
    hit = mask & (target == column) & (target != ignore_index)
    grad = widen(tl.load(grad_ptr + (row if ROWS else row * 0), mask=hit, other=0.0))
    if weights_ptr is not None:
        grad = grad / widen(tl.load(weights_ptr + row * 0, mask=hit, other=1.0))
    dx = tl.where(hit, -weights_of(w_ptr, grad, column, hit) * grad, 0.0)
    tl.store(dx_ptr + at, dx.to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=DTYPES, backward=likelihood_backward_kernel)
def likelihood_forward_kernel(
    out_ptr: Ptr[C],
    x_ptr: Ptr[D],
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_rows: i64 | int,
    n_cols: i64 | int,
    inner: i64 | int,
    ignore_index: i64 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = row < n_rows
    target = tl.load(target_ptr + row, mask=mask, other=0)
    inside = mask & (target >= 0) & (target < n_cols) & (target != ignore_index)
    at = (row // inner * n_cols + target) * inner + row % inner
    x = widen(tl.load(x_ptr + at, mask=inside, other=0.0))
    loss = tl.where(inside, -weights_of(w_ptr, x, target, inside) * x, 0.0)
    tl.store(out_ptr + row, loss.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=DTYPES)
def row_shares(
    loss_share_ptr: Ptr[C],
    weight_share_ptr: Ptr[C],
    loss_ptr: Ptr[C] | None,
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_rows: i64 | int,
    n_cols: i64 | int,
    ignore_index: i64 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X)
    lanes = tl.arange(0, BLOCK_SIZE)
    losses = tl.zeros((BLOCK_SIZE,), tl.elem(weight_share_ptr))
    weights = tl.zeros((BLOCK_SIZE,), tl.elem(weight_share_ptr))
    step = tl.num_programs(Axis.X).to(i64) * BLOCK_SIZE
    for start in range(program.to(i64) * BLOCK_SIZE, n_rows, step):
        mask = lanes < n_rows - start
        target = tl.load(target_ptr + start + lanes, mask=mask, other=0)
        counts = mask & (target != ignore_index)
        inside = counts & (target >= 0) & (target < n_cols)
        weights += tl.where(counts, weights_of(w_ptr, weights, target, inside), 0.0)
        if loss_ptr is not None:
            losses += tl.load(loss_ptr + start + lanes, mask=mask, other=0.0)
    tl.store(loss_share_ptr + program, tl.sum(losses, axis=0))
    tl.store(weight_share_ptr + program, tl.sum(weights, axis=0))
