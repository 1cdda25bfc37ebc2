"""Running sums and products along an axis, forward and backward.

    cumsum[i] = x[0] + ... + x[i]      cumprod[i] = x[0] ... x[i]

Kernels in scan_kernels.py. Integers and bools are summed and multiplied in i64, which is the dtype
of their result. The gradient of a product never divides by zero: at the first zero of a row it is
that of the row with 1 in its place, and after it there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, empty, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.elementwise.broadcast import broadcasting, launch_broadcasting
from teeny_kernels.layout import Output, normal_axis, require_dtype
from teeny_kernels.numerics import R
from teeny_kernels.reduce.kernels import exact, plus
from teeny_kernels.reduce.scan_kernels import Scan, scan_into, scanning
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill
from teeny_macros import device
from teeny_triton import Tensor, f32

A = TypeVar("A")

INTEGERS = ("i64", "i32", "i16", "i8", "u8", "i1")


@device
def times(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return x * y


@device
def up_to_two(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.minimum(x + y, 2)


@device
def is_zero(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x == 0, 1, 0).to(x.dtype)


CUMSUM = scanning("cumsum", plus, 0)
CUMPROD = scanning("cumprod", times, 1)
_SATURATED = scanning("cumprod_zeros_carried", up_to_two, 0)
ZEROS = scanning("cumprod_zeros", up_to_two, 0, each=is_zero, padding=1, carried=_SATURATED)


@device
def without_first_zero(x: Tensor[f32, R], zeros: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where((x == 0.0) & (zeros == 1.0), 1.0, x)


@device
def before_zero(grad: Tensor[f32, R], y: Tensor[f32, R], zeros: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(zeros == 0.0, grad * y, 0.0)


@device
def product(grad: Tensor[f32, R], y: Tensor[f32, R], zeros: Tensor[f32, R]) -> Tensor[f32, R]:
    # Behind a second zero there is nothing, even where there is infinity or NaN.
    return tl.where(zeros <= 1.0, grad * y, 0.0)


@device
def quotient(total: Tensor[f32, R], x: Tensor[f32, R], zeros: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(zeros == 0.0, total / x, 0.0)


@device
def at_zero(rest: Tensor[f32, R], x: Tensor[f32, R], zeros: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where((x == 0.0) & (zeros == 1.0), rest, 0.0)


@device
def both(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return x + y


_without = broadcasting("cumprod_without_first_zero", without_first_zero)
_before = broadcasting("cumprod_before_zero", before_zero, inputs=3)
_product = broadcasting("cumprod_terms", product, inputs=3)
_quotient = broadcasting("cumprod_backward", quotient, inputs=3)
_at_zero = broadcasting("cumprod_at_zero", at_zero, inputs=3)
_both = broadcasting("cumprod_both", both)


def cumsum(x: A, axis: int, *, out: A | None = None) -> A:
    """The running sum along `axis`; of the dtype of `x`, i64 for integers and bools.

    Raises:
        KernelError: E1201, E1203, E1205 and E1207.
    """
    found: A = _forward("cumsum", CUMSUM, x, axis, out)
    return found


def cumsum_backward(grad: A, axis: int, *, out: A | None = None) -> A:
    """The gradient by x of `cumsum`: the running sum of `grad` from the end."""
    operation = "cumsum_backward"
    upstream = operand("grad", grad)
    require_dtype(operation, "grad", upstream, FLOATS)
    at = _axis(operation, axis, upstream)
    result = Output(operation, upstream, upstream.shape, out=out)
    scan_into(operation, CUMSUM, result.operand, upstream, at, reverse=True)
    found: A = result.finish()
    return found


def cumprod(x: A, axis: int, *, out: A | None = None) -> A:
    """The running product along `axis`; of the dtype of `x`, i64 for integers and bools.

    Raises:
        KernelError: E1201, E1203, E1205 and E1207.
    """
    found: A = _forward("cumprod", CUMPROD, x, axis, out)
    return found


def cumprod_backward(grad: A, x: A, axis: int, *, out: A | None = None) -> A:
    """The gradient by x of `cumprod`: the sum over j >= i of grad[j] y[j] / x[i]."""
    operation = "cumprod_backward"
    upstream, source = operand("grad", grad), operand("x", x)
    require_dtype(operation, "x", source, FLOATS)
    same_place(operation, [("x", source), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (source.dtype,))
    if upstream.shape != source.shape:
        what = f"`grad` {upstream.shape}, `x` {source.shape}"
        raise E1202.error(operation=operation, what=what).help("give arrays of one shape")
    at = _axis(operation, axis, source)

    def scanned(chosen: Scan, own: Operand, reverse: bool = False) -> Operand:
        found = empty(source, source.shape, exact(source))
        scan_into(operation, chosen, found, own, at, reverse=reverse)
        return found

    def step(kernel: Any, *arrays: Operand) -> Operand:
        return launch_broadcasting(
            operation, kernel, arrays, source.shape, dtype=exact(source)
        ).operand

    zeros = scanned(ZEROS, source)
    running = scanned(CUMPROD, step(_without, source, zeros))
    before = scanned(CUMSUM, step(_before, upstream, running, zeros), reverse=True)
    rest = scanned(CUMSUM, step(_product, upstream, running, zeros), reverse=True)
    parts = [step(_quotient, before, source, zeros), step(_at_zero, rest, source, zeros)]
    result: A = launch_broadcasting(
        operation, _both, parts, source.shape, like=source, out=out
    ).finish()
    return result


def _forward(operation: str, chosen: Scan, x: Any, axis: int, out: Any) -> Any:
    source = operand("x", x)
    require_dtype(operation, "x", source, (*FLOATS, *INTEGERS))
    at = _axis(operation, axis, source)
    dtype = "i64" if source.dtype in INTEGERS else source.dtype
    result = Output(operation, source, source.shape, dtype=dtype, out=out)
    scan_into(operation, chosen, result.operand, source, at)
    return result.finish()


def _axis(operation: str, axis: int, x: Operand) -> int:
    # As in PyTorch, a single number has one axis here.
    return 0 if not x.ndim and axis in (0, -1) else normal_axis(operation, axis, x.ndim)


def _running(x: Any, axis: int, *, multiply: bool = False, reverse: bool = False) -> Any:
    own = np.asarray(x)
    if not own.ndim:
        return own.astype(np.int64) if own.dtype.kind in "iub" else own
    wide: np.ndarray = own.astype(np.int64 if own.dtype.kind in "iub" else np.longdouble)
    wide = np.flip(wide, axis) if reverse else wide
    found = np.cumprod(wide, axis=axis) if multiply else np.cumsum(wide, axis=axis)
    found = np.flip(found, axis) if reverse else found
    return found if own.dtype.kind in "iub" else found.astype(np.float64)


def _product_slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    """By the definition: d y[j] / d x[i] is the product of all others up to j."""
    x, grad, axis = arrays[0], grads[0], options["axis"]
    if not x.ndim:
        return (grad,)
    moved, up = np.moveaxis(x, axis, -1), np.moveaxis(grad, axis, -1)
    total = np.zeros(moved.shape, np.longdouble)
    zeros = np.cumsum(moved == 0, axis=-1)
    exact: np.ndarray = moved.astype(np.longdouble)
    terms = np.cumprod(exact, axis=-1) * up
    for at in range(moved.shape[-1]):
        others = exact.copy()
        others[..., at] = 1
        with_one = np.where(zeros > 1, 0.0, np.cumprod(others, axis=-1) * up)
        own = with_one[..., at:].sum(axis=-1)
        # As PyTorch: infinity and NaN do not reach over the first zero.
        odd = ~np.isfinite(moved).all(axis=-1) & (moved[..., at] != 0)
        begun = np.where(zeros == 0, terms, 0.0)[..., at:].sum(axis=-1) / moved[..., at]
        total[..., at] = np.where(odd, np.where(zeros[..., at] == 0, begun, 0.0), own)
        total[..., at] = np.where(zeros[..., at] > (moved[..., at] == 0), 0.0, total[..., at])
    return (np.moveaxis(total, -1, axis).astype(np.float64),)


def _product_slope_sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    return _product_slopes([np.abs(grads[0])], [np.abs(arrays[0])], options)


def _make_factors(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    x = fill(rng, case.shapes[0], case.values)
    if x.dtype.kind == "i" or not x.size:
        return [x]
    # A gradient is divided by the element: of what is below the normal range little is left. At a
    # zero beside infinity it is a choice.
    x = np.where(np.abs(x) < 1e-30, 0.0, x)
    infinite = np.isinf(x).any(axis=case.options["axis"] if x.ndim else None, keepdims=True)
    return [np.where(infinite & (x == 0), 0.5, x)]


def _cost(case: Case, itemsize: int) -> Cost:
    return Cost(2 * itemsize * prod(case.shapes[0]), prod(case.shapes[0]))


def _cases(*own: tuple[tuple[int, ...], int, str]) -> tuple[Case, ...]:
    return tuple(Case((shape,), {"axis": axis}, values) for shape, axis, values in own)


_TIMED = _cases(
    ((8192, 16384), 1, "normal"), ((16384, 8192), 0, "normal"), ((1 << 27,), 0, "normal")
)

SPECS = (
    KernelSpec(
        name="cumsum",
        family="reduction",
        function=cumsum,
        backward=lambda grads, arrays, _outputs, options: (cumsum_backward(grads[0], **options),),
        kernels=(CUMSUM.rows, CUMSUM.columns),
        formula="x[0] + ... + x[i]",
        source="ONNX, CumSum",
        reference=_running,
        magnitude=lambda x, axis: _running(np.abs(np.where(np.isfinite(x), x, 0)), axis),
        backward_reference=lambda grads, arrays, options: (
            _running(grads[0], reverse=True, **options),
        ),
        backward_magnitude=lambda grads, arrays, options, rounding: (
            _running(np.abs(grads[0]), reverse=True, **options),
        ),
        torch_name="torch.cumsum",
        torch=lambda t, x, axis: t.cumsum(x, axis),
        torch_error=1e-13,
        cases=_cases(
            ((), 0, "normal"),
            ((1,), -1, "normal"),
            ((0, 5), 1, "normal"),
            ((5, 0), 1, "normal"),
            ((33, 15), 1, "wide"),
            ((33, 15), 0, "ties"),
            ((4, 1000), 1, "special"),
            ((7, 5, 3), 1, "special"),
            ((2, 3, 4, 5), -2, "normal"),
            ((2, 300, 70), 1, "shifted"),
            ((3, 5000), -1, "normal"),
            ((50001,), 0, "normal"),
            ((20001, 3), 0, "wide"),
            ((9, 70), 1, "integers"),
        ),
        tolerance=Tolerance(16, "a tree for each tile of 4096, and a carry for each tile"),
        cost=_cost,
        benchmarks=_TIMED,
    ),
    KernelSpec(
        name="cumprod",
        family="reduction",
        function=cumprod,
        backward=lambda grads, arrays, _outputs, options: (
            cumprod_backward(grads[0], arrays[0], **options),
        ),
        kernels=(
            *(CUMPROD.rows, CUMPROD.columns, CUMSUM.rows, CUMSUM.columns, ZEROS.rows),
            *(ZEROS.columns, _SATURATED.rows, _SATURATED.columns, _without, _before, _product),
            *(_quotient, _at_zero, _both),
        ),
        formula="x[0] ... x[i]",
        source="PyTorch, torch.cumprod",
        reference=lambda x, axis: _running(x, axis, multiply=True),
        backward_reference=_product_slopes,
        backward_magnitude=_product_slope_sizes,
        make=_make_factors,
        torch_name="torch.cumprod",
        torch=lambda t, x, axis: t.cumprod(x, axis),
        torch_error=1e-13,
        cases=_cases(
            ((), 0, "normal"),
            ((1,), -1, "normal"),
            ((0, 5), 1, "normal"),
            ((33, 15), 1, "normal"),
            ((33, 15), 1, "ties"),
            ((33, 15), 1, "special"),
            ((33, 15), 0, "normal"),
            ((33, 15), 0, "ties"),
            ((33, 15), 0, "special"),
            ((2, 3, 4, 5), -2, "normal"),
            ((3, 2000), -1, "sign"),
            ((2000, 3), 0, "sign"),
            ((33, 9), 1, "integers"),
        ),
        tolerance=Tolerance(34, "as many roundings as factors other than 1 and -1, here up to 33"),
        backward_tolerance=Tolerance(80, "the same, twice, a quotient, and sums back"),
        cost=_cost,
        benchmarks=_TIMED,
    ),
)
