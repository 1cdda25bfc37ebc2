"""Losses of rows: tiles of rows for their kernels, and the reduction of one loss for each row."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_kernels.arrays import Operand, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.loss import reduction as reductions
from teeny_kernels.reduce.kernels import reduce_into
from teeny_kernels.reduce.sums import MEAN, SUM
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TILE = 2048
NARROW, WIDE = 64, 1024  # columns that a program reads at a time: two, few kernels to compile
# Their values are worth no other compilation.
PLAIN = ("n_rows",)
PLAIN_BACK = ("n_rows", "grad_step")


class Tiles(NamedTuple):
    """Rows and columns of an array, and those of a tile."""

    rows: int
    columns: int
    height: int
    width: int

    @property
    def grid(self) -> int:
        """One program for each tile of rows."""
        return -(-self.rows // self.height)


def tiles(x: Operand) -> Tiles:
    """The last axis of `x` as columns, all others as rows."""
    columns = x.shape[-1]
    width = NARROW if columns <= NARROW else WIDE
    return Tiles(prod(x.shape[:-1]), columns, TILE // width, width)


def checked(operation: str, arrays: Mapping[str, Any]) -> list[Operand]:
    """The arrays, contiguous, of one shape of at least one axis and of one float dtype.

    Raises E1201, E1202, E1203 and E1206.
    """
    given = [(name, operand(name, value)) for name, value in arrays.items()]
    same_place(operation, given)
    first_name, first = given[0]
    require_dtype(operation, first_name, first, FLOATS)
    for name, own in given:
        require_dtype(operation, name, own, (first.dtype,))
        if own.shape != first.shape or not own.ndim:
            what = f"`{first_name}` {first.shape}, `{name}` {own.shape}"
            raise E1202.error(operation=operation, what=what).help(
                "give arrays of one shape, of at least one axis"
            )
    return [contiguous(operation, own) for _, own in given]


def reduced(
    operation: str,
    like: Operand,
    shape: tuple[int, ...],
    reduction: str,
    launch: Callable[[Operand], None],
    out: Any,
) -> Any:
    """What `launch` stores, a loss for each row, as `reduction` says; E1204 and E1207."""
    reductions.checked_reduction(operation, reduction)
    rows = prod(shape)
    if reduction == "none":
        result = Output(operation, like, shape, out=out)
        if rows:
            launch(result.operand)
        return result.finish()
    result = Output(operation, like, (), out=out)
    losses = reductions.shares(like, rows)
    if rows:
        launch(losses)
    reduce_into(operation, MEAN if reduction == "mean" else SUM, result.operand, losses, (0,))
    return result.finish()


def incoming(
    operation: str, grad: Any, like: Operand, shape: tuple[int, ...], reduction: str
) -> tuple[Operand, int, float]:
    """The gradient of the loss, its step from row to row, and what a mean divides it by.

    Raises E1201-E1204 and E1206.
    """
    reductions.checked_reduction(operation, reduction)
    upstream = operand("grad", grad)
    same_place(operation, [("x", like), ("grad", upstream)])
    own = shape if reduction == "none" else ()
    reductions.checked_gradient(operation, upstream, like, own)
    divisor = float(prod(shape)) if reduction == "mean" else 1.0
    return contiguous(operation, upstream), int(reduction == "none"), divisor
