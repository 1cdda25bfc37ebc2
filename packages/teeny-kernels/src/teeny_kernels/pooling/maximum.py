"""max_pool: the maxima of windows of the last one to three axes, forward and backward.

    out[o] = max of x[o stride - padding + k dilation] over k in the window

Padding is never the maximum. Of equal elements the first counts; a NaN is the maximum of its
window, the last one when there are more. The gradient goes to the element that was chosen. Grid and
rules of aliasing: kernels.py. Source: torch.nn.functional.max_pool2d.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np

from teeny_kernels.arrays import Operand, empty, finish, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.pooling.geometry import BLOCK_SIZE, Windows, windows
from teeny_kernels.pooling.kernels import max_pool_backward_kernel, max_pool_forward_kernel
from teeny_kernels.pooling.line_kernels import max_pool_lines_backward
from teeny_kernels.pooling.reference import MAX_CASES, cost, scattered, spread, torch_function
from teeny_kernels.spec import FLOATS, Case, KernelSpec, Tolerance

if TYPE_CHECKING:
    from teeny_kernels.pooling.geometry import Sides

A = TypeVar("A")

SHORTEST, LONGEST = 32, 512  # lines, and the part of one, that a program takes whole
LINES = 4
EACH = 128  # elements of a line for each warp
MOST_TAPS = 16  # of the last two axes
MOST_LINES = 2**31 - 1024


@overload
def max_pool(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
    *,
    out: A | None = None,
) -> A: ...
@overload
def max_pool(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
    out: A | None = None,
) -> tuple[A, A]: ...
def max_pool(
    x: Any,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> Any:
    """Maxima of windows: of the last axes, one for each number of `kernel_size`.

    A single number is for all axes after the first two. With `return_indices` also where each
    maximum lies, as an i64 array of places in the pooled axes laid out flat.

    Raises:
        KernelError: E1204 for options that do not fit, E1202 for an array of too few axes or
            elements.
    """
    operation = "max_pool"
    given = operand("x", x)
    require_dtype(operation, "x", given, FLOATS)
    how = windows(operation, given, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)
    result = Output(operation, given, how.shape, out=out)
    places = empty(given, how.shape, "i64") if return_indices else None
    _forward(operation, given, how, result.operand, places)
    return result.finish() if places is None else (result.finish(), finish(places))


def max_pool_backward(
    grad: A,
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    *,
    indices: A | None = None,
) -> A:
    """The gradient by x of `max_pool`; the places are found again unless `indices` gives them."""
    operation = "max_pool_backward"
    given, upstream = operand("x", x), operand("grad", grad)
    require_dtype(operation, "x", given, FLOATS)
    same_place(operation, [("x", given), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (given.dtype,))
    how = windows(operation, given, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)
    if indices is None:
        places = empty(given, how.shape, "i64" if how.wide else "i32")
        _forward(operation, given, how, None, places)
    else:
        places = operand("indices", indices)
        same_place(operation, [("x", given), ("indices", places)])
        require_dtype(operation, "indices", places, ("i64", "i32"))
    if not upstream.shape == how.shape == places.shape:
        what = f"`grad` {upstream.shape}, indices {places.shape}, the result is {how.shape}"
        raise E1202.error(operation=operation, what=what).help("give arrays of the result's shape")
    result = Output(operation, given, given.shape)
    arrays = (result.operand, contiguous(operation, upstream), contiguous(operation, places))
    pointers = [own.array for own in arrays]
    numbers = (*how.sides, *how.out_sides, *how.extent, *how.stride, *how.padding)
    side, lines = how.sides[-1], given.size // max(1, how.sides[-1])
    _, *taps = (-(-own // step) for own, step in zip(how.extent, how.stride, strict=True))
    launch: Any
    if side >= SHORTEST and prod(taps) <= MOST_TAPS and lines < MOST_LINES and not how.wide:
        width = min(LONGEST, 1 << (side - 1).bit_length())
        launch = max_pool_lines_backward.options(num_warps=max(1, width // EACH))
        launch[-(-lines // LINES) * -(-side // width)](
            *(*pointers, lines, *numbers),
            TAPS_1=taps[0],
            TAPS_2=taps[1],
            LINES=LINES,
            BLOCK_SIZE=width,
        )
        return result.finish()
    launch = max_pool_backward_kernel[-(-given.size // BLOCK_SIZE)]
    launch(*(*pointers, given.size, *numbers), WIDE=how.wide, BLOCK_SIZE=BLOCK_SIZE)
    return result.finish()


def _forward(
    operation: str, x: Operand, how: Windows, out: Operand | None, places: Operand | None
) -> None:
    result = out or places
    assert result is not None
    launch: Any = max_pool_forward_kernel[-(-result.size // BLOCK_SIZE)]
    launch(
        None if out is None else out.array,
        None if places is None else places.array,
        contiguous(operation, x).array,
        result.size,
        *(*how.sides, *how.out_sides, *how.window, *how.stride, *how.padding, *how.dilation),
        WIDE=how.wide,
        BLOCK_SIZE=BLOCK_SIZE,
    )


def _chosen(x: np.ndarray, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """The maximum of each window and its place."""
    values, places, _ = spread(x, **options)
    inside = places >= 0
    odd = np.isnan(np.where(inside, values, 0.0))
    last: np.ndarray = places.shape[-1] - 1 - odd[..., ::-1].argmax(axis=-1)
    numbers = np.where(inside & ~np.isnan(values), values, -np.inf)
    # What is inside comes first where everything is -inf.
    top = numbers == numbers.max(axis=-1, keepdims=True)
    best: np.ndarray = np.where(inside, top, False).argmax(axis=-1)
    has_nan: np.ndarray = (inside & np.isnan(values)).any(axis=-1)
    at = np.where(has_nan, last, best)[..., None]
    found = np.take_along_axis(values, at, -1)[..., 0]
    return found, np.take_along_axis(places, at, -1)[..., 0]


def max_pool_reference(x: np.ndarray, **options: Any) -> np.ndarray:
    return np.asarray(_chosen(x, options)[0])


def _gradients(
    grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
) -> Sequence[Any]:
    return (max_pool_backward(grads[0], arrays[0], **options),)


def _gradient(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    places = _chosen(arrays[0], options)[1]
    return (scattered(arrays[0], places, grads[0], len(options["kernel_size"])),)


def _gradient_size(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    return _gradient([np.abs(grads[0])], arrays, options)


SPEC = KernelSpec(
    name="max_pool",
    family="pooling",
    function=max_pool,
    backward=_gradients,
    kernels=(max_pool_forward_kernel, max_pool_backward_kernel, max_pool_lines_backward),
    formula="max of a window",
    source="torch.nn.functional.max_pool1d, max_pool2d, max_pool3d",
    reference=max_pool_reference,
    backward_reference=_gradient,
    backward_magnitude=_gradient_size,
    torch_name="torch.nn.functional.max_pool2d",
    torch=torch_function("max_pool"),
    cases=MAX_CASES,
    tolerance=Tolerance(0, "an element is copied"),
    backward_tolerance=Tolerance(8, "a sum of one term for each window"),
    cost=cost,
    benchmarks=tuple(
        Case(((32, 64, n, n),), {"kernel_size": (3, 3), "stride": 2, "padding": 1})
        for n in (56, 112, 224)
    ),
)
