"""Faults: masks forgotten, or that keep too little out. One in each kernel, at `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f32, i32


# fault mask_forgotten: a whole block is loaded where less may be left
@kernel(extents={"x_ptr": "n", "y_ptr": "n"})
def mask_forgotten(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = 64) -> None:
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)  # wrong
    tl.store(y_ptr + i, x, mask=i < n)


# fault store_mask_forgotten: the mask of the store is missing
@kernel(extents={"x_ptr": "n", "y_ptr": "n"})
def store_mask_forgotten(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x)  # wrong


# fault less_or_equal: `<=` where `<` belongs
@kernel(extents={"x_ptr": "n"})
def less_or_equal(x_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.store(x_ptr + i, 0.0, mask=i <= n)  # wrong


# fault one_mask_of_two: rows are masked, columns are not
@kernel(extents={"x_ptr": "(rows - 1) * stride + cols"})
def one_mask_of_two(x_ptr: Ptr[f32], rows: i32 | int, cols: i32 | int, stride: i32 | int) -> None:
    r = tl.program_id(0) * 8 + tl.arange(0, 8)[:, None]
    c = tl.arange(0, 64)[None, :]
    tl.store(x_ptr + r * stride + c, 1.0, mask=r < rows)  # wrong


# fault mask_of_other_axis: the mask compares rows with the number of columns
@kernel(extents={"x_ptr": "rows * cols"})
def mask_of_other_axis(x_ptr: Ptr[f32], rows: i32 | int, cols: i32 | int) -> None:
    r = tl.program_id(0) * 8 + tl.arange(0, 8)[:, None]
    c = tl.program_id(1) * 16 + tl.arange(0, 16)[None, :]
    tl.store(x_ptr + r * cols + c, 1.0, mask=(r < cols) & (c < cols))  # wrong


# fault either_mask: `|` where `&` belongs
@kernel(extents={"x_ptr": "rows * cols"})
def either_mask(x_ptr: Ptr[f32], rows: i32 | int, cols: i32 | int) -> None:
    r = tl.program_id(0) * 8 + tl.arange(0, 8)[:, None]
    c = tl.arange(0, 16)[None, :]
    tl.store(x_ptr + r * cols + c, 1.0, mask=(r < rows) | (c < cols))  # wrong


# fault stale_mask: in the loop the mask is that of the first block
@kernel(extents={"x_ptr": "n", "out_ptr": "num_programs(0)"})
def stale_mask(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 32)
    inside = lanes < n
    total = tl.zeros((32,), f32)
    for start in range(0, n, 32):
        total += tl.load(x_ptr + start + lanes, mask=inside, other=0.0)  # wrong
    tl.store(out_ptr + tl.program_id(0), tl.sum(total, axis=0))


# fault no_lower_bound: a window that begins before the array
@kernel(extents={"x_ptr": "n", "y_ptr": "n"})
def no_lower_bound(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    left = tl.load(x_ptr + i - 1, mask=i < n, other=0.0)  # wrong
    tl.store(y_ptr + i, left, mask=i < n)


# fault mask_before_shift: the mask is made before the offsets move
@kernel(extents={"x_ptr": "n", "y_ptr": "n"})
def mask_before_shift(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    inside = i < n
    i += 4
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=inside)  # wrong


# fault inverted_mask: the lanes outside are the live ones
@kernel(extents={"x_ptr": "n"})
def inverted_mask(x_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.store(x_ptr + i, 0.0, mask=i >= n)  # wrong
