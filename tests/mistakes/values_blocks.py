"""Values: block sizes, limits, constants. One mistake in each kernel, at the line `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f16, f32, i16, i32, u8


# mistake range_of_100 (not-a-power-of-two): arange over 100 elements
@kernel
def range_of_100(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 100) -> None:
    lanes = tl.arange(0, BLOCK)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake zeros_of_48 (not-a-power-of-two): a tile of 48 columns
@kernel
def zeros_of_48(out: Ptr[f32], COLS: Const[int] = 48) -> None:
    tile = tl.zeros((16, COLS), f32)  # wrong
    tl.store(out, tl.max(tl.sum(tile, axis=1), axis=0))


# mistake whole_row (not-a-power-of-two): the length of a row as a block size
@kernel
def whole_row(x: Ptr[f32], out: Ptr[f32], n: i32 | int, COLS: Const[int] = 1000) -> None:
    cols = tl.arange(0, COLS)  # wrong
    row = tl.load(x + tl.program_id(0) * n + cols)
    tl.store(out + tl.program_id(0), tl.sum(row, axis=0))


# mistake third_of_block (not-a-power-of-two): a third of a block
@kernel
def third_of_block(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 64) -> None:
    lanes = tl.arange(0, BLOCK // 3)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake empty_range (empty-range): arange over nothing
@kernel
def empty_range(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 0) -> None:
    lanes = tl.arange(0, BLOCK)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake reversed_range (empty-range): the bounds of arange swapped
@kernel
def reversed_range(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 32) -> None:
    lanes = tl.arange(BLOCK, 0)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake negative_side (empty-range): a negative side of a shape
@kernel
def negative_side(out: Ptr[f32], BLOCK: Const[int] = 16) -> None:
    tile = tl.zeros((BLOCK - 32,), f32)  # wrong
    tl.store(out, tl.sum(tile, axis=0))


# mistake oversized_range (oversized-tile): arange over two million elements
@kernel
def oversized_range(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 2097152) -> None:
    lanes = tl.arange(0, BLOCK)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake oversized_tile (oversized-tile): a tile of two million elements
@kernel
def oversized_tile(out: Ptr[f32], ROWS: Const[int] = 2048, COLS: Const[int] = 1024) -> None:
    tile = tl.zeros((ROWS, COLS), f32)  # wrong
    tl.store(out, tl.max(tl.sum(tile, axis=1), axis=0))


# mistake oversized_broadcast (oversized-tile): a broadcast to four million elements
@kernel
def oversized_broadcast(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 2048) -> None:
    lanes = tl.arange(0, BLOCK)
    near = tl.load(x + lanes)[:, None] - tl.load(x + lanes)[None, :]  # wrong
    tl.store(out + lanes, tl.sum(near, axis=1))


# mistake literal_too_large (literal-out-of-range): 300 added to u8
@kernel
def literal_too_large(x: Ptr[u8], out: Ptr[u8]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes) + 300)  # wrong


# mistake negative_unsigned (literal-out-of-range): u8 compared with -1
@kernel
def negative_unsigned(x: Ptr[u8], out: Ptr[u8]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    tl.store(out + lanes, values, mask=values > -1)  # wrong


# mistake stored_too_large (literal-out-of-range): 70000 stored as i16
@kernel
def stored_too_large(out: Ptr[i16]) -> None:
    tl.store(out + tl.arange(0, 16), 70000)  # wrong


# mistake filled_too_large (literal-out-of-range): a tensor of u8 filled with 256
@kernel
def filled_too_large(out: Ptr[u8]) -> None:
    tl.store(out + tl.arange(0, 16), tl.full((16,), 256, u8))  # wrong


# mistake shift_too_far (oversized-shift): an i32 shifted by 32
@kernel
def shift_too_far(x: Ptr[i32], out: Ptr[i32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes) << 32)  # wrong


# mistake shift_of_bytes_too_far (oversized-shift): a u8 shifted by 8
@kernel
def shift_of_bytes_too_far(x: Ptr[u8], out: Ptr[u8]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes) >> 8)  # wrong


# mistake zero_step (zero-step): a range of step 0
@kernel
def zero_step(x: Ptr[f32], out: Ptr[f32], n: i32 | int, STEP: Const[int] = 0) -> None:
    total = tl.load(x)
    for k in tl.range(0, n, STEP):  # wrong
        total = total + tl.load(x + k)
    tl.store(out, total)


# mistake zero_unrolled_step (zero-step): an unrolled range of step 0
@kernel
def zero_unrolled_step(x: Ptr[f32], out: Ptr[f32], STEP: Const[int] = 0) -> None:
    total = tl.load(x)
    for k in tl.static_range(0, 8, STEP):  # wrong
        total = total + tl.load(x + k)
    tl.store(out, total)


# mistake failed_assertion (failed-assertion): a block size that an assertion forbids
@kernel
def failed_assertion(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 32) -> None:
    tl.static_assert(BLOCK % 64 == 0, "a block is a multiple of 64")  # wrong
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes))


# mistake division_by_zero (division-by-zero): a constant divided by zero
@kernel
def division_by_zero(x: Ptr[f32], out: Ptr[f32], PARTS: Const[int] = 0) -> None:
    lanes = tl.arange(0, 64 // PARTS)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake tiles_of_zero (division-by-zero): cdiv of constants by zero
@kernel
def tiles_of_zero(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 0) -> None:
    total = tl.load(x)
    for k in tl.static_range(tl.cdiv(64, BLOCK)):  # wrong
        total = total + tl.load(x + k)
    tl.store(out, total)


# mistake bits_of_another_width (changed-width): a bitcast of f32 to f16
@kernel
def bits_of_another_width(x: Ptr[f32], out: Ptr[f16]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes).to(f16, bitcast=True))  # wrong


# mistake hint_of_another_rank (hint-rank): two divisors hinted for a vector
@kernel
def hint_of_another_rank(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.multiple_of(tl.arange(0, 16), (16, 16))  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake endless_unrolling (endless-unrolling): a million iterations unrolled
@kernel
def endless_unrolling(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    total = tl.load(x)
    for k in tl.static_range(1000000):  # wrong
        total = total + tl.load(x + k)
    tl.store(out, total)
