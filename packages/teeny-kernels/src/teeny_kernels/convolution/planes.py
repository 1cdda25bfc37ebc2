"""Calls of depthwise convolutions: whether planes are met whole, blocks, and the launches."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_kernels.convolution.planes_kernels import convolve_planes, convolve_planes_weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_kernels.arrays import Operand
    from teeny_kernels.convolution.geometry import Geometry

KERNELS = (convolve_planes, convolve_planes_weight)
MOST_TAPS = 32  # that a thread keeps sums or weights of
LEAST = 2**16  # results, below which a kernel of its own is not worth its compilation
MOST_PLACES = 2**31 - 2**20
PROGRAMS = 2048


class Blocks(NamedTuple):
    """What a program makes: rows, strips, columns; and its warps."""

    rows: int
    strips: int
    columns: int
    warps: int


def pays(how: Geometry, x: Operand, *, transposed: bool) -> bool:
    """Whether a plane of the result meets one plane, of two axes at most, by few taps."""
    sides = how.sides if transposed else how.out_sides
    stored = how.batch * how.groups * how.outer * prod(sides)
    return (
        how.groups > 1
        and how.inner == 1
        and (how.outer == 1 or not transposed)
        and how.window[0] == how.out_sides[0] == how.sides[0] == 1
        and how.taps <= MOST_TAPS
        and LEAST <= stored < MOST_PLACES
        and x.size < MOST_PLACES
    )


def launch(
    how: Geometry,
    out: Operand,
    source: Operand,
    weight: Operand,
    follow: Sequence[Any],
    *,
    transposed: bool,
    eps: float,
    silu: bool,
) -> None:
    """Fill `out`; `source` is seen with three axes, `weight` as (out, three axes, in)."""
    sides, sources = (how.sides, how.out_sides) if transposed else (how.out_sides, how.sides)
    blocks = blocks_of(sides, how.stride[1] if transposed else 1, how.taps, out.dtype)
    planes = how.batch * how.groups * how.outer
    strips = planes * -(-sides[1] // blocks.rows)
    n, c, _, *steps = source.strides
    run: Any = convolve_planes.options(num_warps=blocks.warps)
    run[-(-strips // blocks.strips) * -(-sides[2] // blocks.columns)](
        *(out.array, source.array, weight.array, *follow, eps),
        *(planes, how.groups * how.outer, how.outer, *sides[1:], *sources[1:], n, c, *steps),
        TURNED=transposed,
        SILU=silu,
        **_window(how),
        ROWS=blocks.rows,
        STRIPS=blocks.strips,
        COLS=blocks.columns,
    )


def parts_of(how: Geometry, x: Operand) -> tuple[int, int]:
    """Into how many parts the sum for a weight falls, and the strips of each."""
    blocks = weight_blocks(how, x)
    strips = how.batch * -(-how.out_sides[1] // blocks.rows)
    strips *= -(-how.out_sides[2] // blocks.columns)
    wanted = max(1, PROGRAMS // (how.groups * how.outer))
    share = -(-strips // (wanted * blocks.strips)) * blocks.strips
    return -(-strips // share), share


def launch_weight(
    how: Geometry, target: Operand, upstream: Operand, source: Operand, parts: int, share: int
) -> None:
    """Fill `target` with `parts` sums for each weight."""
    blocks = weight_blocks(how, source)
    channels = how.groups * how.outer
    n, c, _, *steps = source.strides
    n_of, c_of, _, *steps_of = upstream.strides
    run: Any = convolve_planes_weight.options(num_warps=blocks.warps)
    run[channels * parts](
        *(target.array, upstream.array, source.array, how.batch, channels, how.outer),
        *(*how.out_sides[1:], *how.sides[1:], n, c, *steps, n_of, c_of, *steps_of, share),
        **_window(how),
        RAGGED=how.out_sides[1] % blocks.rows != 0,
        ROWS=blocks.rows,
        STRIPS=blocks.strips,
        COLS=blocks.columns,
    )


def blocks_of(sides: Sequence[int], every: int, taps: int, dtype: str) -> Blocks:
    """Rows for planes of `sides`, a multiple of `every`; columns of a power of two."""
    columns = min(128, 1 << max(2, (sides[2] - 1).bit_length()))
    rows = -(-rows_of(sides[1], most_rows(taps, dtype)) // every) * every
    return Blocks(rows, max(1, 128 // columns), columns, 4)


def weight_blocks(how: Geometry, x: Operand) -> Blocks:
    """As `blocks_of`, for the sums of a weight."""
    columns = min(128, 1 << max(2, (how.out_sides[2] - 1).bit_length()))
    rows = rows_of(how.out_sides[1], most_rows(how.taps, x.dtype))
    return Blocks(rows, max(1, 128 // columns), columns, 4)


def most_rows(taps: int, dtype: str) -> int:
    """How many rows fit into registers with what they meet."""
    return 4 if dtype == "f64" or taps > 9 else 14


def rows_of(side: int, most: int) -> int:
    """The number of rows up to `most` that leaves the fewest idle: the largest of such."""
    return min(
        range(most, 0, -1), key=lambda own: (-(-side // own) * own - side) / side + 0.1 / own
    )


def _window(how: Geometry) -> dict[str, tuple[int, ...]]:
    return {
        "WINDOW": how.window[1:],
        "STRIDE": how.stride[1:],
        "PAD": how.padding[1:],
        "GAP": how.dilation[1:],
    }
