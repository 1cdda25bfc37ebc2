"""Kernels of norms of (N, C, S) arrays: sets of elements that are normalized together.

    y = (x - mean) / sqrt(var + eps) w_c + b_c

A set is a channel over N and S (batch norm), a channel of one sample (instance norm) or a group of
channels of one sample (group norm): `segments` of `side` adjacent elements, read by tiles of HEIGHT
of them by WIDTH. Variances are those of x less the mean of a set's first tile, so that a large mean
costs nothing; a set that is one tile (WHOLE) is read once. Grid: `set_norm_*` one program for each
set, `channel_gradients` one for each channel, `known_norm` one for each tile, `running_update` one
for each block of channels. All arrays are contiguous.
"""

from __future__ import annotations

from typing import Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import narrow, number, widen
from teeny_macros import device, kernel
from teeny_triton import R2, Axis, Const, Float, Ptr, Tensor, bf16, f16, f32, f64, i1, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)
E = TypeVar("E", bound=Float)

DTYPES = (f32, f16, bf16, f64)
# Their values are worth no other compilation.
PLAIN = ("n_units", "segments", "set_step", "segment_step", "groups")
PLAIN_SUMS = ("n_units", "segments", "channels", "set_step", "groups")
PLAIN_ROWS = ("n_units", "rows", "channels")


