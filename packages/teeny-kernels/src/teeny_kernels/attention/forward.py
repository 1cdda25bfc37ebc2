"""Flash attention 2, forward: softmax(scale q k^T + mask) v without the matrix of scores.

Dao 2023, "FlashAttention-2", alg. 1. Grid: one program for each block of rows of q of each head,
of one head the last block, which sees most, first. A row that sees nothing gives 0, and -inf for
the logarithm of its sum. Scores and sums are in f32 (f64 for f64), in units of log 2; probabilities
are rounded to the dtype before they multiply v. Nothing written may alias what is read.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.attention.backward import attention_backward_q
from teeny_kernels.attention.parts import (
    LN2_HIGH,
    LN2_LOW,
    LOG2E,
    block,
    held,
    kept,
    offset,
    product,
    scores,
    sequence,
    start_of,
    tile,
    walk_columns,
    weighed,
)
from teeny_kernels.attention.shared import DTYPES, VARYING
from teeny_kernels.numerics import number, widen
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, f32, f64, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)


@kernel(dtypes=DTYPES, do_not_specialize=VARYING, backward=attention_backward_q)
def attention_forward(
    out_ptr: Ptr[D], lse_ptr: Ptr[C], q_ptr: Ptr[D], k_ptr: Ptr[D], v_ptr: Ptr[D], k_tiles: Any,
    v_tiles: Any, sink_ptr: Ptr[C] | None, slope_ptr: Ptr[f32] | None,
    starts_q_ptr: Ptr[i32] | None, starts_k_ptr: Ptr[i32] | None, stride_qb: i64 | int,
    stride_qh: i64 | int, stride_qm: i64 | int, stride_kb: i64 | int, stride_kh: i64 | int,
    stride_kn: i64 | int, stride_vb: i64 | int, stride_vh: i64 | int, stride_vn: i64 | int,
    stride_ob: i64 | int, stride_oh: i64 | int, stride_om: i64 | int, stride_lb: i64 | int,
    stride_lh: i64 | int, stride_sb: i64 | int, longest_q: i32 | int, longest_k: i32 | int,
    DQ: i32 | int, DV: i32 | int, heads: i32 | int, group: i32 | int, left: i32 | int,
    right: i32 | int, sinks: i32 | int, scale: f64 | float, unit: f64 | float, cap: f64 | float,
    seed: i64 | int, threshold: i64 | int, rescale: f64 | float, PLAIN: Const[bool],
    CAP: Const[bool], DROPOUT: Const[bool], PHASES: Const[int], FULL: Const[bool],
    HELD: Const[int], BLOCK_M: Const[int], BLOCK_N: Const[int],
    BLOCK_D: Const[int], BLOCK_DV: Const[int],
) -> None:  # fmt: skip
    blocks = tl.cdiv(longest_q, BLOCK_M)
    pid = tl.program_id(Axis.X)
    place = pid // blocks
    first = (blocks - 1 - pid % blocks) * BLOCK_M
    batch, head, shared = place // heads, place % heads, place % heads // group
    start_q, SQ = sequence(starts_q_ptr, batch, longest_q)
    start_k, SK = sequence(starts_k_ptr, batch, longest_k)
    if first >= SQ:
        return
    k_base = k_ptr + offset(batch, shared, start_k, stride_kb, stride_kh, stride_kn)
    v_base = v_ptr + offset(batch, shared, start_k, stride_vb, stride_vh, stride_vn)
    q_base = q_ptr + offset(batch, head, start_q, stride_qb, stride_qh, stride_qm)
    rows = first + tl.arange(0, BLOCK_M)
    ds, dvs = tl.arange(0, BLOCK_D), tl.arange(0, BLOCK_DV)
    q = block(q_base, rows, ds, stride_qm, SQ, DQ, True, FULL)
    if HELD:
        q = held(q, ds)
    acc = widen(tl.zeros((BLOCK_M, BLOCK_DV), tl.elem(q_ptr)))
    total = widen(tl.zeros((BLOCK_M,), tl.elem(q_ptr)))
    largest = total - float("inf")
    in_log2 = number(unit, total)
    slope: Any = 0.0
    if slope_ptr is not None:
        slope = tl.load(slope_ptr + batch.to(i64) * stride_sb + head)
    if sink_ptr is not None:
        sink: Any = tl.load(sink_ptr + head)
        largest = total + number(sink, total) * LOG2E
        total = tl.where(largest == -float("inf"), 0.0, total + 1.0)
    low, full, whole, before, sunk, edged = walk_columns(
        first, SQ, SK, left, right, sinks, BLOCK_M, BLOCK_N, PHASES
    )
    for MASKED in tl.static_range(2 - PHASES, 2):
        for step in range(edged if MASKED else whole):
            start = start_of(step, low, full, whole, before, sunk, MASKED, PHASES, BLOCK_N)
            k = tile(
                k_tiles, k_base, batch, shared, start, ds, stride_kn, SK, DQ, BLOCK_N, MASKED, FULL
            )
            cols = start + tl.arange(0, BLOCK_N)
            s, _ = scores(
                q, tl.trans(k), rows[:, None], cols[None, :], SQ, SK, left, right, sinks, scale,
                cap, slope, MASKED, PLAIN, CAP, slope_ptr is not None,
            )  # fmt: skip
            p, shrink, total, largest = weighed(s, total, largest, in_log2)
            if DROPOUT:
                p = tl.where(kept(seed, place, rows, start, threshold, BLOCK_N), p, 0.0)
            v = tile(
                v_tiles, v_base, batch, shared, start, dvs, stride_vn, SK, DV, BLOCK_N, MASKED, FULL
            )
            acc = product(p.to(v.dtype), v, acc * shrink[:, None])
    written(
        out_ptr, lse_ptr, acc, total, largest, rescale, batch, head, start_q, rows, dvs, SQ, DV,
        stride_ob, stride_oh, stride_om, stride_lb, stride_lh,
    )  # fmt: skip


@device
def written(
    out_ptr: Any, lse_ptr: Any, acc: Any, total: Any, largest: Any, rescale: Any, batch: Any,
    head: Any, start_q: Any, rows: Any, dvs: Any, SQ: Any, DV: Any, stride_ob: Any, stride_oh: Any,
    stride_om: Any, stride_lb: Any, stride_lh: Any,
) -> None:  # fmt: skip
    """Store the results of rows from their sums."""
    found = acc * (number(rescale, total) / tl.where(total == 0.0, 1.0, total))[:, None]
    lse = tl.fma(largest, LN2_HIGH, tl.fma(largest, LN2_LOW, tl.log(total)))
    lse = tl.where(total == 0.0, largest, lse)
    at = offset(batch, head, start_q, stride_lb, stride_lh, 1)
    tl.store(lse_ptr + at + rows, lse.to(tl.elem(lse_ptr)), mask=rows < SQ)
    ats = offset(batch, head, start_q + rows[:, None], stride_ob, stride_oh, stride_om)
    inside = (rows < SQ)[:, None] & (dvs < DV)[None, :]
    tl.store(out_ptr + ats + dvs[None, :], found.to(tl.elem(out_ptr)), mask=inside)
