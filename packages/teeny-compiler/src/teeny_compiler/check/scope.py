"""Variables by name: a module's, a class body's or a function's, and the scopes around it."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from teeny_compiler.check.values import UNKNOWN, join

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny_compiler.check.modules import StaticModule

MISSING: Any = object()


class Scope:
    """The variables of one scope. `typing` are those that only checkers import."""

    def __init__(
        self,
        module: StaticModule,
        variables: dict[str, Any],
        parent: Scope | None = None,
        kind: str = "module",
    ) -> None:
        self.module = module
        self.variables = variables
        self.parent = parent
        self.kind = kind
        self.typing: dict[str, Any] = {}
        self.name = ""

    def lookup(self, name: str, *, typing: bool = False) -> Any:
        """What a name stands for here, MISSING without one. Class bodies are not seen from inside.

        With `typing` also what stands under `if TYPE_CHECKING:`.
        """
        scope: Scope | None = self
        first = True
        while scope is not None:
            if first or scope.kind != "class":
                if name in scope.variables:
                    return scope.variables[name]
                if typing and name in scope.typing:
                    return scope.typing[name]
            scope, first = scope.parent, False
        return vars(builtins).get(name, MISSING)

    def bind(self, name: str, value: Any) -> None:
        """Give a variable of this scope a value."""
        self.variables[name] = value

    def visible(self) -> dict[str, Any]:
        """All variables that a function in this scope may close over, module variables left out."""
        found: dict[str, Any] = {}
        scope: Scope | None = self
        while scope is not None and scope.kind != "module":
            if scope.kind == "function":
                found = {**scope.variables, **found}
            scope = scope.parent
        return found

    def forget(self, names: Iterable[str]) -> None:
        """Variables that something unknown was assigned to."""
        for name in names:
            self.variables[name] = UNKNOWN

    def merge(self, other: dict[str, Any]) -> None:
        """Join with the variables at the end of another branch."""
        for name in {*self.variables, *other}:
            here, there = self.variables.get(name, MISSING), other.get(name, MISSING)
            if here is MISSING:
                self.variables[name] = there
            elif there is not MISSING:
                self.variables[name] = join(here, there)
