"""The passes over the IR, in order. Each keeps what the NumPy reading of the module gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.ir.verifier import verify_module
from teenyc.passes.assertions import drop_assertions
from teenyc.passes.canonicalize import canonicalize
from teenyc.passes.cse import eliminate_common_subexpressions
from teenyc.passes.dce import eliminate_dead_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from teenyc.ir.core import Module

__all__ = ["PASSES", "drop_assertions", "run"]

PASSES: tuple[tuple[str, Callable[[Module], None]], ...] = (
    ("canonicalize", canonicalize),
    ("cse", eliminate_common_subexpressions),
    ("dce", eliminate_dead_code),
)


def run(module: Module, *, after: Callable[[str, Module], None] | None = None) -> None:
    """Verify and transform `module` in place; `after(name, module)` sees it after each pass."""
    verify_module(module)
    for name, transform in PASSES:
        transform(module)
        verify_module(module, after=f"pass `{name}`")
        if after is not None:
            after(name, module)
