"""Python's own functions and types in a kernel: their meaning, or what takes their place."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from teenyc.codes import E0106, E0203, E0208, E0210
from teenyc.frontend.constexpr import evaluate, has_runtime, is_compile_time, is_number, plain
from teenyc.frontend.scope import Class
from teenyc.frontend.signature import POSITIONAL, Argument, Parameter, bind
from teenyc.types import DType, PointerDType
from teenyc.values import EnumMember, Record, RecordType, RuntimeValue, is_tuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from teenyc.frontend.context import Context
    from teenyc.frontend.scope import Builtin

_INSTEAD = {
    "sum": "use `tl.sum(x, axis)`",
    "pow": "use `x * x`, or `tl.exp2(y * tl.log2(x))`",
    "round": "use `tl.floor(x + 0.5)`",
    "enumerate": "count with `tl.static_range`",
    "zip": "index with `tl.static_range`",
    "map": "use a `for` loop over `tl.static_range`",
    "list": "use a tuple",
    "dict": "use a tuple",
    "set": "use a tuple",
    "type": "use `x.dtype`",
    "divmod": "use `//` and `%`",
    "any": "use `tl.max(x, axis)` of an i1 tensor cast to i32",
    "all": "use `tl.min(x, axis)` of an i1 tensor cast to i32",
    "open": "a kernel reads and writes memory alone",
    "input": "a kernel reads and writes memory alone",
    "range": "use it as the iterable of a `for` loop",
}


def call_builtin(context: Context, node: ast.Call, target: Builtin, given: list[Argument]) -> Any:
    """Call one of Python's functions. Raises E0208 for those that a kernel does not have."""
    rule = _BUILTINS.get(target.name)
    if rule is None:
        error = context.fail(E0208, node.func, name=target.name)
        instead = _INSTEAD.get(target.name)
        raise error.help(instead) if instead else error
    return rule(context, node, given)


def call_class(context: Context, node: ast.Call, target: Class, given: list[Argument]) -> Any:
    """`int(x)`, `float("inf")`, `constexpr(5)`; other classes make nothing in a kernel."""
    rule = _CLASSES.get(target.name)
    if rule is None:
        raise context.fail(E0203, node.func, what=f"class `{target.name}`")
    return rule(context, node, given)


def _one(context: Context, node: ast.Call, name: str, given: list[Argument]) -> Argument:
    parameter = Parameter("x", POSITIONAL, None, False, ast.arg("x"))
    return bind(name, (parameter,), given, context.span(node))["x"]


def _extreme(name: str, handler: str) -> Callable[[Context, ast.Call, list[Argument]], Any]:
    def rule(context: Context, node: ast.Call, given: list[Argument]) -> Any:
        if len(given) == 1 and is_tuple(given[0].value):
            given = [Argument(value, given[0].span) for value in given[0].value]
        if len(given) == 1 and isinstance(given[0].value, RuntimeValue):
            raise context.fail(E0208, node.func, name=f"{name}(x)").help(
                f"use `tl.{name}(x, axis)` for the elements of a tensor"
            )
        if any(argument.keyword for argument in given) or not given:
            raise context.fail(E0106, node, operator=name, what="these arguments")
        if not any(isinstance(argument.value, RuntimeValue) for argument in given):
            values = tuple(argument.value for argument in given)
            return evaluate(context, node, name, lambda *v: getattr(builtins, name)(v), *values)
        best = given[0]
        none = EnumMember("PropagateNan", "NONE", 0)
        for other in given[1:]:
            both = {"x": best, "y": other, "propagate_nan": Argument(none, other.span)}
            for argument in (best, other):
                if not isinstance(argument.value, RuntimeValue) and not is_number(argument.value):
                    raise E0106.at(argument.span, operator=name, what=plain(argument.value))
            value = context.handle(handler, node, both)
            best = Argument(value, context.span(node))
        return best.value

    return rule


def _abs(context: Context, node: ast.Call, given: list[Argument]) -> Any:
    argument = _one(context, node, "abs", given)
    if isinstance(argument.value, RuntimeValue):
        return context.handle("abs", node, {"x": argument})
    return evaluate(context, node, "abs", abs, argument.value)


def _len(context: Context, node: ast.Call, given: list[Argument]) -> Any:
    argument = _one(context, node, "len", given)
    if is_tuple(argument.value) or type(argument.value) is str:
        return len(argument.value)
    if isinstance(argument.value, RuntimeValue) and argument.value.is_tensor:
        return argument.value.shape[0]
    raise E0106.at(argument.span, operator="len", what=plain(argument.value))


