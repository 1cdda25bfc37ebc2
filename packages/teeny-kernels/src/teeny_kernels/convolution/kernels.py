"""Kernels of convolutions: an implicit product of matrices, and a direct sum for few channels.

    forward:     out[n, o, p] = sum over c, k of x[n, c, p stride - padding + k dilation] w[o, c, k]
    transposed:  dx[n, c, i]  = sum over o, k of grad[n, o, p] w[o, c, k]
                                where i = p stride - padding + k dilation

Both are gathered by one text: results are rows, channels of the result are columns, and the sum
runs over taps and channels of the source. In the transposed form positions fall into classes by
their remainder over the stride, so that each class meets a regular part of the taps and nothing is
multiplied in vain; no atomics. Grid of `convolve`: one program for each tile, tiles of columns
first, then rows, groups and classes; of the others: one for each block of results. The
source may have any strides, weights are (out, *window, in), the result is contiguous and none of
the inputs. Elements of the padding are zeros that are multiplied. Sums in f32, f64 for f64.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import number, widen
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, Rank, Tensor, bf16, f16, f32, f64, i1, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)
R = TypeVar("R", bound=Rank)

DTYPES = (f32, f16, bf16, f64)
SIDES = tuple(
    f"{name}_{axis}"
    for name in ("size", "source", "window", "stride", "pad", "gap", "hop")
    for axis in range(3)
)
STRIDES = tuple(f"x_stride_{axis}" for axis in ("n", "c", 0, 1, 2))
PLAIN = (*SIDES, *STRIDES, "batch", "groups", "eps")


@device
def narrow(x: Any, WIDE: bool) -> Any:
    """A place: i32, whose arithmetic is fast, unless the arrays are too large."""
    if WIDE:
        return x.to(i64)
    return x.to(i32)


@device
def narrowed(step: i64 | int, WIDE: bool) -> Any:
    """A stride in the dtype of places."""
    if WIDE:
        return step
    return tl.cast(step, i32)


@device
def line(
    rem: Any, window: Any, stride: Any, pad: Any, gap: Any, hop: Any, TURNED: bool
) -> tuple[Any, Any, Any, Any]:
    """How results of the class `rem` of an axis meet the source: first, count, base, step.

    Result r of the class meets, by tap first + j hop with j below count, the source at
    r pace + base + j step, where pace is the stride, or 1 in the transposed form.
    """
    if TURNED:
        first = window
        for k in range(hop):
            meets = (rem + pad - k * gap) % stride == 0
            first = tl.where(meets, tl.minimum(first, k), first)
        base = (rem + pad - first * gap) // stride
        return first, (window - first + hop - 1) // hop, base, 0 - gap * hop // stride
    return 0, window, 0 - pad, gap


@device
def spaced(stride: Any, size: Any, TURNED: bool) -> tuple[Any, Any, Any]:
    """How far apart results of a class lie on an axis, and what they meet; how many there are."""
    if TURNED:
        return stride, 1, (size + stride - 1) // stride
    return 1, stride, size


@device
def ratio(index: Tensor[i32, R], side: i32 | int, QUICK: bool) -> Tensor[i32, R]:
    """`index // side`: QUICK, by a product in f32, which is right below 2^20."""
    if QUICK:
        return ((index.to(f32) + 0.5) * (1.0 / tl.cast(side, f32))).to(i32)
    return index // side


@device
def places(
    start: Any, lanes: Any, side_0: Any, side_1: Any, side_2: Any, WIDE: bool, QUICK: bool
) -> Any:
    """Rows `start` + lanes as (row of planes, place in the plane on each of three axes)."""
    begin = narrow(start, WIDE)
    plane = narrow(side_0, WIDE) * side_1 * side_2
    index = begin % plane + lanes
    line_of = ratio(index, side_2, QUICK)
    layer = ratio(line_of, side_1, QUICK)
    p_1, p_2 = line_of - layer * side_1, index - line_of * side_2
    n = ratio(layer, side_0, QUICK)
    return begin // plane + n, layer - n * side_0, p_1, p_2


@device
def met(
    p: Any, k: Any, source: Any, stride: Any, pad: Any, gap: Any, TURNED: bool
) -> tuple[Any, Any]:
    """The place in the source that result `p` meets by tap `k`, and whether there is one."""
    if TURNED:
        i = p + pad - k * gap
        return i // stride, (i >= 0) & (i % stride == 0) & (i // stride < source)
    i = p * stride - pad + k * gap
    return i, (i >= 0) & (i < source)


@device
def reached(begin: Any, move: Any, source: Any, TAPWISE: bool) -> Any:
    """Whether rows, moved by one tap for all columns or by one for each, lie in the source."""
    if TAPWISE:
        at = (begin + move)[:, None]
    else:
        at = begin[:, None] + move[None, :]
    return (at >= 0) & (at < source)


@device
def decoded(
    k: Any, chunk: Any, a_0: Any, a_1: Any, a_2: Any, inner: Any, count_1: Any, count_2: Any,
    TAPWISE: bool,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """The channels of a step, and its tap on each axis: one for all, or one for each column."""
    if TAPWISE:
        return chunk, a_0, a_1, a_2
    t = k // inner
    return k % inner, t // count_2 // count_1, t // count_2 % count_1, t % count_2


@device
def advanced(
    chunk: Any, a_0: Any, a_1: Any, a_2: Any, inner: Any, count_1: Any, count_2: Any
) -> tuple[Any, Any, Any, Any]:
    """The next channels, and the tap after this one when there are none."""
    a_2 = tl.where(chunk >= inner, a_2 + 1, a_2)
    chunk = tl.where(chunk >= inner, 0, chunk)
    a_1 = tl.where(a_2 == count_2, a_1 + 1, a_1)
    a_2 = tl.where(a_2 == count_2, 0, a_2)
    a_0 = tl.where(a_1 == count_1, a_0 + 1, a_0)
    return chunk, a_0, tl.where(a_1 == count_1, 0, a_1), a_2


@device
def eighths(at: Tensor[i32, R], ALIGNED: bool) -> Tensor[i32, R]:
    """Places that are multiples of eight, where ALIGNED says so."""
    if ALIGNED:
        return tl.multiple_of(at, 8)
    return at


@device
def eight(at: Any, SIDE_BY_SIDE: bool) -> Any:
    """Places of which eight from a multiple of eight lie in one line, where it says so.

    Threads then go along them, which the compiler does not see behind divisions.
    """
    if SIDE_BY_SIDE:
        return tl.max_contiguous(at, 8)
    return at


@device
def along(move: Any, c: Any, x_stride_c: Any, ALIGNED: bool) -> Any:
    """Places moved to channels `c`; if ALIGNED these lie side by side."""
    if ALIGNED:
        return eighths(move, True) + c
    return move + (c * x_stride_c).to(move.dtype)


@device
def finished(
    acc: Tensor[f32, R], channel: Any, mask: Any, bias_ptr: Any, mean_ptr: Any, var_ptr: Any,
    gamma_ptr: Any, beta_ptr: Any, eps: Any, SILU: bool,
) -> Tensor[f32, R]:  # fmt: skip
    """What follows a sum: bias, batch norm by known statistics, SiLU; by channel of the result."""
    if bias_ptr is not None:
        acc += widen(tl.load(bias_ptr + channel, mask=mask, other=0.0))
    if mean_ptr is not None:
        acc -= tl.cast(tl.load(mean_ptr + channel, mask=mask, other=0.0), acc.dtype)
        var = tl.cast(tl.load(var_ptr + channel, mask=mask, other=1.0), acc.dtype)
        acc = acc / tl.sqrt_rn(var + number(eps, var))
    if gamma_ptr is not None:
        acc *= widen(tl.load(gamma_ptr + channel, mask=mask, other=0.0))
    if beta_ptr is not None:
        acc += widen(tl.load(beta_ptr + channel, mask=mask, other=0.0))
    if SILU:
        acc *= tl.sigmoid(acc)
    return acc


LAID = (
    *("rows", "channels", "size_0", "size_1", "size_2"),
    *("stride_n", "stride_c", "stride_0", "stride_1", "stride_2"),
)


@kernel(dtypes=DTYPES, do_not_specialize=LAID)
def lay_channels_last(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    rows: i64 | int,
    channels: i32 | int,
    size_0: i32 | int,
    size_1: i32 | int,
    size_2: i32 | int,
    stride_n: i64 | int,
    stride_c: i64 | int,
    stride_0: i64 | int,
    stride_1: i64 | int,
    stride_2: i64 | int,
    WIDE: Const[bool],
    SIDE_BY_SIDE: Const[bool],
    ROWS: Const[int],
    BLOCK_C: Const[int],
) -> None:
    tiles = tl.cdiv(channels, BLOCK_C)
    pid = tl.program_id(Axis.X)
    start = (pid // tiles).to(i64) * ROWS
    lanes = tl.arange(0, ROWS)
    c = pid % tiles * BLOCK_C + tl.arange(0, BLOCK_C)
    n, p_0, p_1, p_2 = places(start, lanes, size_0, size_1, size_2, WIDE, False)
    row = n * stride_n + p_0 * stride_0 + p_1 * stride_1 + p_2 * stride_2
    row = eight(row, SIDE_BY_SIDE)
    inside = (c < channels)[:, None] & (start + lanes < rows)[None, :]
    x = tl.load(x_ptr + (c.to(i64) * stride_c)[:, None] + row[None, :], mask=inside)
    at = (start + lanes)[:, None] * channels + c[None, :]
    tl.store(out_ptr + at, tl.trans(x), mask=tl.trans(inside))


PACKED = (
    *("n_elements", "inner", "window_0", "window_1", "window_2"),
    *("stride_out", "stride_in", "stride_0", "stride_1", "stride_2"),
)


@kernel(dtypes=DTYPES, do_not_specialize=PACKED)
def pack_weight(
    out_ptr: Ptr[D],
    w_ptr: Ptr[D],
    n_elements: i64 | int,
    inner: i32 | int,
    window_0: i32 | int,
    window_1: i32 | int,
    window_2: i32 | int,
    stride_out: i64 | int,
    stride_in: i64 | int,
    stride_0: i64 | int,
    stride_1: i64 | int,
    stride_2: i64 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    at = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    k = at // inner
    offset = at % inner * stride_in + k % window_2 * stride_2
    k = k // window_2
    offset += k % window_1 * stride_1
    k = k // window_1
    offset += k % window_0 * stride_0 + k // window_0 * stride_out
    w = tl.load(w_ptr + offset, mask=at < n_elements)
    tl.store(out_ptr + at, w, mask=at < n_elements)


@kernel(dtypes=DTYPES, do_not_specialize=(*PLAIN, "inner", "outer"))
def convolve_direct(
    out_ptr: Ptr[D], x_ptr: Ptr[D], w_ptr: Ptr[D], bias_ptr: Ptr[D] | None,
    mean_ptr: Ptr[C] | None, var_ptr: Ptr[C] | None, gamma_ptr: Ptr[D] | None,
    beta_ptr: Ptr[D] | None, eps: f64 | float,
    size_0: i32 | int, size_1: i32 | int, size_2: i32 | int,
    source_0: i32 | int, source_1: i32 | int, source_2: i32 | int,
    window_0: i32 | int, window_1: i32 | int, window_2: i32 | int,
    stride_0: i32 | int, stride_1: i32 | int, stride_2: i32 | int,
    pad_0: i32 | int, pad_1: i32 | int, pad_2: i32 | int,
    gap_0: i32 | int, gap_1: i32 | int, gap_2: i32 | int,
    hop_0: i32 | int, hop_1: i32 | int, hop_2: i32 | int,
    x_stride_n: i64 | int, x_stride_c: i64 | int, x_stride_0: i64 | int,
    x_stride_1: i64 | int, x_stride_2: i64 | int,
    batch: i32 | int, groups: i32 | int, inner: i32 | int, outer: i32 | int,
    TURNED: Const[bool], SILU: Const[bool], WIDE: Const[bool], QUICK: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:  # fmt: skip
    channels = groups * outer
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    row, p_0, p_1, p_2 = places(start, lanes, size_0, size_1, size_2, WIDE, QUICK)
    n = ratio(row, channels, QUICK)
    channel = row - n * channels
    group = ratio(channel, outer, QUICK)
    mask = n < batch
    taps = window_0 * window_1 * window_2
    x_row = narrow(n.to(i64) * x_stride_n + (group * inner).to(i64) * x_stride_c, WIDE)
    # Weights are (out, *window, in) of the convolution whose transposed form this may be.
    if TURNED:
        w_row = narrow((group * inner).to(i64) * taps * outer + channel % outer, WIDE)
        w_channel = taps * outer
        w_tap = outer
    else:
        w_row = narrow(channel.to(i64) * taps * inner, WIDE)
        w_channel = 1
        w_tap = inner
    acc = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
    for k_0 in range(window_0):
        i_0, in_0 = met(p_0, k_0, source_0, stride_0, pad_0, gap_0, TURNED)
        for k_1 in range(window_1):
            i_1, in_1 = met(p_1, k_1, source_1, stride_1, pad_1, gap_1, TURNED)
            for k_2 in range(window_2):
                i_2, in_2 = met(p_2, k_2, source_2, stride_2, pad_2, gap_2, TURNED)
                there = mask & in_0 & in_1 & in_2
                at = x_row + i_0 * narrowed(x_stride_0, WIDE) + i_1 * narrowed(x_stride_1, WIDE)
                at = at + i_2 * narrowed(x_stride_2, WIDE)
                w_at = w_row + ((k_0 * window_1 + k_1) * window_2 + k_2) * w_tap
                for _c in range(inner):
                    x = widen(tl.load(x_ptr + at, mask=there, other=0.0))
                    acc += x * widen(tl.load(w_ptr + w_at))
                    at = at + narrowed(x_stride_c, WIDE)
                    w_at = w_at + w_channel
    acc = finished(acc, channel, mask, bias_ptr, mean_ptr, var_ptr, gamma_ptr, beta_ptr, eps, SILU)
    tl.store(out_ptr + start + lanes, acc.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=(*PLAIN, "tiles_m"))
def convolve(
    out_ptr: Ptr[D], x_ptr: Ptr[D], w_ptr: Ptr[D], bias_ptr: Ptr[D] | None,
    mean_ptr: Ptr[C] | None, var_ptr: Ptr[C] | None, gamma_ptr: Ptr[D] | None,
    beta_ptr: Ptr[D] | None, eps: f64 | float,
    size_0: i32 | int, size_1: i32 | int, size_2: i32 | int,
    source_0: i32 | int, source_1: i32 | int, source_2: i32 | int,
    window_0: i32 | int, window_1: i32 | int, window_2: i32 | int,
    stride_0: i32 | int, stride_1: i32 | int, stride_2: i32 | int,
    pad_0: i32 | int, pad_1: i32 | int, pad_2: i32 | int,
    gap_0: i32 | int, gap_1: i32 | int, gap_2: i32 | int,
    hop_0: i32 | int, hop_1: i32 | int, hop_2: i32 | int,
    x_stride_n: i64 | int, x_stride_c: i64 | int, x_stride_0: i64 | int,
    x_stride_1: i64 | int, x_stride_2: i64 | int,
    batch: i32 | int, groups: i32 | int, inner: i32 | int, outer: i32 | int,
    tiles_m: i32 | int,
    TURNED: Const[bool], SILU: Const[bool], WIDE: Const[bool], TAPWISE: Const[bool],
    ALIGNED: Const[bool], SIDE_BY_SIDE: Const[bool], PRECISION: Const[Any],
    BLOCK_M: Const[int], BLOCK_N: Const[int], BLOCK_K: Const[int],
) -> None:  # fmt: skip
    pid = tl.program_id(Axis.X)
    rest = pid // tl.cdiv(outer, BLOCK_N)
    group = (rest // tiles_m % groups).to(i64)
    kind = rest // tiles_m // groups
    rem_0, rem_1, rem_2 = kind // stride_2 // stride_1, kind // stride_2 % stride_1, kind % stride_2
    tap_0, count_0, base_0, step_0 = line(rem_0, window_0, stride_0, pad_0, gap_0, hop_0, TURNED)
    tap_1, count_1, base_1, step_1 = line(rem_1, window_1, stride_1, pad_1, gap_1, hop_1, TURNED)
    tap_2, count_2, base_2, step_2 = line(rem_2, window_2, stride_2, pad_2, gap_2, hop_2, TURNED)
    every_0, pace_0, side_0 = spaced(stride_0, size_0, TURNED)
    every_1, pace_1, side_1 = spaced(stride_1, size_1, TURNED)
    every_2, pace_2, side_2 = spaced(stride_2, size_2, TURNED)
    # Weights are (out, *window, in) of the convolution whose transposed form this may be.
    taps = window_0 * window_1 * window_2
    w_channel, w_tap, w_out = 1, inner, taps * inner
    if TURNED:
        w_channel, w_tap, w_out = taps * outer, outer, 1
    start = (rest % tiles_m).to(i64) * BLOCK_M
    rows = tl.arange(0, BLOCK_M)
    n, r_0, r_1, r_2 = places(start, rows, side_0, side_1, side_2, WIDE, False)
    p_0, p_1, p_2 = r_0 * every_0 + rem_0, r_1 * every_1 + rem_1, r_2 * every_2 + rem_2
    inside = (n < batch) & (p_0 < size_0) & (p_1 < size_1) & (p_2 < size_2)
    s_0, s_1, s_2 = r_0 * pace_0 + base_0, r_1 * pace_1 + base_1, r_2 * pace_2 + base_2
    x_row = n * x_stride_n + s_0 * x_stride_0 + s_1 * x_stride_1 + s_2 * x_stride_2
    x_row = eighths(narrow(x_row + group * inner * x_stride_c, WIDE), ALIGNED)
    outs = pid % tl.cdiv(outer, BLOCK_N) * BLOCK_N + tl.arange(0, BLOCK_N)
    w_ptrs = w_ptr + group * inner * outer * taps + outs.to(i64)[None, :] * w_out
    lanes = tl.arange(0, BLOCK_K)
    depth = inner * count_0 * count_1 * count_2
    chunk, a_0, a_1, a_2 = 0, 0, 0, 0
    acc = widen(tl.zeros((BLOCK_M, BLOCK_N), tl.elem(x_ptr)))
    if TAPWISE:
        depth = tl.cdiv(inner, BLOCK_K) * BLOCK_K * count_0 * count_1 * count_2
    for k in range(0, depth, BLOCK_K):
        c, j_0, j_1, j_2 = decoded(
            k + lanes, chunk + lanes, a_0, a_1, a_2, inner, count_1, count_2, TAPWISE
        )
        c, known = eighths(c, ALIGNED), k + lanes < depth
        if TAPWISE:
            known = c < inner
        if ALIGNED:
            known = tl.full((BLOCK_K,), True, i1)
        chunk, a_0, a_1, a_2 = advanced(chunk + BLOCK_K, a_0, a_1, a_2, inner, count_1, count_2)
        there = reached(s_0, j_0 * step_0, source_0, TAPWISE) & inside[:, None]
        there = there & reached(s_1, j_1 * step_1, source_1, TAPWISE)
        there = there & reached(s_2, j_2 * step_2, source_2, TAPWISE) & known[None, :]
        move = j_0 * step_0 * x_stride_0 + j_1 * step_1 * x_stride_1 + j_2 * step_2 * x_stride_2
        move = along(narrow(move, WIDE), c, x_stride_c, ALIGNED)
        x = tl.load(x_ptr + (x_row[:, None] + move[None, :]), there, 0.0)
        tap = (tap_0 + j_0 * hop_0) * window_1 + tap_1 + j_1 * hop_1
        w_at = (tap * window_2 + tap_2 + j_2 * hop_2) * w_tap + c * w_channel
        w = tl.load(w_ptrs + w_at[:, None], known[:, None] & (outs < outer)[None, :], 0.0)
        acc = tl.dot(x, w, acc, input_precision=PRECISION, out_dtype=acc.dtype)
    # Places lie side by side in the result: they go last, so that threads store neighbours.
    channel, ours = (group * outer + outs)[:, None], (outs < outer)[:, None]
    found = finished(
        tl.trans(acc), channel, ours, bias_ptr, mean_ptr, var_ptr, gamma_ptr, beta_ptr, eps, SILU
    )
    place = ((n.to(i64) * groups * outer * size_0 + p_0) * size_1 + p_1) * size_2 + p_2
    place = eight(place, SIDE_BY_SIDE)
    at = channel * (tl.cast(size_0, i64) * size_1 * size_2) + place[None, :]
    tl.store(out_ptr + at, found.to(tl.elem(out_ptr)), mask=inside[None, :] & ours)
