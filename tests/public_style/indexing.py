"""Gathers, scatters, histograms and layout changes in the style of public Triton code."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-any-generics
# mypy: allow-untyped-calls, disable-error-code="arg-type, attr-defined, call-arg, misc"
# pyright: basic

from __future__ import annotations

import numpy as np

import teeny_triton as tl
from teeny_macros import kernel


@kernel
def embedding_forward_kernel(
    table_ptr,
    index_ptr,
    out_ptr,
    n_elements,
    width: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    index = tl.load(index_ptr + rows, mask=rows < n_elements, other=0)
    mask = (rows[:, None] < n_elements) & (cols[None, :] < width)
    values = tl.load(table_ptr + index[:, None] * width + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * width + cols[None, :], values, mask=mask)


@kernel
def embedding_backward_kernel(
    grad_ptr,
    index_ptr,
    table_grad_ptr,
    n_elements,
    width: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    index = tl.load(index_ptr + rows, mask=rows < n_elements, other=0)
    mask = (rows[:, None] < n_elements) & (cols[None, :] < width)
    grad = tl.load(grad_ptr + rows[:, None] * width + cols[None, :], mask=mask, other=0.0)
    tl.atomic_add(table_grad_ptr + index[:, None] * width + cols[None, :], grad, mask=mask)


def run_embedding(dev, table, index, grad):
    n, width = index.size, table.shape[1]
    out, table_grad = dev.empty((n, width), "f32"), dev.array(np.zeros_like(table))
    grid = (tl.cdiv(n, 8), tl.cdiv(width, 16))
    index_dev = dev.array(index)
    embedding_forward_kernel[grid](dev.array(table), index_dev, out, n, width=width, BM=8, BN=16)
    embedding_backward_kernel[grid](
        dev.array(grad), index_dev, table_grad, n, width=width, BM=8, BN=16
    )
    return [dev.host(out), dev.host(table_grad)]


def reference_embedding(table, index, grad):
    total = np.zeros(table.shape)
    np.add.at(total, index, grad)
    return [table[index], total]


@kernel
def histogram_kernel(x_ptr, out_ptr, n_elements, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    counts = tl.histogram(x, BINS, mask=mask)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


def run_histogram(dev, x):
    out = dev.array(np.zeros(16, np.int32))
    histogram_kernel[(tl.cdiv(x.size, 128),)](dev.array(x), out, x.size, BINS=16, BLOCK=128)
    return [dev.host(out)]


def reference_histogram(x):
    return [np.bincount(x, minlength=16)]


@kernel
def transpose_kernel(x_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
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


def run_transpose(dev, x):
    m, n = x.shape
    out = dev.empty((n, m), "f32")
    transpose_kernel[(tl.cdiv(m, 16), tl.cdiv(n, 32))](dev.array(x), out, m, n, BM=16, BN=32)
    return [dev.host(out)]


def reference_transpose(x):
    return [x.T]


@kernel
def causal_conv1d_kernel(x_ptr, w_ptr, y_ptr, length, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    t = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for tap in tl.static_range(WIDTH):
        at = t - (WIDTH - 1) + tap
        x = tl.load(x_ptr + channel * length + at, mask=(at >= 0) & (at < length), other=0.0)
        total += x * tl.load(w_ptr + channel * WIDTH + tap)
    tl.store(y_ptr + channel * length + t, total, mask=t < length)


def run_conv1d(dev, x, w):
    out = dev.empty(x.shape, "f32")
    channels, length = x.shape
    causal_conv1d_kernel[(channels, tl.cdiv(length, 64))](
        dev.array(x), dev.array(w), out, length, WIDTH=4, BLOCK=64
    )
    return [dev.host(out)]


def reference_conv1d(x, w):
    padded = np.pad(x.astype(np.float64), ((0, 0), (3, 0)))
    return [sum(padded[:, i : i + x.shape[1]] * w[:, i : i + 1] for i in range(4))]


@kernel
def max_pool_kernel(x_ptr, y_ptr, H, W, OH, OW, K: tl.constexpr, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    out = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = out < OH * OW
    row = out // OW * K
    col = out % OW * K
    best = tl.full([BLOCK], float("-inf"), tl.float32)
    for i in range(K):
        for j in range(K):
            inside = live & (row + i < H) & (col + j < W)
            x = tl.load(
                x_ptr + plane * H * W + (row + i) * W + col + j, mask=inside, other=float("-inf")
            )
            best = tl.maximum(best, x)
    tl.store(y_ptr + plane * OH * OW + out, best, mask=live)


def run_max_pool(dev, x):
    planes, h, w = x.shape
    oh, ow = tl.cdiv(h, 3), tl.cdiv(w, 3)
    out = dev.empty((planes, oh, ow), "f32")
    max_pool_kernel[(planes, tl.cdiv(oh * ow, 32))](dev.array(x), out, h, w, oh, ow, K=3, BLOCK=32)
    return [dev.host(out)]


def reference_max_pool(x):
    planes, h, w = x.shape
    oh, ow = -(-h // 3), -(-w // 3)
    padded = np.full((planes, oh * 3, ow * 3), -np.inf)
    padded[:, :h, :w] = x
    return [padded.reshape(planes, oh, 3, ow, 3).max(axis=(2, 4))]


@kernel
def collatz_kernel(x_ptr, steps_ptr):
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


def run_collatz(dev, x):
    out = dev.empty(x.shape, "i32")
    collatz_kernel[(x.size,)](dev.array(x), out)
    return [dev.host(out)]


def reference_collatz(x):
    def steps(n):
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    return [np.array([steps(int(n)) for n in x])]


def cases(rng):
    """(name, run, reference, inputs, tolerance)."""
    f = np.float32
    table = rng.standard_normal((11, 20)).astype(f)
    index = rng.integers(0, 11, 30, dtype=np.int64)
    grad = rng.standard_normal((30, 20)).astype(f)
    return [
        ("embedding", run_embedding, reference_embedding, [table, index, grad], 1e-5),
        (
            "histogram",
            run_histogram,
            reference_histogram,
            [rng.integers(0, 16, 1000, dtype=np.int32)],
            0.0,
        ),
        ("transpose", run_transpose, reference_transpose, [table], 0.0),
        (
            "conv1d",
            run_conv1d,
            reference_conv1d,
            [rng.standard_normal((3, 100)).astype(f), rng.standard_normal((3, 4)).astype(f)],
            1e-5,
        ),
        (
            "max_pool",
            run_max_pool,
            reference_max_pool,
            [rng.standard_normal((2, 10, 11)).astype(f)],
            0.0,
        ),
        ("collatz", run_collatz, reference_collatz, [np.array([1, 6, 7, 27], np.int32)], 0.0),
    ]
