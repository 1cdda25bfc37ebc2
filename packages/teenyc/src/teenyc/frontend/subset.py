"""Which Python a kernel may use: each node of `ast`, supported or the code that refuses it."""

from __future__ import annotations

import ast
from typing import NamedTuple

from teeny_macros.diagnostics import Code
from teenyc.codes import E0102, E0103


class Row(NamedTuple):
    """One kind of node: its name in messages, the code that refuses it, and what to do instead."""

    what: str
    refused_by: Code | None = None
    instead: str = ""


_HELPER = "write a helper function with `@device` and call it"
_TUPLE = "use a tuple: `(a, b)`"
_LOOP = "use a `for` loop over `tl.static_range`"

STATEMENTS: dict[type[ast.stmt], Row] = {
    ast.Assign: Row("assignment"),
    ast.AugAssign: Row("augmented assignment"),
    ast.AnnAssign: Row("annotated assignment"),
    ast.Expr: Row("expression"),
    ast.If: Row("if"),
    ast.For: Row("for"),
    ast.While: Row("while"),
    ast.Return: Row("return"),
    ast.Assert: Row("assert"),
    ast.Pass: Row("pass"),
    ast.Break: Row("break"),
    ast.Continue: Row("continue"),
    ast.FunctionDef: Row("def", E0102, _HELPER),
    ast.AsyncFunctionDef: Row("async def", E0102, _HELPER),
    ast.ClassDef: Row("class", E0102, "return several values as a tuple"),
    ast.Delete: Row("del", E0102, "leave the variable as it is: it costs nothing"),
    ast.With: Row("with", E0102, "a kernel opens nothing: write the body alone"),
    ast.AsyncWith: Row("async with", E0102, "a kernel opens nothing: write the body alone"),
    ast.AsyncFor: Row("async for", E0102, "use `for`"),
    ast.Match: Row("match", E0102, "use `if` and `elif`"),
    ast.Raise: Row("raise", E0102, "check at compile time: `tl.static_assert(...)`"),
    ast.Try: Row("try", E0102, "a kernel raises nothing"),
    ast.TryStar: Row("try", E0102, "a kernel raises nothing"),
    ast.Import: Row("import", E0102, "import at the top of the file"),
    ast.ImportFrom: Row("import", E0102, "import at the top of the file"),
    ast.Global: Row("global", E0102, "pass the value in and return the new one"),
    ast.Nonlocal: Row("nonlocal", E0102, "pass the value in and return the new one"),
}

EXPRESSIONS: dict[type[ast.expr], Row] = {
    ast.BoolOp: Row("`and` and `or`"),
    ast.BinOp: Row("binary operators"),
    ast.UnaryOp: Row("unary operators"),
    ast.IfExp: Row("the conditional expression"),
    ast.Compare: Row("comparisons"),
    ast.Call: Row("calls"),
    ast.JoinedStr: Row("f-strings of compile-time values"),
    ast.FormattedValue: Row("f-strings of compile-time values"),
    ast.Constant: Row("literals"),
    ast.Attribute: Row("attributes"),
    ast.Subscript: Row("subscripts"),
    ast.Name: Row("names"),
    ast.Tuple: Row("tuples, those of a captured class of named tuples too"),
    ast.List: Row("lists of compile-time values, read as tuples"),
    ast.Slice: Row("slices"),
    ast.Starred: Row("`*` in a call"),
    ast.NamedExpr: Row("`:=`", E0103, "assign on a line of its own"),
    ast.Lambda: Row("`lambda` as a combine function"),
    ast.Dict: Row("a dict", E0103, _TUPLE),
    ast.Set: Row("a set", E0103, _TUPLE),
    ast.ListComp: Row("list comprehensions over tuples and `tl.static_range`, read as tuples"),
    ast.SetComp: Row("a set comprehension", E0103, _LOOP),
    ast.DictComp: Row("a dict comprehension", E0103, _LOOP),
    ast.GeneratorExp: Row(
        "a generator expression", E0103, "use a `for` loop over `tl.static_range`"
    ),
    ast.Await: Row("`await`", E0103, "call a helper marked with `@device`"),
    ast.Yield: Row("`yield`", E0103, "return the values as a tuple"),
    ast.YieldFrom: Row("`yield from`", E0103, "return the values as a tuple"),
}

_STATEMENT, _EXPRESSION = Row("this statement", E0102), Row("this expression", E0103)


def row_of(node: ast.stmt | ast.expr) -> Row:
    """The row of a node; nodes of later Python versions are refused."""
    if isinstance(node, ast.stmt):
        return STATEMENTS.get(type(node), _STATEMENT)
    return EXPRESSIONS.get(type(node), _EXPRESSION)
