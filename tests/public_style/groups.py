"""Grouped, 8-bit and block-scaled products, and attention's other gradient, in public style."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-any-generics
# mypy: allow-untyped-calls, disable-error-code="arg-type, attr-defined, call-arg, misc"
# pyright: basic

from __future__ import annotations

import numpy as np

import teeny_triton as tl
from teeny_macros import kernel


@kernel
def grouped_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    group_sizes_ptr,
    group_offsets_ptr,
    group_count,
    NUM_SM: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
):
    tile_idx = tl.program_id(0)
    last_problem_end = 0
    for g in range(group_count):
        gm = tl.load(group_sizes_ptr + g * 3)
        gn = tl.load(group_sizes_ptr + g * 3 + 1)
        gk = tl.load(group_sizes_ptr + g * 3 + 2)
        num_m_tiles = tl.cdiv(gm, BLOCK_SIZE_M)
        num_n_tiles = tl.cdiv(gn, BLOCK_SIZE_N)
        num_tiles = num_m_tiles * num_n_tiles
        a_base = a_ptr + tl.load(group_offsets_ptr + g * 3)
        b_base = b_ptr + tl.load(group_offsets_ptr + g * 3 + 1)
        c_base = c_ptr + tl.load(group_offsets_ptr + g * 3 + 2)
        while tile_idx >= last_problem_end and tile_idx < last_problem_end + num_tiles:
            tile_in_group = tile_idx - last_problem_end
            offs_m = (tile_in_group // num_n_tiles) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
            offs_n = (tile_in_group % num_n_tiles) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
            offs_k = tl.arange(0, BLOCK_SIZE_K)
            a_ptrs = a_base + offs_m[:, None] * gk + offs_k[None, :]
            b_ptrs = b_base + offs_k[:, None] * gn + offs_n[None, :]
            accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
            for k in range(0, gk, BLOCK_SIZE_K):
                a = tl.load(
                    a_ptrs, mask=(offs_m[:, None] < gm) & (offs_k[None, :] < gk - k), other=0.0
                )
                b = tl.load(
                    b_ptrs, mask=(offs_k[:, None] < gk - k) & (offs_n[None, :] < gn), other=0.0
                )
                accumulator += tl.dot(a, b)
                a_ptrs += BLOCK_SIZE_K
                b_ptrs += BLOCK_SIZE_K * gn
            c_ptrs = c_base + offs_m[:, None] * gn + offs_n[None, :]
            mask = (offs_m[:, None] < gm) & (offs_n[None, :] < gn)
            tl.store(c_ptrs, accumulator.to(tl.float16), mask=mask)
            tile_idx += NUM_SM
        last_problem_end = last_problem_end + num_tiles


def run_grouped(dev, sizes, a, b):
    parts = sizes[:, [0, 2]], sizes[:, [2, 1]], sizes[:, [0, 1]]
    ends = np.stack([part.prod(axis=1).cumsum() for part in parts], axis=1)
    starts = np.concatenate([np.zeros((1, 3), np.int32), ends[:-1]]).astype(np.int32)
    out = dev.array(np.zeros(int(ends[-1, 2]), np.float16))
    programs = 4 if sizes.max() < 256 else 264
    block = 32 if sizes.max() < 256 else 64
    grouped_matmul_kernel[(programs,)](
        dev.array(a), dev.array(b), out, dev.array(sizes), dev.array(starts), len(sizes),
        NUM_SM=programs, BLOCK_SIZE_M=block, BLOCK_SIZE_N=block, BLOCK_SIZE_K=32,
    )  # fmt: skip
    return [dev.host(out)]


def reference_grouped(sizes, a, b):
    found, at_a, at_b = [], 0, 0
    for m, n, k in sizes:
        left = a[at_a : at_a + m * k].reshape(m, k).astype(np.float64)
        right = b[at_b : at_b + k * n].reshape(k, n).astype(np.float64)
        found.append((left @ right).ravel())
        at_a, at_b = at_a + m * k, at_b + k * n
    return [np.concatenate(found)]


@kernel
def fp8_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    scale_a_ptr,
    scale_b_ptr,
    M,
    N,
    K,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
):
    offs_m = tl.program_id(0) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.program_id(1) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] + offs_n[None, :] * K
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_SIZE_K):
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K - k), other=0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < K - k) & (offs_n[None, :] < N), other=0)
        a = a.to(tl.float8e5, bitcast=True)
        b = b.to(tl.float8e5, bitcast=True)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K
    scale_a = tl.load(scale_a_ptr + offs_m, mask=offs_m < M, other=0.0)
    scale_b = tl.load(scale_b_ptr + offs_n, mask=offs_n < N, other=0.0)
    accumulator = accumulator * scale_a[:, None] * scale_b[None, :]
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], accumulator, mask=mask)


def run_fp8_matmul(dev, a, b, scale_a, scale_b):
    (m, k), n = a.shape, b.shape[0]
    out = dev.empty((m, n), "f32")
    block = 32 if m < 256 else 128
    fp8_matmul_kernel[(tl.cdiv(m, block), tl.cdiv(n, block))](
        dev.array(a), dev.array(b), out, dev.array(scale_a), dev.array(scale_b), m, n, k,
        BLOCK_SIZE_M=block, BLOCK_SIZE_N=block, BLOCK_SIZE_K=32 if m < 256 else 64,
    )  # fmt: skip
    return [dev.host(out)]


def from_e5m2(bits):
    return (bits.astype(np.uint8).astype(np.uint16) << 8).view(np.float16).astype(np.float64)


def reference_fp8_matmul(a, b, scale_a, scale_b):
    product = from_e5m2(a) @ from_e5m2(b).T
    return [product * scale_a[:, None].astype(np.float64) * scale_b[None, :]]


@kernel
def block_scaled_matmul_kernel(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
):
    offs_m = tl.program_id(0) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.program_id(1) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    offs_s = tl.arange(0, BLOCK_SIZE_K // 32)
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * N + offs_n[None, :]
    a_scale_ptrs = a_scale_ptr + offs_m[:, None] * (K // 32) + offs_s[None, :]
    b_scale_ptrs = b_scale_ptr + offs_n[:, None] * (K // 32) + offs_s[None, :]
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_SIZE_K):
        a = tl.load(a_ptrs)
        b = tl.load(b_ptrs)
        scale_a = tl.load(a_scale_ptrs)
        scale_b = tl.load(b_scale_ptrs)
        accumulator = tl.dot_scaled(a, scale_a, "e5m2", b, scale_b, "e5m2", accumulator)
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K * N
        a_scale_ptrs += BLOCK_SIZE_K // 32
        b_scale_ptrs += BLOCK_SIZE_K // 32
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], accumulator)


def run_block_scaled(dev, a, a_scale, b, b_scale):
    (m, k), n = a.shape, b.shape[1]
    out = dev.empty((m, n), "f32")
    block = 32 if m < 256 else 128
    block_scaled_matmul_kernel[(m // block, n // block)](
        dev.array(a), dev.array(a_scale), dev.array(b), dev.array(b_scale), out, m, n, k,
        BLOCK_SIZE_M=block, BLOCK_SIZE_N=block, BLOCK_SIZE_K=64,
    )  # fmt: skip
    return [dev.host(out)]


def reference_block_scaled(a, a_scale, b, b_scale):
    left = from_e5m2(a) * np.repeat(2.0 ** (a_scale.astype(np.float64) - 127), 32, axis=1)
    right = from_e5m2(b) * np.repeat(2.0 ** (b_scale.astype(np.float64) - 127), 32, axis=1).T
    return [left @ right]


@kernel
def attention_dq_kernel(
    Q,
    K,
    V,
    DO,
    DQ,
    Lse,
    Delta,
    sm_scale,
    n_ctx,
    HEAD: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    start_m = tl.program_id(0)
    head = tl.program_id(1)
    offset = head * n_ctx * HEAD
    rows = start_m * BM + tl.arange(0, BM)
    offs_d = tl.arange(0, HEAD)
    row_ptr = rows[:, None] * HEAD + offs_d[None, :]
    q = tl.load(Q + offset + row_ptr, mask=rows[:, None] < n_ctx, other=0.0)
    do = tl.load(DO + offset + row_ptr, mask=rows[:, None] < n_ctx, other=0.0)
    lse = tl.load(Lse + head * n_ctx + rows, mask=rows < n_ctx, other=0.0)
    delta = tl.load(Delta + head * n_ctx + rows, mask=rows < n_ctx, other=0.0)
    dq = tl.zeros([BM, HEAD], dtype=tl.float32)
    end = tl.minimum((start_m + 1) * BM, n_ctx)
    for start_n in range(0, end, BN):
        cols = start_n + tl.arange(0, BN)
        col_ptr = cols[:, None] * HEAD + offs_d[None, :]
        k = tl.load(K + offset + col_ptr, mask=cols[:, None] < n_ctx, other=0.0)
        v = tl.load(V + offset + col_ptr, mask=cols[:, None] < n_ctx, other=0.0)
        qk = tl.dot(q, tl.trans(k)) * (sm_scale * 1.44269504)
        live = (rows[:, None] >= cols[None, :]) & (cols[None, :] < n_ctx)
        p = tl.where(live, tl.math.exp2(qk - lse[:, None]), 0.0)
        dp = tl.dot(do, tl.trans(v))
        ds = p * (dp - delta[:, None]) * sm_scale
        dq += tl.dot(ds.to(k.dtype), k)
    tl.store(DQ + offset + row_ptr, dq, mask=rows[:, None] < n_ctx)


def run_attention_dq(dev, q, k, v, do, lse, delta):
    heads, n, width = q.shape
    dq = dev.empty(q.shape, "f32")
    block = 16 if n < 256 else 64
    attention_dq_kernel[(tl.cdiv(n, block), heads)](
        dev.array(q), dev.array(k), dev.array(v), dev.array(do), dq, dev.array(lse),
        dev.array(delta), float(width**-0.5), n, HEAD=width, BM=block, BN=block,
    )  # fmt: skip
    return [dev.host(dq)]


def attention_facts(q, k, v, do):
    """Logarithms of the row sums, to base 2, and the products of outputs and their gradients."""
    q, k, v, do = (x.astype(np.float64) for x in (q, k, v, do))
    n, scale = q.shape[1], q.shape[2] ** -0.5
    s = np.where(np.tril(np.ones((n, n), bool)), q @ k.transpose(0, 2, 1) * scale, -np.inf)
    most = s.max(axis=-1, keepdims=True)
    total = np.exp(s - most).sum(axis=-1, keepdims=True)
    p = np.exp(s - most) / total
    lse = ((most + np.log(total)) / np.log(2.0))[..., 0]
    return p, lse.astype(np.float32), ((p @ v) * do).sum(axis=-1).astype(np.float32)


def reference_attention_dq(q, k, v, do, lse, delta):
    p, _, _ = attention_facts(q, k, v, do)
    k, v, do = (x.astype(np.float64) for x in (k, v, do))
    dp = do @ v.transpose(0, 2, 1)
    return [p * (dp - delta[..., None]) * q.shape[2] ** -0.5 @ k]


def cases(rng):
    """(name, run, reference, inputs, tolerance)."""
    h, f, byte = np.float16, np.float32, np.uint8
    sizes = np.array([[40, 50, 33], [64, 32, 64], [7, 70, 16], [33, 31, 40]], np.int32)
    a = rng.standard_normal(int((sizes[:, 0] * sizes[:, 2]).sum())).astype(h)
    b = rng.standard_normal(int((sizes[:, 2] * sizes[:, 1]).sum())).astype(h)

    def e5m2(*shape):
        return (rng.standard_normal(shape).astype(h).view(np.uint16) >> 8).astype(byte)

    def scale(*shape):
        return rng.integers(122, 132, shape, dtype=byte)

    left, right = e5m2(50, 70).view(np.int8), e5m2(40, 70).view(np.int8)
    scales = rng.random(50).astype(f), rng.random(40).astype(f)
    q, k, v, do = rng.standard_normal((4, 2, 50, 16)).astype(h)
    _, lse, delta = attention_facts(q, k, v, do)
    scaled = [e5m2(64, 128), scale(64, 4), e5m2(128, 64), scale(64, 4)]
    return [
        ("grouped_matmul", run_grouped, reference_grouped, [sizes, a, b], 2e-3),
        ("fp8_matmul", run_fp8_matmul, reference_fp8_matmul, [left, right, *scales], 1e-5),
        ("block_scaled_matmul", run_block_scaled, reference_block_scaled, scaled, 1e-2),
        (
            "attention_dq",
            run_attention_dq,
            reference_attention_dq,
            [q, k, v, do, lse, delta],
            4e-3,
        ),
    ]
