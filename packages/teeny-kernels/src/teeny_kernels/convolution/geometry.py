"""The sides of a convolution: options of one number or one for each axis, checked, and shapes.

Everything is seen as three axes, of one element where a call has fewer. Nothing is launched here.
"""

from __future__ import annotations

from math import gcd, prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import whole_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_kernels.arrays import Operand

    Sides: TypeAlias = int | Sequence[int]
    Padding: TypeAlias = int | Sequence[int] | str

MOST = 3


class Geometry(NamedTuple):
    """One convolution: `x` (batch, groups * inner, *sides) to (batch, groups * outer, *out_sides).

    `axes` of the three axes are those of the arrays; `batched` says whether these have an axis for
    the batch. For a transposed convolution it is the one whose gradient by x it is.
    """

    axes: int
    batched: bool
    batch: int
    groups: int
    inner: int
    outer: int
    sides: tuple[int, ...]
    out_sides: tuple[int, ...]
    window: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def shape(self, *, of_x: bool = False) -> tuple[int, ...]:
        """The shape of the result, or of `x`, with the axes that the call has."""
        channels = self.groups * (self.inner if of_x else self.outer)
        sides = self.sides if of_x else self.out_sides
        return (*((self.batch,) if self.batched else ()), channels, *sides[MOST - self.axes :])

    @property
    def taps(self) -> int:
        """The elements of the window."""
        return prod(self.window)

    @property
    def hop(self) -> tuple[int, ...]:
        """The distance of two taps by which an element of x meets two results."""
        return tuple(s // gcd(s, d) for s, d in zip(self.stride, self.dilation, strict=True))


def convolution(
    operation: str,
    axes: int,
    x: Operand,
    weight: Operand,
    stride: Sides,
    padding: Padding,
    dilation: Sides,
    groups: int,
) -> Geometry:
    """The geometry of a convolution of `x` with `weight` over the last `axes` axes.

    Raises:
        KernelError: E1202 for arrays of other ranks, channels that do not fit or a window that does
            not fit into the padded array; E1204 for options that make no sense.
    """
    _require_ranks(operation, axes, x, weight)
    channels, sides, window = x.shape[-axes - 1], x.shape[-axes:], weight.shape[2:]
    _require_groups(operation, groups, weight.shape[0])
    if channels != groups * weight.shape[1]:
        what = (
            f"`x` {x.shape} has {channels} channels, `weight` {weight.shape} takes "
            f"{groups} x {weight.shape[1]}"
        )
        raise E1202.error(operation=operation, what=what).help(
            "weight is (out_channels, in_channels / groups, *window)"
        )
    step = _each(operation, "stride", stride, axes, 1)
    gap = _each(operation, "dilation", dilation, axes, 1)
    reach = [d * (k - 1) + 1 for k, d in zip(window, gap, strict=True)]
    pad = _padding(operation, padding, axes, step, reach)
    out_sides = tuple(sides)
    if padding != "same":
        out_sides = tuple(
            (side + 2 * p - own) // s + 1
            for side, p, own, s in zip(sides, pad, reach, step, strict=True)
        )
    if min(out_sides) < 1:
        what = f"a window of {window} with dilation {gap} is larger than {sides} padded by {pad}"
        raise E1202.error(operation=operation, what=what).help("give a larger array, or pad more")
    return _geometry(
        axes, x, groups, weight.shape[1], weight.shape[0] // groups,
        sides, out_sides, window, step, pad, gap,
    )  # fmt: skip


def transposed(
    operation: str,
    axes: int,
    x: Operand,
    weight: Operand,
    stride: Sides,
    padding: Sides,
    output_padding: Sides,
    dilation: Sides,
    groups: int,
) -> Geometry:
    """The geometry of the convolution whose gradient by its input a transposed one is.

    Raises:
        KernelError: E1202, E1204 as `convolution`; E1202 when the result would be empty, E1204
            when `output_padding` is not below the stride or the dilation.
    """
    _require_ranks(operation, axes, x, weight)
    channels, out_sides, window = x.shape[-axes - 1], x.shape[-axes:], weight.shape[2:]
    _require_groups(operation, groups, channels)
    if channels != weight.shape[0]:
        what = f"`x` {x.shape} has {channels} channels, `weight` {weight.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "weight is (in_channels, out_channels / groups, *window)"
        )
    step = _each(operation, "stride", stride, axes, 1)
    gap = _each(operation, "dilation", dilation, axes, 1)
    pad = _each(operation, "padding", padding, axes, 0)
    extra = _each(operation, "output_padding", output_padding, axes, 0)
    if any(own >= max(s, d) for own, s, d in zip(extra, step, gap, strict=True)):
        found = f"{output_padding}"
        raise E1204.error(operation=operation, name="output_padding", found=found).help(
            "it has to be below the stride or the dilation"
        )
    sides = tuple(
        (side - 1) * s - 2 * p + d * (k - 1) + own + 1
        for side, s, p, d, k, own in zip(out_sides, step, pad, gap, window, extra, strict=True)
    )
    if min(sides) < 1 or min(out_sides) < 1:
        what = f"`x` {x.shape} would give a result of {sides}"
        raise E1202.error(operation=operation, what=what).help("pad less, or give a larger array")
    return _geometry(
        axes, x, groups, weight.shape[1], channels // groups,
        sides, out_sides, window, step, pad, gap,
    )  # fmt: skip


