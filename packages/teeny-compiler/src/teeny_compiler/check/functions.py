"""Function objects made from text: what `def` would make, without running the module around it.

The object has the code, defaults and annotations that Python would give it and is never called, so
the capture of kernels works on it as it does in a running program.
"""

from __future__ import annotations

import ast
import sys
import types
from typing import TYPE_CHECKING, Any, TypeVar

from teeny_compiler.check.scope import MISSING
from teeny_compiler.check.values import UNKNOWN, is_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_compiler.check.evaluate import Evaluator
    from teeny_compiler.check.scope import Scope

Code = dict[tuple[str, int], types.CodeType]


def code_objects(code: types.CodeType) -> Code:
    """The code of all functions of a compiled module, by name and first line."""
    found: Code = {}
    pending = [code]
    while pending:
        for constant in pending.pop().co_consts:
            if isinstance(constant, types.CodeType):
                found.setdefault((constant.co_name, constant.co_firstlineno), constant)
                pending.append(constant)
    return found


def first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The line of the first decorator, or of the `def`."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def make_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, evaluator: Evaluator
) -> types.FunctionType | None:
    """The function that a `def` makes in `scope`; None where its code is not found."""
    code = scope.module.code.get((node.name, first_line(node)))
    if code is None:
        return None
    inner = _with_type_parameters(node, scope, evaluator)
    variables = scope.visible()
    variables.update(inner)
    cells = tuple(
        types.CellType(variables[name]) if name in variables else types.CellType()
        for name in code.co_freevars
    )
    function = types.FunctionType(code, scope.module.variables, node.name, None, cells)
    arguments = node.args
    function.__defaults__ = tuple(evaluator.value(one) for one in arguments.defaults) or None
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    function.__kwdefaults__ = {
        argument.arg: evaluator.value(default) for argument, default in keywords if default
    } or None
    function.__annotations__ = {
        argument.arg: annotation_value(argument.annotation, evaluator, inner)
        for argument in _arguments(arguments)
        if argument.annotation is not None
    }
    prefix = f"{scope.name}." if scope.kind == "class" and scope.name else ""
    function.__qualname__ = (
        f"<locals>.{node.name}" if scope.kind == "function" else f"{prefix}{node.name}"
    )
    function.__module__ = scope.module.name
    if inner and sys.version_info >= (3, 12):
        function.__type_params__ = tuple(inner.values())
    return function


def _arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)


def annotation_value(
    node: ast.expr, evaluator: Evaluator, parameters: dict[str, Any] | None = None
) -> Any:
    """What an annotation means: an object; UNKNOWN for one that says nothing to a kernel.

    A text whose names do not exist stays a text, so that capture reports it in its own words.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
        try:
            node = ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            return text
    unknown = [
        name.id
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
        and name.id not in (parameters or {})
        and evaluator.scope.lookup(name.id) is MISSING
    ]
    if unknown:
        plain = not any(isinstance(part, ast.Call) for part in ast.walk(node))
        return ast.unparse(node) if plain else UNKNOWN
    if parameters:
        from teeny_compiler.check.evaluate import Evaluator as Inner
        from teeny_compiler.check.scope import Scope as Around

        scope = Around(evaluator.scope.module, dict(parameters), evaluator.scope, "function")
        evaluator = Inner(scope, evaluator.caller)
    found = evaluator.value(node)
    return found if is_known(found) else _known_part(node, evaluator)


def _known_part(node: ast.expr, evaluator: Evaluator) -> Any:
    """Of `Ptr[f32] | torch.Tensor` what the kernel language knows."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        for part in (node.left, node.right):
            found = annotation_value(part, evaluator)
            if is_known(found):
                return found
    return UNKNOWN


def _with_type_parameters(
    node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, evaluator: Evaluator
) -> dict[str, Any]:
    """The type parameters of `def k[D: Num](...)` as type variables."""
    found: dict[str, Any] = {}
    for parameter in getattr(node, "type_params", ()):
        bound = getattr(parameter, "bound", None)
        value = evaluator.value(bound) if bound is not None else None
        if isinstance(value, tuple) and is_known(value):
            found[parameter.name] = TypeVar(parameter.name, *value)
        else:
            found[parameter.name] = TypeVar(
                parameter.name, bound=value if is_known(value) else None
            )
    return found
