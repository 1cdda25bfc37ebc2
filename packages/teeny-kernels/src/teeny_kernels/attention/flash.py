"""flash_attention and its backward: checks of shapes, blocks, launches; reference and spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod, sqrt
from typing import Any, NamedTuple, TypeVar

import numpy as np

from teeny_kernels.arrays import ITEMSIZES, Operand, empty, operand, same_place
from teeny_kernels.attention.kernels import (
    attention_backward_kv,
    attention_backward_q,
    attention_delta,
    attention_forward,
)
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.rows import block_of
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")

DEEPEST = 256


class _Sides(NamedTuple):
    """Batches, heads, heads of k and v, rows of q and of k, depths of q and of v."""

    batch: int
    heads: int
    shared: int
    sq: int
    sk: int
    dq: int
    dv: int


def flash_attention(
    q: A,
    k: A,
    v: A,
    *,
    causal: bool = False,
    scale: float | None = None,
    window: int | None = None,
    soft_cap: float = 0.0,
) -> tuple[A, A]:
    """softmax(scale q k^T) v, and the logarithm of the sum of each row of exponentials.

    `q` is (batch, heads, rows, depth), `k` (batch, heads of k, columns, depth), `v` (batch, heads
    of k, columns, depth of v); `heads` is a multiple of the heads of k (grouped queries). The
    results are (batch, heads, rows, depth of v) and, in f32 (f64 for f64), (batch, heads, rows).

    `causal`: row m sees columns up to m + columns - rows. `window`: and only the last `window` of
    those. `scale` is 1 / sqrt(depth) by default. `soft_cap` c > 0 turns a score s into
    c tanh(s / c). A row that sees nothing gives zeros, and -inf for the logarithm.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204, E1206.
    """
    arrays = [operand(name, own) for name, own in (("q", q), ("k", k), ("v", v))]
    sides = _sides("flash_attention", arrays)
    options = _options("flash_attention", sides, causal, scale, window, soft_cap)
    first = arrays[0]
    out = Output("flash_attention", first, (*first.shape[:3], sides.dv))
    exact = "f64" if first.dtype == "f64" else "f32"
    lse = Output("flash_attention", first, first.shape[:3], dtype=exact)
    m, n, warps = _blocks(first, sides, backward=False)
    grid = sides.batch * sides.heads * -(-sides.sq // m)
    launch: Any = attention_forward.options(num_warps=warps, num_stages=2)[grid]
    launch(
        out.operand.array,
        lse.operand.array,
        *(contiguous("flash_attention", own).array for own in arrays),
        *_numbers(sides),
        **options,
        BLOCK_M=m,
        BLOCK_N=n,
        BLOCK_D=max(16, block_of(sides.dq)),
        BLOCK_DV=max(16, block_of(sides.dv)),
    )
    return out.finish(), lse.finish()


def flash_attention_backward(
    grad: A,
    q: A,
    k: A,
    v: A,
    out: A,
    lse: A,
    *,
    causal: bool = False,
    scale: float | None = None,
    window: int | None = None,
    soft_cap: float = 0.0,
) -> tuple[A, A, A]:
    """The gradients by q, k and v, from that of the first result; `out` and `lse` are the results.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1204, E1206.
    """
    operation = "flash_attention_backward"
    arrays = [operand(name, own) for name, own in (("q", q), ("k", k), ("v", v))]
    sides = _sides(operation, arrays)
    options = _options(operation, sides, causal, scale, window, soft_cap)
    first = arrays[0]
    upstream, result, logs = (
        contiguous(operation, operand(name, own))
        for name, own in (("grad", grad), ("out", out), ("lse", lse))
    )
    same_place(operation, [("q", first), ("grad", upstream), ("out", result), ("lse", logs)])
    shapes = (upstream.shape, result.shape, logs.shape)
    if shapes != (*((*first.shape[:3], sides.dv),) * 2, first.shape[:3]):
        what = f"`grad` {shapes[0]}, `out` {shapes[1]}, `lse` {shapes[2]}, `q` {first.shape}"
        raise E1202.error(operation=operation, what=what).help("give what the forward returned")
    require_dtype(operation, "grad", upstream, (first.dtype,))
    delta = empty(first, first.shape[:3], logs.dtype)
    rows, depth_v = prod(first.shape[:3]), max(16, block_of(sides.dv))
    attention_delta[-(-rows // 32)](
        delta.array, upstream.array, result.array, rows, sides.dv, ROWS=32, BLOCK_DV=depth_v
    )
    gradients = [Output(operation, own, own.shape) for own in arrays]
    dq, dk, dv = (own.operand.array for own in gradients)
    ready = [contiguous(operation, own).array for own in arrays]
    m, n, warps = _blocks(first, sides, backward=True)
    common: dict[str, Any] = {
        **options,
        "BLOCK_M": m,
        "BLOCK_N": n,
        "BLOCK_D": max(16, block_of(sides.dq)),
        "BLOCK_DV": depth_v,
        "num_warps": warps,
        "num_stages": 2,
    }
    read = (upstream.array, *ready, logs.array, delta.array, *_numbers(sides))
    grid = sides.batch * sides.heads * -(-sides.sq // m)
    launch: Any = attention_backward_q[grid]
    launch(dq, *read, **common)
    grid = sides.batch * sides.shared * -(-sides.sk // n)
    launch = attention_backward_kv[grid]
    launch(dk, dv, *read, **common)
    return gradients[0].finish(), gradients[1].finish(), gradients[2].finish()


def _sides(operation: str, arrays: Sequence[Operand]) -> _Sides:
    q, k, v = arrays
    same_place(operation, [("q", q), ("k", k), ("v", v)])
    require_dtype(operation, "q", q, FLOATS)
    for name, own in (("k", k), ("v", v)):
        require_dtype(operation, name, own, (q.dtype,))
    fits = (
        q.ndim == k.ndim == v.ndim == 4
        and q.shape[0] == k.shape[0]
        and k.shape[:3] == v.shape[:3]
        and q.shape[3] == k.shape[3]
        and k.shape[1] > 0
        and q.shape[1] % k.shape[1] == 0
    )
    if not fits:
        what = f"`q` {q.shape}, `k` {k.shape}, `v` {v.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "(batch, heads, rows, depth); the heads of q are a multiple of those of k and v"
        )
    found = _Sides(
        q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2], q.shape[3], v.shape[3]
    )
    if not 0 < found.dq <= DEEPEST or not 0 < found.dv <= DEEPEST:
        what = f"depths of {found.dq} and {found.dv}"
        raise E1202.error(operation=operation, what=what).help(f"depths go from 1 to {DEEPEST}")
    return found


def _options(
    operation: str,
    sides: _Sides,
    causal: bool,
    scale: float | None,
    window: int | None,
    soft_cap: float,
) -> dict[str, Any]:
    if window is not None and window < 1:
        raise E1204.error(operation=operation, name="window", found=f"{window}").help(
            "give the number of columns that a row sees, or None"
        )
    if soft_cap < 0.0:
        raise E1204.error(operation=operation, name="soft_cap", found=f"{soft_cap}").help(
            "give a positive number, or 0 for none"
        )
    return {
        "scale": 1.0 / sqrt(sides.dq) if scale is None else scale,
        "cap": soft_cap,
        "window": window or 0,
        "CAUSAL": causal,
        "WINDOW": window is not None,
        "CAP": soft_cap > 0.0,
    }


def _numbers(sides: _Sides) -> tuple[int, ...]:
    group = sides.heads // sides.shared
    return (sides.sq, sides.sk, sides.dq, sides.dv, sides.heads, group)


def _blocks(like: Operand, sides: _Sides, *, backward: bool) -> tuple[int, int, int]:
    """Rows of q and of k in a program, and its warps: what shared memory and registers hold."""
    row = max(block_of(sides.dq), block_of(sides.dv)) * ITEMSIZES[like.dtype]
    if row >= 1024:
        return 16, 16, 4
    if row >= 512 or backward:
        return 32, 32, 4
    return (128, 64, 8) if row <= 256 and like.dtype in {"f16", "bf16"} else (64, 32, 4)


def _seen(sq: int, sk: int, causal: bool, window: int | None) -> np.ndarray:
    m, n = np.arange(sq)[:, None] + (sk - sq), np.arange(sk)[None, :]
    seen = np.ones((sq, sk), bool)
    if causal:
        seen &= n <= m
    if window is not None:
        seen &= n > m - window
    return seen


def _parts(q: Any, k: Any, v: Any, options: Mapping[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
    """Probabilities, the log of the sums, the slope of the cap, k and v for each head of q."""
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scale = options.get("scale") or 1 / sqrt(q.shape[-1])
    s = scale * q @ np.swapaxes(k, -1, -2)
    cap = options.get("soft_cap", 0.0)
    slope = np.ones_like(s)
    if cap:
        slope = 1 - np.tanh(s / cap) ** 2
        s = cap * np.tanh(s / cap)
    seen = _seen(q.shape[2], k.shape[2], options.get("causal", False), options.get("window"))
    s = np.where(seen, s, -np.inf)
    with np.errstate(all="ignore"):
        top = s.max(axis=-1, keepdims=True, initial=-np.inf)
        e = np.exp(s - np.where(np.isinf(top), 0.0, top))
        total = e.sum(axis=-1, keepdims=True)
        lse = np.where(np.isinf(top), 0.0, top) + np.log(total)
        p = e / np.where(total == 0, 1.0, total)
    return p, lse[..., 0], slope, k, v


def attention_reference(q: Any, k: Any, v: Any, **options: Any) -> Any:
    p, lse, _, _, v = _parts(q, k, v, options)
    return p @ v, lse


def _gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], size: Any = lambda x: x
) -> Sequence[Any]:
    q, k, v = arrays
    p, _, slope, k_all, v_all = _parts(q, k, v, options)
    grad, scale = size(grads[0]), options.get("scale") or 1 / sqrt(q.shape[-1])
    q, k_all, v_all = size(q), size(k_all), size(v_all)
    dp = grad @ np.swapaxes(v_all, -1, -2)
    along = (dp * p).sum(axis=-1, keepdims=True)
    d = p * (dp - along if size(-1.0) < 0 else dp + along) * slope * scale
    shape = (q.shape[0], k.shape[1], q.shape[1] // k.shape[1], k.shape[2])
    dq = d @ k_all
    dk = (np.swapaxes(d, -1, -2) @ q).reshape(*shape, q.shape[-1]).sum(axis=2)
    dv = (np.swapaxes(p, -1, -2) @ grad).reshape(*shape, v.shape[-1]).sum(axis=2)
    return dq, dk, dv


def _sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], _rounding: float
) -> Sequence[Any]:
    found = _gradients(grads, arrays, options, np.abs)
    return [own * (1 + _spread(arrays, options)) for own in found]


def _spread(arrays: Sequence[Any], options: Mapping[str, Any]) -> float:
    """The largest score: a probability is as exact as its exponent is."""
    q, k = np.abs(arrays[0]), np.abs(arrays[1])
    scale = options.get("scale") or 1 / sqrt(q.shape[-1])
    return float(scale * q.sum(axis=-1).max(initial=0) * k.max(initial=0)) / 8


def _magnitude(q: Any, k: Any, v: Any, **options: Any) -> Any:
    p, lse, _, _, v = _parts(q, k, v, options)
    finite = np.where(np.isfinite(lse), np.abs(lse), 0.0)
    spread = 1 + _spread((q, k), options)
    return p @ np.abs(v) * spread, (finite + 1) * spread


def _torch(t: Any, q: Any, k: Any, v: Any, **options: Any) -> Any:
    seen = _seen(q.shape[2], k.shape[2], options.get("causal", False), options.get("window"))
    if seen.any(axis=-1).all() and not options.get("soft_cap"):
        return t.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=t.from_numpy(seen).to(q.device), scale=options.get("scale"),
            enable_gqa=True,
        )  # fmt: skip
    group = q.shape[1] // k.shape[1]
    k, v = (own.repeat_interleave(group, dim=1) for own in (k, v))
    s = (options.get("scale") or 1 / sqrt(q.shape[-1])) * q @ k.transpose(-1, -2)
    if options.get("soft_cap"):
        s = options["soft_cap"] * t.tanh(s / options["soft_cap"])
    mask = t.from_numpy(seen).to(q.device)
    p = t.softmax(s.masked_fill(~mask, -1e300 if s.dtype == t.float64 else -1e30), -1) * mask
    return p @ v


def _case(
    batch: int, heads: int, shared: int, sq: int, sk: int, dq: int, dv: int, values: str = "normal",
    **options: Any,
) -> Case:  # fmt: skip
    shapes = ((batch, heads, sq, dq), (batch, shared, sk, dq), (batch, shared, sk, dv))
    return Case(shapes, options, values)


def _cost(case: Case, itemsize: int) -> Cost:
    q, k, v = case.shapes
    flops = 2 * q[0] * q[1] * q[2] * k[2] * (q[3] + v[3])
    if case.options.get("causal"):
        flops //= 2
    return Cost(itemsize * (2 * prod(q) + prod(k) + prod(v)), flops)


SPEC = KernelSpec(
    name="flash_attention",
    family="attention",
    function=flash_attention,
    outputs=2,
    differentiable_outputs=1,
    kernels=(attention_forward, attention_delta, attention_backward_q, attention_backward_kv),
    backward=lambda grads, arrays, outputs, options: flash_attention_backward(
        grads[0], *arrays, *outputs, **options
    ),
    differentiable=(0, 1, 2),
    formula="softmax(scale q k^T + mask) v",
    source="Dao 2023, FlashAttention-2",
    reference=attention_reference,
    backward_reference=_gradients,
    torch_name="torch.nn.functional.scaled_dot_product_attention",
    torch=_torch,
    cases=(
        _case(1, 1, 1, 1, 1, 16, 16),
        _case(2, 2, 2, 33, 33, 16, 16),
        _case(1, 2, 1, 64, 64, 64, 64, causal=True),
        _case(1, 4, 2, 17, 50, 32, 32, causal=True),
        _case(1, 1, 1, 5, 3, 16, 16, causal=True),
        _case(1, 2, 2, 129, 65, 40, 24),
        _case(1, 1, 1, 7, 192, 80, 80),
        _case(1, 2, 2, 50, 50, 100, 100, causal=True),
        _case(1, 1, 1, 20, 30, 128, 128, "wide"),
        _case(1, 1, 1, 9, 11, 256, 256),
        _case(1, 2, 1, 60, 60, 32, 32, causal=True, window=7),
        _case(1, 2, 2, 40, 40, 32, 16, soft_cap=5.0),
        _case(1, 1, 1, 40, 70, 32, 16, causal=True, scale=0.3, soft_cap=2.0),
        _case(0, 2, 2, 8, 8, 16, 16),
        _case(1, 1, 1, 4, 0, 16, 16),
    ),
    tolerance=Tolerance(2, "probabilities rounded to the dtype, sums of products in f32"),
    backward_tolerance=Tolerance(3, "probabilities and their gradients rounded to the dtype"),
    magnitude=_magnitude,
    backward_magnitude=_sizes,
    rounded_terms=True,
    cost=_cost,
    benchmarks=(
        _case(4, 32, 32, 4096, 4096, 128, 128),
        _case(4, 32, 32, 4096, 4096, 128, 128, causal=True),
    ),
)
