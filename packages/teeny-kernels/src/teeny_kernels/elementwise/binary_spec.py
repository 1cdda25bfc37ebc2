"""What the `KernelSpec`s of operations of two operands share: cases, sums back, assembly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill

if TYPE_CHECKING:
    from teeny_kernels.elementwise.operands import Binary

SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()),
    ((1,), (1,)),
    ((0,), (1,)),
    ((1000,), (1000,)),
    ((1024,), (1,)),
    ((33, 16), (16,)),
    ((33, 1), (1, 15)),
    ((2, 3, 4, 5), (3, 1, 5)),
    ((2, 1, 4, 1, 3), (1, 5, 1, 2, 1)),
    ((5,), (4, 0, 5)),
)
LARGE = Case(((8192, 16384), (8192, 16384)))


def _cases(options: Sequence[Mapping[str, Any]], integers: bool) -> tuple[Case, ...]:
    cases = [Case(shapes) for shapes in SHAPES]
    cases += [Case(((7, 51), (51,)), {}, filling) for filling in ("ties", "special")]
    cases += [Case(((257,),), {"y": 1.5}), Case(((3, 85),), {"y": -1}, "ties")]
    cases += [Case(((3, 85), (3, 85)), given) for given in options]
    cases += [Case(((255,),), {"y": 0.75, **given}) for given in options]
    if integers:
        cases += [
            Case(((7, 51), (7, 51)), {}, "integers"),
            Case(((17,),), {"y": 3}, "integers"),
        ]
    return tuple(cases)


def _make(values: tuple[str, str], special: str) -> Callable[..., list[Any]]:
    def make(rng: np.random.Generator, case: Case) -> list[Any]:
        fillings = {"normal": values, "special": ("special", special)}.get(
            case.values, (case.values,) * 2
        )
        return [fill(rng, *both) for both in zip(case.shapes, fillings, strict=False)]

    return make


def binary_spec(
    own: Binary,
    function: Callable[..., Any],
    backward: Callable[..., Any] | None = None,
    *,
    formula: str,
    reference: Callable[..., Any],
    gradients: Sequence[Callable[..., Any]] = (),
    torch: Callable[..., Any],
    torch_name: str,
    ulps: float = 0,
    reason: str = "comparisons",
    magnitude: Callable[..., Any] | None = None,
    gradient_magnitude: Sequence[Callable[..., Any]] = (),
    values: tuple[str, str] = ("normal", "normal"),
    special: str = "special",
    options: Sequence[Mapping[str, Any]] = (),
    integers: bool = False,
) -> KernelSpec:
    """The spec; `gradients`, of (grad, x, y, **options), are those by x and by y before any sum.

    `values` fill the two arrays, `special` the second where the first has special values: it is
    something else where a finite result of theirs overflows in f32 and not in f64. Cases of a
    number for y have one shape.
    """
    cases = _cases(options, integers)

    def given(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
    ) -> tuple[Any, Any, Any, dict[str, Any]]:
        rest = dict(options)
        y = arrays[1] if len(arrays) > 1 else rest.pop("y")
        return grads[0], arrays[0], y, rest

    def back(
        grads: Sequence[Any], arrays: Sequence[Any], _outputs: Any, options: Mapping[str, Any]
    ) -> Sequence[Any]:
        assert backward is not None
        grad, x, y, rest = given(grads, arrays, options)
        return backward(grad, x, y, **rest)[: len(arrays)]

    def slopes(formulas: Sequence[Callable[..., Any]]) -> Callable[..., Sequence[Any]]:
        def of(
            grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
        ) -> Sequence[Any]:
            grad, x, y, rest = given(grads, arrays, options)
            with np.errstate(all="ignore"):
                found = [one(grad, x, y, **rest) for one in formulas[: len(arrays)]]
            return [summed_to(*both) for both in zip(found, arrays, strict=True)]

        return of

    sizes = gradient_magnitude or [_absolute(one) for one in gradients]
    return KernelSpec(
        name=function.__name__,
        family="elementwise",
        function=function,
        backward=back if backward else None,
        kernels=tuple(own.kernels),
        formula=formula,
        source=f"PyTorch, {torch_name}",
        reference=reference,
        backward_reference=slopes(gradients) if backward else None,
        backward_magnitude=slopes(sizes) if backward else None,
        torch=torch,
        torch_name=torch_name,
        torch_error=1e-14,
        cases=cases,
        make=_make(values, special),
        differentiable=(0, 1),
        tolerance=Tolerance(ulps, reason),
        backward_tolerance=Tolerance(2 * ulps + 4, "the same, a product, and sums back"),
        magnitude=magnitude,
        cost=lambda case, itemsize: Cost(
            3 * itemsize * int(np.prod(case.shapes[0])), int(np.prod(case.shapes[0]))
        ),
        benchmarks=(LARGE,),
    )


def _absolute(formula: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given, **options: np.abs(formula(*given, **options))


def summed_to(gradient: Any, like: Any) -> Any:
    """The sum over the axes along which `like` was repeated."""
    gradient = np.asarray(gradient, np.float64)
    missing = gradient.ndim - np.ndim(like)
    sides = (1,) * missing + np.shape(like)
    axes = tuple(at for at, side in enumerate(sides) if side == 1 and gradient.shape[at] != 1)
    with np.errstate(all="ignore"):
        total = gradient.astype(np.longdouble).sum(axis=axes, keepdims=True)
    return np.broadcast_to(total.astype(np.float64), sides).reshape(np.shape(like))
