"""What the `KernelSpec`s of reductions share: cases, sums in NumPy, and their assembly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from teeny_kernels.reduce.kernels import Reduction
from teeny_kernels.reduce.run import normal_axes
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance

REDUCING = (
    Case(((),)),
    Case(((1,),)),
    Case(((33, 15),), {"axis": 1}),
    Case(((33, 15),), {"axis": 0}, "wide"),
    Case(((0, 5),), {"axis": 1}),
    Case(((2, 3, 4, 5),), {"axis": (1, 3)}),
    Case(((2, 3, 4, 5),), {"axis": (0, 2), "keepdims": True}),
    Case(((3, 1000),), {"axis": -1}, "ties"),
    Case(((6, 1024),), {"axis": -1}, "shifted"),
    Case(((9, 1000),), {"axis": 1}, "special"),
    Case(((7, 5, 3),), {"axis": 1}, "special"),
    Case(((50001,),), {"keepdims": True}),
    Case(((20001, 3),), {"axis": 0}, "wide"),
)
OF_NOTHING = (
    Case(((5, 0),), {"axis": 1}, "special"),
    Case(((4, 0, 3),), {"axis": -2}, "special"),
)
TIMED = (
    *(Case(((32768, n),), {"axis": 1}) for n in (1000, 1024, 4096, 8192, 16384)),
    Case(((32768, 4096),), {"axis": 0}),
    Case(((32768, 4096),)),
)


def total(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum, added up in more than f64 and rounded."""
    with np.errstate(all="ignore"):
        own = np.asarray(x).astype(np.longdouble)
        return np.asarray(own.sum(axis=axis, keepdims=keepdims)).astype(np.float64)


def spread(small: Any, x: Any, options: Mapping[str, Any]) -> Any:
    """An array of the shape of the result, repeated to the shape of `x`."""
    axes = normal_axes("reference", options.get("axis"), x.ndim)
    kept = tuple(1 if at in axes else side for at, side in enumerate(x.shape))
    return np.broadcast_to(np.asarray(small).reshape(kept), x.shape)


def count_of(x: Any, options: Mapping[str, Any]) -> int:
    """How many elements each result is made of."""
    return prod(x.shape[at] for at in normal_axes("reference", options.get("axis"), x.ndim))


def reduction_spec(
    function: Callable[..., Any],
    backward: Callable[..., Any],
    kernels: Sequence[Any],
    *,
    formula: str,
    reference: Callable[..., Any],
    gradient: Callable[..., Any],
    torch: Callable[..., Any] | None,
    torch_name: str,
    source: str = "",
    magnitude: Callable[..., Any] | None = None,
    gradient_magnitude: Callable[..., Any] | None = None,
    cases: Sequence[Case] = (*REDUCING, *OF_NOTHING),
    ulps: float = 8,
    reason: str = "sums of tiles of one another, then of a tree",
    gradient_ulps: float = 4,
    takes_result: bool = False,
    torch_error: float = 0.0,
    family: str = "reduction",
    flops: int = 1,
) -> KernelSpec:
    """The spec of a reduction.

    `gradient(grad, x, y, options)` and `gradient_magnitude(..., rounding)` are of the shape of x;
    there `grad` and `y`, the result, are repeated to it already. `takes_result`: whether the
    backward function wants the result.
    """

    def gradients(
        grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
    ) -> Sequence[Any]:
        given = (grads[0], arrays[0], outputs[0]) if takes_result else (grads[0], arrays[0])
        return (backward(*given, **options),)

    def repeated(grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]) -> Any:
        x = np.asarray(arrays[0])
        y = np.asarray(reference(x, **options))
        return spread(grads[0], x, options), x, spread(y, x, options)

    def slopes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
    ) -> Sequence[Any]:
        with np.errstate(all="ignore"):
            return (gradient(*repeated(grads, arrays, options), options),)

    def sizes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
    ) -> Sequence[Any]:
        assert gradient_magnitude is not None
        with np.errstate(all="ignore"):
            return (gradient_magnitude(*repeated(grads, arrays, options), options, rounding),)

    return KernelSpec(
        name=function.__name__,
        family=family,
        function=function,
        backward=gradients,
        kernels=tuple(
            own
            for given in kernels
            for own in ((given.rows, given.columns) if isinstance(given, Reduction) else (given,))
        ),
        formula=formula,
        source=source or "ONNX, " + "".join(p.title() for p in function.__name__.split("_")),
        reference=reference,
        backward_reference=slopes,
        backward_magnitude=sizes if gradient_magnitude else None,
        torch=torch,
        torch_name=torch_name,
        cases=tuple(cases),
        tolerance=Tolerance(ulps, reason),
        backward_tolerance=Tolerance(gradient_ulps, "a few correctly rounded steps"),
        magnitude=magnitude,
        cost=lambda case, itemsize: Cost(
            itemsize * prod(case.shapes[0]), flops * prod(case.shapes[0])
        ),
        benchmarks=TIMED,
        torch_error=torch_error,
    )


def dims(x: Any, axis: Any) -> Any:
    """`axis` as PyTorch takes it."""
    return tuple(range(x.ndim)) if axis is None else axis
