"""Matrix products and attention in the style of public Triton code."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-any-generics
# mypy: allow-untyped-calls, disable-error-code="arg-type, attr-defined, call-arg, misc"
# pyright: basic

from __future__ import annotations

import numpy as np

import teeny_triton as tl
from teeny_macros import device, kernel


@device
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@kernel
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_am = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    offs_bn = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    c = accumulator.to(tl.float16)
    offs_cm = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptrs, c, mask=c_mask)


def run_matmul(dev, a, b):
    (m, k), n = a.shape, b.shape[1]
    out = dev.empty((m, n), "f16")
    grid = (tl.cdiv(m, 32) * tl.cdiv(n, 32),)
    matmul_kernel[grid](
        dev.array(a), dev.array(b), out, m, n, k, k, 1, n, 1, n, 1,
        BLOCK_SIZE_M=32, BLOCK_SIZE_N=32, BLOCK_SIZE_K=16, GROUP_SIZE_M=2, ACTIVATION="leaky_relu",
    )  # fmt: skip
    return [dev.host(out)]


def reference_matmul(a, b):
    product = a.astype(np.float64) @ b.astype(np.float64)
    return [np.where(product >= 0, product, 0.01 * product)]


@kernel
def split_k_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    pid_m, pid_n, pid_k = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rows = pid_m * BM + tl.arange(0, BM)
    cols = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(pid_k * BK, K, BK * tl.num_programs(2)):
        depth = start + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rows[:, None] * K + depth[None, :],
            mask=(rows[:, None] < M) & (depth[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + depth[:, None] * N + cols[None, :],
            mask=(depth[:, None] < K) & (cols[None, :] < N),
            other=0.0,
        )
        acc += tl.dot(a, b)
    tl.atomic_add(
        c_ptr + rows[:, None] * N + cols[None, :],
        acc,
        mask=(rows[:, None] < M) & (cols[None, :] < N),
    )


def run_split_k(dev, a, b):
    (m, k), n = a.shape, b.shape[1]
    out = dev.array(np.zeros((m, n), np.float32))
    split_k_kernel[(tl.cdiv(m, 32), tl.cdiv(n, 32), 3)](
        dev.array(a), dev.array(b), out, m, n, k, BM=32, BN=32, BK=16
    )
    return [dev.host(out)]


def reference_product(a, b):
    return [a.astype(np.float64) @ b.astype(np.float64)]


@kernel
def int8_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    scale_a_ptr,
    scale_b_ptr,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for start in range(0, K, BK):
        depth = start + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rows[:, None] * K + depth[None, :],
            mask=(rows[:, None] < M) & (depth[None, :] < K),
            other=0,
        )
        b = tl.load(
            b_ptr + depth[:, None] * N + cols[None, :],
            mask=(depth[:, None] < K) & (cols[None, :] < N),
            other=0,
        )
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    scale = (
        tl.load(scale_a_ptr + rows, mask=rows < M)[:, None]
        * tl.load(scale_b_ptr + cols, mask=cols < N)[None, :]
    )
    tl.store(
        c_ptr + rows[:, None] * N + cols[None, :],
        acc * scale,
        mask=(rows[:, None] < M) & (cols[None, :] < N),
    )


def run_int8_matmul(dev, a, b, scale_a, scale_b):
    (m, k), n = a.shape, b.shape[1]
    out = dev.empty((m, n), "f32")
    grid = (tl.cdiv(m, 32), tl.cdiv(n, 32))
    int8_matmul_kernel[grid](
        dev.array(a),
        dev.array(b),
        out,
        dev.array(scale_a),
        dev.array(scale_b),
        m,
        n,
        k,
        BM=32,
        BN=32,
        BK=32,
    )
    return [dev.host(out)]


def reference_int8_matmul(a, b, scale_a, scale_b):
    return [
        (a.astype(np.int64) @ b.astype(np.int64)) * scale_a[:, None].astype(np.float64) * scale_b
    ]


@kernel
def persistent_descriptor_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    num_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * num_n
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0)):
        offs_m = (tile // num_n) * BM
        offs_n = (tile % num_n) * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            a = a_desc.load([offs_m, k])
            b = b_desc.load([offs_n, k])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([offs_m, offs_n], acc.to(tl.float16))


def run_persistent(dev, a, b):
    (m, k), n = a.shape, b.shape[0]
    out = dev.empty((m, n), "f16")
    persistent_descriptor_kernel[(2,)](
        dev.array(a), dev.array(b), out, m, n, k, BM=32, BN=32, BK=32
    )
    return [dev.host(out)]


def reference_transposed(a, b):
    return [a.astype(np.float64) @ b.astype(np.float64).T]


@kernel
def attention_forward_kernel(
    Q,
    K,
    V,
    Out,
    Lse,
    sm_scale,
    n_ctx,
    HEAD: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    start_m = tl.program_id(0)
    head = tl.program_id(1)
    offset = head.to(tl.int64) * n_ctx * HEAD
    offs_m = start_m * BM + tl.arange(0, BM)
    offs_n = tl.arange(0, BN)
    offs_d = tl.arange(0, HEAD)
    q = tl.load(
        Q + offset + offs_m[:, None] * HEAD + offs_d[None, :],
        mask=offs_m[:, None] < n_ctx,
        other=0.0,
    )
    m_i = tl.zeros([BM], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BM], dtype=tl.float32) + 1.0
    acc = tl.zeros([BM, HEAD], dtype=tl.float32)
    qk_scale = sm_scale * 1.44269504
    hi = n_ctx
    if CAUSAL:
        hi = tl.minimum((start_m + 1) * BM, n_ctx)
    for start_n in range(0, hi, BN):
        cols = start_n + offs_n
        k = tl.load(
            K + offset + cols[:, None] * HEAD + offs_d[None, :],
            mask=cols[:, None] < n_ctx,
            other=0.0,
        )
        qk = tl.dot(q, tl.trans(k))
        live = cols[None, :] < n_ctx
        if CAUSAL:
            live = live & (offs_m[:, None] >= cols[None, :])
        qk = tl.where(live, qk * qk_scale, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(
            V + offset + cols[:, None] * HEAD + offs_d[None, :],
            mask=cols[:, None] < n_ctx,
            other=0.0,
        )
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
    # l_i began at 1 for a term that the first block scaled to nothing.
    acc = acc / l_i[:, None]
    tl.store(Lse + head * n_ctx + offs_m, m_i + tl.math.log2(l_i), mask=offs_m < n_ctx)
    tl.store(
        Out + offset + offs_m[:, None] * HEAD + offs_d[None, :],
        acc.to(Out.type.element_ty),
        mask=offs_m[:, None] < n_ctx,
    )


@kernel
def attention_dkdv_kernel(
    Q,
    K,
    V,
    DO,
    DK,
    DV,
    Lse,
    Delta,
    sm_scale,
    n_ctx,
    HEAD: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    start_n = tl.program_id(0)
    head = tl.program_id(1)
    offset = head * n_ctx * HEAD
    cols = start_n * BN + tl.arange(0, BN)
    offs_d = tl.arange(0, HEAD)
    col_ptr = cols[:, None] * HEAD + offs_d[None, :]
    k = tl.load(K + offset + col_ptr, mask=cols[:, None] < n_ctx, other=0.0)
    v = tl.load(V + offset + col_ptr, mask=cols[:, None] < n_ctx, other=0.0)
    dk = tl.zeros([BN, HEAD], dtype=tl.float32)
    dv = tl.zeros([BN, HEAD], dtype=tl.float32)
    for start_m in range(0, n_ctx, BM):
        rows = start_m + tl.arange(0, BM)
        row_ptr = rows[:, None] * HEAD + offs_d[None, :]
        q = tl.load(Q + offset + row_ptr, mask=rows[:, None] < n_ctx, other=0.0)
        do = tl.load(DO + offset + row_ptr, mask=rows[:, None] < n_ctx, other=0.0)
        lse = tl.load(Lse + head * n_ctx + rows, mask=rows < n_ctx, other=0.0)
        delta = tl.load(Delta + head * n_ctx + rows, mask=rows < n_ctx, other=0.0)
        qk = tl.dot(q, tl.trans(k)) * (sm_scale * 1.44269504)
        live = (rows[:, None] < n_ctx) & (rows[:, None] >= cols[None, :]) & (cols[None, :] < n_ctx)
        p = tl.where(live, tl.math.exp2(qk - lse[:, None]), 0.0)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        dp = tl.dot(do, tl.trans(v))
        ds = p * (dp - delta[:, None]) * sm_scale
        dk += tl.dot(tl.trans(ds.to(q.dtype)), q)
    tl.store(DK + offset + col_ptr, dk, mask=cols[:, None] < n_ctx)
    tl.store(DV + offset + col_ptr, dv, mask=cols[:, None] < n_ctx)


def run_attention(dev, q, k, v, do):
    heads, n, width = q.shape
    scale = float(width**-0.5)
    q_dev, k_dev, v_dev = (dev.array(x) for x in (q, k, v))
    out, lse = dev.empty(q.shape, "f32"), dev.empty((heads, n), "f32")
    attention_forward_kernel[(tl.cdiv(n, 32), heads)](
        q_dev, k_dev, v_dev, out, lse, scale, n, HEAD=width, BM=32, BN=16, CAUSAL=True
    )
    delta = dev.array((dev.host(out) * do.astype(np.float32)).sum(axis=-1).astype(np.float32))
    dk, dv = dev.empty(q.shape, "f32"), dev.empty(q.shape, "f32")
    attention_dkdv_kernel[(tl.cdiv(n, 16), heads)](
        q_dev, k_dev, v_dev, dev.array(do), dk, dv, lse, delta, scale, n, HEAD=width, BM=16, BN=16
    )
    return [dev.host(out), dev.host(dk), dev.host(dv)]


def reference_attention(q, k, v, do):
    q, k, v, do = (x.astype(np.float64) for x in (q, k, v, do))
    n, scale = q.shape[1], q.shape[2] ** -0.5
    s = q @ k.transpose(0, 2, 1) * scale
    s = np.where(np.tril(np.ones((n, n), bool)), s, -np.inf)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    out = p @ v
    dp = do @ v.transpose(0, 2, 1)
    ds = p * (dp - (out * do).sum(axis=-1, keepdims=True)) * scale
    return [out, ds.transpose(0, 2, 1) @ q, p.transpose(0, 2, 1) @ do]


def cases(rng):
    """(name, run, reference, inputs, tolerance)."""
    h, f = np.float16, np.float32
    a, b = rng.standard_normal((50, 40)).astype(h), rng.standard_normal((40, 70)).astype(h)
    ai, bi = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((50, 40), (40, 70)))
    sa, sb = rng.random(50).astype(f), rng.random(70).astype(f)
    q, k, v, do = rng.standard_normal((4, 2, 50, 16)).astype(h)
    even = rng.standard_normal((64, 64)).astype(h)
    return [
        ("matmul", run_matmul, reference_matmul, [a, b], 2e-3),
        ("split_k", run_split_k, reference_product, [a, b], 1e-5),
        ("int8_matmul", run_int8_matmul, reference_int8_matmul, [ai, bi, sa, sb], 1e-6),
        (
            "persistent_descriptor",
            run_persistent,
            reference_transposed,
            [even, even[::-1].copy()],
            2e-3,
        ),
        ("attention", run_attention, reference_attention, [q, k, v, do], 4e-3),
    ]