def _isinstance(context: Context, node: ast.Call, given: list[Argument]) -> Any:
    parameters = tuple(
        Parameter(name, POSITIONAL, None, False, ast.arg(name)) for name in ("value", "kinds")
    )
    bound = bind("isinstance", parameters, given, context.span(node))
    value, kinds = bound["value"].value, bound["kinds"].value
    names = kinds if is_tuple(kinds) else (kinds,)
    return any(_is_instance(bound["kinds"], value, kind) for kind in names)


def _is_instance(place: Argument, value: Any, kind: Any) -> bool:
    if isinstance(kind, (DType, PointerDType)):
        return isinstance(value, RuntimeValue) and value.dtype == kind
    name = kind.name if isinstance(kind, Class) else ""
    if name in ("tensor", "Tensor"):
        return isinstance(value, RuntimeValue)
    if name in ("constexpr", "Const"):
        return not has_runtime(value) and is_compile_time(value)
    if name == "tuple":
        return is_tuple(value)
    if isinstance(kind, RecordType):
        return isinstance(value, Record) and value.kind == kind
    if name in ("int", "float", "bool", "str"):
        return isinstance(value, getattr(builtins, name))
    raise E0106.at(place.span, operator="isinstance", what=plain(kind))


def _convert(name: str) -> Callable[[Context, ast.Call, list[Argument]], Any]:
    function = getattr(builtins, name)

    def rule(context: Context, node: ast.Call, given: list[Argument]) -> Any:
        if not given and name != "str":
            return function()
        argument = _one(context, node, name, given)
        value = argument.value
        if isinstance(value, RuntimeValue):
            dtype = {"int": "i32", "float": "f32", "bool": "i1"}.get(name)
            error = E0210.at(argument.span, what=f"the argument of `{name}`")
            raise error.help(f"cast run-time values: `x.to({dtype})`") if dtype else error
        if name != "str" and not is_number(value) and not isinstance(value, str):
            raise E0106.at(argument.span, operator=name, what=plain(value))
        if isinstance(value, str) and len(value) > 1000:
            raise E0106.at(argument.span, operator=name, what="a string this long")
        return evaluate(context, node, name, function, value)

    return rule


def _constexpr(context: Context, node: ast.Call, given: list[Argument]) -> Any:
    argument = _one(context, node, "constexpr", given)
    if has_runtime(argument.value):
        raise E0210.at(argument.span, what="the argument of `constexpr`")
    return argument.value


def _tuple(context: Context, node: ast.Call, given: list[Argument]) -> Any:
    argument = _one(context, node, "tuple", given) if given else Argument((), context.span(node))
    if not is_tuple(argument.value) and type(argument.value) is not str:
        raise E0106.at(argument.span, operator="tuple", what=plain(argument.value))
    return tuple(argument.value)


def _record_type(context: Context, node: ast.Call, given: list[Argument]) -> Any:
    """`NamedTuple("P", ("a", "b"))`, which is how a captured class is written."""
    return RecordType(*(argument.value for argument in given))


def make_record(context: Context, node: ast.Call, kind: RecordType, given: list[Argument]) -> Any:
    """A named tuple, by position or by name."""
    optional = len(kind.fields) - len(kind.defaults)
    parameters = tuple(
        Parameter(
            name, POSITIONAL, ast.Constant(None) if i >= optional else None, False, ast.arg(name)
        )
        for i, name in enumerate(kind.fields)
    )
    bound = bind(kind.name, parameters, given, context.span(node))
    last = dict(zip(kind.fields[optional:], kind.defaults, strict=True))
    return Record.make(
        kind, [bound[name].value if name in bound else last[name] for name in kind.fields]
    )


def _print(context: Context, node: ast.Call, given: list[Argument]) -> None:
    """`print("x", x)` is `device_print`."""
    from teenyc.frontend.call import call_function
    from teenyc.frontend.signature import Function

    function = context.library.dsl.lookup("device_print")
    assert isinstance(function, Function)
    call_function(context, node, function, given)


_BUILTINS: dict[str, Callable[[Context, ast.Call, list[Argument]], Any]] = {
    "min": _extreme("min", "minimum"),
    "max": _extreme("max", "maximum"),
    "abs": _abs,
    "len": _len,
    "print": _print,
    "isinstance": _isinstance,
}
_CLASSES: dict[str, Callable[[Context, ast.Call, list[Argument]], Any]] = {
    "int": _convert("int"),
    "float": _convert("float"),
    "bool": _convert("bool"),
    "str": _convert("str"),
    "tuple": _tuple,
    "constexpr": _constexpr,
    "Const": _constexpr,
    "NamedTuple": _record_type,
}
