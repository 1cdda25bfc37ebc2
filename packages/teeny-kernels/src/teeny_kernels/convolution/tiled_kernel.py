"""A convolution whose programs keep a tile of positions and channels, without `tl.dot`.

Between `convolve_direct`, which reads an element of x for each product, and `convolve`: an element
of x serves all channels of the tile, a weight all positions. Grid: one program for each tile,
channels first, then positions and groups. Arrays as in kernels.py.
"""

from __future__ import annotations

from typing import TypeVar

import teeny_triton as tl
from teeny_kernels.convolution.kernels import DTYPES, SIDES, STRIDES, finished, met, places
from teeny_kernels.numerics import widen
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, f64, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)

COUNTS = ("batch", "groups", "inner", "outer", "tiles_p", "eps")
PLAIN = (*(name for name in SIDES if not name.startswith("hop")), *STRIDES, *COUNTS)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN)
def convolve_tiled(
    out_ptr: Ptr[D], x_ptr: Ptr[D], w_ptr: Ptr[D], bias_ptr: Ptr[D] | None,
    mean_ptr: Ptr[C] | None, var_ptr: Ptr[C] | None, gamma_ptr: Ptr[D] | None,
    beta_ptr: Ptr[D] | None, eps: f64 | float,
    size_0: i32 | int, size_1: i32 | int, size_2: i32 | int,
    source_0: i32 | int, source_1: i32 | int, source_2: i32 | int,
    window_0: i32 | int, window_1: i32 | int, window_2: i32 | int,
    stride_0: i32 | int, stride_1: i32 | int, stride_2: i32 | int,
    pad_0: i32 | int, pad_1: i32 | int, pad_2: i32 | int,
    gap_0: i32 | int, gap_1: i32 | int, gap_2: i32 | int,
    x_stride_n: i64 | int, x_stride_c: i64 | int, x_stride_0: i64 | int,
    x_stride_1: i64 | int, x_stride_2: i64 | int,
    batch: i32 | int, groups: i32 | int, inner: i32 | int, outer: i32 | int,
    tiles_p: i32 | int,
    SILU: Const[bool], WIDE: Const[bool], BLOCK_P: Const[int], BLOCK_O: Const[int],
) -> None:  # fmt: skip
    tiles_o = tl.cdiv(outer, BLOCK_O)
    pid = tl.program_id(Axis.X)
    start = (pid // tiles_o % tiles_p).to(i64) * BLOCK_P
    group = (pid // tiles_o // tiles_p).to(i64)
    n, p_0, p_1, p_2 = places(start, tl.arange(0, BLOCK_P), size_0, size_1, size_2, WIDE, False)
    outs = pid % tiles_o * BLOCK_O + tl.arange(0, BLOCK_O)
    ours = outs < outer
    channel = group * outer + outs
    x_row = n * x_stride_n + group * inner * x_stride_c
    w_ptrs = w_ptr + channel * inner * (window_0 * window_1 * window_2)
    acc = widen(tl.zeros((BLOCK_P, BLOCK_O), tl.elem(x_ptr)))
    for k_0 in range(window_0):
        i_0, in_0 = met(p_0, k_0, source_0, stride_0, pad_0, gap_0, False)
        for k_1 in range(window_1):
            i_1, in_1 = met(p_1, k_1, source_1, stride_1, pad_1, gap_1, False)
            for k_2 in range(window_2):
                i_2, in_2 = met(p_2, k_2, source_2, stride_2, pad_2, gap_2, False)
                there = (n < batch) & in_0 & in_1 & in_2
                at = x_row + i_0 * x_stride_0 + i_1 * x_stride_1 + i_2 * x_stride_2
                for c in range(inner):
                    x = widen(tl.load(x_ptr + (at + c * x_stride_c), mask=there, other=0.0))
                    w_at = ((k_0 * window_1 + k_1) * window_2 + k_2) * inner + c
                    w = widen(tl.load(w_ptrs + w_at, mask=ours, other=0.0))
                    acc += x[:, None] * w[None, :]
    acc = finished(
        acc, channel[None, :], ours[None, :], bias_ptr, mean_ptr, var_ptr, gamma_ptr, beta_ptr,
        eps, SILU,
    )  # fmt: skip
    row = (n.to(i64)[:, None] * groups * outer + channel[None, :]) * size_0 + p_0[:, None]
    at = (row * size_1 + p_1[:, None]) * size_2 + p_2[:, None]
    inside = (n < batch)[:, None] & ours[None, :]
    tl.store(out_ptr + at, acc.to(tl.elem(out_ptr)), mask=inside)
