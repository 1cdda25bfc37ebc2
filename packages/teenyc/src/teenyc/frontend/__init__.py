"""The front end: text of a unit -> typed SSA. It parses and never executes; all it says is a coded error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny_macros.unit import Unit
    from teenyc.ir.core import Module

__all__ = ["lower_unit"]


def lower_unit(unit: Unit) -> Module:
    """The IR module of a unit whose DSL text is present. Raises CompileError with up to 20 diagnostics."""
    from teenyc.frontend.lowering import lower

    return lower(unit)
