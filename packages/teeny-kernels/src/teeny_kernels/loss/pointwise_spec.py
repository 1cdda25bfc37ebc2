"""Specs of losses of every element, from a formula and its slopes in NumPy's f64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.loss.reduction import divided_sum
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill, tupled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from teeny_kernels.loss.template import PointwiseLoss

_SHAPES: tuple[tuple[tuple[int, ...], str], ...] = (
    ((), "none"), ((0,), "sum"), ((1,), "mean"), ((17,), "none"), ((1000,), "mean"),
    ((3, 0, 5), "none"), ((33, 77), "sum"), ((2, 3, 4, 5), "mean"), ((20011,), "sum"),
    ((4, 1025), "none"),
)  # fmt: skip


def _cases(arrays: int, options: Sequence[Mapping[str, Any]], special: bool) -> tuple[Case, ...]:
    cases = [Case((shape,) * arrays, {"reduction": how}) for shape, how in _SHAPES]
    cases += [Case(((3, 85),) * arrays, {"reduction": "none", **own}) for own in options]
    cases += [Case(((257,),) * arrays, {"reduction": "mean", **own}) for own in options]
    cases += [Case(((9,),) * max(2, arrays - gone)) for gone in range(3 if arrays == 4 else 2)]
    cases += [Case(((5, 7),) * arrays, {}, "ties"), Case(((5, 7),) * arrays, {}, "wide")]
    if special:
        cases.append(Case(((257,),) * arrays, {"reduction": "none"}, "special"))
    seen: dict[str, Case] = {repr(case): case for case in cases}
    return tuple(seen.values())


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    total = np.asarray(losses, np.longdouble).sum()
    if reduction == "batchmean":
        return np.float64(total / losses.shape[0])
    return np.float64(total / losses.size if reduction == "mean" else total)


def _total(of: Callable[..., Any]) -> Callable[..., Any]:
    def found(*arrays: Any, reduction: str = "mean", **own: Any) -> Any:
        return _reduced(of(*arrays, **own), reduction)

    return found


def _scaled(of: Sequence[Callable[..., Any]], of_size: bool) -> Callable[..., Any]:
    def found(grads: Any, arrays: Any, given: Mapping[str, Any], *_: Any) -> Sequence[Any]:
        own = dict(given)
        reduction, grad, x = own.pop("reduction", "mean"), grads[0], arrays[0]
        if reduction in {"mean", "batchmean"} and x.size:
            grad = grad / (x.size if reduction == "mean" else x.shape[0])
        slopes = [slope(*arrays, **own) * grad for slope in of]
        return [np.abs(slope) for slope in slopes] if of_size else slopes

    return found


def _theirs(name: str) -> Callable[..., Any]:
    def theirs(module: Any, *tensors: Any, **given: Any) -> Any:
        return getattr(module.nn.functional, name)(*tensors, **given)

    return theirs


def _cost(case: Case, itemsize: int) -> Cost:
    count = int(np.prod(case.shapes[0]))
    return Cost(len(case.shapes) * itemsize * count, 6 * count)


def pointwise_spec(
    loss: PointwiseLoss,
    function: Callable[..., Any],
    backward: Callable[..., Any],
    *,
    formula: str,
    reference: Callable[..., Any],
    slopes: Sequence[Callable[..., Any]],
    reason: str,
    fillings: Sequence[str] = ("normal", "normal"),
    differentiable: tuple[int, ...] = (0,),
    options: Sequence[Mapping[str, Any]] = (),
    size: Callable[..., Any] | None = None,
    slope_size: Callable[..., Any] | None = None,
    special: bool = True,
    optional: bool = False,
    torch: Callable[..., Any] | None = None,
    call: Callable[..., Any] | None = None,
    kernels: Sequence[Any] = (),
    ulps: float = 4,
) -> KernelSpec:
    """The spec; `reference` and `slopes` take the arrays and the options but the reduction.

    `size` and `slope_size` are the sizes of the terms of each, where they cancel; `optional` is
    whether arrays after the second may be left out.
    """
    name = function.__name__

    def gradients(grads: Any, arrays: Any, _outputs: Any, given: Mapping[str, Any]) -> Any:
        return tupled(backward(grads[0], *arrays, **given))

    def make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
        own = [*fillings[: len(case.shapes)]]
        if case.values != "normal" and own[0] == "normal":
            own[0] = case.values
        return [fill(rng, shape, values) for shape, values in zip(case.shapes, own, strict=True)]

    every = _cases(len(fillings), options, special and fillings[0] == "normal")
    if not optional:
        every = tuple(case for case in every if len(case.shapes) == len(fillings))

    def absolute(*arrays: Any, **own: Any) -> Any:
        return np.abs(reference(*arrays, **own))

    return KernelSpec(
        name=name,
        family="loss",
        function=function,
        call=call,
        backward=gradients,
        differentiable=differentiable,
        kernels=(loss.forward_kernel, *loss.backward_kernels, *kernels, divided_sum),
        formula=formula,
        source=f"PyTorch, torch.nn.functional.{name}",
        reference=_total(reference),
        backward_reference=_scaled(slopes, of_size=False),
        backward_magnitude=_scaled(
            [slope_size] * len(slopes) if slope_size else slopes, of_size=True
        ),
        magnitude=_total(size or absolute),
        make=make,
        torch_name=f"torch.nn.functional.{name}",
        torch=torch or _theirs(name),
        torch_error=1e-13,
        cases=every,
        tolerance=Tolerance(ulps, reason),
        backward_tolerance=Tolerance(2 * ulps + 2, f"the same, a product and a quotient: {reason}"),
        cost=_cost,
        benchmarks=(Case(((8192, 16384),) * len(fillings)),),
    )
