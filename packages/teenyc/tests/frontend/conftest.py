"""Kernels as a user writes them -> units, as capture would make them, without capture."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from teeny_macros.unit import Unit, UnitModule
from teenyc.frontend import lower_unit
from teenyc.ir.printer import print_module
from teenyc.ir.verifier import verify_module

if TYPE_CHECKING:
    from collections.abc import Callable

_ATTRIBUTES = (
    "num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True, "
    "divisible_by_16=(), equal_to_1=()"
)


def _without_decorators(text: str) -> str:
    """The text with its decorators and its import of them taken out."""
    lines = text.splitlines(keepends=True)
    for stmt in ast.parse(text).body:
        if isinstance(stmt, ast.FunctionDef):
            for decorator in stmt.decorator_list:
                lines[decorator.lineno - 1] = ""
        elif isinstance(stmt, ast.ImportFrom) and stmt.module == "teeny_macros":
            lines[stmt.lineno - 1] = ""
    return "".join(line for line in lines if line.strip())


def _is_const(arg: ast.arg) -> bool:
    return arg.annotation is not None and ast.unparse(arg.annotation).startswith(
        ("Const", "tl.con")
    )


def entry_text(text: str) -> str:
    """The entry point of the last function of `text`, whose constants have defaults."""
    node = [stmt for stmt in ast.parse(text).body if isinstance(stmt, ast.FunctionDef)][-1]
    args = [arg for arg in node.args.args if not _is_const(arg)]
    typed = ", ".join(ast.unparse(arg) for arg in args)
    names = ", ".join(arg.arg for arg in args)
    return (
        f"from kernel import {node.name}\n"
        "from teeny_triton import Ptr, bf16, f16, f32, f64, i1, i8, i16, i32, i64, u8, u32\n"
        f"@entry_point({_ATTRIBUTES})\n"
        f"def {node.name}_entry_point({typed}) -> None:\n"
        f"    {node.name}({names})\n"
    )


def make_unit(text: str, entry: str = "", modules: tuple[tuple[str, str], ...] = ()) -> Unit:
    """The unit of the last function of `text`."""
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    try:
        kernel = _without_decorators(text)
        entry = entry or entry_text(text)
    except SyntaxError:
        kernel, entry = text, "from kernel import k\ndef k_entry_point():\n    k()\n"
    name = entry.partition("def ")[2].partition("_entry_point")[0]
    named = [*modules, ("kernel", kernel), ("entry", entry)]
    return Unit(name, tuple(UnitModule(*m) for m in named), TRITON_SHA, TRITON)


@pytest.fixture(scope="session")
def unit_of() -> Callable[..., Unit]:
    """`unit_of(kernel text)`: parameters have concrete types, constants defaults."""
    return make_unit


@pytest.fixture(scope="session")
def mlir_of() -> Callable[..., str]:
    """`mlir_of(kernel text)`: the verified module, printed."""

    def lower(text: str, **rest: object) -> str:
        module = lower_unit(make_unit(text, **rest))  # type: ignore[arg-type]
        verify_module(module)
        return print_module(module)

    return lower
