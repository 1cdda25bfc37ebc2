"""Types and ranks: ranks, axes, masks. One mistake in each kernel, at the line marked `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Ptr, f32, i32


# mistake vector_plus_tile (expansion-forgotten): a vector added to a tile, `[:, None]` forgotten
@kernel
def vector_plus_tile(x: Ptr[f32], bias: Ptr[f32], out: Ptr[f32]) -> None:
    rows, cols = tl.arange(0, 16), tl.arange(0, 16)
    at = rows[:, None] * 16 + cols[None, :]
    tl.store(out + at, tl.load(x + at) + tl.load(bias + cols))  # wrong


# mistake unexpanded_offsets (expansion-forgotten): the columns of a tile's offsets not expanded
@kernel
def unexpanded_offsets(x: Ptr[f32], out: Ptr[f32]) -> None:
    rows, cols = tl.arange(0, 16), tl.arange(0, 16)
    at = rows[:, None] * 16 + cols  # wrong
    tl.store(out + at, tl.load(x + at))


# mistake vector_mask_of_tile (expansion-forgotten): a mask of rank 1 for a tile
@kernel
def vector_mask_of_tile(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    rows, cols = tl.arange(0, 16), tl.arange(0, 16)
    at = rows[:, None] * 16 + cols[None, :]
    tl.store(out + at, tl.load(x + at, mask=cols < n, other=0.0))  # wrong


# mistake unexpanded_mask (expansion-forgotten): the two halves of a mask of different ranks
@kernel
def unexpanded_mask(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    rows, cols = tl.arange(0, 16), tl.arange(0, 16)
    at = rows[:, None] * 16 + cols[None, :]
    inside = (rows[:, None] < n) & (cols < n)  # wrong
    tl.store(out + at, tl.load(x + at, mask=inside, other=0.0))


# mistake reduced_minus_tile (keep-dims-forgotten): a reduced tile subtracted from the tile
@kernel
def reduced_minus_tile(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tile - tl.max(tile, axis=1))  # wrong


# mistake reduced_divides_tile (keep-dims-forgotten): the same with `/` and the method
@kernel
def reduced_divides_tile(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tile / tile.sum(axis=1))  # wrong


# mistake reduced_to_tile (wrong-rank-stored): row sums stored through the pointers of a tile
@kernel
def reduced_to_tile(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + at, tl.sum(tl.load(x + at), axis=1))  # wrong


# mistake tile_to_vector (wrong-rank-stored): a tile stored through the pointers of a vector
@kernel
def tile_to_vector(x: Ptr[f32], out: Ptr[f32]) -> None:
    rows = tl.arange(0, 16)
    at = rows[:, None] * 16 + rows[None, :]
    tl.store(out + rows, tl.load(x + at))  # wrong


# mistake tile_to_scalar (wrong-rank-stored): one axis of a tile summed, and stored as one number
@kernel
def tile_to_scalar(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out, tl.sum(tl.load(x + at), axis=0))  # wrong


# mistake axis_too_large (no-such-axis): axis 1 of a vector
@kernel
def axis_too_large(x: Ptr[f32], out: Ptr[f32]) -> None:
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, 16)), axis=1))  # wrong


# mistake axis_of_method (no-such-axis): axis 2 of a tile, with the method
@kernel
def axis_of_method(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + tl.arange(0, 16), tl.load(x + at).max(axis=2))  # wrong


# mistake axis_of_expansion (no-such-axis): expand_dims at axis 3 of a vector
@kernel
def axis_of_expansion(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + tl.expand_dims(lanes, 3), tl.load(x + lanes))  # wrong


# mistake axis_of_program (no-such-axis): axis 3 of the grid
@kernel
def axis_of_program(x: Ptr[f32], out: Ptr[f32]) -> None:
    tl.store(out, tl.load(x + tl.program_id(3)))  # wrong


# mistake too_many_indices (wrong-index): `[:, :, None]` of a vector
@kernel
def too_many_indices(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    tl.store(out + lanes[:, None], values[:, :, None])  # wrong


# mistake too_few_colons (wrong-index): `[:, None]` of a tile
@kernel
def too_few_colons(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + at, tl.load(x + at)[:, None])  # wrong


# mistake transposed_vector (wrong-rank): the transpose of a vector
@kernel
def transposed_vector(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes).T)  # wrong


# mistake broadcast_to_tile (wrong-rank): a vector broadcast to a tile without an axis of length 1
@kernel
def broadcast_to_tile(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    at = lanes[:, None] * 16 + lanes[None, :]
    tl.store(out + at, tl.broadcast_to(tl.load(x + lanes), (16, 16)))  # wrong


# mistake gather_by_vector (wrong-rank): a tile gathered by a vector of indices
@kernel
def gather_by_vector(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    at = lanes[:, None] * 16 + lanes[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), lanes, 0))  # wrong


# mistake shape_without_tuple (shape-form): a shape that is a number
@kernel
def shape_without_tuple(out: Ptr[f32]) -> None:
    tl.store(out + tl.arange(0, 16), tl.zeros(16, f32))  # wrong


# mistake sides_as_arguments (shape-form): the sides of a shape as arguments of their own
@kernel
def sides_as_arguments(out: Ptr[f32]) -> None:
    rows = tl.arange(0, 16)
    at = rows[:, None] * 16 + rows[None, :]
    tl.store(out + at, tl.zeros(16, 16, f32))  # wrong


# mistake integers_as_mask (wrong-mask): integers as a mask
@kernel
def integers_as_mask(x: Ptr[f32], keep: Ptr[i32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes), mask=tl.load(keep + lanes))  # wrong


# mistake bound_as_mask (wrong-mask): the bound itself as a mask
@kernel
def bound_as_mask(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes, mask=n, other=0.0))  # wrong


# mistake product_of_masks (wrong-mask): masks joined by `*`
@kernel
def product_of_masks(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes), mask=(lanes < n) * (lanes > 1))  # wrong


# mistake parentheses_of_mask (wrong-mask): `<` and `&` without parentheses
@kernel
def parentheses_of_mask(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes), mask=lanes < n & lanes > 1)  # wrong


# mistake and_of_masks (truth-of-tensor): `and` for `&`
@kernel
def and_of_masks(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes), mask=lanes < n and lanes > 1)  # wrong


# mistake or_of_masks (truth-of-tensor): `or` for `|`
@kernel
def or_of_masks(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    first, last = lanes < n, lanes == 15
    tl.store(out + lanes, tl.load(x + lanes), mask=first or last)  # wrong


# mistake not_of_mask (truth-of-tensor): `not` for `~`
@kernel
def not_of_mask(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes), mask=not (lanes < n))  # wrong


# mistake chained_comparison (truth-of-tensor): a chained comparison of a tensor
@kernel
def chained_comparison(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes), mask=1 < lanes < n)  # wrong


# mistake branch_on_tensor (branch-on-tensor): `if` on a tensor
@kernel
def branch_on_tensor(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    if values > 0.0:  # wrong
        tl.store(out + lanes, values)


# mistake loop_on_tensor (branch-on-tensor): `while` on a tensor
@kernel
def loop_on_tensor(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    while values > 1.0:  # wrong
        values = values * 0.5
    tl.store(out + lanes, values)


# mistake ternary_on_tensor (branch-on-tensor): a ternary on a tensor instead of where
@kernel
def ternary_on_tensor(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    tl.store(out + lanes, values if values > 0.0 else 0.0)  # wrong


# mistake assertion_on_tensor (branch-on-tensor): `assert` on a tensor
@kernel
def assertion_on_tensor(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    assert values >= 0.0  # wrong
    tl.store(out + lanes, values)


# mistake equal_across_ranks (compared-ranks): `==` of a tile and a vector
@kernel
def equal_across_ranks(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    at = lanes[:, None] * 16 + lanes[None, :]
    tl.store(out + at, tl.load(x + at), mask=at == lanes)  # wrong


# mistake below_across_ranks (compared-ranks): `<` of a tile and a vector
@kernel
def below_across_ranks(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    at = lanes[:, None] * 16 + lanes[None, :]
    tl.store(out + at, tl.load(x + at), mask=at < lanes)  # wrong


# mistake values_as_condition (wrong-condition): values as the condition of where
@kernel
def values_as_condition(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    tl.store(out + lanes, tl.where(values, values, 0.0))  # wrong
