"""Flash attention 2, backward: the gradients by q, by k and v, and by the sink of each head.

Dao 2023, "FlashAttention-2", alg. 2, in two passes, so that nothing is added by atomics. Grid: dq
one program for each block of rows of q of each head, which also stores delta, the sum of a row of
grad * out; dk and dv one for each block of rows of k of each head of k, which walks over the rows
of all heads of q that share it. Probabilities come back from the stored logarithms of their sums.
dk and dv hold scores turned, columns first, so that they multiply from registers.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.attention.parts import (
    LOG2E,
    block,
    finite,
    held,
    kept,
    offset,
    product,
    scores,
    sequence,
    start_of,
    tile,
    walk_columns,
    walk_rows,
)
from teeny_kernels.attention.shared import DTYPES, VARYING
from teeny_kernels.numerics import number, widen
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, f32, f64, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)


@kernel(dtypes=DTYPES, do_not_specialize=VARYING)
def attention_backward_q(
    dq_ptr: Ptr[D], delta_ptr: Ptr[C], grad_ptr: Ptr[D], out_ptr: Ptr[D], q_ptr: Ptr[D],
    k_ptr: Ptr[D], v_ptr: Ptr[D], lse_ptr: Ptr[C], k_tiles: Any, v_tiles: Any,
    slope_ptr: Ptr[f32] | None, starts_q_ptr: Ptr[i32] | None, starts_k_ptr: Ptr[i32] | None,
    stride_gb: i64 | int, stride_gh: i64 | int, stride_gm: i64 | int, stride_qb: i64 | int,
    stride_qh: i64 | int, stride_qm: i64 | int, stride_kb: i64 | int, stride_kh: i64 | int,
    stride_kn: i64 | int, stride_vb: i64 | int, stride_vh: i64 | int, stride_vn: i64 | int,
    stride_ob: i64 | int, stride_oh: i64 | int, stride_om: i64 | int, stride_db: i64 | int,
    stride_dh: i64 | int, stride_dm: i64 | int, stride_lb: i64 | int, stride_lh: i64 | int,
    stride_sb: i64 | int, longest_q: i32 | int, longest_k: i32 | int, DQ: i32 | int,
    DV: i32 | int, heads: i32 | int, group: i32 | int, left: i32 | int, right: i32 | int,
    sinks: i32 | int, scale: f64 | float, unit: f64 | float, cap: f64 | float, seed: i64 | int,
    threshold: i64 | int, rescale: f64 | float, PLAIN: Const[bool], CAP: Const[bool],
    DROPOUT: Const[bool], PHASES: Const[int], FULL: Const[bool], HELD: Const[int],
    BLOCK_M: Const[int], BLOCK_N: Const[int], BLOCK_D: Const[int], BLOCK_DV: Const[int],
) -> None:  # fmt: skip
    blocks = tl.cdiv(longest_q, BLOCK_M)
    pid = tl.program_id(Axis.X)
    place = pid // blocks
    first = (blocks - 1 - pid % blocks) * BLOCK_M
    batch, head = place // heads, place % heads
    shared = head // group
    start_q, SQ = sequence(starts_q_ptr, batch, longest_q)
    start_k, SK = sequence(starts_k_ptr, batch, longest_k)
    if first >= SQ:
        return
    k_base = k_ptr + offset(batch, shared, start_k, stride_kb, stride_kh, stride_kn)
    v_base = v_ptr + offset(batch, shared, start_k, stride_vb, stride_vh, stride_vn)
    rows = first + tl.arange(0, BLOCK_M)
    ds = tl.arange(0, BLOCK_D)
    dvs = tl.arange(0, BLOCK_DV)
    at = q_ptr + offset(batch, head, start_q, stride_qb, stride_qh, stride_qm)
    q = block(at, rows, ds, stride_qm, SQ, DQ, True, FULL)
    if HELD > 0:
        q = held(q, ds)
    at = grad_ptr + offset(batch, head, start_q, stride_gb, stride_gh, stride_gm)
    grad = block(at, rows, dvs, stride_gm, SQ, DV, True, FULL)
    at = out_ptr + offset(batch, head, start_q, stride_ob, stride_oh, stride_om)
    out = block(at, rows, dvs, stride_om, SQ, DV, True, FULL)
    delta = tl.sum(widen(grad) * widen(out), axis=1)
    if HELD > 1:
        grad = held(grad, dvs)
    at_log = offset(batch, head, start_q, stride_lb, stride_lh, 1) + rows
    tl.store(delta_ptr + at_log, delta.to(tl.elem(delta_ptr)), mask=rows < SQ)
    lse = widen(tl.load(lse_ptr + at_log, mask=rows < SQ, other=0.0))
    base = finite(lse) * LOG2E
    slope: Any = 0.0
    if slope_ptr is not None:
        slope = tl.load(slope_ptr + batch.to(i64) * stride_sb + head)
    dq = widen(tl.zeros((BLOCK_M, BLOCK_D), tl.elem(q_ptr)))
    low, full, whole, before, sunk, edged = walk_columns(
        first, SQ, SK, left, right, sinks, BLOCK_M, BLOCK_N, PHASES
    )
    for MASKED in tl.static_range(2 - PHASES, 2):
        for step in range(edged if MASKED else whole):
            start = start_of(step, low, full, whole, before, sunk, MASKED, PHASES, BLOCK_N)
            k = tile(
                k_tiles, k_base, batch, shared, start, ds, stride_kn, SK, DQ, BLOCK_N, MASKED, FULL
            )
            v = tile(
                v_tiles, v_base, batch, shared, start, dvs, stride_vn, SK, DV, BLOCK_N, MASKED, FULL
            )
            cols = start + tl.arange(0, BLOCK_N)
            s, passed = scores(
                q, tl.trans(k), rows[:, None], cols[None, :], SQ, SK, left, right, sinks, scale,
                cap, slope, MASKED, PLAIN, CAP, slope_ptr is not None,
            )  # fmt: skip
            p = tl.exp2(tl.fma(s, number(unit, s), -base[:, None]))
            dp = product(grad, tl.trans(v), tl.zeros_like(s))
            if DROPOUT:
                keep = kept(seed, place, rows, start, threshold, BLOCK_N)
                dp = tl.where(keep, dp * number(rescale, dp), 0.0)
            d = p * (dp - delta[:, None]) * passed
            dq = product(d.to(k.dtype), k, dq)
    dq = (dq * number(scale, dq)).to(tl.elem(dq_ptr))
    ats = offset(batch, head, start_q + rows[:, None], stride_db, stride_dh, stride_dm)
    tl.store(dq_ptr + ats + ds[None, :], dq, mask=(rows < SQ)[:, None] & (ds < DQ)[None, :])


@kernel(dtypes=DTYPES, do_not_specialize=VARYING)
def attention_backward_kv(
    dk_ptr: Ptr[D], dv_ptr: Ptr[D], grad_ptr: Ptr[D], q_ptr: Ptr[D], k_ptr: Ptr[D], v_ptr: Ptr[D],
    lse_ptr: Ptr[C], delta_ptr: Ptr[C], q_tiles: Any, grad_tiles: Any, slope_ptr: Ptr[f32] | None,
    starts_q_ptr: Ptr[i32] | None, starts_k_ptr: Ptr[i32] | None, stride_gb: i64 | int,
    stride_gh: i64 | int, stride_gm: i64 | int, stride_qb: i64 | int, stride_qh: i64 | int,
    stride_qm: i64 | int, stride_kb: i64 | int, stride_kh: i64 | int, stride_kn: i64 | int,
    stride_vb: i64 | int, stride_vh: i64 | int, stride_vn: i64 | int, stride_db: i64 | int,
    stride_dh: i64 | int, stride_dn: i64 | int, stride_eb: i64 | int, stride_eh: i64 | int,
    stride_en: i64 | int, stride_lb: i64 | int, stride_lh: i64 | int, stride_sb: i64 | int,
    longest_q: i32 | int, longest_k: i32 | int, DQ: i32 | int, DV: i32 | int, heads: i32 | int,
    group: i32 | int, left: i32 | int, right: i32 | int, sinks: i32 | int, scale: f64 | float,
    unit: f64 | float, cap: f64 | float, seed: i64 | int, threshold: i64 | int,
    rescale: f64 | float, PLAIN: Const[bool], CAP: Const[bool], DROPOUT: Const[bool],
    PHASES: Const[int], FULL: Const[bool], GROUPED: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int], BLOCK_D: Const[int], BLOCK_DV: Const[int],
) -> None:  # fmt: skip
    blocks = tl.cdiv(longest_k, BLOCK_N)
    pid = tl.program_id(Axis.X)
    first = pid % blocks * BLOCK_N
    batch, shared = pid // blocks // (heads // group), pid // blocks % (heads // group)
    start_q, SQ = sequence(starts_q_ptr, batch, longest_q)
    start_k, SK = sequence(starts_k_ptr, batch, longest_k)
    if first >= SK:
        return
    cols = first + tl.arange(0, BLOCK_N)
    ds = tl.arange(0, BLOCK_D)
    dvs = tl.arange(0, BLOCK_DV)
    at = k_ptr + offset(batch, shared, start_k, stride_kb, stride_kh, stride_kn)
    k = block(at, cols, ds, stride_kn, SK, DQ, True, FULL)
    at = v_ptr + offset(batch, shared, start_k, stride_vb, stride_vh, stride_vn)
    v = block(at, cols, dvs, stride_vn, SK, DV, True, FULL)
    dk = widen(tl.zeros((BLOCK_N, BLOCK_D), tl.elem(q_ptr)))
    dv = widen(tl.zeros((BLOCK_N, BLOCK_DV), tl.elem(q_ptr)))
    slope: Any = 0.0
    low, full, whole, before, edged = walk_rows(
        first, SQ, SK, left, right, sinks, BLOCK_M, BLOCK_N, PHASES
    )
    for MASKED in tl.static_range(2 - PHASES, 2):
        count = edged if MASKED else whole
        for step in range(count * group):
            head = shared * group + (step // count if GROUPED else 0)
            turn = step % count if GROUPED else step
            start = start_of(turn, low, full, whole, before, 0, MASKED, PHASES, BLOCK_M)
            at = q_ptr + offset(batch, head, start_q, stride_qb, stride_qh, stride_qm)
            q = tile(q_tiles, at, batch, head, start, ds, stride_qm, SQ, DQ, BLOCK_M, MASKED, FULL)
            at = grad_ptr + offset(batch, head, start_q, stride_gb, stride_gh, stride_gm)
            grad = tile(
                grad_tiles, at, batch, head, start, dvs, stride_gm, SQ, DV, BLOCK_M, MASKED, FULL
            )
            rows = start + tl.arange(0, BLOCK_M)
            at_log = offset(batch, head, start_q, stride_lb, stride_lh, 1) + rows
            lse = widen(tl.load(lse_ptr + at_log, mask=rows < SQ, other=0.0))
            delta = widen(tl.load(delta_ptr + at_log, mask=rows < SQ, other=0.0))
            base = finite(lse) * LOG2E
            if slope_ptr is not None:
                slope = tl.load(slope_ptr + batch.to(i64) * stride_sb + head)
            s, passed = scores(
                k, tl.trans(q), rows[None, :], cols[:, None], SQ, SK, left, right, sinks, scale,
                cap, slope, MASKED, PLAIN, CAP, slope_ptr is not None,
            )  # fmt: skip
            p = tl.exp2(tl.fma(s, number(unit, s), -base[None, :]))
            dp = product(v, tl.trans(grad), tl.zeros_like(s))
            used = p
            if DROPOUT:
                keep = tl.trans(kept(seed, batch * heads + head, rows, first, threshold, BLOCK_N))
                dp = tl.where(keep, dp * number(rescale, dp), 0.0)
                used = tl.where(keep, p * number(rescale, p), 0.0)
            dv = product(used.to(grad.dtype), grad, dv)
            d = p * (dp - delta[None, :]) * passed
            dk = product(d.to(q.dtype), q, dk)
    dk = (dk * number(scale, dk)).to(tl.elem(dk_ptr))
    ats = offset(batch, shared, start_k + cols[:, None], stride_db, stride_dh, stride_dn)
    tl.store(dk_ptr + ats + ds[None, :], dk, mask=(cols < SK)[:, None] & (ds < DQ)[None, :])
    ats = offset(batch, shared, start_k + cols[:, None], stride_eb, stride_eh, stride_en)
    inside = (cols < SK)[:, None] & (dvs < DV)[None, :]
    tl.store(dv_ptr + ats + dvs[None, :], dv.to(tl.elem(dv_ptr)), mask=inside)


@kernel(dtypes=DTYPES, do_not_specialize=("stride_lb", "stride_lh", "batches", "length"))
def attention_backward_sink(
    dsink_ptr: Ptr[C],
    sink_ptr: Ptr[C],
    lse_ptr: Ptr[C],
    delta_ptr: Ptr[C],
    stride_lb: i64 | int,
    stride_lh: i64 | int,
    batches: i32 | int,
    length: i32 | int,
    BLOCK: Const[int],
) -> None:
    """One program for each head: minus the sum of the probability of its sink times delta."""
    head = tl.program_id(Axis.X)
    sink: Any = tl.load(sink_ptr + head)
    total = widen(tl.zeros((BLOCK,), tl.elem(lse_ptr)))
    for batch in tl.range(batches):
        at = batch.to(i64) * stride_lb + head.to(i64) * stride_lh
        for start in range(0, length, BLOCK):
            rows = start + tl.arange(0, BLOCK)
            lse = widen(tl.load(lse_ptr + at + rows, mask=rows < length, other=float("inf")))
            delta = widen(tl.load(delta_ptr + at + rows, mask=rows < length, other=0.0))
            base = finite(lse)
            total += tl.exp(number(sink, base) - base) * delta
    tl.store(dsink_ptr + head, -tl.sum(total).to(tl.elem(dsink_ptr)))
