"""Gathers, scatters, histograms, layout changes in the style of public Triton code, annotated."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import R1, Const, Ptr, Tensor, f32, i32, i64


@kernel
def embedding_forward_kernel(
    table_ptr: Ptr[f32],
    index_ptr: Ptr[i64],
    out_ptr: Ptr[f32],
    n_elements: i32 | int,
    width: Const[int],
    BM: Const[int],
    BN: Const[int],
) -> None:
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    index = tl.load(index_ptr + rows, mask=rows < n_elements, other=0)
    mask = (rows[:, None] < n_elements) & (cols[None, :] < width)
    values = tl.load(table_ptr + index[:, None] * width + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * width + cols[None, :], values, mask=mask)


@kernel
def embedding_backward_kernel(
    grad_ptr: Ptr[f32],
    index_ptr: Ptr[i64],
    table_grad_ptr: Ptr[f32],
    n_elements: i32 | int,
    width: Const[int],
    BM: Const[int],
    BN: Const[int],
) -> None:
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    index = tl.load(index_ptr + rows, mask=rows < n_elements, other=0)
    mask = (rows[:, None] < n_elements) & (cols[None, :] < width)
    grad = tl.load(grad_ptr + rows[:, None] * width + cols[None, :], mask=mask, other=0.0)
    tl.atomic_add(table_grad_ptr + index[:, None] * width + cols[None, :], grad, mask=mask)


@kernel
def histogram_kernel(
    x_ptr: Ptr[i32], out_ptr: Ptr[i32], n_elements: i32 | int, BINS: Const[int], BLOCK: Const[int]
) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    counts = tl.histogram(x, BINS, mask=mask)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


@kernel
def transpose_kernel(
    x_ptr: Ptr[f32], y_ptr: Ptr[f32], M: i32 | int, N: i32 | int, BM: Const[int], BN: Const[int]
) -> None:
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(
        x_ptr + rows[:, None] * N + cols[None, :], mask=(rows[:, None] < M) & (cols[None, :] < N)
    )
    tl.store(
        y_ptr + cols[:, None] * M + rows[None, :],
        tl.trans(x),
        mask=(cols[:, None] < N) & (rows[None, :] < M),
    )


@kernel
def causal_conv1d_kernel(
    x_ptr: Ptr[f32],
    w_ptr: Ptr[f32],
    y_ptr: Ptr[f32],
    length: i32 | int,
    WIDTH: Const[int],
    BLOCK: Const[int],
) -> None:
    channel = tl.program_id(0)
    t = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total: Tensor[f32, R1] = tl.zeros([BLOCK], dtype=tl.float32)
    for tap in tl.static_range(WIDTH):
        at = t - (WIDTH - 1) + tap
        x = tl.load(x_ptr + channel * length + at, mask=(at >= 0) & (at < length), other=0.0)
        total += x * tl.load(w_ptr + channel * WIDTH + tap)
    tl.store(y_ptr + channel * length + t, total, mask=t < length)


@kernel
def max_pool_kernel(
    x_ptr: Ptr[f32],
    y_ptr: Ptr[f32],
    H: i32 | int,
    W: i32 | int,
    OH: i32 | int,
    OW: i32 | int,
    K: Const[int],
    BLOCK: Const[int],
) -> None:
    plane = tl.program_id(0)
    out = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = out < OH * OW
    row = out // OW * K
    col = out % OW * K
    best: Tensor[f32, R1] = tl.full([BLOCK], float("-inf"), tl.float32)
    for i in range(K):
        for j in range(K):
            inside = live & (row + i < H) & (col + j < W)
            x = tl.load(
                x_ptr + plane * H * W + (row + i) * W + col + j, mask=inside, other=float("-inf")
            )
            best = tl.maximum(best, x)
    tl.store(y_ptr + plane * OH * OW + out, best, mask=live)


@kernel
def collatz_kernel(x_ptr: Ptr[i32], steps_ptr: Ptr[i32]) -> None:
    i = tl.program_id(0)
    n = tl.load(x_ptr + i)
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tl.store(steps_ptr + i, steps)
