"""The kernel library's algorithms in Triton, to compare with: rows, elements, attention, products.

`forward(name, inputs, options)` is a call of the twin of an operation on the same arrays, with the
blocks, warps and registers that the library launches with; it gives the result, so that the two can
be compared. None where there is no twin.
"""

# Triton's kernels have no types and name their constants in capitals.
# ruff: noqa: ANN001
# mypy: disable-error-code="no-untyped-def,untyped-decorator,misc"
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from triton_products import matmul_work

from teeny_kernels.attention.blocks import SM_90
from teeny_kernels.rows import block_of, warps_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ELEMENTS = {2: 2048, 4: 1024}  # for each program of 8 warps, by the bytes of one
RESIDENT = 16384


@triton.jit
def softmax(out, x, n, LOG: tl.constexpr, BLOCK: tl.constexpr) -> None:
    row = tl.program_id(0).to(tl.int64) * n
    cols = tl.arange(0, BLOCK)
    own = tl.load(x + row + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
    shifted = own - tl.max(own, axis=0)
    weights = tl.exp(shifted)
    total = tl.sum(weights, axis=0)
    found = shifted - tl.log(total) if LOG else weights / total
    tl.store(out + row + cols, found.to(out.dtype.element_ty), mask=cols < n)


@triton.jit
def row_norm(out, x, w, b, n, eps, CENTER: tl.constexpr, BLOCK: tl.constexpr) -> None:
    row = tl.program_id(0).to(tl.int64) * n
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    own = tl.load(x + row + cols, mask=mask, other=0.0).to(tl.float32)
    if CENTER:
        own = tl.where(mask, own - tl.sum(own, axis=0) / n, 0.0)
    found = own * (1.0 / tl.sqrt_rn(tl.sum(own * own, axis=0) / n + eps))
    found = found * tl.load(w + cols, mask=mask, other=0.0).to(tl.float32)
    if b is not None:
        found = found + tl.load(b + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row + cols, found.to(out.dtype.element_ty), mask=mask)


@triton.jit
def row_sum(out, x, n, BLOCK: tl.constexpr) -> None:
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    own = tl.load(x + row.to(tl.int64) * n + cols, mask=cols < n, other=0.0).to(tl.float32)
    tl.store(out + row, tl.sum(own, axis=0).to(out.dtype.element_ty))


@triton.jit
def elements(out, x, y, n, KIND: tl.constexpr, BLOCK: tl.constexpr) -> None:
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    own = tl.load(x + at, mask=at < n).to(tl.float32)
    if KIND == "add":
        own = own + tl.load(y + at, mask=at < n).to(tl.float32)
    elif KIND == "relu":
        own = tl.maximum(own, 0.0, propagate_nan=tl.PropagateNan.ALL)
    elif KIND == "silu":
        own = own / (1.0 + tl.exp(-own))
    else:
        own = 0.5 * own * (1.0 + tl.math.erf(own * 0.7071067811865476))
    tl.store(out + at, own.to(out.dtype.element_ty), mask=at < n)


@triton.jit
def attention(
    out, lse, q, k, v, n, scale, CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr,
    N: tl.constexpr,
) -> None:  # fmt: skip
    blocks = n // M
    head = tl.program_id(0) // blocks
    first = (blocks - 1 - tl.program_id(0) % blocks) * M
    rows = first + tl.arange(0, M)
    ds = tl.arange(0, D)
    ats = (head * n + rows).to(tl.int64)[:, None] * D + ds[None, :]
    own = tl.load(q + ats)
    acc = tl.zeros((M, D), tl.float32)
    total = tl.zeros((M,), tl.float32)
    largest = total - float("inf")
    # Blocks that all rows see whole, then those at the edge.
    for masked in tl.static_range(2 if CAUSAL else 1):
        low = first if masked else 0
        high = first + M if masked else (first if CAUSAL else n)
        for start in range(low, high, N):
            s = tl.dot(own, k.load([head * n + start, 0]).T)
            if masked:
                s = tl.where(rows[:, None] >= start + tl.arange(0, N)[None, :], s, -float("inf"))
            higher = tl.maximum(largest, tl.max(s, axis=1) * scale)
            p = tl.exp2(s * scale - higher[:, None])
            shrink = tl.exp2(largest - higher)
            total = total * shrink + tl.sum(p, axis=1)
            acc = tl.dot(p.to(own.dtype), v.load([head * n + start, 0]), acc * shrink[:, None])
            largest = higher
    tl.store(out + ats, (acc / total[:, None]).to(own.dtype))
    tl.store(lse + (head * n + rows).to(tl.int64), largest + tl.log2(total))


def _call(
    kernel: Any, grid: tuple[int, ...], arguments: tuple[Any, ...], how: Mapping[str, Any]
) -> Callable[[], Any]:
    """A launch that gives the first argument, which is the result."""

    def run() -> Any:
        kernel[grid](*arguments, **how)
        return arguments[0]

    return run


def _of_rows(name: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    x = inputs[0]
    n = x.shape[-1]
    if x.ndim != 2 or n > RESIDENT:
        return None
    block = block_of(n)
    warps = warps_of(block, x.element_size())
    limit = {"maxnreg": 64} if warps >= 8 and block <= 1024 * warps else {}
    how = {"num_warps": warps, **limit}
    grid = (x.shape[0],)
    if name == "reduce_sum":
        if options.get("axis") not in {1, -1}:
            return None
        sums = torch.empty(x.shape[:1], dtype=x.dtype, device=x.device)
        return _call(row_sum, grid, (sums, x, n, block), how)
    out = torch.empty_like(x)
    if name in {"softmax", "log_softmax"}:
        return _call(softmax, grid, (out, x, n, name == "log_softmax", block), how)
    weights = list(inputs[1:3])
    if len(weights) < (2 if name == "layer_norm" else 1):
        return None
    eps = options.get("eps") or (1e-5 if name == "layer_norm" else torch.finfo(x.dtype).eps)
    w, b = weights[0], weights[1] if name == "layer_norm" else None
    return _call(row_norm, grid, (out, x, w, b, n, eps, name == "layer_norm", block), how)


def _of_elements(name: str, inputs: Sequence[Any]) -> Any:
    x, y = inputs[0], inputs[-1]
    if x.shape != y.shape or not x.is_contiguous() or not y.is_contiguous():
        return None
    out, n, block = torch.empty_like(x), x.numel(), ELEMENTS[x.element_size()]
    return _call(elements, (triton.cdiv(n, block),), (out, x, y, n, name, block), {"num_warps": 8})


def _of_attention(inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    q, k, v = inputs[:3]
    (batch, heads, n, depth), plain = q.shape, set(options) <= {"causal"}
    own: Any = SM_90["forward"].get(depth)
    fits = q.shape == k.shape == v.shape and own is not None and q.element_size() == 2
    if not fits or not plain or n % max(own.m, own.n):
        return None
    out, scale = torch.empty_like(q), depth**-0.5 * 1.4426950408889634
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    made = [
        TensorDescriptor(one, [batch * heads * n, depth], [depth, 1], [own.n, depth])
        for one in (k, v)
    ]
    arguments = (
        out, lse, q, *made, n, scale, bool(options.get("causal")), depth, own.m, own.n
    )  # fmt: skip
    how = {"num_warps": own.warps, "num_stages": own.stages}
    return _call(attention, (batch * heads * n // own.m,), arguments, how)


def forward(
    name: str, inputs: Sequence[Any], options: Mapping[str, Any]
) -> Callable[[], Any] | None:
    """A call of the twin of operation `name`, or None where there is none for these arrays."""
    if any(own.dtype not in {torch.float16, torch.bfloat16, torch.float32} for own in inputs[:1]):
        return None
    if name == "matmul":
        return matmul_work(*inputs)
    found: Callable[[], Any] | None = None
    if name == "flash_attention":
        found = _of_attention(inputs, options)
    elif name in {"softmax", "log_softmax", "layer_norm", "rms_norm", "reduce_sum"}:
        found = _of_rows(name, inputs, options)
    elif name in {"relu", "silu", "gelu", "add"} and not options:
        found = _of_elements(name, inputs)
    return found
