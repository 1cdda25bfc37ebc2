"""Flash attention 2: softmax(scale q k^T + mask) v without the matrix of scores.

Dao 2023, "FlashAttention-2", alg. 1 and 2. Grid: forward and dq one program for each block of rows
of q of each head; dk, dv one for each block of rows of k of each head of k, which walks over the
heads of q that share it, so that nothing is added by atomics. Row m of q sees column n of k where
n <= m + Sk - Sq (causal, aligned at the bottom right) and n > m + Sk - Sq - window. A row that sees
nothing gives 0, and -inf for the log of its sum. All arrays are contiguous; scores and sums are in
f32 (f64 for f64), probabilities are rounded to the dtype before they multiply v.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import number, widen
from teeny_macros import device, kernel
from teeny_triton import R2, Axis, Const, Float, Ptr, Tensor, bf16, f16, f32, f64, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)

DTYPES = (f32, f16, bf16, f64)


@device
def scores(
    q: Any, k_t: Any, rows: Any, cols: Any, SQ: Any, SK: Any, scale: Any, cap: Any, window: Any,
    CAUSAL: Any, WINDOW: Any, CAP: Any,
) -> tuple[Tensor[f32, R2], Tensor[f32, R2]]:  # fmt: skip
    """Masked scores, and how far a soft cap lets a gradient through."""
    acc = widen(tl.zeros((q.shape[0], k_t.shape[1]), q.dtype))
    s = tl.dot(q, k_t, acc, input_precision="ieee", out_dtype=acc.dtype) * number(scale, acc)
    slope = acc + 1.0
    if CAP:
        bent = tl.math.tanh(s / number(cap, s))
        slope = 1.0 - bent * bent
        s = bent * number(cap, s)
    seen = (cols[None, :] < SK) & (rows[:, None] < SQ)
    if CAUSAL:
        seen = seen & (cols[None, :] <= rows[:, None] + (SK - SQ))
    if WINDOW:
        seen = seen & (cols[None, :] > rows[:, None] + (SK - SQ) - window)
    return tl.where(seen, s, -float("inf")), slope


@device
def block(base: Any, rows: Any, ds: Any, count: Any, depth: Any) -> Any:
    """Rows of a contiguous matrix of `depth` columns, zeros outside."""
    inside = (rows[:, None] < count) & (ds[None, :] < depth)
    return tl.load(base + rows.to(i64)[:, None] * depth + ds[None, :], mask=inside, other=0.0)


@kernel(dtypes=DTYPES)
def attention_delta(
    delta_ptr: Ptr[C],
    grad_ptr: Ptr[D],
    out_ptr: Ptr[D],
    n_rows: i64 | int,
    DV: i32 | int,
    ROWS: Const[int],
    BLOCK_DV: Const[int],
) -> None:
    rows = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    ds = tl.arange(0, BLOCK_DV)
    grad = widen(block(grad_ptr, rows, ds, n_rows, DV))
    out = widen(block(out_ptr, rows, ds, n_rows, DV))
    total = tl.sum(grad * out, axis=1)
    tl.store(delta_ptr + rows, total.to(tl.elem(delta_ptr)), mask=rows < n_rows)


@kernel(dtypes=DTYPES)
def attention_backward_q(
    dq_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    q_ptr: Ptr[D],
    k_ptr: Ptr[D],
    v_ptr: Ptr[D],
    lse_ptr: Ptr[C],
    delta_ptr: Ptr[C],
    SQ: i32 | int,
    SK: i32 | int,
    DQ: i32 | int,
    DV: i32 | int,
    heads: i32 | int,
    group: i32 | int,
    scale: f64 | float,
    cap: f64 | float,
    window: i32 | int,
    CAUSAL: Const[bool],
    WINDOW: Const[bool],
    CAP: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_D: Const[int],
    BLOCK_DV: Const[int],
) -> None:
    blocks = tl.cdiv(SQ, BLOCK_M)
    pid = tl.program_id(Axis.X)
    head = (pid // blocks).to(i64)
    shared = head // heads * (heads // group) + head % heads // group
    first = pid % blocks * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    ds = tl.arange(0, BLOCK_D)
    dvs = tl.arange(0, BLOCK_DV)
    q = block(q_ptr + head * SQ * DQ, rows, ds, SQ, DQ)
    grad = block(grad_ptr + head * SQ * DV, rows, dvs, SQ, DV)
    lse = widen(tl.load(lse_ptr + head * SQ + rows, mask=rows < SQ, other=0.0))
    delta = widen(tl.load(delta_ptr + head * SQ + rows, mask=rows < SQ, other=0.0))
    base = tl.where(lse == -float("inf"), 0.0, lse)
    dq = widen(tl.zeros((BLOCK_M, BLOCK_D), tl.elem(q_ptr)))
    low = 0
    high = SK
    if CAUSAL:
        high = tl.minimum(SK, first + BLOCK_M + SK - SQ)
    if WINDOW:
        low = tl.maximum(0, first + SK - SQ - window + 1) // BLOCK_N * BLOCK_N
    for start in range(low, high, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = block(k_ptr + shared * SK * DQ, cols, ds, SK, DQ)
        v = block(v_ptr + shared * SK * DV, cols, dvs, SK, DV)
        s, slope = scores(
            q, tl.trans(k), rows, cols, SQ, SK, scale, cap, window, CAUSAL, WINDOW, CAP
        )
        p = tl.exp(s - base[:, None])
        zero = widen(tl.zeros((BLOCK_M, BLOCK_N), tl.elem(q_ptr)))
        dp = tl.dot(grad, tl.trans(v), zero, input_precision="ieee", out_dtype=zero.dtype)
        d = p * (dp - delta[:, None]) * slope
        dq = tl.dot(d.to(k.dtype), k, dq, input_precision="ieee", out_dtype=dq.dtype)
    inside = (rows[:, None] < SQ) & (ds[None, :] < DQ)
    at = head * SQ * DQ + rows.to(i64)[:, None] * DQ + ds[None, :]
    tl.store(dq_ptr + at, (dq * number(scale, dq)).to(tl.elem(dq_ptr)), mask=inside)


@kernel(dtypes=DTYPES)
def attention_backward_kv(
    dk_ptr: Ptr[D],
    dv_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    q_ptr: Ptr[D],
    k_ptr: Ptr[D],
    v_ptr: Ptr[D],
    lse_ptr: Ptr[C],
    delta_ptr: Ptr[C],
    SQ: i32 | int,
    SK: i32 | int,
    DQ: i32 | int,
    DV: i32 | int,
    heads: i32 | int,
    group: i32 | int,
    scale: f64 | float,
    cap: f64 | float,
    window: i32 | int,
    CAUSAL: Const[bool],
    WINDOW: Const[bool],
    CAP: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_D: Const[int],
    BLOCK_DV: Const[int],
) -> None:
    blocks = tl.cdiv(SK, BLOCK_N)
    pid = tl.program_id(Axis.X)
    shared = (pid // blocks).to(i64)
    first = pid % blocks * BLOCK_N
    cols = first + tl.arange(0, BLOCK_N)
    ds = tl.arange(0, BLOCK_D)
    dvs = tl.arange(0, BLOCK_DV)
    k = block(k_ptr + shared * SK * DQ, cols, ds, SK, DQ)
    v = block(v_ptr + shared * SK * DV, cols, dvs, SK, DV)
    dk = widen(tl.zeros((BLOCK_N, BLOCK_D), tl.elem(q_ptr)))
    dv = widen(tl.zeros((BLOCK_N, BLOCK_DV), tl.elem(q_ptr)))
    low = 0
    high = SQ
    if CAUSAL:
        low = tl.maximum(0, first + SQ - SK) // BLOCK_M * BLOCK_M
    if WINDOW:
        high = tl.maximum(0, tl.minimum(SQ, first + BLOCK_N + SQ - SK + window - 1))
    for member in range(group):
        head = shared * group + member
        for start in range(low, high, BLOCK_M):
            rows = start + tl.arange(0, BLOCK_M)
            q = block(q_ptr + head * SQ * DQ, rows, ds, SQ, DQ)
            grad = block(grad_ptr + head * SQ * DV, rows, dvs, SQ, DV)
            lse = widen(tl.load(lse_ptr + head * SQ + rows, mask=rows < SQ, other=0.0))
            delta = widen(tl.load(delta_ptr + head * SQ + rows, mask=rows < SQ, other=0.0))
            base = tl.where(lse == -float("inf"), 0.0, lse)
            s, slope = scores(
                q, tl.trans(k), rows, cols, SQ, SK, scale, cap, window, CAUSAL, WINDOW, CAP
            )
            p = tl.exp(s - base[:, None])
            dv = tl.dot(
                tl.trans(p.to(grad.dtype)), grad, dv, input_precision="ieee", out_dtype=dv.dtype
            )
            zero = widen(tl.zeros((BLOCK_M, BLOCK_N), tl.elem(q_ptr)))
            dp = tl.dot(grad, tl.trans(v), zero, input_precision="ieee", out_dtype=zero.dtype)
            d = p * (dp - delta[:, None]) * slope
            dk = tl.dot(tl.trans(d.to(q.dtype)), q, dk, input_precision="ieee", out_dtype=dk.dtype)
    at = shared * SK * DQ + cols.to(i64)[:, None] * DQ + ds[None, :]
    inside = (cols[:, None] < SK) & (ds[None, :] < DQ)
    tl.store(dk_ptr + at, (dk * number(scale, dk)).to(tl.elem(dk_ptr)), mask=inside)
    at = shared * SK * DV + cols.to(i64)[:, None] * DV + dvs[None, :]
    inside = (cols[:, None] < SK) & (dvs[None, :] < DV)
    tl.store(dv_ptr + at, dv.to(tl.elem(dv_ptr)), mask=inside)


@kernel(dtypes=DTYPES, backward=attention_backward_q)
def attention_forward(
    out_ptr: Ptr[D],
    lse_ptr: Ptr[C],
    q_ptr: Ptr[D],
    k_ptr: Ptr[D],
    v_ptr: Ptr[D],
    SQ: i32 | int,
    SK: i32 | int,
    DQ: i32 | int,
    DV: i32 | int,
    heads: i32 | int,
    group: i32 | int,
    scale: f64 | float,
    cap: f64 | float,
    window: i32 | int,
    CAUSAL: Const[bool],
    WINDOW: Const[bool],
    CAP: Const[bool],
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_D: Const[int],
    BLOCK_DV: Const[int],
) -> None:
    blocks = tl.cdiv(SQ, BLOCK_M)
    pid = tl.program_id(Axis.X)
    head = (pid // blocks).to(i64)
    shared = head // heads * (heads // group) + head % heads // group
    first = pid % blocks * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    ds = tl.arange(0, BLOCK_D)
    dvs = tl.arange(0, BLOCK_DV)
    q = block(q_ptr + head * SQ * DQ, rows, ds, SQ, DQ)
    acc = widen(tl.zeros((BLOCK_M, BLOCK_DV), tl.elem(q_ptr)))
    total = widen(tl.zeros((BLOCK_M,), tl.elem(q_ptr)))
    largest = total - float("inf")
    low = 0
    high = SK
    if CAUSAL:
        high = tl.minimum(SK, first + BLOCK_M + SK - SQ)
    if WINDOW:
        low = tl.maximum(0, first + SK - SQ - window + 1) // BLOCK_N * BLOCK_N
    for start in range(low, high, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = block(k_ptr + shared * SK * DQ, cols, ds, SK, DQ)
        s, _ = scores(q, tl.trans(k), rows, cols, SQ, SK, scale, cap, window, CAUSAL, WINDOW, CAP)
        higher = tl.maximum(largest, tl.max(s, axis=1))
        base = tl.where(higher == -float("inf"), 0.0, higher)
        p = tl.exp(s - base[:, None])
        shrink = tl.exp(largest - base)
        total = total * shrink + tl.sum(p, axis=1)
        v = block(v_ptr + shared * SK * DV, cols, dvs, SK, DV)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee", out_dtype=acc.dtype)
        largest = higher
    found = acc / tl.where(total == 0.0, 1.0, total)[:, None]
    lse = largest + tl.log(total)
    at = head * SQ * DV + rows.to(i64)[:, None] * DV + dvs[None, :]
    inside = (rows[:, None] < SQ) & (dvs[None, :] < DV)
    tl.store(out_ptr + at, found.to(tl.elem(out_ptr)), mask=inside)
    tl.store(lse_ptr + head * SQ + rows, lse.to(tl.elem(lse_ptr)), mask=rows < SQ)
