"""Layer norm, forward: mean and variance in f32, in two passes over a row held in one block."""

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

EPS = 1e-5


@kernel(
    extents={
        "x_ptr": "num_programs(0) * n_cols",
        "weight_ptr": "n_cols",
        "bias_ptr": "n_cols",
        "out_ptr": "num_programs(0) * n_cols",
    }
)
def layer_norm_forward(
    x_ptr: Ptr[D],
    weight_ptr: Ptr[D],
    bias_ptr: Ptr[D],
    out_ptr: Ptr[D],
    n_cols: i32 | int,
    eps: f32 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    row = tl.program_id(Axis.X)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(f32)
    mean = tl.sum(x, axis=0) / f32(n_cols)
    # The padding must not count: it is 0 - mean, not 0.
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / f32(n_cols)
    normal = centered * tl.rsqrt(variance + eps)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(f32)
    bias = tl.load(bias_ptr + cols, mask=mask, other=0.0).to(f32)
    y = normal * weight + bias
    tl.store(out_ptr + row * n_cols + cols, y.to(tl.elem(out_ptr)), mask=mask)


def run(
    device: Device, x: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any], dtype: str
) -> NDArray[Any]:
    """Layer norm of `x` (rows, columns) over its columns; `weight` and `bias` are (columns,)."""
    rows, cols = x.shape
    src, out = device.buffer(x.shape, dtype), device.buffer(x.shape, dtype)
    w, b = device.buffer(cols, dtype), device.buffer(cols, dtype)
    for buffer, array in ((src, x), (w, weight), (b, bias)):
        buffer.copy_from(array)
    block = 1 << (cols - 1).bit_length()
    layer_norm_forward[rows](src, w, b, out, cols, EPS, BLOCK_SIZE=block)
    device.synchronize()
    result: NDArray[Any] = out.to_host()
    return result


def reference(x: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any]) -> NDArray[np.float64]:
    """(x - mean) / sqrt(variance + eps) * weight + bias in f64; the variance has no correction."""
    z, w, b = (a.astype(np.float64) for a in (x, weight, bias))
    centered = z - z.mean(axis=1, keepdims=True)
    variance = (centered * centered).mean(axis=1, keepdims=True)
    normal: NDArray[np.float64] = centered / np.sqrt(variance + EPS) * w + b
    return normal


def tolerance(
    x: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any], eps: float, tiny: float
) -> NDArray[np.float64]:
    """The errors of the steps, in units of f32 rounding (u = 2^-24), and that of the output.

    The mean of n values is off by at most n u mean|x|; the centered value inherits that; the
    variance is a sum of n squares (n u, relative) of such values; rsqrt and the products add 8 u.
    """
    z, w, b = (a.astype(np.float64) for a in (x, weight, bias))
    n, u = x.shape[1], 2.0**-24
    centered = z - z.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((centered * centered).mean(axis=1, keepdims=True) + EPS)
    off = (n + 2) * u * np.abs(z).mean(axis=1, keepdims=True)
    relative = (n + 8) * u + off * scale
    normal = np.abs(centered) * scale
    bound = np.abs(w) * (normal * relative + off * scale + 4 * u * np.abs(z) * scale)
    bound += (np.abs(normal * w) + np.abs(b)) * (2 * u)
    result: NDArray[np.float64] = bound + np.abs(reference(x, weight, bias)) * eps + tiny
    return result
