"""Convolutions as sums of products of shifted matrices, whose tiles a GPU moves by descriptors.

    out[q, o] = sum over taps t, channels c of laid[q + shift(t), c] w[o, t, c]

`laid` is the source with channels side by side and with its padding, its places counted as rows q
over (phase, sample, three axes): a tap meets all places at one distance, so that each tile of the
sum is a plain piece of a matrix. Rows past the end of an axis are computed and not stored. A source
place belongs to the phase of its remainder over the stride; in the transposed form there is one
phase, and results fall into classes by theirs (see kernels.py). Grid of `convolve_shifted`: one
program for each tile, tiles of columns first, then rows, groups and classes; of `lay_padded`: one
for each tile of `laid`. Sums in f32.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.convolution.kernels import finished, line
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
def moved(
    j: Any, first: Any, base: Any, step: Any, hop: Any, stride: Any, gap: Any, off: Any,
    TURNED: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The tap that is the `j`th of an axis, the phase that it meets, and how far away."""
    if TURNED:
        return first + j * hop, 0, base + j * step + off
    return j, j * gap % stride, j * gap // stride


@kernel(dtypes=DTYPES, do_not_specialize=(*AXES, "batch", "groups", "tiles_m", "eps"))
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
    tiles_m: i32 | int, TURNED: Const[bool], SILU: Const[bool], WIDE: Const[bool],
    PRECISION: Const[Any],
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
    every_0, every_1, every_2 = 1, 1, 1
    if TURNED:
        every_0, every_1, every_2 = stride_0, stride_1, stride_2
    start = rest % tiles_m * BLOCK_M
    column = pid % tiles_n * BLOCK_N
    phase_rows = batch * width_0 * width_1 * width_2
    blocks = inner // BLOCK_K
    acc = tl.zeros((BLOCK_M, BLOCK_N), f32)
    for step in range(count_0 * count_1 * count_2 * blocks):
        k = step % blocks * BLOCK_K
        t = step // blocks
        j_2, j_1, j_0 = t % count_2, t // count_2 % count_1, t // count_2 // count_1
        t_0, f_0, m_0 = moved(j_0, first_0, base_0, step_0, hop_0, stride_0, gap_0, off_0, TURNED)
        t_1, f_1, m_1 = moved(j_1, first_1, base_1, step_1, hop_1, stride_1, gap_1, off_1, TURNED)
        t_2, f_2, m_2 = moved(j_2, first_2, base_2, step_2, hop_2, stride_2, gap_2, off_2, TURNED)
        phase = (f_0 * stride_1 + f_1) * stride_2 + f_2
        row = start + phase * phase_rows + (m_0 * width_1 + m_1) * width_2 + m_2
        tap = (t_0 * window_1 + t_1) * window_2 + t_2
        a = x.load((row, group * inner + k))
        b = w.load((group * outer + column, tap * inner + k))
        acc = tl.dot(a, tl.trans(b), acc, input_precision=PRECISION)
    rows = start + tl.arange(0, BLOCK_M)
    r_2 = rows % width_2
    r_1 = rows // width_2 % width_1
    layer = rows // width_2 // width_1
    r_0, n = layer % width_0, layer // width_0
    p_0, p_1, p_2 = r_0 * every_0 + rem_0, r_1 * every_1 + rem_1, r_2 * every_2 + rem_2
    inside = (n < batch) & (p_0 < size_0) & (p_1 < size_1) & (p_2 < size_2)
    # Places lie side by side in the result: they go last, so that threads store neighbours.
    outs = column + tl.arange(0, BLOCK_N)
    channel, ours = (group * outer + outs)[:, None], (outs < outer)[:, None]
    found = finished(
        tl.trans(acc), channel, ours, bias_ptr, mean_ptr, var_ptr, gamma_ptr, beta_ptr, eps, SILU
    )
    places = ((n * groups * outer * size_0 + p_0) * size_1 + p_1) * size_2 + p_2
    if WIDE:
        places = ((n.to(i64) * groups * outer * size_0 + p_0) * size_1 + p_1) * size_2 + p_2
        channel = channel.to(i64)
    at = channel * (size_0 * size_1 * size_2) + places[None, :]
    tl.store(out_ptr + at, found.to(tl.elem(out_ptr)), mask=inside[None, :] & ours)


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
    rows: i32 | int,
    CHANNELS_LAST: Const[bool],
    ROWS: Const[int],
    BLOCK_C: Const[int],
) -> None:
    """Source places (phase, sample, three axes) with zeros around them, by channels."""
    tiles = tl.cdiv(channels, BLOCK_C)
    pid = tl.program_id(Axis.X)
    row = pid // tiles * ROWS + tl.arange(0, ROWS)
    c = pid % tiles * BLOCK_C + tl.arange(0, BLOCK_C)
    u_2 = row % width_2
    u_1 = row // width_2 % width_1
    layer = row // width_2 // width_1
    u_0, image = layer % width_0, layer // width_0
    n, phase = image % batch, image // batch
    f_0, f_1, f_2 = phase // stride_2 // stride_1, phase // stride_2 % stride_1, phase % stride_2
    s_0, s_1, s_2 = (
        u_0 * stride_0 + f_0 - off_0, u_1 * stride_1 + f_1 - off_1, u_2 * stride_2 + f_2 - off_2
    )  # fmt: skip
    there = (row < rows) & (s_0 >= 0) & (s_0 < source_0) & (s_1 >= 0) & (s_1 < source_1)
    there = there & (s_2 >= 0) & (s_2 < source_2)
    place = n * x_stride_n + s_0 * x_stride_0 + s_1 * x_stride_1 + s_2 * x_stride_2
    at = row.to(i64)[:, None] * channels + c[None, :]
    stored = (row < rows)[:, None] & (c < channels)[None, :]
    if CHANNELS_LAST:
        x = tl.load(x_ptr + place[:, None] + c[None, :], there[:, None] & stored, 0.0)
        tl.store(out_ptr + at, x, mask=stored)
    else:
        far = (c.to(i64) * x_stride_c)[:, None]
        x = tl.load(x_ptr + far + place[None, :], there[None, :] & (c < channels)[:, None], 0.0)
        tl.store(out_ptr + at, tl.trans(x), mask=stored)
