"""Grids of launches: how many sides, of what kind, and what a grid function asks for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, cast

from teeny_compiler.check.values import (
    UNKNOWN,
    Abstract,
    ArrayOf,
    LambdaValue,
    Some,
    Typed,
    is_known,
)
from teeny_compiler.codes import E0953
from teeny_macros.codes import E1019
from teeny_macros.launch import evaluate_grid

if TYPE_CHECKING:
    from teeny_compiler.check.evaluate import Evaluator
    from teeny_compiler.check.values import Launcher


def check_grid(kernel: str, launcher: Launcher, meta: dict[str, Any], evaluator: Evaluator) -> None:
    """Check what is known of a grid.

    Raises:
        LaunchError: E1019 for a grid that cannot be, E0953 for a grid function that asks for a
            value that there is not.
    """
    grid = launcher.grid
    if isinstance(grid, LambdaValue):
        grid = _called(kernel, grid, meta, evaluator)
    if isinstance(grid, ArrayOf | Typed):
        raise _invalid(kernel, f"{grid!r}")
    sides: list[Any] = list(cast("Any", grid)) if isinstance(grid, tuple | list) else [grid]
    if is_known(sides):
        evaluate_grid(kernel, grid, {})
        return
    if not 1 <= len(sides) <= 3:
        evaluate_grid(kernel, (1,) * len(sides), {})
    for side in sides:
        if isinstance(side, Some) and side.kind != "int":
            raise _invalid(kernel, f"with {side!r}")
        if isinstance(side, ArrayOf):
            raise _invalid(kernel, f"with {side!r}")
        if not isinstance(side, Abstract):
            evaluate_grid(kernel, (side,), {})


def _invalid(kernel: str, what: str) -> Exception:
    return E1019.error(kernel=kernel, what=what).help(
        "divide with `//` or `tl.cdiv`, or convert with `int`"
    )


def _called(kernel: str, grid: LambdaValue, meta: dict[str, Any], evaluator: Evaluator) -> Any:
    """What a grid function gives for these compile-time values."""
    from teeny_compiler.check.evaluate import Evaluator as Inner
    from teeny_compiler.check.scope import Scope

    arguments = grid.node.args
    parameters = [*arguments.posonlyargs, *arguments.args]
    required = len(parameters) - len(arguments.defaults)
    if required > 1 or (not parameters and arguments.vararg is None):
        raise E1019.error(
            kernel=kernel, what=f"of a function of {len(parameters)} parameters"
        ).help("let it take the compile-time values: `lambda meta: (tl.cdiv(n, meta['BLOCK']),)`")
    scope = Scope(grid.scope.module, {}, grid.scope, "function")
    if parameters:
        name = parameters[0].arg
        scope.bind(name, meta)
        for node in ast.walk(grid.node.body):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.value, ast.Name)
                and node.value.id == name
                and isinstance(node.slice, ast.Constant)
                and node.slice.value not in meta
            ):
                known = ", ".join(f"`{one}`" for one in meta)
                raise E0953.error(kernel=kernel, name=node.slice.value).help(f"there are {known}")
    value = Inner(scope, evaluator.caller).value(grid.node.body)
    return UNKNOWN if value is None else value
