"""Faults: extents that are too small, and strides that are exchanged. One each, at `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f32, i32


# fault output_is_smaller: the output has one element for each block
@kernel(extents={"x_ptr": "n", "out_ptr": "cdiv(n, 64)"})
def output_is_smaller(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int) -> None:
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x, mask=i < n)  # wrong


# fault weights_of_columns: one weight for each column, indexed by rows
@kernel(extents={"x_ptr": "rows * cols", "w_ptr": "cols"})
def weights_of_columns(x_ptr: Ptr[f32], w_ptr: Ptr[f32], rows: i32 | int, cols: i32 | int) -> None:
    r = tl.program_id(0) * 8 + tl.arange(0, 8)
    c = tl.arange(0, 32)
    w = tl.load(w_ptr + r, mask=r < rows)[:, None]  # wrong
    inside = (r < rows)[:, None] & (c < cols)[None, :]
    at = r[:, None] * cols + c[None, :]
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=inside) * w, mask=inside)


# fault other_count: the mask counts another array's elements
@kernel(extents={"x_ptr": "n", "y_ptr": "m"})
def other_count(x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32 | int, m: i32 | int) -> None:
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x, mask=i < n)  # wrong


# fault half_the_channels: two halves are read, and one is there
@kernel(extents={"x_ptr": "num_programs(0) * HALF", "y_ptr": "num_programs(0) * HALF"})
def half_the_channels(x_ptr: Ptr[f32], y_ptr: Ptr[f32], HALF: Const[int] = 16) -> None:
    lane = tl.program_id(0) * HALF + tl.arange(0, HALF)
    first = tl.load(x_ptr + lane)
    second = tl.load(x_ptr + HALF + lane)  # wrong
    tl.store(y_ptr + lane, first + second)


# fault padded_tile: a tile of the next power of two, unmasked
@kernel(extents={"x_ptr": "num_programs(0) * 48", "y_ptr": "num_programs(0) * 64"})
def padded_tile(x_ptr: Ptr[f32], y_ptr: Ptr[f32]) -> None:
    row, lane = tl.program_id(0), tl.arange(0, 64)
    tl.store(y_ptr + row * 64 + lane, tl.load(x_ptr + row * 48 + lane))  # wrong


# fault swapped_strides: the strides of rows and columns exchanged
@kernel(extents={"x_ptr": "(rows - 1) * stride_r + (cols - 1) * stride_c + 1"})
def swapped_strides(
    x_ptr: Ptr[f32], rows: i32 | int, cols: i32 | int, stride_r: i32 | int, stride_c: i32 | int
) -> None:
    r = tl.program_id(0) * 8 + tl.arange(0, 8)[:, None]
    c = tl.program_id(1) * 8 + tl.arange(0, 8)[None, :]
    inside = (r < rows) & (c < cols)
    tl.store(x_ptr + r * stride_c + c * stride_r, 0.0, mask=inside)  # wrong


# fault rows_for_columns: the row is multiplied by the number of rows
@kernel(extents={"x_ptr": "rows * cols"})
def rows_for_columns(x_ptr: Ptr[f32], rows: i32 | int, cols: i32 | int) -> None:
    r = tl.program_id(0) * 8 + tl.arange(0, 8)[:, None]
    c = tl.program_id(1) * 8 + tl.arange(0, 8)[None, :]
    tl.store(x_ptr + r * rows + c, 0.0, mask=(r < rows) & (c < cols))  # wrong


# fault untransposed: the transpose is stored with the strides of the source
@kernel(extents={"x_ptr": "(m - 1) * sx + n", "y_ptr": "(n - 1) * sy + m"})
def untransposed(
    x_ptr: Ptr[f32], y_ptr: Ptr[f32], m: i32 | int, n: i32 | int, sx: i32 | int, sy: i32 | int
) -> None:
    r = tl.program_id(0) * 8 + tl.arange(0, 8)
    c = tl.program_id(1) * 8 + tl.arange(0, 8)
    inside = (r < m)[:, None] & (c < n)[None, :]
    x = tl.load(x_ptr + r[:, None] * sx + c[None, :], mask=inside)
    tl.store(y_ptr + r[:, None] * sy + c[None, :], x, mask=inside)  # wrong


# fault product_strides: in a product, B is walked with the stride of A
@kernel(extents={"a_ptr": "M * K", "b_ptr": "K * N", "c_ptr": "M * N"})
def product_strides(
    a_ptr: Ptr[f32], b_ptr: Ptr[f32], c_ptr: Ptr[f32], M: i32 | int, N: i32 | int, K: i32 | int
) -> None:
    r = tl.program_id(0) * 16 + tl.arange(0, 16)
    c = tl.program_id(1) * 16 + tl.arange(0, 16)
    total = tl.zeros((16, 16), f32)
    for start in range(0, K, 16):
        k = start + tl.arange(0, 16)
        a_mask = (r < M)[:, None] & (k < K)[None, :]
        b_mask = (k < K)[:, None] & (c < N)[None, :]
        a = tl.load(a_ptr + r[:, None] * K + k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * K + c[None, :], mask=b_mask, other=0.0)  # wrong
        total = tl.dot(a, b, total)
    inside = (r < M)[:, None] & (c < N)[None, :]
    tl.store(c_ptr + r[:, None] * N + c[None, :], total, mask=inside)


# fault head_stride: heads and tokens exchanged in an array of (tokens, heads, 16)
@kernel(extents={"x_ptr": "tokens * heads * 16", "num_programs(0)": "tokens"})
def head_stride(x_ptr: Ptr[f32], tokens: i32 | int, heads: i32 | int) -> None:
    token, head = tl.program_id(0), tl.program_id(1)
    lane = tl.arange(0, 16)
    at = x_ptr + (head * heads + token) * 16 + lane
    if head < heads:
        tl.store(at, tl.load(at) * 2.0)  # wrong
