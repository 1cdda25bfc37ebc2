"""Matrix products and attention in the style of public Triton code, annotated."""

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import R2, Const, Ptr, Tensor, f16, f32, i32


@device
def leaky_relu(x: Tensor[f32, R2]) -> Tensor[f32, R2]:
    return tl.where(x >= 0, x, 0.01 * x)


@kernel
def matmul_kernel(
    a_ptr: Ptr[f16],
    b_ptr: Ptr[f16],
    c_ptr: Ptr[f16],
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    stride_am: i32 | int,
    stride_ak: i32 | int,
    stride_bk: i32 | int,
    stride_bn: i32 | int,
    stride_cm: i32 | int,
    stride_cn: i32 | int,
    BLOCK_SIZE_M: Const[int],
    BLOCK_SIZE_N: Const[int],
    BLOCK_SIZE_K: Const[int],
    GROUP_SIZE_M: tl.constexpr,
    ACTIVATION: Const[str],
) -> None:
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


@kernel
def split_k_kernel(
    a_ptr: Ptr[f16],
    b_ptr: Ptr[f16],
    c_ptr: Ptr[f32],
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    BM: Const[int],
    BN: Const[int],
    BK: Const[int],
) -> None:
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


@kernel
def persistent_descriptor_kernel(
    a_ptr: Ptr[f16],
    b_ptr: Ptr[f16],
    c_ptr: Ptr[f16],
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    BM: Const[int],
    BN: Const[int],
    BK: Const[int],
) -> None:
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


@kernel
def attention_dkdv_kernel(
    Q: Ptr[f16],
    K: Ptr[f16],
    V: Ptr[f16],
    DO: Ptr[f16],
    DK: Ptr[f32],
    DV: Ptr[f32],
    Lse: Ptr[f32],
    Delta: Ptr[f32],
    sm_scale: f32 | float,
    n_ctx: i32 | int,
    HEAD: Const[int],
    BM: Const[int],
    BN: Const[int],
) -> None:
    start_n = tl.program_id(0)
    head = tl.program_id(1)
    offset = head * n_ctx * HEAD
    cols = start_n * BN + tl.arange(0, BN)
    offs_d = tl.arange(0, HEAD)
    col_ptr = cols[:, None] * HEAD + offs_d[None, :]
    k = tl.load(K + offset + col_ptr, mask=cols[:, None] < n_ctx, other=0.0)
    v = tl.load(V + offset + col_ptr, mask=cols[:, None] < n_ctx, other=0.0)
    dk: Tensor[f32, R2] = tl.zeros([BN, HEAD], dtype=tl.float32)
    dv: Tensor[f32, R2] = tl.zeros([BN, HEAD], dtype=tl.float32)
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
