"""global_avg_pool, global_max_pool: one number for each channel, forward and backward.

    avg = sum of x over all axes after the first two / their number of elements
    max = the largest of them; NaN when one is NaN

Grid: one program for each channel of each sample, which walks over its plane in blocks. Computed in
f32, f64 for f64. Arrays are contiguous and none may be another. The gradient of a maximum goes to
the first of equals, or to the last NaN. Source: Lin et al. 2013, "Network in network".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, empty, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.numerics import narrow, number, widen
from teeny_kernels.pooling.planes import launch_whole
from teeny_kernels.rows import is_wide
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_macros import Kernel, kernel
from teeny_triton import R1, Axis, Const, Float, Int, Ptr, Tensor, bf16, f16, f32, f64, i32, i64

A = TypeVar("A")
D = TypeVar("D", bound=Float)
I = TypeVar("I", bound=Int)  # noqa: E741

DTYPES = (f32, f16, bf16, f64)


@kernel(dtypes=DTYPES)
def global_avg_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    n_cols: i64 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols = narrow(n_cols, WIDE)
    row = tl.program_id(Axis.X).to(i64)
    lanes = tl.arange(0, BLOCK_SIZE)
    grad = widen(tl.load(grad_ptr + row + lanes * 0))
    share = (grad / number(n_cols, grad)).to(tl.elem(dx_ptr))
    for start in range(0, n_cols, BLOCK_SIZE):
        tl.store(dx_ptr + row * n_cols + start + lanes, share, mask=lanes < n_cols - start)


@kernel(dtypes=DTYPES, backward=global_avg_backward_kernel)
def global_avg_forward_kernel(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    n_cols: i64 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols = narrow(n_cols, WIDE)
    row = tl.program_id(Axis.X).to(i64)
    lanes = tl.arange(0, BLOCK_SIZE)
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        total += widen(tl.load(x_ptr + row * n_cols + start + lanes, mask=mask, other=0.0))
    mean = tl.sum(total, axis=0) / number(n_cols, total)
    tl.store(out_ptr + row, mean.to(tl.elem(out_ptr)))


@kernel(dtypes=(*DTYPES, i32, i64))
def global_max_backward_kernel(
    dx_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    index_ptr: Ptr[I],
    n_cols: i64 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols = narrow(n_cols, WIDE)
    row = tl.program_id(Axis.X).to(i64)
    lanes = tl.arange(0, BLOCK_SIZE)
    grad = tl.load(grad_ptr + row + lanes * 0)
    chosen = narrow(tl.load(index_ptr + row), WIDE)
    for start in range(0, n_cols, BLOCK_SIZE):
        dx = tl.where(start + lanes == chosen, grad, 0.0)
        tl.store(dx_ptr + row * n_cols + start + lanes, dx, mask=lanes < n_cols - start)


@kernel(dtypes=(*DTYPES, i32, i64), backward=global_max_backward_kernel)
def global_max_forward_kernel(
    out_ptr: Ptr[D] | None,
    index_ptr: Ptr[I] | None,
    x_ptr: Ptr[D],
    n_cols: i64 | int,
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    side: i32 = narrow(n_cols, WIDE)  # and all places: i64 where planes are WIDE
    row = tl.program_id(Axis.X).to(i64)
    lanes = tl.arange(0, BLOCK_SIZE)
    best = widen(tl.full((BLOCK_SIZE,), -float("inf"), tl.elem(x_ptr)))
    chosen: Tensor[i32, R1] = narrow(lanes * 0 - 1, WIDE)
    for start in range(0, side, BLOCK_SIZE):
        mask = lanes < side - start
        x = widen(tl.load(x_ptr + row * side + start + lanes, mask=mask, other=-float("inf")))
        better = mask & ((x > best) | (x != x) | (chosen < 0))
        best = tl.where(better, x, best)
        chosen = tl.where(better, start + lanes, chosen)
    # Of the lanes: the last NaN, else the first of those that hold the maximum.
    if best.dtype == f32:
        # The bits of a number as an integer of its order, NaN above all; then the best place.
        bits = best.to(i32, bitcast=True)
        order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
        order = tl.where(best == 0.0, 0, order)
        order = tl.where(best != best, 0x7FFFFFFF, order)
        order = tl.where(chosen < 0, -0x7FFFFFFF, order)
        top_order = tl.max(order, axis=0)
        is_nan = top_order == 0x7FFFFFFF
        most = 0x7FFFFFFFFFFFFFFF if WIDE else 0x7FFFFFFF
        rank = tl.where(is_nan, chosen, most - chosen)
        rank = tl.max(tl.where((order == top_order) & (chosen >= 0), rank, -1), axis=0)
        place = tl.where(is_nan, rank, most - rank)
    else:
        last = tl.max(tl.where(best != best, chosen, -1), axis=0)
        top = tl.max(best, axis=0)
        holds = (best == top) & (chosen >= 0)
        first = tl.min(tl.where(holds, chosen, side), axis=0)
        place = tl.where(last >= 0, last, first)
    if out_ptr is not None:
        tl.store(out_ptr + row, tl.load(x_ptr + row * side + place))
    if index_ptr is not None:
        tl.store(index_ptr + row, place.to(tl.elem(index_ptr)))


def global_avg_pool(x: A, *, out: A | None = None) -> A:
    """The mean of each channel: x (N, C, ...) gives (N, C, 1, ...).

    Raises:
        KernelError: E1202 for an array of fewer than three axes, or with empty channels.
    """
    given, result = _prepared("global_avg_pool", x, out)
    launch_whole(global_avg_forward_kernel, given, [result.operand, given])
    return result.finish()


def global_avg_pool_backward(grad: A, x: A) -> A:
    """The gradient by x of `global_avg_pool`; of `x` only the shape matters."""
    given, upstream, result = _returning("global_avg_pool_backward", grad, x)
    launch_whole(global_avg_backward_kernel, given, [result.operand, upstream])
    return result.finish()


def global_max_pool(x: A, *, out: A | None = None) -> A:
    """The maximum of each channel, NaN if one is: x (N, C, ...) gives (N, C, 1, ...).

    Raises:
        KernelError: E1202 for an array of fewer than three axes, or with empty channels.
    """
    given, result = _prepared("global_max_pool", x, out)
    launch_whole(global_max_forward_kernel, given, [result.operand, None, given])
    return result.finish()


def global_max_pool_backward(grad: A, x: A) -> A:
    """The gradient by x of `global_max_pool`."""
    given, upstream, result = _returning("global_max_pool_backward", grad, x)
    places = empty(given, upstream.shape, "i64" if is_wide(prod(given.shape[2:])) else "i32")
    launch_whole(global_max_forward_kernel, given, [None, places, given])
    launch_whole(global_max_backward_kernel, given, [result.operand, upstream, places])
    return result.finish()


def _prepared(operation: str, x: Any, out: Any) -> tuple[Operand, Output]:
    given = operand("x", x)
    require_dtype(operation, "x", given, FLOATS)
    shape = _pooled(operation, given)
    return contiguous(operation, given), Output(operation, given, shape, out=out)


def _returning(operation: str, grad: Any, x: Any) -> tuple[Operand, Operand, Output]:
    given, upstream = operand("x", x), operand("grad", grad)
    require_dtype(operation, "x", given, FLOATS)
    same_place(operation, [("x", given), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (given.dtype,))
    shape = _pooled(operation, given)
    if upstream.shape != shape:
        what = f"`grad` {upstream.shape}, the result is {shape}"
        raise E1202.error(operation=operation, what=what).help("give the gradient of the result")
    result = Output(operation, given, given.shape)
    return contiguous(operation, given), contiguous(operation, upstream), result


def _pooled(operation: str, x: Operand) -> tuple[int, ...]:
    if x.ndim < 3 or 0 in x.shape[2:]:
        raise E1202.error(operation=operation, what=f"`x` is of {x.shape}").help(
            "give an array (N, C, ...) with at least one element in each channel"
        )
    return (*x.shape[:2], *(1,) * (x.ndim - 2))


def _planes(x: np.ndarray) -> np.ndarray:
    return x.reshape(*x.shape[:2], int(np.prod(x.shape[2:])))


def _kept(x: np.ndarray, found: np.ndarray) -> np.ndarray:
    return found.reshape(*x.shape[:2], *(1,) * (x.ndim - 2))


def global_avg_pool_reference(x: np.ndarray) -> np.ndarray:
    return _kept(x, _planes(x).mean(axis=-1))


def global_max_pool_reference(x: np.ndarray) -> np.ndarray:
    return _kept(x, _planes(x).max(axis=-1))


def _size(x: np.ndarray) -> np.ndarray:
    return global_avg_pool_reference(np.where(np.isfinite(x), np.abs(x), 0.0))


def _avg_gradients(
    grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
) -> Sequence[Any]:
    return (global_avg_pool_backward(grads[0], arrays[0]),)


def _max_gradients(
    grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
) -> Sequence[Any]:
    return (global_max_pool_backward(grads[0], arrays[0]),)


def _avg_gradient(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    x = arrays[0]
    spread: np.ndarray = np.broadcast_to(grads[0], x.shape)
    return (spread / prod(x.shape[2:]),)


def _max_gradient(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    planes = _planes(arrays[0])
    nan = np.isnan(planes)
    has_nan = np.asarray(nan.any(axis=-1))
    last: np.ndarray = planes.shape[-1] - 1 - nan[..., ::-1].argmax(axis=-1)
    first: np.ndarray = planes.argmax(axis=-1)
    place = np.where(has_nan, last, first)
    total = np.zeros(planes.shape)
    np.put_along_axis(total, place[..., None], _planes(grads[0]), -1)
    shape: tuple[int, ...] = arrays[0].shape
    return (total.reshape(shape),)


def _torch(name: str) -> Any:
    def call(torch: Any, x: Any) -> Any:
        return getattr(torch.nn.functional, f"adaptive_{name}_pool{x.ndim - 2}d")(x, 1)

    return call


CASES = (
    Case(((1, 1, 1, 1),)),
    Case(((0, 3, 4, 4),)),
    Case(((2, 3, 7, 7),)),
    Case(((2, 3, 7, 7),), {}, "special"),
    Case(((3, 5, 17),)),
    Case(((3, 5, 129),), {}, "ties"),
    Case(((2, 2, 3, 4, 5),)),
    Case(((1, 2, 3, 4, 5),), {}, "special"),
    Case(((2, 3, 64, 65),)),
    Case(((1, 2, 97, 101),), {}, "ties"),
    Case(((1, 2, 97, 101),), {}, "special"),
    Case(((4, 3, 31, 1),), {}, "shifted"),
    Case(((1, 1, 8192),), {}, "wide"),
)


def _spec(name: str, *, average: bool) -> KernelSpec:
    kernels: tuple[Kernel[...], ...] = (global_max_forward_kernel, global_max_backward_kernel)
    if average:
        kernels = (global_avg_forward_kernel, global_avg_backward_kernel)
    return KernelSpec(
        name=name,
        family="pooling",
        function=global_avg_pool if average else global_max_pool,
        backward=_avg_gradients if average else _max_gradients,
        kernels=kernels,
        formula="mean of each channel" if average else "max of each channel",
        source="Lin et al. 2013, Network in network",
        reference=global_avg_pool_reference if average else global_max_pool_reference,
        backward_reference=_avg_gradient if average else _max_gradient,
        torch_name=f"torch.nn.functional.adaptive_{'avg' if average else 'max'}_pool2d(x, 1)",
        torch=_torch("avg" if average else "max"),
        cases=CASES,
        tolerance=Tolerance(8, "a sum by lanes and a tree, a quotient")
        if average
        else Tolerance(0, "an element is copied"),
        backward_tolerance=Tolerance(1, "one quotient") if average else Tolerance(0, "a copy"),
        magnitude=_size if average else None,
        cost=lambda case, itemsize: Cost(
            itemsize * int(np.prod(case.shapes[0])), int(np.prod(case.shapes[0]))
        ),
        benchmarks=tuple(Case(((64, 256, n, n),)) for n in (7, 14, 56)),
    )


SPECS = (_spec("global_avg_pool", average=True), _spec("global_max_pool", average=False))
