"""Attention of one head a program, forward: a running maximum and sum in place of the scores.

Only compiled here, to measure how long that takes; the text is also read as Triton's.
"""

from __future__ import annotations

from typing import TypeVar

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Axis, Const, MmaFloat, Ptr, f32, i32

H = TypeVar("H", bound=MmaFloat)


@kernel
def attention(
    q_ptr: Ptr[H],
    k_ptr: Ptr[H],
    v_ptr: Ptr[H],
    o_ptr: Ptr[H],
    LENGTH: i32 | int,
    scale: f32 | float,
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    WIDTH: Const[int],
) -> None:
    rows = tl.program_id(Axis.X) * BLOCK_M + tl.arange(0, BLOCK_M)
    base = tl.program_id(Axis.Y) * LENGTH * WIDTH
    dims = tl.arange(0, WIDTH)
    q_ptrs = q_ptr + base + rows[:, None] * WIDTH + dims[None, :]
    q = tl.load(q_ptrs, mask=(rows < LENGTH)[:, None], other=0.0)
    largest = tl.full((BLOCK_M,), float("-inf"), f32)
    total = tl.zeros((BLOCK_M,), f32)
    out = tl.zeros((BLOCK_M, WIDTH), f32)
    for start in range(0, LENGTH, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        inside = cols < LENGTH
        k_ptrs = k_ptr + base + cols[None, :] * WIDTH + dims[:, None]
        k = tl.load(k_ptrs, mask=inside[None, :], other=0.0)
        scores = tl.where(inside[None, :], tl.dot(q, k) * scale, float("-inf"))
        highest = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - highest[:, None])
        shrink = tl.exp2(largest - highest)
        v_ptrs = v_ptr + base + cols[:, None] * WIDTH + dims[None, :]
        v = tl.load(v_ptrs, mask=inside[:, None], other=0.0)
        total = total * shrink + tl.sum(weights, 1)
        out = tl.dot(weights.to(tl.elem(v_ptr)), v, out * shrink[:, None])
        largest = highest
    o_ptrs = o_ptr + base + rows[:, None] * WIDTH + dims[None, :]
    result = (out / total[:, None]).to(tl.elem(o_ptr))
    tl.store(o_ptrs, result, mask=(rows < LENGTH)[:, None])
