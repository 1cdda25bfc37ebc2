"""Row-wise kernels in the style of public Triton code: softmax, norms, losses, scans, top-k."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-any-generics
# mypy: allow-untyped-calls, disable-error-code="arg-type, attr-defined, call-arg, misc"
# pyright: basic

from __future__ import annotations

import numpy as np

import teeny_triton as tl
from teeny_macros import device, kernel


@kernel
def softmax_kernel(
    output_ptr,
    input_ptr,
    input_row_stride,
    output_row_stride,
    n_rows,
    n_cols,
    BLOCK_SIZE: tl.constexpr,
    STAGES: tl.constexpr,
):
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


def run_softmax(dev, x):
    rows, cols = x.shape
    out = dev.empty(x.shape, "f32")
    programs = min(rows // 2, 1024)
    given = dev.array(x)
    softmax_kernel[(programs,)](out, given, cols, cols, rows, cols, BLOCK_SIZE=128, STAGES=2)
    return [dev.host(out)]


def reference_softmax(x):
    z = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return [z / z.sum(axis=1, keepdims=True)]


@kernel
def layer_norm_fwd_fused(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    _mean = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        a = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        _mean += a
    mean = tl.sum(_mean, axis=0) / N
    _var = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
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
def layer_norm_bwd_dx_fused(
    DX,
    DY,
    DW,
    DB,
    X,
    W,
    Mean,
    Rstd,
    Lock,
    stride,
    N,
    GROUP_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    X += row * stride
    DY += row * stride
    DX += row * stride
    lock_id = row % GROUP_SIZE_M
    Lock += lock_id
    Count = Lock + GROUP_SIZE_M
    DW = DW + lock_id * N + cols
    DB = DB + lock_id * N + cols
    x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    xhat = (x - mean) * rstd
    wdy = w * dy
    xhat = tl.where(mask, xhat, 0.0)
    wdy = tl.where(mask, wdy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    dx = (wdy - (xhat * c1 + c2)) * rstd
    tl.store(DX + cols, dx, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = (dy).to(w.dtype)
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial_dw += tl.load(DW, mask=mask)
        partial_db += tl.load(DB, mask=mask)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


def run_layer_norm(dev, x, w, b, dy):
    rows, cols = x.shape
    x_dev, w_dev = dev.array(x), dev.array(w)
    y, dx = dev.empty(x.shape, "f32"), dev.empty(x.shape, "f32")
    mean, rstd = dev.empty((rows,), "f32"), dev.empty((rows,), "f32")
    layer_norm_fwd_fused[(rows,)](
        x_dev, y, w_dev, dev.array(b), mean, rstd, cols, cols, 1e-5, BLOCK_SIZE=64
    )
    dw, db = dev.array(np.zeros((2, cols), np.float32)), dev.array(np.zeros((2, cols), np.float32))
    locks = dev.array(np.zeros(4, np.int32))
    layer_norm_bwd_dx_fused[(rows,)](
        dx,
        dev.array(dy),
        dw,
        db,
        x_dev,
        w_dev,
        mean,
        rstd,
        locks,
        cols,
        cols,
        GROUP_SIZE_M=2,
        BLOCK_SIZE_N=128,
    )
    return [dev.host(y), dev.host(dx), dev.host(dw).sum(axis=0), dev.host(db).sum(axis=0)]


def reference_layer_norm(x, w, b, dy):
    x, w, b, dy = (a.astype(np.float64) for a in (x, w, b, dy))
    rstd = 1 / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    xhat = (x - x.mean(axis=1, keepdims=True)) * rstd
    wdy = w * dy
    c1 = (xhat * wdy).mean(axis=1, keepdims=True)
    dx = (wdy - (xhat * c1 + wdy.mean(axis=1, keepdims=True))) * rstd
    return [xhat * w + b, dx, (dy * xhat).sum(axis=0), dy.sum(axis=0)]


@kernel
def rms_norm_kernel(X, Y, W, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    rrms = tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
    w = tl.load(W + cols, mask=mask, other=0.0)
    tl.store(Y + row * stride + cols, x * rrms * w, mask=mask)


def run_rms_norm(dev, x, w):
    out = dev.empty(x.shape, "f32")
    rms_norm_kernel[(x.shape[0],)](
        dev.array(x), out, dev.array(w), x.shape[1], x.shape[1], 1e-6, BLOCK_SIZE=128
    )
    return [dev.host(out)]


def reference_rms_norm(x, w):
    z = x.astype(np.float64)
    return [z / np.sqrt((z * z).mean(axis=1, keepdims=True) + 1e-6) * w]


@kernel
def cross_entropy_kernel(
    X_ptr, X_stride, Y_ptr, loss_ptr, n_cols, n_rows, ignore_index, BLOCK_SIZE: tl.constexpr
):
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


def run_cross_entropy(dev, x, target):
    rows, cols = x.shape
    x_dev, loss = dev.array(x), dev.array(np.zeros(rows, np.float32))
    cross_entropy_kernel[(rows,)](
        x_dev, cols, dev.array(target), loss, cols, rows, -100, BLOCK_SIZE=32
    )
    return [dev.host(loss), dev.host(x_dev)]


def reference_cross_entropy(x, target):
    z = x.astype(np.float64)
    z -= z.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    live = target >= 0
    rows = np.arange(len(target))
    loss = np.where(live, -log_p[rows, np.maximum(target, 0)], 0.0)
    grad = np.exp(log_p)
    grad[rows, np.maximum(target, 0)] -= 1
    return [loss, np.where(live[:, None], grad / len(target), 0.0)]


@kernel
def topk_kernel(x_ptr, out_ptr, n_cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("-inf"))
    best = tl.topk(x, K)
    tl.store(out_ptr + row * K + tl.arange(0, K), best)


def run_topk(dev, x):
    out = dev.empty((x.shape[0], 8), "f32")
    topk_kernel[(x.shape[0],)](dev.array(x), out, x.shape[1], K=8, BLOCK=128)
    return [dev.host(out)]


def reference_topk(x):
    return [-np.sort(-x, axis=1)[:, :8]]


@device
def segmented_add(value_a, start_a, value_b, start_b):
    return tl.where(start_b != 0, value_b, value_a + value_b), start_a | start_b


@kernel
def segmented_scan_kernel(x_ptr, start_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    start = tl.load(start_ptr + row * n_cols + cols, mask=mask, other=0)
    total, _ = tl.associative_scan((x, start), 0, segmented_add)
    tl.store(out_ptr + row * n_cols + cols, total, mask=mask)


def run_segmented_scan(dev, x, start):
    out = dev.empty(x.shape, "f32")
    segmented_scan_kernel[(x.shape[0],)](dev.array(x), dev.array(start), out, x.shape[1], BLOCK=128)
    return [dev.host(out)]


def reference_segmented_scan(x, start):
    out = np.zeros(x.shape)
    for r in range(x.shape[0]):
        total = 0.0
        for c in range(x.shape[1]):
            total = float(x[r, c]) + (0.0 if start[r, c] else total)
            out[r, c] = total
    return [out]


@kernel
def argmax_cumsum_kernel(x_ptr, index_ptr, scan_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=float("-inf"))
    tl.store(index_ptr + row, tl.argmax(x, axis=0))
    tl.store(scan_ptr + row * n_cols + cols, tl.cumsum(tl.where(mask, x, 0.0), axis=0), mask=mask)


def run_argmax_cumsum(dev, x):
    index, scan = dev.empty((x.shape[0],), "i32"), dev.empty(x.shape, "f32")
    argmax_cumsum_kernel[(x.shape[0],)](dev.array(x), index, scan, x.shape[1], BLOCK=128)
    return [dev.host(index), dev.host(scan)]


def reference_argmax_cumsum(x):
    return [x.argmax(axis=1), x.astype(np.float64).cumsum(axis=1)]


def cases(rng):
    """(name, run, reference, inputs, tolerance)."""
    f = np.float32
    x = rng.standard_normal((6, 100)).astype(f)
    w, b = rng.standard_normal((2, 100)).astype(f)
    dy = rng.standard_normal((6, 100)).astype(f)
    target = np.array([3, -100, 99, 0, 7, -100], np.int64)
    start = (rng.random((6, 100)) < 0.1).astype(np.int32)
    return [
        ("fused_softmax", run_softmax, reference_softmax, [x], 1e-6),
        ("layer_norm", run_layer_norm, reference_layer_norm, [x, w, b, dy], 1e-5),
        ("rms_norm", run_rms_norm, reference_rms_norm, [x, w], 1e-6),
        ("cross_entropy", run_cross_entropy, reference_cross_entropy, [x, target], 2e-6),
        ("topk", run_topk, reference_topk, [x], 0.0),
        ("segmented_scan", run_segmented_scan, reference_segmented_scan, [x, start], 1e-5),
        ("argmax_cumsum", run_argmax_cumsum, reference_argmax_cumsum, [x], 1e-5),
    ]
