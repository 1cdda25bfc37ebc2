"""Specs of the losses of distances, from their formulas in NumPy's f64."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def total(losses: Any, reduction: str) -> Any:
    """A loss of each row, reduced."""
    if reduction == "none":
        return losses
    added = np.asarray(losses, np.longdouble).sum()
    return np.float64(added / losses.size if reduction == "mean" else added)


def each_row(grad: Any, losses: Any, reduction: str) -> Any:
    """The gradient of the loss of each row, with a last axis of 1."""
    share = grad / losses.size if reduction == "mean" and losses.size else grad
    return np.broadcast_to(share, losses.shape)[..., None]


def _sum(x: Any) -> Any:
    return x.astype(np.longdouble).sum(axis=-1).astype(np.float64)


def _cosine(x1: Any, x2: Any) -> tuple[Any, Any, Any]:
    first, second = _sum(x1 * x1) + 1e-12, _sum(x2 * x2) + 1e-12
    return _sum(x1 * x2) / np.sqrt(first * second), first, second


def _cosine_reference(
    x1: Any, x2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    cosine = _cosine(x1, x2)[0]
    losses = np.where(target == 1, 1 - cosine, 0.0)
    losses = losses + np.where(target == -1, np.maximum(cosine - margin, 0.0), 0.0)
    return total(losses, reduction)


def _cosine_size(
    x1: Any, x2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    return total(np.full(target.shape, 2 + abs(margin)), reduction)


def _cosine_slopes(size: bool) -> Callable[..., Sequence[Any]]:
    def slopes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        x1, x2, target = arrays
        margin, reduction = options.get("margin", 0.0), options.get("reduction", "mean")
        cosine, first, second = _cosine(x1, x2)
        slope = np.where(target == 1, -1.0, np.where(target == -1, cosine >= margin, 0.0))
        grad = each_row(grads[0], cosine, reduction) * slope[..., None]
        length = np.sqrt(first * second)[..., None]
        if size:
            grad, cosine, x1, x2 = np.abs(grad), np.abs(cosine) - 1, np.abs(x1), np.abs(x2)
        turn = cosine[..., None]
        by_x1 = grad * (x2 / length - turn * x1 / first[..., None])
        by_x2 = grad * (x1 / length - turn * x2 / second[..., None])
        if size:  # the cosine is wrong by some roundings of 1
            by_x1 = by_x1 + 2 * grad * (x2 / length + x1 / first[..., None])
            by_x2 = by_x2 + 2 * grad * (x1 / length + x2 / second[..., None])
        return [by_x1, by_x2]

    return slopes


def _row_cases(count: int, last: bool, *options: Mapping[str, Any]) -> tuple[Case, ...]:
    shapes: tuple[tuple[tuple[int, ...], str, str], ...] = (
        ((7,), "mean", "normal"), ((0, 5), "sum", "normal"), ((0, 5), "none", "normal"),
        ((1, 1), "mean", "normal"), ((5, 17), "none", "normal"), ((33, 64), "sum", "wide"),
        ((3, 1000), "mean", "normal"), ((600, 3), "mean", "normal"), ((4, 33), "none", "special"),
        ((9, 12), "none", "ties"), ((2, 5000), "none", "normal"), ((70, 20), "mean", "shifted"),
    )  # fmt: skip
    cases = [
        Case((shape,) * count + ((shape[:-1],) if last else ()), {"reduction": how}, values)
        for shape, how, values in shapes
    ]
    for own in options:
        for shape, how in (((12, 9), "none"), ((40, 31), "mean")):
            arrays = (shape,) * count + ((shape[:-1],) if last else ())
            cases.append(Case(arrays, {"reduction": how, **own}))
    return tuple(cases)


def _cost(count: int) -> Callable[[Case, int], Cost]:
    def cost(case: Case, itemsize: int) -> Cost:
        return Cost(count * itemsize * prod(case.shapes[0]), 8 * prod(case.shapes[0]))

    return cost


def cosine_spec(
    function: Callable[..., Any], backward: Callable[..., Any], kernels: tuple[Any, ...]
) -> KernelSpec:
    """The spec of cosine_embedding_loss."""

    def make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
        fillings = (case.values, case.values, "sign")
        return [fill(rng, *both) for both in zip(case.shapes, fillings, strict=True)]

    return KernelSpec(
        name="cosine_embedding_loss",
        family="loss",
        function=function,
        backward=lambda grads, arrays, _outputs, options: backward(grads[0], *arrays, **options),
        differentiable=(0, 1),
        kernels=kernels,
        formula="1 - cos where y = 1, max(0, cos - margin) where y = -1",
        source="PyTorch, torch.nn.functional.cosine_embedding_loss",
        reference=_cosine_reference,
        magnitude=_cosine_size,
        backward_reference=_cosine_slopes(size=False),
        backward_magnitude=_cosine_slopes(size=True),
        make=make,
        torch_name="torch.nn.functional.cosine_embedding_loss",
        torch=lambda t, *tensors, **options: t.nn.functional.cosine_embedding_loss(
            *tensors, **options
        ),
        torch_error=1e-13,
        cases=_row_cases(2, True, {"margin": 0.5}, {"margin": -0.25}),
        tolerance=Tolerance(8, "tree sums of products, a root and a quotient"),
        backward_tolerance=Tolerance(16, "the same, twice"),
        cost=_cost(2),
        benchmarks=(Case(((65536, 1024), (65536, 1024), (65536,))),),
    )


def _norm(z: Any, p: float) -> Any:
    return _sum(np.abs(z) ** p) ** (1 / p)


def _direction(z: Any, p: float) -> Any:
    length = _norm(z, p)[..., None]
    with np.errstate(all="ignore"):
        own = np.sign(z) * (np.abs(z) / length) ** (p - 1) if p != 1 else np.sign(z)
    return np.where((z == 0) | (length == 0), 0.0, own)


def _triplet(
    arrays: Sequence[Any], margin: float, p: float, eps: float, swap: bool
) -> tuple[Any, Any, Any]:
    a, positive, n = arrays
    near, far = _norm(a - positive + eps, p), _norm(a - n + eps, p)
    own = np.ones(far.shape)
    if swap:
        other = _norm(positive - n + eps, p)
        own = np.where(far < other, 1.0, np.where(far == other, 0.5, 0.0))
        far = np.minimum(far, other)
    return margin + near - far, own, near + far


def _triplet_reference(
    *arrays: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    return total(np.maximum(_triplet(arrays, margin, p, eps, swap)[0], 0.0), reduction)


def _triplet_size(
    *arrays: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    turned = [np.abs(arrays[0]), -np.abs(arrays[1]), -np.abs(arrays[2])]
    sizes = abs(margin) + _triplet(turned, margin, p, eps, False)[2]
    return total(sizes, reduction)


def _triplet_slopes(size: bool) -> Callable[..., Sequence[Any]]:
    def slopes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        given = dict(options)
        reduction = given.pop("reduction", "mean")
        margin, p, eps = given.get("margin", 1.0), given.get("p", 2.0), given.get("eps", 1e-6)
        swap = given.get("swap", False)
        losses, own, _ = _triplet(arrays, margin, p, eps, swap)
        a, positive, n = arrays
        grad = np.where((losses >= 0)[..., None], each_row(grads[0], losses, reduction), 0.0)
        grad, own = np.abs(grad) if size else grad, own[..., None]
        to_near = grad * _direction(a - positive + eps, p)
        to_far = grad * own * _direction(a - n + eps, p)
        between = grad * (1 - own) * _direction(positive - n + eps, p) if swap else 0.0
        if not size:
            return [to_near - to_far, -to_near - between, to_far + between]
        # A difference of elements is known to some roundings of these.
        far_off = grad * (1 + sum(np.abs(own) for own in arrays)) + 0 * to_near
        return [far_off + np.abs(to_near)] * 3

    return slopes


def triplet_spec(
    function: Callable[..., Any], backward: Callable[..., Any], kernels: tuple[Any, ...]
) -> KernelSpec:
    """The spec of triplet_margin_loss."""
    return KernelSpec(
        name="triplet_margin_loss",
        family="loss",
        function=function,
        backward=lambda grads, arrays, _outputs, options: backward(grads[0], *arrays, **options),
        differentiable=(0, 1, 2),
        kernels=kernels,
        formula="max(0, margin + |a - p + eps| - |a - n + eps|)",
        source="PyTorch, torch.nn.functional.triplet_margin_loss; Balntas et al. 2016",
        reference=_triplet_reference,
        magnitude=_triplet_size,
        backward_reference=_triplet_slopes(size=False),
        backward_magnitude=_triplet_slopes(size=True),
        torch_name="torch.nn.functional.triplet_margin_loss",
        torch=lambda t, *tensors, **options: t.nn.functional.triplet_margin_loss(
            *tensors, **options
        ),
        torch_error=1e-13,
        cases=_row_cases(3, False, {"p": 1.0}, {"p": 3.0, "margin": 0.5}, {"swap": True}),
        tolerance=Tolerance(16, "tree sums of powers of differences, a root"),
        backward_tolerance=Tolerance(16, "the same, and quotients"),
        cost=_cost(3),
        benchmarks=(Case(((65536, 1024),) * 3),),
    )
