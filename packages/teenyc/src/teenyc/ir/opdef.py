"""`OpDef`: everything the compiler knows of one IR operation, in one record, and the registries.

Phases are interpreters over these records: the printer calls `fmt`, the verifier `verify`, constant
folding `fold`, the NumPy reading `ref`, the CPU back end `cpu`. They know no operation by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teenyc.ir.core import Operation, Value
    from teenyc.ir.printer import Names
    from teenyc.types import IRType

    Infer = Callable[[Sequence[Value], dict[str, Any]], tuple[IRType, ...]]

_H = TypeVar("_H", bound="Callable[..., Any]")


class Effects(Flag):
    """What an operation does besides computing its results."""

    NONE = 0
    READ = auto()
    WRITE = auto()
    TERMINATOR = auto()


@dataclass(frozen=True, eq=False)
class OpDef:
    """One IR operation.

    `result` infers the result types from operands and attributes; `fmt` gives the text right of
    `%r = `; `verify` returns what is wrong, or None; `fold` gets the operands' compile-time
    values (None where unknown) and returns the result's as a Python scalar, or None; `ref` reads
    the operation with NumPy; `cpu` emits native code and `cost` says how much, in additions;
    `dsl` names the DSL functions that lower to it; `labelled` lists the regions whose block
    arguments are printed as `^bb0(...)`; `isolated` says that its regions stand for
    functions, which see nothing from outside; `domain` and `ulp` drive the differential tests.
    """

    name: str
    result: Infer
    fmt: Callable[[Operation, Names], str]
    effects: Effects = Effects.NONE
    attrs: tuple[str, ...] = ()
    verify: Callable[[Operation], str | None] | None = None
    fold: Callable[[Operation, list[Any]], Any] | None = None
    ref: Callable[..., Any] | None = None
    cpu: Callable[..., Any] | None = None
    dsl: tuple[str, ...] = ()
    labelled: tuple[int, ...] = ()
    isolated: bool = False
    domain: tuple[float, float] = (-4.0, 4.0)
    ulp: float = 0.0
    cost: int = 1

    @property
    def is_pure(self) -> bool:
        """May be removed, merged or folded."""
        return self.effects is Effects.NONE


REGISTRY: dict[str, OpDef] = {}
HANDLERS: dict[str, Callable[..., Any]] = {}


def register(opdef: OpDef) -> OpDef:
    """Enter a record; a name is entered once."""
    assert opdef.name not in REGISTRY, opdef.name
    REGISTRY[opdef.name] = opdef
    return opdef


def lowers(name: str) -> Callable[[_H], _H]:
    """Mark the handler of the DSL function `name` (`load`) or of an operator (`operator.add`).

    A handler is called as `handler(b, *bound arguments)` with the builder first and the parameters
    of the DSL function by keyword; it returns a `RuntimeValue`, a compile-time value, a tuple of
    them or None.
    """

    def enter(handler: _H) -> _H:
        assert name not in HANDLERS, name
        HANDLERS[name] = handler
        return handler

    return enter
