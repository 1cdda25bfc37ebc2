"""The backward of norms of (N, C, S) arrays whose sets are one tile: each is read once.

Sets, tiles and layouts as in channel_kernels.py. Sums by weight and bias are those of a set: they
are gradients where a set is all of a channel, and shares of them where it is one of a sample.
Grid: one program for each set.
"""

from __future__ import annotations

from typing import TypeVar

import teeny_triton as tl
from teeny_kernels.norm.channel_kernels import tile_of, total_of
from teeny_kernels.numerics import narrow, number, widen
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i32, i64

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)
E = TypeVar("E", bound=Float)


@kernel(
    dtypes=(f32, f16, bf16, f64),
    do_not_specialize=("n_units", "segments", "set_step", "segment_step", "groups"),
)
def whole_norm_backward(
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
    WIDE: Const[bool],
    EACH: Const[int],
    HEIGHT: Const[int],
    WIDTH: Const[int],
) -> None:
    side = narrow(n_units, WIDE) * UNIT
    own = tl.program_id(Axis.X).to(i64)
    base = own * set_step * side
    first = own % groups * set_step
    segment, at, mask = tile_of(0, segments, side, segment_step, HEIGHT, WIDTH)
    x = widen(tl.load(x_ptr + base + at, mask=mask, other=0.0))
    grad = widen(tl.load(grad_ptr + base + at, mask=mask, other=0.0))
    size = number(segments, x) * number(side, x)
    mean = total_of(x) / size
    x = tl.where(mask, x - mean, 0.0)
    var = total_of(x * x) / size
    rstd = 1.0 / tl.sqrt_rn(var + number(eps, x))
    tl.store(mean_ptr + own, mean.to(tl.elem(mean_ptr)))
    tl.store(var_ptr + own, var.to(tl.elem(var_ptr)))
    scale = rstd
    if w_ptr is not None:
        if EACH:
            known = segment < segments
            grad = grad * widen(tl.load(w_ptr + first + segment, mask=known, other=0.0))
        else:
            scale = rstd * tl.cast(tl.load(w_ptr + first), rstd.dtype)
    plain = total_of(grad)
    along = total_of(grad * x) * rstd
    if dw_ptr is not None:
        tl.store(dw_ptr + own, along.to(tl.elem(dw_ptr)))
    if db_ptr is not None:
        tl.store(db_ptr + own, plain.to(tl.elem(db_ptr)))
    dx = (grad - plain / size - x * rstd * (along / size)) * scale
    tl.store(dx_ptr + base + at, dx.to(tl.elem(dx_ptr)), mask=mask)
