"""Comparisons and selection."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import OpDef, register
from teenyc.ir.printer import Names
from teenyc.ops import arrays, scalars
from teenyc.ops.families import FLOAT, INT, Array, Environment, kind_of
from teenyc.types import IRType, ScalarType, TensorType, shape_of, with_element

_I1 = ScalarType("i1")
_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
# `u` before a relation reads integers without a sign; `o` is false and `u` true for a NaN.
INT_PREDICATES = {
    **{name: name for name in ("eq", "ne")},
    **{f"{sign}{name}": name for sign in "su" for name in ("lt", "le", "gt", "ge")},
}
FLOAT_PREDICATES = {f"{order}{name}": name for order in "ou" for name in _RELATIONS}


def _boolean_like(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    return (with_element(operands[0].type, _I1),)


def _format_compare(op: Operation, names: Names) -> str:
    left = names.list(op.operands)
    return f"{op.name} {op.attrs['predicate']}, {left} : {op.operands[0].type}"


def _verifier(kind: str, predicates: dict[str, str]) -> Callable[[Operation], str | None]:
    def verify(op: Operation) -> str | None:
        left, right = (value.type for value in op.operands)
        if left != right:
            return f"compares {left} with {right}"
        if op.results[0].type != with_element(left, _I1):
            return f"gives {op.results[0].type}"
        if kind_of(left) != kind:
            return f"needs {kind} elements, not {kind_of(left)}"
        found = op.attrs["predicate"]
        return None if found in predicates else f"has no predicate `{found}`"

    return verify


def _fold_int(op: Operation, values: list[Any]) -> int | None:
    if None in values:
        return None
    predicate = op.attrs["predicate"]
    if predicate[0] == "u":
        bits = scalars.bits_of(arrays.element_name(op.operands[0].type))
        values = [scalars.unsigned(value, bits) for value in values]
    elif arrays.element_name(op.operands[0].type) == "i1" and predicate[0] == "s":
        values = [-value for value in values]
    return int(_RELATIONS[INT_PREDICATES[predicate]](*values))


def _fold_float(op: Operation, values: list[Any]) -> int | None:
    if None in values:
        return None
    predicate = op.attrs["predicate"]
    if any(map(math.isnan, values)):
        return int(predicate[0] == "u")
    return int(_RELATIONS[FLOAT_PREDICATES[predicate]](*values))


def _ref_int(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    predicate = op.attrs["predicate"]
    left, right = operands
    if left.dtype == bool and predicate[0] == "s":
        left, right = right, left  # true is -1
    elif predicate[0] == "u":
        left, right = arrays.without_sign(left), arrays.without_sign(right)
    return np.asarray(_RELATIONS[INT_PREDICATES[predicate]](left, right))


def _ref_float(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    predicate = op.attrs["predicate"]
    left, right = operands
    unordered = np.isnan(left) | np.isnan(right)
    found = _RELATIONS[FLOAT_PREDICATES[predicate]](left, right)
    return np.asarray(found | unordered if predicate[0] == "u" else found & ~unordered)


CMPI = register(
    OpDef(
        "arith.cmpi",
        _boolean_like,
        _format_compare,
        attrs=("predicate",),
        verify=_verifier(INT, INT_PREDICATES),
        fold=_fold_int,
        ref=_ref_int,
        cpu=lambda c, op, x, y: c.compare(op.attrs["predicate"], x, y),
    )
)
CMPF = register(
    OpDef(
        "arith.cmpf",
        _boolean_like,
        _format_compare,
        attrs=("predicate",),
        verify=_verifier(FLOAT, FLOAT_PREDICATES),
        fold=_fold_float,
        ref=_ref_float,
        cpu=lambda c, op, x, y: c.compare(op.attrs["predicate"], x, y),
    )
)


def _format_select(op: Operation, names: Names) -> str:
    condition, value = op.operands[0].type, op.operands[1].type
    types = f"{condition}, {value}" if isinstance(condition, TensorType) else str(value)
    return f"arith.select {names.list(op.operands)} : {types}"


def _verify_select(op: Operation) -> str | None:
    condition, left, right = (value.type for value in op.operands)
    if not left == right == op.results[0].type:
        return f"chooses between {left} and {right} for {op.results[0].type}"
    if with_element(condition, _I1) != condition:
        return f"has a condition of type {condition}"
    if shape_of(condition) not in ((), shape_of(left)):
        return f"has a condition of type {condition} for {left}"
    return None


def _fold_select(op: Operation, values: list[Any]) -> Any:
    """The chosen operand, which need not be a constant itself."""
    if values[0] is None:
        return None
    return op.operands[1 if values[0] else 2]


SELECT = register(
    OpDef(
        "arith.select",
        lambda operands, attrs: (operands[1].type,),
        _format_select,
        verify=_verify_select,
        fold=_fold_select,
        ref=lambda np, op, operands, env: np.where(*operands),
        cpu=lambda c, op, condition, x, y: c.select(condition, x, y),
        dsl=("where",),
    )
)
