"""Layouts for convolutions by shifted matrices: the padded source, and the transposed weight.

Grids: one program for each tile. Numbers are copied, never computed.
"""

from __future__ import annotations

from typing import TypeVar

import teeny_triton as tl
from teeny_kernels.convolution.kernels import narrowed, ratio
from teeny_kernels.convolution.shifted_kernels import counted
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, i32, i64

D = TypeVar("D", bound=Float)

DTYPES = (f32, f16, bf16)
LAID_PLAIN = (
    *(f"{name}_{axis}" for name in ("width", "source", "stride", "off") for axis in range(3)),
    *("batch", "x_stride_n", "x_stride_c", "x_stride_0", "x_stride_1"),
)


@kernel(dtypes=DTYPES, do_not_specialize=LAID_PLAIN)
def lay_padded(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    channels: i32 | int,
    width_0: i32 | int,
    width_1: i32 | int,
    width_2: i32 | int,
    source_0: i32 | int,
    source_1: i32 | int,
    source_2: i32 | int,
    stride_0: i32 | int,
    stride_1: i32 | int,
    stride_2: i32 | int,
    off_0: i32 | int,
    off_1: i32 | int,
    off_2: i32 | int,
    batch: i32 | int,
    x_stride_n: i64 | int,
    x_stride_c: i64 | int,
    x_stride_0: i64 | int,
    x_stride_1: i64 | int,
    x_stride_2: i64 | int,
    PHASED: Const[bool],
    WIDE: Const[bool],
    SIDE_BY_SIDE: Const[bool],
    CHANNELS_LAST: Const[bool],
    ROWS: Const[int],
    BLOCK_C: Const[int],
) -> None:
    """Source places with zeros around them, by channels; read in their order, stored by phases."""
    tiles = tl.cdiv(channels, BLOCK_C)
    pid = tl.program_id(Axis.X)
    start = pid // tiles * ROWS
    lanes = tl.arange(0, ROWS)
    c = pid % tiles * BLOCK_C + tl.arange(0, BLOCK_C)
    n, v_0, v_1, v_2 = counted(
        start, lanes, width_0 * stride_0, width_1 * stride_1, width_2 * stride_2
    )
    s_0, s_1, s_2 = v_0 - off_0, v_1 - off_1, v_2 - off_2
    there = (s_0 >= 0) & (s_0 < source_0) & (s_1 >= 0) & (s_1 < source_1)
    there = there & (s_2 >= 0) & (s_2 < source_2) & (n < batch)
    place = (
        n * narrowed(x_stride_n, WIDE) + s_0 * narrowed(x_stride_0, WIDE)
        + s_1 * narrowed(x_stride_1, WIDE) + s_2 * narrowed(x_stride_2, WIDE)
    )  # fmt: skip
    image = n
    if PHASED:
        u_0, u_1, u_2 = (
            ratio(v_0, stride_0, True), ratio(v_1, stride_1, True), ratio(v_2, stride_2, True)
        )  # fmt: skip
        f_0, f_1, f_2 = v_0 - u_0 * stride_0, v_1 - u_1 * stride_1, v_2 - u_2 * stride_2
        image = ((f_0 * stride_1 + f_1) * stride_2 + f_2) * batch + n
        v_0, v_1, v_2 = u_0, u_1, u_2
    row = ((image * width_0 + v_0) * width_1 + v_1) * width_2 + v_2
    at = row.to(i64)[:, None] * channels + c[None, :]
    stored = (n < batch)[:, None] & (c < channels)[None, :]
    if CHANNELS_LAST:
        x = tl.load(x_ptr + place[:, None] + c[None, :], there[:, None] & stored, 0.0)
        tl.store(out_ptr + at, x, mask=stored)
    else:
        if SIDE_BY_SIDE:
            place = tl.max_contiguous(place, 8)
        far = (c * narrowed(x_stride_c, WIDE))[:, None]
        x = tl.load(x_ptr + far + place[None, :], there[None, :] & (c < channels)[:, None], 0.0)
        tl.store(out_ptr + at, tl.trans(x), mask=stored)


TURNED_PLAIN = (
    *(f"{name}_{axis}" for name in ("window", "w_stride") for axis in range(3)),
    *("inner", "w_stride_out", "w_stride_in", "mixed"),
)


@kernel(dtypes=DTYPES, do_not_specialize=TURNED_PLAIN)
def turn_weight(
    out_ptr: Ptr[D],
    w_ptr: Ptr[D],
    inner: i32 | int,
    outer: i32 | int,
    window_0: i32 | int,
    window_1: i32 | int,
    window_2: i32 | int,
    w_stride_out: i64 | int,
    w_stride_in: i64 | int,
    w_stride_0: i64 | int,
    w_stride_1: i64 | int,
    w_stride_2: i64 | int,
    mixed: i32 | int,
    BLOCK: Const[int],
    BLOCK_C: Const[int],
) -> None:
    """A weight (groups outer, inner, *window) as (groups inner mixed, *taps, outer).

    The last axis is cut into taps of `mixed` elements, with zeros past its end. Grid: one program
    for each tile of what a group's channel holds by its channels.
    """
    taps = (window_2 + mixed - 1) // mixed
    held = inner * window_0 * window_1 * taps * mixed
    tiles, tiles_c = tl.cdiv(held, BLOCK), tl.cdiv(outer, BLOCK_C)
    pid = tl.program_id(Axis.X)
    group = pid // tiles_c // tiles
    at = pid // tiles_c % tiles * BLOCK + tl.arange(0, BLOCK)
    c = pid % tiles_c * BLOCK_C + tl.arange(0, BLOCK_C)
    k_2, line_of = at % (taps * mixed), at // (taps * mixed)
    k_1, layer_of = line_of % window_1, line_of // window_1
    k_0, i = layer_of % window_0, layer_of // window_0
    inside = (at < held)[:, None] & (c < outer)[None, :]
    offset = i * w_stride_in + k_0 * w_stride_0 + k_1 * w_stride_1 + k_2 * w_stride_2
    far = (group * outer + c).to(i64) * w_stride_out
    w = tl.load(w_ptr + offset[:, None] + far[None, :], inside & (k_2 < window_2)[:, None], 0.0)
    row = (group * inner + i).to(i64) * mixed + k_2 % mixed
    row = ((row * window_0 + k_0) * window_1 + k_1) * taps + k_2 // mixed
    tl.store(out_ptr + row[:, None] * outer + c[None, :], w, mask=inside)
