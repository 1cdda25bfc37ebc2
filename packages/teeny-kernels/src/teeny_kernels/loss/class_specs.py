"""Specs of the losses of classes: NumPy references in f64 and the cases to test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.loss.class_kernels import (
    likelihood_backward_kernel,
    likelihood_forward_kernel,
    likelihood_row_backward_kernel,
    row_shares,
)
from teeny_kernels.loss.entropy_kernels import (
    cross_entropy_backward_kernel,
    cross_entropy_forward_kernel,
)
from teeny_kernels.loss.reduction import divided_sum
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_IGNORED = -100


def _log_softmax(x: Any) -> Any:
    wide = x.astype(np.longdouble)
    wide = wide - wide.max(axis=1, keepdims=True)
    return wide - np.log(np.exp(wide).sum(axis=1, keepdims=True))


def _parts(x: Any, t: Any, w: Any, ignore_index: int) -> tuple[Any, Any, Any]:
    """Weights and one-hot targets, in the shape of `x`, and the weights of the targets."""
    if x.ndim == 1:
        x, t = x[None], t[None]
    along = (1, -1, *[1] * (x.ndim - 2))
    classes = np.ones(x.shape[1]) if w is None else w
    weights = np.broadcast_to(classes.reshape(along), x.shape)
    t = t[:, None]
    counts = t != ignore_index
    hot = (np.arange(int(x.shape[1])).reshape(along) == t) & counts
    own = np.where(hot, weights, 0.0).sum(axis=1)
    return weights * counts, hot, own


def _losses(log: Any, parts: tuple[Any, Any, Any], smoothing: float) -> Any:
    weights, hot, _ = parts
    sharp = -np.where(hot, weights * log, 0.0).sum(axis=1)
    if not smoothing:
        return sharp
    every = -np.where(weights.any(axis=1, keepdims=True), weights * log, 0.0).sum(axis=1)
    return (1 - smoothing) * sharp + smoothing / log.shape[1] * every


def _reduce(losses: Any, own: Any, reduction: str, shape: tuple[int, ...]) -> Any:
    if reduction == "none":
        return losses.reshape(shape).astype(np.float64)
    total = losses.sum()
    return np.float64(total / own.sum() if reduction == "mean" else total)


def _reference(log_softmax: bool, size: bool = False) -> Callable[..., Any]:
    """The loss; with `size`, that of what is added up in it."""

    def reference(
        x: Any,
        t: Any,
        w: Any = None,
        ignore_index: int = _IGNORED,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> Any:
        rows = x if x.ndim > 1 else x[None]
        log = _log_softmax(rows) if log_softmax and rows.size else rows.astype(np.longdouble)
        if size:
            log = np.where(np.isfinite(log), -np.abs(log) - log_softmax, 0.0)
        parts = _parts(x, t, w, ignore_index)
        return _reduce(_losses(log, parts, label_smoothing), parts[2], reduction, t.shape)

    return reference


def _gradients(log_softmax: bool, size: bool = False) -> Callable[..., Sequence[Any]]:
    def gradients(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        x, t = arrays[:2]
        w = arrays[2] if len(arrays) > 2 else None
        smoothing = options.get("label_smoothing", 0.0)
        weights, hot, own = _parts(x, t, w, options.get("ignore_index", _IGNORED))
        reduction = options.get("reduction", "mean")
        grad = grads[0].reshape(own.shape)[:, None] if reduction == "none" else grads[0]
        if reduction == "mean":
            grad = grad / own.sum()
        rows = x if x.ndim > 1 else x[None]
        classes = np.where(hot, weights, 0.0)
        if log_softmax and x.size:
            p = np.exp(_log_softmax(rows))
            sharp, every = own[:, None] * p, weights.sum(axis=1, keepdims=True) * p
        else:
            sharp, every = np.zeros(rows.shape), np.zeros(rows.shape)
        if size:
            far = rows.max(axis=1, keepdims=True) - rows if rows.size else rows
            sharp = sharp * (4 + np.where(np.isfinite(far), far, 0.0)) + classes
            every, grad = every * (4 + np.where(np.isfinite(far), far, 0.0)) + weights, abs(grad)
        else:
            sharp, every = sharp - classes, every - weights
        slope = (1 - smoothing) * sharp + smoothing / rows.shape[1] * every
        found = np.where(weights.any(axis=1, keepdims=True), slope * grad, 0.0)
        return (found.reshape(x.shape).astype(np.float64),)

    return gradients


def _make(log: bool) -> Callable[..., Sequence[Any]]:
    def make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
        shape, target_shape, *weight = case.shapes
        x = fill(rng, shape, case.values)
        if log and x.size:
            with np.errstate(invalid="ignore"):
                found = _log_softmax(x if x.ndim > 1 else x[None])
            x = np.asarray(found.reshape(shape), np.float64)
        t = rng.integers(0, shape[1 if len(shape) > 1 else 0], target_shape)
        if case.values != "special":  # where PyTorch multiplies NaN by the 0 of an ignored row
            t = np.where(rng.random(target_shape) < 0.25, case.options.get("ignore_index", -100), t)
        if case.options.get("reduction", "mean") == "mean" and t.size:
            t = np.asarray(t)
            t[(0,) * t.ndim] = 0  # a mean of nothing is a case of its own
        return [x, np.asarray(t, np.int64), *(fill(rng, own, "positive") for own in weight)]

    return make


def _case(shape: tuple[int, ...], values: str = "normal", weight: bool = False, **o: Any) -> Case:
    target = (shape[0], *shape[2:]) if len(shape) > 1 else ()
    classes = (shape[min(1, len(shape) - 1)],)
    return Case((shape, target, classes) if weight else (shape, target), o, values)


CASES = (
    _case((5,)),
    _case((1, 1)),
    _case((0, 5), "ties"),
    _case((0, 5), reduction="sum"),
    _case((0, 5), reduction="none"),
    _case((4, 17)),
    _case((12, 5), reduction="none"),
    _case((7, 128), reduction="sum"),
    _case((9, 1000), "shifted"),
    _case((600, 3), weight=True),
    _case((6, 33), "special", reduction="none"),
    _case((6, 33), "ties", weight=True, reduction="sum", ignore_index=2),
    _case((3, 7, 5), weight=True),
    _case((2, 3, 4, 5), "wide", weight=True, reduction="none"),
    _case((3, 9001), "wide"),
    _case((3, 5000), weight=True, reduction="none"),
)
SMOOTHED = (
    _case((4, 17), label_smoothing=0.1),
    _case((9, 100), "shifted", label_smoothing=0.2, reduction="none"),
    _case((5, 33), weight=True, label_smoothing=0.3),
    _case((3, 6, 4), "wide", weight=True, label_smoothing=0.1, reduction="sum"),
    _case((3, 5000), weight=True, label_smoothing=1.0, reduction="none"),
)


def _cost(case: Case, itemsize: int) -> Cost:
    rows, columns = case.shapes[0][:2]
    return Cost(rows * columns * itemsize + 8 * rows, 5 * rows * columns)


def specs_of(
    cross_entropy: Callable[..., Any],
    cross_entropy_backward: Callable[..., Any],
    nll_loss: Callable[..., Any],
    nll_loss_backward: Callable[..., Any],
) -> tuple[KernelSpec, ...]:
    """The two specs, of the public functions."""
    common: dict[str, Any] = {
        "family": "loss",
        "source": "Bishop 2006, section 4.3.4; Szegedy et al. 2016, section 7 (smoothing)",
        "tolerance": Tolerance(6, "exp of a rounded difference, tree sums, a logarithm"),
        "backward_tolerance": Tolerance(6, "exp of a rounded difference, tree sums, quotients"),
        "cost": _cost,
        "torch_error": 1e-13,  # it adds up rows one after the other
    }
    return (
        KernelSpec(
            name="cross_entropy",
            function=cross_entropy,
            backward=lambda grads, arrays, _outputs, options: (
                cross_entropy_backward(grads[0], *arrays, **options),
            ),
            kernels=(
                cross_entropy_forward_kernel,
                cross_entropy_backward_kernel,
                row_shares,
                divided_sum,
            ),
            formula="(1 - s) w[t] (lse(x) - x[t]) + s / C sum(w (lse(x) - x))",
            reference=_reference(log_softmax=True),
            backward_reference=_gradients(log_softmax=True),
            magnitude=_reference(log_softmax=True, size=True),
            backward_magnitude=_gradients(log_softmax=True, size=True),
            make=_make(log=False),
            torch_name="torch.nn.functional.cross_entropy",
            torch=lambda t, x, target, *w, **options: t.nn.functional.cross_entropy(
                x, target, *w, **options
            ),
            cases=CASES + SMOOTHED,
            benchmarks=tuple(_case((8192, n)) for n in (1000, 4096, 32768, 131072)),
            **common,
        ),
        KernelSpec(
            name="nll_loss",
            function=nll_loss,
            backward=lambda grads, arrays, _outputs, options: (
                nll_loss_backward(grads[0], *arrays, **options),
            ),
            kernels=(
                likelihood_forward_kernel,
                likelihood_backward_kernel,
                likelihood_row_backward_kernel,
                row_shares,
                divided_sum,
            ),
            formula="-w[t] x[t]",
            reference=_reference(log_softmax=False),
            backward_reference=_gradients(log_softmax=False),
            magnitude=_reference(log_softmax=False, size=True),
            backward_magnitude=_gradients(log_softmax=False, size=True),
            make=_make(log=True),
            torch_name="torch.nn.functional.nll_loss",
            torch=lambda t, x, target, *w, **options: t.nn.functional.nll_loss(
                x, target, *w, **options
            ),
            cases=CASES,
            benchmarks=tuple(_case((8192, n)) for n in (1000, 32768)),
            **common,
        ),
    )