def _geometry(
    axes: int, x: Operand, groups: int, inner: int, outer: int, *sides: Sequence[int]
) -> Geometry:
    missing = MOST - axes
    batched = x.ndim == axes + 2
    fills = (1, 1, 1, 1, 0, 1)
    whole = [(fill,) * missing + tuple(own) for fill, own in zip(fills, sides, strict=True)]
    return Geometry(axes, batched, x.shape[0] if batched else 1, groups, inner, outer, *whole)


def _require_ranks(operation: str, axes: int, x: Operand, weight: Operand) -> None:
    for name, own, wanted in (("x", x, (axes + 1, axes + 2)), ("weight", weight, (axes + 2,))):
        if own.ndim not in wanted:
            what = f"`{name}` {own.shape} has {own.ndim} axes"
            raise E1202.error(operation=operation, what=what).help(
                f"it needs {' or '.join(map(str, wanted))}: channels and {axes} more, and the batch"
            )
    if 0 in weight.shape[2:]:
        what = f"`weight` {weight.shape} has an empty window"
        raise E1202.error(operation=operation, what=what).help("give windows of at least 1")


def _require_groups(operation: str, groups: int, channels: int) -> None:
    if groups < 1 or channels % groups:
        raise E1204.error(operation=operation, name="groups", found=f"{groups}").help(
            f"it has to be at least 1 and to divide the {channels} channels of `weight`"
        )


def _each(operation: str, name: str, value: Sides, axes: int, least: int) -> tuple[int, ...]:
    found = whole_numbers(operation, name, value)
    if len(found) == 1:
        found = found * axes
    if len(found) != axes or min(found) < least:
        raise E1204.error(operation=operation, name=name, found=f"{value}").help(
            f"give one number, or {axes}, of at least {least}"
        )
    return found


def _padding(
    operation: str, padding: Padding, axes: int, stride: Sequence[int], reach: Sequence[int]
) -> tuple[int, ...]:
    """What is padded in front of each axis."""
    if not isinstance(padding, str):
        return _each(operation, "padding", padding, axes, 0)
    if padding == "valid":
        return (0,) * axes
    if padding == "same" and max(stride) == 1:
        return tuple((own - 1) // 2 for own in reach)
    shown = f"'{padding}'" + (f" with stride {tuple(stride)}" if padding == "same" else "")
    raise E1204.error(operation=operation, name="padding", found=shown).help(
        "give numbers, 'valid', or 'same' with a stride of 1"
    )
