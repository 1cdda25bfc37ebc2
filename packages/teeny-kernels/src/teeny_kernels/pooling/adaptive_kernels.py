"""Kernels of adaptive pools: averages and maxima of windows that cover an axis in a given number.

Window o of an axis of `size` elements in `out_size` windows goes from floor(o size / out_size) to
ceil((o + 1) size / out_size), so that neighbors may share an element. Element i lies in the windows
from floor(i out_size / size) to ceil((i + 1) out_size / size): the same formula, turned. Grid: one
program for each block of elements of the result, seen as rows of a plane of three axes. All arrays
are contiguous and none may be another; gradients are gathered in a fixed order, without atomics.
Computed in f32, f64 for f64.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import widen
from teeny_kernels.planes import places
from teeny_kernels.pooling.kernels import DTYPES, WITH_PLACES
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Int, Ptr, i32, i64

D = TypeVar("D", bound=Float)
I = TypeVar("I", bound=Int)  # noqa: E741


@device
def first_of(at: Any, across: Any, own: Any) -> Any:
    """The first of `across` parts of an axis that part `at` of `own` parts of it meets."""
    return at * across // own


@device
def end_of(at: Any, across: Any, own: Any) -> Any:
    """The part behind the last that it meets."""
    return ((at + 1) * across + own - 1) // own


@kernel(dtypes=DTYPES)
def adaptive_avg_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    n_elements: i64 | int,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    out_size_0: i32 | int,
    out_size_1: i32 | int,
    out_size_2: i32 | int,
    most_0: i32 | int,
    most_1: i32 | int,
    most_2: i32 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    row, i_0, i_1, i_2 = places(start, lanes, size_0, size_1, size_2, WIDE)
    low_0 = first_of(i_0, out_size_0, size_0)
    low_1 = first_of(i_1, out_size_1, size_1)
    low_2 = first_of(i_2, out_size_2, size_2)
    end_0 = end_of(i_0, out_size_0, size_0)
    end_1 = end_of(i_1, out_size_1, size_1)
    end_2 = end_of(i_2, out_size_2, size_2)
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    for k_0 in range(most_0):
        o_0 = low_0 + k_0
        in_0 = mask & (o_0 < end_0)
        count_0 = end_of(o_0, size_0, out_size_0) - first_of(o_0, size_0, out_size_0)
        for k_1 in range(most_1):
            o_1 = low_1 + k_1
            in_1 = in_0 & (o_1 < end_1)
            count_1 = end_of(o_1, size_1, out_size_1) - first_of(o_1, size_1, out_size_1)
            for k_2 in range(most_2):
                o_2 = low_2 + k_2
                there = in_1 & (o_2 < end_2)
                count = end_of(o_2, size_2, out_size_2) - first_of(o_2, size_2, out_size_2)
                at = ((row * out_size_0 + o_0) * out_size_1 + o_1) * out_size_2 + o_2
                grad = widen(tl.load(grad_ptr + at, mask=there, other=0.0))
                total += grad / (count_0 * count_1 * count).to(grad.dtype)
    tl.store(dx_ptr + start + lanes, total.to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=DTYPES, backward=adaptive_avg_backward_kernel)
def adaptive_avg_forward_kernel(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    n_elements: i64 | int,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    out_size_0: i32 | int,
    out_size_1: i32 | int,
    out_size_2: i32 | int,
    most_0: i32 | int,
    most_1: i32 | int,
    most_2: i32 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    row, o_0, o_1, o_2 = places(start, lanes, out_size_0, out_size_1, out_size_2, WIDE)
    low_0 = first_of(o_0, size_0, out_size_0)
    low_1 = first_of(o_1, size_1, out_size_1)
    low_2 = first_of(o_2, size_2, out_size_2)
    end_0 = end_of(o_0, size_0, out_size_0)
    end_1 = end_of(o_1, size_1, out_size_1)
    end_2 = end_of(o_2, size_2, out_size_2)
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
    for k_0 in range(most_0):
        i_0 = low_0 + k_0
        in_0 = mask & (i_0 < end_0)
        for k_1 in range(most_1):
            i_1 = low_1 + k_1
            in_1 = in_0 & (i_1 < end_1)
            for k_2 in range(most_2):
                i_2 = low_2 + k_2
                there = in_1 & (i_2 < end_2)
                at = ((row * size_0 + i_0) * size_1 + i_1) * size_2 + i_2
                total += widen(tl.load(x_ptr + at, mask=there, other=0.0))
    count = (end_0 - low_0) * (end_1 - low_1) * (end_2 - low_2)
    total = total / count.to(total.dtype)
    tl.store(out_ptr + start + lanes, total.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=WITH_PLACES)
def adaptive_max_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    index_ptr: Ptr[I],
    n_elements: i64 | int,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    out_size_0: i32 | int,
    out_size_1: i32 | int,
    out_size_2: i32 | int,
    most_0: i32 | int,
    most_1: i32 | int,
    most_2: i32 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    row, i_0, i_1, i_2 = places(start, lanes, size_0, size_1, size_2, WIDE)
    own = (i_0 * size_1 + i_1) * size_2 + i_2
    low_0 = first_of(i_0, out_size_0, size_0)
    low_1 = first_of(i_1, out_size_1, size_1)
    low_2 = first_of(i_2, out_size_2, size_2)
    end_0 = end_of(i_0, out_size_0, size_0)
    end_1 = end_of(i_1, out_size_1, size_1)
    end_2 = end_of(i_2, out_size_2, size_2)
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    for k_0 in range(most_0):
        o_0 = low_0 + k_0
        in_0 = mask & (o_0 < end_0)
        for k_1 in range(most_1):
            o_1 = low_1 + k_1
            in_1 = in_0 & (o_1 < end_1)
            for k_2 in range(most_2):
                o_2 = low_2 + k_2
                there = in_1 & (o_2 < end_2)
                at = ((row * out_size_0 + o_0) * out_size_1 + o_1) * out_size_2 + o_2
                chosen = tl.load(index_ptr + at, mask=there, other=-1)
                grad = tl.load(grad_ptr + at, mask=there & (chosen == own), other=0.0)
                total += widen(grad)
    tl.store(dx_ptr + start + lanes, total.to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=WITH_PLACES, backward=adaptive_max_backward_kernel)
def adaptive_max_forward_kernel(
    out_ptr: Ptr[D] | None,
    index_ptr: Ptr[I] | None,
    x_ptr: Ptr[D],
    n_elements: i64 | int,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    out_size_0: i32 | int,
    out_size_1: i32 | int,
    out_size_2: i32 | int,
    most_0: i32 | int,
    most_1: i32 | int,
    most_2: i32 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    row, o_0, o_1, o_2 = places(start, lanes, out_size_0, out_size_1, out_size_2, WIDE)
    base = row * (tl.cast(size_0, i64) * size_1 * size_2)
    low_0 = first_of(o_0, size_0, out_size_0)
    low_1 = first_of(o_1, size_1, out_size_1)
    low_2 = first_of(o_2, size_2, out_size_2)
    end_0 = end_of(o_0, size_0, out_size_0)
    end_1 = end_of(o_1, size_1, out_size_1)
    end_2 = end_of(o_2, size_2, out_size_2)
    best = widen(tl.full((BLOCK_SIZE,), -float("inf"), tl.elem(x_ptr)))
    chosen = o_0 * 0 - 1
    for k_0 in range(most_0):
        i_0 = low_0 + k_0
        in_0 = mask & (i_0 < end_0)
        for k_1 in range(most_1):
            i_1 = low_1 + k_1
            in_1 = in_0 & (i_1 < end_1)
            for k_2 in range(most_2):
                i_2 = low_2 + k_2
                there = in_1 & (i_2 < end_2)
                at = (i_0 * size_1 + i_1) * size_2 + i_2
                x = widen(tl.load(x_ptr + base + at, mask=there, other=-float("inf")))
                # The first of equals, the last NaN; -inf counts where there is nothing else.
                better = there & ((x > best) | (x != x) | (chosen < 0))
                best = tl.where(better, x, best)
                chosen = tl.where(better, at, chosen)
    if out_ptr is not None:
        tl.store(out_ptr + start + lanes, best.to(tl.elem(out_ptr)), mask=mask)
    if index_ptr is not None:
        tl.store(index_ptr + start + lanes, chosen.to(tl.elem(index_ptr)), mask=mask)
