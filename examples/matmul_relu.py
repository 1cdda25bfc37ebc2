"""Matrix product with an epilogue: out = relu(a @ b) * scale[:, None], on the tile at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Axis, Const, MmaFloat, Ptr, f32, i32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny_macros.protocol import Device

H = TypeVar("H", bound=MmaFloat)

BLOCK = {"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 32}


@kernel(
    extents={
        "a_ptr": "M * K",
        "b_ptr": "K * N",
        "scale_ptr": "M",
        "out_ptr": "M * N",
    }
)
def matmul_relu_scale(
    a_ptr: Ptr[H],
    b_ptr: Ptr[H],
    scale_ptr: Ptr[f32],
    out_ptr: Ptr[f32],
    M: i32 | int,
    N: i32 | int,
    K: i32 | int,
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
    BLOCK_K: Const[int],
) -> None:
    rows = tl.program_id(Axis.X) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(Axis.Y) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), f32)
    for k in tl.range(0, K, BLOCK_K):
        depth = k + inner
        a_mask = (rows < M)[:, None] & (depth < K)[None, :]
        b_mask = (depth < K)[:, None] & (cols < N)[None, :]
        a = tl.load(a_ptr + rows[:, None] * K + depth[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + depth[:, None] * N + cols[None, :], mask=b_mask, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    scale = tl.load(scale_ptr + rows, mask=rows < M, other=0.0)
    y = tl.maximum(accumulator, 0.0) * scale[:, None]
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], y, mask=mask)


def run(
    device: Device, a: NDArray[Any], b: NDArray[Any], scale: NDArray[Any], dtype: str
) -> NDArray[Any]:
    """relu(a @ b) * scale[:, None] as f32; shapes (m, k), (k, n), (m,); `scale` is f32."""
    m, k, n = map(int, (*a.shape, b.shape[1]))
    a_dev, b_dev = device.buffer((m, k), dtype), device.buffer((k, n), dtype)
    scale_dev, out = device.buffer(m, "f32"), device.buffer((m, n), "f32")
    for buffer, array in ((a_dev, a), (b_dev, b), (scale_dev, scale)):
        buffer.copy_from(array)
    grid = (tl.cdiv(m, BLOCK["BLOCK_M"]), tl.cdiv(n, BLOCK["BLOCK_N"]))
    matmul_relu_scale[grid](a_dev, b_dev, scale_dev, out, m, n, k, **BLOCK)
    device.synchronize()
    result: NDArray[Any] = out.to_host()
    return result


def reference(a: NDArray[Any], b: NDArray[Any], scale: NDArray[Any]) -> NDArray[np.float64]:
    """The same in f64."""
    product = a.astype(np.float64) @ b.astype(np.float64)
    result: NDArray[np.float64] = np.maximum(product, 0) * scale.astype(np.float64)[:, None]
    return result


def tolerance(
    a: NDArray[Any], b: NDArray[Any], scale: NDArray[Any], eps: float, tiny: float
) -> NDArray[np.float64]:
    """As for the plain product, times the scale, and one more rounding.

    u is 2^-23, since the adders of tensor cores may truncate.
    """
    del eps, tiny
    size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    bound: NDArray[np.float64] = (a.shape[1] + 4) * 2.0**-23 * size
    return bound * np.abs(scale.astype(np.float64))[:, None]
