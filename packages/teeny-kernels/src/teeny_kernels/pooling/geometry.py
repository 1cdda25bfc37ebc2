"""Windows of a pool: options of one number or one for each axis, checked, and the sides of results.

Nothing is launched here.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import whole_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_kernels.arrays import Operand

    Sides: TypeAlias = int | Sequence[int]

MOST = 3
BLOCK_SIZE = 512


class Windows(NamedTuple):
    """The last three axes of a call (of one element where it has fewer), and its windows.

    `kept` are the axes before; `pooled` says how many of the three are axes of the array.
    """

    kept: tuple[int, ...]
    pooled: int
    sides: tuple[int, ...]
    out_sides: tuple[int, ...]
    window: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return (*self.kept, *self.out_sides[MOST - self.pooled :])

    @property
    def extent(self) -> tuple[int, ...]:
        """How many elements a window reaches over, gaps counted."""
        return tuple(
            (side - 1) * step + 1 for side, step in zip(self.window, self.dilation, strict=True)
        )

    @property
    def wide(self) -> bool:
        """Whether a place within a plane needs 64 bits."""
        reach = [side + 2 * pad + 1 for side, pad in zip(self.sides, self.padding, strict=True)]
        return max(prod(reach), prod(self.out_sides)) >= 2**31 - BLOCK_SIZE


def windows(
    operation: str,
    x: Operand,
    kernel_size: Sides,
    stride: Sides | None,
    padding: Sides,
    dilation: Sides,
    *,
    ceil_mode: bool,
) -> Windows:
    """The windows of a call.

    Raises:
        KernelError: E1204 for an option of another number of axes, a size, stride or dilation below
            1, a padding below 0 or of more than half a window; E1202 for an array of fewer axes, or
            too small for one window.
    """
    count = x.ndim - 2 if isinstance(kernel_size, int) else len(kernel_size)
    if not 1 <= count <= MOST or count > x.ndim:
        what = f"`x` has {x.ndim} axes, `kernel_size` is {kernel_size}"
        raise E1202.error(operation=operation, what=what).help(
            "give one number for each of the last one to three axes; a single number is for all "
            "axes after the first two"
        )
    size = _each(operation, "kernel_size", kernel_size, count, 1)
    step = size if stride is None or stride == () else _each(operation, "stride", stride, count, 1)
    pad = _each(operation, "padding", padding, count, 0)
    gap = _each(operation, "dilation", dilation, count, 1)
    if any(2 * own > side for own, side in zip(pad, size, strict=True)):
        raise E1204.error(operation=operation, name="padding", found=f"{padding}").help(
            "pad by at most half of the window"
        )
    kept, sides = x.shape[: x.ndim - count], x.shape[x.ndim - count :]
    out_sides = tuple(
        _out_side(*own, ceil_mode=ceil_mode)
        for own in zip(sides, size, step, pad, gap, strict=True)
    )
    if min(out_sides) < 1:
        what = f"no window of {size} fits into {sides}"
        raise E1202.error(operation=operation, what=what).help("give a larger array")
    missing = MOST - count
    ones, zeros = (1,) * missing, (0,) * missing
    return Windows(
        kept,
        count,
        ones + sides,
        ones + out_sides,
        ones + size,
        ones + step,
        zeros + pad,
        ones + gap,
    )


def _each(operation: str, name: str, value: Sides, count: int, least: int) -> tuple[int, ...]:
    found = whole_numbers(operation, name, value)
    if len(found) == 1:
        found = found * count
    if len(found) != count or min(found) < least:
        raise E1204.error(operation=operation, name=name, found=f"{value}").help(
            f"give one number, or {count}, of at least {least}"
        )
    return found


def _out_side(side: int, size: int, step: int, pad: int, gap: int, *, ceil_mode: bool) -> int:
    """How many windows an axis has; by `ceil_mode`, those that begin before its end count."""
    room = side + 2 * pad - gap * (size - 1) - 1
    if room < 0 and not ceil_mode:
        return 0
    found = (room + (step - 1 if ceil_mode else 0)) // step + 1
    return found - 1 if ceil_mode and (found - 1) * step >= side + pad else found
