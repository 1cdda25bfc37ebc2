"""Running combinations along an axis; `cumsum` and `cumprod` are written over them in the language.

The interpreter combines in order of the elements; a GPU chooses its own order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops.control import SCAN_RETURN
from teenyc.ops.families import Array, Environment
from teenyc.ops.layout import wrap_axis
from teenyc.ops.reduce import refuse_run_time, require_tensors
from teenyc.ops.regions import (
    combiner,
    format_region,
    require_function,
    run_elementwise,
    scan_in_order,
    verify_combiner,
)
from teenyc.types import IRType, shape_of
from teenyc.values import RuntimeValue


def _same_types(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    return tuple(value.type for value in operands)


def _format_scan(op: Operation, names: Names) -> str:
    reverse = "true" if op.attrs["reverse"] else "false"
    return format_region(op, names, f"axis = {op.attrs['axis']} : i32, reverse = {reverse}")


def _verify_scan(op: Operation) -> str | None:
    shapes = {shape_of(value.type) for value in op.operands}
    if len(shapes) != 1:
        return f"scans tensors of the shapes {sorted(shapes)}"
    if not 0 <= op.attrs["axis"] < len(next(iter(shapes))):
        return f"has no axis {op.attrs['axis']} in {op.operands[0].type}"
    if [value.type for value in op.results] != [value.type for value in op.operands]:
        return "gives other types than it takes"
    return verify_combiner(op, SCAN_RETURN)


def _ref_scan(
    np: Any, op: Operation, operands: Sequence[Array], env: Environment
) -> tuple[Array, ...]:
    return scan_in_order(
        np,
        op,
        operands,
        lambda left, right: run_elementwise(np, env, op.regions[0], (*left, *right)),
    )


SCAN = register(
    OpDef(
        "tt.scan",
        _same_types,
        _format_scan,
        attrs=("axis", "reverse"),
        verify=_verify_scan,
        ref=_ref_scan,
        dsl=("associative_scan", "cumsum", "cumprod"),
        labelled=(0,),
        isolated=True,
    )
)


@lowers("associative_scan")
def _associative_scan(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    axis: object,
    combine_fn: object,
    reverse: object = False,
) -> RuntimeValue | tuple[RuntimeValue, ...]:
    refuse_run_time(b, "associative_scan", axis=axis, reverse=reverse)
    function = require_function(b, combine_fn, "combine_fn")
    values, dtypes = require_tensors(b, input, "associative_scan")
    shape = values[0].shape
    attrs = {"axis": wrap_axis(b, axis, len(shape)), "reverse": bool(reverse)}
    region = combiner(b, function, dtypes, SCAN_RETURN)
    op = b.emit(SCAN, [value.ir for value in values], attrs=attrs, regions=[region])
    results = [RuntimeValue(x, d, shape) for x, d in zip(op.results, dtypes, strict=True)]
    return tuple(results) if isinstance(input, tuple) else results[0]
