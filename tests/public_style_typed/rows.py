"""Row-wise kernels in the style of public Triton code, annotated."""

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import R1, Const, Ptr, Tensor, f32, i32, i64


@kernel
def softmax_kernel(
    output_ptr: Ptr[f32],
    input_ptr: Ptr[f32],
    input_row_stride: i32 | int,
    output_row_stride: i32 | int,
    n_rows: i32 | int,
    n_cols: i32 | int,
    BLOCK_SIZE: Const[int],
    STAGES: Const[int],
) -> None:
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=STAGES):
        row_start_ptr = input_ptr + row_idx * input_row_stride
        col_offsets = tl.arange(0, BLOCK_SIZE)
        input_ptrs = row_start_ptr + col_offsets
        mask = col_offsets < n_cols
        row = tl.load(input_ptrs, mask=mask, other=-float("inf"))
        row_minus_max = row - tl.max(row, axis=0)
        numerator = tl.exp(row_minus_max)
        denominator = tl.sum(numerator, axis=0)
        softmax_output = numerator / denominator
        output_row_start_ptr = output_ptr + row_idx * output_row_stride
        output_ptrs = output_row_start_ptr + col_offsets
        tl.store(output_ptrs, softmax_output, mask=mask)


@kernel
def layer_norm_fwd_fused(
    X: Ptr[f32],
    Y: Ptr[f32],
    W: Ptr[f32],
    B: Ptr[f32],
    Mean: Ptr[f32],
    Rstd: Ptr[f32],
    stride: i32 | int,
    N: int,
    eps: f32 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    _mean: Tensor[f32, R1] = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        a = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        _mean += a
    mean = tl.sum(_mean, axis=0) / N
    _var: Tensor[f32, R1] = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        _var += x * x
    var = tl.sum(_var, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        b = tl.load(B + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
        x_hat = (x - mean) * rstd
        y = x_hat * w + b
        tl.store(Y + cols, y, mask=mask)


@kernel
def rms_norm_kernel(
    X: Ptr[f32],
    Y: Ptr[f32],
    W: Ptr[f32],
    stride: i32 | int,
    N: int,
    eps: f32 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    rrms = tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
    w = tl.load(W + cols, mask=mask, other=0.0)
    tl.store(Y + row * stride + cols, x * rrms * w, mask=mask)


@kernel
def cross_entropy_kernel(
    X_ptr: Ptr[f32],
    X_stride: i32 | int,
    Y_ptr: Ptr[i64],
    loss_ptr: Ptr[f32],
    n_cols: i32 | int,
    n_rows: int,
    ignore_index: i32 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    program_id = tl.program_id(0).to(tl.int64)
    y = tl.load(Y_ptr + program_id)
    X_ptr += program_id * X_stride
    if y == ignore_index:
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            tl.store(X_ptr + X_offsets, 0.0, mask=X_offsets < n_cols)
        return
    m = float("-inf")
    d = 0.0
    ori_X_y = tl.load(X_ptr + y)
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf"))
        block_max = tl.max(X_block)
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
        m = m_new
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf"))
        X_block = tl.exp(X_block - m) / d / n_rows
        X_block = tl.where(X_offsets != y, X_block, X_block - 1 / n_rows)
        tl.store(X_ptr + X_offsets, X_block, mask=X_offsets < n_cols)
    tl.debug_barrier()
    tl.store(loss_ptr + program_id, m + tl.log(d) - ori_X_y)


@kernel
def topk_kernel(
    x_ptr: Ptr[f32], out_ptr: Ptr[f32], n_cols: i32 | int, K: Const[int], BLOCK: Const[int]
) -> None:
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("-inf"))
    best = tl.topk(x, K)
    tl.store(out_ptr + row * K + tl.arange(0, K), best)


@device
def segmented_add(value_a: f32, start_a: i32, value_b: f32, start_b: i32) -> tuple[f32, i32]:
    return tl.where(start_b != 0, value_b, value_a + value_b), start_a | start_b


@kernel
def segmented_scan_kernel(
    x_ptr: Ptr[f32], start_ptr: Ptr[i32], out_ptr: Ptr[f32], n_cols: i32 | int, BLOCK: Const[int]
) -> None:
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    start = tl.load(start_ptr + row * n_cols + cols, mask=mask, other=0)
    total, _ = tl.associative_scan((x, start), 0, segmented_add)
    tl.store(out_ptr + row * n_cols + cols, total, mask=mask)


@kernel
def argmax_cumsum_kernel(
    x_ptr: Ptr[f32], index_ptr: Ptr[i32], scan_ptr: Ptr[f32], n_cols: i32 | int, BLOCK: Const[int]
) -> None:
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=float("-inf"))
    tl.store(index_ptr + row, tl.argmax(x, axis=0))
    tl.store(scan_ptr + row * n_cols + cols, tl.cumsum(tl.where(mask, x, 0.0), axis=0), mask=mask)
