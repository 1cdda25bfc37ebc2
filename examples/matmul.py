"""Matrix product in tiles with an f32 accumulator; programs are grouped for the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_macros import device as device_function
from teeny_macros import kernel
from teeny_triton import Axis, Const, MmaFloat, Ptr, f32, i32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny_macros.protocol import Device

H = TypeVar("H", bound=MmaFloat)

BLOCK = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP": 8}


@device_function
def grouped(pid: i32, tiles_m: i32 | int, tiles_n: i32 | int, GROUP: Const[int]) -> tuple[i32, i32]:
    """Walk GROUP rows of tiles before the next column: tiles of B are met again while cached."""
    width = GROUP * tiles_n
    first = (pid // width) * GROUP
    size = tl.minimum(tiles_m - first, GROUP)
    return first + (pid % width) % size, (pid % width) // size


@kernel(
    extents={
        "a_ptr": "M * K",
        "b_ptr": "K * N",
        "c_ptr": "M * N",
        "num_programs(0)": "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)",
    }
)
def matmul(
    a_ptr: Ptr[H],
    b_ptr: Ptr[H],
    c_ptr: Ptr[H],
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
    GROUP: Const[int],
) -> None:
    pid_m, pid_n = grouped(tl.program_id(Axis.X), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * N + cols[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), f32)
    for k in range(0, K, BLOCK_K):
        a_mask = (rows < M)[:, None] & (inner < K - k)[None, :]
        b_mask = (inner < K - k)[:, None] & (cols < N)[None, :]
        a = tl.load(a_ptrs, mask=a_mask, other=0.0)
        b = tl.load(b_ptrs, mask=b_mask, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    c_mask = (rows < M)[:, None] & (cols < N)[None, :]
    c_ptrs = c_ptr + rows[:, None] * N + cols[None, :]
    tl.store(c_ptrs, accumulator.to(tl.elem(c_ptr)), mask=c_mask)


def run(device: Device, a: NDArray[Any], b: NDArray[Any], dtype: str) -> NDArray[Any]:
    """`a @ b`, shapes (m, k) and (k, n)."""
    m, k, n = map(int, (*a.shape, b.shape[1]))
    a_dev, b_dev, c_dev = (device.buffer(shape, dtype) for shape in ((m, k), (k, n), (m, n)))
    a_dev.copy_from(a)
    b_dev.copy_from(b)
    grid = tl.cdiv(m, BLOCK["BLOCK_M"]) * tl.cdiv(n, BLOCK["BLOCK_N"])
    matmul[grid](a_dev, b_dev, c_dev, m, n, k, **BLOCK)
    device.synchronize()
    result: NDArray[Any] = c_dev.to_host()
    return result


def reference(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """The product in f64."""
    product: NDArray[np.float64] = a.astype(np.float64) @ b.astype(np.float64)
    return product


def tolerance(a: NDArray[Any], b: NDArray[Any], eps: float, tiny: float) -> NDArray[np.float64]:
    """A sum of k products: (k + 2) u sum|a||b| in any order, and the rounding to the output.

    u is 2^-23, since the adders of tensor cores may truncate.
    """
    size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    bound: NDArray[np.float64] = (a.shape[1] + 2) * 2.0**-23 * size + np.abs(reference(a, b)) * eps
    return bound + tiny
