"""Element-wise sum and mean of several arrays, and the choice between two.

    elementwise_sum = x_1 + ... + x_n      elementwise_mean = (x_1 + ... + x_n) / n
    where = x if condition else y

Arrays broadcast; gradients are summed back to the shapes of their inputs. Sums are in f32 (f64 for
f64) throughout and rounded once: two inputs of a sum for each launch. Kernels: broadcast.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.elementwise.binary_spec import LARGE, SHAPES, summed_to
from teeny_kernels.elementwise.broadcast import broadcasting, launch_broadcasting
from teeny_kernels.elementwise.operands import is_number, matching, summed
from teeny_kernels.elementwise.templates import FLOATS, INTEGERS
from teeny_kernels.layout import broadcast_shape, require_dtype
from teeny_kernels.numerics import R
from teeny_kernels.reduce.kernels import exact
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill
from teeny_macros import device
from teeny_triton import Tensor, f32, i1

A = TypeVar("A")


@device
def sum_of_two(x: Tensor[f32, R], y: Tensor[f32, R], count: f32) -> Tensor[f32, R]:
    return (x + y) / count


@device
def sum_of_three(
    x: Tensor[f32, R], y: Tensor[f32, R], z: Tensor[f32, R], count: f32
) -> Tensor[f32, R]:
    return (x + y + z) / count


@device
def one_share(grad: Tensor[f32, R], x: Tensor[f32, R], count: f32) -> Tensor[f32, R]:
    return grad / count


@device
def where_formula(x: Tensor[f32, R], condition: Tensor[i1, R], y: Any) -> Tensor[f32, R]:
    return tl.where(condition, x, y)


@device
def where_number_formula(x: Tensor[f32, R], condition: Tensor[i1, R], y: f32) -> Tensor[f32, R]:
    return tl.where(condition, x, y)


@device
def where_gradient_x(grad: Tensor[f32, R], condition: Tensor[i1, R]) -> Tensor[f32, R]:
    return tl.where(condition, grad, 0.0)


@device
def where_gradient_y(grad: Tensor[f32, R], condition: Tensor[i1, R]) -> Tensor[f32, R]:
    return tl.where(condition, 0.0, grad)


_NUMBERS = (*FLOATS, *INTEGERS, i1)
_two = broadcasting("elementwise_sum_of_two", sum_of_two, scalars=1)
_three = broadcasting("elementwise_sum_of_three", sum_of_three, inputs=3, scalars=1)
_share = broadcasting("elementwise_sum_backward", one_share, scalars=1)
_where = broadcasting("where_forward", where_formula, inputs=3, dtypes=_NUMBERS)
_where_number = broadcasting(
    "where_number_forward", where_number_formula, scalars=1, dtypes=_NUMBERS
)
_where_x = broadcasting("where_backward_x", where_gradient_x, dtypes=(*FLOATS, i1))
_where_y = broadcasting("where_backward_y", where_gradient_y, dtypes=(*FLOATS, i1))


def elementwise_sum(*arrays: A, out: A | None = None) -> A:
    """The sum of one array or more, of the shape that all broadcast to.

    Raises:
        KernelError: E1201-E1203, E1206 and E1207.
    """
    found: A = _total("elementwise_sum", arrays, 1, out)
    return found


def elementwise_sum_backward(grad: A, *arrays: A) -> tuple[A, ...]:
    """`grad` for each of `arrays`, summed to its shape; itself, no copy, where that is the same."""
    return _shares("elementwise_sum_backward", grad, arrays, 1)


def elementwise_mean(*arrays: A, out: A | None = None) -> A:
    """The mean of one array or more, of the shape that all broadcast to.

    Raises:
        KernelError: E1201-E1203, E1206 and E1207.
    """
    found: A = _total("elementwise_mean", arrays, len(arrays), out)
    return found


def elementwise_mean_backward(grad: A, *arrays: A) -> tuple[A, ...]:
    """`grad` / n for each of the n `arrays`, summed to its shape."""
    return _shares("elementwise_mean_backward", grad, arrays, len(arrays))


def _total(operation: str, arrays: Sequence[Any], count: int, out: Any) -> Any:
    if not arrays:
        raise E1202.error(operation=operation, what="no array was given").help("give at least one")
    given = [(f"arrays[{at}]", operand(f"arrays[{at}]", own)) for at, own in enumerate(arrays)]
    require_dtype(operation, *given[0], _two.dtypes)
    rest = matching(operation, given)
    first = rest[0]
    shape = broadcast_shape(operation, *(own.shape for own in rest))
    if len(rest) == 1:
        return launch_broadcasting(
            operation, _share, [first, first], shape, [1.0], out=out
        ).finish()
    while len(rest) > 3:
        rest = [
            launch_broadcasting(
                operation, _three, rest[:3], shape, [1.0], dtype=exact(first)
            ).operand,
            *rest[3:],
        ]
    kernel = _two if len(rest) == 2 else _three
    return launch_broadcasting(
        operation, kernel, rest, shape, [count], like=first, out=out
    ).finish()


def _shares(operation: str, grad: Any, arrays: Sequence[Any], count: int) -> tuple[Any, ...]:
    upstream = operand("grad", grad)
    inputs = [(f"arrays[{at}]", operand(f"arrays[{at}]", own)) for at, own in enumerate(arrays)]
    given = matching(operation, [("grad", upstream), *inputs])[1:]
    require_dtype(operation, "grad", upstream, _two.dtypes)
    shape = broadcast_shape(operation, *(own.shape for own in given))
    _same_shape(operation, upstream.shape, shape)
    pair = [upstream, upstream]
    return tuple(
        grad
        if count == 1 and own.shape == shape
        else summed(operation, _share, pair, shape, own, [count])
        for own in given
    )


def _same_shape(operation: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if found != wanted:
        what = f"`grad` is {found}, but the result is {wanted}"
        raise E1202.error(operation=operation, what=what).help("give one of its shape")


def where(condition: Any, x: A, y: A | float, *, out: A | None = None) -> A:
    """`x` where `condition`, an array of bool, is true, else `y`, an array or a number.

    Raises:
        KernelError: E1201-E1203, E1206 and E1207.
    """
    chosen, first = operand("condition", condition), operand("x", x)
    require_dtype("where", "condition", chosen, ("i1",))
    require_dtype("where", "x", first, _where.dtypes)
    same_place("where", [("x", first), ("condition", chosen)])
    arrays, kernel = [first, chosen], _where_number
    numbers: list[Any] = [y]
    if not is_number(y):
        arrays += matching("where", [("x", first), ("y", operand("y", y))])[1:]
        kernel, numbers = _where, []
    shape = broadcast_shape("where", *(own.shape for own in arrays))
    found: A = launch_broadcasting("where", kernel, arrays, shape, numbers, out=out).finish()
    return found


def where_backward(grad: A, condition: Any, x: A, y: A | float) -> tuple[A, A | None]:
    """The gradients by x and by y: `grad` where each was chosen, else 0; None for a number."""
    name = "where_backward"
    upstream, chosen, first = (
        operand("grad", grad),
        operand("condition", condition),
        operand("x", x),
    )
    require_dtype(name, "condition", chosen, ("i1",))
    require_dtype(name, "x", first, _two.dtypes)
    same_place(name, [("grad", upstream), ("condition", chosen)])
    others = [] if is_number(y) else [("y", operand("y", y))]
    given = matching(name, [("grad", upstream), ("x", first), *others])[1:]
    shape = broadcast_shape(name, chosen.shape, *(own.shape for own in given))
    _same_shape(name, upstream.shape, shape)
    arrays = [upstream, chosen]
    by_x = summed(name, _where_x, arrays, shape, given[0])
    return by_x, summed(name, _where_y, arrays, shape, given[1]) if others else None


def _several(
    function: Any, backward: Any, formula: str, reference: Any, torch: Any, name: str
) -> KernelSpec:
    def slopes(
        grads: Sequence[Any], arrays: Sequence[Any], _options: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        share = len(arrays) if function is elementwise_mean else 1
        return [summed_to(grads[0] / share, own) for own in arrays]

    def sizes(
        grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        return slopes([np.abs(grads[0])], arrays, options)

    return KernelSpec(
        name=function.__name__,
        family="elementwise",
        function=function,
        backward=lambda grads, arrays, _outputs, _options: backward(grads[0], *arrays),
        kernels=(_two, _three, _share),
        formula=formula,
        source=f"ONNX, {name}",
        reference=reference,
        backward_reference=slopes,
        backward_magnitude=sizes,
        differentiable=(0, 1, 2, 3, 4),
        magnitude=lambda *arrays: reference(*map(np.abs, arrays)),
        torch=torch,
        torch_name=f"torch.stack(...).{name.lower()}(0)",
        torch_error=1e-14,
        cases=(
            *(Case(shapes) for shapes in SHAPES),
            Case(((17,),)),
            Case(((7, 16),) * 3, {}, "special"),
            Case(((7, 16), (16,), (7, 1), (1, 1)), {}, "ties"),
            Case(((33,), (2, 33), (1,), (33,), (2, 1)), {}, "wide"),
        ),
        tolerance=Tolerance(5, "a rounding for each array, and a quotient"),
        backward_tolerance=Tolerance(4, "a quotient, and sums back"),
        cost=lambda case, itemsize: Cost(
            itemsize * (len(case.shapes) + 1) * int(np.prod(case.shapes[0])),
            len(case.shapes) * int(np.prod(case.shapes[0])),
        ),
        benchmarks=(LARGE,),
    )


def _sum_reference(*arrays: np.ndarray) -> np.ndarray:
    found = arrays[0]
    for own in arrays[1:]:
        found = found + own
    return found


def _torch_sum(_t: Any, *tensors: Any) -> Any:
    found = tensors[0] * 1.0
    for own in tensors[1:]:
        found = found + own
    return found


def _make_where(rng: np.random.Generator, case: Case) -> list[Any]:
    shapes = [case.shapes[0], *case.shapes]
    chosen, *rest = [fill(rng, shape, case.values) for shape in shapes[:1] + shapes[1:]]
    return [np.asarray(chosen) > 0, *rest]


def _where_call(function: Any, *arrays: Any, y: Any = None) -> Any:
    return function(*arrays) if y is None else function(*arrays, y)


def _where_slopes(
    grads: Sequence[Any], arrays: Sequence[Any], _options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    condition, *rest = arrays
    parts = [np.where(condition, grads[0], 0.0), np.where(condition, 0.0, grads[0])]
    return [summed_to(part, own) for part, own in zip(parts, rest, strict=False)]


SPECS = (
    _several(
        elementwise_sum,
        elementwise_sum_backward,
        "x_1 + ... + x_n",
        _sum_reference,
        _torch_sum,
        "Sum",
    ),
    _several(
        elementwise_mean,
        elementwise_mean_backward,
        "(x_1 + ... + x_n) / n",
        lambda *arrays: _sum_reference(*arrays) / len(arrays),
        lambda t, *tensors: _torch_sum(t, *tensors) / len(tensors),
        "Mean",
    ),
    KernelSpec(
        name="where",
        family="elementwise",
        function=where,
        backward=lambda grads, arrays, _outputs, options: _where_call(
            lambda *given: where_backward(grads[0], *given), *arrays, **options
        )[: len(arrays) - 1],
        kernels=(_where, _where_number, _where_x, _where_y),
        formula="x if condition else y",
        source="PyTorch, torch.where",
        reference=lambda *arrays, **options: _where_call(np.where, *arrays, **options),
        backward_reference=_where_slopes,
        backward_magnitude=lambda grads, *given: _where_slopes([np.abs(grads[0])], *given),
        differentiable=(1, 2),
        gradients=("x", "y"),
        torch=lambda t, *tensors, **options: _where_call(t.where, *tensors, **options),
        torch_name="torch.where",
        torch_error=1e-14,
        make=_make_where,
        cases=(
            *(Case(shapes) for shapes in SHAPES),
            Case(((7, 51), (51,)), {}, "ties"),
            Case(((7, 51), (51,)), {}, "special"),
            Case(((7, 51),), {"y": -2.5}, "wide"),
            Case(((7, 51), (7, 51)), {}, "integers"),
        ),
        call=lambda *arrays, **options: _where_call(where, *arrays, **options),
        tolerance=Tolerance(0, "a choice"),
        backward_tolerance=Tolerance(4, "sums back"),
        cost=lambda case, itemsize: Cost(
            (3 * itemsize + 1) * int(np.prod(case.shapes[0])), int(np.prod(case.shapes[0]))
        ),
        benchmarks=(LARGE,),
    ),
)
