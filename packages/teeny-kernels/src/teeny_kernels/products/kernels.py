"""The matrix product: tiles of the output, batches, any strides, an optional bias.

    out[b, m, n] = sum over k of x[b, m, k] y[b, k, n] + bias[n]

Grid: one program for each tile of each matrix, ordered in groups of rows of tiles so that
neighbours share their inputs in the L2 cache. Sums in f32 (f64 for f64; f32 inputs as `PRECISION`
says). Rows and columns past the edge wrap around and are not stored; past the end of k there are
zeros. The output must be none of the inputs.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import widen
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i32, i64

D = TypeVar("D", bound=Float)
E = TypeVar("E", bound=Float)

DTYPES = (f32, f16, bf16, f64)


@kernel(dtypes=DTYPES)
def matmul_kernel(
    out_ptr: Ptr[E],
    x_ptr: Ptr[D],
    y_ptr: Ptr[D],
    bias_ptr: Ptr[D] | None,
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    stride_xb: i64 | int,
    stride_xm: i64 | int,
    stride_xk: i64 | int,
    stride_yb: i64 | int,
    stride_yk: i64 | int,
    stride_yn: i64 | int,
    PRECISION: Const[Any],
    EVEN_K: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
    GROUP_M: Const[int],
) -> None:
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    pid = tl.program_id(Axis.X)
    batch = (pid // (tiles_m * tiles_n)).to(i64)
    tile = pid % (tiles_m * tiles_n)
    in_group = GROUP_M * tiles_n
    first_m = tile // in_group * GROUP_M
    group_rows = tl.minimum(tiles_m - first_m, GROUP_M)
    tile_m = first_m + tile % in_group % group_rows
    tile_n = tile % in_group // group_rows
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    x_ptrs = (
        x_ptr
        + batch * stride_xb
        + ((rows % M).to(i64)[:, None] * stride_xm + ks.to(i64)[None, :] * stride_xk)
    )
    y_ptrs = (
        y_ptr
        + batch * stride_yb
        + (ks.to(i64)[:, None] * stride_yk + (cols % N).to(i64)[None, :] * stride_yn)
    )
    x: Any
    y: Any
    acc = widen(tl.zeros((BLOCK_M, BLOCK_N), tl.elem(x_ptr)))
    for start in range(0, K, BLOCK_K):
        if EVEN_K:
            x = tl.load(x_ptrs)
            y = tl.load(y_ptrs)
        else:
            x = tl.load(x_ptrs, mask=ks[None, :] < K - start, other=0.0)
            y = tl.load(y_ptrs, mask=ks[:, None] < K - start, other=0.0)
        acc = tl.dot(x, y, acc, input_precision=PRECISION, out_dtype=acc.dtype)
        x_ptrs += BLOCK_K * stride_xk
        y_ptrs += BLOCK_K * stride_yk
    if bias_ptr is not None:
        acc += widen(tl.load(bias_ptr + cols, mask=cols < N, other=0.0))[None, :]
    at = (batch * M + rows[:, None]) * N + cols[None, :]
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(out_ptr + at, acc.to(tl.elem(out_ptr)), mask=inside)
