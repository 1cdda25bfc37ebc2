"""The front end: the text of a unit becomes typed SSA.

It parses and never executes; whatever is wrong with a text is a coded error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny_macros.diagnostics import Diagnostic
    from teeny_macros.target import Target
    from teeny_macros.unit import Unit
    from teenyc.ir.core import Module

__all__ = ["lower_unit"]


def lower_unit(
    unit: Unit, implicit: list[Diagnostic] | None = None, target: Target | None = None
) -> Module:
    """The IR module of a unit that holds its DSL text.

    A warning for each cast that the text does not say goes into `implicit`. `target` is what the
    kernel may ask about; without one it is no GPU.

    Raises CompileError with up to 20 diagnostics, each at its own place.
    """
    from teenyc.frontend.lowering import lower

    return lower(unit, implicit, target)
