"""Whether any element, or every one, is not 0, over any axes.

    any = x[0] != 0 or x[1] != 0 or ...      all = x[0] != 0 and x[1] != 0 and ...

Kernels in kernels.py. A NaN is not 0. Of nothing, `any` is false and `all` true. The result is of
bools; there is no gradient.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import operand
from teeny_kernels.layout import Output, require_dtype
from teeny_kernels.numerics import R
from teeny_kernels.reduce.kernels import INTEGERS, Reduction, reduce_into, reduction
from teeny_kernels.reduce.operation import OF_NOTHING, REDUCING, TIMED, dims
from teeny_kernels.reduce.run import Axes, normal_axes, reduced_shape
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_macros import device
from teeny_triton import Tensor, f32

if TYPE_CHECKING:
    from collections.abc import Callable

A = TypeVar("A")


@device
def is_not_zero(x: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.where(x != 0, 1, 0).to(x.dtype)


@device
def larger(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.maximum(x, y)


@device
def smaller(x: Tensor[f32, R], y: Tensor[f32, R]) -> Tensor[f32, R]:
    return tl.minimum(x, y)


ANY = reduction("any", larger, 0.0, each=is_not_zero, whole=0)
ALL = reduction("all", smaller, 1.0, each=is_not_zero, whole=1)


def any(  # noqa: A001
    x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """Whether an element over `axis`, one, several or (None) all, is not 0, as bools.

    Raises:
        KernelError: E1201, E1203-E1205 and E1207.
    """
    return _forward("any", ANY, x, axis, keepdims, out)


def all(  # noqa: A001
    x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None
) -> A:
    """Whether no element over `axis`, one, several or (None) all, is 0, as bools.

    Raises:
        KernelError: E1201, E1203-E1205 and E1207.
    """
    return _forward("all", ALL, x, axis, keepdims, out)


def _forward(
    operation: str, chosen: Reduction, x: Any, axis: Axes, keepdims: bool, out: Any
) -> Any:
    source = operand("x", x)
    require_dtype(operation, "x", source, (*FLOATS, *INTEGERS))
    axes = normal_axes(operation, axis, source.ndim)
    shape = reduced_shape(source.shape, axes, keepdims)
    result = Output(operation, source, shape, dtype="i1", out=out)
    reduce_into(operation, chosen, result.operand, source, axes)
    return result.finish()


def _spec(
    function: Callable[..., Any], kernels: Reduction, formula: str, reference: Callable[..., Any]
) -> KernelSpec:
    name = function.__name__

    def torch(t: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if axis == () or not x.ndim:
            return x != 0
        return getattr(t, name)(x, dims(x, axis), keepdim=keepdims)

    return KernelSpec(
        name=name,
        family="reduction",
        function=function,
        kernels=(kernels.rows, kernels.columns),
        formula=formula,
        source=f"PyTorch, torch.{name}",
        reference=reference,
        torch_name=f"torch.{name}",
        torch=torch,
        cases=(
            *(case for case in (*REDUCING, *OF_NOTHING) if case.values != "shifted"),
            Case(((33, 15),), {"axis": 1}, "integers"),
            Case(((300, 3),), {"axis": 1}, "ties"),
        ),
        tolerance=Tolerance(0, "comparisons"),
        cost=lambda case, itemsize: Cost(itemsize * prod(case.shapes[0]), prod(case.shapes[0])),
        benchmarks=TIMED,
    )


SPECS = (
    _spec(any, ANY, "x[0] != 0 or x[1] != 0 or ...", lambda x, **given: np.any(x != 0, **given)),
    _spec(all, ALL, "x[0] != 0 and x[1] != 0 and ...", lambda x, **given: np.all(x != 0, **given)),
)
