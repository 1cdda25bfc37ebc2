"""Bias, GELU and residual in one pass over tiles: out = residual + gelu(x + bias)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_macros import device as device_function
from teeny_macros import kernel
from teeny_triton import R2, Axis, Const, Float, Ptr, Tensor, f32, i32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny_macros.protocol import Device

D = TypeVar("D", bound=Float)

BLOCK_M = 16
BLOCK_N = 128


@device_function
def gelu(x: Tensor[f32, R2]) -> Tensor[f32, R2]:
    """GELU, tanh form (Hendrycks and Gimpel 2016): 0.5 (1 + tanh(z)) = 1 / (1 + exp(-2 z))."""
    z = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return x / (1.0 + tl.exp(-2.0 * z))


@kernel(
    extents={
        "x_ptr": "n_rows * n_cols",
        "bias_ptr": "n_cols",
        "residual_ptr": "n_rows * n_cols",
        "out_ptr": "n_rows * n_cols",
    }
)
def bias_gelu_residual(
    x_ptr: Ptr[D],
    bias_ptr: Ptr[D],
    residual_ptr: Ptr[D],
    out_ptr: Ptr[D],
    n_rows: i32 | int,
    n_cols: i32 | int,
    BLOCK_M: Const[int],
    BLOCK_N: Const[int],
) -> None:
    rows = tl.program_id(Axis.X) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(Axis.Y) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(f32)
    bias = tl.load(bias_ptr + cols, mask=cols < n_cols, other=0.0).to(f32)
    residual = tl.load(residual_ptr + offsets, mask=mask, other=0.0).to(f32)
    y = residual + gelu(x + bias[None, :])
    tl.store(out_ptr + offsets, y.to(tl.elem(out_ptr)), mask=mask)


def run(
    device: Device, x: NDArray[Any], bias: NDArray[Any], residual: NDArray[Any], dtype: str
) -> NDArray[Any]:
    """`residual + gelu(x + bias)`; `x` and `residual` are (rows, columns), `bias` (columns,)."""
    m, n = map(int, x.shape)
    out = device.buffer(x.shape, dtype)
    x_dev, bias_dev, residual_dev = (device.buffer(a.shape, dtype) for a in (x, bias, residual))
    for buffer, array in ((x_dev, x), (bias_dev, bias), (residual_dev, residual)):
        buffer.copy_from(array)
    grid = (tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N))
    bias_gelu_residual[grid](
        x_dev, bias_dev, residual_dev, out, m, n, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N
    )
    device.synchronize()
    result: NDArray[Any] = out.to_host()
    return result


def reference(x: NDArray[Any], bias: NDArray[Any], residual: NDArray[Any]) -> NDArray[np.float64]:
    """The tanh form of GELU, with NumPy's tanh, in f64."""
    v = x.astype(np.float64) + bias.astype(np.float64)
    inner = np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)
    result: NDArray[np.float64] = residual.astype(np.float64) + 0.5 * v * (1 + np.tanh(inner))
    return result


def tolerance(
    x: NDArray[Any], bias: NDArray[Any], residual: NDArray[Any], eps: float, tiny: float
) -> NDArray[np.float64]:
    """The errors of the steps, in units of f32 rounding (u = 2^-24), and that of the output.

    The exponent 2z is off by 8 u |2z| (and inherits u |x| from the sum x + bias), exp by that and
    3 u, the sum and the division by 4 u.
    """
    v = x.astype(np.float64) + bias.astype(np.float64)
    u = 2.0**-24
    two_z = 2 * np.abs(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))
    gelu_value = np.abs(0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))))
    bound: NDArray[np.float64] = gelu_value * u * (16 * two_z + 10) + 2 * u * np.abs(v)
    return bound + np.abs(reference(x, bias, residual)) * (u + eps) + tiny
