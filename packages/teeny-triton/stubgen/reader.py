"""Reads the DSL text: functions with parameters and typing rules, classes, aliases."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ELLIPSIS = "..."


@dataclass(frozen=True)
class Parameter:
    """One parameter as the `def` has it; `default` and `annotation` are source text."""

    name: str
    annotation: str | None = None
    default: str | None = None
    variadic: bool = False
    keyword_only: bool = False


@dataclass(frozen=True)
class Rule:
    """One decorator: its name, the ranks it is repeated for, its positional and named strings."""

    name: str
    ranks: tuple[int, ...] = ()
    values: tuple[str, ...] = ()
    types: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Function:
    """A function or method; `calls` is the function that a method's one-line body calls."""

    name: str
    parameters: tuple[Parameter, ...]
    rules: tuple[Rule, ...]
    doc: str
    is_property: bool = False
    calls: str | None = None


@dataclass(frozen=True)
class Class:
    """A class: its bases as text, its rows (`NAME = value`) and its methods."""

    name: str
    bases: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    methods: tuple[Function, ...]
    doc: str


@dataclass(frozen=True)
class Module:
    """One file of the text."""

    name: str
    doc: str
    functions: tuple[Function, ...]
    classes: tuple[Class, ...]
    aliases: tuple[tuple[str, str], ...]

    @property
    def names(self) -> list[str]:
        """Every public name, in the order of the file."""
        return [
            *(item.name for item in self.classes),
            *(alias for alias, _ in self.aliases),
            *(item.name for item in self.functions),
        ]


def _text(node: ast.expr | None) -> str | None:
    if node is None:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(node)


def _parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    found = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(found) - len(arguments.defaults)) + [
        ast.unparse(default) for default in arguments.defaults
    ]
    rows = [
        Parameter(argument.arg, _text(argument.annotation), default)
        for argument, default in zip(found, defaults, strict=True)
    ]
    if arguments.vararg is not None:
        rows.append(Parameter(arguments.vararg.arg, variadic=True))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        assert default is not None, "a keyword-only parameter has a default"
        annotation, text = _text(argument.annotation), ast.unparse(default)
        rows.append(Parameter(argument.arg, annotation, text, keyword_only=True))
    assert arguments.kwarg is None, "** is not part of the text"
    return tuple(rows)


def _rule(node: ast.expr) -> Rule:
    if isinstance(node, ast.Name):
        return Rule(node.id)
    assert isinstance(node, ast.Call), ast.unparse(node)
    assert isinstance(node.func, ast.Name), ast.unparse(node)
    ranks: tuple[int, ...] = ()
    types: dict[str, str] = {}
    for keyword in node.keywords:
        value = ast.literal_eval(keyword.value)
        assert keyword.arg is not None
        if keyword.arg == "k":
            ranks = value
        else:
            types[keyword.arg] = value
    values = tuple(ast.literal_eval(argument) for argument in node.args)
    return Rule(node.func.id, ranks, values, types)


def _function(node: ast.FunctionDef) -> Function:
    rules = [_rule(decorator) for decorator in node.decorator_list]
    last = node.body[-1]
    calls = None
    if isinstance(last, ast.Return) and isinstance(last.value, ast.Call):
        called = last.value.func
        calls = called.id if isinstance(called, ast.Name) else None
    return Function(
        node.name,
        _parameters(node.args),
        tuple(rule for rule in rules if rule.name not in {"property", "on_host"}),
        ast.get_docstring(node) or "",
        is_property=any(rule.name == "property" for rule in rules),
        calls=calls,
    )


def _class(node: ast.ClassDef) -> Class:
    rows: list[tuple[str, str]] = []
    methods: list[Function] = []
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            assert isinstance(statement.targets[0], ast.Name)
            rows.append((statement.targets[0].id, ast.unparse(statement.value)))
        elif isinstance(statement, ast.FunctionDef):
            methods.append(_function(statement))
    bases = tuple(ast.unparse(base) for base in node.bases)
    return Class(node.name, bases, tuple(rows), tuple(methods), ast.get_docstring(node) or "")


def read_module(path: Path) -> Module:
    """The file at `path`, taken apart."""
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 11))
    functions: list[Function] = []
    classes: list[Class] = []
    aliases: list[tuple[str, str]] = []
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            if not statement.name.startswith("_"):
                functions.append(_function(statement))
        elif isinstance(statement, ast.ClassDef):
            classes.append(_class(statement))
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
            assert isinstance(statement.targets[0], ast.Name)
            aliases.append((statement.targets[0].id, statement.value.id))
    return Module(
        path.stem, ast.get_docstring(tree) or "", tuple(functions), tuple(classes), tuple(aliases)
    )
