"""avg_pool: the averages of windows of the last one to three axes, forward and backward.

    out[o] = sum of x[o stride - padding + k] over k in the window / divisor

The divisor is the number of elements of the window: padding counted (`count_include_pad`; what
`ceil_mode` adds beyond the padding is not), or only those of x, or `divisor_override`. Grid and
rules of aliasing: kernels.py. Source: torch.nn.functional.avg_pool2d.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from teeny_kernels.arrays import operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.options import require
from teeny_kernels.pooling.geometry import BLOCK_SIZE, windows
from teeny_kernels.pooling.kernels import (
    OVERRIDE,
    WITH_PADDING,
    WITHOUT_PADDING,
    avg_pool_backward_kernel,
    avg_pool_forward_kernel,
)
from teeny_kernels.pooling.reference import AVG_CASES, cost, scattered, spread, torch_function
from teeny_kernels.spec import FLOATS, Case, KernelSpec, Tolerance

if TYPE_CHECKING:
    from teeny_kernels.pooling.geometry import Sides

A = TypeVar("A")


def avg_pool(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: A | None = None,
) -> A:
    """Averages of windows: of the last axes, one for each number of `kernel_size`.

    A single number is for all axes after the first two. `stride` is the size of the window unless
    given; `ceil_mode` keeps windows that reach over the end.

    Raises:
        KernelError: E1204 for options that do not fit, E1202 for an array of too few axes or
            elements.
    """
    operation = "avg_pool"
    given = operand("x", x)
    require_dtype(operation, "x", given, FLOATS)
    how = windows(operation, given, kernel_size, stride, padding, 1, ceil_mode=ceil_mode)
    mode = _divisor(operation, count_include_pad, divisor_override)
    result = Output(operation, given, how.shape, out=out)
    count = result.operand.size
    launch: Any = avg_pool_forward_kernel[-(-count // BLOCK_SIZE)]
    launch(
        result.operand.array,
        contiguous(operation, given).array,
        count,
        divisor_override or 1,
        1.0,
        *(*how.sides, *how.out_sides, *how.window, *how.stride, *how.padding),
        DIVISOR=mode,
        WIDE=how.wide,
        BLOCK_SIZE=BLOCK_SIZE,
    )
    return result.finish()


def avg_pool_backward(
    grad: A,
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> A:
    """The gradient by x of `avg_pool`; of `x` only the shape matters."""
    operation = "avg_pool_backward"
    given, upstream = operand("x", x), operand("grad", grad)
    require_dtype(operation, "x", given, FLOATS)
    same_place(operation, [("x", given), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (given.dtype,))
    how = windows(operation, given, kernel_size, stride, padding, 1, ceil_mode=ceil_mode)
    mode = _divisor(operation, count_include_pad, divisor_override)
    if upstream.shape != how.shape:
        what = f"`grad` {upstream.shape}, the result is {how.shape}"
        raise E1202.error(operation=operation, what=what).help("give the gradient of the result")
    result = Output(operation, given, given.shape)
    launch: Any = avg_pool_backward_kernel[-(-given.size // BLOCK_SIZE)]
    launch(
        result.operand.array,
        contiguous(operation, upstream).array,
        given.size,
        divisor_override or 1,
        *(*how.sides, *how.out_sides, *how.window, *how.stride, *how.padding),
        DIVISOR=mode,
        WIDE=how.wide,
        BLOCK_SIZE=BLOCK_SIZE,
    )
    return result.finish()


def _divisor(operation: str, count_include_pad: bool, divisor_override: int | None) -> int:
    if divisor_override is None:
        return WITH_PADDING if count_include_pad else WITHOUT_PADDING
    fits = 0 < abs(divisor_override) < 2**31
    require(operation, "divisor_override", divisor_override, fits, "another number, or None")
    return OVERRIDE


def _shares(x: np.ndarray, options: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """The elements of each window (0 where there is none), their places, and the divisors."""
    own = dict(options)
    include = own.pop("count_include_pad", True)
    override = own.pop("divisor_override", None)
    values, places, padded = spread(x, **own)
    divisor = (padded if include else places >= 0).sum(axis=-1)
    return np.where(places >= 0, values, 0.0), places, override or divisor


def avg_pool_reference(x: np.ndarray, **options: Any) -> np.ndarray:
    values, _, divisor = _shares(x, options)
    return np.asarray(values.sum(axis=-1) / divisor)


def _magnitude(x: np.ndarray, **options: Any) -> np.ndarray:
    values, _, divisor = _shares(np.where(np.isfinite(x), np.abs(x), 0.0), options)
    return np.asarray(values.sum(axis=-1) / np.abs(divisor))


def _gradients(
    grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
) -> Sequence[Any]:
    return (avg_pool_backward(grads[0], arrays[0], **options),)


def _gradient(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    _, places, divisor = _shares(arrays[0], options)
    each = np.broadcast_to((grads[0] / divisor)[..., None], places.shape)
    return (scattered(arrays[0], places, each, len(options["kernel_size"])),)


def _gradient_size(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    return _gradient([np.abs(grads[0])], arrays, options)


SPEC = KernelSpec(
    name="avg_pool",
    family="pooling",
    function=avg_pool,
    backward=_gradients,
    kernels=(avg_pool_forward_kernel, avg_pool_backward_kernel),
    formula="sum of a window / its number of elements",
    source="torch.nn.functional.avg_pool1d, avg_pool2d, avg_pool3d",
    reference=avg_pool_reference,
    backward_reference=_gradient,
    backward_magnitude=_gradient_size,
    torch_name="torch.nn.functional.avg_pool2d",
    torch=torch_function("avg_pool"),
    cases=AVG_CASES,
    tolerance=Tolerance(8, "a sum of the elements of a window, one after the other, a quotient"),
    backward_tolerance=Tolerance(8, "a sum of quotients, one for each window"),
    magnitude=_magnitude,
    cost=cost,
    benchmarks=tuple(
        Case(((32, 64, n, n),), {"kernel_size": (3, 3), "stride": 2, "padding": 1})
        for n in (56, 112, 224)
    ),
)
