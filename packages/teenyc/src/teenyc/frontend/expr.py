"""Expressions: one small function per `ast` node, from text to a compile-time value or IR."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from teenyc.codes import E0102, E0103, E0106, E0111, E0201, E0210, E0211, E0602
from teenyc.frontend import constexpr, remedies
from teenyc.frontend.attribute import lower_attribute
from teenyc.frontend.call import call_function, lower_call
from teenyc.frontend.constexpr import evaluate, is_number, plain
from teenyc.frontend.context import Context, Poisoned, lookup
from teenyc.frontend.control import guarded, lower_conditional
from teenyc.frontend.operands import data, operand, require_scalar, truth
from teenyc.frontend.scope import (
    MISSING,
    POISON,
    BoundMethod,
    Builtin,
    Class,
    Undefined,
    assigned_names,
)
from teenyc.frontend.signature import Argument, Function
from teenyc.frontend.subset import EXPRESSIONS as SUBSET
from teenyc.frontend.subset import row_of
from teenyc.frontend.suggest import suggest
from teenyc.ir.opdef import HANDLERS
from teenyc.types import DescriptorKind, DType, PointerDType
from teenyc.values import EnumMember, RuntimeValue, is_tuple

if TYPE_CHECKING:
    from collections.abc import Callable

_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
_PYTHON_TYPES = frozenset({"int", "float", "bool", "str", "tuple", "NamedTuple"})


def _name(context: Context, node: ast.Name) -> Any:
    frame = context.frame
    found = frame.variables.get(node.id, MISSING)
    if found is POISON:
        raise Poisoned
    if isinstance(found, Undefined):
        raise (
            context.fail(E0211, node, name=node.id)
            .also(found.place, "assigned here")
            .help(found.rule)
        )
    if found is not MISSING:
        return found
    function = frame.function
    if function is not None:
        if function.local_names is None:
            function.local_names = frozenset(assigned_names(function.body))
        if node.id in function.local_names:
            raise context.fail(E0211, node, name=node.id).help(
                f"assign `{node.id}` before this line: a name that a function assigns is its own"
            )
    found = lookup(context, frame.scope, node.id)
    return _builtin(context, node) if found is MISSING else found


def _builtin(context: Context, node: ast.Name) -> Any:
    name = node.id
    if name in _PYTHON_TYPES:
        return Class(name)
    if name in ("constexpr", "Const"):
        return Class(name)
    if name in _BUILTINS:
        return Builtin(name)
    frame = context.frame
    known = [*frame.variables, *frame.scope.names(), "range", "min", "max", "abs", "len"]
    error = context.fail(E0201, node, name=name)
    if context.library.dsl.lookup(name) is not MISSING:
        raise error.help(f"write `tl.{name}`, or `from teeny_triton import {name}`")
    if name in remedies.NAMES:
        raise error.help(remedies.NAMES[name])
    raise suggest(error, name, known)


def _constant(context: Context, node: ast.Constant) -> Any:
    if isinstance(node.value, (bool, int, float, str)) or node.value is None:
        return node.value
    kind = {complex: "a complex number", bytes: "bytes"}.get(type(node.value), "`...`")
    raise context.fail(E0103, node, what=kind)


def _tuple(context: Context, node: ast.Tuple | ast.List) -> tuple[Any, ...]:
    found: list[Any] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            value = data(context, item.value)
            if not is_tuple(value):
                raise context.fail(E0106, item, operator="*", what=plain(value))
            found.extend(value)
        else:
            found.append(context.value(item))
    return tuple(found)


def _starred(context: Context, node: ast.Starred) -> Any:
    raise context.fail(E0103, node, what="`*` here")


# --- operators -----------------------------------------------------------------------------------


def apply_binary(
    context: Context, node: ast.expr | ast.stmt, op: ast.operator, left: Argument, right: Argument
) -> Any:
    """`left op right`: Python's own result at compile time, else the operator's handler."""
    symbol, name, function = constexpr.BINARY[type(op)]
    if not isinstance(left.value, RuntimeValue) and not isinstance(right.value, RuntimeValue):
        return evaluate(context, node, symbol, function, left.value, right.value)
    return _operate(context, node, symbol, name, {"lhs": left, "rhs": right})


_NEST = "write one comprehension for each `for`, or a `for` loop over `tl.static_range`"
_INSTEAD = {
    "**": "multiply, or use `tl.exp2(y * tl.log2(x))`",
    "@": "use `tl.dot(x, y)`",
}


def _operate(
    context: Context,
    node: ast.expr | ast.stmt,
    symbol: str,
    name: str,
    arguments: dict[str, Argument],
) -> Any:
    for argument in arguments.values():
        value = argument.value
        if not isinstance(value, RuntimeValue) and not is_number(value):
            error = E0106.at(argument.span, operator=symbol, what=plain(value))
            if value is None:
                error.help("ask first whether there is a value: `if x is not None:`")
            raise error
    handler = f"operator.{name}"
    if handler not in HANDLERS:
        raise context.fail(E0106, node, operator=symbol, what="run-time values").help(
            _INSTEAD[symbol]
        )
    return context.handle(handler, node, arguments)


def _binary(context: Context, node: ast.BinOp) -> Any:
    left, right = operand(context, node.left), operand(context, node.right)
    return apply_binary(context, node, node.op, left, right)


def _unary(context: Context, node: ast.UnaryOp) -> Any:
    given = operand(context, node.operand)
    value = given.value
    if isinstance(node.op, ast.Not):
        if not isinstance(value, RuntimeValue):
            return not truth(context, node, value, "`not`")
        condition = require_scalar(context, node.operand, value, "`not`", "use `~` on tensors")
        true = Argument(True, given.span)
        return context.handle(
            "operator.xor", node, {"lhs": Argument(condition, given.span), "rhs": true}
        )
    symbol, name, function = constexpr.UNARY[type(node.op)]
    if isinstance(value, RuntimeValue):
        return _operate(context, node, symbol, name, {"x": given})
    return evaluate(context, node, symbol, function, value)


def _bool(context: Context, node: ast.BoolOp) -> Any:
    is_and = isinstance(node.op, ast.And)
    what, spelling = ("`and`", "&") if is_and else ("`or`", "|")
    hint = f"use `{spelling}` on tensors, with each side in parentheses"
    so_far: RuntimeValue | None = None
    value: Any = None
    for i, item in enumerate(node.values):
        if so_far is None:
            value = data(context, item)
            if isinstance(value, RuntimeValue):
                so_far = require_scalar(context, item, value, what, hint)
            elif i + 1 < len(node.values) and truth(context, item, value, what) != is_and:
                return value
            continue
        taken = guarded(context, item, so_far, what, hint, is_and=is_and)
        if isinstance(taken, bool):
            return taken
        so_far = taken
    return value if so_far is None else so_far


def _compare(context: Context, node: ast.Compare) -> Any:
    left = operand(context, node.left)
    result: Any = True
    for op, item in zip(node.ops, node.comparators, strict=True):
        right = operand(context, item)
        one = _compare_once(context, node, op, left, right)
        if len(node.ops) > 1 and isinstance(one, RuntimeValue) and one.is_tensor:
            raise context.fail(E0602, node, what="a chained comparison", type=one.describe()).help(
                "compare twice and join with `&`: `(a < b) & (b < c)`"
            )
        if isinstance(result, RuntimeValue):
            if isinstance(one, RuntimeValue) or not one:
                span = context.span(node)
                if not isinstance(one, RuntimeValue):
                    return False
                pair = {"lhs": Argument(result, span), "rhs": Argument(one, span)}
                result = context.handle("operator.and", node, pair)
        elif not isinstance(one, RuntimeValue) and not one:
            return one
        else:
            result = one
        left = right
    return result


def _compare_once(
    context: Context, node: ast.Compare, op: ast.cmpop, left: Argument, right: Argument
) -> Any:
    lhs, rhs = left.value, right.value
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(context, node, lhs, rhs) == isinstance(op, ast.Is)
    if isinstance(op, (ast.In, ast.NotIn)):
        symbol = "in"
        if not (is_tuple(rhs) or type(rhs) is str) or constexpr.has_runtime((lhs, rhs)):
            what = "run-time values" if constexpr.has_runtime(lhs) else plain(rhs)
            raise context.fail(E0106, node, operator=symbol, what=what).help(
                "compare one by one: `(n == 1) | (n == 2)`"
            )
        found = evaluate(context, node, symbol, lambda a, b: a in b, lhs, rhs)
        return found == isinstance(op, ast.In)
    symbol, name, function = constexpr.COMPARE[type(op)]
    if isinstance(lhs, RuntimeValue) or isinstance(rhs, RuntimeValue):
        if symbol in ("==", "!=") and (lhs is None or rhs is None):
            return symbol == "!="
        return _operate(context, node, symbol, name, {"lhs": left, "rhs": right})
    return evaluate(context, node, symbol, function, lhs, rhs)


def _identity(context: Context, node: ast.Compare, lhs: Any, rhs: Any) -> bool:
    if lhs is None or rhs is None:
        return lhs is rhs
    if constexpr.has_runtime((lhs, rhs)):
        raise context.fail(E0106, node, operator="is", what="run-time values").help(
            "compare values with `==`"
        )
    return constexpr.same(lhs, rhs)


# --- attributes, subscripts and text -------------------------------------------------------------


def _attribute(context: Context, node: ast.Attribute) -> Any:
    found = lower_attribute(context, node)
    if isinstance(found, BoundMethod) and found.function.is_property:
        owner = Argument(found.owner, context.span(node.value))
        return call_function(context, node, found.function, [owner])
    return found


def _subscript(context: Context, node: ast.Subscript) -> Any:
    owner = context.value(node.value)
    if isinstance(owner, Class) and owner.name == "Ptr":
        element = context.value(node.slice)
        if isinstance(element, (DType, PointerDType)):
            return PointerDType(element)
        raise context.fail(E0106, node.slice, operator="Ptr[]", what=plain(element))
    if isinstance(owner, Class):
        return _described(context, node.slice) if owner.name == "TensorDescriptor" else owner
    index = _index(context, node.slice)
    if isinstance(owner, RuntimeValue):
        arguments = {
            "x": Argument(owner, context.span(node.value)),
            "index": Argument(index, context.span(node.slice)),
        }
        return context.handle("operator.getitem", node, arguments)
    if not is_tuple(owner) and type(owner) is not str:
        raise context.fail(E0106, node, operator="[]", what=plain(owner))
    if constexpr.has_runtime(index):
        raise context.fail(E0210, node.slice, what="the index of a tuple").help(
            "go through the tuple with `tl.static_range`, or choose with `tl.where`"
        )
    only = index[0] if len(index) == 1 else index
    return evaluate(context, node, "[]", lambda a, b: a[b], owner, only)


def _described(context: Context, node: ast.expr) -> DescriptorKind | Class:
    """`TensorDescriptor[f16, (64, 64)]`; with a rank, as kernels are annotated, only the class."""
    found = context.value(node)
    if type(found) is tuple and len(found) == 2:
        dtype, block = found
        if isinstance(dtype, DType) and type(block) is tuple:
            return DescriptorKind(dtype, block)
    return Class("TensorDescriptor")


def _index(context: Context, node: ast.expr) -> tuple[Any, ...]:
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    return tuple(data(context, item) for item in items)


def _slice(context: Context, node: ast.Slice) -> slice:
    parts = [None if n is None else data(context, n) for n in (node.lower, node.upper, node.step)]
    if constexpr.has_runtime(tuple(parts)):
        raise context.fail(E0210, node, what="a bound of a slice")
    return slice(*parts)


def _text(context: Context, node: ast.JoinedStr) -> str:
    found: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            found.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = data(context, part.value)
        if constexpr.has_runtime(value):
            raise context.fail(E0210, part.value, what="a value in an f-string").help(
                'show it on the device: `tl.device_print("x", x)`'
            )
        spec = context.value(part.format_spec) if part.format_spec is not None else ""
        found.append(_format(context, part, value, spec))
    return "".join(found)


def _format(context: Context, node: ast.FormattedValue, value: Any, spec: str) -> str:
    convert: dict[int, Callable[[Any], str]] = {115: str, 114: repr, 97: ascii}
    if isinstance(value, EnumMember):
        value = f"{value.enum}.{value.name}"
    elif isinstance(value, (DType, PointerDType)):
        value = str(value)
    if any(len(run) > 3 for run in "".join(c if c.isdigit() else " " for c in spec).split()):
        raise context.fail(E0103, node, what="a format this wide")
    shown = convert[node.conversion](value) if node.conversion in convert else value
    return str(evaluate(context, node, "format", format, shown, spec))


def _refused(context: Context, node: ast.expr) -> Any:
    row = row_of(node)
    error = context.fail(row.refused_by or E0102, node, what=row.what)
    raise error.help(row.instead) if row.instead else error


def _conditional(context: Context, node: ast.IfExp) -> Any:
    condition = data(context, node.test)
    if isinstance(condition, RuntimeValue):
        return lower_conditional(context, node, condition)
    chosen = node.body if truth(context, node.test, condition, "`if`") else node.orelse
    return context.value(chosen)


def _comprehension(context: Context, node: ast.ListComp) -> tuple[Any, ...]:
    """A tuple; its variables end with it. Raises E0103 over a run-time range."""
    from teenyc.frontend.ranges import Range, parse_iterable
    from teenyc.frontend.stmt import assign_target

    generator, *more = node.generators
    if more or generator.is_async:
        raise context.fail(E0103, node, what="a comprehension with several `for`").help(_NEST)
    values = parse_iterable(context, generator)
    if isinstance(values, Range):
        raise context.fail(
            E0103, generator.iter, what="a comprehension over a run-time range"
        ).help("go through `tl.static_range`, or accumulate in a `for` loop")
    frame, found = context.frame, []
    outside = dict(frame.variables), dict(frame.assigned)
    try:
        for value in values:
            assign_target(context, generator.target, value)
            tests = (truth(context, c, data(context, c), "`if`") for c in generator.ifs)
            if all(tests):
                found.append(context.value(node.elt))
    finally:
        frame.variables, frame.assigned = outside
    return tuple(found)


def _lambda(context: Context, node: ast.Lambda) -> Function:
    """A function of its parameters alone, for `reduce` and the like. Raises E0111 for more."""
    frame = context.frame
    args = node.args
    own = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    for inner in ast.walk(node.body):
        if isinstance(inner, ast.Name) and inner.id not in own and inner.id in frame.variables:
            raise context.fail(E0111, inner, name=inner.id).help(
                "a lambda sees its own parameters and what the module defines"
            )
    body = ast.copy_location(ast.Return(node.body), node.body)
    definition = ast.copy_location(ast.FunctionDef("<lambda>", args, [body], []), node)
    return Function(definition, frame.source, frame.scope, is_dsl=frame.is_dsl)


EXPRESSIONS: dict[type[ast.expr], Callable[[Context, Any], Any]] = {
    **{kind: _refused for kind, row in SUBSET.items() if row.refused_by is not None},
    ast.BoolOp: _bool,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.IfExp: _conditional,
    ast.ListComp: _comprehension,
    ast.Compare: _compare,
    ast.Call: lower_call,
    ast.JoinedStr: _text,
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.Slice: _slice,
    ast.Starred: _starred,
    ast.Lambda: _lambda,
}
