"""Declared extents: how many elements of an array a kernel may touch, as text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from teenyc.bounds.poly import Condition, Poly, at_least
from teenyc.codes import E0517

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teenyc.bounds.symbols import Symbols

_GRID = "num_programs"


class Extent:
    """The elements of one array, and what its form says of its parts.

    `(rows - 1) * stride + columns` says that rows do not overlap: `stride >= columns`.
    """

    def __init__(self, text: str, size: Poly, conditions: list[Condition], names: set[str]) -> None:
        self.text = text
        self.size = size
        self.conditions = conditions
        self.names = names


def read_extents(rows: object, symbols: Symbols) -> dict[str, Extent]:
    """The extents by parameter. Raises E0517 for a text that is no size."""
    found: dict[str, Extent] = {}
    for name, text in rows if isinstance(rows, tuple) else ():
        found[name] = read_extent(name, text, symbols)
    return found


def read_extent(parameter: str, text: str, symbols: Symbols) -> Extent:
    """One extent. Raises E0517."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise _refused(parameter, text, error.msg or "it is no expression") from None
    conditions: list[Condition] = []
    names: set[str] = set()
    size = _Reader(parameter, text, symbols, conditions, names).read(tree)
    return Extent(text, size, conditions, names)


def _refused(parameter: str, text: str, reason: str) -> Exception:
    return E0517.error(parameter=parameter, text=text, reason=reason).help(
        "write it with integer parameters, `+`, `-`, `*`, `//`, `cdiv(a, b)` and "
        "`num_programs(axis)`"
    )


class _Reader:
    def __init__(
        self,
        parameter: str,
        text: str,
        symbols: Symbols,
        conditions: list[Condition],
        names: set[str],
    ) -> None:
        self.parameter = parameter
        self.text = text
        self.symbols = symbols
        self.conditions = conditions
        self.names = names

    def read(self, node: ast.expr) -> Poly:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return Poly.constant(node.value)
        if isinstance(node, ast.Name):
            found = self.symbols.parameter(node.id)
            if found is None:
                raise _refused(self.parameter, self.text, f"`{node.id}` is no integer parameter")
            self.names.add(node.id)
            return found
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        raise _refused(self.parameter, self.text, f"`{ast.unparse(node)}` cannot stand there")

    def binary(self, node: ast.BinOp) -> Poly:
        left, right = self.read(node.left), self.read(node.right)
        if isinstance(node.op, ast.Add):
            self.rows(node.left, right)
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.FloorDiv):
            return self.symbols.quotient(left, right)
        raise _refused(self.parameter, self.text, f"`{ast.unparse(node)}` cannot stand there")

    def rows(self, node: ast.expr, rest: Poly) -> None:
        """`(a - 1) * stride + rest`: what belongs to one step does not reach into the next."""
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
            return
        for count, stride in ((node.left, node.right), (node.right, node.left)):
            if (
                isinstance(count, ast.BinOp)
                and isinstance(count.op, ast.Sub)
                and isinstance(count.right, ast.Constant)
                and count.right.value == 1
            ):
                self.conditions.append(at_least(self.read(stride), rest))

    def call(self, node: ast.Call) -> Poly:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        values = [self.read(argument) for argument in node.args]
        if name == _GRID and len(values) == 1 and values[0].number in (0, 1, 2):
            return self.symbols.grid(int(values[0].number or 0))
        if name == "cdiv" and len(values) == 2:
            return self.symbols.quotient(values[0] + values[1] - 1, values[1])
        raise _refused(self.parameter, self.text, f"`{ast.unparse(node)}` cannot stand there")


def grid_axis(name: str) -> int | None:
    """The axis that `num_programs(0)` among the extents is about: how many programs at most."""
    inside = name.removeprefix(f"{_GRID}(").removesuffix(")")
    return int(inside) if inside in ("0", "1", "2") and inside != name else None


def names_in(extents: Mapping[str, Extent]) -> set[str]:
    """The parameters that extents are made of."""
    return {name for extent in extents.values() for name in extent.names}
