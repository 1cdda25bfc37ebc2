"""What may stand where a value belongs: data, truth values and scalar conditions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from teenyc.codes import E0106, E0110, E0602
from teenyc.frontend.constexpr import has_runtime, is_compile_time, plain
from teenyc.frontend.scope import (
    BoundMethod,
    Builtin,
    Class,
    DTypeMethod,
    EnumClass,
    Namespace,
    TypeVariable,
    UnitNamespace,
)
from teenyc.frontend.signature import Argument, Function
from teenyc.ops import semantics
from teenyc.types import I1, DType, PointerDType
from teenyc.values import EnumMember, RuntimeValue

if TYPE_CHECKING:
    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.source import Span
    from teenyc.frontend.context import Context

_KINDS: dict[type, str] = {
    Function: "a function",
    Builtin: "a function",
    BoundMethod: "a method",
    DTypeMethod: "a method",
    Namespace: "a module",
    UnitNamespace: "a module",
    EnumClass: "an enumeration",
    TypeVariable: "a type variable",
}


def data(context: Context, node: ast.expr) -> Any:
    """The value of an expression that must be data. Raises E0110 for a function, module or type."""
    value = context.value(node)
    if has_runtime(value) or is_compile_time(value):
        return value
    raise misused(context.span(node), value)


def misused(span: Span, value: Any) -> TeenyError:
    """The error for a function, module or type where a value belongs."""
    name = value.function.name if isinstance(value, BoundMethod) else value.name
    error = E0110.at(span, name=name, kind=_KINDS.get(type(value), "a class"))
    if isinstance(value, TypeVariable):
        error.help("take the dtype from an argument: `tl.elem(x_ptr)` or `x.dtype`")
    elif isinstance(value, (Function, Builtin, BoundMethod, DTypeMethod)):
        error.help(f"call it: `{name}(...)`")
    return error


def operand(context: Context, node: ast.expr) -> Argument:
    """An operand with its place."""
    return Argument(data(context, node), context.span(node))


def truth(context: Context, node: ast.expr, value: Any, what: str) -> bool:
    """Python's truth of a compile-time value. Raises E0106 for what has none, such as a dtype."""
    if isinstance(value, (DType, PointerDType, EnumMember, Class, slice)):
        raise context.fail(E0106, node, operator=what.strip("`"), what=plain(value))
    return bool(value)


def require_scalar(
    context: Context, node: ast.expr, value: RuntimeValue, what: str, instead: str
) -> RuntimeValue:
    """A run-time scalar as i1. Raises E0602 for tensors, saying what to use `instead`."""
    if value.is_tensor:
        raise context.fail(E0602, node, what=what, type=value.describe()).help(instead)
    builder = context.at(node)
    return RuntimeValue(semantics.as_condition(builder, value), I1)
