"""The product of matrices whose blocks of 128 have factors of their own.

    out[m, n] = sum over blocks b of k of s[m, b] t[b, n / 128] (sum over k in b of x[m, k] y[k, n])

Grid: one program for each tile, in groups of rows. The sum of a block is scaled and added in f32.
Rows and columns past the edge wrap around and are not stored; past the end of k there are zeros.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import widen
from teeny_kernels.products.kernels import DTYPES, place
from teeny_macros import kernel
from teeny_triton import Axis, Const, Elem, Ptr, f32, i8, i32, i64

D = TypeVar("D", bound=Elem)
E = TypeVar("E", bound=Elem)

BLOCK = 128  # elements of k and of n that share a factor


@kernel(dtypes=DTYPES)
def matmul_blocks(
    out_ptr: Ptr[E],
    x_ptr: Ptr[D],
    y_ptr: Ptr[Any],
    x_scale_ptr: Ptr[f32],
    y_scale_ptr: Ptr[f32],
    bias_ptr: Ptr[Any] | None,
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    stride_xm: i64 | int,
    stride_xk: i64 | int,
    stride_yk: i64 | int,
    stride_yn: i64 | int,
    stride_sm: i64 | int,
    stride_sk: i64 | int,
    stride_tk: i64 | int,
    stride_tn: i64 | int,
    EVEN_K: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
    GROUP_M: Const[int],
) -> None:
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    tile_m, tile_n = place(tl.program_id(Axis.X), tiles_m, tiles_n, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    from_row, from_col = (rows % M).to(i64), (cols % N).to(i64)
    x_ptrs = x_ptr + (from_row[:, None] * stride_xm + ks.to(i64)[None, :] * stride_xk)
    y_ptrs = y_ptr + (ks.to(i64)[:, None] * stride_yk + from_col[None, :] * stride_yn)
    s_ptrs = x_scale_ptr + from_row * stride_sm
    t_ptrs = y_scale_ptr + from_col // BLOCK_K * stride_tn
    acc: Any = tl.zeros((BLOCK_M, BLOCK_N), f32)
    x: Any
    y: Any
    zero: Any = 0 if tl.elem(x_ptr) == i8 else 0.0
    for start in range(0, K, BLOCK_K):
        if EVEN_K:
            x = tl.load(x_ptrs)
            y = tl.load(y_ptrs)
        else:
            x = tl.load(x_ptrs, mask=ks[None, :] < K - start, other=zero)
            y = tl.load(y_ptrs, mask=ks[:, None] < K - start, other=zero)
        part: Any = tl.dot(x, y)
        acc += part.to(f32) * tl.load(s_ptrs)[:, None] * tl.load(t_ptrs)[None, :]
        x_ptrs += BLOCK_K * stride_xk
        y_ptrs += BLOCK_K * stride_yk
        s_ptrs += stride_sk
        t_ptrs += stride_tk
    if bias_ptr is not None:
        acc += widen(tl.load(bias_ptr + cols, mask=cols < N, other=0.0))[None, :]
    at = rows.to(i64)[:, None] * N + cols[None, :]
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(out_ptr + at, acc.to(tl.elem(out_ptr)), mask=inside)
