"""A stable sort of integer keys with the places they came from: for sums of equal keys in order.

Radix sort by four bits at a time (Satish et al. 2009, "Designing efficient sorting algorithms for
manycore GPUs"): blocks count their digits, the counts are summed over digits and blocks, and each
block puts its keys where they belong, in the order they had. No atomics: equal inputs give equal
results. Grid: one program for each block of `BLOCK_SIZE` keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import teeny_triton as tl
from teeny_kernels.arrays import Operand, empty
from teeny_kernels.reduce.scan_kernels import scan_into
from teeny_kernels.reduce.scans import CUMSUM
from teeny_macros import kernel
from teeny_triton import Axis, Const, Ptr, i32, i64

if TYPE_CHECKING:
    from teeny_macros import Kernel

BITS = 4
DIGITS = 16
BLOCK_SIZE = 512


@kernel(dtypes=(i32, i64), do_not_specialize=("shift", "n_blocks"))
def count_digits(
    count_ptr: Ptr[i32],
    key_ptr: Ptr[i32],
    n_keys: i64 | int,
    n_blocks: i64 | int,
    shift: i32 | int,
    DIGITS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X).to(i64)
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_keys - program * BLOCK_SIZE
    key = tl.load(key_ptr + program * BLOCK_SIZE + lanes, mask=mask, other=0)
    digit = (key >> shift) & (DIGITS - 1)
    digits = tl.arange(0, DIGITS)
    hits = (digit[:, None] == digits[None, :]) & mask[:, None]
    tl.store(count_ptr + digits * n_blocks + program, tl.sum(hits.to(i32), axis=0))


@kernel(dtypes=(i32, i64), do_not_specialize=("shift", "n_blocks"))
def place_keys(
    key_out_ptr: Ptr[i32],
    order_out_ptr: Ptr[i64],
    key_ptr: Ptr[i32],
    order_ptr: Ptr[i64] | None,
    count_ptr: Ptr[i32],
    total_ptr: Ptr[i64],
    n_keys: i64 | int,
    n_blocks: i64 | int,
    shift: i32 | int,
    DIGITS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X).to(i64)
    lanes = tl.arange(0, BLOCK_SIZE)
    at = program * BLOCK_SIZE + lanes
    mask = at < n_keys
    key = tl.load(key_ptr + at, mask=mask, other=0)
    digit = (key >> shift) & (DIGITS - 1)
    digits = tl.arange(0, DIGITS)
    hits = ((digit[:, None] == digits[None, :]) & mask[:, None]).to(i32)
    before = tl.cumsum(hits, axis=0) - hits
    own = digits * n_blocks + program
    begin = tl.load(total_ptr + own) - tl.load(count_ptr + own)
    place = tl.sum(tl.where(hits == 1, begin[None, :] + before, 0), axis=1)
    order = at
    if order_ptr is not None:
        order = tl.load(order_ptr + at, mask=mask, other=0)
    tl.store(key_out_ptr + place, key, mask=mask)
    tl.store(order_out_ptr + place, order, mask=mask)


KERNELS: tuple[Kernel[...], ...] = (count_digits, place_keys, CUMSUM.rows)


def sorted_keys(operation: str, keys: Operand, most: int) -> tuple[Operand, Operand]:
    """The keys, i32 from 0 to `most`, in order, and the place that each had, in i64.

    `keys` is contiguous and of one axis.
    """
    n = keys.size
    blocks = -(-n // BLOCK_SIZE)
    if not n:
        return keys, empty(keys, (0,), "i64")
    order: Operand | None = None
    for shift in range(0, max(1, most.bit_length()), BITS):
        counts = empty(keys, (DIGITS * blocks,), "i32")
        launch: Any = count_digits[blocks]
        launch(*(counts.array, keys.array, n, blocks, shift), DIGITS=DIGITS, BLOCK_SIZE=BLOCK_SIZE)
        totals = empty(keys, (DIGITS * blocks,), "i64")
        scan_into(operation, CUMSUM, totals, counts, 0)
        placed, moved = empty(keys, (n,), "i32"), empty(keys, (n,), "i64")
        launch = place_keys[blocks]
        launch(
            *(placed.array, moved.array, keys.array, None if order is None else order.array),
            *(counts.array, totals.array, n, blocks, shift),
            DIGITS=DIGITS,
            BLOCK_SIZE=BLOCK_SIZE,
        )
        keys, order = placed, moved
    assert order is not None
    return keys, order
