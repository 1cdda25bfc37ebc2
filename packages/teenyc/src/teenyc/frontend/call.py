"""Calls: primitives go to their handlers, helpers and composite DSL functions are inlined."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from teeny_macros.diagnostics import TeenyError
from teenyc.codes import E0106, E0199, E0203, E0209, E0210
from teenyc.frontend import constexpr
from teenyc.frontend.builtin import call_builtin, call_class, make_record
from teenyc.frontend.constexpr import has_runtime, is_compile_time, is_number, plain
from teenyc.frontend.context import Poisoned, placed
from teenyc.frontend.operands import misused
from teenyc.frontend.scope import BoundMethod, Builtin, Class, DTypeMethod, Frame
from teenyc.frontend.signature import Argument, Function, bind
from teenyc.ir.core import Block
from teenyc.ir.opdef import HANDLERS
from teenyc.ops import semantics
from teenyc.types import DType, PointerDType
from teenyc.values import FunctionValue, Record, RecordType, RuntimeValue, is_tuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teenyc.frontend.context import Context

# A parameter of a primitive with this ending takes a function.
_TAKES_FUNCTION = "_fn"


def lower_call(context: Context, node: ast.Call) -> Any:
    """The value of a call."""
    target = context.value(node.func)
    if isinstance(target, Function):
        return call_function(context, node, target, arguments_of(context, node))
    if isinstance(target, BoundMethod):
        owner = Argument(target.owner, context.span(node.func))
        if is_number(target.owner):
            value = semantics.to_value(context.at(node), target.owner)
            owner = owner._replace(value=value)
        given = [owner, *arguments_of(context, node)]
        return call_function(context, node, target.function, given)
    if isinstance(target, DTypeMethod):
        bind(target.name, (), arguments_of(context, node), context.span(node))
        return getattr_answer(target)
    if isinstance(target, Builtin):
        return call_builtin(context, node, target, arguments_of(context, node))
    if isinstance(target, (DType, PointerDType)):
        return _cast(context, node, target)
    if isinstance(target, Class):
        return call_class(context, node, target, arguments_of(context, node))
    if isinstance(target, RecordType):
        return make_record(context, node, target, arguments_of(context, node))
    error = context.fail(E0203, node.func, what=plain(target))
    if isinstance(node.func, ast.Attribute):
        raise error.help(f"`{node.func.attr}` is a value: leave out the parentheses")
    raise error


def getattr_answer(method: DTypeMethod) -> bool:
    """The answer to `dtype.is_floating()` and the like."""
    from teenyc.frontend.attribute import ask_dtype

    return ask_dtype(method)


def arguments_of(context: Context, node: ast.Call) -> list[Argument]:
    """The arguments of a call, evaluated from left to right, `*tuple` spread.

    Triton's front end emits keywords before positional arguments. Where the order cannot be seen
    the operations are emitted so, which makes the PTX the same; else Python's order holds.
    """
    if not node.keywords or not node.args:
        return [*_plain_arguments(context, node), *_keyword_arguments(context, node)]
    first, second = Block(), Block()
    with context.builder.inside(first):
        plain = _plain_arguments(context, node)
    with context.builder.inside(second):
        named = _keyword_arguments(context, node)
    is_free = all(op.opdef.is_pure and not op.regions for op in second.ops)
    for block in (second, first) if is_free else (first, second):
        for op in block.ops:
            context.builder.block.append(op)
    return [*plain, *named]


def _plain_arguments(context: Context, node: ast.Call) -> list[Argument]:
    found: list[Argument] = []
    for item in node.args:
        if isinstance(item, ast.Starred):
            values = context.value(item.value)
            if not is_tuple(values):
                raise context.fail(E0106, item, operator="*", what=plain(values))
            found.extend(Argument(value, context.span(item)) for value in values)
        else:
            found.append(Argument(context.value(item), context.span(item)))
    return found


def _keyword_arguments(context: Context, node: ast.Call) -> list[Argument]:
    found: list[Argument] = []
    for keyword in node.keywords:
        if keyword.arg is None:
            raise context.fail(E0106, keyword, operator="**", what="a call in a kernel").help(
                "name the arguments one by one"
            )
        value, span = context.value(keyword.value), context.span(keyword.value)
        found.append(Argument(value, span, keyword.arg, context.span(keyword)))
    return found


def _cast(context: Context, node: ast.Call, dtype: DType | PointerDType) -> Any:
    """`f32(x)` is `tl.cast(x, f32)`."""
    cast = context.library.dsl.lookup("cast")
    assert isinstance(cast, Function)
    given = arguments_of(context, node)
    bind(str(dtype), cast.parameters[:1], given, context.span(node))
    return call_function(context, node, cast, [*given, Argument(dtype, context.span(node.func))])


def call_function(
    context: Context, node: ast.expr, function: Function, given: list[Argument]
) -> Any:
    """Bind and call a function of the unit or of the DSL."""
    if function.is_dsl:  # its own text and the operations know plain tuples alone
        given = [
            item._replace(value=tuple(item.value)) if isinstance(item.value, Record) else item
            for item in given
        ]
    try:
        bound = bind(function.name, function.parameters, given, context.span(node))
    except TeenyError as error:
        raise error if function.is_dsl else error.also(function.header, "defined here") from None
    for parameter in function.parameters:
        argument = bound.get(parameter.name)
        if argument is None:
            assert parameter.default is not None
            value = _default(context, function, parameter.default)
            bound[parameter.name] = Argument(value, context.span(node))
        elif parameter.is_const and constexpr.has_runtime(argument.value):
            what = f"argument `{parameter.name}` of `{function.name}`"
            type_ = plain(argument.value)
            raise E0210.at(argument.span, f"is a run-time {type_}", what=what).help(
                f"leave `Const` away from `{parameter.name}`, or give it a compile-time value"
            )
    if function.is_primitive:
        return _call_primitive(context, node, function, bound)
    return inline(context, node, function, bound)


def _default(context: Context, function: Function, default: ast.expr) -> Any:
    if isinstance(default, ast.Constant):
        return default.value
    frame = Frame(function.scope, function.source, call_span=context.builder.span)
    with context.entered(frame):
        return context.value(default)


def _call_primitive(
    context: Context, node: ast.expr, function: Function, bound: dict[str, Argument]
) -> Any:
    for name, argument in bound.items():
        if name.endswith(_TAKES_FUNCTION):
            bound[name] = argument._replace(value=_function_value(context, node, argument))
        elif not has_runtime(argument.value) and not is_compile_time(argument.value):
            raise misused(argument.span, argument.value)
    if function.name not in HANDLERS:
        raise context.fail(E0199, node, what=f"`{function.name}`")
    order = {p.name: bound[p.name] for p in function.parameters}
    return context.handle(function.name, node, order)


def _function_value(context: Context, node: ast.expr, argument: Argument) -> FunctionValue:
    """A function as an argument of a primitive, which calls it inside its region."""
    function = argument.value
    if not isinstance(function, Function):
        raise E0203.at(argument.span, what=plain(function)).help(
            "pass a function marked with `@device`, a function of the language, or a lambda"
        )

    def call(values: Sequence[RuntimeValue]) -> Any:
        builder = context.builder
        place = builder.loc, builder.span, builder.arg_spans
        given = [Argument(value, argument.span) for value in values]
        result = call_function(context, node, function, given)
        builder.loc, builder.span, builder.arg_spans = place
        return result

    names = tuple(parameter.name for parameter in function.parameters)
    return FunctionValue(function.name, names, call)


def inline(context: Context, node: ast.expr, function: Function, bound: dict[str, Argument]) -> Any:
    """Lower the body of a helper or composite where it is called."""
    outer = context.frame
    caller: Frame | None = outer
    while caller is not None:
        if caller.function is function:
            raise context.fail(E0209, node, name=function.name).help(
                "a kernel cannot recurse: write a loop"
            )
        caller = caller.outer
    is_kernel = outer.outer is None  # called from the entry point, which is generated text
    frame = Frame(
        function.scope,
        function.source,
        function=function,
        outer=outer,
        caller=None if is_kernel else outer.source.location(node, outer.caller),
        call_span=context.span(node),
    )
    for parameter in function.parameters:
        argument = bound[parameter.name]
        frame.variables[parameter.name] = argument.value
        frame.parameter_spans[parameter.name] = argument.span
        frame.assigned[parameter.name] = function.source.span(parameter.node)
    if function.is_dsl:
        return _inline_composite(context, frame, function)
    with context.entered(frame):
        result = context.run_function(function)
    if frame.has_failed:
        raise Poisoned
    return result


def _inline_composite(context: Context, frame: Frame, function: Function) -> Any:
    """A fault inside the DSL's own text points at the user's call and names the function."""
    try:
        with context.entered(frame):
            return context.run_function(function)
    except TeenyError as error:
        placed(error, frame.call_span)
        note = f"in `{function.name}`"
        if not function.name.startswith("_") and note not in error.diagnostics[-1].notes:
            error.note(note)
        raise error from None
