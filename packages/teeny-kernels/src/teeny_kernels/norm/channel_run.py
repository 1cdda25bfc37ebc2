"""Calls of the norms of (N, C, *spatial) arrays: shapes checked, sets laid out, gradients added."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_kernels.arrays import empty, finish, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, copy, require_dtype
from teeny_kernels.norm.channel_kernels import (
    channel_gradients,
    known_norm,
    running_update,
    set_norm_backward,
    set_norm_forward,
)
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from teeny_kernels.arrays import Operand

BLOCK_SIZE = 1024


class Sets(NamedTuple):
    """How the elements of an array of `channels` fall into sets; see channel_kernels.py."""

    sets: int
    size: int
    set_stride: int
    inner: int
    outer: int
    groups: int
    per_group: int
    side: int
    weight_side: int  # by which a place in a set gives its channel
    per_sample: int  # sets that a sample has of its own: 0 where samples share them
    channels: int
    samples: int


def sets_of(operation: str, x: Operand, groups: int | None) -> Sets:
    """The sets of a norm over `groups` of channels of a sample; None for those of batch norm.

    `groups` 0 makes each channel its own. Raises E1202 for arrays without channels, E1204 when the
    groups do not divide the channels.
    """
    if x.ndim < 2:
        what = f"`x` {x.shape} has no channels"
        raise E1202.error(operation=operation, what=what).help("give an array (N, C, ...)")
    samples, channels, side = x.shape[0], x.shape[1], prod(x.shape[2:])
    if groups is None:
        whole = max(1, samples * side)
        return Sets(channels, samples * side, side, max(1, side), channels * side, max(1, channels),
                    1, max(1, side), whole, 0, channels, samples)  # fmt: skip
    groups = groups or channels
    if groups < 0 or (channels and channels % groups):
        raise E1204.error(operation=operation, name="num_groups", found=f"{groups}").help(
            f"it has to divide the {channels} channels"
        )
    per = channels // groups if groups else 1
    count = per * side
    return Sets(samples * groups, count, count, max(1, count), 0, max(1, groups), max(1, per),
                max(1, side), max(1, side), groups, channels, samples)  # fmt: skip


def channel_array(
    operation: str, x: Operand, name: str, value: Any, dtypes: tuple[str, ...]
) -> Operand | None:
    """One number for each channel, contiguous; None stays None. Raises E1202, E1203, E1206."""
    if value is None:
        return None
    own = operand(name, value)
    same_place(operation, [("x", x), (name, own)])
    require_dtype(operation, name, own, dtypes)
    if own.shape != x.shape[1:2]:
        what = f"`{name}` {own.shape}, and `x` {x.shape} has {x.shape[1]} channels"
        raise E1202.error(operation=operation, what=what).help("give one number for each channel")
    return contiguous(operation, own)


def exact_dtype(x: Operand) -> str:
    """The dtype that statistics are kept in."""
    return "f64" if x.dtype == "f64" else "f32"


def forward(
    operation: str, x: Any, groups: int | None, weight: Any, bias: Any, eps: float, out: Any
) -> tuple[Any, Operand, Operand, Sets]:
    """The norm of `x` with its own statistics, and these: mean and variance of each set."""
    source = operand("x", x)
    require_dtype(operation, "x", source, FLOATS)
    sets = sets_of(operation, source, groups)
    w = channel_array(operation, source, "weight", weight, (source.dtype,))
    b = channel_array(operation, source, "bias", bias, (source.dtype,))
    result = Output(operation, source, source.shape, out=out)
    mean, var = (empty(source, (sets.sets,), exact_dtype(source)) for _ in range(2))
    if source.size:
        launch: Any = set_norm_forward[sets.sets]
        launch(
            result.operand.array,
            mean.array,
            var.array,
            contiguous(operation, source).array,
            _array(w),
            _array(b),
            *sets[1:7],
            sets.weight_side,
            eps,
            BLOCK_SIZE=BLOCK_SIZE,
        )
    return result.finish(), mean, var, sets


def known(
    operation: str, x: Operand, mean: Any, var: Any, weight: Any, bias: Any, eps: float, out: Any
) -> Any:
    """(x - mean) / sqrt(var + eps) weight + bias with statistics that are given by channel."""
    sets = sets_of(operation, x, None)
    arrays = [
        channel_array(operation, x, "running_mean", mean, FLOATS),
        channel_array(operation, x, "running_var", var, FLOATS),
        channel_array(operation, x, "weight", weight, (x.dtype,)),
        channel_array(operation, x, "bias", bias, (x.dtype,)),
    ]
    result = Output(operation, x, x.shape, out=out)
    launch: Any = known_norm[-(-x.size // BLOCK_SIZE)]
    launch(
        result.operand.array,
        contiguous(operation, x).array,
        *map(_array, arrays),
        x.size,
        sets.channels,
        sets.side,
        eps,
        BLOCK_SIZE=BLOCK_SIZE,
    )
    return result.finish()


def backward(
    operation: str,
    grad: Any,
    x: Any,
    groups: int | None,
    weight: Any,
    eps: float,
    statistics: tuple[Any, Any] | None = None,
) -> tuple[Any, Any, Any]:
    """The gradients by x, weight and bias; with `statistics` x moves no mean and no variance."""
    source, upstream = operand("x", x), operand("grad", grad)
    require_dtype(operation, "x", source, FLOATS)
    same_place(operation, [("x", source), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (source.dtype,))
    if upstream.shape != source.shape:
        what = f"`grad` {upstream.shape}, `x` {source.shape}"
        raise E1202.error(operation=operation, what=what).help("give arrays of one shape")
    sets = sets_of(operation, source, groups)
    ready, up = contiguous(operation, source), contiguous(operation, upstream)
    w = channel_array(operation, source, "weight", weight, (source.dtype,))
    if statistics is None:
        dx, mean, var = _own_backward(operation, ready, up, w, sets, eps)
    else:
        mean, var = (
            channel_array(operation, source, name, value, FLOATS)
            for name, value in zip(("running_mean", "running_var"), statistics, strict=True)
        )
        dx = known(operation, upstream, None, statistics[1], weight, None, eps, None)
    dw, db = (empty(source, (sets.channels,)) for _ in range(2))
    channel_gradients[sets.channels](
        dw.array,
        db.array,
        up.array,
        ready.array,
        _array(mean),
        _array(var),
        sets.samples * prod(source.shape[2:]),
        sets.channels,
        sets.side,
        sets.per_sample,
        sets.per_group,
        eps,
        BLOCK_SIZE=BLOCK_SIZE,
    )
    return dx, None if w is None else finish(dw), finish(db)


def _own_backward(
    operation: str, x: Operand, grad: Operand, w: Operand | None, sets: Sets, eps: float
) -> tuple[Any, Operand, Operand]:
    result = Output(operation, x, x.shape)
    mean, var = (empty(x, (sets.sets,), exact_dtype(x)) for _ in range(2))
    if x.size:
        set_norm_backward[sets.sets](
            result.operand.array,
            mean.array,
            var.array,
            grad.array,
            x.array,
            _array(w),
            *sets[1:7],
            sets.weight_side,
            eps,
            BLOCK_SIZE=BLOCK_SIZE,
        )
    return result.finish(), mean, var


def move_running(
    operation: str, x: Operand, name: str, running: Any, found: Operand, share: float, scale: float
) -> None:
    """Move `running` toward `scale` times what was `found`, by `share`. Raises E1202-E1206."""
    own = operand(name, running)
    ready = channel_array(operation, x, name, running, FLOATS)
    assert ready is not None
    if own.library == "jax":
        raise E1204.error(operation=operation, name=name, found="a JAX array").help(
            "JAX arrays do not change; pass None and keep the statistics yourself"
        )
    n = own.size
    running_update[-(-n // BLOCK_SIZE)](
        ready.array, found.array, n, share, scale, BLOCK_SIZE=BLOCK_SIZE
    )
    if not own.is_contiguous:
        copy(operation, own, ready)


def _array(given: Operand | None) -> Any:
    return None if given is None else given.array
