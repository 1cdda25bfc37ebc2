"""Faults: counts and steps that are off by one. One in each kernel, at `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Ptr, f32, i32


# fault next_element: the neighbor of the last element
@kernel(extents={"x_ptr": "n", "y_ptr": "n"})
def next_element(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    right = tl.load(x_ptr + i + 1, mask=i < n)  # wrong
    tl.store(y_ptr + i, right, mask=i < n)


# fault from_one: elements counted from one
@kernel(extents={"x_ptr": "n"})
def from_one(x_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16) + 1
    tl.store(x_ptr + i, 0.0, mask=i < n + 1)  # wrong


# fault program_from_one: programs counted from one
@kernel(extents={"x_ptr": "num_programs(0)"})
def program_from_one(x_ptr: Ptr[f32]) -> None:
    tl.store(x_ptr + tl.program_id(0) + 1, 0.0)  # wrong


# fault one_turn_too_many: the loop takes a turn behind the last row
@kernel(extents={"x_ptr": "rows * 32", "out_ptr": "32"})
def one_turn_too_many(x_ptr: Ptr[f32], out_ptr: Ptr[f32], rows: i32 | int) -> None:
    cols = tl.arange(0, 32)
    total = tl.zeros((32,), f32)
    for row in range(rows + 1):
        total += tl.load(x_ptr + row * 32 + cols)  # wrong
    tl.atomic_add(out_ptr + cols, total)


# fault rounded_up: whole blocks are counted, and the last one is not masked
@kernel(extents={"x_ptr": "n", "out_ptr": "1"})
def rounded_up(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    total = tl.zeros((16,), f32)
    for block in range(tl.cdiv(n, 16)):
        total += tl.load(x_ptr + block * 16 + lanes)  # wrong
    tl.atomic_add(out_ptr, tl.sum(total, axis=0))


# fault pointer_ahead: the pointer moves on before the load
@kernel(extents={"x_ptr": "n", "out_ptr": "1"})
def pointer_ahead(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    pointers = x_ptr + lanes
    total = tl.zeros((16,), f32)
    for start in range(0, n, 16):
        pointers += 16
        total += tl.load(pointers, mask=start + lanes < n, other=0.0)  # wrong
    tl.atomic_add(out_ptr, tl.sum(total, axis=0))


# fault last_of_row: the last column is taken to be the number of columns
@kernel(extents={"x_ptr": "num_programs(0) * cols", "out_ptr": "num_programs(0)"})
def last_of_row(x_ptr: Ptr[f32], out_ptr: Ptr[f32], cols: i32 | int) -> None:
    row = tl.program_id(0)
    tl.store(out_ptr + row, tl.load(x_ptr + row * cols + cols))  # wrong


# fault even_and_odd: pairs, where the number of elements may be odd
@kernel(extents={"x_ptr": "n", "y_ptr": "n"})
def even_and_odd(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32 | int) -> None:
    pair = tl.program_id(0) * 16 + tl.arange(0, 16)
    inside = pair < tl.cdiv(n, 2)
    even = tl.load(x_ptr + 2 * pair, mask=inside)
    odd = tl.load(x_ptr + 2 * pair + 1, mask=inside)  # wrong
    tl.store(y_ptr + 2 * pair, even + odd, mask=inside)
