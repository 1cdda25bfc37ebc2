"""Kernels that scan one axis of (outer, scanned, inner), and the plan of their launches.

Grid: `rows`, for an inner side of 1, one program for `ROWS` rows and one of `splits` shares of
their columns; `columns` one program for a block of the inner side and one share. A program walks
over its share tile by tile, each scanned as a tree, and carries what was before it. Where there are
too few rows for the GPU, totals of shares are stored first, scanned themselves, and then carried
into the shares: three launches, in an order that depends on the shape alone. Sums of f16 and bf16
are kept in f32, those of integers in i64. The output may be the input where it is of one dtype.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import teeny_triton as tl
from teeny_kernels.arrays import empty
from teeny_kernels.layout import contiguous
from teeny_kernels.numerics import R, accumulated
from teeny_kernels.reduce.kernels import PROGRAMS, TILE, block_of
from teeny_macros import device, kernel
from teeny_triton import (
    Axis,
    Const,
    Elem,
    Ptr,
    Tensor,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
    u8,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_kernels.arrays import Operand
    from teeny_macros import Kernel

D = TypeVar("D", bound=Elem)
E = TypeVar("E", bound=Elem)
C = TypeVar("C", bound=Elem)

FLOATS = (f32, f16, bf16, f64)
NUMBERS = (*FLOATS, i64, i32, i16, i8, u8, i1)
WIDEST = 64  # columns of a tile that is scanned along its first axis
_PLAIN_ROWS = ("n_rows", "share", "splits")
_PLAIN_COLUMNS = ("n_scanned", "share", "splits")


@device
def as_it_is(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return x


class Scan(NamedTuple):
    """One scan: its kernels for rows and for columns; `carried` scans what shares came to."""

    rows: Kernel[...]
    columns: Kernel[...]
    carried: Scan | None


def scanning(
    name: str,
    combine: Callable[..., Any],
    identity: int,
    *,
    each: Callable[..., Any] = as_it_is,
    padding: int | None = None,
    carried: Scan | None = None,
) -> Scan:
    """Running `combine` of each(x), an associative device function with the neutral `identity`.

    `each` maps `padding`, which is `identity` unless it is given, to `identity`; a scan with an
    `each` of its own names the one without in `carried`.
    """
    padding = identity if padding is None else padding
    rows = _rows_kernel(name, combine, identity, padding, each)
    columns = _columns_kernel(name, combine, identity, padding, each)
    return Scan(rows, columns, carried)


def _rows_kernel(
    name: str,
    combine: Callable[..., Any],
    identity: int,
    padding: int,
    each: Callable[..., Any],
) -> Kernel[...]:
    @kernel(name=f"{name}_rows", dtypes=NUMBERS, do_not_specialize=_PLAIN_ROWS)
    def scan_rows(
        out_ptr: Ptr[E],
        x_ptr: Ptr[D],
        carry_ptr: Ptr[C] | None,
        n_rows: i64 | int,
        n_cols: i64 | int,
        share: i64 | int,
        splits: i64 | int,
        TOTALS: Const[bool],
        REVERSE: Const[bool],
        ROWS: Const[int],
        BLOCK_SIZE: Const[int],
    ) -> None:
        program = tl.program_id(Axis.X).to(i64)
        split = program % splits
        row = program // splits * ROWS + tl.arange(0, ROWS)
        inside = row < n_rows
        lanes = tl.arange(0, BLOCK_SIZE)[None, :]
        begin = split * share * BLOCK_SIZE
        width = tl.minimum(share * BLOCK_SIZE, n_cols - begin)
        carry: Any = accumulated(tl.full((ROWS,), identity, tl.elem(x_ptr)))
        if carry_ptr is not None:
            before = row * splits + split - 1
            carry = tl.load(carry_ptr + before, mask=inside & (split > 0), other=identity)
        for start in range(0, width, BLOCK_SIZE):
            at = begin + start + lanes
            if REVERSE:
                at = n_cols - 1 - at
            mask = inside[:, None] & (lanes < width - start)
            place = (row * n_cols)[:, None] + at
            x = each(accumulated(tl.load(x_ptr + place, mask=mask, other=padding)))
            if TOTALS:
                carry = combine(carry, tl.reduce(x, 1, combine))
            else:
                y = combine(carry[:, None], tl.associative_scan(x, 1, combine))
                tl.store(out_ptr + place, y.to(tl.elem(out_ptr)), mask=mask)
                carry = tl.sum(tl.where(lanes == BLOCK_SIZE - 1, y, 0), axis=1)
        if TOTALS:
            tl.store(out_ptr + row * splits + split, carry.to(tl.elem(out_ptr)), mask=inside)

    return scan_rows


def _columns_kernel(
    name: str,
    combine: Callable[..., Any],
    identity: int,
    padding: int,
    each: Callable[..., Any],
) -> Kernel[...]:
    @kernel(name=f"{name}_columns", dtypes=NUMBERS, do_not_specialize=_PLAIN_COLUMNS)
    def scan_columns(
        out_ptr: Ptr[E],
        x_ptr: Ptr[D],
        carry_ptr: Ptr[C] | None,
        n_scanned: i64 | int,
        n_inner: i64 | int,
        share: i64 | int,
        splits: i64 | int,
        TOTALS: Const[bool],
        REVERSE: Const[bool],
        DEPTH: Const[int],
        BLOCK_SIZE: Const[int],
    ) -> None:
        program = tl.program_id(Axis.X).to(i64)
        blocks = tl.cdiv(n_inner, BLOCK_SIZE)
        part = program // blocks
        col = program % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        inside = col < n_inner
        lanes = tl.arange(0, DEPTH)[:, None]
        begin = part % splits * share * DEPTH
        height = tl.minimum(share * DEPTH, n_scanned - begin)
        base = part // splits * n_scanned * n_inner + col[None, :]
        carry: Any = accumulated(tl.full((BLOCK_SIZE,), identity, tl.elem(x_ptr)))
        if carry_ptr is not None:
            before = (part - 1) * n_inner + col
            carry = tl.load(carry_ptr + before, mask=inside & (part % splits > 0), other=identity)
        for start in range(0, height, DEPTH):
            at = begin + start + lanes
            if REVERSE:
                at = n_scanned - 1 - at
            mask = inside[None, :] & (lanes < height - start)
            place = base + at * n_inner
            x = each(accumulated(tl.load(x_ptr + place, mask=mask, other=padding)))
            if TOTALS:
                carry = combine(carry, tl.reduce(x, 0, combine))
            else:
                y = combine(carry[None, :], tl.associative_scan(x, 0, combine))
                tl.store(out_ptr + place, y.to(tl.elem(out_ptr)), mask=mask)
                carry = tl.sum(tl.where(lanes == DEPTH - 1, y, 0), axis=0)
        if TOTALS:
            tl.store(out_ptr + part * n_inner + col, carry.to(tl.elem(out_ptr)), mask=inside)

    return scan_columns


def summed_dtype(x: Operand) -> str:
    """The dtype that running sums of `x` are kept in."""
    if x.dtype == "f64":
        return "f64"
    return "f32" if x.dtype in {"f32", "f16", "bf16"} else "i64"


def scan_into(
    operation: str, chosen: Scan, result: Operand, x: Operand, axis: int, *, reverse: bool = False
) -> None:
    """Scan `axis` of `x`, from its end if `reverse`, into `result`, contiguous and as large."""
    if not x.size:
        return
    own = contiguous(operation, x)
    sides = (prod(x.shape[:axis]), prod(x.shape[axis : axis + 1]), prod(x.shape[axis + 1 :]))
    height, width, splits, share = _plan(*sides)
    how = (height, width, splits, share, reverse)
    if splits == 1:
        _launch(chosen, result, own, None, sides, how, totals=False)
        return
    outer, _, inner = sides
    totals = empty(x, (outer, splits, inner), summed_dtype(x))
    _launch(chosen, totals, own, None, sides, how, totals=True)
    carries = empty(x, totals.shape, totals.dtype)
    scan_into(operation, chosen.carried or chosen, carries, totals, 1)
    _launch(chosen, result, own, carries, sides, how, totals=False)


def _plan(outer: int, scanned: int, inner: int) -> tuple[int, int, int, int]:
    """Rows, columns and shares: (tile height, tile width, splits, tiles of a share)."""
    if inner == 1:
        width = block_of(scanned)
        height = TILE // width
        tiles, steps = -(-outer // height), -(-scanned // width)
    else:
        width = min(block_of(inner), WIDEST)
        height = TILE // width
        tiles, steps = outer * -(-inner // width), -(-scanned // height)
    # Shares read twice: not for less than four tiles each.
    splits = max(1, min(PROGRAMS // max(1, tiles), steps // 4))
    share = -(-steps // splits)
    return height, width, -(-steps // share), share


def _launch(
    chosen: Scan,
    target: Operand,
    x: Operand,
    carries: Operand | None,
    sides: tuple[int, int, int],
    how: tuple[int, int, int, int, bool],
    *,
    totals: bool,
) -> None:
    (outer, scanned, inner), (height, width, splits, share, reverse) = sides, how
    arrays = (target.array, x.array, None if carries is None else carries.array)
    flags = {"TOTALS": totals, "REVERSE": reverse}
    if inner == 1:
        chosen.rows.options(num_warps=8)[-(-outer // height) * splits](
            *arrays, outer, scanned, share, splits, **flags, ROWS=height, BLOCK_SIZE=width
        )
        return
    chosen.columns.options(num_warps=8)[-(-inner // width) * outer * splits](
        *arrays, scanned, inner, share, splits, **flags, DEPTH=height, BLOCK_SIZE=width
    )
