"""Specs of the losses over the classes of a row, from their formulas in NumPy's f64."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.loss.embedding_spec import each_row, total
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def _hinges(x: Any, t: Any, margin: float, w: Any) -> tuple[Any, Any, Any]:
    """What is above zero of each class, the weight of each row, and which class is the target."""
    hot = np.arange(int(x.shape[-1])) == t[..., None]
    own = np.where(hot, x, 0.0).sum(axis=-1, keepdims=True)
    z = margin - own + x
    weights = np.ones(t.shape) if w is None else np.where(hot, w, 0.0).sum(axis=-1)
    return np.where(~hot & (z > 0), z, 0.0), weights[..., None] / x.shape[-1], hot


def _terms(x: Any, margin: float) -> Any:
    known = np.where(np.isfinite(x), np.abs(x), 0.0)
    return known + known.max(axis=-1, keepdims=True, initial=0) + abs(margin)


def _margin_reference(
    x: Any,
    t: Any,
    weight: Any = None,
    p: int = 1,
    margin: float = 1.0,
    reduction: str = "mean",
    size: bool = False,
) -> Any:
    z, weights, _ = _hinges(x, t, margin, weight)
    if size:
        z = np.where(z > 0, _terms(x, margin), 0.0)
    return total((weights * z**p).sum(axis=-1), reduction)


def _margin_slopes(size: bool) -> Callable[..., Sequence[Any]]:
    def slopes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        x, t = arrays[:2]
        w = arrays[2] if len(arrays) > 2 else None
        p, margin = options.get("p", 1), options.get("margin", 1.0)
        z, weights, hot = _hinges(x, t, margin, w)
        grad = each_row(grads[0], np.zeros(t.shape), options.get("reduction", "mean"))
        counts = z > 0
        if size:
            grad = np.abs(grad)
            z = _terms(x, margin)
        others = np.where(counts, grad * weights * (1 if p == 1 else 2 * z), 0.0)
        own = others.sum(axis=-1, keepdims=True)
        return [np.where(hot, own if size else -own, others)]

    return slopes


def _case(
    shape: tuple[int, ...], how: str, values: str = "normal", weight: bool = False, **own: Any
) -> Case:
    arrays = (shape, shape[:-1], shape[-1:]) if weight else (shape, shape[:-1])
    return Case(arrays, {"reduction": how, **own}, values)


_MARGIN_CASES = (
    _case((7,), "mean"),
    _case((0, 5), "sum"),
    _case((0, 5), "none"),
    _case((1, 1), "mean"),
    _case((5, 17), "none", p=2),
    _case((33, 64), "sum", "wide"),
    _case((3, 1000), "mean", "shifted"),
    _case((600, 3), "mean", weight=True),
    _case((4, 33), "none", "special"),
    _case((9, 12), "none", "ties", weight=True, p=2, margin=0.5),
    _case((2, 5000), "none", weight=True),
    _case((70, 20), "sum", p=2, margin=-0.5),
)


def multi_margin_spec(
    function: Callable[..., Any], backward: Callable[..., Any], kernels: tuple[Any, ...]
) -> KernelSpec:
    """The spec of multi_margin_loss; its weight is the third array."""

    def call(x: Any, t: Any, weight: Any = None, **options: Any) -> Any:
        return function(x, t, weight=weight, **options)

    def back(
        grads: Sequence[Any], arrays: Sequence[Any], _outputs: Any, options: Mapping[str, Any]
    ) -> Sequence[Any]:
        x, t, weight = (*arrays, None)[:3]
        return (backward(grads[0], x, t, weight=weight, **options),)

    def make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
        x = fill(rng, case.shapes[0], case.values)
        t = np.asarray(rng.integers(0, case.shapes[0][-1], case.shapes[1]), np.int64)
        return [x, t, *(fill(rng, own, "positive") for own in case.shapes[2:])]

    def torch(t: Any, x: Any, target: Any, weight: Any = None, **options: Any) -> Any:
        if not x.shape[0] and options["reduction"] == "sum":
            return x.sum()  # which PyTorch leaves uninitialized
        return t.nn.functional.multi_margin_loss(x, target, weight=weight, **options)

    return KernelSpec(
        name="multi_margin_loss",
        family="loss",
        function=function,
        call=call,
        backward=back,
        kernels=kernels,
        formula="w[t] / C sum over i != t of max(0, margin - x[t] + x[i])^p",
        source="PyTorch, torch.nn.functional.multi_margin_loss; Crammer, Singer 2001",
        reference=_margin_reference,
        magnitude=lambda *arrays, **options: _margin_reference(
            *arrays, **{**options, "size": True}
        ),
        backward_reference=_margin_slopes(size=False),
        backward_magnitude=_margin_slopes(size=True),
        make=make,
        torch_name="torch.nn.functional.multi_margin_loss",
        torch=torch,
        torch_error=1e-12,
        cases=_MARGIN_CASES,
        tolerance=Tolerance(8, "a difference, a square, tree sums"),
        backward_tolerance=Tolerance(8, "a difference, a product, tree sums"),
        cost=lambda case, itemsize: Cost(itemsize * prod(case.shapes[0]), 4 * prod(case.shapes[0])),
        benchmarks=(_case((65536, 1000), "mean"),),
    )


def _log_sigmoid(x: Any) -> Any:
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def _soft_reference(x: Any, t: Any, weight: Any = None, reduction: str = "mean") -> Any:
    losses = -(t * _log_sigmoid(x) + (1 - t) * _log_sigmoid(-x))
    if weight is not None:
        losses = losses * weight
    with np.errstate(all="ignore"):
        return total(
            losses.astype(np.longdouble).sum(axis=-1).astype(float) / x.shape[-1], reduction
        )


def _soft_size(x: Any, t: Any, weight: Any = None, reduction: str = "mean") -> Any:
    return _soft_reference(np.abs(x), np.zeros(x.shape), weight, reduction)


def _soft_slopes(size: bool) -> Callable[..., Sequence[Any]]:
    def slopes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        x, t = arrays[:2]
        w = arrays[2] if len(arrays) > 2 else 1.0
        grad = each_row(grads[0], np.zeros(x.shape[:-1]), options.get("reduction", "mean"))
        with np.errstate(all="ignore"):
            s = 1 / (1 + np.exp(-x))
            other = 1 / (1 + np.exp(x))
        if size:
            far = 1 + np.where(np.isfinite(x), np.abs(x), 0.0)
            return [np.abs(grad) * w * ((1 - t) * s + t * other) * far / x.shape[-1]]
        return [grad * w * ((1 - t) * s - t * other) / x.shape[-1]]

    return slopes


_SOFT_CASES = tuple(
    Case((shape, shape, *weight), {"reduction": how}, values)
    for shape, weight, how, values in (
        ((7,), (), "mean", "normal"),
        ((0, 5), (), "sum", "normal"),
        ((0, 5), (), "none", "normal"),
        ((1, 1), (), "mean", "normal"),
        ((5, 17), ((17,),), "none", "wide"),
        ((33, 64), (), "sum", "wide"),
        ((3, 1000), ((3, 1),), "mean", "normal"),
        ((600, 3), ((3,),), "mean", "normal"),
        ((4, 33), (), "none", "special"),
        ((9, 12), ((9, 12),), "none", "ties"),
        ((2, 5000), (), "none", "normal"),
        ((4, 5, 20), (), "mean", "shifted"),
    )
)


def soft_margin_spec(
    function: Callable[..., Any], backward: Callable[..., Any], kernels: tuple[Any, ...]
) -> KernelSpec:
    """The spec of multilabel_soft_margin_loss; its weight is the third array."""

    def make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
        x = fill(rng, case.shapes[0], case.values)
        t = np.asarray(rng.integers(0, 2, case.shapes[1]), np.float64)
        return [x, t, *(fill(rng, own, "positive") for own in case.shapes[2:])]

    return KernelSpec(
        name="multilabel_soft_margin_loss",
        family="loss",
        function=function,
        backward=lambda grads, arrays, _outputs, options: (backward(grads[0], *arrays, **options),),
        kernels=kernels,
        formula="-1 / C sum(w (t log s(x) + (1 - t) log s(-x)))",
        source="PyTorch, torch.nn.functional.multilabel_soft_margin_loss",
        reference=_soft_reference,
        magnitude=_soft_size,
        backward_reference=_soft_slopes(size=False),
        backward_magnitude=_soft_slopes(size=True),
        make=make,
        torch_name="torch.nn.functional.multilabel_soft_margin_loss",
        torch=lambda t, *tensors, **options: t.nn.functional.multilabel_soft_margin_loss(
            *tensors, **options
        ),
        torch_error=1e-13,
        cases=_SOFT_CASES,
        tolerance=Tolerance(8, "exp and log1p, tree sums"),
        backward_tolerance=Tolerance(8, "exponentials, products and quotients"),
        cost=lambda case, itemsize: Cost(
            2 * itemsize * prod(case.shapes[0]), 12 * prod(case.shapes[0])
        ),
        benchmarks=(Case(((65536, 1024), (65536, 1024))),),
    )
