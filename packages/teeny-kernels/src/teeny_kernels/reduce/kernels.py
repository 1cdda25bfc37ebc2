"""Kernels that reduce one axis of (outer, reduced, inner), and the plan that reduces any axes.

Grid: `rows`, for an inner side of 1, one program for `ROWS` rows and one of `splits` shares of
their columns; `columns` one program for a block of the inner side and one share. A tile is kept
and combined with the next one, then reduced by a tree. Shares, and other groups of axes, are
reduced by further launches in a fixed order: results are bit-equal run to run. Shares are f32 (f64
for f64). The output may be no input.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import teeny_triton as tl
from teeny_kernels.arrays import empty
from teeny_kernels.layout import contiguous
from teeny_kernels.numerics import R, accumulated, number, widen
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
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_kernels.arrays import Operand
    from teeny_macros import Kernel

D = TypeVar("D", bound=Elem)
E = TypeVar("E", bound=Elem)

DTYPES = (f32, f16, bf16, f64)
NUMBERS = (*DTYPES, i64, i32, i16, i8, u8, i1)
INTEGERS = ("i64", "i32", "i16", "i8", "u8", "i1")
PROGRAMS = 1056  # eight of eight warps for each of 132 multiprocessors
TILE = 4096
# Their values are worth no other compilation.
_PLAIN_ROWS = ("n_rows", "share", "splits", "count")
_PLAIN_COLUMNS = ("n_reduced", "share", "splits", "count")


@device
def itself(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return x


@device
def square(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return x * x


@device
def as_it_is(total: Tensor[f32, R], count: f32) -> Tensor[f32, R]:
    return total


@device
def plus(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return x + y


@device
def start_of(shape: Any, x_ptr: Ptr[Any], identity: float, whole: int) -> Any:
    """What a reduction begins with."""
    if tl.elem(x_ptr).is_int():
        return tl.full(shape, whole, i64)
    return widen(tl.full(shape, identity, tl.elem(x_ptr)))


class Reduction(NamedTuple):
    """One reduction: its kernels for rows and for columns, and the functions they apply."""

    rows: Kernel[...]
    columns: Kernel[...]
    each: Callable[..., Any]
    finish: Callable[..., Any]


def reduction(
    name: str,
    combine: Callable[..., Any],
    identity: float,
    *,
    each: Callable[..., Any] = itself,
    finish: Callable[..., Any] = as_it_is,
    padding: float | None = None,
    whole: int = 0,
) -> Reduction:
    """finish(combine of each(x), count), with `identity` where there is nothing.

    `each` maps `padding`, which is `identity` unless it is given, to `identity`; `whole` is the
    identity of integers, which are reduced in i64. All are device functions.
    """
    padding = identity if padding is None else padding
    rows = _rows_kernel(name, combine, identity, padding, whole, each, finish)
    columns = _columns_kernel(name, combine, identity, padding, whole, each, finish)
    return Reduction(rows, columns, each, finish)


def _rows_kernel(
    name: str,
    combine: Callable[..., Any],
    identity: float,
    padding: float,
    whole: int,
    each: Callable[..., Any],
    finish: Callable[..., Any],
) -> Kernel[...]:
    @kernel(name=f"{name}_rows", dtypes=NUMBERS, do_not_specialize=_PLAIN_ROWS)
    def reduce_rows(
        out_ptr: Ptr[E],
        x_ptr: Ptr[D],
        n_rows: i64 | int,
        n_cols: i64 | int,
        share: i64 | int,
        splits: i64 | int,
        count: f64 | float,
        FIRST: Const[bool],
        LAST: Const[bool],
        ROWS: Const[int],
        BLOCK_SIZE: Const[int],
    ) -> None:
        program = tl.program_id(Axis.X).to(i64)
        split = program % splits
        row = program // splits * ROWS + tl.arange(0, ROWS)
        inside = (row < n_rows)[:, None]
        lanes = tl.arange(0, BLOCK_SIZE)[None, :]
        begin = split * share * BLOCK_SIZE
        width = tl.minimum(share * BLOCK_SIZE, n_cols - begin)
        base = x_ptr + (row * n_cols)[:, None] + begin
        total: Any = start_of((ROWS, BLOCK_SIZE), x_ptr, identity, whole)
        for start in range(0, width, BLOCK_SIZE):
            mask = inside & (lanes < width - start)
            if total.dtype == i64:
                x = accumulated(tl.load(base + start + lanes, mask=mask, other=0))
                x = tl.where(mask, each(x) if FIRST else x, whole)
            elif FIRST:
                x = each(widen(tl.load(base + start + lanes, mask=mask, other=padding)))
            else:
                x = widen(tl.load(base + start + lanes, mask=mask, other=identity))
            total = combine(total, x)
        found = tl.reduce(total, 1, combine)
        if LAST:
            found = finish(found, number(count, found))
        tl.store(out_ptr + row * splits + split, found.to(tl.elem(out_ptr)), mask=row < n_rows)

    return reduce_rows


def _columns_kernel(
    name: str,
    combine: Callable[..., Any],
    identity: float,
    padding: float,
    whole: int,
    each: Callable[..., Any],
    finish: Callable[..., Any],
) -> Kernel[...]:
    @kernel(name=f"{name}_columns", dtypes=NUMBERS, do_not_specialize=_PLAIN_COLUMNS)
    def reduce_columns(
        out_ptr: Ptr[E],
        x_ptr: Ptr[D],
        n_reduced: i64 | int,
        n_inner: i64 | int,
        share: i64 | int,
        splits: i64 | int,
        count: f64 | float,
        FIRST: Const[bool],
        LAST: Const[bool],
        DEPTH: Const[int],
        BLOCK_SIZE: Const[int],
    ) -> None:
        program = tl.program_id(Axis.X).to(i64)
        blocks = tl.cdiv(n_inner, BLOCK_SIZE)
        part = program // blocks
        col = program % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        inside = (col < n_inner)[None, :]
        lanes = tl.arange(0, DEPTH)[:, None]
        begin = part % splits * share * DEPTH
        height = tl.minimum(share * DEPTH, n_reduced - begin)
        base = x_ptr + (part // splits * n_reduced + begin) * n_inner + col[None, :]
        total: Any = start_of((DEPTH, BLOCK_SIZE), x_ptr, identity, whole)
        for start in range(0, height, DEPTH):
            mask = inside & (lanes < height - start)
            at = (start + lanes) * n_inner
            if total.dtype == i64:
                x = accumulated(tl.load(base + at, mask=mask, other=0))
                x = tl.where(mask, each(x) if FIRST else x, whole)
            elif FIRST:
                x = each(widen(tl.load(base + at, mask=mask, other=padding)))
            else:
                x = widen(tl.load(base + at, mask=mask, other=identity))
            total = combine(total, x)
        found = tl.reduce(total, 0, combine)
        if LAST:
            found = finish(found, number(count, found))
        tl.store(out_ptr + part * n_inner + col, found.to(tl.elem(out_ptr)), mask=col < n_inner)

    return reduce_columns


def reduce_into(
    operation: str, chosen: Reduction, result: Operand, x: Operand, axes: Sequence[int]
) -> None:
    """Reduce `axes` of `x` into `result`, contiguous, of as many elements as what is left."""
    if not result.size:
        return
    own = contiguous(operation, x)
    sides = list(x.shape)
    count = prod(sides[axis] for axis in axes)
    first = True
    for outer, reduced, inner, rest in _groups(sides, axes):
        length = reduced
        while True:
            splits = shares(outer, length, inner)[2]
            last = not rest and splits == 1
            target = result if last else empty(x, (outer, splits, inner), exact(x))
            _launch(chosen, target, own, (outer, length, inner), count, first, last)
            own, first, length = target, False, splits
            if splits == 1:
                break


def exact(x: Operand) -> str:
    """The dtype that `x` is computed in."""
    if x.dtype in INTEGERS:
        return "i64"
    return "f64" if x.dtype == "f64" else "f32"


def _groups(sides: list[int], axes: Sequence[int]) -> list[tuple[int, int, int, bool]]:
    """(outer, reduced, inner, whether more follow) for each run of adjacent axes, last first."""
    reduced = set(axes)
    found: list[tuple[int, int, int, bool]] = []
    inner = 1
    at = len(sides) - 1
    while at >= 0:
        if at not in reduced:
            inner *= sides[at]
            at -= 1
            continue
        length = 1
        # An axis of one element between two reduced ones changes nothing.
        while at >= 0 and (at in reduced or sides[at] == 1):
            length *= sides[at]
            at -= 1
        rest = any(axis <= at for axis in reduced)
        found.append((prod(sides[: at + 1]), length, inner, rest))
    return found or [(prod(sides), 1, 1, False)]


def shares(outer: int, reduced: int, inner: int) -> tuple[int, int, int, int]:
    """Rows, columns and shares of a plan: (tile height, tile width, splits, tiles of a share)."""
    width = block_of(reduced if inner == 1 else inner)
    height = TILE // width
    if inner == 1:
        tiles, steps = -(-outer // height), -(-reduced // width)
    else:
        tiles, steps = outer * -(-inner // width), -(-reduced // height)
    # A share of a few tiles costs less than the second launch.
    splits = max(1, min(PROGRAMS // max(1, tiles), steps // 4))
    share = -(-steps // splits)
    return height, width, max(1, -(-steps // max(1, share))), share


def block_of(side: int) -> int:
    """One of few widths, powers of four, so that there are few kernels to compile."""
    width = 4
    while width < side and width < TILE:
        width *= 4
    return width


def _launch(
    chosen: Reduction,
    target: Operand,
    x: Operand,
    sides: tuple[int, int, int],
    count: int,
    first: bool,
    last: bool,
) -> None:
    outer, reduced, inner = sides
    height, width, splits, share = shares(outer, reduced, inner)
    flags = {"FIRST": first or chosen.each is itself, "LAST": last or chosen.finish is as_it_is}
    if inner == 1:
        chosen.rows.options(num_warps=8)[-(-outer // height) * splits](
            *(target.array, x.array, outer, reduced, share, splits, count),
            **flags,
            ROWS=height,
            BLOCK_SIZE=width,
        )
        return
    chosen.columns.options(num_warps=8)[-(-inner // width) * outer * splits](
        *(target.array, x.array, reduced, inner, share, splits, count),
        **flags,
        DEPTH=height,
        BLOCK_SIZE=width,
    )
