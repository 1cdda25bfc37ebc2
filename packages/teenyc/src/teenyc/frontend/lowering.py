"""From a unit to its IR module: the entry point's types and attributes, and the kernel inlined."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

import teenyc.ops  # noqa: F401 - enters the handlers of all operations
from teeny_macros.codes import I0000
from teeny_macros.diagnostics import CompileError, TeenyError
from teeny_macros.source import Span
from teeny_macros.unit import ENTRY_MODULE
from teenyc.codes import E0107, E0214
from teenyc.frontend.constexpr import has_runtime
from teenyc.frontend.context import Context, GiveUp, TooMany
from teenyc.frontend.expr import EXPRESSIONS
from teenyc.frontend.scope import Frame, Library, ModuleScope
from teenyc.frontend.signature import Function
from teenyc.frontend.stmt import run_body, run_function
from teenyc.ir.core import Function as IRFunction
from teenyc.ir.core import Module
from teenyc.ops.control import TT_RETURN
from teenyc.types import DType, PointerDType, ir_type
from teenyc.values import RuntimeValue

if TYPE_CHECKING:
    from teeny_macros.unit import Unit

_ATTRIBUTES = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion")
_HINTS = {"divisible_by_16": ("tt.divisibility", 16)}


def lower(unit: Unit) -> Module:
    """The IR module of `unit`. Raises CompileError with every fault found, at most 20."""
    try:
        return _lower(unit)
    except TeenyError as error:
        _quote(error, unit)
        raise


def _quote(error: TeenyError, unit: Unit) -> None:
    """Give each label the line it points at: the body is no file that a renderer could read."""
    lines = unit.body.split("\n")
    for diagnostic in error.diagnostics:
        for label in diagnostic.labels:
            if label.span.file == unit.file and 0 < label.span.line <= len(lines):
                label.source = lines[label.span.line - 1]


def _lower(unit: Unit) -> Module:
    context: Context | None = None
    try:
        library = Library(unit)
        scope = library.scope(ENTRY_MODULE)
        node = _entry_point(scope)
        assert scope is not None
        frame = Frame(scope, scope.source)
        context = Context(library, frame, EXPRESSIONS)
        context.run = partial(run_body, context)
        context.run_function = partial(run_function, context)
        return _lower_entry(context, scope, node)
    except TooMany:
        pass
    except GiveUp as stop:
        assert context is not None
        raise CompileError(*context.diagnostics, *stop.error.diagnostics) from None
    except RecursionError:
        raise _too_deep(context, unit) from None
    except TeenyError:
        raise
    except Exception as error:
        raise _internal(context, error) from error
    assert context is not None
    raise CompileError(*context.diagnostics)


def _too_deep(context: Context | None, unit: Unit) -> TeenyError:
    span = context.builder.span if context is not None else None
    return E0107.at(span or Span.point(unit.file, 1)).help("split it into several statements")


def _internal(context: Context | None, error: Exception) -> TeenyError:
    """Our own fault: the error names the place in the kernel and in teenyc."""
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error}".replace("\n", " ")
    span = context.builder.span if context is not None else None
    place = f"{last.filename.replace(chr(92), '/').rpartition('/')[2]}:{last.lineno}"
    return I0000.at(span, where="the front end", what=what).note(f"raised in {last.name}, {place}")


def _entry_point(scope: ModuleScope | None) -> ast.FunctionDef:
    if scope is None:
        raise E0214.error(reason="the unit has no module `entry`")
    for stmt in scope.statements:
        if isinstance(stmt, ast.FunctionDef):
            return stmt
    raise E0214.error(reason="module `entry` defines no function")


def _lower_entry(context: Context, scope: ModuleScope, node: ast.FunctionDef) -> Module:
    attributes = _read_attributes(context, node)
    function = Function(node, scope.source, scope, is_dsl=False)
    module = Module(context.library.unit.kernel)
    for name in _ATTRIBUTES:
        if name in attributes:
            module.attributes[name] = attributes[name]
    dtypes: list[DType | PointerDType] = []
    hints: list[dict[str, int]] = []
    for parameter in function.parameters:
        dtype = _parameter_type(context, parameter.node)
        dtypes.append(dtype)
        kind = "pointer" if isinstance(dtype, PointerDType) else "scalar"
        element = dtype.element if isinstance(dtype, PointerDType) else dtype
        module.params.append((parameter.name, kind, element.name))
        hints.append(
            {
                attribute: value
                for hint, (attribute, value) in _HINTS.items()
                if parameter.name in attributes.get(hint, ())
            }
        )
    names = [parameter.name for parameter in function.parameters]
    loc = scope.source.location(node, None)
    entry = IRFunction(node.name, [ir_type(d) for d in dtypes], names, hints, loc)
    module.functions.append(entry)
    frame = Frame(scope, scope.source, function=function)
    for name, arg, dtype in zip(names, entry.args, dtypes, strict=True):
        frame.variables[name] = RuntimeValue(arg, dtype)
    context.frame = frame
    context.builder.block = entry.body.block
    run_function(context, function)
    if context.diagnostics:
        raise TooMany
    context.at(node).emit(TT_RETURN, results=())
    return module


def _read_attributes(context: Context, node: ast.FunctionDef) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        for keyword in decorator.keywords:
            if keyword.arg is not None:
                found[keyword.arg] = context.value(keyword.value)
    for name, value in found.items():
        if has_runtime(value) or not isinstance(value, (int, tuple, type(None))):
            raise context.fail(E0214, node.decorator_list[0], reason=f"`{name}` is not a constant")
        if name in _HINTS and type(value) is not tuple:
            raise context.fail(E0214, node.decorator_list[0], reason=f"`{name}` is not a tuple")
    return found


def _parameter_type(context: Context, arg: ast.arg) -> DType | PointerDType:
    if arg.annotation is not None:
        dtype = context.value(arg.annotation)
        if isinstance(dtype, (DType, PointerDType)):
            return dtype
    raise context.fail(E0214, arg, reason=f"parameter `{arg.arg}` has no concrete type")
