"""Attention of few rows over many columns: the columns in parts, and a kernel that joins the parts.

Dao, Haziza, Massa, Sizov 2023, "Flash-Decoding". The rows of all heads of q that share a head of k
are the rows of one block, so that k and v are read once. Grid of `attention_decode`: batch, head of
k, block of such rows, part, the last fastest; of `attention_combine`: one program for each row of
the result, which adds the parts in their order. Columns lie in pages of a cache, or in one array.
Nothing written may alias what is read.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.attention.parts import (
    LN2_HIGH,
    LN2_LOW,
    LOG2E,
    finite,
    offset,
    product,
    scores,
    smallest,
    walk_columns,
    weighed,
)
from teeny_kernels.attention.shared import DTYPES
from teeny_kernels.numerics import number, widen
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, f32, f64, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)

VARYING = (
    "stride_sb", "stride_pages", "page_size", "longest", "SQ", "heads", "group", "left", "right",
    "sinks", "splits", "total_rows",
)  # fmt: skip


@device
def places(
    pages_ptr: Any, batch: Any, cols: Any, SK: Any, stride_pages: Any, page_size: Any
) -> Any:
    """In which page, or else batch, columns lie, and where in it."""
    if pages_ptr is None:
        return cols * 0 + batch, cols
    at = pages_ptr + batch.to(i64) * stride_pages + cols // page_size
    page: Any = tl.load(at, mask=cols < SK, other=0)
    return page, cols % page_size


@device
def gathered(
    base: Any, page: Any, inner: Any, ds: Any, inside: Any, stride_b: Any, stride_n: Any,
    depth: Any, FULL: Any,
) -> Any:  # fmt: skip
    """Rows of a cache, zeros where they are not inside."""
    at = base + (page.to(i64) * stride_b + inner.to(i64) * stride_n)[:, None] + ds[None, :]
    mask = inside[:, None]
    if not FULL:
        mask = mask & (ds < depth)[None, :]
    return tl.load(at, mask=mask, other=0.0)


@kernel(dtypes=DTYPES, do_not_specialize=VARYING)
def attention_decode(
    part_ptr: Ptr[C], part_lse_ptr: Ptr[C], q_ptr: Ptr[D], k_ptr: Ptr[D], v_ptr: Ptr[D],
    slope_ptr: Ptr[f32] | None, pages_ptr: Ptr[i32] | None, lengths_ptr: Ptr[i32] | None,
    stride_qb: i64 | int, stride_qh: i64 | int, stride_qm: i64 | int, stride_kb: i64 | int,
    stride_kh: i64 | int, stride_kn: i64 | int, stride_vb: i64 | int, stride_vh: i64 | int,
    stride_vn: i64 | int, stride_sb: i64 | int, stride_pages: i64 | int, page_size: i32 | int,
    total_rows: i64 | int, longest: i32 | int, SQ: i32 | int, DQ: i32 | int, DV: i32 | int,
    heads: i32 | int, group: i32 | int, splits: i32 | int, left: i32 | int, right: i32 | int,
    sinks: i32 | int, scale: f64 | float, unit: f64 | float, cap: f64 | float,
    PLAIN: Const[bool], CAP: Const[bool], FULL: Const[bool], BLOCK_M: Const[int],
    BLOCK_N: Const[int], BLOCK_D: Const[int], BLOCK_DV: Const[int],
) -> None:  # fmt: skip
    pid = tl.program_id(Axis.X)
    blocks = tl.cdiv(group * SQ, BLOCK_M)
    split, block = pid % splits, pid // splits % blocks
    place = pid // splits // blocks
    batch, shared = place // (heads // group), place % (heads // group)
    used: Any = longest
    if lengths_ptr is not None:
        used = tl.load(lengths_ptr + batch)
    lanes = block * BLOCK_M + tl.arange(0, BLOCK_M)
    head, rows = shared * group + lanes // SQ, lanes % SQ
    real = lanes < group * SQ
    ds = tl.arange(0, BLOCK_D)
    dvs = tl.arange(0, BLOCK_DV)
    at = q_ptr + offset(batch, head, rows, stride_qb, stride_qh, stride_qm)[:, None]
    q = tl.load(at + ds[None, :], mask=real[:, None] & (ds < DQ)[None, :], other=0.0)
    slope: Any = 0.0
    if slope_ptr is not None:
        slope = tl.load(slope_ptr + batch.to(i64) * stride_sb + head, mask=real, other=0.0)
        slope = slope[:, None]
    acc = widen(tl.zeros((BLOCK_M, BLOCK_DV), tl.elem(q_ptr)))
    total = widen(tl.zeros((BLOCK_M,), tl.elem(q_ptr)))
    top = total - float("inf")
    in_log2 = number(unit, total)
    low, _full, _whole, _before, sunk, steps = walk_columns(
        0, SQ, used, left, right, sinks, SQ, BLOCK_N, 1
    )
    share = tl.cdiv(steps, splits)
    for step in range(split * share, smallest(steps, split * share + share)):
        start = tl.where(step < sunk, step * BLOCK_N, low + (step - sunk) * BLOCK_N)
        cols = start + tl.arange(0, BLOCK_N)
        page, inner = places(pages_ptr, batch, cols, used, stride_pages, page_size)
        base = k_ptr + shared.to(i64) * stride_kh
        k = gathered(base, page, inner, ds, cols < used, stride_kb, stride_kn, DQ, FULL)
        s, _ = scores(
            q, tl.trans(k), rows[:, None], cols[None, :], SQ, used, left, right, sinks, scale, cap,
            slope, True, PLAIN, CAP, slope_ptr is not None,
        )  # fmt: skip
        p, shrink, total, top = weighed(s, total, top, in_log2)
        base = v_ptr + shared.to(i64) * stride_vh
        v = gathered(base, page, inner, dvs, cols < used, stride_vb, stride_vn, DV, FULL)
        acc = product(p.to(v.dtype), v, acc * shrink[:, None])
    found = acc / tl.where(total == 0.0, 1.0, total)[:, None]
    row = split.to(i64) * total_rows + (batch * heads + head).to(i64) * SQ + rows
    lse = tl.where(total == 0.0, top, top + tl.log2(total))
    tl.store(part_lse_ptr + row, lse.to(tl.elem(part_lse_ptr)), mask=real)
    ats = part_ptr + row[:, None] * DV + dvs[None, :]
    mask = real[:, None] & (dvs < DV)[None, :]
    tl.store(ats, found.to(tl.elem(part_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=("total_rows", "SQ", "heads", "splits"))
def attention_combine(
    out_ptr: Ptr[D], lse_ptr: Ptr[C], part_ptr: Ptr[C], part_lse_ptr: Ptr[C],
    sink_ptr: Ptr[C] | None, total_rows: i64 | int, SQ: i32 | int, DV: i32 | int,
    heads: i32 | int, splits: i32 | int, BLOCK_S: Const[int], BLOCK_DV: Const[int],
) -> None:  # fmt: skip
    row = tl.program_id(Axis.X).to(i64)
    parts = tl.arange(0, BLOCK_S)
    dvs = tl.arange(0, BLOCK_DV)
    at = parts.to(i64) * total_rows + row
    lses = widen(tl.load(part_lse_ptr + at, mask=parts < splits, other=-float("inf")))
    top = tl.max(lses, axis=0, keep_dims=True)
    sink = number(0.0, lses)
    if sink_ptr is not None:
        own: Any = tl.load(sink_ptr + row // SQ % heads)
        sink = number(own, lses) * LOG2E
        top = tl.maximum(top, sink)
    shift = finite(top)
    weights = tl.exp2(lses - shift)
    total = tl.sum(weights, axis=0, keep_dims=True)
    if sink_ptr is not None:
        total += tl.exp2(sink - shift)
    mask = (parts < splits)[:, None] & (dvs < DV)[None, :]
    part = widen(tl.load(part_ptr + at[:, None] * DV + dvs[None, :], mask=mask, other=0.0))
    # A part of weight 0 saw nothing and is zero; NaN and infinity are in its logarithm too.
    found = tl.sum(part * weights[:, None], axis=0) / tl.where(total == 0.0, 1.0, total)
    lse = tl.fma(top, LN2_HIGH, tl.fma(top, LN2_LOW, tl.log(total)))
    lse = tl.where(total == 0.0, top, lse)
    tl.store(lse_ptr + row + tl.arange(0, 1), lse.to(tl.elem(lse_ptr)))
    tl.store(out_ptr + row * DV + dvs, found.to(tl.elem(out_ptr)), mask=dvs < DV)
