"""Which pointer parameters a kernel may write to, read from the modules of its unit.

Errs on the side of writing: every name that flows into the pointer of a store or an atomic
operation counts, through assignments and helpers. What a load returns is data and carries no
pointer on.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from teeny_macros.unit import DSL_MODULE, KERNEL_MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from teeny_macros.unit import UnitModule

_POINTER_KEYWORDS = ("pointer", "desc")


def written_parameters(modules: Sequence[UnitModule], kernel: str) -> frozenset[str]:
    """The names of the kernel's parameters that it may write through."""
    return _Reader(modules).written(KERNEL_MODULE, kernel)


def _writes(name: str) -> bool:
    return name.startswith(("store", "atomic_", "inline_asm"))


class _Reader:
    """Answers for each function of a unit which of its parameters it writes through."""

    def __init__(self, modules: Sequence[UnitModule]) -> None:
        self.functions: dict[tuple[str, str], ast.FunctionDef] = {}
        self.imported: dict[tuple[str, str], tuple[str, str]] = {}
        self.namespaces: dict[tuple[str, str], str] = {}
        self.known: dict[tuple[str, str], frozenset[str]] = {}
        for module in modules:
            for node in ast.parse(module.text).body:
                if isinstance(node, ast.FunctionDef):
                    self.functions[module.name, node.name] = node
                elif isinstance(node, ast.ImportFrom):
                    for alias in node.names:
                        local = alias.asname or alias.name
                        self.imported[module.name, local] = (str(node.module), alias.name)
                elif isinstance(node, ast.Import):
                    for alias in node.names:
                        self.namespaces[module.name, alias.asname or alias.name] = alias.name

    def written(self, module: str, name: str) -> frozenset[str]:
        key = (module, name)
        node = self.functions.get(key)
        if node is None:
            return frozenset()
        if key not in self.known:
            parameters = _parameters(node)
            self.known[key] = frozenset(parameters)  # what a recursive call would find
            sinks = {name for call in _calls(node) for name in self.sinks(module, call)}
            sources = _sources(node)
            pending = list(sinks)
            while pending:
                for source in sources.get(pending.pop(), ()):
                    if source not in sinks:
                        sinks.add(source)
                        pending.append(source)
            self.known[key] = frozenset(sinks & set(parameters))
        return self.known[key]

    def sinks(self, module: str, call: ast.Call) -> Iterator[str]:
        """The names that a call writes through."""
        target = self.callee(module, call.func)
        if target is None:  # a method: `descriptor.store(...)`
            if isinstance(call.func, ast.Attribute) and _writes(call.func.attr):
                yield from _names(call.func.value)
            return
        if target[0] == DSL_MODULE:
            if target[1].startswith("inline_asm"):
                yield from _names(call)
            elif _writes(target[1]):
                pointers = [*call.args[:1]]
                pointers += [k.value for k in call.keywords if k.arg in _POINTER_KEYWORDS]
                for pointer in pointers:
                    yield from _names(pointer)
            return
        node = self.functions.get(target)
        if node is None:
            return
        written = self.written(*target)
        parameters = _parameters(node)
        for parameter, argument in zip(parameters, call.args, strict=False):
            if parameter in written:
                yield from _names(argument)
        for keyword in call.keywords:
            if keyword.arg in written:
                yield from _names(keyword.value)

    def callee(self, module: str, function: ast.expr) -> tuple[str, str] | None:
        """The module and name of what is called; None for a method of a value."""
        if isinstance(function, ast.Name):
            return self.imported.get((module, function.id), (module, function.id))
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            found = self.namespaces.get((module, function.value.id))
            if found is not None:
                return self.imported.get((found, function.attr), (found, function.attr))
        return None


def _parameters(node: ast.FunctionDef) -> list[str]:
    arguments = node.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (found for found in ast.walk(node) if isinstance(found, ast.Call))


def _names(node: ast.AST) -> Iterator[str]:
    """The names that a value may carry a pointer of."""
    if isinstance(node, ast.Call):
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        if name.startswith("load"):
            return
    if isinstance(node, ast.Name):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _names(child)


def _sources(node: ast.FunctionDef) -> dict[str, set[str]]:
    """For each variable, the names that its assignments read."""
    found: dict[str, set[str]] = {}
    for stmt in ast.walk(node):
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(stmt, ast.Assign):
            targets, value = stmt.targets, stmt.value
        elif isinstance(stmt, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets, value = [stmt.target], stmt.value
        elif isinstance(stmt, ast.For):
            targets, value = [stmt.target], stmt.iter
        if value is not None:
            names = set(_names(value))
            for target in targets:
                for name in _names(target):
                    found.setdefault(name, set()).update(names)
    return found
