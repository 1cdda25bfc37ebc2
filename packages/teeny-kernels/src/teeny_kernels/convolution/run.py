"""Calls of convolutions: arrays checked, seen with three axes, tiles chosen, and the launches."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_kernels.arrays import Operand, empty, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.convolution import planes, shifted
from teeny_kernels.convolution.geometry import MOST, Geometry
from teeny_kernels.convolution.kernels import (
    convolve,
    convolve_direct,
    lay_channels_last,
    pack_weight,
)
from teeny_kernels.convolution.tiled_kernel import convolve_tiled
from teeny_kernels.convolution.weight_kernels import convolve_weight, convolve_weight_direct
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.reduce.kernels import exact, reduce_into
from teeny_kernels.reduce.sums import SUM
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

DIRECT_BLOCK = 256
LAID_ROWS, LAID_CHANNELS = 64, 64
PACK_BLOCK = 1024
# A share of the sum over results has at least so many terms, in so many programs at most.
LEAST_SHARE = 256
PROGRAMS = 264
# What a convolution and its gradients launch, from plain to fast, and what lays out for them.
KERNELS = (
    convolve_direct,
    convolve,
    convolve_weight_direct,
    convolve_weight,
    pack_weight,
    lay_channels_last,
    *shifted.KERNELS,
    *planes.KERNELS,
)
ALGORITHMS = ("auto", "direct", "tiled", "gemm")


class Norm(NamedTuple):
    """Batch norm by known statistics, and SiLU, after a convolution; arrays by channel."""

    mean: Operand
    var: Operand
    weight: Operand | None
    bias: Operand | None
    eps: float


class Tiles(NamedTuple):
    """Sides of a tile, warps and stages."""

    m: int
    n: int
    k: int
    warps: int
    stages: int


TILED = Tiles(64, 16, 1, 4, 2)


def arrays(operation: str, x: Any, weight: Any, **others: Any) -> list[Operand]:
    """Operands of one dtype and place: x, weight, and what of `others` is not None, in order."""
    found = [("x", operand("x", x)), ("weight", operand("weight", weight))]
    found += [(name, operand(name, own)) for name, own in others.items() if own is not None]
    same_place(operation, found)
    require_dtype(operation, "x", found[0][1], FLOATS)
    for name, own in found[1:]:
        require_dtype(operation, name, own, (found[0][1].dtype,))
    return [own for _, own in found]


def by_channel(operation: str, name: str, own: Operand, channels: int) -> Operand:
    """An array of one number for each channel, contiguous. Raises E1202 for another shape."""
    if own.shape != (channels,):
        what = f"`{name}` {own.shape}, and the result has {channels} channels"
        raise E1202.error(operation=operation, what=what).help("give one number for each channel")
    return contiguous(operation, own)


def require_shape(operation: str, grad: Operand, shape: Sequence[int]) -> None:
    """Raise E1202 unless `grad` has the shape of the result."""
    if grad.shape != tuple(shape):
        what = f"`grad` {grad.shape}, and the result is {tuple(shape)}"
        raise E1202.error(operation=operation, what=what).help("give the gradient of the result")


def convolved(
    operation: str,
    how: Geometry,
    x: Operand,
    weight: Operand,
    bias: Operand | None,
    *,
    transposed: bool = False,
    allow_tf32: bool = False,
    out: Any = None,
    norm: Norm | None = None,
    algorithm: str = "auto",
) -> Any:
    """The convolution of `x` by `how`, or `transposed`: the gradient by its input.

    Then `x` is the gradient of its result. `algorithm` is "direct", "tiled" (not transposed),
    "gemm", or "auto", which leaves it to the number of channels.
    """
    shape = how.shape(of_x=transposed)
    result = Output(operation, x, shape, out=out)
    if not result.operand.size:
        return result.finish()
    inner = how.outer if transposed else how.inner
    by_planes = algorithm == "auto" and planes.pays(how, x, transposed=transposed)
    if algorithm == "auto":
        algorithm = "direct" if few_channels(how) else "gemm"
    by_tiles = algorithm == "gemm" and shifted.pays(
        how, x, transposed=transposed, allow_tf32=allow_tf32
    )
    packed = _seen(weight) if by_tiles and transposed else _packed(weight)
    source = _five(how, laid(how, x, inner) if algorithm == "gemm" and not by_tiles else x)
    follow = (bias,) if norm is None else (bias, norm.mean, norm.var, norm.weight, norm.bias)
    given = [None if own is None else own.array for own in follow] + [None] * (5 - len(follow))
    arrays_of = (how, result.operand, source, packed, given)
    after: dict[str, Any] = {"eps": 0.0 if norm is None else norm.eps, "silu": norm is not None}
    if by_tiles:
        exactness = precision(x, allow_tf32)
        shifted.launch(*arrays_of, transposed=transposed, precision=exactness, **after)
    elif by_planes:
        planes.launch(*arrays_of, transposed=transposed, **after)
    else:
        _gather(*arrays_of, algorithm, precision(x, allow_tf32), transposed=transposed, **after)
    return result.finish()


def _gather(
    how: Geometry,
    out: Operand,
    source: Operand,
    weight: Operand,
    follow: Sequence[Any],
    algorithm: str,
    exactness: str,
    *,
    transposed: bool,
    eps: float,
    silu: bool,
) -> None:
    """Fill `out` by a kernel that gathers each element; `source` is seen with three axes."""
    inner, outer = (how.outer, how.inner) if transposed else (how.inner, how.outer)
    sides, sources = (how.sides, how.out_sides) if transposed else (how.out_sides, how.sides)
    hop = how.hop if transposed else (1,) * MOST
    numbers = [*sides, *sources, *how.window, *how.stride, *how.padding, *how.dilation]
    counts = (*source.strides, how.batch, how.groups, inner, outer)
    flags = {"SILU": silu, "WIDE": _wide(how, source, out.size)}
    pointers = (out.array, source.array, weight.array, *follow)
    launch: Any
    if algorithm == "tiled":
        tiles_p = -(-how.batch * prod(sides) // TILED.m)
        launch = convolve_tiled[how.groups * tiles_p * -(-outer // TILED.n)]
        blocks = {"BLOCK_P": TILED.m, "BLOCK_O": TILED.n}
        launch(*pointers, eps, *numbers, *counts, tiles_p, **flags, **blocks)
        return
    numbers, flags["TURNED"] = [*numbers, *hop], transposed
    if algorithm == "direct":
        launch = convolve_direct[-(-out.size // DIRECT_BLOCK)]
        flags["QUICK"] = not flags["WIDE"] and _quick(sides, how.batch * how.groups * outer)
        launch(*pointers, eps, *numbers, *counts, **flags, BLOCK_SIZE=DIRECT_BLOCK)
        return
    classes = prod(how.stride) if transposed else 1
    every = how.stride if transposed else (1,) * MOST
    rows = how.batch * prod(-(-side // own) for side, own in zip(sides, every, strict=True))
    tiles = tiles_of(rows, outer, inner, out)
    tiles_m = -(-rows // tiles.m)
    launch = convolve.options(num_warps=tiles.warps, num_stages=tiles.stages)
    launch[classes * how.groups * tiles_m * -(-outer // tiles.n)](
        *(*pointers, eps, *numbers, *counts, tiles_m),
        **flags,
        TAPWISE=inner >= tiles.k,
        ALIGNED=inner % tiles.k == 0 and channels_last(source),
        SIDE_BY_SIDE=-(-sides[-1] // every[-1]) % 8 == 0 and every[-1] == 1,
        PRECISION=exactness,
        BLOCK_M=tiles.m,
        BLOCK_N=tiles.n,
        BLOCK_K=tiles.k,
    )


def weight_gradient(
    operation: str,
    how: Geometry,
    grad: Operand,
    x: Operand,
    weight: Operand,
    *,
    allow_tf32: bool = False,
) -> Any:
    """The gradient of `convolved` by its weight, `grad` that of its result."""
    result = Output(operation, weight, weight.shape)
    size = weight.size
    rows = how.batch * prod(how.out_sides)
    if not size:
        return result.finish()
    source, upstream = _five(how, x), _five(how, grad)
    if planes.pays(how, x, transposed=False):
        parts, share = planes.parts_of(how, x)
        target = result.operand
        if parts > 1:
            target = empty(x, (parts, *weight.shape), exact(x))
        planes.launch_weight(how, target, upstream, source, parts, share)
        if parts > 1:
            reduce_into(operation, SUM, result.operand, target, (0,))
        return result.finish()
    direct = few_channels(how)
    columns = how.inner * how.taps
    tiles = weight_tiles(how.outer, columns, rows, x)
    programs = how.groups * -(-how.outer // tiles.m) * -(-columns // tiles.n)
    if direct:
        programs = size
    step = DIRECT_BLOCK if direct else tiles.k
    parts = max(1, min(PROGRAMS // programs, rows // LEAST_SHARE))
    share = -(-rows // (parts * step)) * step
    parts = max(1, -(-rows // share)) if share else 1
    target = result.operand
    if parts > 1:
        target = empty(x, (parts, *weight.shape), exact(x))
    numbers = (
        *(*how.out_sides, *how.sides, *how.window, *how.stride, *how.padding, *how.dilation),
        *(*source.strides, *upstream.strides, how.batch, how.groups, how.inner, how.outer, share),
    )
    pointers = (target.array, upstream.array, source.array)
    wide = max(_wide(how, source, rows), _wide(how, upstream, 0))
    flags = {"WIDE": wide, "QUICK": not wide and prod(how.out_sides) + DIRECT_BLOCK <= 2**20}
    if direct:
        launch: Any = convolve_weight_direct[size * parts]
        launch(*(*pointers, *numbers), **flags, BLOCK_SIZE=DIRECT_BLOCK)
    else:
        launch = convolve_weight.options(num_warps=tiles.warps, num_stages=tiles.stages)
        launch[programs * parts](
            *(*pointers, *numbers),
            **flags,
            ALIGNED=how.inner % 16 == how.outer % 16 == 0
            and channels_last(source)
            and channels_last(upstream),
            SIDE_BY_SIDE=how.out_sides[-1] % 8 == 0
            and source.strides[-1] == upstream.strides[-1] == how.stride[-1] == 1,
            PRECISION=precision(x, allow_tf32),
            BLOCK_M=tiles.m,
            BLOCK_N=tiles.n,
            BLOCK_K=tiles.k,
        )
    if parts > 1:
        reduce_into(operation, SUM, result.operand, target, (0,))
    return result.finish()


def channels_last(x: Operand) -> bool:
    """Whether channels lie side by side, each place from a multiple of eight elements."""
    return x.strides[1] == 1 and not any(step % 8 for step in (x.strides[0], *x.strides[2:]))


def laid(how: Geometry, x: Operand, channels: int) -> Operand:
    """`x` of `channels` in a group with channels side by side, where that pays.

    Loads of several elements at once are worth a copy when each is multiplied often.
    """
    source = _five(how, x)
    if channels_last(source) or not worth_laying(how, x, channels):
        return x
    rows = source.shape[0] * prod(source.shape[2:])
    made = empty(x, (source.shape[0], *source.shape[2:], source.shape[1]))
    launch: Any = lay_channels_last[-(-rows // LAID_ROWS) * -(-source.shape[1] // LAID_CHANNELS)]
    wide = _wide(how, source, rows)
    numbers = (rows, source.shape[1], *source.shape[2:], *source.strides)
    blocks = {"ROWS": LAID_ROWS, "BLOCK_C": LAID_CHANNELS}
    whole = source.shape[-1] % 8 == 0 and source.strides[-1] == 1
    launch(made.array, x.array, *numbers, WIDE=wide, SIDE_BY_SIDE=whole, **blocks)
    n, *axes, c = made.strides
    skipped = MOST - how.axes
    strides = (*((n,) if how.batched else ()), c, *axes[skipped:])
    return made._replace(shape=x.shape, strides=strides)


def worth_laying(how: Geometry, x: Operand, channels: int) -> bool:
    """Whether a copy with channels side by side pays: for many products of each element."""
    many = how.taps * min(how.inner, how.outer) >= 128
    least = 2**12 if x.device == "cpu" else 2**16
    return channels > 0 and channels % 32 == 0 and many and x.size >= least


def channel_sums(operation: str, grad: Operand, axes: int) -> Any:
    """The gradient by a bias: the sum of `grad` over samples and places."""
    channel = grad.ndim - axes - 1
    result = Output(operation, grad, (grad.shape[channel],))
    reduce_into(
        operation, SUM, result.operand, grad, [at for at in range(grad.ndim) if at != channel]
    )
    return result.finish()


def few_channels(how: Geometry) -> bool:
    """Whether a group has so few channels, as in depthwise, that a tile would be empty."""
    return how.groups > 1 and how.inner * how.outer <= 16


def tiles_of(rows: int, columns: int, channels: int, x: Operand) -> Tiles:
    """The tile of a convolution: few columns make it narrow, few channels shallow."""
    n = 16 if columns <= 16 else 64
    if x.device == "cpu" or x.dtype in ("f32", "f64") or rows * columns < 128 * 128 * 64:
        return Tiles(64, n, 32, 4, 2 if x.dtype == "f64" else 3)
    if columns <= 64:
        return Tiles(128, n, 32, 4, 4)
    return Tiles(128, 128, 64 if channels % 64 == 0 else 32, 8, 3)


def weight_tiles(rows: int, columns: int, terms: int, x: Operand) -> Tiles:
    """The tile of a gradient by a weight, of `rows` channels of the result and `terms` of a sum."""
    if x.device != "cpu" and x.dtype in ("f16", "bf16") and rows * columns * terms >= 2**30:
        return Tiles(64 if rows <= 64 else 128, 128, 64, 8, 3)
    return Tiles(16 if rows <= 16 else 64, 64, 32, 4, 2 if x.dtype == "f64" else 3)


def precision(x: Operand, allow_tf32: bool) -> str:
    """How a product of matrices takes its factors."""
    return "tf32" if allow_tf32 and x.dtype == "f32" else "ieee"


def _quick(sides: Sequence[int], rows: int) -> bool:
    """Whether places of a block, and rows, are divided by products in f32."""
    return max(prod(sides) + DIRECT_BLOCK, rows) <= 2**20


def _wide(how: Geometry, source: Operand, count: int) -> bool:
    """Whether a place needs 64 bits: in the source, beyond its padding, or among `count` rows."""
    reach = 0
    for at in range(MOST):
        around = how.padding[at] + how.window[at] * how.dilation[at] + how.stride[at]
        reach += (source.shape[at + 2] + 2 * around) * abs(source.strides[at + 2])
    for side, step in zip(source.shape[:2], source.strides, strict=False):
        reach += side * abs(step)
    return max(reach, count + 2 * DIRECT_BLOCK * prod(how.stride)) >= 2**31


def _five(how: Geometry, x: Operand) -> Operand:
    """(batch, channels, three axes), whatever axes the call has."""
    shape, strides = tuple(x.shape), tuple(x.strides)
    if not how.batched:
        shape, strides = (1, *shape), (0, *strides)
    missing = MOST - how.axes
    return x._replace(
        shape=(*shape[:2], *(1,) * missing, *shape[2:]),
        strides=(*strides[:2], *(0,) * missing, *strides[2:]),
    )


def _packed(weight: Operand) -> Operand:
    """(out, three axes, in) of a weight, contiguous: itself where it lies so."""
    seen = _seen(weight)
    shape, steps = seen.shape, seen.strides
    if seen.is_contiguous:
        return seen
    made = empty(weight, shape)
    launch: Any = pack_weight[-(-weight.size // PACK_BLOCK)]
    numbers = (weight.size, shape[4], *shape[1:4], steps[0], steps[4], *steps[1:4])
    launch(made.array, weight.array, *numbers, BLOCK_SIZE=PACK_BLOCK)
    return made


def _seen(weight: Operand) -> Operand:
    """A weight seen as (out, three axes, in)."""
    missing = MOST + 2 - weight.ndim
    shape = (weight.shape[0], *(1,) * missing, *weight.shape[2:], weight.shape[1])
    steps = (weight.strides[0], *(0,) * missing, *weight.strides[2:], weight.strides[1])
    return weight._replace(shape=shape, strides=steps)
