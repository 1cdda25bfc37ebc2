"""Kernels of the cross entropy of integer classes.

    (1 - s) w[t] (lse(x) - x[t]) + s / C sum(w (lse(x) - x))

Grid: one program for each row of C classes, which it reads by tiles: HEIGHT elements of a column of
a tile belong to one thread. Forward a row is read once, maximum and sum found for each column by
itself (Milakov, Gimelshein 2018, alg. 3), so that most exponentials are taken once; backward twice,
the second time from its end, or once where a tile holds it (WHOLE). Of targets: class_kernels.py.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.loss.class_kernels import number_at, weights_of
from teeny_kernels.numerics import R, narrow, number, widen
from teeny_macros import device, kernel
from teeny_triton import R1, R2, Axis, Const, Float, Ptr, Tensor, bf16, f16, f32, f64, i1, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)
E = TypeVar("E", bound=Float)

DTYPES = (f32, f16, bf16, f64)
LOG2_E = 1.4426950408889634
PLAIN = ("n_units",)  # its value is worth no other compilation


@device
def power(x: Tensor[Any, R]) -> Tensor[f32, R]:
    """exp(x) of what is 0 at most; in f32 what lies below the normal range may be 0."""
    if x.dtype == f64:
        return tl.exp(x)
    return tl.exp2(x * LOG2_E)


@device
def places(HEIGHT: Const[int], WIDTH: Const[int]) -> Tensor[i32, R2]:
    """Places of the elements of a tile in its row."""
    return tl.arange(0, HEIGHT)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]


@device
def lane_statistics(
    row_ptr: Ptr[Any],
    n_cols: i32 | int,
    AGAIN: Const[bool],
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> tuple[Tensor[f32, R1], Tensor[f32, R1]]:
    """The maximum of each column of the tiles of a row, and the sum of exp(x - maximum)."""
    at = places(HEIGHT, WIDTH)
    largest = widen(tl.full((WIDTH,), -float("inf"), tl.elem(row_ptr)))
    total = widen(tl.zeros((WIDTH,), tl.elem(row_ptr)))
    for start in range(0, n_cols, HEIGHT * WIDTH):
        mask = at < n_cols - start
        if AGAIN:
            read = tl.load(
                row_ptr + start + at, mask=mask, other=-float("inf"), eviction_policy="evict_last"
            )
        else:
            read = tl.load(row_ptr + start + at, mask=mask, other=-float("inf"))
        x = widen(read)
        higher = tl.maximum(largest, tl.max(x, axis=0))
        # A lane that has seen nothing but -inf has no finite maximum to subtract.
        base = tl.where(higher == -float("inf"), 0.0, higher)
        total = total * tl.exp(largest - base) + tl.sum(power(x - base[None, :]), axis=0)
        largest = higher
    return largest, total


@device
def joined(largest: Tensor[f32, R1], total: Tensor[f32, R1]) -> tuple[f32, f32]:
    """The maximum of a row, and the sum of exp(x - maximum)."""
    top = tl.max(largest, axis=0)
    total = tl.where(largest == -float("inf"), total, total * tl.exp(largest - top))
    return top, tl.sum(total, axis=0)


@device
def slopes(
    p: Tensor[f32, R2],
    at: Tensor[i32, R2],
    mask: Tensor[i1, R2],
    target: i32,
    weight: f32,
    scale: f32,
    smoothing: f32,
    w_ptr: Ptr[D] | None,
    sum_w: f32,
    n_cols: i32 | int,
    SMOOTH: Const[bool],
) -> Tensor[f32, R2]:
    """The gradients by the elements `at` of a row, whose softmax is `p`."""
    struck = tl.where(at == target, p - 1.0, p)
    if SMOOTH:
        own = weights_of(w_ptr, p, at, mask)
        share = smoothing / number(n_cols, p)
        return (weight * struck * (1.0 - smoothing) + (p * sum_w - own) * share) * scale
    return struck * (weight * scale)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN)
def cross_entropy_backward_kernel(
    dx_ptr: Ptr[E],
    grad_ptr: Ptr[E] | None,
    weights_ptr: Ptr[C] | None,
    x_ptr: Ptr[D],
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_units: i64 | int,
    ignore_index: i64 | int,
    smoothing: f64 | float,
    UNIT: Const[int],
    ROWS: Const[bool],
    SMOOTH: Const[bool],
    WHOLE: Const[bool],
    WIDE: Const[bool],
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> None:
    n_cols: i32 = narrow(n_units, WIDE) * UNIT
    row = tl.program_id(Axis.X).to(i64)
    row_ptr = x_ptr + row * n_cols
    dx_row_ptr = dx_ptr + row * n_cols
    at = places(HEIGHT, WIDTH)
    target = tl.load(target_ptr + row)
    kept = widen(tl.zeros((HEIGHT, WIDTH), tl.elem(x_ptr)))
    if WHOLE:
        kept = widen(tl.load(row_ptr + at, mask=at < n_cols, other=-float("inf")))
        top = tl.max(tl.max(kept, axis=0), axis=0)
        kept = power(kept - top)
        total = tl.sum(tl.sum(kept, axis=0), axis=0)
    else:
        largest, sums = lane_statistics(row_ptr, n_cols, True, HEIGHT, WIDTH)
        top, total = joined(largest, sums)
    counts = target != ignore_index
    inside = (target >= 0) & (target < n_cols)
    hit: i32 = narrow(tl.where(inside, target, -1), WIDE)
    scale = tl.where(counts, number(1.0, top), number(0.0, top))
    if grad_ptr is not None:
        scale = number_at(grad_ptr + (row if ROWS else row * 0), counts, 0.0, top)
    if weights_ptr is not None:
        scale = scale / number_at(weights_ptr, counts, 1.0, top)
    weight = top * 0.0 + 1.0
    if w_ptr is not None:
        weight = number_at(w_ptr + target, inside, 1.0, top)
    share = number(smoothing, top)
    inverse = 1.0 / total
    sum_w = number(n_cols, top)
    if SMOOTH and w_ptr is not None:
        every = widen(tl.zeros((HEIGHT, WIDTH), tl.elem(x_ptr)))
        for start in range(0, n_cols, HEIGHT * WIDTH):
            every += widen(tl.load(w_ptr + start + at, mask=at < n_cols - start, other=0.0))
        sum_w = tl.sum(tl.sum(every, axis=0), axis=0)
    if WHOLE:
        mask = at < n_cols
        dx = slopes(
            kept * inverse, at, mask, hit, weight, scale, share, w_ptr, sum_w, n_cols, SMOOTH
        )
        tl.store(dx_row_ptr + at, tl.where(counts, dx, 0.0).to(tl.elem(dx_ptr)), mask=mask)
    else:
        # The end of the row is what the cache has seen last.
        end = (n_cols - 1) // (HEIGHT * WIDTH) * (HEIGHT * WIDTH)
        for back in range(0, n_cols, HEIGHT * WIDTH):
            cols = end - back + at
            mask = cols < n_cols
            x = tl.load(row_ptr + cols, mask=mask, other=0.0, eviction_policy="evict_first")
            p = power(widen(x) - top) * inverse
            dx = slopes(p, cols, mask, hit, weight, scale, share, w_ptr, sum_w, n_cols, SMOOTH)
            tl.store(dx_row_ptr + cols, tl.where(counts, dx, 0.0).to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN, backward=cross_entropy_backward_kernel)
def cross_entropy_forward_kernel(
    out_ptr: Ptr[C],
    x_ptr: Ptr[D],
    target_ptr: Ptr[i64],
    w_ptr: Ptr[D] | None,
    n_units: i64 | int,
    ignore_index: i64 | int,
    smoothing: f64 | float,
    UNIT: Const[int],
    SMOOTH: Const[bool],
    WIDE: Const[bool],
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> None:
    n_cols: i32 = narrow(n_units, WIDE) * UNIT
    row = tl.program_id(Axis.X).to(i64)
    row_ptr = x_ptr + row * n_cols
    target = tl.load(target_ptr + row)
    largest, sums = lane_statistics(row_ptr, n_cols, SMOOTH, HEIGHT, WIDTH)
    inside = (target >= 0) & (target < n_cols)
    # On its way while the threads wait for each other.
    own_x = tl.load(row_ptr + target, mask=inside, other=0.0)
    top, total = joined(largest, sums)
    log_total = tl.log(total)
    # Differences from the maximum first: a large common offset costs nothing.
    loss = top - tl.cast(own_x, top.dtype) + log_total
    if w_ptr is not None:
        loss = loss * number_at(w_ptr + target, inside, 1.0, top)
    if SMOOTH:
        at = places(HEIGHT, WIDTH)
        every = widen(tl.zeros((HEIGHT, WIDTH), tl.elem(x_ptr)))
        for start in range(0, n_cols, HEIGHT * WIDTH):
            mask = at < n_cols - start
            x = widen(tl.load(row_ptr + start + at, mask=mask, other=0.0))
            own = weights_of(w_ptr, x, start + at, mask)
            every += tl.where(mask, own * (top - x + log_total), 0.0)
        share = number(smoothing, top)
        sum_ = tl.sum(tl.sum(every, axis=0), axis=0)
        loss = loss * (1.0 - share) + sum_ * (share / number(n_cols, top))
    loss = tl.where(target != ignore_index, loss, 0)
    tl.store(out_ptr + row, loss.to(tl.elem(out_ptr)))
