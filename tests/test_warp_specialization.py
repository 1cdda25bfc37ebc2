"""A product whose loop asks for warp specialization, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f16, f32, i32


@kernel
def matmul(
    a_ptr: Ptr[f16],
    b_ptr: Ptr[f16],
    c_ptr: Ptr[f32],
    n: i32 | int,
    STAGES: Const[int],
    M: Const[int],
    N: Const[int],
    K: Const[int],
) -> None:
    a = tl.make_tensor_descriptor(a_ptr, [n, n], [n, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [n, n], [n, 1], [K, N])
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), f32)
    for k in tl.range(0, n, K, num_stages=STAGES, warp_specialize=True):
        acc = tl.dot(a.load((i, k)), b.load((k, j)), acc)
    rows, columns = i + tl.arange(0, M), j + tl.arange(0, N)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], acc)


def operands(n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, n, n)).astype(np.float16)
    return a, b, a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("device", ["cpu", "interpret"])
def test_the_result_is_that_of_any_loop(device: str) -> None:
    a, b, wanted = operands(32)
    c = np.zeros((32, 32), np.float32)
    matmul.on((2, 2), device=device)(a, b, c, 32, STAGES=2, M=16, N=16, K=16)
    assert np.abs(c - wanted).max() < 1e-3


@pytest.mark.gpu
@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("tile", [(128, 128, 64), (128, 64, 64)])
def test_the_result_on_a_gpu_is_right_with_and_without_it(
    tile: tuple[int, int, int], stages: int
) -> None:
    from teeny_cuda import Device

    gpu, n = Device(0), 512
    a, b, wanted = operands(n)
    buffers = [gpu.buffer((n, n), dtype) for dtype in ("f16", "f16", "f32")]
    for buffer, array in zip(buffers, (a, b), strict=False):
        buffer.copy_from(array)
    m, n_tile, k = tile
    for _ in range(3):
        buffers[2].fill(float("nan"))
        grid = (n // m, n // n_tile)
        x, y, out = buffers
        matmul[grid](x, y, out, n, STAGES=stages, M=m, N=n_tile, K=k)
        assert np.abs(buffers[2].to_host() - wanted).max() < 5e-3
