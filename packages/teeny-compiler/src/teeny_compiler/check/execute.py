"""Statements: what is known of the variables of a module and of its functions, without running it.

Branches of which the test is not known are both followed, loops once (or for each of a few known
items). The bodies of host functions are followed for the launches in them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from teeny_compiler.check.calls import annotated
from teeny_compiler.check.evaluate import Evaluator
from teeny_compiler.check.kernels import Decorator, apply_decorator
from teeny_compiler.check.scope import MISSING, Scope
from teeny_compiler.check.values import UNKNOWN, Foreign, HostFunction, Launcher, is_known
from teeny_compiler.codes import E0951, E0952
from teeny_macros.kernel import device, kernel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny_compiler.check.session import Session

_DEEPEST = 24  # nested functions and classes


class Executor:
    """Follows the statements of one scope."""

    def __init__(self, session: Session, scope: Scope, depth: int = 0) -> None:
        self.session = session
        self.scope = scope
        self.depth = depth
        self.evaluator = Evaluator(scope, session.caller)
        self.later: list[HostFunction] = []

    def run(self, statements: Iterable[ast.stmt]) -> None:
        """Follow statements in order, then the host functions that they define."""
        self.block(statements)
        for function in self.later:
            self.follow(function)

    def block(self, statements: Iterable[ast.stmt]) -> None:
        """Follow statements in order."""
        for statement in statements:
            method = getattr(self, f"visit_{type(statement).__name__}", self.other)
            method(statement)

    def other(self, node: ast.stmt) -> None:
        """A statement without a meaning here: its expressions may launch something."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluator.value(child)

    def visit_Expr(self, node: ast.Expr) -> None:
        value = self.evaluator.value(node.value)
        if isinstance(value, Launcher):
            error = E0951.error(kernel=self.session.name_of(value.kernel))
            self.session.refuse(
                error.help("call it: `kernel[grid](x, y, n)`"), self.scope.module, node
            )

    # --- imports and assignments ------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            found = self.session.library.find(alias.name)
            if alias.asname is None:
                root = alias.name.partition(".")[0]
                self.scope.bind(root, self.session.library.find(root))
            else:
                self.scope.bind(alias.asname, found)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        name = node.module or ""
        if node.level:
            parts = self.scope.module.package.split(".")
            parts = parts[: len(parts) - node.level + 1]
            name = ".".join([*parts, name] if name else parts)
        if name == "__future__":
            return
        module = self.session.library.find(name)
        for alias in node.names:
            if alias.name == "*":
                if not isinstance(module, Foreign):
                    self.star(module)
                continue
            value = self.evaluator.attribute(module, alias.name)
            self.scope.bind(alias.asname or alias.name, value)

    def star(self, module: Any) -> None:
        """`from module import *`."""
        names = getattr(module, "__all__", None)
        if not isinstance(names, list | tuple):
            names = [name for name in vars(module) if not name.startswith("_")]
        for name in names:
            self.scope.bind(name, self.session.library.member(module, name))

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self.evaluator.value(node.value)
        if value is None and isinstance(node.value, ast.Call):
            self.refuse_result(node.value)
        for target in node.targets:
            self.evaluator.assign(target, value)

    def refuse_result(self, call: ast.Call) -> None:
        """A launch gives nothing to keep."""
        launcher = self.session.launches.launched.get(id(call))
        if launcher is not None:
            error = E0952.error(kernel=launcher)
            self.session.refuse(
                error.help("results are in the arrays that the kernel stores to"),
                self.scope.module,
                call,
            )

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.evaluator.assign(node.target, self.evaluator.value(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        right = self.evaluator.value(node.value)
        if isinstance(node.target, ast.Name):
            left = self.scope.lookup(node.target.id)
            value = (
                UNKNOWN if left is MISSING else self.evaluator.binary(type(node.op), left, right)
            )
            self.scope.bind(node.target.id, value)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.variables.pop(target.id, None)

    # --- control flow -----------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> None:
        if _is_type_checking(node.test):
            self.for_checkers(node.body)
            self.block(node.orelse)
            return
        test = self.evaluator.value(node.test)
        if is_known(test) and not _is_main(node.test):
            self.block(node.body if test else node.orelse)
            return
        before = dict(self.scope.variables)
        self.block(node.body)
        after = dict(self.scope.variables)
        self.restore(before)
        self.block(node.orelse)
        self.scope.merge(after)

    def for_checkers(self, statements: Iterable[ast.stmt]) -> None:
        """Names that only type checkers import."""
        before = dict(self.scope.variables)
        self.block(statements)
        for name, value in list(self.scope.variables.items()):
            if name not in before:
                self.scope.typing[name] = value
                del self.scope.variables[name]

    def restore(self, variables: dict[str, Any]) -> None:
        """Go back to earlier variables; the dict itself stays, functions refer to it."""
        self.scope.variables.clear()
        self.scope.variables.update(variables)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        turns = self.evaluator.turns(self.evaluator.value(node.iter))
        if turns is None:
            self.scope.forget(_assigned(node.body))
        for item in turns if turns is not None else [UNKNOWN]:
            self.evaluator.assign(node.target, item)
            self.block(node.body)
        if turns is None:
            self.scope.forget(_assigned(node.body))
        self.block(node.orelse)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> None:
        self.scope.forget(_assigned(node.body))
        self.evaluator.value(node.test)
        self.block(node.body)
        self.scope.forget(_assigned(node.body))
        self.block(node.orelse)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        silent = any(_expects_errors(item.context_expr) for item in node.items)
        for item in node.items:
            value = self.evaluator.value(item.context_expr)
            if item.optional_vars is not None:
                self.evaluator.assign(item.optional_vars, UNKNOWN if value is None else value)
        with self.session.silence(active=silent):
            self.block(node.body)

    visit_AsyncWith = visit_With

    def visit_Try(self, node: ast.Try) -> None:
        self.block(node.body)
        done = dict(self.scope.variables)
        for handler in node.handlers:
            if handler.name:
                self.scope.bind(handler.name, UNKNOWN)
            self.block(handler.body)
        if node.handlers:
            handled = dict(self.scope.variables)
            self.restore(done)
            for name, value in handled.items():
                self.scope.variables.setdefault(name, value)
        self.block(node.orelse)
        self.block(node.finalbody)

    visit_TryStar = visit_Try

    def visit_Match(self, node: ast.Match) -> None:
        self.evaluator.value(node.subject)
        before = dict(self.scope.variables)
        for case in node.cases:
            self.scope.forget(
                part.name
                for part in ast.walk(case.pattern)
                if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name
            )
            self.block(case.body)
        self.scope.merge(before)

    # --- definitions ------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        value: Any = HostFunction(node, self.scope)
        for decorator in reversed(node.decorator_list):
            found = self.evaluator.value(decorator)
            if found is kernel or found is device:
                found = Decorator(found.__name__, {})
            if isinstance(found, Decorator):
                value = apply_decorator(self.session, self.evaluator, found, value, decorator)
            elif not (isinstance(value, HostFunction) or found is staticmethod):
                value = UNKNOWN
        self.scope.bind(node.name, value)
        if isinstance(value, HostFunction):
            self.later.append(value)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        bases = [self.evaluator.value(base) for base in node.bases]
        inner = Scope(self.scope.module, {}, self.scope, "class")
        inner.name = node.name
        if self.depth < _DEEPEST:
            executor = Executor(self.session, inner, self.depth + 1)
            executor.block(node.body)
            self.later += executor.later
        self.scope.bind(node.name, _make_class(node.name, bases, inner.variables))

    def follow(self, function: HostFunction) -> None:
        """Follow the body of a host function, of whose parameters the annotations tell."""
        if self.depth >= _DEEPEST:
            return
        node = function.node
        inner = Scope(self.scope.module, {}, function.scope, "function")
        inner.typing = _typing_around(function.scope)
        reader = Evaluator(function.scope, self.session.caller, typing=True)
        arguments = node.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            value = (
                UNKNOWN if argument.annotation is None else annotated(argument.annotation, reader)
            )
            inner.bind(argument.arg, value)
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None:
                inner.bind(extra.arg, UNKNOWN)
        Executor(self.session, inner, self.depth + 1).run(node.body)


def _typing_around(scope: Scope) -> dict[str, Any]:
    return scope.typing


def _make_class(name: str, bases: list[Any], namespace: dict[str, Any]) -> Any:
    """A class whose attributes kernels may capture; an enumeration keeps its members."""
    import enum

    members = {key: value for key, value in namespace.items() if not key.startswith("__")}
    kinds = [base for base in bases if isinstance(base, type)]
    try:
        if any(issubclass(kind, enum.Enum) for kind in kinds):
            values = {
                key: value
                for key, value in members.items()
                if is_known(value) and isinstance(value, int | float | str)
            }
            return kinds[-1](name, values)
        return type(name, (), members)
    except Exception:  # noqa: BLE001 - a class that cannot be made is not followed
        return UNKNOWN


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and "__name__" in ast.unparse(test)


def _expects_errors(call: ast.expr) -> bool:
    """`with pytest.raises(...)`: what is wrong there is meant to be."""
    function = call.func if isinstance(call, ast.Call) else call
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("raises", "assertRaises", "assertRaisesRegex", "suppress")


def _assigned(statements: Iterable[ast.stmt]) -> set[str]:
    return {
        node.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
