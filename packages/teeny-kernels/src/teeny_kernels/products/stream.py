"""The matrix product for few tiles or a long k: all steps of all tiles in equal shares.

Every program takes `share` steps of `BLOCK_K`, one after the other through the tiles, whose own
steps follow each other. A tile that one program makes whole is stored; what a program has of a tile
that others work on, too, goes to its two places in `parts`, the first for the tile that it begins
with. The second kernel, a program for every `ROWS` rows of a tile, adds the parts of each such tile
in the order of k. So results do not depend on which program is faster. With fewer steps in a share
than a tile has, this is a product whose k is split.

Osama, Merrill, Cecka, Garland, Owens 2023, "Stream-K: work-centric parallel decomposition for dense
matrix-matrix multiplication on the GPU" (there the programs wait for each other instead).
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.products.kernels import DTYPES, finished, no_sums, place, sums
from teeny_kernels.products.persistent import part_of
from teeny_macros import kernel
from teeny_triton import Axis, Const, Elem, Ptr, TensorDescriptor, f32, f64, i8, i32, i64

D = TypeVar("D", bound=Elem)
E = TypeVar("E", bound=Elem)
P = TypeVar("P", bound=Elem)


@kernel(dtypes=DTYPES, do_not_specialize=("tiles", "share", "stride_s", "stride_t"))
def matmul_shares(
    out_ptr: Ptr[E],
    parts_ptr: Ptr[P],
    x_ptr: Ptr[D],
    y_ptr: Ptr[Any],
    row_scale_ptr: Ptr[Any] | None,
    column_scale_ptr: Ptr[Any] | None,
    bias_ptr: Ptr[Any] | None,
    residual_ptr: Ptr[Any] | None,
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    tiles: i32 | int,
    share: i32 | int,
    stride_xb: i64 | int,
    stride_xm: i64 | int,
    stride_xk: i64 | int,
    stride_yb: i64 | int,
    stride_yk: i64 | int,
    stride_yn: i64 | int,
    stride_s: i32 | int,
    stride_t: i32 | int,
    alpha: f64 | float,
    beta: f64 | float,
    SCALED: Const[bool],
    ACTIVATION: Const[Any],
    GRADIENT: Const[bool],
    PRECISION: Const[Any],
    IMPRECISE: Const[Any],
    EVEN_K: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
    GROUP_M: Const[int],
) -> None:
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    steps = tl.cdiv(K, BLOCK_K)
    pid = tl.program_id(Axis.X)
    at = pid * share
    stop = tl.minimum(at + share, tiles * steps)
    begins_with = at // steps
    while at < stop:
        tile = at // steps
        batch = (tile // (tiles_m * tiles_n)).to(i64)
        tile_m, tile_n = place(tile % (tiles_m * tiles_n), tiles_m, tiles_n, GROUP_M)
        rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        first = at % steps
        last = tl.minimum(first + stop - at, steps)
        acc = sums(
            no_sums(x_ptr, BLOCK_M, BLOCK_N), x_ptr + batch * stride_xb,
            y_ptr + batch * stride_yb, rows % M, cols % N, first * BLOCK_K,
            tl.minimum(last * BLOCK_K, K), stride_xm, stride_xk, stride_yk, stride_yn, PRECISION,
            IMPRECISE, EVEN_K, BLOCK_K,
        )  # fmt: skip
        if last - first == steps:
            whole = finished(
                acc, rows, cols, batch, M, N, row_scale_ptr, column_scale_ptr, bias_ptr,
                residual_ptr, stride_s, stride_t, alpha, beta, SCALED, ACTIVATION, GRADIENT,
            )  # fmt: skip
            to = (batch * M + rows[:, None]) * N + cols[None, :]
            inside = (rows[:, None] < M) & (cols[None, :] < N)
            tl.store(out_ptr + to, whole.to(tl.elem(out_ptr)), mask=inside)
        else:
            part = 2 * pid + (tile != begins_with).to(i32)
            in_part = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
            tl.store(parts_ptr + part.to(i64) * BLOCK_M * BLOCK_N + in_part, acc)
        at += last - first


@kernel(dtypes=DTYPES, do_not_specialize=("K", "tiles", "share", "stride_s", "stride_t"))
def matmul_shares_described(
    out_ptr: Ptr[E],
    parts_ptr: Ptr[P],
    x: TensorDescriptor[D, Any],
    y: TensorDescriptor[Any, Any],
    row_scale_ptr: Ptr[Any] | None,
    column_scale_ptr: Ptr[Any] | None,
    bias_ptr: Ptr[Any] | None,
    residual_ptr: Ptr[Any] | None,
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    tiles: i32 | int,
    share: i32 | int,
    stride_s: i32 | int,
    stride_t: i32 | int,
    alpha: f64 | float,
    beta: f64 | float,
    SCALED: Const[bool],
    ACTIVATION: Const[Any],
    GRADIENT: Const[bool],
    PRECISION: Const[Any],
    IMPRECISE: Const[Any],
    BATCHED: Const[bool],
    X_TURNED: Const[bool],
    Y_TURNED: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
    GROUP_M: Const[int],
) -> None:
    """As `matmul_shares`, its tiles moved by descriptors."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    steps = tl.cdiv(K, BLOCK_K)
    pid = tl.program_id(Axis.X)
    at = pid * share
    stop = tl.minimum(at + share, tiles * steps)
    begins_with = at // steps
    while at < stop:
        tile = at // steps
        batch = tile // (tiles_m * tiles_n)
        tile_m, tile_n = place(tile % (tiles_m * tiles_n), tiles_m, tiles_n, GROUP_M)
        row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
        first = at % steps
        last = tl.minimum(first + stop - at, steps)
        acc: Any = tl.zeros((BLOCK_M, BLOCK_N), i32 if x.dtype == i8 else f32)
        for step in range(first, last):
            k = step * BLOCK_K
            a: Any = part_of(x, batch, row, k, BLOCK_M, BLOCK_K, BATCHED, X_TURNED)
            b: Any = part_of(y, batch, k, column, BLOCK_K, BLOCK_N, BATCHED, Y_TURNED)
            acc = tl.dot(
                a, b, acc, input_precision=PRECISION, max_num_imprecise_acc=IMPRECISE,
                out_dtype=acc.dtype,
            )  # fmt: skip
        rows = row + tl.arange(0, BLOCK_M)
        cols = column + tl.arange(0, BLOCK_N)
        if last - first == steps:
            whole = finished(
                acc, rows, cols, batch.to(i64), M, N, row_scale_ptr, column_scale_ptr, bias_ptr,
                residual_ptr, stride_s, stride_t, alpha, beta, SCALED, ACTIVATION, GRADIENT,
            )  # fmt: skip
            to = (batch.to(i64) * M + rows[:, None]) * N + cols[None, :]
            inside = (rows[:, None] < M) & (cols[None, :] < N)
            tl.store(out_ptr + to, whole.to(tl.elem(out_ptr)), mask=inside)
        else:
            part = 2 * pid + (tile != begins_with).to(i32)
            in_part = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
            tl.store(parts_ptr + part.to(i64) * BLOCK_M * BLOCK_N + in_part, acc)
        at += last - first


