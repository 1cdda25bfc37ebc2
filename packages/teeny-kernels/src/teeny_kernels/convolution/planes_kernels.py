"""Depthwise convolutions: each plane of the result meets one plane of the source, and few taps.

A program makes ROWS rows, one below the other, of STRIPS pieces of planes that are COLS wide. The
window, strides and padding are known to the compiler, which loads what several rows meet once; the
transposed form leaves out the taps that its rows do not meet. Grid of `convolve_planes`: one
program for each block of columns, then of strips; of `convolve_planes_weight`: one for each
channel of the result and part of the sum. Sums in f32, f64 for f64.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.convolution.kernels import finished
from teeny_kernels.numerics import widen
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i32, i64, u32

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)
E = TypeVar("E", bound=Float)

DTYPES = (f32, f16, bf16, f64)
PLAIN = ("channels", "outer", "size_1", "size_2", "source_1", "source_2")


@device
def within(at: Any, size: Any) -> Any:
    """Whether places lie in an axis: one comparison."""
    return tl.cast(at, u32) < tl.cast(size, u32)


@device
def row_met(r: int, k: int, PAD: int, STRIDE: int, GAP: int, TURNED: bool) -> int:
    """How far below what the first row meets row r meets the source by tap k."""
    if TURNED:
        return (r + PAD - k * GAP) // STRIDE
    return r * STRIDE + k * GAP - PAD


@device
def column_met(
    q: Any, k: int, size: Any, x_stride: Any, PAD: int, STRIDE: int, GAP: int, TURNED: bool
) -> tuple[Any, Any]:
    """How far from `start_of` columns q meet the source by tap k, and whether they do."""
    if not TURNED:
        return x_stride * (k * GAP - PAD), within(q * STRIDE + (k * GAP - PAD), size)
    at = q + (PAD - k * GAP)
    if STRIDE == 1:
        return x_stride * (PAD - k * GAP), within(at, size)
    return at // STRIDE * x_stride, (at >= 0) & (at % STRIDE == 0) & (at // STRIDE < size)


@device
def start_of(q: Any, STRIDE: int, TURNED: bool) -> Any:
    """The column from which `column_met` counts."""
    if TURNED:
        return q if STRIDE == 1 else q * 0
    return q * STRIDE


@kernel(dtypes=DTYPES, do_not_specialize=("planes", *PLAIN, "eps"))
def convolve_planes(
    out_ptr: Ptr[D], x_ptr: Ptr[D], w_ptr: Ptr[D], bias_ptr: Ptr[D] | None,
    mean_ptr: Ptr[C] | None, var_ptr: Ptr[C] | None, gamma_ptr: Ptr[D] | None,
    beta_ptr: Ptr[D] | None, eps: f64 | float,
    planes: i32 | int, channels: i32 | int, outer: i32 | int,
    size_1: i32 | int, size_2: i32 | int, source_1: i32 | int, source_2: i32 | int,
    x_stride_n: i64 | int, x_stride_c: i64 | int, x_stride_1: i64 | int, x_stride_2: i64 | int,
    TURNED: Const[bool], SILU: Const[bool], WINDOW: Const[Any], STRIDE: Const[Any],
    PAD: Const[Any], GAP: Const[Any], ROWS: Const[int], STRIPS: Const[int], COLS: Const[int],
) -> None:  # fmt: skip
    pid = tl.program_id(Axis.X)
    blocks = tl.cdiv(size_2, COLS)
    per_plane = tl.cdiv(size_1, ROWS)
    strip = pid // blocks * STRIPS + tl.arange(0, STRIPS)
    plane, y = strip // per_plane, strip % per_plane * ROWS
    q = (pid % blocks * COLS + tl.arange(0, COLS))[None, :]
    valid = plane < planes
    n, channel = plane // channels, plane % channels
    first = y // STRIDE[0] if TURNED else y * STRIDE[0]
    begin = n * x_stride_n + channel // outer * x_stride_c + first * x_stride_1
    x_ptrs = x_ptr + begin[:, None] + start_of(q, STRIDE[1], TURNED) * x_stride_2
    weights: Any = ()
    for tap in tl.static_range(WINDOW[0] * WINDOW[1]):
        w = tl.load(w_ptr + channel * (WINDOW[0] * WINDOW[1]) + tap, mask=valid, other=0.0)
        weights = (*weights, widen(w)[:, None])
    rows: Any = ()
    for r in tl.static_range(ROWS):
        acc = widen(tl.zeros((STRIPS, COLS), tl.elem(x_ptr)))
        for k_1 in tl.static_range(WINDOW[0]):
            if not TURNED or (r + PAD[0] - k_1 * GAP[0]) % STRIDE[0] == 0:
                down = row_met(r, k_1, PAD[0], STRIDE[0], GAP[0], TURNED)
                in_1 = within(first + down, source_1)[:, None]
                x_row = x_ptrs + x_stride_1 * down
                for k_2 in tl.static_range(WINDOW[1]):
                    aside, in_2 = column_met(
                        q, k_2, source_2, x_stride_2, PAD[1], STRIDE[1], GAP[1], TURNED
                    )
                    x = tl.load(x_row + aside, in_1 & (in_2 & valid[:, None]), 0.0)
                    acc += widen(x) * weights[k_1 * WINDOW[1] + k_2]
        rows = (*rows, acc)
    out_ptrs = out_ptr + ((plane.to(i64) * size_1 + y) * size_2)[:, None] + q
    inside = (q < size_2) & valid[:, None]
    for r in tl.static_range(ROWS):
        found = finished(
            rows[r], channel[:, None], valid[:, None], bias_ptr, mean_ptr, var_ptr, gamma_ptr,
            beta_ptr, eps, SILU,
        )  # fmt: skip
        there = inside & (y + r < size_1)[:, None]
        tl.store(out_ptrs + size_2 * r, found.to(tl.elem(out_ptr)), mask=there)


@kernel(dtypes=DTYPES, do_not_specialize=("batch", *PLAIN, "share"))
def convolve_planes_weight(
    dw_ptr: Ptr[E], grad_ptr: Ptr[D], x_ptr: Ptr[D],
    batch: i32 | int, channels: i32 | int, outer: i32 | int,
    size_1: i32 | int, size_2: i32 | int, source_1: i32 | int, source_2: i32 | int,
    x_stride_n: i64 | int, x_stride_c: i64 | int, x_stride_1: i64 | int, x_stride_2: i64 | int,
    grad_stride_n: i64 | int, grad_stride_c: i64 | int, grad_stride_1: i64 | int,
    grad_stride_2: i64 | int, share: i32 | int,
    WINDOW: Const[Any], STRIDE: Const[Any], PAD: Const[Any], GAP: Const[Any],
    RAGGED: Const[bool], ROWS: Const[int], STRIPS: Const[int], COLS: Const[int],
) -> None:  # fmt: skip
    """The gradient by each tap of a channel; `share` strips, a multiple of STRIPS, a program."""
    pid = tl.program_id(Axis.X)
    channel, part = pid % channels, pid // channels
    blocks = tl.cdiv(size_2, COLS)
    per_plane = tl.cdiv(size_1, ROWS)
    x_ptr += (channel // outer).to(i64) * x_stride_c
    grad_ptr += channel.to(i64) * grad_stride_c
    sums: Any = ()
    for _ in tl.static_range(WINDOW[0] * WINDOW[1]):
        sums = (*sums, widen(tl.zeros((STRIPS, COLS), tl.elem(x_ptr))))
    for start in range(part * share, (part + 1) * share, STRIPS):
        strip = start + tl.arange(0, STRIPS)
        q = (strip % blocks * COLS)[:, None] + tl.arange(0, COLS)[None, :]
        strip = strip // blocks
        n, y = strip // per_plane, strip % per_plane * ROWS
        inside = (q < size_2) & (n < batch)[:, None]
        first = y * STRIDE[0]
        x_ptrs = x_ptr + (n * x_stride_n + first * x_stride_1)[:, None]
        x_ptrs = x_ptrs + q * STRIDE[1] * x_stride_2
        grad_ptrs = grad_ptr + (n * grad_stride_n + y * grad_stride_1)[:, None] + q * grad_stride_2
        for r in tl.static_range(ROWS):
            there = (y + r < size_1)[:, None]
            grad = tl.load(grad_ptrs + grad_stride_1 * r, inside & there, 0.0)
            new: Any = ()
            for k_1 in tl.static_range(WINDOW[0]):
                down = row_met(r, k_1, PAD[0], STRIDE[0], GAP[0], False)
                in_1 = within(first + down, source_1)[:, None]
                x_row = x_ptrs + x_stride_1 * down
                for k_2 in tl.static_range(WINDOW[1]):
                    aside, in_2 = column_met(
                        q, k_2, source_2, x_stride_2, PAD[1], STRIDE[1], GAP[1], False
                    )
                    x = widen(tl.load(x_row + aside, in_1 & (in_2 & inside), 0.0))
                    if RAGGED:
                        # Rows that are no results meet no infinities.
                        x = tl.where(there, x, 0.0)
                    new = (*new, sums[k_1 * WINDOW[1] + k_2] + widen(grad) * x)
            sums = new
    taps = WINDOW[0] * WINDOW[1]
    for tap in tl.static_range(WINDOW[0] * WINDOW[1]):
        whole = tl.sum(tl.sum(sums[tap], axis=1), axis=0)
        tl.store(dw_ptr + pid.to(i64) * taps + tap, whole.to(tl.elem(dw_ptr)))
