"""Losses of distances between rows: cosine embedding and triplet margin, forward and backward.

    cosine embedding = 1 - cos where target is 1, max(0, cos - margin) where it is -1,
        cos = x1 . x2 / sqrt((x1 . x1 + e) (x2 . x2 + e)),  e = 1e-12
    triplet margin = max(0, margin + |a - p + eps| - |a - n + eps|)

Grid: one program for each tile of rows, which are read once forward and twice backward. All arrays
are contiguous and no output is an input. Computed in f32, f64 for f64. Source: PyTorch,
cosine_embedding_loss (Wang et al. 2018, CosFace, for the margin) and triplet_margin_loss (Balntas
et al. 2016).
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.arrays import Operand, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.loss.embedding_spec import cosine_spec, triplet_spec
from teeny_kernels.loss.rows import PLAIN, PLAIN_BACK, checked, incoming, reduced, tiles
from teeny_kernels.numerics import R, number, widen
from teeny_macros import device, kernel
from teeny_triton import (
    Axis,
    Const,
    Elem,
    Float,
    Ptr,
    Tensor,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
)

A = TypeVar("A")
D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)
T = TypeVar("T", bound=Elem)

DTYPES = (f32, f16, bf16, f64)
SIGNED = (*DTYPES, i64, i32, i16, i8)
SIGNS = ("f32", "f16", "bf16", "f64", "i64", "i32", "i16", "i8")
COSINE_EPS = 1e-12
GENERAL, ABSOLUTE, EUCLIDEAN = range(3)


@device
def cosines(
    x1_ptr: Ptr[Any],
    x2_ptr: Ptr[Any],
    base: Tensor[i64, Any],
    inside: Tensor[Any, Any],
    n_cols: i64 | int,
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> tuple[Any, Any, Any]:
    """The products of rows: x1 . x2, x1 . x1 + e, x2 . x2 + e."""
    lanes = tl.arange(0, BLOCK_SIZE)[None, :]
    dot = widen(tl.zeros((ROWS, BLOCK_SIZE), tl.elem(x1_ptr)))
    first = dot
    second = dot
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = inside & (lanes < n_cols - start)
        a = widen(tl.load(x1_ptr + base + start + lanes, mask=mask, other=0.0))
        b = widen(tl.load(x2_ptr + base + start + lanes, mask=mask, other=0.0))
        dot += a * b
        first += a * a
        second += b * b
    return (
        tl.sum(dot, axis=1),
        tl.sum(first, axis=1) + COSINE_EPS,
        tl.sum(second, axis=1) + COSINE_EPS,
    )


@kernel(dtypes=SIGNED, do_not_specialize=PLAIN_BACK)
def cosine_embedding_backward_kernel(
    dx1_ptr: Ptr[D],
    dx2_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    x1_ptr: Ptr[D],
    x2_ptr: Ptr[D],
    target_ptr: Ptr[T],
    n_rows: i64 | int,
    n_cols: i64 | int,
    grad_step: i64 | int,
    divisor: f64 | float,
    margin: f64 | float,
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    base = (row * n_cols)[:, None]
    dot, first, second = cosines(x1_ptr, x2_ptr, base, inside[:, None], n_cols, ROWS, BLOCK_SIZE)
    grad = widen(tl.load(grad_ptr + row * grad_step, mask=inside, other=0.0))
    target = tl.load(target_ptr + row, mask=inside, other=0).to(f32)
    length = tl.sqrt_rn(first * second)
    cosine = dot / length
    apart = tl.where((target == -1) & (cosine - number(margin, cosine) >= 0.0), 1.0, 0.0)
    slope = tl.where(target == 1, -1.0, apart).to(cosine.dtype)
    scale = tl.where(slope == 0.0, 0.0, slope * (grad / number(divisor, grad)))
    lanes = tl.arange(0, BLOCK_SIZE)[None, :]
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = inside[:, None] & (lanes < n_cols - start)
        at = base + start + lanes
        a = widen(tl.load(x1_ptr + at, mask=mask, other=0.0))
        b = widen(tl.load(x2_ptr + at, mask=mask, other=0.0))
        da = scale[:, None] * (b / length[:, None] - a * (cosine / first)[:, None])
        db = scale[:, None] * (a / length[:, None] - b * (cosine / second)[:, None])
        tl.store(dx1_ptr + at, da.to(tl.elem(dx1_ptr)), mask=mask)
        tl.store(dx2_ptr + at, db.to(tl.elem(dx2_ptr)), mask=mask)


@kernel(dtypes=SIGNED, do_not_specialize=PLAIN, backward=cosine_embedding_backward_kernel)
def cosine_embedding_forward_kernel(
    out_ptr: Ptr[C],
    x1_ptr: Ptr[D],
    x2_ptr: Ptr[D],
    target_ptr: Ptr[T],
    n_rows: i64 | int,
    n_cols: i64 | int,
    margin: f64 | float,
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    base = (row * n_cols)[:, None]
    dot, first, second = cosines(x1_ptr, x2_ptr, base, inside[:, None], n_cols, ROWS, BLOCK_SIZE)
    target = tl.load(target_ptr + row, mask=inside, other=0).to(f32)
    cosine = dot / tl.sqrt_rn(first * second)
    apart = above_zero(cosine - number(margin, cosine))
    loss = tl.where(target == 1, 1.0 - cosine, tl.where(target == -1, apart, 0.0))
    tl.store(out_ptr + row, loss.to(tl.elem(out_ptr)), mask=inside)


@device
def above_zero(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)


@device
def term(z: Tensor[f32, R], power: f32, NORM: Const[int]) -> Tensor[f32, R]:
    """|z|^power."""
    if NORM == ABSOLUTE:
        return tl.abs(z)
    if NORM == EUCLIDEAN:
        return z * z
    return tl.math.pow(tl.abs(z), tl.full(z.shape, power, z.dtype))


@device
def root(total: Tensor[f32, R], power: f32, NORM: Const[int]) -> Tensor[f32, R]:
    if NORM == ABSOLUTE:
        return total
    if NORM == EUCLIDEAN:
        return tl.sqrt_rn(total)
    return tl.math.pow(total, tl.full(total.shape, 1.0 / power, total.dtype))


@device
def direction(
    z: Tensor[f32, R], length: Tensor[f32, Any], power: f32, NORM: Const[int]
) -> Tensor[f32, R]:
    """The derivative of a norm by z; 0 where the norm, or what it divides by, is 0."""
    side = tl.where(z > 0.0, 1.0, tl.where(z < 0.0, -1.0, 0.0)).to(z.dtype)
    if NORM == ABSOLUTE:
        return tl.where(z == z, side, z)
    if NORM == EUCLIDEAN:
        return tl.where(length == 0.0, 0.0, z / length)
    own = tl.math.pow(tl.abs(z) / length, tl.full(z.shape, power - 1.0, z.dtype))
    return tl.where(z == 0.0, 0.0, side * own)


@device
def distances(
    a_ptr: Ptr[Any],
    p_ptr: Ptr[Any],
    n_ptr: Ptr[Any],
    base: Tensor[i64, Any],
    inside: Tensor[Any, Any],
    n_cols: i64 | int,
    power: f64 | float,
    eps: f64 | float,
    NORM: Const[int],
    SWAP: Const[bool],
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> tuple[Any, Any, Any]:
    """Distances of rows: anchor to positive, anchor to negative, positive to negative."""
    lanes = tl.arange(0, BLOCK_SIZE)[None, :]
    near = widen(tl.zeros((ROWS, BLOCK_SIZE), tl.elem(a_ptr)))
    far = near
    swapped = near
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = inside & (lanes < n_cols - start)
        at = base + start + lanes
        a = widen(tl.load(a_ptr + at, mask=mask, other=0.0))
        p = widen(tl.load(p_ptr + at, mask=mask, other=0.0))
        n = widen(tl.load(n_ptr + at, mask=mask, other=0.0))
        own = number(power, a)
        least = number(eps, a)
        near += tl.where(mask, term(a - p + least, own, NORM), 0.0)
        far += tl.where(mask, term(a - n + least, own, NORM), 0.0)
        if SWAP:
            swapped += tl.where(mask, term(p - n + least, own, NORM), 0.0)
    last = number(power, near)
    return (
        root(tl.sum(near, axis=1), last, NORM),
        root(tl.sum(far, axis=1), last, NORM),
        root(tl.sum(swapped, axis=1), last, NORM),
    )


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN_BACK)
def triplet_backward_kernel(
    da_ptr: Ptr[D],
    dp_ptr: Ptr[D],
    dn_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    a_ptr: Ptr[D],
    p_ptr: Ptr[D],
    n_ptr: Ptr[D],
    n_rows: i64 | int,
    n_cols: i64 | int,
    grad_step: i64 | int,
    divisor: f64 | float,
    margin: f64 | float,
    power: f64 | float,
    eps: f64 | float,
    NORM: Const[int],
    SWAP: Const[bool],
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    base = (row * n_cols)[:, None]
    near, far, swapped = distances(
        *(a_ptr, p_ptr, n_ptr, base, inside[:, None], n_cols, power, eps, NORM, SWAP),
        *(ROWS, BLOCK_SIZE),
    )
    grad = widen(tl.load(grad_ptr + row * grad_step, mask=inside, other=0.0))
    grad = grad / number(divisor, grad)
    least = far
    own = tl.full((ROWS,), 1.0, far.dtype)
    zeros = tl.zeros((ROWS, BLOCK_SIZE), far.dtype)
    if SWAP:
        least = tl.minimum(far, swapped, propagate_nan=tl.PropagateNan.ALL)
        # Equal distances share the gradient.
        own = tl.where(far < swapped, 1.0, tl.where(far == swapped, 0.5, 0.0)).to(far.dtype)
    counts = number(margin, near) + near - least >= 0.0
    grad = tl.where(counts, grad, 0.0)[:, None]
    own = own[:, None]
    lanes = tl.arange(0, BLOCK_SIZE)[None, :]
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = inside[:, None] & (lanes < n_cols - start)
        at = base + start + lanes
        a = widen(tl.load(a_ptr + at, mask=mask, other=0.0))
        p = widen(tl.load(p_ptr + at, mask=mask, other=0.0))
        n = widen(tl.load(n_ptr + at, mask=mask, other=0.0))
        by = number(power, a)
        step = number(eps, a)
        to_near = grad * direction(a - p + step, near[:, None], by, NORM)
        to_far = grad * own * direction(a - n + step, far[:, None], by, NORM)
        between = zeros
        if SWAP:
            between = grad * (1.0 - own) * direction(p - n + step, swapped[:, None], by, NORM)
        tl.store(da_ptr + at, (to_near - to_far).to(tl.elem(da_ptr)), mask=mask)
        tl.store(dp_ptr + at, (-to_near - between).to(tl.elem(dp_ptr)), mask=mask)
        tl.store(dn_ptr + at, (to_far + between).to(tl.elem(dn_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN, backward=triplet_backward_kernel)
def triplet_forward_kernel(
    out_ptr: Ptr[C],
    a_ptr: Ptr[D],
    p_ptr: Ptr[D],
    n_ptr: Ptr[D],
    n_rows: i64 | int,
    n_cols: i64 | int,
    margin: f64 | float,
    power: f64 | float,
    eps: f64 | float,
    NORM: Const[int],
    SWAP: Const[bool],
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    near, far, swapped = distances(
        *(a_ptr, p_ptr, n_ptr, (row * n_cols)[:, None], inside[:, None], n_cols, power, eps),
        *(NORM, SWAP, ROWS, BLOCK_SIZE),
    )
    if SWAP:
        far = tl.minimum(far, swapped, propagate_nan=tl.PropagateNan.ALL)
    loss = above_zero(number(margin, near) + near - far)
    tl.store(out_ptr + row, loss.to(tl.elem(out_ptr)), mask=inside)


def cosine_embedding_loss(
    x1: A,
    x2: A,
    target: A,
    margin: float = 0.0,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """1 - cos(x1, x2) where `target` is 1, max(0, cos(x1, x2) - `margin`) where it is -1.

    `x1` and `x2` are (N, D) or (D); `target` is (N) or (), of any numeric dtype. Elsewhere than at
    1 and -1 the loss is 0.

    Raises:
        KernelError: E1202 when a shape does not fit, E1203, E1204, E1206, E1207.
    """
    operation = "cosine_embedding_loss"
    first, second, signs = _signed(operation, x1, x2, target)
    how = tiles(first)

    def store(losses: Operand) -> None:
        launch: Any = cosine_embedding_forward_kernel.options(num_warps=8)[how.grid]
        launch(
            *(losses.array, first.array, second.array, signs.array, how.rows, how.columns, margin),
            ROWS=how.height,
            BLOCK_SIZE=how.width,
        )

    found: A = reduced(operation, first, first.shape[:-1], reduction, store, out)
    return found


def cosine_embedding_loss_backward(
    grad: A, x1: A, x2: A, target: A, margin: float = 0.0, reduction: str = "mean"
) -> tuple[A, A]:
    """The gradients by `x1` and `x2` of `cosine_embedding_loss`."""
    operation = "cosine_embedding_loss_backward"
    first, second, signs = _signed(operation, x1, x2, target)
    upstream, step, divisor = incoming(operation, grad, first, first.shape[:-1], reduction)
    results = [Output(operation, first, first.shape) for _ in range(2)]
    how = tiles(first)
    if first.size:
        launch: Any = cosine_embedding_backward_kernel.options(num_warps=8)[how.grid]
        launch(
            *(own.operand.array for own in results),
            *(upstream.array, first.array, second.array, signs.array),
            *(how.rows, how.columns, step, divisor, margin),
            ROWS=how.height,
            BLOCK_SIZE=how.width,
        )
    by_x1, by_x2 = (own.finish() for own in results)
    return by_x1, by_x2


def _signed(operation: str, x1: Any, x2: Any, target: Any) -> tuple[Operand, Operand, Operand]:
    first, second = checked(operation, {"x1": x1, "x2": x2})
    signs = operand("target", target)
    same_place(operation, [("x1", first), ("target", signs)])
    require_dtype(operation, "target", signs, SIGNS)
    if signs.shape != first.shape[:-1] or first.ndim > 2:
        what = f"`x1` {first.shape}, `target` {signs.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "the arrays are (N, D) or (D), and `target` has no axis D"
        )
    return first, second, contiguous(operation, signs)


def triplet_margin_loss(
    anchor: A,
    positive: A,
    negative: A,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    *,
    out: A | None = None,
) -> A:
    """max(0, `margin` + |anchor - positive| - |anchor - negative|), in `p`-norms of the last axis.

    `eps` is added to each difference. With `swap`, |positive - negative| counts where it is less
    than |anchor - negative|. The arrays are (..., D), the losses (...).

    Raises:
        KernelError: E1202 when a shape does not fit, E1203, E1204, E1206, E1207.
    """
    operation = "triplet_margin_loss"
    arrays = checked(operation, {"anchor": anchor, "positive": positive, "negative": negative})
    norm, how = _norm(operation, p), tiles(arrays[0])

    def store(losses: Operand) -> None:
        launch: Any = triplet_forward_kernel.options(num_warps=8)[how.grid]
        launch(
            *(losses.array, *(own.array for own in arrays), how.rows, how.columns),
            *(margin, p, eps),
            NORM=norm,
            SWAP=swap,
            ROWS=how.height,
            BLOCK_SIZE=how.width,
        )

    found: A = reduced(operation, arrays[0], arrays[0].shape[:-1], reduction, store, out)
    return found


def triplet_margin_loss_backward(
    grad: A,
    anchor: A,
    positive: A,
    negative: A,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> tuple[A, A, A]:
    """The gradients by `anchor`, `positive` and `negative` of `triplet_margin_loss`."""
    operation = "triplet_margin_loss_backward"
    arrays = checked(operation, {"anchor": anchor, "positive": positive, "negative": negative})
    norm, how, first = _norm(operation, p), tiles(arrays[0]), arrays[0]
    upstream, step, divisor = incoming(operation, grad, first, first.shape[:-1], reduction)
    results = [Output(operation, first, first.shape) for _ in range(3)]
    if first.size:
        launch: Any = triplet_backward_kernel.options(num_warps=8)[how.grid]
        launch(
            *(own.operand.array for own in results),
            *(upstream.array, *(own.array for own in arrays), how.rows, how.columns),
            *(step, divisor, margin, p, eps),
            NORM=norm,
            SWAP=swap,
            ROWS=how.height,
            BLOCK_SIZE=how.width,
        )
    by_anchor, by_positive, by_negative = (own.finish() for own in results)
    return by_anchor, by_positive, by_negative


def _norm(operation: str, p: float) -> int:
    if not 0 < p < float("inf"):
        raise E1204.error(operation=operation, name="p", found=f"{p!r}").help(
            "give a number above 0"
        )
    return {1.0: ABSOLUTE, 2.0: EUCLIDEAN}.get(float(p), GENERAL)


SPECS = (
    cosine_spec(
        cosine_embedding_loss,
        cosine_embedding_loss_backward,
        (cosine_embedding_forward_kernel, cosine_embedding_backward_kernel),
    ),
    triplet_spec(
        triplet_margin_loss,
        triplet_margin_loss_backward,
        (triplet_forward_kernel, triplet_backward_kernel),
    ),
)
