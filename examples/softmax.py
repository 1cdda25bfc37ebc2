"""Softmax over rows: one program a row, the row in one block, sums in f32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, f32, i32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny_macros.protocol import Device

D = TypeVar("D", bound=Float)


@kernel(extents={"x_ptr": "num_programs(0) * n_cols", "out_ptr": "num_programs(0) * n_cols"})
def softmax_rows(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    n_cols: i32 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf")).to(f32)
    # Subtracting the maximum keeps exp from overflowing; masked lanes are exp(-inf) = 0.
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * n_cols + cols, y.to(tl.elem(out_ptr)), mask=mask)


def run(device: Device, x: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Softmax of `x`, shape (rows, columns), along its rows."""
    rows, cols = x.shape
    src, out = device.buffer(x.shape, dtype), device.buffer(x.shape, dtype)
    src.copy_from(x)
    block = 1 << (cols - 1).bit_length()
    softmax_rows[rows](out, src, cols, BLOCK_SIZE=block)
    device.synchronize()
    result: NDArray[Any] = out.to_host()
    return result


def reference(x: NDArray[Any]) -> NDArray[np.float64]:
    """exp(x - max) / sum(exp(x - max)) in f64."""
    z = x.astype(np.float64)
    z = np.exp(z - z.max(axis=1, keepdims=True)) if z.size else z
    total: NDArray[np.float64] = z / z.sum(axis=1, keepdims=True)
    return total


def tolerance(x: NDArray[Any], eps: float, tiny: float) -> NDArray[np.float64]:
    """The errors of the steps, in units of f32 rounding (u = 2^-24), and that of the output.

    exp(d) as 2^(d * log2 e): 2 ulp of the hardware and |d| u from the product; the sum of n terms:
    n u and the largest of their own errors; the division: 2 ulp.
    """
    y = reference(x)
    z = x.astype(np.float64)
    d = z.max(axis=1, keepdims=True) - z if z.size else z
    u = 2.0**-24
    relative = u * (2 * d + d.max(axis=1, keepdims=True, initial=0) + x.shape[1] + 12)
    bound: NDArray[np.float64] = y * (relative + eps) + tiny
    return bound
