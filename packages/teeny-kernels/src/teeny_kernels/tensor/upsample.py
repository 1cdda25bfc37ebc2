"""upsample_nearest2d: each element of an image repeated, forward and backward.

    out[n, c, h, w] = x[n, c, h // fh, w // fw]
    dx[n, c, h, w] = sum of grad[n, c, h fh + i, w fw + j] over i < fh, j < fw

Grid: one program for each block of elements of the result. Arrays are contiguous and none may be
another. The gradient is a sum in a fixed order, without atomics; in f32, f64 for f64. Source:
torch.nn.functional.interpolate, mode nearest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, operand
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, require_dtype, whole_numbers
from teeny_kernels.numerics import narrow, widen
from teeny_kernels.rows import is_wide
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_macros import Kernel, kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i32, i64

A = TypeVar("A")
D = TypeVar("D", bound=Float)

DTYPES = (f32, f16, bf16, f64)
BLOCK_SIZE = 1024


@kernel(dtypes=DTYPES)
def upsample_nearest_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    n_elements: i64 | int,
    width: i32 | int,
    factor_h: i32 | int,
    factor_w: i32 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    # Within the row that the block begins in, so that vectors divide in 32 bits.
    across = (start % width).to(i32) + lanes
    row = start // width + across // width
    column = across % width
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    for i in range(factor_h):
        line = (row * factor_h + i) * width + column
        for j in range(factor_w):
            total += widen(tl.load(grad_ptr + line * factor_w + j, mask=mask, other=0.0))
    tl.store(dx_ptr + start + lanes, total.to(tl.elem(dx_ptr)), mask=mask)


@kernel(dtypes=DTYPES, backward=upsample_nearest_backward_kernel)
def upsample_nearest_forward_kernel(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    n_elements: i64 | int,
    width: i32 | int,
    factor_h: i32 | int,
    factor_w: i32 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    out_width = narrow(width, WIDE) * factor_w
    across = narrow(start % out_width, WIDE) + lanes
    first = start // out_width
    row = first // factor_h + ((first % factor_h).to(i32) + across // out_width) // factor_h
    column = across % out_width // factor_w
    x = tl.load(x_ptr + row * width + column, mask=mask)
    tl.store(out_ptr + start + lanes, x, mask=mask)


def upsample_nearest2d(x: A, scale_factor: int | Sequence[int], *, out: A | None = None) -> A:
    """Makes x (N, C, H, W) larger by whole factors: (N, C, H fh, W fw), elements repeated.

    Raises:
        KernelError: E1204 for factors that are not one or two numbers of at least 1, E1202 for an
            array of fewer than two axes.
    """
    operation = "upsample_nearest2d"
    given = operand("x", x)
    require_dtype(operation, "x", given, FLOATS)
    down, across = _factors(operation, given, scale_factor)
    *kept, height, width = given.shape
    result = Output(operation, given, (*kept, height * down, width * across), out=out)
    source = contiguous(operation, given)
    wide = is_wide(width * across)
    _launch(upsample_nearest_forward_kernel, result.operand, source, width, down, across, WIDE=wide)
    return result.finish()


def upsample_nearest2d_backward(grad: A, scale_factor: int | Sequence[int]) -> A:
    """The gradient by x of `upsample_nearest2d`: the sum of what each element was copied to."""
    operation = "upsample_nearest2d_backward"
    given = operand("grad", grad)
    require_dtype(operation, "grad", given, FLOATS)
    down, across = _factors(operation, given, scale_factor)
    *kept, height, width = given.shape
    if height % down or width % across:
        what = f"`grad` {given.shape} is no multiple of {(down, across)}"
        raise E1202.error(operation=operation, what=what).help("give the gradient of the result")
    result = Output(operation, given, (*kept, height // down, width // across))
    source = contiguous(operation, given)
    _launch(upsample_nearest_backward_kernel, result.operand, source, width // across, down, across)
    return result.finish()


def _factors(operation: str, x: Operand, scale_factor: int | Sequence[int]) -> tuple[int, int]:
    found = whole_numbers(operation, "scale_factor", scale_factor)
    found = found * 2 if len(found) == 1 else found
    if len(found) != 2 or min(found) < 1:
        raise E1204.error(operation=operation, name="scale_factor", found=f"{scale_factor}").help(
            "give one whole number, or two, of at least 1"
        )
    if x.ndim < 2:
        raise E1202.error(operation=operation, what=f"an array of {x.shape}").help(
            "give an array (N, C, H, W)"
        )
    return found[0], found[1]


def _launch(
    chosen: Kernel[...],
    result: Operand,
    source: Operand,
    width: int,
    down: int,
    across: int,
    **flags: bool,
) -> None:
    launch: Any = chosen[-(-result.size // BLOCK_SIZE)]
    sizes = (result.size, width, down, across)
    launch(result.array, source.array, *sizes, **flags, BLOCK_SIZE=BLOCK_SIZE)


def _pair(scale_factor: int | Sequence[int]) -> tuple[int, ...]:
    return (scale_factor,) * 2 if isinstance(scale_factor, int) else tuple(scale_factor)


def upsample_nearest2d_reference(x: np.ndarray, scale_factor: int | Sequence[int]) -> np.ndarray:
    down, across = _pair(scale_factor)
    return x.repeat(down, axis=-2).repeat(across, axis=-1)


def _gradients(
    grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
) -> Sequence[Any]:
    return (upsample_nearest2d_backward(grads[0], **options),)


def _gradient(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    down, across = _pair(options["scale_factor"])
    *kept, height, width = arrays[0].shape
    return (grads[0].reshape(*kept, height, down, width, across).sum(axis=(-3, -1)),)


def _gradient_size(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    return _gradient([np.abs(grads[0])], arrays, options)


def _torch(torch: Any, x: Any, scale_factor: int | Sequence[int]) -> Any:
    factors = _pair(scale_factor)
    return torch.nn.functional.interpolate(x, scale_factor=factors, mode="nearest")


SPEC = KernelSpec(
    name="upsample_nearest2d",
    family="tensor",
    function=upsample_nearest2d,
    backward=_gradients,
    kernels=(upsample_nearest_forward_kernel, upsample_nearest_backward_kernel),
    formula="x[n, c, h // fh, w // fw]",
    source="torch.nn.functional.interpolate, mode nearest",
    reference=upsample_nearest2d_reference,
    backward_reference=_gradient,
    backward_magnitude=_gradient_size,
    torch_name="torch.nn.functional.interpolate",
    torch=_torch,
    cases=(
        Case(((1, 1, 1, 1),), {"scale_factor": 1}),
        Case(((1, 1, 1, 1),), {"scale_factor": 3}),
        Case(((1, 2, 3, 5),), {"scale_factor": 2}),
        Case(((2, 3, 7, 9),), {"scale_factor": (3, 1)}),
        Case(((2, 3, 7, 9),), {"scale_factor": (1, 4)}, "special"),
        Case(((2, 3, 16, 16),), {"scale_factor": 2}, "special"),
        Case(((2, 3, 17, 31),), {"scale_factor": (2, 3)}, "ties"),
        Case(((1, 2, 64, 65),), {"scale_factor": (2, 2)}, "wide"),
        Case(((1, 1, 1, 1031),), {"scale_factor": (5, 2)}),
        Case(((1, 1, 1031, 1),), {"scale_factor": (2, 5)}),
        Case(((3, 1, 5, 5),), {"scale_factor": (8, 8)}, "shifted"),
        Case(((1, 5, 2, 600),), {"scale_factor": (3, 2)}),
    ),
    tolerance=Tolerance(0, "elements are copied"),
    backward_tolerance=Tolerance(8, "a sum of as many terms as an element was copied to"),
    cost=lambda case, itemsize: Cost(
        itemsize
        * int(np.prod(case.shapes[0]))
        * (1 + int(np.prod(_pair(case.options["scale_factor"])))),
        0,
    ),
    benchmarks=tuple(Case(((32, 64, n, n),), {"scale_factor": 2}) for n in (28, 56, 112)),
)
