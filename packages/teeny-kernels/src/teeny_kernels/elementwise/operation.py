"""`Pointwise`: one operation of one array, its two kernels, its calls and its `KernelSpec`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.arrays import ITEMSIZES, dtype_of
from teeny_kernels.elementwise.run import run
from teeny_kernels.elementwise.templates import (
    FLOATS,
    INTEGERS,
    NARROW,
    NARROW_NAMES,
    pointwise,
)
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_triton import i1

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SHAPES: tuple[tuple[int, ...], ...] = (
    (), (0,), (1,), (17,), (1000,), (1024,), (3, 0, 5), (33, 77), (2, 3, 4, 5), (1, 1, 4097),
)  # fmt: skip
LARGE = Case(((8192, 16384),))


def unary_cases(
    *options: Mapping[str, Any],
    values: Sequence[str] = (),
    within: str = "normal",
    fillings: Sequence[str] = ("special", "ties", "wide"),
) -> tuple[Case, ...]:
    """The cases of an operation of one array; each of `options` comes with a few of them.

    `within` fills most of them, for operations that are not defined everywhere.
    """
    cases = [Case((shape,), {}, within) for shape in SHAPES]
    cases += [Case(((257,),), {}, filling) for filling in (*fillings, *values)]
    cases += [Case(((3, 85),), own, filling) for own in options for filling in fillings]
    return tuple(cases)


class Pointwise:
    """An operation `name` of one array and up to two numbers; of `integers` too where it says so.

    `formula(x, *numbers)` is the result, `gradient(grad, x, *numbers)` its gradient by x, both
    device functions of tensors. `result` is the dtype of the result where it is not that of x.
    `heavy` formulas cost about as much as reading x. `narrow` is the formula for f16 and bf16,
    where a shorter one does.
    """

    def __init__(
        self,
        name: str,
        formula: Callable[..., Any],
        gradient: Callable[..., Any] | None,
        *,
        scalars: int = 0,
        integers: bool = False,
        result: str | None = None,
        heavy: bool = False,
        narrow: Callable[..., Any] | None = None,
    ) -> None:
        self.name = name
        self.heavy = heavy
        self.result = result
        taken = (*FLOATS, *INTEGERS) if integers else FLOATS
        # The dtypes of a kernel are those of its output too.
        taken = (*taken, i1) if result == "i1" else taken
        self.backward_kernel = None
        if gradient is not None:
            self.backward_kernel = pointwise(
                f"{name}_backward", gradient, inputs=2, scalars=scalars
            )
        self.forward_kernel = pointwise(
            f"{name}_forward",
            formula,
            scalars=scalars,
            dtypes=taken,
            backward=self.backward_kernel,
        )
        self.narrow_kernel = None
        if narrow is not None:
            self.narrow_kernel = pointwise(
                f"{name}_narrow_forward",
                narrow,
                scalars=scalars,
                dtypes=NARROW,
                backward=self.backward_kernel,
            )

    def __call__(self, x: Any, *numbers: float, out: Any = None) -> Any:
        """The result for `x`, an array of any shape; of the kind, shape and dtype of `x`."""
        chosen = self.forward_kernel
        if self.narrow_kernel is not None and dtype_of("x", x) in NARROW_NAMES:
            chosen = self.narrow_kernel
        return run(
            *(self.name, chosen, {"x": x}, numbers),
            out=out,
            dtype=self.result,
            heavy=self.heavy,
        )

    def backward(self, grad: Any, x: Any, *numbers: float, out: Any = None) -> Any:
        """The gradient by `x`, of its shape; `grad` is that of the result."""
        assert self.backward_kernel is not None
        arrays = {"grad": grad, "x": x}
        return run(f"{self.name}_backward", self.backward_kernel, arrays, numbers, out=out)

    def spec(
        self,
        function: Callable[..., Any],
        backward: Callable[..., Any] | None,
        *,
        formula: str,
        reference: Callable[..., Any],
        derivative: Callable[..., Any] | None = None,
        torch: Callable[..., Any] | None = None,
        torch_name: str = "",
        source: str = "",
        ulps: float = 4,
        reason: str = "a few correctly rounded steps",
        magnitude: Callable[..., Any] | None = None,
        cases: Sequence[Case] = (),
        flops: int = 4,
        family: str = "activation",
        torch_error: float = 0.0,
        slope_magnitude: Callable[..., Any] | None = None,
        benchmark: Mapping[str, Any] | None = None,
    ) -> KernelSpec:
        """The spec; `derivative(x, **options)` is that of `reference`, both in NumPy's f64.

        `magnitude` and `slope_magnitude` are the sizes of the terms of each, where they cancel.
        """
        kernels = [self.forward_kernel]
        if self.narrow_kernel is not None:
            kernels.append(self.narrow_kernel)
        if self.backward_kernel is not None:
            kernels.append(self.backward_kernel)
        gradients = reference_of = size_of = None
        if backward is not None:
            gradients = _gradients(backward)
        if derivative is not None:
            reference_of = _reference(derivative)
            size_of = _magnitude(slope_magnitude or derivative)
        return KernelSpec(
            name=function.__name__,
            family=family,
            function=function,
            backward=gradients,
            kernels=tuple(kernels),
            formula=formula,
            source=source or f"PyTorch, {torch_name}",
            reference=reference,
            backward_reference=reference_of,
            torch=torch,
            torch_name=torch_name,
            cases=tuple(cases) or unary_cases(),
            tolerance=Tolerance(ulps, reason),
            backward_tolerance=Tolerance(2 * ulps + 2, f"the same, and the product: {reason}"),
            magnitude=magnitude,
            backward_magnitude=size_of,
            cost=lambda case, itemsize: Cost(
                2 * itemsize * int(np.prod(case.shapes[0])), flops * int(np.prod(case.shapes[0]))
            ),
            benchmarks=(LARGE._replace(options=dict(benchmark or {})),),
            torch_error=torch_error,
        )


def _gradients(backward: Callable[..., Any]) -> Callable[..., Sequence[Any]]:
    def gradients(
        grads: Sequence[Any], arrays: Sequence[Any], _outputs: Any, options: Mapping[str, Any]
    ) -> Sequence[Any]:
        return (backward(grads[0], arrays[0], **options),)

    return gradients


def _reference(derivative: Callable[..., Any]) -> Callable[..., Sequence[Any]]:
    def reference(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
    ) -> Sequence[Any]:
        slope = derivative(arrays[0], **options)
        # A slope of exactly 0 stops the gradient, whatever it is.
        return (np.where(slope == 0, 0.0, grads[0] * slope),)

    return reference


def _magnitude(derivative: Callable[..., Any]) -> Callable[..., Sequence[Any]]:
    def magnitude(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], _rounding: float
    ) -> Sequence[Any]:
        with np.errstate(all="ignore"):
            slope = np.abs(derivative(arrays[0], **options))
        return (np.abs(grads[0]) * np.maximum(slope, 1.0),)

    return magnitude


__all__ = ["ITEMSIZES", "Pointwise", "unary_cases"]
