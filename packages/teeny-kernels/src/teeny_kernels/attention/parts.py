"""What the attention kernels share: which scores a row sees, soft cap, slopes, dropout, tiles.

Row m of q sees column n of k where m + gap - left <= n <= m + gap + right, or where n < sinks and
n <= m + gap + right; gap is Sk - Sq, so that the last row and the last column belong together.
A program walks over blocks in two phases: first those that all of its rows see whole, without any
mask; then the others, at the edges. Device functions only; the kernels own pointers and loops.
"""

from __future__ import annotations

from typing import Any

import teeny_triton as tl
from teeny_kernels.numerics import number, widen
from teeny_macros import device
from teeny_triton import R1, R2, Tensor, bf16, f32, i1, i32, i64, u32
from teeny_triton.target_info import cuda_capability_geq

LOG2E = 1.4426950408889634
# ln 2 in two parts: the first has the bits of f32, so that products with it lose little there.
LN2_HIGH = 0.693147182464599609375
LN2_LOW = -1.904654299957768e-09


@device
def smallest(x: i32, y: i32 | int) -> i32:
    """The smaller of two whole numbers."""
    return tl.minimum(x, y)


@device
def largest(x: i32, y: i32 | int) -> i32:
    """The larger of two whole numbers."""
    return tl.maximum(x, y)


@device
def distance(x: Tensor[i32, R2]) -> Tensor[i32, R2]:
    """How far apart columns are, whichever comes first."""
    return tl.abs(x)


@device
def finite(x: Tensor[f32, R1]) -> Tensor[f32, R1]:
    """0 in place of -inf: what is taken from exponents of rows that saw nothing."""
    return tl.where(x == -float("inf"), 0.0, x)


@device
def sequence(starts_ptr: Any, at: Any, length: Any) -> Any:
    """The first row of sequence `at` in a packed array, and its rows; (0, length) of others."""
    if starts_ptr is None:
        return length * 0, length
    first: Any = tl.load(starts_ptr + at)
    return first, tl.load(starts_ptr + at + 1) - first


@device
def block(
    base: Any, rows: Any, ds: Any, stride: Any, count: Any, depth: Any, MASKED: Any, FULL: Any
) -> Any:
    """Rows of a matrix whose columns lie together, zeros outside; MASKED: rows may be outside."""
    at = base + rows.to(i64)[:, None] * stride + ds[None, :]
    if MASKED and FULL:
        return tl.load(at, mask=(rows < count)[:, None], other=0.0)
    if MASKED:
        return tl.load(at, mask=(rows < count)[:, None] & (ds < depth)[None, :], other=0.0)
    if FULL:
        return tl.load(at)
    return tl.load(at, mask=(ds < depth)[None, :], other=0.0)


@device
def tile(
    tiles: Any, base: Any, batch: Any, head: Any, start: Any, ds: Any, stride: Any, count: Any,
    depth: Any, ROWS: Any, MASKED: Any, FULL: Any,
) -> Any:  # fmt: skip
    """`block` of the rows from `start` on, by a descriptor where there is one."""
    if tiles is None:
        rows = start + tl.arange(0, ROWS)
        return block(base, rows, ds, stride, count, depth, MASKED, FULL)
    found = tiles.load((batch, head, start, 0))
    return tl.reshape(found, (ROWS, ds.shape[0]))


@device
def held(x: Tensor[bf16, R2], ds: Tensor[i32, R1]) -> Any:
    """`x` in the registers of the threads that multiply it, and not in shared memory.

    The compiler keeps there what a product gave: here that with the identity, which is exact. A row
    with an infinity becomes NaN, as its probabilities would.
    """
    identity = (ds[:, None] == ds[None, :]).to(x.dtype)
    return tl.dot(x, identity).to(x.dtype)


@device
def product(x: Any, y: Any, acc: Tensor[f32, R2]) -> Tensor[f32, R2]:
    """The matrix x y + acc, in the dtype of `acc`; f32 is not rounded to tf32.

    A GPU with tf32 takes three products of the two halves of its factors, with errors as those of
    a sum in f32, and in a fraction of the time.
    """
    if x.dtype == f32 and cuda_capability_geq(8, 0):
        return tl.dot(x, y, acc, input_precision="tf32x3", out_dtype=acc.dtype)
    return tl.dot(x, y, acc, input_precision="ieee", out_dtype=acc.dtype)


@device
def offset(batch: Any, head: Any, row: Any, stride_b: Any, stride_h: Any, stride_m: Any) -> Any:
    """Where the rows of a head begin, in elements."""
    return batch.to(i64) * stride_b + head.to(i64) * stride_h + row.to(i64) * stride_m