@device
def tile_of(
    t: i32 | int,
    segments: i32 | int,
    side: i32 | int,
    step: i64 | int,
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> tuple[Tensor[i32, R2], Tensor[i64, R2], Tensor[i1, R2]]:
    """The segments of tile `t`, the places of its elements, and which there are."""
    wide = tl.cdiv(side, WIDTH)
    segment = (t // wide * HEIGHT + tl.arange(0, HEIGHT))[:, None]
    lane = (t % wide * WIDTH + tl.arange(0, WIDTH))[None, :]
    at = segment.to(i64) * (step * side) + lane
    return segment, at, (segment < segments) & (lane < side)


@device
def total_of(x: Tensor[f32, R2]) -> f32:
    return tl.sum(tl.sum(x, axis=1), axis=0)


@device
def first_mean(
    x_ptr: Ptr[Any],
    segments: i32 | int,
    side: i32 | int,
    step: i64 | int,
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> f32:
    """The mean of the first tile of a set."""
    _, at, mask = tile_of(0, segments, side, step, HEIGHT, WIDTH)
    x = widen(tl.load(x_ptr + at, mask=mask, other=0.0))
    count = number(tl.minimum(segments, HEIGHT), x) * number(tl.minimum(side, WIDTH), x)
    return total_of(x) / count


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN)
def set_norm_backward(
    dx_ptr: Ptr[D],
    mean_ptr: Ptr[C],
    var_ptr: Ptr[C],
    dw_ptr: Ptr[E] | None,
    db_ptr: Ptr[E] | None,
    grad_ptr: Ptr[D],
    x_ptr: Ptr[D],
    w_ptr: Ptr[D] | None,
    n_units: i64 | int,
    segments: i32 | int,
    set_step: i64 | int,
    segment_step: i64 | int,
    groups: i64 | int,
    eps: f64 | float,
    UNIT: Const[int],
    EACH: Const[int],
    WIDE: Const[bool],
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> None:
    side: i32 = narrow(n_units, WIDE) * UNIT
    own = tl.program_id(Axis.X).to(i64)
    base = own * set_step * side
    first = own % groups * set_step
    tiles = tl.cdiv(segments, HEIGHT) * tl.cdiv(side, WIDTH)
    zeros = widen(tl.zeros((HEIGHT, WIDTH), tl.elem(x_ptr)))
    size = number(segments, zeros) * number(side, zeros)
    near = first_mean(x_ptr + base, segments, side, segment_step, HEIGHT, WIDTH)
    total = zeros
    squares = zeros
    plain = zeros
    along = zeros
    for t in tl.range(0, tiles, num_stages=3):
        segment, at, mask = tile_of(t, segments, side, segment_step, HEIGHT, WIDTH)
        x = widen(tl.load(x_ptr + base + at, mask=mask, other=0.0))
        grad = widen(tl.load(grad_ptr + base + at, mask=mask, other=0.0))
        if w_ptr is not None and EACH:
            known = segment < segments
            grad = grad * widen(tl.load(w_ptr + first + segment, mask=known, other=0.0))
        x = tl.where(mask, x - near, 0.0)
        total += x
        squares += x * x
        plain += grad
        along += grad * x
    off = total_of(total) / size
    mean = near + off
    var = tl.maximum(total_of(squares) / size - off * off, 0.0, propagate_nan=tl.PropagateNan.ALL)
    rstd = 1.0 / tl.sqrt_rn(var + number(eps, zeros))
    tl.store(mean_ptr + own, mean.to(tl.elem(mean_ptr)))
    tl.store(var_ptr + own, var.to(tl.elem(var_ptr)))
    plain_sum = total_of(plain)
    along_sum = (total_of(along) - off * plain_sum) * rstd
    if dw_ptr is not None:
        tl.store(dw_ptr + own, along_sum.to(tl.elem(dw_ptr)))
    if db_ptr is not None:
        tl.store(db_ptr + own, plain_sum.to(tl.elem(db_ptr)))
    scale = rstd
    if w_ptr is not None and not EACH:
        scale = rstd * tl.cast(tl.load(w_ptr + first), rstd.dtype)
    plain_mean = plain_sum / size
    along_mean = along_sum / size
    for back in range(tiles):
        segment, at, mask = tile_of(tiles - 1 - back, segments, side, segment_step, HEIGHT, WIDTH)
        x = widen(tl.load(x_ptr + base + at, mask=mask, other=0.0))
        grad = widen(tl.load(grad_ptr + base + at, mask=mask, other=0.0))
        if w_ptr is not None and EACH:
            known = segment < segments
            grad = grad * widen(tl.load(w_ptr + first + segment, mask=known, other=0.0))
        dx = (grad - plain_mean - (x - mean) * rstd * along_mean) * scale
        tl.store(dx_ptr + base + at, dx.to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN, backward=set_norm_backward)
def set_norm_forward(
    out_ptr: Ptr[D],
    mean_ptr: Ptr[C],
    var_ptr: Ptr[C],
    x_ptr: Ptr[D],
    w_ptr: Ptr[D] | None,
    b_ptr: Ptr[D] | None,
    n_units: i64 | int,
    segments: i32 | int,
    set_step: i64 | int,
    segment_step: i64 | int,
    groups: i64 | int,
    eps: f64 | float,
    UNIT: Const[int],
    EACH: Const[int],
    WHOLE: Const[bool],
    WIDE: Const[bool],
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> None:
    side: i32 = narrow(n_units, WIDE) * UNIT
    own = tl.program_id(Axis.X).to(i64)
    base = own * set_step * side
    first = own % groups * set_step
    zeros = widen(tl.zeros((HEIGHT, WIDTH), tl.elem(x_ptr)))
    size = number(segments, zeros) * number(side, zeros)
    tiles = tl.cdiv(segments, HEIGHT) * tl.cdiv(side, WIDTH)
    kept = zeros
    if WHOLE:
        _, at, mask = tile_of(0, segments, side, segment_step, HEIGHT, WIDTH)
        kept = widen(tl.load(x_ptr + base + at, mask=mask, other=0.0))
        mean = total_of(kept) / size
        apart = tl.where(mask, kept - mean, 0.0)
        var = total_of(apart * apart) / size
    else:
        near = first_mean(x_ptr + base, segments, side, segment_step, HEIGHT, WIDTH)
        total = zeros
        squares = zeros
        for t in tl.range(0, tiles, num_stages=3):
            _, at, mask = tile_of(t, segments, side, segment_step, HEIGHT, WIDTH)
            x = widen(tl.load(x_ptr + base + at, mask=mask, other=0.0))
            x = tl.where(mask, x - near, 0.0)
            total += x
            squares += x * x
        off = total_of(total) / size
        mean = near + off
        var = tl.maximum(
            total_of(squares) / size - off * off, 0.0, propagate_nan=tl.PropagateNan.ALL
        )
    rstd = 1.0 / tl.sqrt_rn(var + number(eps, zeros))
    tl.store(mean_ptr + own, mean.to(tl.elem(mean_ptr)))
    tl.store(var_ptr + own, var.to(tl.elem(var_ptr)))
    for back in range(1 if WHOLE else tiles):
        t = 0 if WHOLE else tiles - 1 - back
        segment, at, mask = tile_of(t, segments, side, segment_step, HEIGHT, WIDTH)
        known = segment < segments
        x = kept if WHOLE else widen(tl.load(x_ptr + base + at, mask=mask, other=0.0))
        y = (x - mean) * rstd
        if w_ptr is not None:
            y = y * widen(tl.load(w_ptr + first + segment * EACH, mask=known, other=0.0))
        if b_ptr is not None:
            y = y + widen(tl.load(b_ptr + first + segment * EACH, mask=known, other=0.0))
        tl.store(out_ptr + base + at, y.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN_SUMS)
def channel_gradients(
    dw_ptr: Ptr[D],
    db_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    x_ptr: Ptr[D],
    mean_ptr: Ptr[C],
    var_ptr: Ptr[C],
    n_units: i64 | int,
    segments: i32 | int,
    channels: i64 | int,
    set_step: i64 | int,
    groups: i64 | int,
    eps: f64 | float,
    UNIT: Const[int],
    WIDE: Const[bool],
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> None:
    side: i32 = narrow(n_units, WIDE) * UNIT
    channel = tl.program_id(Axis.X).to(i64)
    base = channel * side
    tiles = tl.cdiv(segments, HEIGHT) * tl.cdiv(side, WIDTH)
    zeros = widen(tl.zeros((HEIGHT, WIDTH), tl.elem(x_ptr)))
    dw = zeros
    db = zeros
    for t in tl.range(0, tiles, num_stages=3):
        segment, at, mask = tile_of(t, segments, side, channels, HEIGHT, WIDTH)
        which = segment * groups + channel // set_step
        known = segment < segments
        mean = tl.load(mean_ptr + which, mask=known, other=0.0).to(zeros.dtype)
        var = tl.load(var_ptr + which, mask=known, other=1.0).to(zeros.dtype)
        x = widen(tl.load(x_ptr + base + at, mask=mask, other=0.0))
        grad = widen(tl.load(grad_ptr + base + at, mask=mask, other=0.0))
        dw += grad * ((x - mean) * (1.0 / tl.sqrt_rn(var + number(eps, zeros))))
        db += grad
    tl.store(dw_ptr + channel, total_of(dw).to(tl.elem(dw_ptr)))
    tl.store(db_ptr + channel, total_of(db).to(tl.elem(db_ptr)))


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN_ROWS)
def known_norm(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    mean_ptr: Ptr[C] | None,
    var_ptr: Ptr[C],
    w_ptr: Ptr[D] | None,
    b_ptr: Ptr[D] | None,
    n_units: i64 | int,
    rows: i64 | int,
    channels: i64 | int,
    eps: f64 | float,
    UNIT: Const[int],
    WIDE: Const[bool],
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> None:
    side: i32 = narrow(n_units, WIDE) * UNIT
    wide = tl.cdiv(side, WIDTH)
    tile = tl.program_id(Axis.X)
    row = ((tile // wide).to(i64) * HEIGHT + tl.arange(0, HEIGHT))[:, None]
    lane = (tile % wide * WIDTH + tl.arange(0, WIDTH))[None, :]
    known = row < rows
    mask = known & (lane < side)
    at = row * side + lane
    channel = row % channels
    y = widen(tl.load(x_ptr + at, mask=mask, other=0.0))
    if mean_ptr is not None:
        y = y - tl.load(mean_ptr + channel, mask=known, other=0.0).to(y.dtype)
    var = tl.load(var_ptr + channel, mask=known, other=1.0).to(y.dtype)
    y = y * (1.0 / tl.sqrt_rn(var + number(eps, y)))
    if w_ptr is not None:
        y = y * widen(tl.load(w_ptr + channel, mask=known, other=0.0))
    if b_ptr is not None:
        y = y + widen(tl.load(b_ptr + channel, mask=known, other=0.0))
    tl.store(out_ptr + at, y.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=DTYPES)
def running_update(
    running_ptr: Ptr[D],
    found_ptr: Ptr[C],
    n_channels: i64 | int,
    momentum: f64 | float,
    scale: f64 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    i = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = i < n_channels
    found = tl.load(found_ptr + i, mask=mask)
    running = tl.load(running_ptr + i, mask=mask).to(found.dtype)
    share = tl.cast(momentum, found.dtype)
    running = running * (1.0 - share) + found * tl.cast(scale, found.dtype) * share
    tl.store(running_ptr + i, running.to(tl.elem(running_ptr)), mask=mask)
