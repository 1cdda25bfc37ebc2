"""softmax and log_softmax along an axis, forward and backward.

    softmax(x) = exp(x - m) / sum(exp(x - m)),  m = max(x)
    log_softmax(x) = x - m - log(sum(exp(x - m)))

Grid: one program for each row. Rows of up to 16384 columns are resident in one block; longer ones
are read twice, maximum and sum found in one pass, for each lane by itself (Milakov, Gimelshein
2018, "Online normalizer calculation for softmax", alg. 3). Computed in f32, f64 for f64. A row of
nothing but -inf gives NaN, as in PyTorch. An output may be one of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import ITEMSIZES, Operand, operand, same_place
from teeny_kernels.calls import Plans, bare, key_of, result_of
from teeny_kernels.codes import E1202
from teeny_kernels.layout import require_dtype
from teeny_kernels.numerics import narrow, widen
from teeny_kernels.rows import block_of, is_wide, map_rows, resident, unit_of, warps_of
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_macros import Kernel, kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i32, i64

A = TypeVar("A")
D = TypeVar("D", bound=Float)

RESIDENT = 16384
DTYPES = (f32, f16, bf16, f64)
PLAIN = ("n_units",)  # its value is worth no other compilation


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN)
def softmax_backward_kernel(
    out_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    y_ptr: Ptr[D],
    n_units: i32 | int,
    UNIT: Const[int],
    LOG: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols = n_units * UNIT
    row = tl.program_id(Axis.X).to(i64) * n_cols
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    grad = widen(tl.load(grad_ptr + row + cols, mask=mask, other=0.0))
    y = widen(tl.load(y_ptr + row + cols, mask=mask, other=0.0))
    if LOG:
        x = grad - tl.exp(y) * tl.sum(grad, axis=0)
    else:
        x = y * (grad - tl.sum(grad * y, axis=0))
    tl.store(out_ptr + row + cols, x.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN, backward=softmax_backward_kernel)
def softmax_forward_kernel(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    n_units: i32 | int,
    UNIT: Const[int],
    LOG: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols = n_units * UNIT
    row = tl.program_id(Axis.X).to(i64) * n_cols
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = widen(tl.load(x_ptr + row + cols, mask=mask, other=-float("inf")))
    shifted = x - tl.max(x, axis=0)
    numerator = tl.exp(shifted)
    total = tl.sum(numerator, axis=0)
    if LOG:
        y = shifted - tl.log(total)
    else:
        y = numerator / total
    tl.store(out_ptr + row + cols, y.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN)
def softmax_backward_wide(
    out_ptr: Ptr[D],
    grad_ptr: Ptr[D],
    y_ptr: Ptr[D],
    n_units: i64 | int,
    UNIT: Const[int],
    LOG: Const[bool],
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols: i32 = narrow(n_units, WIDE) * UNIT
    row = tl.program_id(Axis.X).to(i64) * n_cols
    lanes = tl.arange(0, BLOCK_SIZE)
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        grad = widen(tl.load(grad_ptr + row + start + lanes, mask=mask, other=0.0))
        if LOG:
            total += grad
        else:
            total += grad * widen(tl.load(y_ptr + row + start + lanes, mask=mask, other=0.0))
    dot = tl.sum(total, axis=0)
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        grad = widen(tl.load(grad_ptr + row + start + lanes, mask=mask))
        y = widen(tl.load(y_ptr + row + start + lanes, mask=mask))
        if LOG:
            x = grad - tl.exp(y) * dot
        else:
            x = y * (grad - dot)
        tl.store(out_ptr + row + start + lanes, x.to(tl.elem(out_ptr)), mask=mask)


@kernel(dtypes=DTYPES, do_not_specialize=PLAIN, backward=softmax_backward_wide)
def softmax_forward_wide(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    n_units: i64 | int,
    UNIT: Const[int],
    LOG: Const[bool],
    WIDE: Const[bool],
    BLOCK_SIZE: Const[int],
) -> None:
    n_cols: i32 = narrow(n_units, WIDE) * UNIT
    row = tl.program_id(Axis.X).to(i64) * n_cols
    lanes = tl.arange(0, BLOCK_SIZE)
    largest = widen(tl.full((BLOCK_SIZE,), -float("inf"), tl.elem(x_ptr)))
    total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        x = widen(tl.load(x_ptr + row + start + lanes, mask=mask, other=-float("inf")))
        higher = tl.maximum(largest, x)
        # A lane that has seen nothing but -inf has no finite maximum to subtract.
        base = tl.where(higher == -float("inf"), 0.0, higher)
        total = total * tl.exp(largest - base) + tl.exp(x - base)
        largest = higher
    top = tl.max(largest, axis=0)
    total = tl.where(largest == -float("inf"), total, total * tl.exp(largest - top))
    sum_ = tl.sum(total, axis=0)
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        shifted = widen(tl.load(x_ptr + row + start + lanes, mask=mask)) - top
        if LOG:
            y = shifted - tl.log(sum_)
        else:
            y = tl.exp(shifted) / sum_
        tl.store(out_ptr + row + start + lanes, y.to(tl.elem(out_ptr)), mask=mask)


def softmax(x: A, axis: int = -1, *, out: A | None = None) -> A:
    """exp(x) along `axis`, divided by its sum; of the shape and dtype of `x`."""
    return _forward("softmax", x, axis, out, log=False)


def log_softmax(x: A, axis: int = -1, *, out: A | None = None) -> A:
    """The logarithm of `softmax(x, axis)`, computed without the detour."""
    return _forward("log_softmax", x, axis, out, log=True)


def softmax_backward(grad: A, y: A, axis: int = -1, *, out: A | None = None) -> A:
    """The gradient by x: y (grad - sum(grad y)), where `y` is the result of `softmax`."""
    return _backward("softmax_backward", grad, y, axis, out, log=False)


def log_softmax_backward(grad: A, y: A, axis: int = -1, *, out: A | None = None) -> A:
    """The gradient by x: grad - exp(y) sum(grad), where `y` is the result of `log_softmax`."""
    return _backward("log_softmax_backward", grad, y, axis, out, log=True)


def _forward(operation: str, x: Any, axis: int, out: Any, *, log: bool) -> Any:
    key = key_of((x, out), axis, log)
    plan = _plans.find(key)
    if plan is not None:
        return plan(x, out)
    source = operand("x", x)
    require_dtype(operation, "x", source, FLOATS)
    runs: list[Callable[..., None]] = []

    def launch(result: Operand, arrays: list[Operand], rows: int, columns: int) -> None:
        run = _launcher(
            softmax_forward_kernel, softmax_forward_wide, result.dtype, rows, columns, log
        )
        run(result.array, *(own.array for own in arrays))
        runs.append(run)

    found = map_rows(operation, [source], axis, launch, out)
    direct = axis in (-1, source.ndim - 1) and source.is_contiguous
    if key is not None and runs and direct and (out is None or out.is_contiguous()):
        _plans.keep(key, _plan(source.shape, runs[0]))
    return found


_plans = Plans()


def _plan(shape: tuple[int, ...], run: Callable[..., None]) -> Callable[[Any, Any], Any]:
    def plan(x: Any, out: Any) -> Any:
        out = result_of(x, out, shape)
        run(out, bare(x))
        return out

    return plan


def _backward(operation: str, grad: Any, y: Any, axis: int, out: Any, *, log: bool) -> Any:
    sources = [operand("grad", grad), operand("y", y)]
    same_place(operation, list(zip(("grad", "y"), sources, strict=True)))
    require_dtype(operation, "y", sources[1], FLOATS)
    require_dtype(operation, "grad", sources[0], (sources[1].dtype,))
    if sources[0].shape != sources[1].shape:
        shapes = f"`grad` {sources[0].shape}, `y` {sources[1].shape}"
        raise E1202.error(operation=operation, what=shapes).help("give arrays of one shape")

    def launch(result: Operand, arrays: list[Operand], rows: int, columns: int) -> None:
        run = _launcher(
            softmax_backward_kernel, softmax_backward_wide, result.dtype, rows, columns, log
        )
        run(result.array, *(own.array for own in arrays))

    return map_rows(operation, sources, axis, launch, out)


def _launcher(
    whole: Kernel[...], wide: Kernel[...], dtype: str, rows: int, columns: int, log: bool
) -> Callable[..., None]:
    """The launch of rows: from the result and the arrays."""
    chosen, block = (whole, block_of(columns)) if columns <= RESIDENT else (wide, 4096)
    warps = warps_of(block, ITEMSIZES[dtype])
    unit = unit_of(columns)
    # The backward of softmax holds both of its inputs, whose loads overlap each other.
    holds = chosen is softmax_backward_kernel and not log
    launch: Any = chosen.options(num_warps=warps) if holds else resident(chosen, warps, block)
    constants: dict[str, Any] = {
        "UNIT": unit,
        "LOG": log,
        **({"WIDE": is_wide(columns)} if chosen is wide else {}),
        "BLOCK_SIZE": block,
    }

    def run(result: Any, *arrays: Any) -> None:
        launch[rows](result, *arrays, columns // unit, **constants)

    return run


def _sum(x: np.ndarray, axis: int) -> np.ndarray:
    return x.astype(np.longdouble).sum(axis=axis, keepdims=True).astype(np.float64)


def softmax_reference(x: np.ndarray, axis: int = -1) -> np.ndarray:
    if not x.size:
        return x
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / _sum(e, axis)


def log_softmax_reference(x: np.ndarray, axis: int = -1) -> np.ndarray:
    if not x.size:
        return x
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(_sum(np.exp(shifted), axis))


def _distance(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """How far an element lies below the largest: exp and its argument's rounding grow with it."""
    return x.max(axis=axis, keepdims=True) - x if x.size else x


