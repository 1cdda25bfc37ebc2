"""The matrix product in tiles: device functions that its kernels share, and the plain kernel.

    z[b, m, n] = alpha s[m] t[n] sum over k of x[b, m, k] y[b, k, n] + bias[n]
    out[b, m, n] = f(z[b, m, n]) + beta r[b, m, n]

with an activation f, factors s of rows and t of columns, and a residual r; what is None is left
out. Grid of the plain kernel: one program for each tile of each matrix, ordered in groups of rows
of tiles so that neighbors share their inputs in the L2 cache. Sums in f32 (f64 for f64, i32 for
i8; f32 inputs as `PRECISION` says). Rows and columns past the edge wrap around and are not stored;
past the end of k there are zeros. The output must be none of the inputs.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.activation.gelu import (
    gelu_formula,
    gelu_gradient,
    gelu_tanh_formula,
    gelu_tanh_gradient,
)
from teeny_kernels.numerics import number, widen
from teeny_macros import device, kernel
from teeny_triton import (
    R1,
    R2,
    Axis,
    Const,
    Elem,
    Ptr,
    Tensor,
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

DTYPES = (f32, f16, bf16, f64, f8e4m3, f8e5m2, i8, i32)


@device
def place(
    tile: i32, tiles_m: i32 | int, tiles_n: i32 | int, GROUP_M: Const[int]
) -> tuple[i32, i32]:
    """Row and column of a tile: groups of `GROUP_M` rows, in each column by column."""
    in_group = GROUP_M * tiles_n
    first = tile // in_group * GROUP_M
    rows = tl.minimum(tiles_m - first, GROUP_M)
    return first + tile % in_group % rows, tile % in_group // rows


@device
def activated(x: Tensor[f32, R2], ACTIVATION: Const[Any]) -> Tensor[f32, R2]:
    if ACTIVATION == "relu":
        return tl.where(x < 0.0, 0.0, x)
    if ACTIVATION == "gelu":
        return gelu_formula(x)
    if ACTIVATION == "gelu_tanh":
        return gelu_tanh_formula(x)
    if ACTIVATION == "silu":
        return x * tl.sigmoid(x)
    return x


@device
def gradient(grad: Tensor[f32, R2], x: Tensor[f32, R2], ACTIVATION: Const[Any]) -> Tensor[f32, R2]:
    if ACTIVATION == "relu":
        return tl.where(x <= 0.0, 0.0, grad)
    if ACTIVATION == "gelu":
        return gelu_gradient(grad, x)
    if ACTIVATION == "gelu_tanh":
        return gelu_tanh_gradient(grad, x)
    if ACTIVATION == "silu":
        share = tl.sigmoid(x)
        return grad * (share + x * share * (1.0 - share))
    return grad


@device
def finished(
    acc: Any,
    rows: Tensor[i32, R1],
    cols: Tensor[i32, R1],
    batch: i64,
    M: i32 | int,
    N: i32 | int,
    row_scale_ptr: Ptr[Any] | None,
    column_scale_ptr: Ptr[Any] | None,
    bias_ptr: Ptr[Any] | None,
    residual_ptr: Ptr[Any] | None,
    stride_s: i32 | int,
    stride_t: i32 | int,
    alpha: f64 | float,
    beta: f64 | float,
    SCALED: Const[bool],
    ACTIVATION: Const[Any],
    GRADIENT: Const[bool],
) -> Any:
    """What becomes of a tile of sums; `GRADIENT`: the residual times the activation's slope."""
    if acc.dtype == i32 and SCALED:
        acc = acc.to(f32)
    if SCALED:
        acc = acc * number(alpha, acc)
    if row_scale_ptr is not None:
        acc = acc * tl.load(row_scale_ptr + rows * stride_s, mask=rows < M, other=0.0)[:, None]
    if column_scale_ptr is not None:
        acc = acc * tl.load(column_scale_ptr + cols * stride_t, mask=cols < N, other=0.0)[None, :]
    if bias_ptr is not None:
        acc += widen(tl.load(bias_ptr + cols, mask=cols < N, other=0.0))[None, :]
    if residual_ptr is not None:
        at = (batch * M + rows[:, None]) * N + cols[None, :]
        inside = (rows[:, None] < M) & (cols[None, :] < N)
        residual = widen(tl.load(residual_ptr + at, mask=inside, other=0.0))
        if GRADIENT:
            acc = gradient(residual, acc, ACTIVATION)
        else:
            acc = activated(acc, ACTIVATION) + residual * number(beta, acc)
    else:
        acc = activated(acc, ACTIVATION)
    return acc


@device
def no_sums(x_ptr: Ptr[Any], M: Const[int], N: Const[int]) -> Any:
    """Zeros in the dtype that products of elements of `x_ptr` are summed in."""
    if tl.elem(x_ptr) == f64:
        return tl.zeros((M, N), f64)
    if tl.elem(x_ptr) == i8:
        return tl.zeros((M, N), i32)
    return tl.zeros((M, N), f32)


