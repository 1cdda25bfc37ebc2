"""Signatures read from text, and arguments bound to them as Python does, errors at the argument."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from teenyc.codes import E0105, E0204, E0205, E0206, E0207
from teenyc.frontend.suggest import suggest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.source import Span
    from teenyc.frontend.parser import Source
    from teenyc.frontend.scope import Scope

POSITIONAL, POSITIONAL_ONLY, KEYWORD, STAR = "positional", "positional-only", "keyword", "star"


class Parameter(NamedTuple):
    """One parameter of a `def`. `is_const`: annotated `Const[...]` or `constexpr`."""

    name: str
    kind: str
    default: ast.expr | None
    is_const: bool
    node: ast.arg


class Function:
    """A `def` of a unit or of the DSL. Primitive: its body is `...`, its meaning a handler."""

    __slots__ = (
        "body",
        "is_dsl",
        "is_primitive",
        "is_property",
        "local_names",
        "name",
        "node",
        "parameters",
        "scope",
        "source",
    )

    def __init__(
        self, node: ast.FunctionDef, source: Source, scope: Scope, *, is_dsl: bool
    ) -> None:
        self.name = node.name
        self.node = node
        self.source = source
        self.scope = scope
        self.is_dsl = is_dsl
        self.body = _without_docstring(node.body)
        self.is_primitive = is_dsl and len(self.body) == 1 and _is_ellipsis(self.body[0])
        self.is_property = any(
            isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list
        )
        self.parameters = parse_parameters(node, source)
        self.local_names: frozenset[str] | None = None

    @property
    def header(self) -> Span:
        """The span of `def name`."""
        whole = self.source.span(self.node)
        end = whole.column + len("def ") + len(self.name)
        return whole._replace(end_line=whole.line, end_column=end)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return body
    return body[1:] if isinstance(first.value.value, str) else body


def _is_ellipsis(stmt: ast.stmt) -> bool:
    return (
        isinstance(stmt, ast.Expr)
        and isinstance(stmt.value, ast.Constant)
        and stmt.value.value is ...
    )


def parse_parameters(node: ast.FunctionDef, source: Source) -> tuple[Parameter, ...]:
    """The parameters of a `def`. Raises E0105 for `**kwargs`."""
    args = node.args
    if args.kwarg is not None:
        raise E0105.at(source.span(args.kwarg), what=f"**{args.kwarg.arg}").help(
            "name the parameters one by one"
        )
    found: list[Parameter] = []
    plain = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults))
    for arg, default in zip(plain, [*defaults, *args.defaults], strict=True):
        kind = POSITIONAL_ONLY if arg in args.posonlyargs else POSITIONAL
        is_const = is_const_annotation(arg.annotation)
        found.append(Parameter(arg.arg, kind, default, is_const, arg))
    if args.vararg is not None:
        arg = args.vararg
        found.append(Parameter(arg.arg, STAR, None, is_const_annotation(arg.annotation), arg))
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(Parameter(arg.arg, KEYWORD, default, is_const_annotation(arg.annotation), arg))
    return tuple(found)


def is_const_annotation(annotation: ast.expr | None) -> bool:
    """Whether an annotation says `Const`, `Const[...]` or `constexpr`, however imported."""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    if isinstance(annotation, ast.Attribute):
        return annotation.attr in ("Const", "constexpr")
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.rpartition(".")[2].partition("[")[0] in ("Const", "constexpr")
    return isinstance(annotation, ast.Name) and annotation.id in ("Const", "constexpr")


class Argument(NamedTuple):
    """One argument of a call: its value, where it stands, and its keyword if it has one."""

    value: Any
    span: Span
    keyword: str | None = None
    keyword_span: Span | None = None

    @property
    def place(self) -> Span:
        """Where the argument stands, its keyword included."""
        return self.keyword_span or self.span


def bind(
    name: str, parameters: Sequence[Parameter], arguments: Sequence[Argument], span: Span
) -> dict[str, Argument]:
    """Arguments by parameter name; parameters left to their defaults are absent.

    The rules are those of a Python call. Raises E0204 (too many), E0205 (missing), E0206 (unknown
    keyword) and E0207 (given twice), each at its own argument.
    """
    bound: dict[str, Argument] = {}
    positional = [p for p in parameters if p.kind in (POSITIONAL, POSITIONAL_ONLY)]
    star = next((p for p in parameters if p.kind == STAR), None)
    plain = [a for a in arguments if a.keyword is None]
    for parameter, argument in zip(positional, plain, strict=False):
        bound[parameter.name] = argument
    extra = plain[len(positional) :]
    if star is not None:
        place = extra[0].span if extra else span
        bound[star.name] = Argument(tuple(a.value for a in extra), place)
    elif extra:
        raise _too_many(name, positional, len(plain), extra[0]).help(_call(name, parameters))
    known = {p.name for p in parameters if p.kind in (POSITIONAL, KEYWORD)}
    for argument in arguments:
        keyword = argument.keyword
        if keyword is None:
            continue
        if keyword not in known:
            raise _unknown_keyword(name, keyword, argument, known)
        if keyword in bound:
            raise E0207.at(argument.place, "given again here", function=name, name=keyword).also(
                bound[keyword].place, "given first here"
            )
        bound[keyword] = argument
    missing = [
        f"`{p.name}`"
        for p in parameters
        if p.kind != STAR and p.default is None and p.name not in bound
    ]
    if missing:
        raise E0205.at(span, function=name, names=", ".join(missing)).help(_call(name, parameters))
    return bound


def _call(name: str, parameters: Sequence[Parameter]) -> str:
    """How to call a function, in one line."""
    shown = [
        f"*{p.name}" if p.kind == STAR else p.name if p.default is None else f"{p.name}=..."
        for p in parameters
        if p.name != "self"
    ]
    return f"call it as `{name}({', '.join(shown)})`"


def _too_many(
    name: str, positional: Sequence[Parameter], given: int, argument: Argument
) -> TeenyError:
    expected = len(positional)
    plural = "" if expected == 1 else "s"
    return E0204.at(
        argument.span,
        "one too many",
        function=name,
        expected=f"{expected} positional argument{plural}",
        given=given,
    )


def _unknown_keyword(name: str, keyword: str, argument: Argument, known: set[str]) -> TeenyError:
    error = E0206.at(argument.place, function=name, name=keyword)
    helps = error.diagnostics[-1].helps
    if not suggest(error, keyword, sorted(known)).diagnostics[-1].helps:
        helps.append(f"its parameters are {', '.join(f'`{k}`' for k in sorted(known))}")
    return error
