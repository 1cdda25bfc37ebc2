"""Kernels of products of groups of rows with a matrix for each group, grouped.py.

Grids: of rows, a program for each tile of the most that there can be, which finds its group in a
running sum of tiles; of matrices, a program for each tile of each group. With descriptors tiles are
moved whole (sm_90 on); rows of the next group are read, too, and not stored.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.products.kernels import DTYPES, no_sums, place, sums
from teeny_kernels.products.persistent import part_of
from teeny_macros import device, kernel
from teeny_triton import (
    R1,
    R2,
    R3,
    Axis,
    Const,
    Elem,
    Ptr,
    Tensor,
    TensorDescriptor,
    bf16,
    f16,
    f32,
    i32,
    i64,
)

D = TypeVar("D", bound=Elem)


@device
def found(
    offs_ptr: Ptr[i32],
    groups: i32 | int,
    M: i32 | int,
    tile: i32,
    BLOCK_G: Const[int],
    BLOCK_M: Const[int],
) -> tuple[i32, i32, i32]:
    """The group of a tile of rows, the tile's first row, and the end of the group.

    The rows after the last group are one group more, for which there is no matrix.
    """
    at = tl.arange(0, BLOCK_G)
    ends: Tensor[i32, R1] = tl.load(offs_ptr + at, mask=at < groups, other=M)
    later = (at > 0) & (at <= groups)
    begins: Tensor[i32, R1] = tl.load(offs_ptr + at - 1, mask=later, other=0)
    ends = tl.minimum(ends, M)
    begins = tl.minimum(begins, ends)
    tiles = tl.where(at <= groups, tl.cdiv(ends - begins, BLOCK_M), 0)
    before = tl.cumsum(tiles, axis=0)
    group = tl.sum((before <= tile).to(i32), axis=0)
    own = at == group
    first_tile = tl.sum(tl.where(own, before - tiles, 0), axis=0)
    begin = tl.sum(tl.where(own, begins, 0), axis=0) + (tile - first_tile) * BLOCK_M
    return group, begin, tl.sum(tl.where(own, ends, 0), axis=0)


@kernel(dtypes=DTYPES, do_not_specialize=("groups", "most"))
def grouped_rows(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    y_ptr: Ptr[D],
    offs_ptr: Ptr[i32],
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    groups: i32 | int,
    most: i32 | int,
    stride_xm: i64 | int,
    stride_xk: i64 | int,
    stride_yb: i64 | int,
    stride_yk: i64 | int,
    stride_yn: i64 | int,
    PRECISION: Const[Any],
    EVEN_K: Const[bool],
    BLOCK_G: Const[int],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
    GROUP_M: Const[int],
) -> None:
    tile_m, tile_n = place(tl.program_id(Axis.X), most, tl.cdiv(N, BLOCK_N), GROUP_M)
    group, begin, end = found(offs_ptr, groups, M, tile_m, BLOCK_G, BLOCK_M)
    if group > groups:
        return
    rows = begin + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc: Any = sums(
        no_sums(x_ptr, BLOCK_M, BLOCK_N), x_ptr, y_ptr + group.to(i64) * stride_yb,
        tl.minimum(rows, M - 1), cols % N, 0, tl.where(group < groups, tl.cast(K, i32), 0),
        stride_xm, stride_xk, stride_yk, stride_yn, PRECISION, None, EVEN_K, BLOCK_K,
    )  # fmt: skip
    to = rows.to(i64)[:, None] * N + cols[None, :]
    inside = (rows[:, None] < end) & (cols[None, :] < N)
    tl.store(out_ptr + to, acc.to(tl.elem(out_ptr)), mask=inside)


@kernel(dtypes=(f16, bf16, f32), do_not_specialize=("K", "groups", "most"))
def grouped_described(
    out_ptr: Ptr[D],
    x: TensorDescriptor[D, R2],
    y: TensorDescriptor[D, R3],
    offs_ptr: Ptr[i32],
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    groups: i32 | int,
    most: i32 | int,
    PRECISION: Const[Any],
    Y_TURNED: Const[bool],
    BLOCK_G: Const[int],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
    GROUP_M: Const[int],
) -> None:
    tile_m, tile_n = place(tl.program_id(Axis.X), most, tl.cdiv(N, BLOCK_N), GROUP_M)
    group, begin, end = found(offs_ptr, groups, M, tile_m, BLOCK_G, BLOCK_M)
    if group > groups:
        return
    column = tile_n * BLOCK_N
    acc: Any = tl.zeros((BLOCK_M, BLOCK_N), f32)
    for k in range(0, tl.where(group < groups, tl.cast(K, i32), 0), BLOCK_K):
        a: Any = part_of(x, 0, begin, k, BLOCK_M, BLOCK_K, False, False)
        b: Any = part_of(y, group, k, column, BLOCK_K, BLOCK_N, True, Y_TURNED)
        acc = tl.dot(a, b, acc, input_precision=PRECISION, out_dtype=acc.dtype)
    rows = begin + tl.arange(0, BLOCK_M)
    cols = column + tl.arange(0, BLOCK_N)
    to = rows.to(i64)[:, None] * N + cols[None, :]
    inside = (rows[:, None] < end) & (cols[None, :] < N)
    tl.store(out_ptr + to, acc.to(tl.elem(out_ptr)), mask=inside)


@kernel(dtypes=DTYPES, do_not_specialize=("M",))
def grouped_matrices(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    y_ptr: Ptr[D],
    offs_ptr: Ptr[i32],
    M: i32 | int,
    K: i32 | int,
    N: i32 | int,
    stride_xm: i64 | int,
    stride_xk: i64 | int,
    stride_ym: i64 | int,
    stride_yn: i64 | int,
    PRECISION: Const[Any],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
    GROUP_M: Const[int],
) -> None:
    """`out` (g, k, n): the sums over the rows of a group of x[t, k] y[t, n]."""
    tiles_k = tl.cdiv(K, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    pid = tl.program_id(Axis.X)
    group = pid // (tiles_k * tiles_n)
    tile_k, tile_n = place(pid % (tiles_k * tiles_n), tiles_k, tiles_n, GROUP_M)
    begin = tl.cast(0, i32)
    if group > 0:
        begin = tl.minimum(tl.load(offs_ptr + (group - 1)), M)
    end = tl.minimum(tl.load(offs_ptr + group), M)
    rows = tile_k * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc: Any = sums(
        no_sums(x_ptr, BLOCK_M, BLOCK_N), x_ptr, y_ptr, rows % K, cols % N, begin, end,
        stride_xk, stride_xm, stride_ym, stride_yn, PRECISION, None, False, BLOCK_K,
    )  # fmt: skip
    to = (group.to(i64) * K + rows[:, None]) * N + cols[None, :]
    inside = (rows[:, None] < K) & (cols[None, :] < N)
    tl.store(out_ptr + to, acc.to(tl.elem(out_ptr)), mask=inside)
