"""The persistent product of matrices by descriptors in Triton: the same algorithm, to compare with.

`matmul_work(x, y)` is a call of it with the configuration that the kernel library chooses for the
arrays, or None where that is another kernel.
"""

# Triton's kernels have no types and name their constants in capitals.
# ruff: noqa: ANN001, SIM108
# mypy: disable-error-code="no-untyped-def,untyped-decorator,misc"
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from teeny_kernels.arrays import operand
from teeny_kernels.products.run import chosen

if TYPE_CHECKING:
    from collections.abc import Callable


@triton.jit
def persistent(
    out,
    x,
    y,
    M,
    N,
    K,
    Y_TURNED: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    SPLIT: tl.constexpr,
) -> None:
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    steps = tl.cdiv(K, BLOCK_K)
    in_group = GROUP_M * tiles_n
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0), flatten=True):
        first = tile // in_group * GROUP_M
        rows = tl.minimum(tiles_m - first, GROUP_M)
        row = (first + tile % in_group % rows) * BLOCK_M
        column = tile % in_group // rows * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for step in range(steps):
            a = x.load([row, step * BLOCK_K])
            if Y_TURNED:
                b = y.load([column, step * BLOCK_K]).T
            else:
                b = y.load([step * BLOCK_K, column])
            acc = tl.dot(a, b, acc)
        if SPLIT == 2:
            parts = tl.permute(tl.reshape(acc, (BLOCK_M, 2, BLOCK_N // 2)), (0, 2, 1))
            left, right = tl.split(parts)
            out.store([row, column], left.to(out.dtype))
            out.store([row, column + BLOCK_N // 2], right.to(out.dtype))
        else:
            out.store([row, column], acc.to(out.dtype))


def matmul_work(x: Any, y: Any) -> Callable[[], Any] | None:
    """The product of two matrices of 16-bit floats; y may lie along k."""
    out = torch.empty((x.shape[0], y.shape[-1]), dtype=x.dtype, device=x.device)
    if x.ndim != 2 or y.ndim != 2 or x.element_size() != 2 or x.stride(1) != 1:
        return None
    made, left, right = (operand("array", own) for own in (out, x, y))
    config = chosen(made, left, right)
    if config.kind != "persistent":
        return None
    (m, k), n, is_turned = x.shape, y.shape[1], y.stride(0) == 1
    tile = (config.n, config.k) if is_turned else (config.k, config.n)
    stored = y.T if is_turned else y
    arrays = (
        TensorDescriptor.from_tensor(out, [config.m, config.n // config.split]),
        TensorDescriptor.from_tensor(x, [config.m, config.k]),
        TensorDescriptor.from_tensor(stored, list(tile)),
    )
    tiles = -(-m // config.m) * -(-n // config.n)
    count = torch.cuda.get_device_properties(x.device).multi_processor_count
    grid = (min(tiles, config.programs or count),)

    def run() -> Any:
        persistent[grid](
            *arrays, m, n, k, is_turned, config.m, config.n, config.k, config.group, config.split,
            num_warps=config.warps, num_stages=config.stages,
        )  # fmt: skip
        return out

    return run
