"""Faults: offsets that leave i32 where arrays are large. One in each kernel, at `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Ptr, f32, i32, i64


# fault wide_count: more elements than i32 counts, offsets of i32
@kernel(extents={"x_ptr": "n"})
def wide_count(x_ptr: Ptr[f32], n: i64 | int) -> None:
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    tl.store(x_ptr + i, 0.0, mask=i < n)  # wrong


# fault wide_rows: a row's place computed in i32 before it is widened
@kernel(extents={"x_ptr": "rows * 65536"})
def wide_rows(x_ptr: Ptr[f32], rows: i64 | int) -> None:
    row = tl.program_id(0)
    cols = tl.arange(0, 32)
    if row < rows:
        tl.store(x_ptr + (row * 65536).to(i64) + cols, 0.0)  # wrong


# fault widened_late: the product of program and block is widened, not an operand
@kernel(extents={"x_ptr": "n", "y_ptr": "n"})
def widened_late(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i64 | int) -> None:
    i = (tl.program_id(0) * 4096 + tl.arange(0, 4096)).to(i64)
    x = tl.load(x_ptr + i, mask=i < n)  # wrong
    tl.store(y_ptr + i, x, mask=i < n)  # wrong


# fault wide_heads: heads and tokens of a long context
@kernel(extents={"x_ptr": "num_programs(1) * context * 128", "num_programs(0)": "context"})
def wide_heads(x_ptr: Ptr[f32], context: i64 | int) -> None:
    token, head = tl.program_id(0), tl.program_id(1)
    lane = tl.arange(0, 128)
    tl.store(x_ptr + head * context * 128 + token * 128 + lane, 0.0)  # wrong


# fault byte_offsets: offsets in bytes, of elements that i32 still counts
@kernel(extents={"x_ptr": "n"})
def byte_offsets(x_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    bytes_ = i * 4
    tl.store(x_ptr + bytes_ // 4, 0.0, mask=i < n)  # wrong


# fault narrow_stride: the stride is narrowed to i32
@kernel(extents={"x_ptr": "(rows - 1) * stride + 32"})
def narrow_stride(x_ptr: Ptr[f32], rows: i32 | int, stride: i64 | int) -> None:
    row = tl.program_id(0)
    if row < rows:
        tl.store(x_ptr + row * stride.to(i32) + tl.arange(0, 32), 0.0)  # wrong
