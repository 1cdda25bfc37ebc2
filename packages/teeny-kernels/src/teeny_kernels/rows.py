"""Arrays as rows: the axis of a row operation last, everything before it as rows.

Row kernels run one program for each row (or few), over contiguous rows.
"""

from __future__ import annotations

from math import gcd, prod
from typing import TYPE_CHECKING, NamedTuple

from teeny_kernels.arrays import empty
from teeny_kernels.layout import Output, contiguous, copy, normal_axis, permuted, reshaped

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from teeny_kernels.arrays import Operand
    from teeny_macros import Kernel


class Rows(NamedTuple):
    """`array` is contiguous, (`rows`, `columns`); `order` are the axes as they lie there."""

    array: Operand
    rows: int
    columns: int
    shape: tuple[int, ...]
    order: tuple[int, ...]


def as_rows(operation: str, x: Operand, axis: int, dtype: str | None = None) -> Rows:
    """`x` with `axis` last, as rows; a number is one row. Raises E1205 when it has no such axis."""
    at = normal_axis(operation, axis, x.ndim, of_number=True)
    x = x if x.ndim else reshaped(x, (1,))
    if at == x.ndim - 1 and dtype in (None, x.dtype) and x.is_contiguous:
        columns = x.shape[at]
        rows = prod(x.shape[:at])
        return Rows(reshaped(x, (rows, columns)), rows, columns, x.shape, tuple(range(x.ndim)))
    order = (*(own for own in range(x.ndim) if own != at), at)
    moved = contiguous(operation, permuted(x, order), dtype)
    columns = x.shape[at]
    rows = prod(x.shape[own] for own in order[:-1])
    return Rows(reshaped(moved, (rows, columns)), rows, columns, moved.shape, order)


def from_rows(flat: Operand, like: Rows) -> Operand:
    """A result of as many rows and columns as `like`, with the caller's axes; nothing is copied."""
    back = [like.order.index(axis) for axis in range(len(like.order))]
    return permuted(reshaped(flat, like.shape), back)


def map_rows(
    operation: str,
    arrays: list[Operand],
    axis: int,
    launch: Callable[[Operand, list[Operand], int, int], None],
    out: Any = None,
) -> Any:
    """The result, of the shape of `arrays[0]`, of a kernel that maps rows to rows.

    `launch(result, arrays, rows, columns)` gets contiguous rows and runs only when there is an
    element. Raises E1205 and E1207.
    """
    first = arrays[0]
    ready = [as_rows(operation, own, axis) for own in arrays]
    like = ready[0]
    result = Output(operation, first, first.shape, out=out)
    direct = not first.ndim or like.order[-1] == first.ndim - 1
    flat = result.operand if direct else empty(first, (like.rows, like.columns))
    if first.size:
        launch(flat, [own.array for own in ready], like.rows, like.columns)
    if not direct:
        copy(operation, result.operand, from_rows(flat, like))
    return result.finish()


def block_of(columns: int) -> int:
    """The power of two that holds a row."""
    return 1 << max(0, columns - 1).bit_length()


def unit_of(columns: int) -> int:
    """The largest power of two, up to 8, that divides a row of `columns`.

    Kernels take a row as so many units of a size known when they are compiled: then rows of 1000
    elements are read by 16 bytes at a time, which a length that is no multiple of 16 forbids.
    """
    return gcd(columns, 8) or 1


def is_wide(count: int) -> bool:
    """Whether places among so many need 64 bits, those of the block after the last included."""
    return count >= 2**31 - 2**16


def warps_of(block: int, itemsize: int) -> int:
    """Warps for a resident row: 16 to 32 half-width elements for each thread."""
    return max(1, min(16, block * itemsize // (32 * 64)))


def resident(kernel: Kernel[...], warps: int, block: int) -> Any:
    """`kernel` to launch of rows within `block`: 64 registers a thread, so that programs overlap.

    Of programs of 16 warps only one fits else, and the memory waits while it computes. Rows of more
    than 32 elements a thread need more.
    """
    if warps < 8 or block > 1024 * warps:
        return kernel.options(num_warps=warps)
    return kernel.options(num_warps=warps, maxnreg=64)
