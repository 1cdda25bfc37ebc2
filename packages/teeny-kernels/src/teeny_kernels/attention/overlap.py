"""The walk of the forward over blocks, each multiplied by v while the next one is weighed.

Tensor cores of sm_90 work beside the other units of a processor. Where scores, probabilities and
their product with v follow each other, either waits for the other; here the product with v of a
block is begun once the scores of the next are there, and runs while those become probabilities.
Sums are added in the same order. Device functions only.
"""

from __future__ import annotations

from typing import Any

import teeny_triton as tl
from teeny_kernels.attention.parts import kept, product, scores, start_of, tile, weighed
from teeny_macros import device
from teeny_triton import R2, Tensor, bf16, i32


@device
def overlapped(
    q: Any, acc: Any, total: Any, largest: Any, in_log2: Any, k_tiles: Any, v_tiles: Any,
    k_base: Any, v_base: Any, batch: Any, shared: Any, place: Any, rows: Any, low: Any, full: Any,
    whole: Any, before: Any, sunk: Any, edged: Any, SQ: Any, SK: Any, stride_kn: Any,
    stride_vn: Any, DQ: Any, DV: Any, left: Any, right: Any, sinks: Any, scale: Any, cap: Any,
    slope: Any, seed: Any, threshold: Any, PLAIN: Any, CAP: Any, ALIBI: Any, DROPOUT: Any,
    PHASES: Any, FULL: Any, LATER: Any, BLOCK_N: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """For `rows`, the sums of exponentials and of those times v; the largest."""
    ds, dvs = tl.arange(0, q.shape[1]), tl.arange(0, acc.shape[1])
    start = start_of_either(tl.cast(0, i32), low, full, whole, before, sunk, BLOCK_N)
    k = tile(k_tiles, k_base, batch, shared, start, ds, stride_kn, SK, DQ, BLOCK_N, True, FULL)
    cols = start + tl.arange(0, BLOCK_N)
    s, _ = scores(
        q, tl.trans(k), rows[:, None], cols[None, :], SQ, SK, left, right, sinks, scale, cap,
        slope, True, PLAIN, CAP, ALIBI,
    )  # fmt: skip
    p, shrink, total, largest = weighed(s, total, largest, in_log2)
    if DROPOUT:
        p = tl.where(kept(seed, place, rows, start, threshold, BLOCK_N), p, 0.0)
    ready = p.to(q.dtype)
    for MASKED in tl.static_range(2 - PHASES, 2):
        done = whole if MASKED else 0
        skipped: Any = tl.where(whole > 0, 0, 1) if MASKED else 1
        for step in range(skipped, edged if MASKED else whole):
            behind = start_of_either(step - 1 + done, low, full, whole, before, sunk, BLOCK_N)
            start = start_of(step, low, full, whole, before, sunk, MASKED, PHASES, BLOCK_N)
            k = tile(
                k_tiles, k_base, batch, shared, start, ds, stride_kn, SK, DQ, BLOCK_N, MASKED, FULL
            )
            cols = start + tl.arange(0, BLOCK_N)
            s, _ = scores(
                q, tl.trans(k), rows[:, None], cols[None, :], SQ, SK, left, right, sinks, scale,
                cap, slope, MASKED, PLAIN, CAP, ALIBI,
            )  # fmt: skip
            v = tile(
                v_tiles, v_base, batch, shared, behind, dvs, stride_vn, SK, DV, BLOCK_N, MASKED,
                FULL,
            )  # fmt: skip
            acc = product(pinned(ready) if LATER == 2 else ready, v, acc * shrink[:, None])
            p, shrink, total, largest = weighed(s, total, largest, in_log2)
            if DROPOUT:
                p = tl.where(kept(seed, place, rows, start, threshold, BLOCK_N), p, 0.0)
            ready = p.to(v.dtype)
    if whole + edged > 0:
        last = start_of_either(whole + edged - 1, low, full, whole, before, sunk, BLOCK_N)
        v = tile(v_tiles, v_base, batch, shared, last, dvs, stride_vn, SK, DV, BLOCK_N, True, FULL)
        acc = product(ready, v, acc * shrink[:, None])
    return acc, total, largest


@device
def start_of_either(
    step: Any, low: Any, full: Any, whole: Any, before: Any, sunk: Any, SIDE: Any
) -> Any:
    """`start_of` of all steps, of the unmasked ones first."""
    inner = start_of(step, low, full, whole, before, sunk, False, 2, SIDE)
    edge = start_of(step - whole, low, full, whole, before, sunk, True, 2, SIDE)
    return tl.where(step < whole, inner, edge)


@device
def pinned(x: Tensor[bf16, R2]) -> Any:
    """`x`, in the layout that it was made in up to here; for GPUs alone.

    What is carried around a loop would else change its layout before: then the product that takes
    it is waited for at once, while one that takes what is changed just before it goes on meanwhile.
    """
    return tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], x.dtype, False, 2)
