"""A masked copy in two dimensions: two-dimensional tiles, strides, and a mask with an axis each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Axis, Const, Num, Ptr, i32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny_macros.protocol import Device

D = TypeVar("D", bound=Num)

BLOCK_M = 32
BLOCK_N = 64


@kernel(
    extents={
        "src_ptr": "(n_rows - 1) * src_stride + n_cols",
        "dst_ptr": "(n_rows - 1) * dst_stride + n_cols",
    }
)
def masked_copy(
    src_ptr: Ptr[D],
    dst_ptr: Ptr[D],
    n_rows: i32 | int,
    n_cols: i32 | int,
    src_stride: i32 | int,
    dst_stride: i32 | int,
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
) -> None:
    rows = tl.program_id(Axis.X) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(Axis.Y) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    tile = tl.load(src_ptr + rows[:, None] * src_stride + cols[None, :], mask=mask)
    tl.store(dst_ptr + rows[:, None] * dst_stride + cols[None, :], tile, mask=mask)


def run(device: Device, x: NDArray[Any], dtype: str) -> NDArray[Any]:
    """A copy of `x` (m, n) into rows that are 7 elements longer; the pad is cut off again."""
    m, n = map(int, x.shape)
    src, dst = device.buffer((m, n), dtype), device.buffer((m, n + 7), dtype)
    src.copy_from(x)
    dst.copy_from(np.zeros((m, n + 7), x.dtype))  # the pad is read back, too
    grid = (tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N))
    masked_copy[grid](src, dst, m, n, n, n + 7, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    device.synchronize()
    result: NDArray[Any] = dst.to_host()[:, :n]
    return result


def reference(x: NDArray[Any]) -> NDArray[np.float64]:
    """The input."""
    return x.astype(np.float64)


def tolerance(x: NDArray[Any], eps: float, tiny: float) -> NDArray[np.float64]:
    """Zero: a copy moves bits."""
    del eps, tiny
    return np.zeros(x.shape)
