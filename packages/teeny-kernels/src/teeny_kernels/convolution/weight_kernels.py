"""Kernels of the gradient of a convolution by its weight.

    dw[o, c, k] = sum over n, p of grad[n, o, p] x[n, c, p stride - padding + k dilation]

The sum over results of all samples is cut into shares, which are written one after the other and
added by a second kernel in a fixed order. Grid of `convolve_weight`: one program for each tile of
weights, columns (taps and channels) first, then rows (channels of the result), groups and shares;
of `convolve_weight_direct`: one for each weight and share, for few channels in a group. `x` and
`grad` may have any strides; weights are written contiguous, (out, in, *window). Sums in f32, f64
for f64.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.convolution.kernels import DTYPES, eight, eighths, met, narrow, places, reached
from teeny_kernels.numerics import widen
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, i32, i64

D = TypeVar("D", bound=Float)
E = TypeVar("E", bound=Float)

SIDES = tuple(
    f"{name}_{axis}"
    for name in ("size", "source", "window", "stride", "pad", "gap")
    for axis in range(3)
)
STRIDES = tuple(f"{name}_stride_{axis}" for name in ("x", "grad") for axis in ("n", "c", 0, 1, 2))
PLAIN = (*SIDES, *STRIDES, "batch", "groups", "share")


@kernel(dtypes=DTYPES, do_not_specialize=(*PLAIN, "inner", "outer"))
def convolve_weight_direct(
    dw_ptr: Ptr[E], grad_ptr: Ptr[D], x_ptr: Ptr[D],
    size_0: i32 | int, size_1: i32 | int, size_2: i32 | int,
    source_0: i32 | int, source_1: i32 | int, source_2: i32 | int,
    window_0: i32 | int, window_1: i32 | int, window_2: i32 | int,
    stride_0: i32 | int, stride_1: i32 | int, stride_2: i32 | int,
    pad_0: i32 | int, pad_1: i32 | int, pad_2: i32 | int,
    gap_0: i32 | int, gap_1: i32 | int, gap_2: i32 | int,
    x_stride_n: i64 | int, x_stride_c: i64 | int, x_stride_0: i64 | int,
    x_stride_1: i64 | int, x_stride_2: i64 | int,
    grad_stride_n: i64 | int, grad_stride_c: i64 | int, grad_stride_0: i64 | int,
    grad_stride_1: i64 | int, grad_stride_2: i64 | int,
    batch: i32 | int, groups: i32 | int, inner: i32 | int, outer: i32 | int, share: i64 | int,
    WIDE: Const[bool], QUICK: Const[bool], BLOCK_SIZE: Const[int],
) -> None:  # fmt: skip
    taps = window_0 * window_1 * window_2
    weights = groups * outer * inner * taps
    pid = tl.program_id(Axis.X)
    weight = pid % weights
    out = weight // taps // inner
    c = out // outer * inner + weight // taps % inner
    k_0, k_1 = weight % taps // window_2 // window_1, weight % taps // window_2 % window_1
    k_2 = weight % window_2
    x_ptr += c.to(i64) * x_stride_c
    grad_ptr += out.to(i64) * grad_stride_c
    lanes = tl.arange(0, BLOCK_SIZE)
    begin = (pid // weights).to(i64) * share
    acc = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
    for start in range(begin, begin + share, BLOCK_SIZE):
        n, p_0, p_1, p_2 = places(start, lanes, size_0, size_1, size_2, WIDE, QUICK)
        i_0, in_0 = met(p_0, k_0, source_0, stride_0, pad_0, gap_0, False)
        i_1, in_1 = met(p_1, k_1, source_1, stride_1, pad_1, gap_1, False)
        i_2, in_2 = met(p_2, k_2, source_2, stride_2, pad_2, gap_2, False)
        mask = (n < batch) & in_0 & in_1 & in_2
        at = n * x_stride_n + i_0 * x_stride_0 + i_1 * x_stride_1 + i_2 * x_stride_2
        x = widen(tl.load(x_ptr + at, mask=mask, other=0.0))
        at = n * grad_stride_n + p_0 * grad_stride_0 + p_1 * grad_stride_1 + p_2 * grad_stride_2
        acc += x * widen(tl.load(grad_ptr + at, mask=mask, other=0.0))
    tl.store(dw_ptr + pid, tl.sum(acc, axis=0).to(tl.elem(dw_ptr)))


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN)
def convolve_weight(
    dw_ptr: Ptr[E], grad_ptr: Ptr[D], x_ptr: Ptr[D],
    size_0: i32 | int, size_1: i32 | int, size_2: i32 | int,
    source_0: i32 | int, source_1: i32 | int, source_2: i32 | int,
    window_0: i32 | int, window_1: i32 | int, window_2: i32 | int,
    stride_0: i32 | int, stride_1: i32 | int, stride_2: i32 | int,
    pad_0: i32 | int, pad_1: i32 | int, pad_2: i32 | int,
    gap_0: i32 | int, gap_1: i32 | int, gap_2: i32 | int,
    x_stride_n: i64 | int, x_stride_c: i64 | int, x_stride_0: i64 | int,
    x_stride_1: i64 | int, x_stride_2: i64 | int,
    grad_stride_n: i64 | int, grad_stride_c: i64 | int, grad_stride_0: i64 | int,
    grad_stride_1: i64 | int, grad_stride_2: i64 | int,
    batch: i32 | int, groups: i32 | int, inner: i32 | int, outer: i32 | int, share: i64 | int,
    WIDE: Const[bool], QUICK: Const[bool], ALIGNED: Const[bool], SIDE_BY_SIDE: Const[bool],
    PRECISION: Const[Any],
    BLOCK_M: Const[int], BLOCK_N: Const[int], BLOCK_K: Const[int],
) -> None:  # fmt: skip
    taps = window_0 * window_1 * window_2
    pid = tl.program_id(Axis.X)
    rest = pid // tl.cdiv(inner * taps, BLOCK_N)
    group = (rest // tl.cdiv(outer, BLOCK_M) % groups).to(i64)
    part = (rest // tl.cdiv(outer, BLOCK_M) // groups).to(i64)
    outs = rest % tl.cdiv(outer, BLOCK_M) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid % tl.cdiv(inner * taps, BLOCK_N) * BLOCK_N + tl.arange(0, BLOCK_N)
    c, tap = cols % inner, cols // inner
    k_0, k_1, k_2 = tap // window_2 // window_1, tap // window_2 % window_1, tap % window_2
    d_0, d_1, d_2 = k_0 * gap_0 - pad_0, k_1 * gap_1 - pad_1, k_2 * gap_2 - pad_2
    move = d_0 * x_stride_0 + d_1 * x_stride_1 + d_2 * x_stride_2
    aside: Any
    if ALIGNED:
        side_by_side: Any = tl.max_contiguous(tl.multiple_of(c, 8), 8)
        move = eighths(narrow(move + group * inner, WIDE), True) + side_by_side
        aside = narrow(group * outer + outs, WIDE)
    else:
        move = narrow(move + (group * inner + c) * x_stride_c, WIDE)
        aside = narrow((group * outer + outs) * grad_stride_c, WIDE)
    lanes = tl.arange(0, BLOCK_K)
    acc = widen(tl.zeros((BLOCK_M, BLOCK_N), tl.elem(x_ptr)))
    for start in range(part * share, (part + 1) * share, BLOCK_K):
        n, p_0, p_1, p_2 = places(start, lanes, size_0, size_1, size_2, WIDE, QUICK)
        s_0, s_1, s_2 = p_0 * stride_0, p_1 * stride_1, p_2 * stride_2
        at = n * x_stride_n + s_0 * x_stride_0 + s_1 * x_stride_1 + s_2 * x_stride_2
        at = eight(eighths(narrow(at, WIDE), ALIGNED), SIDE_BY_SIDE)
        there = (n < batch)[:, None] & (cols < inner * taps)[None, :]
        there = there & reached(s_0, d_0, source_0, False)
        there = there & reached(s_1, d_1, source_1, False)
        there = there & reached(s_2, d_2, source_2, False)
        x = tl.load(x_ptr + (at[:, None] + move[None, :]), there, 0.0)
        at = n * grad_stride_n + p_0 * grad_stride_0 + p_1 * grad_stride_1 + p_2 * grad_stride_2
        at = eight(eighths(narrow(at, WIDE), ALIGNED), SIDE_BY_SIDE)
        there = (outs < outer)[:, None] & (n < batch)[None, :]
        grad = tl.load(grad_ptr + (aside[:, None] + at[None, :]), there, 0.0)
        acc = tl.dot(grad, x, acc, input_precision=PRECISION, out_dtype=acc.dtype)
    row = (part * groups + group) * outer + outs[:, None]
    at = (row * inner + c[None, :]) * taps + tap[None, :]
    inside = (outs < outer)[:, None] & (cols < inner * taps)[None, :]
    tl.store(dw_ptr + at, acc.to(tl.elem(dw_ptr)), mask=inside)
