"""Right kernels whose bounds are not plain to see; nothing in them may be refuted."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f32, i32, i64


@kernel(extents={"x_ptr": "n"})
def clamped(x_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    inside = i < n
    tl.atomic_add(x_ptr + tl.minimum(i, n - 1), 1.0, mask=inside)


@kernel(extents={"x_ptr": "n", "out_ptr": "num_programs(0)"})
def wrapped_around(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int) -> None:
    program = tl.program_id(0)
    i = (program * 16 + tl.arange(0, 16)) % n
    tl.store(out_ptr + program, tl.sum(tl.load(x_ptr + i), axis=0))


@kernel(extents={"x_ptr": "n"})
def from_the_end(x_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.store(x_ptr + (n - 1 - i), 0.0, mask=i < n)


@kernel(extents={"x_ptr": "n"})
def grid_stride(x_ptr: Ptr[f32], n: i32 | int) -> None:
    for start in range(tl.program_id(0) * 16, n, tl.num_programs(0) * 16):
        i = start + tl.arange(0, 16)
        tl.store(x_ptr + i, 0.0, mask=i < n)


@kernel(extents={"x_ptr": "n * n", "out_ptr": "num_programs(0)"})
def lower_triangle(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int) -> None:
    row = tl.program_id(0)
    total = tl.zeros((8,), f32)
    if row < n:
        for start in range(0, row + 1, 8):
            col = start + tl.arange(0, 8)
            total += tl.load(x_ptr + row * n + col, mask=col <= row, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


@kernel(extents={"x_ptr": "n", "y_ptr": "n"})
def stencil(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    left = tl.load(x_ptr + i - 1, mask=(i >= 1) & (i < n), other=0.0)
    right = tl.load(x_ptr + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(y_ptr + i, left + right, mask=i < n)


@kernel(extents={"x_ptr": "n", "flag_ptr": "1"})
def same_value_from_all(x_ptr: Ptr[f32], flag_ptr: Ptr[i32], n: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.store(x_ptr + i, 1.0, mask=i < n)
    tl.store(flag_ptr, 1)


@kernel(extents={"x_ptr": "n"})
def wide_done_right(x_ptr: Ptr[f32], n: i64 | int) -> None:
    i = tl.program_id(0).to(i64) * 1024 + tl.arange(0, 1024)
    tl.store(x_ptr + i, 0.0, mask=i < n)


@kernel(extents={"x_ptr": "(rows - 1) * stride + 32"})
def early_return(x_ptr: Ptr[f32], rows: i32 | int, stride: i32 | int) -> None:
    row = tl.program_id(0)
    if row >= rows:
        return
    tl.store(x_ptr + row * stride + tl.arange(0, 32), 0.0)


@kernel(extents={"x_ptr": "n", "index_ptr": "n", "y_ptr": "n"})
def gathered(
    x_ptr: Ptr[f32], index_ptr: Ptr[i32], y_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = 32
) -> None:
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.store(y_ptr + i, tl.load(x_ptr + index, mask=i < n), mask=i < n)


@kernel(extents={"x_ptr": "batch * (2 * half)", "num_programs(0)": "batch"})
def exchanged_halves(x_ptr: Ptr[f32], batch: i32 | int, half: i32 | int) -> None:
    row = tl.program_id(0)
    lane = tl.arange(0, 64)
    inside = lane < half
    first = tl.load(x_ptr + row * 2 * half + lane, mask=inside)
    second = tl.load(x_ptr + row * 2 * half + half + lane, mask=inside)
    tl.store(x_ptr + row * 2 * half + lane, second, mask=inside)
    tl.store(x_ptr + row * 2 * half + half + lane, first, mask=inside)


@kernel(extents={"x_ptr": "rows * cols", "y_ptr": "rows * cols"})
def flattened(x_ptr: Ptr[f32], y_ptr: Ptr[f32], rows: i32 | int, cols: i32 | int) -> None:
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    row, col = i // cols, i % cols
    inside = i < rows * cols
    x = tl.load(x_ptr + row * cols + col, mask=inside)
    tl.store(y_ptr + col * rows + row, x, mask=inside)
