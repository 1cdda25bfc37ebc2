"""The matrix product by descriptors, for GPUs that move whole tiles (sm_90 on).

One program for each multiprocessor walks over the tiles, in groups of rows as the plain kernel
does; the loops over tiles and over k are one to the compiler, so that loads of the next tile run
during the end of this one. An operand whose rows do not lie closest is described as its transpose
and turned when it is read; nothing is copied. Tiles past the edge read zeros, and are not stored.
`SPLIT`: how many parts a tile is stored in (1, 2 or 4), for
less shared memory. `ONCE`: there is one tile for each program.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.products.kernels import finished, place
from teeny_macros import device, kernel
from teeny_triton import (
    R2,
    Axis,
    Const,
    Elem,
    Ptr,
    Tensor,
    TensorDescriptor,
    bf16,
    f8e4m3,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
)

D = TypeVar("D", bound=Elem)
E = TypeVar("E", bound=Elem)

DTYPES = (f16, bf16, f8e4m3, f8e5m2, i8, i32, f32)


@device
def part_of(
    x: TensorDescriptor[D, Any],
    batch: i32 | int,
    row: i32 | int,
    column: i32 | int,
    ROWS: Const[int],
    COLUMNS: Const[int],
    BATCHED: Const[bool],
    TURNED: Const[bool],
) -> Tensor[D, R2]:
    """The tile of one matrix that begins at a row and a column; `TURNED`: x is its transpose."""
    if BATCHED and TURNED:
        return tl.reshape(x.load((batch, column, row)), (COLUMNS, ROWS)).T
    if BATCHED:
        return tl.reshape(x.load((batch, row, column)), (ROWS, COLUMNS))
    if TURNED:
        return x.load((column, row)).T
    return x.load((row, column))


@device
def halves(x: Any) -> Any:
    """The left and the right columns of a tile."""
    return tl.split(tl.permute(tl.reshape(x, (x.shape[0], 2, x.shape[1] // 2)), (0, 2, 1)))


@device
def parts_of(x: Any, SPLIT: Const[int]) -> Any:
    """A tile in parts of its columns."""
    if SPLIT == 4:
        left, right = halves(x)
        return *halves(left), *halves(right)
    if SPLIT == 2:
        return halves(x)
    return (x,)


@kernel(dtypes=DTYPES, do_not_specialize=("K", "tiles", "stride_s", "stride_t"))
def matmul_persistent(
    out: TensorDescriptor[E, Any],
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
    stride_s: i32 | int,
    stride_t: i32 | int,
    alpha: f64 | float,
    beta: f64 | float,
    SCALED: Const[bool],
    ACTIVATION: Const[Any],
    GRADIENT: Const[bool],
    PRECISION: Const[Any],
    BATCHED: Const[bool],
    X_TURNED: Const[bool],
    Y_TURNED: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
    GROUP_M: Const[int],
    SPLIT: Const[int],
    ONCE: Const[bool],
    IMPRECISE: Const[Any],
) -> None:
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    steps = tl.cdiv(K, BLOCK_K)
    pid = tl.program_id(Axis.X)
    last = pid + 1 if ONCE else tiles
    for tile in tl.range(pid, last, tl.num_programs(Axis.X), flatten=not ONCE):
        batch = tl.cast(0, i32)
        at = tile
        if BATCHED:
            batch = tile // (tiles_m * tiles_n)
            at = tile % (tiles_m * tiles_n)
        tile_m, tile_n = place(at, tiles_m, tiles_n, GROUP_M)
        row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
        acc: Any = tl.zeros((BLOCK_M, BLOCK_N), i32 if x.dtype == i8 else f32)
        for step in range(steps):
            k = step * BLOCK_K
            a = part_of(x, batch, row, k, BLOCK_M, BLOCK_K, BATCHED, X_TURNED)
            b = part_of(y, batch, k, column, BLOCK_K, BLOCK_N, BATCHED, Y_TURNED)
            acc = tl.dot(
                a, b, acc, input_precision=PRECISION, max_num_imprecise_acc=IMPRECISE,
                out_dtype=acc.dtype,
            )  # fmt: skip
        parts = parts_of(acc, SPLIT)
        broad = BLOCK_N // SPLIT
        for part in tl.static_range(SPLIT):
            from_column = column + part * broad
            whole = finished(
                parts[part], row + tl.arange(0, BLOCK_M), from_column + tl.arange(0, broad),
                batch.to(i64), M, N, row_scale_ptr, column_scale_ptr, bias_ptr, residual_ptr,
                stride_s, stride_t, alpha, beta, SCALED, ACTIVATION, GRADIENT,
            )  # fmt: skip
            found = whole.to(out.dtype)
            if BATCHED:
                out.store((batch, row, from_column), tl.reshape(found, (1, BLOCK_M, broad)))
            else:
                out.store((row, from_column), found)
