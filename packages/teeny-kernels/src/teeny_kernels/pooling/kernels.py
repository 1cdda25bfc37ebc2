"""Kernels of pools: averages and maxima of windows of up to three axes, and their gradients.

A window of an output element o holds the input elements o stride - padding + k dilation, k below
the size of the window. Grid: one program for each block of elements of the result, seen as rows of
a plane of three axes. All arrays are contiguous and none may be another. A gradient is gathered:
each input element adds what it is due from the windows it lies in, in a fixed order, without
atomics. Computed in f32, f64 for f64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import number, widen
from teeny_kernels.planes import places
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Int, Ptr, bf16, f16, f32, f64, i32, i64

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros import Kernel

D = TypeVar("D", bound=Float)
E = TypeVar("E", bound=Float)
I = TypeVar("I", bound=Int)  # noqa: E741

DTYPES = (f32, f16, bf16, f64)
WITH_PLACES = (*DTYPES, i32, i64)  # the places of maxima are integers
WITH_PADDING, WITHOUT_PADDING, OVERRIDE = range(3)


@device
def counted(o: Any, size: Any, window: Any, stride: Any, padding: Any, DIVISOR: int) -> Any:
    """How many elements of an axis the window of `o` counts."""
    begin = o * stride - padding
    if DIVISOR == WITHOUT_PADDING:
        end = tl.where(begin + window < size, begin + window, size)
        return end - tl.where(begin > 0, begin, 0)
    limit = size + padding
    return tl.where(begin + window < limit, window, limit - begin)


@device
def lowest(i: Any, extent: Any, stride: Any, padding: Any) -> Any:
    """The first output element of an axis whose window of `extent` elements reaches `i`."""
    above = i + padding - extent + stride
    return tl.where(above > 0, above, 0) // stride


@kernel(dtypes=DTYPES)
def avg_pool_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    n_elements: i64 | int,
    divisor: i32 | int,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    out_size_0: i32 | int,
    out_size_1: i32 | int,
    out_size_2: i32 | int,
    window_0: i32 | int,
    window_1: i32 | int,
    window_2: i32 | int,
    stride_0: i32 | int,
    stride_1: i32 | int,
    stride_2: i32 | int,
    padding_0: i32 | int,
    padding_1: i32 | int,
    padding_2: i32 | int,
    DIVISOR: Const[int],
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    row, i_0, i_1, i_2 = places(start, lanes, size_0, size_1, size_2, WIDE)
    low_0 = lowest(i_0, window_0, stride_0, padding_0)
    low_1 = lowest(i_1, window_1, stride_1, padding_1)
    low_2 = lowest(i_2, window_2, stride_2, padding_2)
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    for tap_0 in range((window_0 + stride_0 - 1) // stride_0):
        o_0 = low_0 + tap_0
        in_0 = mask & (o_0 < out_size_0) & (o_0 * stride_0 <= i_0 + padding_0)
        share_0 = counted(o_0, size_0, window_0, stride_0, padding_0, DIVISOR)
        for tap_1 in range((window_1 + stride_1 - 1) // stride_1):
            o_1 = low_1 + tap_1
            in_1 = in_0 & (o_1 < out_size_1) & (o_1 * stride_1 <= i_1 + padding_1)
            share_1 = share_0 * counted(o_1, size_1, window_1, stride_1, padding_1, DIVISOR)
            for tap_2 in range((window_2 + stride_2 - 1) // stride_2):
                o_2 = low_2 + tap_2
                there = in_1 & (o_2 < out_size_2) & (o_2 * stride_2 <= i_2 + padding_2)
                at = ((row * out_size_0 + o_0) * out_size_1 + o_1) * out_size_2 + o_2
                grad = widen(tl.load(grad_ptr + at, mask=there, other=0.0))
                if DIVISOR == OVERRIDE:
                    share = tl.cast(divisor, grad.dtype)
                else:
                    count = share_1 * counted(o_2, size_2, window_2, stride_2, padding_2, DIVISOR)
                    share = tl.where(there, count, 1).to(grad.dtype)
                total += grad / share
    tl.store(dx_ptr + start + lanes, total.to(tl.elem(dx_ptr)), mask=mask)


@device
def element(x: Any, power: Any) -> Any:
    return x


@device
def average(mean: Any, taps: Any, power: Any) -> Any:
    return mean


def averaging(name: str, each: Callable[..., Any], finish: Callable[..., Any]) -> Kernel[...]:
    """The kernel `name` that stores finish(average of each(x, power), taps, power) of each window.

    `taps` is the number of elements of a whole window, and each(0, power) is 0.
    """

    @kernel(name=name, dtypes=DTYPES, backward=avg_pool_backward_kernel)
    def averages(
        out_ptr: Ptr[E],
        x_ptr: Ptr[D],
        n_elements: i64 | int,
        divisor: i32 | int,
        power: f64 | float,
        size_0: i32 | int,
        size_1: i32 | int,
        size_2: i32 | int,
        out_size_0: i32 | int,
        out_size_1: i32 | int,
        out_size_2: i32 | int,
        window_0: i32 | int,
        window_1: i32 | int,
        window_2: i32 | int,
        stride_0: i32 | int,
        stride_1: i32 | int,
        stride_2: i32 | int,
        padding_0: i32 | int,
        padding_1: i32 | int,
        padding_2: i32 | int,
        DIVISOR: Const[int],
        WIDE: Const[bool],
        BLOCK_SIZE: Const[int],
    ) -> None:
        start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
        lanes = tl.arange(0, BLOCK_SIZE)
        mask = lanes < n_elements - start
        row, o_0, o_1, o_2 = places(start, lanes, out_size_0, out_size_1, out_size_2, WIDE)
        total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
        for k_0 in range(window_0):
            i_0 = o_0 * stride_0 - padding_0 + k_0
            in_0 = mask & (i_0 >= 0) & (i_0 < size_0)
            for k_1 in range(window_1):
                i_1 = o_1 * stride_1 - padding_1 + k_1
                in_1 = in_0 & (i_1 >= 0) & (i_1 < size_1)
                for k_2 in range(window_2):
                    i_2 = o_2 * stride_2 - padding_2 + k_2
                    there = in_1 & (i_2 >= 0) & (i_2 < size_2)
                    at = ((row * size_0 + i_0) * size_1 + i_1) * size_2 + i_2
                    x = widen(tl.load(x_ptr + at, mask=there, other=0.0))
                    total += each(x, number(power, x))
        if DIVISOR == OVERRIDE:
            total = total / tl.cast(divisor, total.dtype)
        else:
            count = counted(o_0, size_0, window_0, stride_0, padding_0, DIVISOR)
            count = count * counted(o_1, size_1, window_1, stride_1, padding_1, DIVISOR)
            count = count * counted(o_2, size_2, window_2, stride_2, padding_2, DIVISOR)
            total = total / count.to(total.dtype)
        taps = tl.cast(window_0 * window_1 * window_2, total.dtype)
        total = finish(total, taps, number(power, total))
        tl.store(out_ptr + start + lanes, total.to(tl.elem(out_ptr)), mask=mask)

    return averages


avg_pool_forward_kernel = averaging("avg_pool_forward_kernel", element, average)


@kernel(dtypes=WITH_PLACES)
def max_pool_backward_kernel(
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
    extent_0: i32 | int,
    extent_1: i32 | int,
    extent_2: i32 | int,
    stride_0: i32 | int,
    stride_1: i32 | int,
    stride_2: i32 | int,
    padding_0: i32 | int,
    padding_1: i32 | int,
    padding_2: i32 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    row, i_0, i_1, i_2 = places(start, lanes, size_0, size_1, size_2, WIDE)
    own = (i_0 * size_1 + i_1) * size_2 + i_2
    low_0 = lowest(i_0, extent_0, stride_0, padding_0)
    low_1 = lowest(i_1, extent_1, stride_1, padding_1)
    low_2 = lowest(i_2, extent_2, stride_2, padding_2)
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    for tap_0 in range((extent_0 + stride_0 - 1) // stride_0):
        o_0 = low_0 + tap_0
        in_0 = mask & (o_0 < out_size_0) & (o_0 * stride_0 <= i_0 + padding_0)
        for tap_1 in range((extent_1 + stride_1 - 1) // stride_1):
            o_1 = low_1 + tap_1
            in_1 = in_0 & (o_1 < out_size_1) & (o_1 * stride_1 <= i_1 + padding_1)
            for tap_2 in range((extent_2 + stride_2 - 1) // stride_2):
                o_2 = low_2 + tap_2
                there = in_1 & (o_2 < out_size_2) & (o_2 * stride_2 <= i_2 + padding_2)
                at = ((row * out_size_0 + o_0) * out_size_1 + o_1) * out_size_2 + o_2
                chosen = tl.load(index_ptr + at, mask=there, other=-1)
                grad = tl.load(grad_ptr + at, mask=there & (chosen == own), other=0.0)
                total += widen(grad)
    tl.store(dx_ptr + start + lanes, total.to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=WITH_PLACES, backward=max_pool_backward_kernel)
def max_pool_forward_kernel(
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
    window_0: i32 | int,
    window_1: i32 | int,
    window_2: i32 | int,
    stride_0: i32 | int,
    stride_1: i32 | int,
    stride_2: i32 | int,
    padding_0: i32 | int,
    padding_1: i32 | int,
    padding_2: i32 | int,
    dilation_0: i32 | int,
    dilation_1: i32 | int,
    dilation_2: i32 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    row, o_0, o_1, o_2 = places(start, lanes, out_size_0, out_size_1, out_size_2, WIDE)
    base = row * (tl.cast(size_0, i64) * size_1 * size_2)
    best = widen(tl.full((BLOCK_SIZE,), -float("inf"), tl.elem(x_ptr)))
    chosen = o_0 * 0 - 1
    for k_0 in range(window_0):
        i_0 = o_0 * stride_0 - padding_0 + k_0 * dilation_0
        in_0 = mask & (i_0 >= 0) & (i_0 < size_0)
        for k_1 in range(window_1):
            i_1 = o_1 * stride_1 - padding_1 + k_1 * dilation_1
            in_1 = in_0 & (i_1 >= 0) & (i_1 < size_1)
            for k_2 in range(window_2):
                i_2 = o_2 * stride_2 - padding_2 + k_2 * dilation_2
                there = in_1 & (i_2 >= 0) & (i_2 < size_2)
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
