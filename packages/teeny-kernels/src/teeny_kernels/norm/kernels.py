"""Kernels of norms over rows: layer norm and RMS norm.

    y = (x - mean) rstd w + b,   rstd = 1 / sqrt(var + eps)      (layer norm, Ba et al. 2016)
    y = x rstd w,                rstd = 1 / sqrt(mean(x^2) + eps) (RMS norm, Zhang, Sennrich 2019)

`add_norm_forward` is the RMS norm of a sum, which it stores too; a backward adds the gradient of
the sum where there is one.

Grid: forward one program for each row; backward `programs` programs, each of which walks over rows
and keeps its share of the gradients of w and b; then one program for each block of columns adds the
shares. Rows are resident; the variance is that of x - mean, so a large mean costs nothing. All
arrays are contiguous; the output may be the input.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import number, widen
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)

DTYPES = (f32, f16, bf16, f64)
PLAIN = ("n_units",)  # its value is worth no other compilation


@device
def both(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """Two sums at once."""
    return a + c, b + d


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN)
def row_norm_backward(
    dx_ptr: Ptr[D],
    dw_ptr: Ptr[C] | None,
    db_ptr: Ptr[C] | None,
    grad_ptr: Ptr[D],
    sum_grad_ptr: Ptr[D] | None,
    x_ptr: Ptr[D],
    w_ptr: Ptr[D] | None,
    n_rows: i32 | int,
    n_units: i32 | int,
    eps: f64 | float,
    UNIT: Const[int],
    CENTER: Const[bool],
    STAGES: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols = n_units * UNIT
    program = tl.program_id(Axis.X)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    zeros = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
    dw = zeros
    db = zeros
    if w_ptr is not None and STAGES > 1:
        w = widen(tl.load(w_ptr + cols, mask=mask, other=0.0))
    else:
        w = zeros + 1.0
    for row in tl.range(program, n_rows, tl.num_programs(Axis.X), num_stages=STAGES):
        at = row.to(i64) * n_cols
        x = widen(tl.load(x_ptr + at + cols, mask=mask, other=0.0))
        grad = widen(tl.load(grad_ptr + at + cols, mask=mask, other=0.0))
        if STAGES == 1:
            # Long rows: all that comes from memory is asked for at once.
            if sum_grad_ptr is not None:
                more = tl.load(sum_grad_ptr + at + cols, mask=mask, other=0.0)
            if w_ptr is not None:
                w = widen(tl.load(w_ptr + cols, mask=mask, other=0.0))
        if CENTER:
            mean = tl.sum(x, axis=0) / number(n_cols, x)
            x = tl.where(mask, x - mean, 0.0)
        count = number(n_cols, x)
        squares, along = tl.reduce((x * x, grad * w * x), 0, both)
        rstd = 1.0 / tl.sqrt_rn(squares / count + number(eps, x))
        along = along * rstd / count
        if w_ptr is not None and STAGES == 1:
            # Read again, which the compiler must not see: registers are short.
            w = widen(tl.load(w_ptr + cols, mask=mask, other=0.0, eviction_policy="evict_last"))
        normal = x * rstd
        scaled = grad * w
        if CENTER:
            dx = (scaled - tl.sum(scaled, axis=0) / count - normal * along) * rstd
        else:
            dx = (scaled - normal * along) * rstd
        if sum_grad_ptr is not None:
            if STAGES > 1:
                more = tl.load(sum_grad_ptr + at + cols, mask=mask, other=0.0)
            dx += widen(more)
        tl.store(dx_ptr + at + cols, dx.to(tl.elem(dx_ptr)), mask=mask)
        dw += grad * normal
        db += grad
    if dw_ptr is not None:
        tl.store(dw_ptr + program.to(i64) * n_cols + cols, dw.to(tl.elem(dw_ptr)), mask=mask)
    if db_ptr is not None:
        tl.store(db_ptr + program.to(i64) * n_cols + cols, db.to(tl.elem(db_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN, backward=row_norm_backward)
def row_norm_forward(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    w_ptr: Ptr[D] | None,
    b_ptr: Ptr[D] | None,
    n_units: i32 | int,
    eps: f64 | float,
    UNIT: Const[int],
    CENTER: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols = n_units * UNIT
    row = tl.program_id(Axis.X).to(i64) * n_cols
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = widen(tl.load(x_ptr + row + cols, mask=mask, other=0.0))
    if CENTER:
        mean = tl.sum(x, axis=0) / number(n_cols, x)
        x = tl.where(mask, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt_rn(tl.sum(x * x, axis=0) / number(n_cols, x) + number(eps, x))
    y = x * rstd
    if w_ptr is not None:
        y = y * widen(tl.load(w_ptr + cols, mask=mask, other=0.0))
    if b_ptr is not None:
        y = y + widen(tl.load(b_ptr + cols, mask=mask, other=0.0))
    tl.store(out_ptr + row + cols, y.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN, backward=row_norm_backward)
def add_norm_forward(
    out_ptr: Ptr[D],
    sum_ptr: Ptr[D],
    x_ptr: Ptr[D],
    residual_ptr: Ptr[D],
    w_ptr: Ptr[D] | None,
    n_units: i32 | int,
    eps: f64 | float,
    UNIT: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols = n_units * UNIT
    row = tl.program_id(Axis.X).to(i64) * n_cols
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = widen(tl.load(x_ptr + row + cols, mask=mask, other=0.0))
    x += widen(tl.load(residual_ptr + row + cols, mask=mask, other=0.0))
    tl.store(sum_ptr + row + cols, x.to(tl.elem(sum_ptr)), mask=mask)
    rstd = 1.0 / tl.sqrt_rn(tl.sum(x * x, axis=0) / number(n_cols, x) + number(eps, x))
    y = x * rstd
    if w_ptr is not None:
        y = y * widen(tl.load(w_ptr + cols, mask=mask, other=0.0))
    tl.store(out_ptr + row + cols, y.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=DTYPES)
def column_sums(
    out_ptr: Ptr[D],
    part_ptr: Ptr[C],
    n_parts: i32 | int,
    n_cols: i32 | int,
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    cols = tl.program_id(Axis.X) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    rows = tl.arange(0, ROWS)
    total = tl.zeros((ROWS, BLOCK_SIZE), tl.elem(part_ptr))
    for start in range(0, n_parts, ROWS):
        at = (rows[:, None] + start).to(i64) * n_cols + cols[None, :]
        inside = (rows[:, None] + start < n_parts) & (cols[None, :] < n_cols)
        total += tl.load(part_ptr + at, mask=inside, other=0.0)
    found = tl.sum(total, axis=0)
    tl.store(out_ptr + cols, found.to(tl.elem(out_ptr)), mask=cols < n_cols)
