"""Element-wise kernels in the style of public Triton code: no annotations but `tl.constexpr`."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-any-generics
# mypy: allow-untyped-calls, disable-error-code="arg-type, attr-defined, call-arg, misc"
# pyright: basic

from __future__ import annotations

import numpy as np

import teeny_triton as tl
from teeny_macros import device, kernel


@kernel
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y
    tl.store(output_ptr + offsets, output, mask=mask)


def run_add(dev, x, y):
    out = dev.empty(x.shape, "f32")
    add_kernel[(tl.cdiv(x.size, 256),)](dev.array(x), dev.array(y), out, x.size, BLOCK_SIZE=256)
    return [dev.host(out)]


def reference_add(x, y):
    return [x + y]


@kernel
def seeded_dropout_kernel(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    random = tl.rand(seed, offsets)
    x_keep = random > p
    output = tl.where(x_keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)


def run_dropout(dev, x):
    out = dev.empty(x.shape, "f32")
    seeded_dropout_kernel[(tl.cdiv(x.size, 512),)](
        dev.array(x), out, x.size, 0.5, 123, BLOCK_SIZE=512
    )
    return [dev.host(out)]


def reference_dropout(x):
    keep = _philox_uniform(123, np.arange(x.size, dtype=np.uint32)) > np.float32(0.5)
    return [np.where(keep, x / np.float32(0.5), np.float32(0))]


def _philox_uniform(seed, counter):
    """Philox 4x32-10 (Salmon et al. 2011), first word, mapped to [0, 1) as Triton's `rand` does."""
    mask = np.uint64(0xFFFFFFFF)
    c = [counter.astype(np.uint64), *(np.zeros(counter.shape, np.uint64) for _ in range(3))]
    k0, k1 = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (p1 >> np.uint64(32)) ^ c[1] ^ k0,
            p1 & mask,
            (p0 >> np.uint64(32)) ^ c[3] ^ k1,
            p0 & mask,
        ]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    bits = c[0].astype(np.uint32).view(np.int32)
    bits = np.where(bits < 0, -bits - 1, bits)
    return bits.astype(np.float32) * np.float32(4.6566127342e-10)


@device
def silu(x):
    return x * tl.sigmoid(x)


@kernel
def swiglu_forward_kernel(
    a_ptr, b_ptr, c_ptr, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
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


def run_swiglu(dev, a, b):
    rows, cols = a.shape
    out = dev.empty(a.shape, "f32")
    swiglu_forward_kernel[(rows,)](
        dev.array(a), dev.array(b), out, cols, n_cols=cols, BLOCK_SIZE=128
    )
    return [dev.host(out)]


def reference_swiglu(a, b):
    a64 = a.astype(np.float64)
    return [a64 / (1 + np.exp(-a64)) * b]


@kernel
def rope_kernel(x_ptr, cos_ptr, sin_ptr, seq_len, n_heads, HALF: tl.constexpr):
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


def run_rope(dev, x, cos, sin):
    seq, heads, width = x.shape
    x_dev = dev.array(x)
    rope_kernel[(seq, heads)](x_dev, dev.array(cos), dev.array(sin), seq, heads, HALF=width // 2)
    return [dev.host(x_dev)]


def reference_rope(x, cos, sin):
    half = x.shape[2] // 2
    first, second = x[..., :half], x[..., half:]
    c, s = cos[:, None, :], sin[:, None, :]
    return [np.concatenate([first * c - second * s, second * c + first * s], axis=-1)]


@kernel
def quantize_rowwise_kernel(x_ptr, output_ptr, scale_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
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
def dequantize_rowwise_kernel(q_ptr, scale_ptr, output_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_cols
    q = tl.load(q_ptr + row * n_cols + offsets, mask=mask, other=0)
    largest = tl.load(scale_ptr + row)
    tl.store(output_ptr + row * n_cols + offsets, q * largest * (1 / 127), mask=mask)


def run_quantize(dev, x):
    rows, cols = x.shape
    q, scale = dev.empty(x.shape, "i8"), dev.empty((rows,), "f32")
    back = dev.empty(x.shape, "f32")
    quantize_rowwise_kernel[(rows,)](dev.array(x), q, scale, cols, BLOCK_SIZE=128)
    dequantize_rowwise_kernel[(rows,)](q, scale, back, cols, BLOCK_SIZE=128)
    return [dev.host(scale), dev.host(back)]


def reference_quantize(x):
    scale = np.abs(x).max(axis=1)
    q = np.floor(np.float32(127) * (x / scale[:, None]) + np.float32(0.5))
    return [scale, q * scale[:, None] / 127]


@kernel
def adamw_kernel(
    p_ptr,
    g_ptr,
    m_ptr,
    v_ptr,
    n_elements,
    lr,
    beta1,
    beta2,
    eps,
    decay,
    step_size,
    root,
    BLOCK: tl.constexpr,
):
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


def run_adamw(dev, p, g, m, v):
    arrays = [dev.array(a) for a in (p, g, m, v)]
    lr, b1, b2 = 1e-2, 0.9, 0.999
    step, root = lr / (1 - b1**3), float(np.sqrt(1 - b2**3))
    grid = (tl.cdiv(p.size, 256),)
    adamw_kernel[grid](*arrays, p.size, lr, b1, b2, 1e-8, 0.1, step, root, BLOCK=256)
    return [dev.host(arrays[i]) for i in (0, 2, 3)]


def reference_adamw(p, g, m, v):
    p, g, m, v = (a.astype(np.float64) for a in (p, g, m, v))
    lr, b1, b2 = 1e-2, 0.9, 0.999
    p = p * (1 - lr * 0.1)
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g * g
    return [p - lr / (1 - b1**3) * m / (np.sqrt(v) / np.sqrt(1 - b2**3) + 1e-8), m, v]


def cases(rng):
    """(name, run, reference, inputs, tolerance)."""
    f = np.float32
    x, y = rng.standard_normal((2, 1000)).astype(f)
    a, b = rng.standard_normal((2, 5, 100)).astype(f)
    angles = rng.uniform(0, 6, (7, 16)).astype(f)
    tokens = rng.standard_normal((7, 3, 32)).astype(f)
    return [
        ("add", run_add, reference_add, [x, y], 0.0),
        ("dropout", run_dropout, reference_dropout, [x], 0.0),
        ("swiglu", run_swiglu, reference_swiglu, [a, b], 1e-6),
        ("rope", run_rope, reference_rope, [tokens, np.cos(angles), np.sin(angles)], 1e-6),
        ("quantize", run_quantize, reference_quantize, [a], 1e-2),
        ("adamw", run_adamw, reference_adamw, [x, y, 0.1 * y, 0.01 * y * y], 2e-6),
    ]