@device
def scores(
    x: Any, y: Any, rows: Any, cols: Any, SQ: Any, SK: Any, left: Any, right: Any, sinks: Any,
    scale: Any, cap: Any, slope: Any, MASKED: Any, PLAIN: Any, CAP: Any, ALIBI: Any,
) -> tuple[Tensor[f32, R2], Any]:  # fmt: skip
    """Scores of the rows of x against the columns of y, and what of a gradient a soft cap lets by.

    `rows` and `cols` broadcast to their shape. PLAIN scores stay products: their scale is in the
    exponent.
    """
    zero = widen(tl.zeros((x.shape[0], y.shape[1]), x.dtype))
    s = product(x, y, zero)
    passed: Any = 1.0
    if not PLAIN:
        s = s * number(scale, s)
    if CAP:
        curved = tl.math.tanh(s / number(cap, s))
        passed = 1.0 - curved * curved
        s = curved * number(cap, s)
    far: Any = cols - rows - (SK - SQ)
    if ALIBI:
        s = s - distance(far).to(s.dtype) * number(slope, s)
    if MASKED:
        seen = (far <= right) & ((far >= -left) | (cols < sinks))
        s = tl.where(seen & (rows < SQ) & (cols < SK), s, -float("inf"))
    return s, passed


@device
def weighed(s: Any, total: Any, largest: Any, in_log2: Any) -> tuple[Any, Any, Any, Any]:
    """Exponentials of a block of scores; the factor of what was summed before; what is carried on.

    That is their sum and the largest exponent, in units of log 2.
    """
    higher = tl.maximum(largest, tl.max(s, axis=1) * in_log2)
    base = finite(higher)
    p = tl.exp2(tl.fma(s, in_log2, -base[:, None]))
    shrink = tl.exp2(largest - base)
    return p, shrink, total * shrink + tl.sum(p, axis=1), higher


@device
def walk_columns(
    first: Any, SQ: Any, SK: Any, left: Any, right: Any, sinks: Any, M: Any, N: Any, PHASES: Any
) -> Any:
    """The blocks of columns that the M rows from `first` on see: `edges`, and leading ones."""
    own = first + SK - SQ
    low = smallest(largest(own - left, 0), SK) // N * N
    high = smallest(own + M + right, SK)
    full_high = smallest(own + 1 + right, SK)
    full, whole, before, after = edges(low, high, own + M - 1 - left, full_high, N, PHASES)
    sunk = smallest(tl.cdiv(largest(smallest(sinks, high), 0), N), low // N)
    return low, full, whole, before, sunk, sunk + before + after


@device
def walk_rows(
    first: Any, SQ: Any, SK: Any, left: Any, right: Any, sinks: Any, M: Any, N: Any, PHASES: Any
) -> Any:
    """The blocks of rows that see the N columns from `first` on: `edges`."""
    own = first + SQ - SK
    low = smallest(largest(own - right, 0), SQ) // M * M
    high = tl.where(first < sinks, SQ, smallest(own + N + left, SQ))
    full_high = tl.where(first + N <= sinks, SQ, smallest(own + 1 + left, SQ))
    full, whole, before, after = edges(low, high, own + N - 1 - right, full_high, M, PHASES)
    return low, full, whole, before, before + after


@device
def edges(low: Any, high: Any, full_low: Any, full_high: Any, SIDE: Any, PHASES: Any) -> Any:
    """Blocks of [low, high) as those before, within and after the blocks that need no mask.

    Gives where the unmasked ones begin, how many they are, how many come before and after; `low`
    is a multiple of SIDE, and `full_low` and `full_high` are rounded inward here. With one phase
    all blocks are masked.
    """
    high = largest(high, low)
    last = (high + SIDE - 1) // SIDE * SIDE
    full = smallest((largest(full_low, low) + SIDE - 1) // SIDE * SIDE, last)
    if PHASES == 1:
        full = last
    end = largest(smallest(full_high, high) // SIDE * SIDE, full)
    return full, (end - full) // SIDE, (full - low) // SIDE, (last - end) // SIDE


@device
def start_of(
    step: Any, low: Any, full: Any, whole: Any, before: Any, sunk: Any, MASKED: Any, PHASES: Any,
    SIDE: Any,
) -> Any:  # fmt: skip
    """Where the block of a step begins: leading blocks, those before the unmasked, those after."""
    if not MASKED:
        return full + step * SIDE
    start: Any = tl.where(step < sunk, step * SIDE, low + (step - sunk) * SIDE)
    if PHASES == 2:
        past = step - sunk - before
        start = tl.where(past >= 0, full + (whole + past) * SIDE, start)
    return start


@device
def kept(
    seed: i64 | int, head: i32, rows: Tensor[i32, R1], start: i32, threshold: Any, COLUMNS: Any
) -> Tensor[i1, R2]:
    """Which probabilities of a block dropout keeps: random bits that are not below `threshold`.

    Philox 4x32-10 with the key `seed` and the counter (n // 4, m, head, 0) gives the bits of four
    columns of a row, so that they depend on neither blocks nor kernels.
    """
    quads = start // 4 + tl.arange(0, COLUMNS // 4)
    zero = rows[:, None] * 0 + quads[None, :] * 0
    b0, b1, b2, b3 = tl.philox(seed, zero + quads[None, :], zero + rows[:, None], zero + head, zero)
    bits = tl.join(tl.join(b0, b2), tl.join(b1, b3))
    return tl.reshape(bits, (rows.shape[0], COLUMNS)) >= threshold.to(u32)
