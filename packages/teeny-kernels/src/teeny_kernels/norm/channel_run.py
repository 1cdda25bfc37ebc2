"""Calls of the norms of (N, C, *spatial) arrays: shapes checked, sets laid out, gradients added."""

from __future__ import annotations

from math import gcd, prod
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_kernels.arrays import ITEMSIZES, empty, finish, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, copy, require_dtype
from teeny_kernels.norm.channel_kernels import (
    channel_gradients,
    known_norm,
    running_update,
    set_norm_backward,
    set_norm_forward,
)
from teeny_kernels.norm.whole_kernels import whole_norm_backward
from teeny_kernels.reduce.kernels import reduce_into
from teeny_kernels.reduce.sums import SUM
from teeny_kernels.rows import is_wide
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from teeny_kernels.arrays import Operand

BLOCK_SIZE = 1024
WHOLE_ELEMENTS = 4096  # that 4 warps hold in registers
WIDTHS = (16, 64, 256, 1024, 4096)


class Sets(NamedTuple):
    """How the elements of an array of `channels` fall into sets; see channel_kernels.py."""

    sets: int
    segments: int
    side: int
    set_step: int  # between sets, in sides
    segment_step: int  # between segments of a set, in sides
    groups: int  # sets that have channels of their own
    each: bool  # whether each segment is a channel
    channels: int
    samples: int


class Tile(NamedTuple):
    """How a program reads segments: the sides of its tiles, its warps, the units of a segment."""

    height: int
    width: int
    warps: int
    unit: int
    wide: bool

    @property
    def constants(self) -> dict[str, Any]:
        """What kernels take, by the names that they give it."""
        sides = {"HEIGHT": self.height, "WIDTH": self.width}
        return {"UNIT": self.unit, "WIDE": self.wide, **sides}


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
        return Sets(channels, samples, side, 1, channels, max(1, channels), False, channels,
                    samples)  # fmt: skip
    groups = groups or channels
    if groups < 0 or (channels and channels % groups):
        raise E1204.error(operation=operation, name="num_groups", found=f"{groups}").help(
            f"it has to divide the {channels} channels"
        )
    per = channels // groups if groups else 1
    return Sets(samples * groups, per, side, max(1, per), 1, max(1, groups), True, channels,
                samples)  # fmt: skip


def tile_of(
    segments: int, side: int, itemsize: int, *, whole: bool = False, least: int = 0
) -> Tile:
    """The widest tile of 8 KB, of few shapes to compile, that reads little beside the segments.

    16 bytes for each thread, so that two programs of 16 warps fit; where nothing but one tile is
    read (`whole`) a quarter of the threads. `least` is how many elements it has at least.
    """
    size = max((8 << 10) // itemsize, least)

    def waste(width: int) -> float:
        height = size // width
        return -(-segments // height) * height * (-(-side // width)) * width

    widths = [own for own in WIDTHS if own <= size]
    width = max(own for own in widths if waste(own) <= 1.07 * min(map(waste, widths)))
    unit = gcd(side, 8) if side >= 128 else 1
    return Tile(size // width, width, 4 if whole else 16, unit, is_wide(side))


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
        itemsize = ITEMSIZES[source.dtype]
        tile = tile_of(sets.segments, sets.side, itemsize, whole=True, least=WHOLE_ELEMENTS)
        whole = sets.segments <= tile.height and sets.side <= tile.width
        if not whole:
            tile = tile_of(sets.segments, sets.side, itemsize)
        launch: Any = set_norm_forward.options(num_warps=tile.warps)[sets.sets]
        launch(
            result.operand.array,
            mean.array,
            var.array,
            contiguous(operation, source).array,
            _array(w),
            _array(b),
            *(sets.side // tile.unit, *_laid(sets), eps),
            EACH=int(sets.each),
            WHOLE=whole,
            **tile.constants,
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
    rows = sets.samples * sets.channels
    tile = tile_of(rows, sets.side, ITEMSIZES[x.dtype], whole=True)
    launch: Any = known_norm.options(num_warps=tile.warps)[
        -(-rows // tile.height) * -(-sets.side // tile.width)
    ]
    launch(
        result.operand.array,
        contiguous(operation, x).array,
        *map(_array, arrays),
        *(sets.side // tile.unit, rows, sets.channels, eps),
        **tile.constants,
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
    dw, db = (empty(source, (sets.channels,)) for _ in range(2))
    apart = not sets.each or sets.segments == 1  # a set belongs to one channel
    if statistics is None:
        sums = sums_of(source, sets, dw, db) if apart and source.size else None
        dx, mean, var = _own_backward(operation, ready, up, w, sets, eps, sums)
        if sums is not None and sums[0] is not dw:
            for target, shares in zip((dw, db), sums, strict=True):
                reduce_into(operation, SUM, target, shares, (0,))
    else:
        mean, var = (
            channel_array(operation, source, name, value, FLOATS)
            for name, value in zip(("running_mean", "running_var"), statistics, strict=True)
        )
        dx = known(operation, upstream, None, statistics[1], weight, None, eps, None)
    if statistics is not None or not apart or not source.size:
        tile = tile_of(sets.samples, sets.side, ITEMSIZES[source.dtype])
        launch: Any = channel_gradients.options(num_warps=tile.warps)[sets.channels]
        launch(
            dw.array,
            db.array,
            up.array,
            ready.array,
            _array(mean),
            _array(var),
            sets.side // tile.unit,
            sets.samples,
            sets.channels,
            sets.set_step,
            sets.groups if sets.each else 0,
            eps,
            **tile.constants,
        )
    return dx, None if w is None else finish(dw), finish(db)


def sums_of(x: Operand, sets: Sets, dw: Operand, db: Operand) -> tuple[Operand, Operand]:
    """Where sums of sets by weight and bias go: the gradients, or a row of shares of each sample.

    Rows are added afterwards, in their order, so that results do not depend on it.
    """
    if not sets.each or sets.samples == 1:
        return dw, db
    rows = (sets.samples, sets.channels)
    return empty(x, rows, exact_dtype(x)), empty(x, rows, exact_dtype(x))


def _own_backward(
    operation: str,
    x: Operand,
    grad: Operand,
    w: Operand | None,
    sets: Sets,
    eps: float,
    sums: tuple[Operand, Operand] | None,
) -> tuple[Any, Operand, Operand]:
    """The gradient by x, mean and variance; with `sums`, those of sets by weight and bias there."""
    result = Output(operation, x, x.shape)
    mean, var = (empty(x, (sets.sets,), exact_dtype(x)) for _ in range(2))
    if x.size:
        tile = tile_of(
            *(sets.segments, sets.side, ITEMSIZES[x.dtype]), whole=True, least=WHOLE_ELEMENTS
        )
        launch: Any = whole_norm_backward.options(num_warps=tile.warps)[sets.sets]
        if sets.segments > tile.height or sets.side > tile.width:
            tile = tile_of(sets.segments, sets.side, ITEMSIZES[x.dtype])
            launch = set_norm_backward.options(num_warps=tile.warps)[sets.sets]
        launch(
            result.operand.array,
            mean.array,
            var.array,
            *(None, None) if sums is None else (own.array for own in sums),
            grad.array,
            x.array,
            _array(w),
            *(sets.side // tile.unit, *_laid(sets), eps),
            EACH=int(sums is None),
            **tile.constants,
        )
    return result.finish(), mean, var


def _laid(sets: Sets) -> tuple[int, int, int, int]:
    return sets.segments, sets.set_step, sets.segment_step, sets.groups


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
