"""Faults: programs that store to one place. One in each kernel, at `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Ptr, f32, i32


# fault half_a_block: programs a half block apart
@kernel(extents={"x_ptr": "n", "y_ptr": "n"})
def half_a_block(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 8 + tl.arange(0, 16)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x + tl.program_id(0).to(f32), mask=i < n)  # wrong


# fault program_forgotten: each program stores the first block
@kernel(extents={"x_ptr": "num_programs(0) * 16", "y_ptr": "16"})
def program_forgotten(x_ptr: Ptr[f32], y_ptr: Ptr[f32]) -> None:
    lane = tl.arange(0, 16)
    x = tl.load(x_ptr + tl.program_id(0) * 16 + lane)
    tl.store(y_ptr + lane, x)  # wrong


# fault one_total: each program stores its sum to one place
@kernel(extents={"x_ptr": "n", "out_ptr": "1"})
def one_total(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.sum(x, axis=0))  # wrong


# fault second_axis_forgotten: programs of the second axis store the same rows
@kernel(extents={"x_ptr": "num_programs(0) * num_programs(1)", "y_ptr": "num_programs(0)"})
def second_axis_forgotten(x_ptr: Ptr[f32], y_ptr: Ptr[f32]) -> None:
    row, col = tl.program_id(0), tl.program_id(1)
    x = tl.load(x_ptr + row * tl.num_programs(1) + col)
    tl.store(y_ptr + row, x)  # wrong


# fault narrow_rows: rows that are wider than they lie apart
@kernel(extents={"x_ptr": "num_programs(0) * 32", "y_ptr": "num_programs(0) * 16 + 16"})
def narrow_rows(x_ptr: Ptr[f32], y_ptr: Ptr[f32]) -> None:
    row, lane = tl.program_id(0), tl.arange(0, 32)
    tl.store(y_ptr + row * 16 + lane, tl.load(x_ptr + row * 32 + lane))  # wrong


# fault folded_programs: more programs than slots
@kernel(extents={"x_ptr": "num_programs(0) * 16", "y_ptr": "4 * 16"})
def folded_programs(x_ptr: Ptr[f32], y_ptr: Ptr[f32]) -> None:
    program, lane = tl.program_id(0), tl.arange(0, 16)
    x = tl.load(x_ptr + program * 16 + lane)
    tl.store(y_ptr + (program % 4) * 16 + lane, x)  # wrong


# fault diagonal: places that depend on the sum of two program ids
@kernel(
    extents={
        "x_ptr": "num_programs(0) * num_programs(1)",
        "y_ptr": "num_programs(0) + num_programs(1)",
    }
)
def diagonal(x_ptr: Ptr[f32], y_ptr: Ptr[f32]) -> None:
    row, col = tl.program_id(0), tl.program_id(1)
    x = tl.load(x_ptr + row * tl.num_programs(1) + col)
    tl.store(y_ptr + row + col, x)  # wrong
