"""Kernels that pad up to three axes, and gather the gradient back.

    out[o] = x[source(o - before)]                  along each axis; a constant where there is none
    dx[i] = sum of grad[o] over all o with source(o - before) = i

Grid: one program for each block of elements of the result, seen as rows of a plane of three axes.
All arrays are contiguous and none may be another. The gradient is a sum in a fixed order, without
atomics; in f32, f64 for f64.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import widen
from teeny_kernels.planes import places
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Num, Ptr, bf16, f16, f32, f64, i8, i16, i32, i64, u8

D = TypeVar("D", bound=Float)
N = TypeVar("N", bound=Num)

CONSTANT, REFLECT, REPLICATE, CIRCULAR = range(4)
FLOATS = (f32, f16, bf16, f64)
DTYPES = (*FLOATS, i8, i16, i32, i64, u8)


@device
def source(at: Any, size: Any, MODE: int) -> Any:
    """The element of an axis that stands at `at`, counted from the first of the input."""
    if MODE == REFLECT:
        at = tl.where(at < 0, -at, at)
        return tl.where(at >= size, size - 1 - at + (size - 1), at)
    if MODE == REPLICATE:
        return tl.where(at < 0, 0, tl.where(at >= size, size - 1, at))
    if MODE == CIRCULAR:
        at = tl.where(at < 0, at + size, at)
        return tl.where(at >= size, at - size, at)
    return at


@device
def target(k: Any, at: Any, size: Any, before: Any, out_size: Any, MODE: int) -> Any:
    """The `k`th place of the output that shows element `at` of an axis; negative for none."""
    to = at + before
    if MODE == REFLECT:
        low = tl.where(at > 0, before - at, -1)
        high = tl.where(at < size - 1, size - 1 - at + (size - 1) + before, -1)
        to = tl.where(k == 0, to, tl.where(k == 1, low, high))
    if MODE == REPLICATE:
        # First those before the input, then those after it.
        low = tl.where((at == 0) & (k <= before), k - 1, -1)
        after = k - 1 - tl.where(before > 0, before, 0)
        high = tl.where((at == size - 1) & (after >= 0), before + size + after, -1)
        to = tl.where(k == 0, to, tl.maximum(low, high))
    if MODE == CIRCULAR:
        to = tl.where(k == 0, to, tl.where(k == 1, to - size, to + size))
    return tl.where(to < out_size, to, -1)


@kernel(dtypes=FLOATS)
def pad_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    n_elements: i64 | int,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    out_size_0: i32 | int,
    out_size_1: i32 | int,
    out_size_2: i32 | int,
    before_0: i32 | int,
    before_1: i32 | int,
    before_2: i32 | int,
    taps_0: i32 | int,
    taps_1: i32 | int,
    taps_2: i32 | int,
    MODE: Const[int],
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    row, i_0, i_1, i_2 = places(start, lanes, size_0, size_1, size_2, WIDE)
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    for k_0 in range(taps_0):
        o_0 = target(k_0, i_0, size_0, before_0, out_size_0, MODE)
        for k_1 in range(taps_1):
            o_1 = target(k_1, i_1, size_1, before_1, out_size_1, MODE)
            line = mask & (o_0 >= 0) & (o_1 >= 0)
            # Few blocks hold lines that stand in the result more than once.
            if (k_0 + k_1 == 0) | (tl.max(line.to(i32), axis=0) > 0):
                at_line = ((row * out_size_0 + o_0) * out_size_1 + o_1) * out_size_2
                for k_2 in range(taps_2):
                    o_2 = target(k_2, i_2, size_2, before_2, out_size_2, MODE)
                    there = line & (o_2 >= 0)
                    total += widen(tl.load(grad_ptr + at_line + o_2, mask=there, other=0.0))
    tl.store(dx_ptr + start + lanes, total.to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=DTYPES, backward=pad_backward_kernel)
def pad_forward_kernel(
    out_ptr: Ptr[N],
    x_ptr: Ptr[N],
    n_elements: i64 | int,
    value: f64 | float,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    out_size_0: i32 | int,
    out_size_1: i32 | int,
    out_size_2: i32 | int,
    before_0: i32 | int,
    before_1: i32 | int,
    before_2: i32 | int,
    MODE: Const[int],
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    row, o_0, o_1, o_2 = places(start, lanes, out_size_0, out_size_1, out_size_2, WIDE)
    i_0 = source(o_0 - before_0, size_0, MODE)
    i_1 = source(o_1 - before_1, size_1, MODE)
    i_2 = source(o_2 - before_2, size_2, MODE)
    at = ((row * size_0 + i_0) * size_1 + i_1) * size_2 + i_2
    there = mask
    if MODE == CONSTANT:
        there = there & (i_0 >= 0) & (i_0 < size_0)
        there = there & (i_1 >= 0) & (i_1 < size_1)
        there = there & (i_2 >= 0) & (i_2 < size_2)
    x = tl.load(x_ptr + at, mask=there, other=tl.cast(value, tl.elem(x_ptr)))
    tl.store(out_ptr + start + lanes, x, mask=mask)


@device
def with_line(
    total: Any, grad_ptr: Any, at_line: Any, cols: Any, inside: Any, size: Any, before: Any,
    out_size: Any, MODE: int, TAPS: int,
) -> Any:  # fmt: skip
    """`total` and what the elements of a line of the gradient add to `cols` of the input."""
    for k in tl.static_range(TAPS):
        o = target(k, cols, size, before, out_size, MODE)
        total += widen(tl.load(grad_ptr + at_line + o, mask=inside & (o >= 0), other=0.0))
    return total


@kernel(dtypes=FLOATS)
def pad_lines_backward(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    lines: i32 | int,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    out_size_0: i32 | int,
    out_size_1: i32 | int,
    out_size_2: i32 | int,
    before_0: i32 | int,
    before_1: i32 | int,
    before_2: i32 | int,
    taps_0: i32 | int,
    taps_1: i32 | int,
    MODE: Const[int],
    TAPS: Const[int],
    LINES: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    """LINES lines of the last axis a program: which lines of the gradient it meets are scalars."""
    blocks = tl.cdiv(size_2, BLOCK_SIZE)
    pid = tl.program_id(Axis.X)
    cols = pid % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    begin = pid // blocks * LINES
    sums: Any = ()
    zeros = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    # What most elements are is loaded for all lines before anything is added to a few of them.
    for n in tl.static_range(LINES):
        line = begin + n
        inside = (cols < size_2) & (line < lines)
        i_1, layer = line % size_1, line // size_1
        o_0 = target(0, layer % size_0, size_0, before_0, out_size_0, MODE)
        o_1 = target(0, i_1, size_1, before_1, out_size_1, MODE)
        row = (layer // size_0).to(i64) * out_size_0 + o_0
        at_line = (row * out_size_1 + o_1) * out_size_2
        there = inside & (o_0 >= 0) & (o_1 >= 0)
        total = with_line(
            zeros, grad_ptr, at_line, cols, there, size_2, before_2, out_size_2, MODE, TAPS
        )
        sums = (*sums, total)
    for n in tl.static_range(LINES):
        line = begin + n
        inside = (cols < size_2) & (line < lines)
        i_1, layer = line % size_1, line // size_1
        total = sums[n]
        for k_0 in range(taps_0):
            o_0 = target(k_0, layer % size_0, size_0, before_0, out_size_0, MODE)
            for k_1 in range(taps_1):
                o_1 = target(k_1, i_1, size_1, before_1, out_size_1, MODE)
                if (k_0 + k_1 > 0) & (o_0 >= 0) & (o_1 >= 0):
                    row = (layer // size_0).to(i64) * out_size_0 + o_0
                    at_line = (row * out_size_1 + o_1) * out_size_2
                    total = with_line(
                        total, grad_ptr, at_line, cols, inside, size_2, before_2, out_size_2, MODE,
                        TAPS,
                    )  # fmt: skip
        tl.store(dx_ptr + line.to(i64) * size_2 + cols, total.to(tl.elem(dx_ptr)), mask=inside)
