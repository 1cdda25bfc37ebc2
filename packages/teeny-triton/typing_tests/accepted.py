"""Correct kernels and launches, in the idioms a user may choose: every checker must stay silent."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import (
    R1,
    R2,
    R3,
    Axis,
    Const,
    DeviceArray,
    Elem,
    Float,
    MmaFloat,
    Num,
    Ptr,
    PtrTensor,
    Rank,
    Tensor,
    WideFloat,
    bf16,
    f8e4m3,
    f8e5m2,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
    u8,
    u32,
)

A = TypeVar("A", bound=Elem)
D = TypeVar("D", bound=Num)
F = TypeVar("F", bound=Float)
W = TypeVar("W", bound=WideFloat)
H = TypeVar("H", bound=MmaFloat)
R = TypeVar("R", bound=Rank)


# ---------------------------------------------------------------- whole kernels
@kernel
def add(x_ptr: Ptr[D], y_ptr: Ptr[D], out_ptr: Ptr[D], n: i32 | int, BLOCK: Const[int]) -> None:
    cols = tl.program_id(Axis.X) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < n
    total = tl.load(x_ptr + cols, mask=inside) + tl.load(y_ptr + cols, mask=inside)
    tl.store(out_ptr + cols, total, mask=inside)


class TorchArray:
    """As PyTorch 2.13 annotates its tensors."""

    def __dlpack__(
        self,
        *,
        stream: Any | None = -1,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        raise AssertionError

    def __add__(self, other: Any) -> "TorchArray":
        raise AssertionError


class JaxArray:
    """As JAX 0.10 annotates its arrays."""

    def __dlpack__(self) -> Any:
        raise AssertionError

    def __add__(self, other: "JaxArray | npt.NDArray[Any] | int | float") -> "JaxArray":
        raise AssertionError


class CupyArray:
    """As CuPy 14 writes its arrays, without types."""

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        raise AssertionError

    def __add__(self, other: Any) -> Any:
        raise AssertionError


def launches_of_other_libraries(t: TorchArray, j: JaxArray, c: CupyArray) -> None:
    add[(1,)](t, t, t, 1, BLOCK=1)
    add[(1,)](j, j, j, 1, BLOCK=1)
    add[(1,)](c, c, c, 1, BLOCK=1)
    x = tl.typed(t, f32)
    add[(1,)](x, tl.typed(j, f32), tl.typed(c, f32), 1, BLOCK=1)
    add[lambda meta: (1, meta["BLOCK"])](x, x, x, 1, BLOCK=1)


@kernel
def copy_tile(
    src_ptr: Ptr[A],
    dst_ptr: Ptr[A],
    n_rows: i32 | int,
    n_cols: i32 | int,
    stride: i64 | int,
    ROWS: Const[int],
    COLS: Const[int],
) -> None:
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(axis=1) * COLS + tl.arange(0, COLS)
    inside = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    at = rows[:, None] * stride + cols[None, :]
    tl.store(dst_ptr + at, tl.load(src_ptr + at, mask=inside, other=0), mask=inside)


@kernel
def softmax_rows(
    out_ptr: Ptr[f32],
    x_ptr: Ptr[f32],
    stride: i32 | int,
    n_rows: i32 | int,
    n: i32 | int,
    BLOCK: Const[int],
) -> None:
    step = tl.num_programs(Axis.X)
    for row in tl.range(tl.program_id(Axis.X), n_rows, step, num_stages=2):
        cols = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=-float("inf"))
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@kernel
def softmax_tile(
    out_ptr: Ptr[f32], x_ptr: Ptr[f32], m: i32 | int, n: i32 | int, M: Const[int], N: Const[int]
) -> None:
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.arange(0, N)
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    at = rows[:, None] * n + cols[None, :]
    x = tl.load(x_ptr + at, mask=inside, other=float("-inf"))
    e = tl.exp(x - tl.max(x, axis=1)[:, None])
    y = e / tl.sum(e, axis=1, keep_dims=True)
    tl.store(out_ptr + at, y + tl.softmax(x, 1) + x.softmax(dim=0), mask=inside)


@kernel
def softmax_grad(
    dx_ptr: Ptr[f16],
    dy_ptr: Ptr[f16],
    y_ptr: Ptr[f16],
    stride: i32 | int,
    n: i32 | int,
    BLOCK: Const[int],
) -> None:
    base = tl.program_id(Axis.X) * stride
    cols = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + base + cols, mask=cols < n, other=0.0).to(f32)
    dy = tl.load(dy_ptr + base + cols, mask=cols < n, other=0.0).to(f32)
    dx = y * (dy - (y * dy).sum(axis=0))
    tl.store(dx_ptr + (base + cols), dx.to(f16), mask=cols < n)


@kernel
def layer_norm(
    x_ptr: Ptr[bf16],
    y_ptr: Ptr[bf16],
    w_ptr: Ptr[f32],
    mean_ptr: Ptr[f32],
    n: i32 | int,
    eps: f32 | float,
    BLOCK: Const[int],
) -> None:
    row = tl.program_id(Axis.X)
    x_row, y_row = x_ptr + row * n, y_ptr + row * n
    acc = tl.zeros((BLOCK,), f32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        acc += tl.load(x_row + cols, mask=cols < n, other=0.0).to(f32)
    mean = tl.sum(acc, axis=0) / tl.cast(n, f32)
    square = tl.zeros_like(acc)
    for start in tl.range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.where(cols < n, tl.load(x_row + cols, mask=cols < n).to(f32) - mean, 0.0)
        square += x * x
    scale = 1.0 / tl.sqrt(tl.sum(square) / f32(n) + eps)
    tl.store(mean_ptr + row, mean)
    for start in tl.range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = (tl.load(x_row + cols, mask=cols < n).to(f32) - mean) * scale
        tl.store(y_row + cols, (x * tl.load(w_ptr + cols, mask=cols < n)).to(bf16), mask=cols < n)


@device
def leaky_relu(x: Tensor[f32, R2]) -> Tensor[f32, R2]:
    return tl.where(x >= 0, x, 0.01 * x)


@device
def swizzled(pid: i32, m: i32 | int, n: i32 | int, GROUP: Const[int]) -> tuple[i32, i32]:
    width = GROUP * n
    group = pid // width
    rows = tl.minimum(m - group * GROUP, GROUP)
    return group * GROUP + (pid % width) % rows, (pid % width) // rows


@kernel
def matmul(
    a_ptr: Ptr[H],
    b_ptr: Ptr[H],
    c_ptr: Ptr[f16],
    m: i32 | int,
    n: i32 | int,
    k: i32 | int,
    stride_a: i32 | int,
    stride_b: i32 | int,
    M: Const[int],
    N: Const[int],
    K: Const[int],
    GROUP: Const[int],
    ACTIVATION: Const[str],
) -> None:
    pid_m, pid_n = swizzled(tl.program_id(Axis.X), tl.cdiv(m, M), tl.cdiv(n, N), GROUP)
    rows = (pid_m * M + tl.arange(0, M)) % m
    cols = (pid_n * N + tl.arange(0, N)) % n
    inner = tl.arange(0, K)
    a_ptrs = a_ptr + (rows[:, None] * stride_a + inner[None, :])
    b_ptrs = b_ptr + (inner[:, None] * stride_b + cols[None, :])
    acc = tl.zeros((M, N), f32)
    for step in range(tl.cdiv(k, K)):
        a = tl.load(a_ptrs, mask=inner[None, :] < k - step * K, other=0)
        b = tl.load(b_ptrs, mask=inner[:, None] < k - step * K, other=0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += K
        b_ptrs += K * stride_b
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    c_ptrs = c_ptr + n * rows[:, None] + cols[None, :]
    tl.store(c_ptrs, acc.to(f16), mask=(rows[:, None] < m) & (cols[None, :] < n))


@device
def attention_step(
    acc: Tensor[f32, R2],
    total: Tensor[f32, R1],
    top: Tensor[f32, R1],
    q: Tensor[f16, R2],
    k_ptrs: PtrTensor[f16, R2],
    v_ptrs: PtrTensor[f16, R2],
    rows: Tensor[i32, R1],
    cols: Tensor[i32, R1],
    CAUSAL: Const[bool],
) -> tuple[Tensor[f32, R2], Tensor[f32, R1], Tensor[f32, R1]]:
    score = tl.dot(q, tl.trans(tl.load(k_ptrs)))
    if CAUSAL:
        score += tl.where(rows[:, None] >= cols[None, :], 0.0, -1.0e6)
    new = tl.maximum(top, tl.max(score, axis=1))
    p = tl.exp2(score - new[:, None])
    alpha = tl.exp2(top - new)
    acc = tl.dot(p.to(f16), tl.load(v_ptrs), acc * alpha[:, None])
    return acc, total * alpha + p.sum(1), new


@kernel
def attention(
    q_ptr: Ptr[f16],
    k_ptr: Ptr[f16],
    v_ptr: Ptr[f16],
    out_ptr: Ptr[f16],
    n: i32 | int,
    M: Const[int],
) -> None:
    offset = tl.program_id(1).to(i64) * n
    rows = tl.program_id(0) * M + tl.arange(0, M)
    at = rows[:, None] * M + tl.arange(0, M)[None, :]
    q = tl.load(q_ptr + offset + at)
    top = tl.full((M,), -float("inf"), f32)
    total = tl.zeros((M,), f32) + 1.0
    acc = tl.zeros((M, M), f32)
    for start in tl.range(0, n, M):
        acc, total, top = attention_step(
            acc,
            total,
            top,
            q,
            k_ptr + start + at,
            v_ptr + (start + at),
            rows,
            tl.arange(0, M),
            CAUSAL=True,
        )
    acc = acc / total[:, None]
    tl.store(out_ptr + at, acc.to(f16), mask=rows[:, None] < n)


@device
def silu(x: Tensor[W, R]) -> Tensor[W, R]:
    return x * tl.sigmoid(x)


@kernel
def scaled(x_ptr: Ptr[W], y_ptr: Ptr[W], n: i32 | int, scale: W | float, BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    x: Tensor[W, R1] = silu(tl.load(x_ptr + cols, mask=cols < n))
    tl.store(y_ptr + cols, x * scale, mask=cols < n)


# ---------------------------------------------------------------- idioms
@kernel
def rebinds(x_ptr: Ptr[f16], y_ptr: Ptr[f32], BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols)
    x = x.to(f32)
    tl.store(y_ptr + cols, x)
    cols = cols[:, None]
    y = tl.load(y_ptr + cols)
    y = tl.sum(y, axis=1)
    tl.store(y_ptr + tl.arange(0, BLOCK), y)


@kernel
def python_starts(x_ptr: Ptr[f32], k_ptr: Ptr[i32], n: i32 | int, BLOCK: Const[int]) -> None:
    total = 0.0
    for start in tl.range(0, n, BLOCK):
        total += tl.sum(tl.load(x_ptr + start + tl.arange(0, BLOCK)))
    tl.store(x_ptr, total)
    count = 0
    count += tl.program_id(0)
    tl.store(k_ptr, count)


@kernel
def optional_bias(
    x_ptr: Ptr[f32], bias_ptr: Ptr[f32] | None, FLAG: Const[bool], BLOCK: Const[int]
) -> None:
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + cols)
    if FLAG:
        y = tl.exp(x)
    else:
        y = tl.log(x)
    z = x if FLAG else -x
    tl.store(x_ptr + cols, y * z / BLOCK)


@kernel
def wide_offsets(x_ptr: Ptr[f32], stride: i64 | int, n: i32 | int, BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    base = tl.program_id(0).to(i64)
    at = base * stride + cols
    again = cols + at
    again += base
    tl.store(x_ptr + again, 1.0, mask=(again < n) & (cols < base) & (again != n))
    tl.store(x_ptr + cols.to(i64) * stride, 1)


@kernel
def integers(x_ptr: Ptr[i32], m_ptr: Ptr[i1], BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    odd = (cols % 2 == 1) | (cols >> 1 == 3) ^ (cols & 7 < 2)
    ones = tl.where(odd, 1, 0)
    tl.store(x_ptr + cols, (ones + 1) << 2, mask=odd & ~(cols == 7))
    tl.store(x_ptr + 1, tl.sum(ones, axis=0) + odd.sum().to(i32))
    tl.store(x_ptr + (1 + cols), -cols // 3 - abs_(cols))
    tl.store(x_ptr + BLOCK, 1 - tl.program_id(0))
    tl.store(m_ptr + cols, odd)
    tl.store(m_ptr + cols, (tl.load(m_ptr + cols) == odd) & True)
    tl.static_assert(BLOCK % 2 == 0, "BLOCK is even")


@device
def abs_(x: Tensor[D, R]) -> Tensor[D, R]:
    return tl.maximum(tl.abs(x), -x)


@kernel
def narrow(
    a_ptr: Ptr[i8], b_ptr: Ptr[u8], c_ptr: Ptr[f16], out_ptr: Ptr[f32], BLOCK: Const[int]
) -> None:
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    a = tl.load(a_ptr + at)
    product: Tensor[i32, R2] = tl.dot(a, a)
    lines: Tensor[i32, R1] = tl.sum(a, 1) + tl.max(product, axis=-1)
    small: u32 = tl.sum(tl.load(b_ptr + at))
    top: f32 = tl.load(c_ptr + at).max()
    half: Tensor[f16, R2] = tl.dot(tl.load(c_ptr + at), tl.load(c_ptr + at), out_dtype=f16)
    wide: f64 = tl.sum(half, dtype=f64)
    tl.store(out_ptr, top + f32(small) + f32(wide) + lines.to(f32).max(axis=0))


@kernel
def generic_scalars(x_ptr: Ptr[D], y_ptr: Ptr[D], a: D | int, BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols) * a + tl.load(y_ptr)
    top = tl.maximum(tl.max(x), 0)
    tl.store(y_ptr + cols, tl.where(x > top, x, top))
    tl.store(y_ptr, tl.maximum(top, tl.load(x_ptr)))


@kernel
def element_dtype(x_ptr: Ptr[H], y_ptr: Ptr[H], BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    y = tl.load(x_ptr + cols).to(f32) * 2
    tl.store(y_ptr + cols, y.to(tl.elem(y_ptr)))
    tl.store(y_ptr + cols, tl.cast(y, tl.load(y_ptr + cols).dtype))


@kernel
def branches(x_ptr: Ptr[i32], n: i32 | int) -> None:
    pid = tl.program_id(0)
    if pid == 0 and n > 3:
        tl.store(x_ptr, 1)
    if pid != n - 1:
        tl.store(x_ptr, 2)
    elif not (pid < n):
        return
    while tl.load(x_ptr) == 1:
        tl.store(x_ptr, 0)


@kernel
def counts(x_ptr: Ptr[f32], n: i32 | int, m: i32 | int, BLOCK: Const[int]) -> None:
    blocks = tl.cdiv(n, BLOCK)
    total = blocks * tl.cdiv(m, BLOCK) + n * m - n % BLOCK
    last = total - 1 if n > m else n
    tl.store(x_ptr + last, 1.0)
    tl.store(x_ptr + tl.minimum(n, BLOCK), 1.0, mask=n < m)
    for step in range(blocks):
        cols = step * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + cols, 0.0, mask=cols < n)
    for shift in tl.static_range(4):
        tl.store(x_ptr + shift, float(shift))


@kernel
def shapes(x_ptr: Ptr[f32], M: Const[int], N: Const[int]) -> None:
    line = tl.load(x_ptr + tl.arange(0, N))
    tile: Tensor[f32, R2] = tl.broadcast_to(line[None, :], (M, N))
    again: Tensor[f32, R2] = tl.broadcast_to(tl.expand_dims(line, 0), M, N)
    same: Tensor[f32, R2] = line.expand_dims(0).broadcast_to(M, N)
    back, _ = tl.broadcast(line[None, :], tile)
    cube = tile[:, None, :]
    flat: Tensor[f32, R2] = tl.sum(cube, axis=1)
    turned = tl.trans(tile + again + same + back + flat).T.trans(1, 0)
    zero = tl.zeros(turned.shape, turned.dtype)
    tl.store(x_ptr + tl.arange(0, M), tl.sum(turned + zero, axis=1))


@device
def plus(a: f32, b: f32) -> f32:
    return a + b


@device
def longest(a: f32, i: i32, b: f32, j: i32) -> tuple[f32, i32]:
    return tl.where(a > b, a, b), tl.where(a > b, i, j)


@kernel
def combined(x_ptr: Ptr[f32], i_ptr: Ptr[i32], BLOCK: Const[int]) -> None:
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o[:, None] * BLOCK + o[None, :])
    total: Tensor[f32, R1] = tl.reduce(x, 1, plus)
    product: f32 = total.reduce(0, lambda a, b: a * b)
    kept: Tensor[f32, R2] = tl.reduce(x, 0, tl.maximum, keep_dims=True)
    top, place = tl.reduce((total, o), 0, longest)
    value, index = tl.max(x, 1, return_indices=True)
    first: i32 = tl.argmax(total, 0)
    lines: Tensor[i32, R1] = x.argmin(axis=-1) + index
    sums: Tensor[f32, R2] = tl.cumsum(x, axis=1) + x.cumprod(0, reverse=True) + kept
    counted: Tensor[u32, R1] = (total > 0).cumsum()
    state: Tensor[f32, R2] = tl.associative_scan(x, 1, plus, reverse=True)
    tl.store(x_ptr + o, tl.sort(total) + tl.topk(total, 4) + total.flip() + value)
    tl.store(i_ptr + o, tl.histogram(o, 16, mask=o < 3) + lines + counted.to(i32) + place)
    tl.store(x_ptr, product + top + f32(first) + tl.sum(sums + state))
    picked: Tensor[f32, R1] = tl.gather(total, o, 0)
    tl.store(x_ptr + o, tl.map_elementwise(lambda a: a if a > 0 else -a, picked))


@kernel
def rearranged(x_ptr: Ptr[f32], BLOCK: Const[int]) -> None:
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    cube: Tensor[f32, R3] = x.reshape(4, 2, BLOCK // 8)
    flat: Tensor[f32, R1] = tl.ravel(cube) + tl.view(cube, (BLOCK,)) + cube.permute(2, 0, 1).ravel()
    pair: Tensor[f32, R2] = tl.join(x, flat)
    left, right = pair.split()
    low, high = tl.split(tl.join(tl.sum(left), tl.sum(right)))
    tl.store(x_ptr + o, tl.squeeze(tl.unsqueeze(right, 1), 1) + tl.interleave(x, x)[:, None].sum(1))
    tl.store(x_ptr + o, tl.cat(x, x, dim=0) + low + high)


@kernel
def small_products(
    x_ptr: Ptr[f8e4m3], y_ptr: Ptr[f8e5m2], s_ptr: Ptr[u8], out_ptr: Ptr[f32], BLOCK: Const[int]
) -> None:
    o = tl.arange(0, BLOCK)
    at = o[:, None] * BLOCK + o[None, :]
    x, y, s = tl.load(x_ptr + at), tl.load(y_ptr + at), tl.load(s_ptr + at)
    acc = tl.dot(x, y, max_num_imprecise_acc=32)
    acc = tl.dot_scaled(x, s, "e4m3", y, None, "e5m2", acc)
    batch: Tensor[f32, R3] = tl.dot(acc[None, :, :], acc[None, :, :], input_precision="bf16x6")
    tl.store(out_ptr + at, tl.sum(batch, axis=0))


@kernel
def tuned(
    x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = tl.auto(), STAGES: Const[int] = tl.auto()
) -> None:
    cols = tl.arange(0, BLOCK)
    tl.store(x_ptr + cols, 1.0, mask=cols < n, cache_modifier=".cg", eviction_policy="evict_first")


@kernel
def exact(x_ptr: Ptr[f32], n: i32, bias_ptr: Ptr[f32] | None = None) -> None: ...


# ---------------------------------------------------------------- launches
def launches(
    x: npt.NDArray[np.float32], y: npt.NDArray[np.float32], s: DeviceArray[f32], t: DeviceArray[f16]
) -> None:
    n = x.size
    add[(n // 1024,)](x, y, x, n, BLOCK=1024)
    add[n // 1024](s, s, s, n, 1024)
    add[(n // 1024,)](t, t, t, n, 1024)

    def grid(meta: Mapping[str, int]) -> tuple[int]:
        return (tl.cdiv(n, meta["BLOCK"]),)

    add[grid](x, s, y, n=n, BLOCK=1024)
    add.instantiate(D=f32, BLOCK=1024)[grid](x, y, x, n, BLOCK=1024)
    add.on(lambda meta: (tl.cdiv(n, meta["BLOCK"]),))(x, y, x, n, BLOCK=1024)
    softmax_rows[(1,)](s, x, 4, 4, 4, BLOCK=4)
    softmax_rows[(1,)](tl.typed(x), tl.typed(y), 4, 4, 4, BLOCK=4)
    softmax_rows[(1,)](tl.typed(x, f32), s, 4, 4, 4, BLOCK=4)
    tuned.on(lambda meta: (meta["BLOCK"],))(s, 4)
    tuned[(1,)](s, 4, BLOCK=8)
    exact[(1,)](s, i32(3), None)
    exact[(1,)](s, i32(3), s)


def other_arrays(
    a: npt.NDArray[np.float16],
    b: npt.NDArray[np.int8],
    c: npt.NDArray[Any],
    e: Any,
    s: DeviceArray[f32],
) -> None:
    add[(1,)](a, a, a, 1, BLOCK=1)
    add[(1,)](b, b, b, 1, BLOCK=1)
    add[(1,)](c, c, c, 1, BLOCK=1)
    add[(1,)](e, a, s, e, BLOCK=e)
    bits: DeviceArray[bf16] = tl.typed(np.zeros(4, np.uint16), bf16)
    add[(1,)](bits, bits, bits, 4, BLOCK=4)
    scaled[(1,)](s, s, 4, 0.5, BLOCK=4)


@kernel
def mathematics(x_ptr: Ptr[f32], n_ptr: Ptr[i32], s: f32 | float, BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols)
    y = tl.math.tanh(x) + tl.math.pow(x, 2.0) + tl.extra.libdevice.atan2(x, 1.0) + x.sin()
    y = tl.fma(x, y, 1.0) + tl.clamp(y, 0.0, 6.0) + tl.fdiv(x, y, ieee_rounding=True)
    y += tl.div_rn(x, y) + tl.sqrt_rn(x) + tl.erf(x) + x.floor()
    bits: Tensor[i32, R1] = tl.math.popc(tl.math.float_as_int(x)) + tl.math.isnan(x)
    high: Tensor[i32, R1] = tl.umulhi(bits, cols) + cols.cdiv(3)
    tl.store(x_ptr + cols, tl.where(high > 0, y, tl.math.exp(x)))
    noise: Tensor[f32, R1] = tl.rand(7, cols) + tl.randn(cols.dtype.itemsize, cols)
    a, b, _, _ = tl.randint4x(7, cols)
    tl.store(n_ptr + cols, (a ^ b).to(i32))
    tl.store(x_ptr + cols, noise * f32(s))


@kernel
def atomics(x_ptr: Ptr[f32], lock_ptr: Ptr[i32], n: i32 | int) -> None:
    cols = tl.max_contiguous(tl.multiple_of(tl.arange(0, 64), 64), 64)
    old: Tensor[f32, R1] = tl.atomic_add(x_ptr + cols, 1.0, mask=cols < n, sem="relaxed")
    while tl.atomic_cas(lock_ptr, 0, 1, sem="acquire") == 1:
        pass
    (x_ptr + cols).atomic_max(old)
    tl.atomic_xchg(lock_ptr, 0, sem="release", scope="gpu")
    tl.atomic_or(lock_ptr + cols, cols)
    tl.assume(n > 0)
    tl.debug_barrier()
    tl.device_print("n", n, cols, hex=True)
    tl.device_assert(cols < n, "in range", mask=cols < 8)
    tl.static_print("compiling", 64, sep=" ")


@kernel
def choices(x_ptr: Ptr[f32], n: i32 | int) -> None:
    cols = tl.arange(0, 64)
    x, first, row = tl.load(x_ptr + cols), tl.load(x_ptr), tl.program_id(0)
    a: f32 = tl.where(first > 0.0, first, 0.0)
    b: f32 = tl.where(n > 0, 0.0, a)
    c: i32 = tl.where(b > 0.0, 0, row)
    d: i32 = tl.where(n > 0, 1, 2)
    tl.store(x_ptr + c, tl.where(d > 0, 1.0, 2.0))
    y: Tensor[f32, R1] = tl.where(n > 0, x, 0.0)
    z: Tensor[f32, R1] = tl.where(x > 0.0, 0.0, first)
    tl.store(x_ptr + cols, tl.where(n > 0, 0.0, y + z))


@kernel
def tiles(x_ptr: Ptr[f16], m: i32 | int, n: i32 | int, stride: i64 | int) -> None:
    array = tl.make_tensor_descriptor(x_ptr, (m, n), (stride, 1), (16, 64))
    tile: Tensor[f16, R2] = array.load((0, n))
    array.store((16, 0), tile + 1)
    array.atomic_add((0, 0), tile)
    block = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (0, 0), (16, 64), order=(1, 0))
    for _ in tl.range(0, n, 64):
        value = tl.load(block, boundary_check=(0, 1), padding_option="zero")
        tl.store(block, value * 2, boundary_check=(0, 1))
        block = block.advance((0, 64))
