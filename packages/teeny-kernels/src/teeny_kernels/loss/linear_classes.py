"""linear_cross_entropy: the cross entropy of x weight^T + bias, whose logits never all exist.

    loss = cross_entropy(x weight^T + bias, target)

Logits are made, used and forgotten for a chunk of rows at a time (Hsu et al. 2024, "Liger kernel"),
in f32 (f64 for f64), never rounded to the dtype of x: forward one product, backward three, with
the gradients of the logits in the dtype of x and that of the weight added up in f32. What a mean
divides by, and the gradient of the loss, go to the sums, so that no gradient of a logit of f16 is
lost below its range. Kernels: those of products and of cross_entropy. The order of sums depends on
the shapes alone.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from teeny_kernels.arrays import ITEMSIZES, Operand, empty, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.elementwise.broadcast import broadcasting, launch_broadcasting
from teeny_kernels.layout import Output, contiguous, copy, permuted, require_dtype, reshaped
from teeny_kernels.loss.class_run import (
    INTEGERS,
    ClassCall,
    check_smoothing,
    class_gradient,
    reduced_losses,
    row_tile,
    weight_sum,
)
from teeny_kernels.loss.entropy_kernels import (
    cross_entropy_backward_kernel,
    cross_entropy_forward_kernel,
)
from teeny_kernels.loss.reduction import checked_reduction
from teeny_kernels.numerics import R
from teeny_kernels.products.run import Epilogue, product
from teeny_kernels.reduce.kernels import exact, plus, reduce_into
from teeny_kernels.reduce.scans import times
from teeny_kernels.reduce.sums import SUM
from teeny_kernels.rows import resident, unit_of
from teeny_kernels.spec import EPSILON, FLOATS, TINY, Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill
from teeny_macros import device
from teeny_triton import Tensor, f32

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

A = TypeVar("A")


@device
def first(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return x


@device
def ratio(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return x / y


_add = broadcasting("linear_cross_entropy_add", plus)
_times = broadcasting("linear_cross_entropy_scale", times)
_itself = broadcasting("linear_cross_entropy_grad", first)
_ratio = broadcasting("linear_cross_entropy_share", ratio)


class _Call(NamedTuple):
    """A checked call: x as rows, the weight and the bias, and the call of the loss."""

    x: Operand
    weight: Operand
    bias: Operand | None
    loss: ClassCall
    smoothing: float
    allow_tf32: bool
    shape: tuple[int, ...]

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Rows whose logits take about as much memory as all of x."""
        rows, columns = self.x.shape
        classes = self.weight.shape[0]
        wanted = -(-rows // max(1, -(-classes // max(1, columns))))
        height = max(16, 1 << max(0, wanted - 1).bit_length())
        for start in range(0, rows, height):
            yield start, min(rows, start + height)


def linear_cross_entropy(
    x: A,
    weight: A,
    target: A,
    bias: A | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    *,
    allow_tf32: bool = False,
    out: A | None = None,
) -> A:
    """`cross_entropy` of the logits `x` `weight`^T + `bias`, which are never held all at once.

    `x` is (..., H), `weight` (classes, H), `bias` (classes), `target` (...) of integers; what else
    it takes, `cross_entropy` takes. `allow_tf32` lets a GPU take products of f32 in tf32.

    Raises:
        KernelError: E1202 when a shape does not fit, E1203, E1204, E1206, E1207.
    """
    operation = "linear_cross_entropy"
    call = _checked(
        operation, x, weight, target, bias, ignore_index, reduction, label_smoothing, allow_tf32
    )

    def launch(losses: Operand) -> None:
        for start, end in call.chunks():
            logits = _logits(call, start, end)
            unit = unit_of(logits.shape[1])
            tile = row_tile(logits.shape[1], ITEMSIZES[logits.dtype])
            run: Any = cross_entropy_forward_kernel.options(num_warps=tile.warps)[end - start]
            run(
                *(_part(_flat(losses), start, end).array, logits.array),
                *(_part(_flat(call.loss.target), start, end).array, None, logits.shape[1] // unit),
                *(call.loss.ignore_index, call.smoothing),
                UNIT=unit,
                SMOOTH=call.smoothing > 0,
                **tile.constants,
            )

    found: A = reduced_losses(call.loss, launch, out)
    return found


def linear_cross_entropy_backward(
    grad: A,
    x: A,
    weight: A,
    target: A,
    bias: A | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    *,
    allow_tf32: bool = False,
) -> tuple[A, A, A | None]:
    """The gradients by `x`, `weight` and `bias` (None without one). Logits are made again."""
    operation = "linear_cross_entropy_backward"
    call = _checked(
        operation, x, weight, target, bias, ignore_index, reduction, label_smoothing, allow_tf32
    )
    upstream = class_gradient(call.loss, grad)
    by_x = Output(operation, call.x, call.shape)
    by_weight = Output(operation, call.weight, call.weight.shape)
    by_bias = None if call.bias is None else Output(operation, call.bias, call.bias.shape)
    rows_of_x = reshaped(by_x.operand, call.x.shape)
    total = weight_sum(call.loss)
    scale = _scale(call, upstream, total)
    sums: list[Operand | None] = [None, None]
    for start, end in call.chunks():
        grads, divisor = (upstream, total) if scale is None else (None, None)
        slopes = _slopes_of(call, grads, divisor, start, end)
        relaxed = call.allow_tf32
        factor = Epilogue(rows=scale)
        product(_part(rows_of_x, start, end), slopes, call.weight, factor, relaxed=relaxed)
        added = empty(call.weight, call.weight.shape, exact(call.weight))
        before = Epilogue(rows=scale, residual=sums[0])
        chunk = _part(call.x, start, end)
        product(added, permuted(slopes, (1, 0)), chunk, before, relaxed=relaxed)
        sums[0] = added
        if by_bias is not None:
            sums[1] = _summed(operation, slopes, scale, sums[1])
    for own, total_of in zip((by_weight, by_bias), sums, strict=True):
        if own is not None:
            _finished(operation, own.operand, total_of)
    bias_gradient = None if by_bias is None else by_bias.finish()
    return by_x.finish(), by_weight.finish(), bias_gradient


def _checked(
    operation: str,
    x: Any,
    weight: Any,
    target: Any,
    bias: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
    allow_tf32: bool,
) -> _Call:
    check_smoothing(operation, label_smoothing)
    source, table, classes = operand("x", x), operand("weight", weight), operand("target", target)
    same_place(operation, [("x", source), ("weight", table), ("target", classes)])
    require_dtype(operation, "x", source, FLOATS)
    require_dtype(operation, "weight", table, (source.dtype,))
    own = None if bias is None else operand("bias", bias)
    fits = table.ndim == 2 and source.shape[-1:] == table.shape[1:]
    if own is not None:
        same_place(operation, [("x", source), ("bias", own)])
        require_dtype(operation, "bias", own, (source.dtype,))
        fits = fits and own.shape == table.shape[:1]
    if not fits or classes.shape != source.shape[:-1]:
        shapes = f"`x` {source.shape}, `weight` {table.shape}, `target` {classes.shape}"
        shapes += "" if own is None else f", `bias` {own.shape}"
        raise E1202.error(operation=operation, what=shapes).help(
            "`x` is (..., H), `weight` (classes, H), `bias` (classes), `target` (...)"
        )
    rows = (prod(source.shape[:-1]), source.shape[-1])
    flat = reshaped(contiguous(operation, source), rows)
    require_dtype(operation, "target", classes, INTEGERS)
    loss = ClassCall(
        operation,
        flat,
        contiguous(operation, classes, "i64"),
        None,
        ignore_index,
        checked_reduction(operation, reduction),
        axis=1,
        columns=table.shape[0],
        inner=1,
    )
    ready = None if own is None else contiguous(operation, own)
    return _Call(
        flat,
        contiguous(operation, table),
        ready,
        loss,
        label_smoothing,
        allow_tf32,
        source.shape,
    )


def _flat(x: Operand) -> Operand:
    return reshaped(x, (x.size,))


def _part(x: Operand, start: int, end: int) -> Operand:
    """Rows of a contiguous array; nothing is copied."""
    flat = x.array.reshape(x.shape) if tuple(x.array.shape) != x.shape else x.array
    return x._replace(array=flat[start:end], shape=(end - start, *x.shape[1:]))


def _logits(call: _Call, start: int, end: int) -> Operand:
    """The logits of some rows, in the dtype of the computation."""
    made = empty(call.x, (end - start, call.weight.shape[0]), exact(call.x))
    product(
        made,
        _part(call.x, start, end),
        permuted(call.weight, (1, 0)),
        Epilogue(bias=call.bias),
        relaxed=call.allow_tf32,
    )
    return made


def _scale(call: _Call, upstream: Operand, total: Any) -> Operand | None:
    """The factor of all gradients of logits of a narrow dtype, in f32; None where each has one."""
    if call.x.dtype in {"f32", "f64"} or call.loss.reduction == "none":
        return None
    parts = [upstream, upstream if total is None else operand("total", total)]
    kernel = _itself if total is None else _ratio
    return launch_broadcasting("linear_cross_entropy", kernel, parts, (), dtype="f32").operand


def _slopes_of(call: _Call, upstream: Operand | None, total: Any, start: int, end: int) -> Operand:
    """The gradients of the logits of some rows, in the dtype of x; those of the sum without one."""
    logits = _logits(call, start, end)
    rows, classes = logits.shape
    made = empty(call.x, logits.shape)
    unit, tile = unit_of(classes), row_tile(classes, ITEMSIZES[logits.dtype], twice=True)
    each = call.loss.reduction == "none"
    grads = None
    if upstream is not None:
        grads = (_part(_flat(upstream), start, end) if each else upstream).array
    run: Any = resident(cross_entropy_backward_kernel, tile.warps, tile.height * tile.width)[rows]
    run(
        *(made.array, grads, total, logits.array),
        *(_part(_flat(call.loss.target), start, end).array, None, classes // unit),
        *(call.loss.ignore_index, call.smoothing),
        UNIT=unit,
        ROWS=each,
        SMOOTH=call.smoothing > 0,
        WHOLE=tile.whole,
        **tile.constants,
    )
    return made


def _summed(
    operation: str, slopes: Operand, scale: Operand | None, before: Operand | None
) -> Operand:
    found = empty(slopes, slopes.shape[1:], exact(slopes))
    reduce_into(operation, SUM, found, slopes, (0,))
    if scale is not None:
        found = launch_broadcasting(operation, _times, [found, scale], found.shape).operand
    if before is None:
        return found
    return launch_broadcasting(operation, _add, [found, before], found.shape).operand


def _finished(operation: str, target: Operand, total: Operand | None) -> None:
    if total is None:  # of no rows
        total = empty(target, target.shape, exact(target))
        reduce_into(operation, SUM, total, reshaped(target, (*target.shape, 0)), (target.ndim,))
    copy(operation, target, total)


def _parts(
    x: Any, weight: Any, target: Any, bias: Any, options: Mapping[str, Any]
) -> tuple[Any, Any, Any, Any]:
    """Logarithms of softmax, which class is the target, which rows count, what divides them."""
    logits = (x @ weight.T + (0 if bias is None else bias)).astype(np.longdouble)
    logits = logits.reshape(-1, weight.shape[0])
    top = logits.max(axis=1, keepdims=True, initial=-np.inf)
    log = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
    t = target.reshape(-1, 1)
    counts = t != options.get("ignore_index", -100)
    hot = (np.arange(int(weight.shape[0])) == t) & counts
    divisor = counts.sum() if options.get("reduction", "mean") == "mean" else 1
    return log, hot, counts, divisor


def _reference(x: Any, weight: Any, target: Any, bias: Any = None, **options: Any) -> Any:
    log, hot, counts, divisor = _parts(x, weight, target, bias, options)
    smoothing = options.get("label_smoothing", 0.0)
    losses = -(1 - smoothing) * np.where(hot, log, 0).sum(axis=1)
    losses = losses - smoothing / weight.shape[0] * np.where(counts, log, 0).sum(axis=1)
    if options.get("reduction", "mean") == "none":
        return losses.reshape(target.shape).astype(np.float64)
    return np.float64(losses.sum() / divisor)


def _magnitude(x: Any, weight: Any, target: Any, bias: Any = None, **options: Any) -> Any:
    terms = np.abs(x) @ np.abs(weight).T + (0 if bias is None else np.abs(bias))
    rows = (2 * terms.max(axis=-1, initial=0) + np.log(weight.shape[0]) + 1).reshape(-1)
    rows = np.where(np.isfinite(rows), rows, 0.0)
    counts = _parts(x, weight, target, bias, options)[2][:, 0]
    if options.get("reduction", "mean") == "none":
        return (rows * counts).reshape(target.shape)
    shared = counts.sum() if options.get("reduction", "mean") == "mean" else 1
    return (rows * counts).sum() / max(1, shared)


def _logit_slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Any, Any]:
    x, weight, target = arrays[:3]
    bias = arrays[3] if len(arrays) > 3 else None
    log, hot, counts, divisor = _parts(x, weight, target, bias, options)
    smoothing = options.get("label_smoothing", 0.0)
    p = np.where(counts, np.exp(log), 0)
    slope = p - (1 - smoothing) * hot - smoothing / weight.shape[0] * counts
    grad = grads[0].reshape(-1, 1) if options.get("reduction", "mean") == "none" else grads[0]
    return (slope * grad / max(1, divisor)).astype(float), (p * grad / max(1, divisor)).astype(
        float
    )


def _slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    x, weight = arrays[:2]
    slope = _logit_slopes(grads, arrays, options)[0]
    found = [(slope @ weight).reshape(x.shape), slope.T @ x.reshape(slope.shape[0], x.shape[-1])]
    return [*found, slope.sum(axis=0)][: len(arrays) - 1]


def _sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    x, weight = arrays[:2]
    slope, p = (np.abs(own) for own in _logit_slopes(grads, arrays, options))
    flat = np.abs(x.reshape(slope.shape[0], x.shape[-1]))
    terms = (flat @ np.abs(weight).T).max(axis=1, keepdims=True, initial=0)
    # Gradients of logits are rounded to the dtype; a logit is off by roundings of its terms.
    off = slope * (1 + rounding / 8) + p * (2 + terms)
    if rounding == EPSILON["f16"] / EPSILON["f32"]:  # whose numbers end at 2^-24
        weighed = np.abs(_logit_slopes([np.ones_like(grads[0])], arrays, options)[1])
        share = weighed.sum(axis=1, keepdims=True) * np.abs(grads[0]).max(initial=0)
        off = off + TINY["f16"] / (16 * EPSILON["f32"]) * share
    found = [(off @ np.abs(weight)).reshape(x.shape), off.T @ flat]
    return [*found, off.sum(axis=0)][: len(arrays) - 1]


def _torch(
    t: Any, x: Any, weight: Any, target: Any, bias: Any = None, reduction: str = "mean", **rest: Any
) -> Any:
    logits = t.nn.functional.linear(x, weight, bias).reshape(-1, weight.shape[0])
    found = t.nn.functional.cross_entropy(logits, target.reshape(-1), reduction=reduction, **rest)
    return found.reshape(target.shape) if reduction == "none" else found


def _make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    shape, (classes, columns), *rest = case.shapes
    x = fill(rng, shape, case.values)
    t = np.asarray(rng.integers(0, classes, shape[:-1]), np.int64)
    if "ignore_index" in case.options:
        t = np.where(rng.random(t.shape) < 0.3, case.options["ignore_index"], t)
    if case.options.get("reduction", "mean") == "mean" and t.size:
        t[(0,) * t.ndim] = 0 if case.options.get("ignore_index") != 0 else 1
    weight = fill(rng, (classes, columns), "normal") / max(1, columns) ** 0.5
    return [x, weight, t, *(fill(rng, own, "normal") for own in rest[1:])]


def _back(
    grads: Sequence[Any], arrays: Sequence[Any], _outputs: Any, options: Mapping[str, Any]
) -> Sequence[Any]:
    found = linear_cross_entropy_backward(grads[0], *arrays, **options)
    return found[: len(arrays) - 1]


def _case(
    shape: tuple[int, ...], classes: int, values: str = "normal", bias: bool = False, **options: Any
) -> Case:
    shapes: tuple[tuple[int, ...], ...] = (shape, (classes, shape[-1]), shape[:-1])
    return Case((*shapes, (classes,)) if bias else shapes, options, values)


def _cost(case: Case, itemsize: int) -> Cost:
    (*rows, columns), (classes, _) = case.shapes[:2]
    moved = prod(rows) * columns + classes * columns
    return Cost(itemsize * moved, 2 * prod(rows) * columns * classes)


SPEC = KernelSpec(
    name="linear_cross_entropy",
    family="loss",
    function=linear_cross_entropy,
    backward=_back,
    differentiable=(0, 1, 3),
    kernels=(
        *(cross_entropy_forward_kernel, cross_entropy_backward_kernel, _add, _times, _itself),
        _ratio,
    ),
    formula="cross_entropy(x weight^T + bias, target)",
    source="Hsu et al. 2024, Liger kernel",
    reference=_reference,
    magnitude=_magnitude,
    backward_reference=_slopes,
    backward_magnitude=_sizes,
    make=_make,
    torch_name="torch.nn.functional.cross_entropy(linear(x, weight, bias), target)",
    torch=_torch,
    torch_error=1e-12,
    cases=(
        _case((1, 1), 1),
        _case((0, 8), 100, reduction="sum"),
        _case((33, 8), 100, bias=True),
        _case((48, 8), 100),
        _case((48, 8), 100, reduction="none"),
        _case((48, 8), 100, "wide", bias=True, reduction="sum"),
        _case((48, 8), 100, ignore_index=3),
        _case((48, 8), 100, "ties", bias=True, label_smoothing=0.1),
        _case((48, 8), 100, "shifted", reduction="none", label_smoothing=0.3, ignore_index=-1),
        _case((4, 12, 8), 100, "normal", bias=True, reduction="none"),
        _case((0, 8), 33, "normal", bias=True, reduction="sum"),
        _case((48, 8), 100, "special", reduction="none"),
        _case((70, 33), 40, "normal", bias=True, ignore_index=0),
    ),
    tolerance=Tolerance(8, "a product in f32, exp of a rounded difference, a logarithm"),
    backward_tolerance=Tolerance(8, "the same, rounded gradients of logits, and products"),
    cost=_cost,
    benchmarks=(_case((8192, 4096), 32768), _case((4096, 4096), 131072)),
)
