"""Values: shapes. One mistake in each kernel, at the line marked `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f16, f32, i8, i32


# mistake vectors_of_two_lengths (shapes-differ): 16 elements added to 32
@kernel
def vectors_of_two_lengths(
    x: Ptr[f32], out: Ptr[f32], FEW: Const[int] = 16, MANY: Const[int] = 32
) -> None:
    few, many = tl.arange(0, FEW), tl.arange(0, MANY)
    tl.store(out + many, tl.load(x + few) + tl.load(x + many))  # wrong


# mistake tiles_of_two_shapes (shapes-differ): a row of 32 added to a tile of 16 columns
@kernel
def tiles_of_two_shapes(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes, wide = tl.arange(0, 16), tl.arange(0, 32)
    at = lanes[:, None] * 16 + lanes[None, :]
    tl.store(out + at, tl.load(x + at) + tl.load(x + wide)[None, :])  # wrong


# mistake branches_of_two_shapes (shapes-differ): where between 16 and 32 elements
@kernel
def branches_of_two_shapes(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes, wide = tl.arange(0, 16), tl.arange(0, 32)
    values = tl.load(x + lanes)
    tl.store(out + lanes, tl.where(values > 0.0, values, tl.load(x + wide)))  # wrong


# mistake rows_for_columns (shapes-differ): the rows' offsets where the columns' belong
@kernel
def rows_for_columns(x: Ptr[f32], bias: Ptr[f32], out: Ptr[f32]) -> None:
    rows, cols = tl.arange(0, 16), tl.arange(0, 64)
    at = rows[:, None] * 64 + cols[None, :]
    tl.store(out + at, tl.load(x + at) + tl.load(bias + rows)[None, :])  # wrong


# mistake mask_of_another_length (access-shape): a mask of 32 lanes for a load of 16
@kernel
def mask_of_another_length(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes, wide = tl.arange(0, 16), tl.arange(0, 32)
    tl.store(out + lanes, tl.load(x + lanes, mask=wide < n, other=0.0))  # wrong


# mistake value_of_another_length (access-shape): 32 values stored to 16 places
@kernel
def value_of_another_length(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes, wide = tl.arange(0, 16), tl.arange(0, 32)
    tl.store(out + lanes, tl.load(x + wide))  # wrong


# mistake transposed_value (access-shape): a tile stored to the places of its transpose
@kernel
def transposed_value(x: Ptr[f32], out: Ptr[f32]) -> None:
    rows, cols = tl.arange(0, 16), tl.arange(0, 32)
    at = rows[:, None] * 32 + cols[None, :]
    tl.store(out + cols[:, None] * 16 + rows[None, :], tl.load(x + at))  # wrong


# mistake reshaped_to_more (element-count): 16 elements reshaped to 32
@kernel
def reshaped_to_more(x: Ptr[f32], out: Ptr[f32]) -> None:
    tile = tl.reshape(tl.load(x + tl.arange(0, 16)), (4, 8))  # wrong
    tl.store(out, tl.max(tl.sum(tile, axis=1), axis=0))


# mistake broadcast_of_two (element-count): a side of 2 broadcast to 16
@kernel
def broadcast_of_two(x: Ptr[f32], out: Ptr[f32]) -> None:
    pair = tl.load(x + tl.arange(0, 2))[None, :]
    tile = tl.broadcast_to(pair, (16, 16))  # wrong
    tl.store(out, tl.max(tl.sum(tile, axis=1), axis=0))


# mistake repeated_axis (wrong-axes): a permutation that has an axis twice
@kernel
def repeated_axis(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + at, tl.permute(tl.load(x + at), (0, 0)))  # wrong


# mistake axes_of_three (wrong-axes): a permutation of three axes of a tile that has two
@kernel
def axes_of_three(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + at, tl.permute(tl.load(x + at), (0, 2, 1)))  # wrong


# mistake split_of_four (split-side): split along a side of 4
@kernel
def split_of_four(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 4 + tl.arange(0, 4)[None, :]
    left, right = tl.split(tl.load(x + at))  # wrong
    tl.store(out + tl.arange(0, 16), left + right)


# mistake joined_lengths (shapes-joined): 16 and 32 elements joined
@kernel
def joined_lengths(x: Ptr[f32], out: Ptr[f32]) -> None:
    few, many = tl.arange(0, 16), tl.arange(0, 32)
    pairs = tl.join(tl.load(x + few), tl.load(x + many))  # wrong
    tl.store(out, tl.max(tl.sum(pairs, axis=1), axis=0))


# mistake gathered_shape (shapes-joined): indices that differ from the source beside the axis
@kernel
def gathered_shape(x: Ptr[f32], at: Ptr[i32], out: Ptr[f32]) -> None:
    rows, cols = tl.arange(0, 16), tl.arange(0, 8)
    square = rows[:, None] * 16 + rows[None, :]
    few = cols[:, None] * 8 + cols[None, :]
    found = tl.gather(tl.load(x + square), tl.load(at + few), 1)  # wrong
    tl.store(out + few, found)


# mistake axis_of_shape (no-such-side): the third side of a tile's shape
@kernel
def axis_of_shape(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tile / tile.shape[2])  # wrong


# mistake sorted_rows (no-such-side): a sort along the first of two axes
@kernel
def sorted_rows(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), 0))  # wrong


# mistake inner_sides_differ (dot-shape): a product of 16x32 and 16x32
@kernel
def inner_sides_differ(x: Ptr[f16], out: Ptr[f32]) -> None:
    rows, cols = tl.arange(0, 16), tl.arange(0, 32)
    tile = tl.load(x + rows[:, None] * 32 + cols[None, :])
    product = tl.dot(tile, tile)  # wrong
    tl.store(out, tl.max(tl.sum(product, axis=1), axis=0))


# mistake accumulator_of_another_shape (dot-shape): an accumulator of another shape
@kernel
def accumulator_of_another_shape(x: Ptr[f16], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tile = tl.load(x + lanes[:, None] * 16 + lanes[None, :])
    product = tl.dot(tile, tile, tl.zeros((16, 32), f32))  # wrong
    tl.store(out, tl.max(tl.sum(product, axis=1), axis=0))


# mistake small_inner_side (dot-size): a product over 8 elements of f16
@kernel
def small_inner_side(x: Ptr[f16], y: Ptr[f16], out: Ptr[f32], K: Const[int] = 8) -> None:
    rows, inner = tl.arange(0, 16), tl.arange(0, K)
    left = tl.load(x + rows[:, None] * K + inner[None, :])
    right = tl.load(y + inner[:, None] * 16 + rows[None, :])
    tl.store(out + rows[:, None] * 16 + rows[None, :], tl.dot(left, right))  # wrong


# mistake small_inner_side_of_bytes (dot-size): a product over 16 elements of i8
@kernel
def small_inner_side_of_bytes(x: Ptr[i8], y: Ptr[i8], out: Ptr[i32], K: Const[int] = 16) -> None:
    rows, inner = tl.arange(0, 16), tl.arange(0, K)
    left = tl.load(x + rows[:, None] * K + inner[None, :])
    right = tl.load(y + inner[:, None] * 16 + rows[None, :])
    tl.store(out + rows[:, None] * 16 + rows[None, :], tl.dot(left, right))  # wrong


# mistake shape_changes_in_loop (loop-carried-shape): a vector that doubles in each iteration
@kernel
def shape_changes_in_loop(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    values = tl.load(x + tl.arange(0, 16))
    for _ in range(n):
        values = tl.interleave(values, values)  # wrong
    tl.store(out, tl.sum(values, axis=0))


# mistake shape_of_branch (loop-carried-shape): 16 elements in one branch, 32 in the other
@kernel
def shape_of_branch(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    if n > 16:
        values = tl.load(x + tl.arange(0, 32))
    else:
        values = tl.load(x + tl.arange(0, 16))
    tl.store(out, tl.sum(values, axis=0))  # wrong


# mistake too_much_shared_memory (shared-memory): tiles that no multiprocessor holds
@kernel
def too_much_shared_memory(
    x: Ptr[f32], y: Ptr[f32], out: Ptr[f32], n: i32 | int, SIDE: Const[int] = 256
) -> None:
    lanes = tl.arange(0, SIDE)
    square = lanes[:, None] * SIDE + lanes[None, :]
    total = tl.zeros((SIDE, SIDE), f32)
    for k in range(n):
        left = tl.load(x + k * SIDE * SIDE + square)
        right = tl.load(y + k * SIDE * SIDE + square)
        total = tl.dot(left, right, total)  # wrong
    tl.store(out + square, total)
