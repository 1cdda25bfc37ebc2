"""Element-wise kernels in the style of public Triton code, annotated."""

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import R1, Const, Ptr, Tensor, f32, i8, i32


@kernel
def add_kernel(
    x_ptr: Ptr[f32],
    y_ptr: Ptr[f32],
    output_ptr: Ptr[f32],
    n_elements: i32 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y
    tl.store(output_ptr + offsets, output, mask=mask)


@kernel
def seeded_dropout_kernel(
    x_ptr: Ptr[f32],
    output_ptr: Ptr[f32],
    n_elements: i32 | int,
    p: f32 | float,
    seed: i32 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    random = tl.rand(seed, offsets)
    x_keep = random > p
    output = tl.where(x_keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)


@device
def silu(x: Tensor[f32, R1]) -> Tensor[f32, R1]:
    return x * tl.sigmoid(x)


@kernel
def swiglu_forward_kernel(
    a_ptr: Ptr[f32],
    b_ptr: Ptr[f32],
    c_ptr: Ptr[f32],
    stride: i32 | int,
    n_cols: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program_id = tl.program_id(0).to(tl.int64)
    a_ptr += program_id * stride
    b_ptr += program_id * stride
    c_ptr += program_id * stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    a_row = tl.load(a_ptr + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b_ptr + col_offsets, mask=mask, other=0)
    c_row = silu(a_row).to(b_row.dtype) * b_row
    tl.store(c_ptr + col_offsets, c_row, mask=mask)


@kernel
def rope_kernel(
    x_ptr: Ptr[f32],
    cos_ptr: Ptr[f32],
    sin_ptr: Ptr[f32],
    seq_len: i32 | int,
    n_heads: i32 | int,
    HALF: Const[int],
) -> None:
    token = tl.program_id(0)
    head = tl.program_id(1)
    lane = tl.arange(0, HALF)
    base = x_ptr + (token * n_heads + head) * (2 * HALF)
    angle = (token % seq_len) * HALF + lane
    cos = tl.load(cos_ptr + angle)
    sin = tl.load(sin_ptr + angle)
    first = tl.load(base + lane)
    second = tl.load(base + HALF + lane)
    tl.store(base + lane, first * cos - second * sin)
    tl.store(base + HALF + lane, second * cos + first * sin)


@kernel
def quantize_rowwise_kernel(
    x_ptr: Ptr[f32],
    output_ptr: Ptr[i8],
    scale_ptr: Ptr[f32],
    n_cols: i32 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_cols
    x = tl.load(x_ptr + row * n_cols + offsets, mask=mask, other=0.0)
    largest = tl.max(tl.abs(x), axis=0)
    scaled = 127.0 * (x / largest)
    rounded = tl.floor(scaled + 0.5).to(tl.int8)
    tl.store(output_ptr + row * n_cols + offsets, rounded, mask=mask)
    tl.store(scale_ptr + row, largest)


@kernel
def adamw_kernel(
    p_ptr: Ptr[f32],
    g_ptr: Ptr[f32],
    m_ptr: Ptr[f32],
    v_ptr: Ptr[f32],
    n_elements: i32 | int,
    lr: f32 | float,
    beta1: f32 | float,
    beta2: f32 | float,
    eps: f32 | float,
    decay: f32 | float,
    step_size: f32 | float,
    root: f32 | float,
    BLOCK: Const[int],
) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    p = tl.load(p_ptr + offsets, mask=mask)
    g = tl.load(g_ptr + offsets, mask=mask)
    m = tl.load(m_ptr + offsets, mask=mask)
    v = tl.load(v_ptr + offsets, mask=mask)
    p *= 1 - lr * decay
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    p -= step_size * m / (tl.sqrt(v) / root + eps)
    tl.store(p_ptr + offsets, p, mask=mask)
    tl.store(m_ptr + offsets, m, mask=mask)
    tl.store(v_ptr + offsets, v, mask=mask)