@device
def sums(
    acc: Any,
    x_ptr: Ptr[D],
    y_ptr: Ptr[Any],
    rows: Tensor[i32, R1],
    cols: Tensor[i32, R1],
    first: i32 | int,
    last: i32 | int,
    stride_xm: i64 | int,
    stride_xk: i64 | int,
    stride_yk: i64 | int,
    stride_yn: i64 | int,
    PRECISION: Const[Any],
    IMPRECISE: Const[Any],
    EVEN_K: Const[bool],
    BLOCK_K: Const[int],
) -> Any:
    """`acc` plus the products of a tile for `first` <= k < `last`."""
    ks = tl.arange(0, BLOCK_K)
    depth = tl.cast(first, i64) + ks
    x_ptrs = x_ptr + (rows.to(i64)[:, None] * stride_xm + depth[None, :] * stride_xk)
    y_ptrs = y_ptr + (depth[:, None] * stride_yk + cols.to(i64)[None, :] * stride_yn)
    x: Any
    y: Any
    # A widened operand lies in registers, which tensor cores of sm_90 take for the first one alone.
    is_half = tl.elem(x_ptr) == f16 or tl.elem(x_ptr) == bf16
    SWAPPED = is_half and tl.elem(x_ptr) != tl.elem(y_ptr) and acc.shape[0] >= 64
    if SWAPPED:
        acc = tl.trans(acc)
    x_zero = 0 if tl.elem(x_ptr) == i8 else 0.0
    y_zero = 0 if tl.elem(y_ptr) == i8 else 0.0
    for start in range(first, last, BLOCK_K):
        if EVEN_K:
            x = tl.load(x_ptrs)
            y = tl.load(y_ptrs)
        else:
            x = tl.load(x_ptrs, mask=ks[None, :] < last - start, other=x_zero)
            y = tl.load(y_ptrs, mask=ks[:, None] < last - start, other=y_zero)
        if x.dtype != y.dtype and x.dtype != f8e4m3 and x.dtype != f8e5m2:
            y = y.to(x.dtype)  # weights of fewer bits than what they multiply
        if SWAPPED:
            acc = tl.dot(tl.trans(y), tl.trans(x), acc, input_precision=PRECISION)
        else:
            acc = tl.dot(
                x,
                y,
                acc,
                input_precision=PRECISION,
                max_num_imprecise_acc=IMPRECISE,
                out_dtype=acc.dtype,
            )
        x_ptrs += BLOCK_K * stride_xk
        y_ptrs += BLOCK_K * stride_yk
    return tl.trans(acc) if SWAPPED else acc


def _matmul_tiles(
    out_ptr: Ptr[E],
    x_ptr: Ptr[D],
    y_ptr: Ptr[Any],
    row_scale_ptr: Ptr[Any] | None,
    column_scale_ptr: Ptr[Any] | None,
    bias_ptr: Ptr[Any] | None,
    residual_ptr: Ptr[Any] | None,
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
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
    pid = tl.program_id(Axis.X)
    batch = (pid // (tiles_m * tiles_n)).to(i64)
    tile_m, tile_n = place(pid % (tiles_m * tiles_n), tiles_m, tiles_n, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = sums(
        no_sums(x_ptr, BLOCK_M, BLOCK_N), x_ptr + batch * stride_xb, y_ptr + batch * stride_yb,
        rows % M, cols % N, tl.cast(0, i32), K, stride_xm, stride_xk, stride_yk, stride_yn,
        PRECISION, IMPRECISE, EVEN_K, BLOCK_K,
    )  # fmt: skip
    acc = finished(
        acc, rows, cols, batch, M, N, row_scale_ptr, column_scale_ptr, bias_ptr, residual_ptr,
        stride_s, stride_t, alpha, beta, SCALED, ACTIVATION, GRADIENT,
    )  # fmt: skip
    at = (batch * M + rows[:, None]) * N + cols[None, :]
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(out_ptr + at, acc.to(tl.elem(out_ptr)), mask=inside)


matmul_kernel = kernel(
    name="matmul_kernel", dtypes=DTYPES, do_not_specialize=("stride_s", "stride_t")
)(_matmul_tiles)

# Processors load what is aligned no faster, so one compilation serves more shapes.
matmul_on_cpu = kernel(
    name="matmul_on_cpu",
    dtypes=DTYPES,
    do_not_specialize=("M", "N", "K", "stride_s", "stride_t"),
    do_not_specialize_on_alignment=[
        f"stride_{own}" for own in ("xb", "xm", "xk", "yb", "yk", "yn")
    ],
)(_matmul_tiles)


@kernel(dtypes=DTYPES)
def transpose_kernel(
    out_ptr: Ptr[E],
    x_ptr: Ptr[E],
    M: i32 | int,
    N: i32 | int,
    stride_b: i64 | int,
    stride_n: i64 | int,
    BLOCK: Const[int],
) -> None:
    """`out` (b, m, n) of `x`, whose columns lie along m; a program for each tile."""
    tiles_m = tl.cdiv(M, BLOCK)
    tiles_n = tl.cdiv(N, BLOCK)
    pid = tl.program_id(Axis.X)
    batch = (pid // (tiles_m * tiles_n)).to(i64)
    rows = (pid % tiles_m * BLOCK + tl.arange(0, BLOCK)).to(i64)
    cols = (pid // tiles_m % tiles_n * BLOCK + tl.arange(0, BLOCK)).to(i64)
    inside = (cols[:, None] < N) & (rows[None, :] < M)
    at = batch * stride_b + cols[:, None] * stride_n + rows[None, :]
    x = tl.trans(tl.load(x_ptr + at, mask=inside))
    to = (batch * M + rows[:, None]) * N + cols[None, :]
    tl.store(out_ptr + to, x, mask=(rows[:, None] < M) & (cols[None, :] < N))
