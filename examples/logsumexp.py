"""Log-sum-exp over axis 0: a column a lane, rows walked in tiles with a running maximum and sum."""

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

BLOCK_M = 16
BLOCK_N = 64


@kernel(extents={"x_ptr": "n_rows * n_cols", "out_ptr": "n_cols"})
def logsumexp_columns(
    x_ptr: Ptr[D],
    out_ptr: Ptr[f32],
    n_rows: i32 | int,
    n_cols: i32 | int,
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
) -> None:
    cols = tl.program_id(Axis.X) * BLOCK_N + tl.arange(0, BLOCK_N)
    lanes = tl.arange(0, BLOCK_M)
    # A finite start instead of -inf: exp(-inf - -inf) would be NaN where a whole tile is masked.
    highest = tl.full((BLOCK_N,), -3.0e38, f32)
    total = tl.zeros((BLOCK_N,), f32)
    for start in range(0, n_rows, BLOCK_M):
        rows = start + lanes
        mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
        offsets = rows[:, None] * n_cols + cols[None, :]
        x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(f32)
        new = tl.maximum(highest, tl.max(x, axis=0))
        total = total * tl.exp(highest - new) + tl.sum(tl.exp(x - new[None, :]), axis=0)
        highest = new
    tl.store(out_ptr + cols, highest + tl.log(total), mask=cols < n_cols)


def run(device: Device, x: NDArray[Any], dtype: str) -> NDArray[Any]:
    """log(sum(exp(x), axis=0)) of `x`, shape (rows, columns), as f32 of shape (columns,)."""
    m, n = x.shape
    src, out = device.buffer(x.shape, dtype), device.buffer(n, "f32")
    src.copy_from(x)
    logsumexp_columns[tl.cdiv(n, BLOCK_N)](src, out, m, n, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    device.synchronize()
    result: NDArray[Any] = out.to_host()
    return result


def reference(x: NDArray[Any]) -> NDArray[np.float64]:
    """The same in f64: max + log(sum(exp(x - max))) over axis 0."""
    z = x.astype(np.float64)
    if not z.size:
        return np.full((x.shape[1],), -np.inf)  # the log of an empty sum
    highest = z.max(axis=0)
    result: NDArray[np.float64] = highest + np.log(np.exp(z - highest).sum(axis=0))
    return result


def tolerance(x: NDArray[Any], eps: float, tiny: float) -> NDArray[np.float64]:
    """The errors of the steps, in units of f32 rounding (u = 2^-24).

    The sum of m terms, rescaled m / BLOCK_M times: relative (2 m + d + 8) u, where d is the spread
    of a column (2^(d log2 e) inherits d u); log turns that into an absolute error; then the last
    addition and log's own 2 ulp.
    """
    del eps, tiny
    z = x.astype(np.float64)
    if not z.size:
        return np.zeros((x.shape[1],))
    u = 2.0**-24
    spread = z.max(axis=0) - z.min(axis=0)
    value = np.abs(reference(x))
    of_sum = 2 * x.shape[0] + 2 * spread + 16
    bound: NDArray[np.float64] = u * (of_sum + 4 * (value + np.abs(z.max(axis=0))))
    return bound
