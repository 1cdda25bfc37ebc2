"""The names of outside that a function's text uses, with the attributes taken from them.

Purely syntactic: locals and parameters shadow, as Python's scoping says; nothing is looked up.
"""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from teeny_macros.codes import E0029
from teeny_macros.source import Span
from teeny_macros.texts import ANNOTATION, BODY, DEFAULT, Use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parse_function(text: str, file: str = "<text>") -> ast.FunctionDef:
    """The tree of a normalised function. Raises E0029 when it is no Python of this version."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are the author's business
            node = ast.parse(text).body[0]
    except SyntaxError as error:
        place = Span.point(file, error.lineno or 1)
        raise E0029.at(place, reason=error.msg).help(
            "use the syntax of the Python version that runs"
        ) from None
    assert isinstance(node, ast.FunctionDef)
    return node


def find_uses(node: ast.FunctionDef, text: str) -> list[Use]:
    """Each outside chain once for each role, in the order of the text."""
    finder = _Finder(text)
    finder.function(node, frozenset())
    found: dict[tuple[tuple[str, ...], str], Use] = {}
    for use in sorted(finder.uses, key=lambda use: (use.line, use.column)):
        found.setdefault((use.chain, use.role), use)
    return list(found.values())


class _Finder:
    """Walks a function with the set of names that are local at each place."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.uses: list[Use] = []

    def function(self, node: _Scope, outer: frozenset[str]) -> None:
        arguments = node.args
        parameters = _parameters(arguments)
        for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
            self.visit(default, outer, DEFAULT)
        for parameter in parameters:
            if parameter.annotation is not None:
                self.visit(parameter.annotation, outer, ANNOTATION)
        own = {parameter.arg for parameter in parameters}
        if isinstance(node, ast.Lambda):
            self.visit(node.body, outer | own, BODY)
            return
        if node.returns is not None:
            self.visit(node.returns, outer, ANNOTATION)
        own |= set(_bound_names(node.body))
        own -= {name for stmt in _walk_scope(node.body) for name in _declared(stmt)}
        for stmt in node.body:
            self.visit(stmt, outer | own, BODY)

    def visit(self, node: ast.AST, local: frozenset[str], role: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            self.function(node, local)
            return
        if isinstance(node, _COMPREHENSIONS):
            local |= set(_bound_names([generator.target for generator in node.generators]))
        chain = _chain(node)
        if chain is not None:
            self.use(node, chain, local, role)
            return
        if isinstance(node, ast.AnnAssign):
            self.visit(node.annotation, local, ANNOTATION)
            for child in filter(None, (node.target, node.value)):
                self.visit(child, local, role)
            return
        if role == ANNOTATION and isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.string_annotation(node, local)
        for child in ast.iter_child_nodes(node):
            self.visit(child, local, role)

    def use(self, node: ast.AST, chain: tuple[str, ...], local: frozenset[str], role: str) -> None:
        if chain[0] in local:
            return
        assert isinstance(node, ast.expr)  # a chain is one
        line, byte = node.lineno, node.col_offset
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        column = len(text.encode()[:byte].decode(errors="replace")) + 1
        self.uses.append(Use(chain, role, line, column))

    def string_annotation(self, node: ast.Constant, local: frozenset[str]) -> None:
        try:
            tree = ast.parse(str(node.value).strip(), mode="eval")
        except SyntaxError:
            return  # signature.py reports it
        for inner in ast.walk(tree):
            if isinstance(inner, ast.Name) and inner.id not in local:
                self.uses.append(Use((inner.id,), ANNOTATION, node.lineno, node.col_offset + 1))


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    variadic = [
        argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None
    ]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *variadic]


def _chain(node: ast.AST) -> tuple[str, ...] | None:
    """`("a", "b")` for a read of `a.b`; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return (node.id, *reversed(parts))
    return None


_CLOSED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *_COMPREHENSIONS)


def _walk_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes but those inside nested functions, lambdas and comprehensions, in any order."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _CLOSED):
            pending.extend(ast.iter_child_nodes(node))


def _declared(node: ast.AST) -> list[str]:
    return list(node.names) if isinstance(node, ast.Global | ast.Nonlocal) else []


def _bound_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that a scope assigns, imports, defines or catches."""
    for node in _walk_scope(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif (isinstance(node, ast.ExceptHandler) and node.name) or (
            isinstance(node, ast.MatchAs | ast.MatchStar) and node.name
        ):
            yield node.name
        elif isinstance(node, _COMPREHENSIONS):
            # A walrus inside a comprehension binds outside of it.
            for inner in ast.walk(node):
                if isinstance(inner, ast.NamedExpr):
                    yield inner.target.id
