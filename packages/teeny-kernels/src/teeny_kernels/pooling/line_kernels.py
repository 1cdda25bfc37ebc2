"""The gradient of maxima by lines of the input: what a line meets is known to all of its elements.

A program makes LINES lines of the last axis, or pieces of BLOCK_SIZE elements of them. Which lines
of the gradient one meets are numbers, not arrays, and how many, and how many elements of each, the
compiler knows. Grid: one program for each piece of so many lines. Rules of aliasing as in
kernels.py; sums in the same order.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import widen
from teeny_kernels.pooling.kernels import WITH_PLACES, lowest
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Int, Ptr, i32, i64

D = TypeVar("D", bound=Float)
I = TypeVar("I", bound=Int)  # noqa: E741


@kernel(dtypes=WITH_PLACES)
def max_pool_lines_backward(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    index_ptr: Ptr[I],
    lines: i32 | int,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    out_size_0: i32 | int,
    out_size_1: i32 | int,
    out_size_2: i32 | int,
    extent_0: i32 | int,
    extent_1: i32 | int,
    extent_2: i32 | int,
    stride_0: i32 | int,
    stride_1: i32 | int,
    stride_2: i32 | int,
    padding_0: i32 | int,
    padding_1: i32 | int,
    padding_2: i32 | int,
    TAPS_1: Const[int],
    TAPS_2: Const[int],
    LINES: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    blocks = tl.cdiv(size_2, BLOCK_SIZE)
    pid = tl.program_id(Axis.X)
    cols = pid % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    begin = pid // blocks * LINES
    low_2 = lowest(cols, extent_2, stride_2, padding_2)
    for n in tl.static_range(LINES):
        line = begin + n
        inside = (cols < size_2) & (line < lines)
        i_1, layer = line % size_1, line // size_1
        i_0 = layer % size_0
        row = (layer // size_0).to(i64) * out_size_0
        own = (i_0 * size_1 + i_1) * size_2 + cols
        low_0 = lowest(i_0, extent_0, stride_0, padding_0)
        low_1 = lowest(i_1, extent_1, stride_1, padding_1)
        total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
        for tap_0 in range((extent_0 + stride_0 - 1) // stride_0):
            o_0 = low_0 + tap_0
            in_0 = (o_0 < out_size_0) & (o_0 * stride_0 <= i_0 + padding_0)
            for tap_1 in tl.static_range(TAPS_1):
                o_1 = low_1 + tap_1
                in_1 = in_0 & (o_1 < out_size_1) & (o_1 * stride_1 <= i_1 + padding_1)
                base = ((row + o_0) * out_size_1 + o_1) * out_size_2
                for tap_2 in tl.static_range(TAPS_2):
                    o_2 = low_2 + tap_2
                    there = (o_2 < out_size_2) & (o_2 * stride_2 <= cols + padding_2)
                    there = there & inside & in_1
                    chosen: Any = tl.load(index_ptr + base + o_2, mask=there, other=-1)
                    grad = widen(tl.load(grad_ptr + base + o_2, mask=there, other=0.0))
                    total += tl.where(chosen.to(i32) == own, grad, 0.0)
        at = line.to(i64) * size_2 + cols
        tl.store(dx_ptr + at, total.to(tl.elem(dx_ptr)), mask=inside)
