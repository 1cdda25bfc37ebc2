"""Kernels of the negative log likelihood, and what losses of integer classes share.

    nll = -w[t] x[t]

Grid: one program for each block of rows or elements; `row_shares`: at most 1056, each of which
walks over blocks of rows; `row_total`: one. A target outside of the classes reads nothing: its
logit is 0 and its weight 1; where it is `ignore_index`, loss, weight and gradient are 0. No output
may be an input.
"""

from __future__ import annotations

from typing import TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import R, widen
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, Tensor, bf16, f16, f32, f64, i1, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)
E = TypeVar("E", bound=Float)

DTYPES = (f32, f16, bf16, f64)


@device
def number_at(ptr: Ptr[D], mask: i1, other: float, like: Tensor[f32, R] | f32) -> f32:
    """One number of an array in the dtype of `like`, `other` unless `mask`."""
    return tl.cast(tl.load(ptr, mask=mask, other=other), like.dtype)


@device
def weights_of(
    w_ptr: Ptr[D] | None,
    like: Tensor[C, R],
    at: Tensor[i32, R] | Tensor[i64, R],
    mask: Tensor[i1, R],
) -> Tensor[C, R]:
    """The weights of classes `at` where `mask`, and 1 elsewhere and without weights."""
    if w_ptr is not None:
        return tl.load(w_ptr + at, mask=mask, other=1.0).to(like.dtype)
    return tl.full(like.shape, 1.0, like.dtype)


@kernel(dtypes=DTYPES)
def likelihood_row_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    weights_ptr: Ptr[C] | None,
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_units: i64 | int,
    ignore_index: i64 | int,
    UNIT: Const[int],
    ROWS: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    """A program writes one block of one row of classes: what the row gets is found once."""
    n_cols = n_units * UNIT
    program = tl.program_id(Axis.X).to(i64)
    blocks = tl.cdiv(n_cols, BLOCK_SIZE)
    row = program // blocks
    start = program % blocks * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    target = tl.load(target_ptr + row)
    hit = (target >= start) & (target < start + BLOCK_SIZE) & (target < n_cols)
    hit = hit & (target != ignore_index)
    zeros = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    grad = number_at(grad_ptr + (row if ROWS else row * 0), hit, 0.0, zeros)
    if weights_ptr is not None:
        grad = grad / number_at(weights_ptr, hit, 1.0, zeros)
    if w_ptr is not None:
        grad = grad * number_at(w_ptr + target, hit, 1.0, zeros)
    own = hit & (lanes == (target - start).to(i32))
    dx = tl.where(own, zeros - grad, 0.0).to(tl.elem(dx_ptr))
    tl.store(dx_ptr + row * n_cols + start + lanes, dx, mask=lanes < n_cols - start)


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


@kernel(dtypes=DTYPES)
def row_total(
    total_ptr: Ptr[E],
    loss_ptr: Ptr[C] | None,
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_rows: i64 | int,
    n_cols: i64 | int,
    ignore_index: i64 | int,
    MEAN: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    lanes = tl.arange(0, BLOCK_SIZE)
    losses = widen(tl.zeros((BLOCK_SIZE,), tl.elem(total_ptr)))
    weights = widen(tl.zeros((BLOCK_SIZE,), tl.elem(total_ptr)))
    for start in range(0, n_rows, BLOCK_SIZE):
        mask = lanes < n_rows - start
        target = tl.load(target_ptr + start + lanes, mask=mask, other=0)
        if loss_ptr is not None:
            losses += tl.load(loss_ptr + start + lanes, mask=mask, other=0.0).to(losses.dtype)
        counts = mask & (target != ignore_index)
        inside = counts & (target >= 0) & (target < n_cols)
        weights += tl.where(counts, weights_of(w_ptr, weights, target, inside), 0.0)
    total = tl.sum(weights, axis=0)
    if loss_ptr is not None:
        loss = tl.sum(losses, axis=0)
        total = loss / total if MEAN else loss
    tl.store(total_ptr, total.to(tl.elem(total_ptr)))
