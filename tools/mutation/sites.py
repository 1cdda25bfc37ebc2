"""Where a kernel's text can be made a little wrong, and how.

A site is one small change of one expression or statement of a function under `@kernel` or
`@device`: what a slip of the author would look like. Only texts are made here, nothing is run.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

_DECORATORS = {"kernel", "device"}
_OTHER_BOUND: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
_OTHER_CALL = {
    "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "exp": "exp2",
    "exp2": "exp", "log": "log2", "log2": "log", "sin": "cos", "cos": "sin", "sqrt": "rsqrt",
    "rsqrt": "sqrt", "sum": "max", "floor": "ceil", "ceil": "floor", "argmax": "argmin",
    "argmin": "argmax",
}  # fmt: skip


class Site(NamedTuple):
    """One change: in `file`, in the function `function` whose `def` is at `line`.

    `start` and `end` are offsets into the file's UTF-8 bytes; `new` replaces what lies between.
    """

    file: str
    function: str
    line: int
    kind: str
    start: int
    end: int
    old: str
    new: str
    place: int

    @property
    def told(self) -> str:
        """The change in a line."""
        return f"{self.file}:{self.place}: {self.kind}: `{self.old}` -> `{self.new}`"


def find_sites(root: Path) -> list[Site]:
    """Every site of the package's files below `root`, in the order of the text."""
    found: list[Site] = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for function in _functions(ast.parse(text)):
            found += _sites_of(str(path.relative_to(root)), text, function)
    return found


def apply(text: str, site: Site) -> str:
    """The file's `text` with the change made."""
    data = text.encode()
    return (data[: site.start] + site.new.encode() + data[site.end :]).decode()


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if isinstance(called, ast.Name) and called.id in _DECORATORS:
                    yield node


class _Lines:
    """Offsets in bytes of lines and columns, as `ast` counts them."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()


def _sites_of(file: str, text: str, function: ast.FunctionDef) -> list[Site]:
    lines = _Lines(text)
    line = min([function.lineno, *(d.lineno for d in function.decorator_list)])
    found: list[Site] = []

    def add(node: ast.expr, kind: str, new: str) -> None:
        start, end = lines.span(node)
        old = lines.text(node)
        if new != old:
            place = node.lineno
            found.append(Site(file, function.name, line, kind, start, end, old, new, place))

    for statement in function.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # the docstring
        for node in ast.walk(statement):
            if isinstance(node, ast.expr):
                for change in _CHANGES:
                    for kind, new in change(node):
                        add(node, kind, new)
            elif isinstance(node, ast.If):
                add(node.test, "condition", f"not ({lines.text(node.test)})")
    _swap_stores(function, lines, add)
    return found


def _swap_stores(
    function: ast.FunctionDef, lines: _Lines, add: Callable[[ast.expr, str, str], None]
) -> None:
    """Exchange what two stores write: of each pair, what the first writes becomes the second's."""
    stores = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and _name(node.func) == "store" and len(node.args) >= 2
    ]
    for one, other in pairwise(stores):
        add(one.args[1], "swapped stores", lines.text(other.args[1]))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


Changes = Iterator[tuple[str, str]]


def _masks(node: ast.expr) -> Changes:
    if isinstance(node, ast.Call) and _name(node.func) in {"load", "store"}:
        rest = [k for k in node.keywords if k.arg not in {"mask", "other"}]
        if len(rest) < len(node.keywords):
            yield "mask dropped", ast.unparse(ast.Call(node.func, node.args, rest))


def _bounds(node: ast.expr) -> Changes:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = _OTHER_BOUND.get(type(node.ops[0]))
        if other is not None:
            yield "bound", ast.unparse(ast.Compare(node.left, [other()], node.comparators))


def _operators(node: ast.expr) -> Changes:
    if not isinstance(node, ast.BinOp):
        return
    left, right = node.left, node.right
    if isinstance(node.op, ast.Add):
        yield "operator", _bracketed(ast.BinOp(left, ast.Sub(), right))
    elif isinstance(node.op, ast.Sub):
        yield "operator", _bracketed(ast.BinOp(left, ast.Add(), right))
        yield "operands swapped", _bracketed(ast.BinOp(right, ast.Sub(), left))
    elif isinstance(node.op, ast.Mult):
        yield "factor dropped", _bracketed(left)
        yield "factor dropped", _bracketed(right)
    elif isinstance(node.op, ast.Div):
        yield "divisor dropped", _bracketed(left)


def _constants(node: ast.expr) -> Changes:
    """Numbers beside an operator: an index off by one, a wrong constant."""
    if isinstance(node, ast.BinOp):
        for side in ("left", "right"):
            number = getattr(node, side)
            if not isinstance(number, ast.Constant) or isinstance(number.value, bool | str):
                continue
            changed = copy.copy(node)
            if isinstance(number.value, int):
                setattr(changed, side, ast.Constant(number.value + 1))
                yield "off by one", _bracketed(changed)
            elif isinstance(number.value, float):
                setattr(changed, side, ast.Constant(number.value * 1.01 or 0.01))
                yield "constant", _bracketed(changed)


def _calls(node: ast.expr) -> Changes:
    if not isinstance(node, ast.Call):
        return
    name = _name(node.func)
    if isinstance(node.func, ast.Attribute) and name in _OTHER_CALL:
        other = ast.Attribute(node.func.value, _OTHER_CALL[name])
        yield "function", ast.unparse(ast.Call(other, node.args, node.keywords))
    if name == "where" and len(node.args) == 3:
        condition, one, two = node.args
        changed = ast.Call(node.func, [condition, two, one], node.keywords)
        yield "choices swapped", ast.unparse(changed)


def _bracketed(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


_CHANGES = (_masks, _bounds, _operators, _constants, _calls)
