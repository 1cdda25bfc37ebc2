"""Kernels of norms of (N, C, S) arrays: sets of elements that are normalized together.

    y = (x - mean) / sqrt(var + eps) w_c + b_c

A set is a channel over N and S (batch norm), a channel of one sample (instance norm) or a group of
channels of one sample (group norm). Element i of set q lies at
`q * set_stride + i // inner * outer + i % inner`. Grid: `set_norm_*` one program for each set,
which reads it three times, as the variance is that of x - mean; `channel_gradients` one for each
channel; `known_norm` one for each block of elements; `running_update` one for each block of
channels. All arrays are contiguous.
"""

from __future__ import annotations

from typing import TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import number, widen
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)

DTYPES = (f32, f16, bf16, f64)


@kernel(dtypes=DTYPES)
def set_norm_backward(
    dx_ptr: Ptr[D],
    mean_ptr: Ptr[C],
    var_ptr: Ptr[C],
    grad_ptr: Ptr[D],
    x_ptr: Ptr[D],
    w_ptr: Ptr[D] | None,
    count: i64 | int,
    set_stride: i64 | int,
    inner: i64 | int,
    outer: i64 | int,
    groups: i64 | int,
    per_group: i64 | int,
    side: i64 | int,
    eps: f64 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    own = tl.program_id(Axis.X).to(i64)
    lanes = tl.arange(0, BLOCK_SIZE)
    zeros = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
    total = zeros
    for start in range(0, count, BLOCK_SIZE):
        i = lanes.to(i64) + start
        at = own * set_stride + i // inner * outer + i % inner
        total += widen(tl.load(x_ptr + at, mask=i < count, other=0.0))
    size = number(count, zeros)
    mean = tl.sum(total, axis=0) / size
    total = zeros
    for start in range(0, count, BLOCK_SIZE):
        i = lanes.to(i64) + start
        at = own * set_stride + i // inner * outer + i % inner
        x = widen(tl.load(x_ptr + at, mask=i < count, other=0.0)) - mean
        total += tl.where(i < count, x * x, 0.0)
    var = tl.sum(total, axis=0) / size
    rstd = 1.0 / tl.sqrt_rn(var + number(eps, zeros))
    tl.store(mean_ptr + own, mean.to(tl.elem(mean_ptr)))
    tl.store(var_ptr + own, var.to(tl.elem(var_ptr)))
    plain = zeros
    along = zeros
    first = own % groups * per_group
    for start in range(0, count, BLOCK_SIZE):
        i = lanes.to(i64) + start
        at = own * set_stride + i // inner * outer + i % inner
        x = widen(tl.load(x_ptr + at, mask=i < count, other=0.0))
        grad = widen(tl.load(grad_ptr + at, mask=i < count, other=0.0))
        if w_ptr is not None:
            channel = first + i // side
            grad = grad * widen(tl.load(w_ptr + channel, mask=i < count, other=0.0))
        plain += grad
        along += grad * tl.where(i < count, (x - mean) * rstd, 0.0)
    plain_mean = tl.sum(plain, axis=0) / size
    along_mean = tl.sum(along, axis=0) / size
    for start in range(0, count, BLOCK_SIZE):
        i = lanes.to(i64) + start
        at = own * set_stride + i // inner * outer + i % inner
        x = widen(tl.load(x_ptr + at, mask=i < count, other=0.0))
        grad = widen(tl.load(grad_ptr + at, mask=i < count, other=0.0))
        if w_ptr is not None:
            channel = first + i // side
            grad = grad * widen(tl.load(w_ptr + channel, mask=i < count, other=0.0))
        dx = (grad - plain_mean - (x - mean) * rstd * along_mean) * rstd
        tl.store(dx_ptr + at, dx.to(tl.elem(dx_ptr)), mask=i < count)


@kernel(dtypes=DTYPES, backward=set_norm_backward)
def set_norm_forward(
    out_ptr: Ptr[D],
    mean_ptr: Ptr[C],
    var_ptr: Ptr[C],
    x_ptr: Ptr[D],
    w_ptr: Ptr[D] | None,
    b_ptr: Ptr[D] | None,
    count: i64 | int,
    set_stride: i64 | int,
    inner: i64 | int,
    outer: i64 | int,
    groups: i64 | int,
    per_group: i64 | int,
    side: i64 | int,
    eps: f64 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    own = tl.program_id(Axis.X).to(i64)
    lanes = tl.arange(0, BLOCK_SIZE)
    zeros = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
    total = zeros
    for start in range(0, count, BLOCK_SIZE):
        i = lanes.to(i64) + start
        at = own * set_stride + i // inner * outer + i % inner
        total += widen(tl.load(x_ptr + at, mask=i < count, other=0.0))
    size = number(count, zeros)
    mean = tl.sum(total, axis=0) / size
    total = zeros
    for start in range(0, count, BLOCK_SIZE):
        i = lanes.to(i64) + start
        at = own * set_stride + i // inner * outer + i % inner
        x = widen(tl.load(x_ptr + at, mask=i < count, other=0.0)) - mean
        total += tl.where(i < count, x * x, 0.0)
    var = tl.sum(total, axis=0) / size
    rstd = 1.0 / tl.sqrt_rn(var + number(eps, zeros))
    tl.store(mean_ptr + own, mean.to(tl.elem(mean_ptr)))
    tl.store(var_ptr + own, var.to(tl.elem(var_ptr)))
    first = own % groups * per_group
    for start in range(0, count, BLOCK_SIZE):
        i = lanes.to(i64) + start
        at = own * set_stride + i // inner * outer + i % inner
        channel = first + i // side
        y = (widen(tl.load(x_ptr + at, mask=i < count, other=0.0)) - mean) * rstd
        if w_ptr is not None:
            y = y * widen(tl.load(w_ptr + channel, mask=i < count, other=0.0))
        if b_ptr is not None:
            y = y + widen(tl.load(b_ptr + channel, mask=i < count, other=0.0))
        tl.store(out_ptr + at, y.to(tl.elem(out_ptr)), mask=i < count)


@kernel(dtypes=DTYPES)
def channel_gradients(
    dw_ptr: Ptr[D],
    db_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    x_ptr: Ptr[D],
    mean_ptr: Ptr[C],
    var_ptr: Ptr[C],
    count: i64 | int,
    channels: i64 | int,
    side: i64 | int,
    sets_per_sample: i64 | int,
    per_group: i64 | int,
    eps: f64 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    channel = tl.program_id(Axis.X).to(i64)
    lanes = tl.arange(0, BLOCK_SIZE)
    zeros = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
    dw = zeros
    db = zeros
    for start in range(0, count, BLOCK_SIZE):
        i = lanes.to(i64) + start
        sample = i // side
        at = (sample * channels + channel) * side + i % side
        which = sample * sets_per_sample + channel // per_group
        mean = tl.load(mean_ptr + which, mask=i < count, other=0.0).to(zeros.dtype)
        var = tl.load(var_ptr + which, mask=i < count, other=1.0).to(zeros.dtype)
        x = widen(tl.load(x_ptr + at, mask=i < count, other=0.0))
        grad = widen(tl.load(grad_ptr + at, mask=i < count, other=0.0))
        dw += grad * ((x - mean) * (1.0 / tl.sqrt_rn(var + number(eps, zeros))))
        db += grad
    tl.store(dw_ptr + channel, tl.sum(dw, axis=0).to(tl.elem(dw_ptr)))
    tl.store(db_ptr + channel, tl.sum(db, axis=0).to(tl.elem(db_ptr)))


@kernel(dtypes=DTYPES)
def known_norm(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    mean_ptr: Ptr[C] | None,
    var_ptr: Ptr[C],
    w_ptr: Ptr[D] | None,
    b_ptr: Ptr[D] | None,
    n_elements: i64 | int,
    channels: i64 | int,
    side: i64 | int,
    eps: f64 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    i = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = i < n_elements
    channel = i // side % channels
    y = widen(tl.load(x_ptr + i, mask=mask, other=0.0))
    if mean_ptr is not None:
        y = y - tl.load(mean_ptr + channel, mask=mask, other=0.0).to(y.dtype)
    var = tl.load(var_ptr + channel, mask=mask, other=1.0).to(y.dtype)
    y = y * (1.0 / tl.sqrt_rn(var + number(eps, y)))
    if w_ptr is not None:
        y = y * widen(tl.load(w_ptr + channel, mask=mask, other=0.0))
    if b_ptr is not None:
        y = y + widen(tl.load(b_ptr + channel, mask=mask, other=0.0))
    tl.store(out_ptr + i, y.to(tl.elem(out_ptr)), mask=mask)


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
