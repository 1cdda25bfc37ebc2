"""Convolutions as sums of products of shifted matrices, whose tiles a GPU moves by descriptors.

    out[q, o] = sum over taps t, channels c of laid[q + shift(t), c] w[o, t, c]

`laid` is the source with channels side by side and with its padding, its places counted as rows q
over (phase, sample, three axes): a tap meets all places at one distance, so that each tile of the
sum is a plain piece of a matrix. Rows past the end of an axis are computed and not stored. A source
place belongs to the phase of its remainder over the stride; in the transposed form there is one
phase, and results fall into classes by theirs (see kernels.py); on the last axis MIXED classes may
be columns of one product, channel by channel, which stores their results side by side. Grid: one
program for each tile, tiles of columns first, then rows, groups and classes. Sums in f32.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.convolution.kernels import finished, line, ratio
from teeny_macros import device, kernel
from teeny_triton import (
    R2,
    Axis,
    Const,
    Float,
    Ptr,
    TensorDescriptor,
    bf16,
    f16,
    f32,
    f64,
    i32,
    i64,
)

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)

DTYPES = (f32, f16, bf16)
AXES = tuple(
    f"{name}_{axis}"
    for name in ("size", "width", "window", "stride", "pad", "gap", "hop", "off")
    for axis in range(3)
)


@device
def counted(start: i32 | int, lanes: Any, side_0: Any, side_1: Any, side_2: Any) -> Any:
    """Rows `start` + lanes as (what three axes repeat for, the place on each of them).

    Only `start` is divided as an integer; sides are below 2^19.
    """
    line_of = start // side_2
    layer_of = line_of // side_1
    index = start % side_2 + lanes
    more = ratio(index, side_2, True)
    at_2 = index - more * side_2
    index = line_of % side_1 + more
    more = ratio(index, side_1, True)
    at_1 = index - more * side_1
    index = layer_of % side_0 + more
    more = ratio(index, side_0, True)
    return layer_of // side_0 + more, index - more * side_0, at_1, at_2


@device
def walk(
    step: Any, base: Any, gap: Any, stride: Any, rows: Any, phase_rows: Any, TURNED: bool
) -> tuple[Any, Any, Any, Any]:
    """An axis: rows to its first tap, to the next one, phases to it, and rows at their end."""
    if TURNED:
        return base * rows, step * rows, 0, 0
    by = gap // stride * rows + gap % stride * phase_rows
    return 0, by, gap % stride, rows - stride * phase_rows


@device
def results_of(
    start: Any, lanes: Any, width_0: Any, width_1: Any, width_2: Any, every_0: Any, every_1: Any,
    every_2: Any, rem_0: Any, rem_1: Any, rem_2: Any, size_0: Any, size_1: Any, size_2: Any,
    batch: Any, channels: Any, before: Any, WIDE: bool, SIDE_BY_SIDE: bool, ALIGNED: bool,
    MIXED: int,
) -> tuple[Any, Any]:  # fmt: skip
    """Where MIXED results of each row lie, but for the channel, and whether they do."""
    n, r_0, r_1, r_2 = counted(start, lanes // MIXED, width_0, width_1, width_2)
    p_0, p_1, p_2 = r_0 * every_0 + rem_0, r_1 * every_1 + rem_1, r_2 * every_2 + rem_2
    p_2 = p_2 * MIXED + lanes % MIXED - before
    inside = (n < batch) & (p_0 < size_0) & (p_1 < size_1) & (p_2 >= 0) & (p_2 < size_2)
    if WIDE:
        n = n.to(i64)
    place = ((n * channels * size_0 + p_0) * size_1 + p_1) * size_2 + p_2
    if SIDE_BY_SIDE:
        # Lines are of a multiple of eight rows, so that threads go along the places.
        place = tl.max_contiguous(place, 8 * MIXED)
    if ALIGNED:
        place, inside = tl.multiple_of(place, 8), tl.max_constancy(inside, 8)
    return place, inside


@device
def next_tap(
    go: Any, j: Any, count: Any, phase: Any, place: Any, tap: Any, first: Any, by_tap: Any,
    by_phase: Any, carry: Any, stride: Any, tap_step: Any, PHASED: bool,
) -> tuple[Any, Any, Any, Any, Any]:  # fmt: skip
    """If `go`: the next tap of an axis, and whether it begins anew; its phase, rows and column."""
    j = tl.where(go, j + 1, j)
    place = tl.where(go, place + by_tap, place)
    tap = tl.where(go, tap + tap_step, tap)
    if PHASED:
        phase = tl.where(go, phase + by_phase, phase)
        over = phase >= stride
        phase = tl.where(over, phase - stride, phase)
        place = tl.where(over, place + carry, place)
    over = j == count
    if PHASED:
        phase = tl.where(over, 0, phase)
    tap = tl.where(over, tap - count * tap_step, tap)
    return over, tl.where(over, 0, j), phase, tl.where(over, first, place), tap


@device
def planes(channel: Any, size: Any, WIDE: bool, ALIGNED: bool) -> Any:
    """Where the places of channels begin."""
    begin = (channel.to(i64) if WIDE else channel) * size
    return tl.multiple_of(begin, 8) if ALIGNED else begin


@device
def unmixed(acc: Any, MIXED: int, BLOCK_M: int, BLOCK_N: int) -> Any:
    """Columns by rows as channels by places: classes of a row side by side."""
    if MIXED == 1:
        return acc
    apart = tl.reshape(acc, (BLOCK_N // MIXED, MIXED, BLOCK_M))
    return tl.reshape(tl.permute(apart, (0, 2, 1)), (BLOCK_N // MIXED, BLOCK_M * MIXED))


NUMBERS = (*AXES, "batch", "groups", "before", "tiles_m", "eps")


@kernel(dtypes=DTYPES, do_not_specialize=NUMBERS)
def convolve_shifted(
    out_ptr: Ptr[D], x: TensorDescriptor[D, R2], w: TensorDescriptor[D, R2],
    bias_ptr: Ptr[D] | None, mean_ptr: Ptr[C] | None, var_ptr: Ptr[C] | None,
    gamma_ptr: Ptr[D] | None, beta_ptr: Ptr[D] | None, eps: f64 | float,
    size_0: i32 | int, size_1: i32 | int, size_2: i32 | int,
    width_0: i32 | int, width_1: i32 | int, width_2: i32 | int,
    window_0: i32 | int, window_1: i32 | int, window_2: i32 | int,
    stride_0: i32 | int, stride_1: i32 | int, stride_2: i32 | int,
    pad_0: i32 | int, pad_1: i32 | int, pad_2: i32 | int,
    gap_0: i32 | int, gap_1: i32 | int, gap_2: i32 | int,
    hop_0: i32 | int, hop_1: i32 | int, hop_2: i32 | int,
    off_0: i32 | int, off_1: i32 | int, off_2: i32 | int,
    batch: i32 | int, groups: i32 | int, inner: i32 | int, outer: i32 | int,
    before: i32 | int, tiles_m: i32 | int, TURNED: Const[bool], SILU: Const[bool],
    WIDE: Const[bool], PHASED: Const[bool], SIDE_BY_SIDE: Const[bool], ALIGNED: Const[bool],
    MIXED: Const[int], PRECISION: Const[Any],
    BLOCK_M: Const[int], BLOCK_N: Const[int], BLOCK_K: Const[int],
) -> None:  # fmt: skip
    pid = tl.program_id(Axis.X)
    tiles_n = tl.cdiv(outer, BLOCK_N)
    rest = pid // tiles_n
    group = rest // tiles_m % groups
    kind = rest // tiles_m // groups
    rem_0, rem_1, rem_2 = kind // stride_2 // stride_1, kind // stride_2 % stride_1, kind % stride_2
    first_0, count_0, base_0, step_0 = line(rem_0, window_0, stride_0, pad_0, gap_0, hop_0, TURNED)
    first_1, count_1, base_1, step_1 = line(rem_1, window_1, stride_1, pad_1, gap_1, hop_1, TURNED)
    first_2, count_2, base_2, step_2 = line(rem_2, window_2, stride_2, pad_2, gap_2, hop_2, TURNED)
    every_0, every_1, every_2 = (stride_0, stride_1, stride_2) if TURNED else (1, 1, 1)
    start = rest % tiles_m * BLOCK_M
    column = pid % tiles_n * BLOCK_N
    layer = width_1 * width_2
    phase_2 = batch * width_0 * layer
    phase_1 = phase_2 * stride_2
    phase_0 = phase_1 * stride_1
    to_0, by_0, turn_0, carry_0 = walk(
        step_0, base_0 + off_0, gap_0, stride_0, layer, phase_0, TURNED
    )
    to_1, by_1, turn_1, carry_1 = walk(
        step_1, base_1 + off_1, gap_1, stride_1, width_2, phase_1, TURNED
    )
    to_2, by_2, turn_2, carry_2 = walk(step_2, base_2 + off_2, gap_2, stride_2, 1, phase_2, TURNED)
    # Columns of the weight between taps of each axis.
    tap_2 = inner * hop_2
    tap_1 = inner * window_2 * hop_1
    tap_0 = inner * window_2 * window_1 * hop_0
    k: Any = tl.cast(0, i32)
    tap = inner * ((first_0 * window_1 + first_1) * window_2 + first_2)
    j_0, j_1, j_2, f_0, f_1, f_2 = k, k, k, k, k, k
    at_0, at_1, at_2 = to_0 + k, to_1 + k, to_2 + k
    acc = tl.zeros((BLOCK_M, BLOCK_N), f32)
    for _ in range(count_0 * count_1 * count_2 * (inner // BLOCK_K)):
        a: Any = x.load((start + at_0 + at_1 + at_2, group * inner + k))
        b: Any = w.load((group * outer + column, tap + k))
        acc = tl.dot(a, tl.trans(b), acc, input_precision=PRECISION)
        k += BLOCK_K
        go: Any = k == inner
        k = tl.where(go, 0, k)
        go, j_2, f_2, at_2, tap = next_tap(
            go, j_2, count_2, f_2, at_2, tap, to_2, by_2, turn_2, carry_2, stride_2, tap_2, PHASED
        )  # fmt: skip
        go, j_1, f_1, at_1, tap = next_tap(
            go, j_1, count_1, f_1, at_1, tap, to_1, by_1, turn_1, carry_1, stride_1, tap_1, PHASED
        )  # fmt: skip
        go, j_0, f_0, at_0, tap = next_tap(
            go, j_0, count_0, f_0, at_0, tap, to_0, by_0, turn_0, carry_0, stride_0, tap_0, PHASED
        )  # fmt: skip
    place, inside = results_of(
        start, tl.arange(0, BLOCK_M * MIXED), width_0, width_1, width_2, every_0, every_1, every_2,
        rem_0, rem_1, rem_2, size_0, size_1, size_2, batch, groups * (outer // MIXED), before, WIDE,
        SIDE_BY_SIDE, ALIGNED, MIXED,
    )  # fmt: skip
    # Places lie side by side in the result: they go last, so that threads store neighbours.
    acc = unmixed(tl.trans(acc), MIXED, BLOCK_M, BLOCK_N)
    outs = column // MIXED + tl.arange(0, BLOCK_N // MIXED)
    channel, ours = group * (outer // MIXED) + outs, (outs < outer // MIXED)[:, None]
    found = finished(
        acc, channel[:, None], ours, bias_ptr, mean_ptr, var_ptr, gamma_ptr, beta_ptr, eps, SILU
    )
    at = planes(channel, size_0 * size_1 * size_2, WIDE, ALIGNED)[:, None] + place[None, :]
    tl.store(out_ptr + at, found.to(tl.elem(out_ptr)), mask=inside[None, :] & ours)