@kernel(dtypes=DTYPES, do_not_specialize=("steps", "share", "stride_s", "stride_t"))
def matmul_join(
    out_ptr: Ptr[E],
    parts_ptr: Ptr[P],
    row_scale_ptr: Ptr[Any] | None,
    column_scale_ptr: Ptr[Any] | None,
    bias_ptr: Ptr[Any] | None,
    residual_ptr: Ptr[Any] | None,
    M: i32 | int,
    N: i32 | int,
    steps: i32 | int,
    share: i32 | int,
    stride_s: i32 | int,
    stride_t: i32 | int,
    alpha: f64 | float,
    beta: f64 | float,
    SCALED: Const[bool],
    ACTIVATION: Const[Any],
    GRADIENT: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    GROUP_M: Const[int],
    ROWS: Const[int],
    AT_ONCE: Const[int],
) -> None:
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    slice_rows = tl.program_id(Axis.X) % (BLOCK_M // ROWS) * ROWS + tl.arange(0, ROWS)
    tile = tl.program_id(Axis.X) // (BLOCK_M // ROWS)
    first = tile * steps // share
    last = (tile * steps + steps - 1) // share
    if first == last:
        return
    batch = (tile // (tiles_m * tiles_n)).to(i64)
    tile_m, tile_n = place(tile % (tiles_m * tiles_n), tiles_m, tiles_n, GROUP_M)
    rows = tile_m * BLOCK_M + slice_rows
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    in_part = slice_rows[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    acc: Any = tl.zeros((ROWS, BLOCK_N), tl.elem(parts_ptr))
    for some in range(first, last + 1, AT_ONCE):
        for own in tl.static_range(AT_ONCE):
            worker = some + own
            part = 2 * worker + (tile != worker * share // steps).to(i32)
            from_part = parts_ptr + part.to(i64) * BLOCK_M * BLOCK_N + in_part
            acc += tl.load(from_part, mask=worker <= last, other=0)
    whole = finished(
        acc, rows, cols, batch, M, N, row_scale_ptr, column_scale_ptr, bias_ptr, residual_ptr,
        stride_s, stride_t, alpha, beta, SCALED, ACTIVATION, GRADIENT,
    )  # fmt: skip
    to = (batch * M + rows[:, None]) * N + cols[None, :]
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(out_ptr + to, whole.to(tl.elem(out_ptr)), mask=inside)
