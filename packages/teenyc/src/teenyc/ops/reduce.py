"""Reductions over one axis, or over all elements, of one tensor or of several in step.

`sum`, `max`, `argmax`, ... are written in the language itself over `reduce`. The order in which the
interpreter combines is that of `regions.reduce_in_order`; a GPU chooses its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from teenyc.codes import E0210, E0403, E0413
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops.broadcasting import expand, spell
from teenyc.ops.control import REDUCE_RETURN
from teenyc.ops.families import Array, Environment, with_shape
from teenyc.ops.layout import reshape, wrap_axis
from teenyc.ops.literals import numeric
from teenyc.ops.regions import (
    combiner,
    format_region,
    reduce_in_order,
    require_function,
    run_elementwise,
    verify_combiner,
)
from teenyc.types import DType, IRType, shape_of
from teenyc.values import RuntimeValue, describe

# --- the record -----------------------------------------------------------------------------------


def _reduced_types(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    axis = attrs["axis"]
    shape = shape_of(operands[0].type)
    return tuple(with_shape(x.type, shape[:axis] + shape[axis + 1 :]) for x in operands)


def _format_reduce(op: Operation, names: Names) -> str:
    return format_region(op, names, f"axis = {op.attrs['axis']} : i32")


def _verify_reduce(op: Operation) -> str | None:
    shapes = {shape_of(value.type) for value in op.operands}
    if len(shapes) != 1:
        return f"reduces tensors of the shapes {sorted(shapes)}"
    if not 0 <= op.attrs["axis"] < len(next(iter(shapes))):
        return f"has no axis {op.attrs['axis']} in {op.operands[0].type}"
    found = tuple(value.type for value in op.results)
    if found != _reduced_types(op.operands, op.attrs):
        return f"turns {op.operands[0].type} into {', '.join(map(str, found))}"
    return verify_combiner(op, REDUCE_RETURN)


def _ref_reduce(
    np: Any, op: Operation, operands: Sequence[Array], env: Environment
) -> tuple[Array, ...]:
    return reduce_in_order(
        np,
        op,
        operands,
        lambda left, right: run_elementwise(np, env, op.regions[0], (*left, *right)),
    )


REDUCE = register(
    OpDef(
        "tt.reduce",
        _reduced_types,
        _format_reduce,
        attrs=("axis",),
        verify=_verify_reduce,
        ref=_ref_reduce,
        dsl=("reduce", "sum", "max", "min"),
        labelled=(0,),
        isolated=True,
    )
)

# --- the handler ----------------------------------------------------------------------------------


def require_tensors(b: Builder, x: object, op: str) -> tuple[list[RuntimeValue], list[DType]]:
    """One tensor, or several of one shape, with their dtypes."""
    items = x if isinstance(x, tuple) and x else (x,)
    found = [numeric(b, item, op, "input") for item in items]
    first = found[0][0]
    for value, _ in found:
        if not value.shape:
            raise b.fail(E0413, arg="input", op=op, what="a tensor", type=value.describe()).help(
                "a scalar is its own sum, maximum and minimum"
            )
        if value.shape != first.shape:
            raise b.fail(
                E0403, arg="input", left=spell(first.shape), right=spell(value.shape)
            ).help("give all tensors one shape: `tl.broadcast_to(x, shape)`")
    return [value for value, _ in found], [dtype for _, dtype in found]


def refuse_run_time(b: Builder, op: str, **options: object) -> None:
    """Options that choose code are known when compiling."""
    for name, given in options.items():
        if isinstance(given, RuntimeValue):
            raise b.fail(E0210, arg=name, what=f"`{name}` of `{op}` ({describe(given)})").help(
                "write a literal, or make it a `Const` parameter"
            )


@lowers("reduce")
def _reduce(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    axis: object,
    combine_fn: object,
    keep_dims: object = False,
) -> RuntimeValue | tuple[RuntimeValue, ...]:
    refuse_run_time(b, "reduce", axis=axis, keep_dims=keep_dims)
    function = require_function(b, combine_fn, "combine_fn")
    values, dtypes = require_tensors(b, input, "reduce")
    shape = values[0].shape
    position = 0 if axis is None else wrap_axis(b, axis, len(shape))
    left: tuple[int, ...] = ()
    if axis is not None:
        left = shape[:position] + shape[position + 1 :]
    elif len(shape) > 1:
        values = [reshape(b, value, (prod(shape),), reorder=True) for value in values]
    region = combiner(b, function, dtypes, REDUCE_RETURN)
    op = b.emit(REDUCE, [value.ir for value in values], attrs={"axis": position}, regions=[region])
    results = [RuntimeValue(x, d, left) for x, d in zip(op.results, dtypes, strict=True)]
    if keep_dims:
        for place in (position,) if axis is not None else (0,) * len(shape):
            results = [expand(b, value, place) for value in results]
    return tuple(results) if isinstance(input, tuple) else results[0]
