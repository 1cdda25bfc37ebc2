"""Values: the rules of descriptors. One mistake in each kernel, at the line marked `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f16, f32, i32


# mistake strided_columns (descriptor-stride): the last stride of a descriptor is not 1
@kernel
def strided_columns(x: Ptr[f16], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(x, (16, n), (1, 16), (16, 16))  # wrong
    tl.store(out + at, tiles.load((0, 0)))


# mistake unaligned_rows (descriptor-stride): rows of 40 bytes, which is no multiple of 16
@kernel
def unaligned_rows(x: Ptr[f16], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(x, (n, 20), (20, 1), (16, 16))  # wrong
    tl.store(out + at, tiles.load((0, 0)))


# mistake narrow_tile (descriptor-block): rows of 8 bytes in a tile
@kernel
def narrow_tile(x: Ptr[f16], out: Ptr[f16], n: i32 | int, COLS: Const[int] = 4) -> None:
    at = tl.arange(0, 16)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tiles = tl.make_tensor_descriptor(x, (n, 64), (64, 1), (16, COLS))  # wrong
    tl.store(out + at, tiles.load((0, 0)))


# mistake tile_of_24_rows (descriptor-block): 24 rows in a tile
@kernel
def tile_of_24_rows(x: Ptr[f16], out: Ptr[f16], n: i32 | int, ROWS: Const[int] = 24) -> None:
    tiles = tl.make_tensor_descriptor(x, (n, 64), (64, 1), (ROWS, 16))  # wrong
    tl.store(out, tl.max(tl.sum(tiles.load((0, 0)).to(f32), axis=1), axis=0).to(f16))


# mistake tile_of_another_shape (descriptor-tile): a tile of another shape than the block's stored
@kernel
def tile_of_another_shape(x: Ptr[f16], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(out, (n, 64), (64, 1), (16, 32))
    tiles.store((0, 0), tl.load(x + at))  # wrong


# mistake gather_of_many_rows (descriptor-gather): a gather through blocks of 16 rows
@kernel
def gather_of_many_rows(x: Ptr[f16], rows: Ptr[i32], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(x, (n, 64), (64, 1), (16, 16))
    tl.store(out + at, tiles.gather(tl.load(rows + tl.arange(0, 16)), 0))  # wrong


# mistake gather_of_four_rows (descriptor-gather): a gather of 4 rows, of 8 at least
@kernel
def gather_of_four_rows(x: Ptr[f16], rows: Ptr[i32], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(x, (n, 64), (64, 1), (1, 16))
    tl.store(out + at, tiles.gather(tl.load(rows + tl.arange(0, 4)), 0))  # wrong
