"""lp_pool: the p-norms of windows of the last one to three axes, forward and backward.

    out[o] = (n / n_o sum of x[o stride + k]^p over k in the window)^(1 / p)

n is the number of elements of a window and n_o how many of them lie within x, which is less only
for the last windows by `ceil_mode`. No absolute value is taken: an odd p gives NaN where the sum is
negative. For an infinite p it is the maximum of |x|. Where a norm is 0 its gradient is 0. Grid and
rules of aliasing: kernels.py. Source: torch.nn.functional.lp_pool2d.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, empty, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.elementwise.broadcast import broadcasting, launch_broadcasting
from teeny_kernels.elementwise.rounding import abs as absolute
from teeny_kernels.elementwise.rounding import abs_backward
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.numerics import R
from teeny_kernels.pooling.geometry import BLOCK_SIZE, Windows, windows
from teeny_kernels.pooling.kernels import WITH_PADDING, averaging, avg_pool_backward_kernel
from teeny_kernels.pooling.maximum import max_pool, max_pool_backward
from teeny_kernels.pooling.reference import cost, scattered, spread, torch_function
from teeny_kernels.reduce.kernels import exact
from teeny_kernels.spec import FLOATS, Case, KernelSpec, Tolerance
from teeny_macros import device
from teeny_triton import Tensor, f32

if TYPE_CHECKING:
    from teeny_kernels.pooling.geometry import Sides
    from teeny_macros import Kernel

A = TypeVar("A")


@device
def element(x: Tensor[f32, R], power: f32) -> Tensor[f32, R]:
    return x


@device
def square(x: Tensor[f32, R], power: f32) -> Tensor[f32, R]:
    return x * x


@device
def powered(x: Tensor[f32, R], power: f32) -> Tensor[f32, R]:
    return tl.math.pow(x, tl.full(x.shape, power, x.dtype))


@device
def whole(mean: Tensor[f32, R], taps: f32, power: f32) -> Tensor[f32, R]:
    return mean * taps


@device
def root(mean: Tensor[f32, R], taps: f32, power: f32) -> Tensor[f32, R]:
    return tl.sqrt_rn(mean * taps)


@device
def any_root(mean: Tensor[f32, R], taps: f32, power: f32) -> Tensor[f32, R]:
    return tl.math.pow(mean * taps, tl.full(mean.shape, 1.0 / power, mean.dtype))


@device
def by_norm(grad: Tensor[f32, R], y: Tensor[f32, R], taps: f32, rest: f32) -> Tensor[f32, R]:
    slope = tl.math.pow(y, tl.full(y.shape, rest, y.dtype))
    return tl.where(y == 0.0, 0.0, grad * taps * slope)


@device
def by_element(total: Tensor[f32, R], x: Tensor[f32, R], rest: f32) -> Tensor[f32, R]:
    return total * tl.math.pow(x, tl.full(x.shape, rest, x.dtype))


_sum = averaging("lp_pool_1_forward", element, whole)
_root = averaging("lp_pool_2_forward", square, root)
_any = averaging("lp_pool_forward", powered, any_root)
_by_norm = broadcasting("lp_pool_backward_y", by_norm, scalars=2)
_by_element = broadcasting("lp_pool_backward_x", by_element, scalars=1)


def lp_pool(
    x: A,
    norm_type: float,
    kernel_size: Sides,
    stride: Sides | None = None,
    ceil_mode: bool = False,
    *,
    out: A | None = None,
) -> A:
    """`norm_type`-norms of windows: of the last axes, one for each number of `kernel_size`.

    A single number is for all axes after the first two. `stride` is the size of the window unless
    given; `ceil_mode` keeps windows that reach over the end.

    Raises:
        KernelError: E1204 for a `norm_type` that is not above 0 and for options that do not fit,
            E1202 for an array of too few axes or elements.
    """
    operation = "lp_pool"
    given = _checked(operation, x, norm_type)
    if norm_type == inf:
        found: A = max_pool(absolute(x), kernel_size, stride, ceil_mode=ceil_mode, out=out)
        return found
    how = windows(operation, given, kernel_size, stride, 0, 1, ceil_mode=ceil_mode)
    result = Output(operation, given, how.shape, out=out)
    _forward(operation, given, how, norm_type, result.operand)
    own: A = result.finish()
    return own


def lp_pool_backward(
    grad: A,
    x: A,
    norm_type: float,
    kernel_size: Sides,
    stride: Sides | None = None,
    ceil_mode: bool = False,
    *,
    out: A | None = None,
) -> A:
    """The gradient by x of `lp_pool`."""
    operation = "lp_pool_backward"
    given, upstream = _checked(operation, x, norm_type), operand("grad", grad)
    same_place(operation, [("x", given), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (given.dtype,))
    if norm_type == inf:
        back = max_pool_backward(grad, absolute(x), kernel_size, stride, ceil_mode=ceil_mode)
        return abs_backward(back, x, out=out)
    how = windows(operation, given, kernel_size, stride, 0, 1, ceil_mode=ceil_mode)
    if upstream.shape != how.shape:
        what = f"`grad` {upstream.shape}, the result is {how.shape}"
        raise E1202.error(operation=operation, what=what).help("give the gradient of the result")
    norms = empty(given, how.shape, exact(given))
    _forward(operation, given, how, norm_type, norms)
    taps = how.window[0] * how.window[1] * how.window[2]
    each = launch_broadcasting(
        operation,
        _by_norm,
        [upstream, norms],
        how.shape,
        [taps, 1.0 - norm_type],
        dtype=exact(given),
    ).operand
    total = empty(given, given.shape, exact(given))
    launch: Any = avg_pool_backward_kernel[-(-given.size // BLOCK_SIZE)]
    launch(
        total.array,
        each.array,
        given.size,
        1,
        *(*how.sides, *how.out_sides, *how.window, *how.stride, *how.padding),
        DIVISOR=WITH_PADDING,
        WIDE=how.wide,
        BLOCK_SIZE=BLOCK_SIZE,
    )
    result: A = launch_broadcasting(
        operation,
        _by_element,
        [total, given],
        given.shape,
        [norm_type - 1.0],
        like=given,
        out=out,
    ).finish()
    return result


def _checked(operation: str, x: Any, norm_type: float) -> Operand:
    given = operand("x", x)
    require_dtype(operation, "x", given, FLOATS)
    if not norm_type > 0:
        raise E1204.error(operation=operation, name="norm_type", found=f"{norm_type!r}").help(
            "give a number above 0, or infinity"
        )
    return given


def _forward(operation: str, x: Operand, how: Windows, norm_type: float, result: Operand) -> None:
    named: dict[float, Kernel[...]] = {1: _sum, 2: _root}
    chosen = named.get(norm_type, _any)
    launch: Any = chosen[-(-result.size // BLOCK_SIZE)]
    launch(
        result.array,
        contiguous(operation, x).array,
        result.size,
        1,
        float(norm_type),
        *(*how.sides, *how.out_sides, *how.window, *how.stride, *how.padding),
        DIVISOR=WITH_PADDING,
        WIDE=how.wide,
        BLOCK_SIZE=BLOCK_SIZE,
    )


def _norms(x: np.ndarray, norm_type: float, **options: Any) -> tuple[Any, Any, Any]:
    """The norm of each window, the places of its elements, and n / n_o."""
    values, places, _ = spread(x, **options)
    inside = places >= 0
    share = places.shape[-1] / inside.sum(axis=-1)
    if norm_type == inf:
        return np.where(inside, np.abs(values), 0.0).max(axis=-1), places, share
    total = np.where(inside, values**norm_type, 0.0).sum(axis=-1) * share
    return total ** (1 / norm_type), places, share


def _reference(x: np.ndarray, norm_type: float, **options: Any) -> np.ndarray:
    return np.asarray(_norms(x, norm_type, **options)[0])


def _slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    x, power = arrays[0], options["norm_type"]
    norms, places, share = _norms(x, **options)
    count = len(options["kernel_size"])
    if power == inf:
        own = {name: value for name, value in options.items() if name != "norm_type"}
        values = spread(x, **own)[0]
        inside = np.where(places >= 0, np.abs(values), -1.0)
        chosen = np.take_along_axis(places, inside.argmax(axis=-1)[..., None], -1)
        return (scattered(x, chosen, grads[0][..., None], count) * np.sign(x),)
    each = np.where(norms == 0, 0.0, grads[0] * share * norms ** (1 - power))
    spread_out = np.broadcast_to(each[..., None], places.shape)
    return (scattered(x, places, spread_out, count) * x ** (power - 1),)


def _sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    # An odd power of a negative sum is NaN either way.
    return [np.abs(own) for own in _slopes([np.abs(grads[0])], arrays, options)]


def _case(
    shape: tuple[int, ...], power: float, size: tuple[int, ...], values: str, **rest: Any
) -> Case:
    return Case((shape,), {"norm_type": power, "kernel_size": size, **rest}, values)


CASES = (
    _case((1, 1, 6, 6), 2, (3, 3), "normal", stride=2, ceil_mode=True),
    _case((0, 2, 5, 5), 2, (2, 2), "normal"),
    _case((1, 1, 1, 1), 3, (1, 1), "positive"),
    _case((2, 3, 1031), 2, (5,), "shifted", stride=3),
    _case((3, 7), 1, (7,), "normal"),
    _case((2, 3, 9, 8), 3, (3, 2), "positive", stride=(1, 2)),
    _case((4, 3, 31, 29), 2, (3, 3), "special", stride=2),
    _case((2, 3, 17, 13), 4, (3, 3), "ties"),
    _case((3, 10, 7), 1.5, (2, 3), "positive", stride=(3, 4)),
    _case((2, 2, 6, 7, 5), 2, (2, 3, 3), "wide", stride=(2, 1, 2), ceil_mode=True),
    _case((1, 3, 4, 9, 6), 2, (2, 2, 2), "special"),
    _case((2, 3, 9, 8), inf, (3, 2), "normal", stride=2),
    _case((2, 3, 40), 0.5, (4,), "positive", ceil_mode=True),
)

SPEC = KernelSpec(
    name="lp_pool",
    family="pooling",
    function=lp_pool,
    backward=lambda grads, arrays, _outputs, options: (
        lp_pool_backward(grads[0], arrays[0], **options),
    ),
    kernels=(_sum, _root, _any, _by_norm, _by_element, avg_pool_backward_kernel),
    formula="(sum of x^p over a window)^(1 / p)",
    source="torch.nn.functional.lp_pool1d, lp_pool2d, lp_pool3d",
    reference=_reference,
    magnitude=lambda x, **options: np.abs(_reference(np.abs(x), **options)),
    backward_reference=_slopes,
    backward_magnitude=_sizes,
    torch_name="torch.nn.functional.lp_pool2d",
    torch=torch_function("lp_pool"),
    torch_error=1e-13,
    cases=CASES,
    tolerance=Tolerance(32, "powers, whose error grows with the logarithm of x^p; a sum"),
    backward_tolerance=Tolerance(64, "the same, and powers of the norm"),
    cost=cost,
    benchmarks=tuple(
        Case(((32, 64, n, n),), {"norm_type": 2, "kernel_size": (3, 3), "stride": 2})
        for n in (56, 112, 224)
    ),
)
