"""Calls of convolutions by shifted matrices: whether one pays, the source laid out, the launch."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import teeny_triton as tl
from teeny_kernels.arrays import ITEMSIZES, Operand, arch_of, empty
from teeny_kernels.convolution.geometry import MOST, Geometry
from teeny_kernels.convolution.shifted_kernels import convolve_shifted
from teeny_kernels.convolution.shifted_layouts import lay_padded, turn_weight

if TYPE_CHECKING:
    from collections.abc import Sequence

KERNELS = (convolve_shifted, lay_padded, turn_weight)
LAID_ROWS, LAID_CHANNELS = 64, 64
MIXES = (2, 4)  # strides of the last axis whose classes are mixed
TURN = 64
LINE = 8  # so that eight rows from a multiple of eight lie in one line
MOST_WASTE = 3.2  # rows computed for each row that is stored
LEAST_WORK = 2**26  # products, below which laying out costs more
MOST_ROWS = 2**31 - 2**20
MOST_SIDE = 2**19


class Laid(NamedTuple):
    """How the source is laid out: its sides for one phase, and where it begins in them."""

    widths: tuple[int, ...]
    off: tuple[int, ...]
    phases: int
    classes: int

    def rows(self, batch: int) -> int:
        """Rows of the products of one class."""
        return batch * prod(self.widths)


class Shape(NamedTuple):
    """Sides of a tile, warps and stages."""

    m: int
    n: int
    k: int
    warps: int
    stages: int


def laid_out(how: Geometry, *, transposed: bool) -> Laid:
    """The layout for a convolution, or for its `transposed` form."""
    widths: list[int] = []
    off: list[int] = []
    for at in range(MOST):
        window, stride = how.window[at], how.stride[at]
        pad, gap = how.padding[at], how.dilation[at]
        if not transposed:
            widths.append(how.out_sides[at] + (window - 1) * gap // stride)
            off.append(pad)
            continue
        shifts = [
            (rem + pad - k * gap) // stride
            for rem in range(stride)
            for k in range(window)
            if (rem + pad - k * gap) % stride == 0
        ] or [0]
        widths.append(-(-how.sides[at] // stride) + max(shifts) - min(shifts))
        off.append(-min(shifts))
    widths[-1] = -(-widths[-1] // LINE) * LINE
    steps = prod(how.stride)
    return Laid(tuple(widths), tuple(off), 1 if transposed else steps, steps if transposed else 1)


def pays(how: Geometry, x: Operand, *, transposed: bool, allow_tf32: bool) -> bool:
    """Whether this way is open for `x`, and quicker than gathering each element."""
    deep, wide = (how.outer, how.inner) if transposed else (how.inner, how.outer)
    stored = how.batch * prod(how.sides if transposed else how.out_sides)
    work = stored * wide * deep * how.groups * how.taps
    how, mix = mixed(how, transposed=transposed)
    narrow = x.dtype in ("f16", "bf16") or (x.dtype == "f32" and allow_tf32)
    if not narrow or deep % 32 or wide < 16 or not reads_tiles(x):
        return False
    laid = laid_out(how, transposed=transposed)
    rows = laid.rows(how.batch)
    if rows * laid.phases > MOST_ROWS or rows * laid.classes * mix > MOST_WASTE * stored:
        return False
    sides = [own * step for own, step in zip(laid.widths, how.stride, strict=True)]
    if max(*sides, how.batch * laid.phases) >= MOST_SIDE:
        return False
    return work >= LEAST_WORK


def reach(x: Operand) -> int:
    """How far apart the elements of an array lie, at most."""
    return sum((side - 1) * abs(step) for side, step in zip(x.shape, x.strides, strict=True))


def reads_tiles(x: Operand) -> bool:
    """Whether the device of `x` moves tiles by descriptors."""
    arch = arch_of(x.device)
    return bool(arch) and int(arch[3:]) >= 90


def mixed(how: Geometry, *, transposed: bool) -> tuple[Geometry, int]:
    """The geometry in which classes of the last axis are channels, and how many these are.

    Result s u + c - padding meets, for class c of s, the source at u - m by tap s m + c: all
    classes at the same places, so that they are columns of one convolution without a stride.
    """
    step, pad = how.stride[-1], how.padding[-1]
    if not transposed or step not in MIXES or how.dilation[-1] != 1:
        return how, 1

    def last(own: tuple[int, ...], value: int) -> tuple[int, ...]:
        return (*own[:-1], value)

    whole = how._replace(
        sides=last(how.sides, (how.sides[-1] - 1 + pad) // step - pad // step + 1),
        window=last(how.window, -(-how.window[-1] // step)),
        stride=last(how.stride, 1),
        padding=last(how.padding, pad // step),
    )
    return whole, step


def launch(
    how: Geometry,
    out: Operand,
    source: Operand,
    weight: Operand,
    follow: Sequence[Any],
    *,
    transposed: bool,
    precision: str,
    eps: float,
    silu: bool,
) -> None:
    """Fill `out`; `source` is seen with three axes, `weight` as (out, three axes, in)."""
    sides = how.sides if transposed else how.out_sides
    before = how.padding[-1]
    how, mix = mixed(how, transposed=transposed)
    before = before % mix
    packed = turned(how, weight, mix) if transposed else weight
    inner, outer = (how.outer, how.inner * mix) if transposed else (how.inner, how.outer)
    laid = laid_out(how, transposed=transposed)
    rows = laid.rows(how.batch)
    shape = shape_of(outer, inner, ITEMSIZES[out.dtype], mix)
    matrix = _laid(how, laid, source, transposed=transposed)
    tiles_m = -(-rows // shape.m)
    in_line = not transposed or how.stride[-1] == 1
    run: Any = convolve_shifted.options(num_warps=shape.warps, num_stages=shape.stages)
    run[laid.classes * how.groups * tiles_m * -(-outer // shape.n)](
        out.array,
        tl.tensor_descriptor(
            matrix.array, (shape.m, shape.k), shape=matrix.shape, strides=(matrix.shape[1], 1)
        ),
        tl.tensor_descriptor(
            packed.array,
            (shape.n, shape.k),
            shape=(how.groups * outer, how.taps * inner),
            strides=(how.taps * inner, 1),
        ),
        *(*follow, eps, *sides, *laid.widths, *how.window),
        *(*how.stride, *how.padding, *how.dilation, *(how.hop if transposed else (1,) * MOST)),
        *(*laid.off, how.batch, how.groups, inner, outer, before, tiles_m),
        TURNED=transposed,
        SILU=silu,
        WIDE=out.size >= 2**31,
        PHASED=laid.phases > 1,
        SIDE_BY_SIDE=in_line,
        ALIGNED=in_line and sides[-1] % 8 == 0 and before == 0,
        MIXED=mix,
        PRECISION=precision,
        BLOCK_M=shape.m,
        BLOCK_N=shape.n,
        BLOCK_K=shape.k,
    )


def shape_of(columns: int, depth: int, itemsize: int, mix: int) -> Shape:
    """The tile: as wide as the channels of the result allow, with rows for every processor."""
    k = 64 // (itemsize // 2) if depth % 64 == 0 else 32
    if columns <= 64:
        return Shape(128, 64 if columns > 32 else 32, k, 4, 4)
    if columns % 256 == 0 and mix > 1 and itemsize == 2:
        return Shape(128, 256, k, 8, 3)
    return Shape(128, 128, k, 8, 4)


def turned(how: Geometry, weight: Operand, mix: int) -> Operand:
    """(out, axes, in) of any strides as (groups * in * mix, taps, out / groups), contiguous."""
    shape = (how.groups * how.inner * mix, *how.window, how.outer)
    made = empty(weight, shape)
    out, *steps, own = weight.strides
    held = how.inner * mix * how.taps
    tiles: Any = turn_weight[how.groups * -(-held // TURN) * -(-how.outer // TURN)]
    tiles(
        *(made.array, weight.array, how.inner, how.outer, *weight.shape[1:4]),
        *(out, own, *steps, mix),
        BLOCK=TURN,
        BLOCK_C=TURN,
    )
    return made


def _laid(how: Geometry, laid: Laid, source: Operand, *, transposed: bool) -> Operand:
    """The source as a matrix: places with their padding by channels."""
    channels = source.shape[1]
    rows = laid.phases * laid.rows(how.batch)
    made = empty(source, (rows, channels))
    tiles: Any = lay_padded[-(-rows // LAID_ROWS) * -(-channels // LAID_CHANNELS)]
    n, c, *steps = source.strides
    tiles(
        *(made.array, source.array, channels, *laid.widths, *source.shape[2:]),
        *((1,) * MOST if transposed else how.stride),
        *(*laid.off, how.batch, n, c, *steps),
        PHASED=laid.phases > 1,
        WIDE=reach(source) >= 2**31,
        SIDE_BY_SIDE=steps[-1] == 1,
        CHANNELS_LAST=c == 1 and channels > 1,
        ROWS=LAID_ROWS,
        BLOCK_C=LAID_CHANNELS,
    )
    return made