def _far(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.where(np.isfinite(x), _distance(x, axis), 0.0)


def _gradient(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    y, axis = softmax_reference(arrays[0], **options), options.get("axis", -1)
    return (y * (grads[0] - _sum(grads[0] * y, axis)),)


def _log_gradient(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    y, axis = softmax_reference(arrays[0], **options), options.get("axis", -1)
    return (grads[0] - y * _sum(grads[0], axis),)


def _gradient_size(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    y, axis = softmax_reference(arrays[0], **options), options.get("axis", -1)
    size = _sum(np.abs(grads[0]) * y, axis)
    far = _far(arrays[0], axis)
    return (y * (np.abs(grads[0]) + 2 * size) * (far + rounding),)


def _log_gradient_size(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    log, axis = log_softmax_reference(arrays[0], **options), options.get("axis", -1)
    far = np.where(np.isfinite(log), np.abs(log), 0.0)
    size = _sum(np.abs(grads[0]), axis)
    return (np.abs(grads[0]) + np.exp(log) * (1 + far * rounding) * size,)


CASES = (
    Case(((1, 1),)),
    Case(((0, 5),)),
    Case(((5, 0),)),
    Case(((3, 17),)),
    Case(((18, 128),)),
    Case(((18, 781),)),
    Case(((4, 1024),), {}, "wide"),
    Case(((5, 1000),), {}, "shifted"),
    Case(((7, 63),), {}, "ties"),
    Case(((9, 31),), {}, "special"),
    Case(((4, 5, 6),), {"axis": 1}),
    Case(((4, 5, 6),), {"axis": 0}),
    Case(((2, 3, 4, 33),), {"axis": -1}),
    Case(((2, 20011),), {"axis": -1}),
    Case(((20011, 2),), {"axis": 0}, "wide"),
    Case(((3, 17000),), {}, "special"),
)


def _spec(log: bool) -> KernelSpec:
    backward = log_softmax_backward if log else softmax_backward
    name = "torch.nn.functional.log_softmax" if log else "torch.nn.functional.softmax"

    def magnitude(x: np.ndarray, axis: int = -1) -> np.ndarray:
        far = _far(x, axis)
        if log:
            return far + np.log1p(x.shape[axis]) + 1
        return softmax_reference(x, axis) * (far + 4)

    def gradients(
        grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
    ) -> Sequence[Any]:
        return (backward(grads[0], outputs[0], **options),)

    return KernelSpec(
        name="log_softmax" if log else "softmax",
        family="activation",
        function=log_softmax if log else softmax,
        backward=gradients,
        kernels=(
            softmax_forward_kernel,
            softmax_forward_wide,
            softmax_backward_kernel,
            softmax_backward_wide,
        ),
        formula=(
            "x - max(x) - log(sum(exp(x - max(x))))" if log else "exp(x - max(x)) / sum(exp(...))"
        ),
        source="Bridle 1990; Milakov, Gimelshein 2018",
        reference=log_softmax_reference if log else softmax_reference,
        backward_reference=_log_gradient if log else _gradient,
        backward_magnitude=_log_gradient_size if log else _gradient_size,
        torch_name=name,
        torch_error=1e-13,  # along other axes than the last it sums one element after the other
        torch=lambda t, x, axis=-1: (
            t.nn.functional.log_softmax(x, axis) if log else t.nn.functional.softmax(x, axis)
        ),
        cases=CASES,
        tolerance=Tolerance(4, "exp of a rounded difference, a sum by trees, a quotient"),
        backward_tolerance=Tolerance(2, "the result rounded to its dtype, and a sum"),
        magnitude=magnitude,
        cost=lambda case, itemsize: Cost(
            2 * itemsize * int(np.prod(case.shapes[0])), 5 * int(np.prod(case.shapes[0]))
        ),
        benchmarks=tuple(Case(((32768, n),)) for n in (1000, 1024, 4096, 8192, 16384)),
    )


SPECS = (_spec(log=False), _spec(log=True))
