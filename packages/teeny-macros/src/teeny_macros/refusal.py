"""The error for a name that a kernel cannot capture: what it is, and what to do instead."""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

from teeny_macros.codes import E0022
from teeny_macros.namespace import DSL

if TYPE_CHECKING:
    from teeny_macros.capture import Captured
    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.texts import Use

_ARRAYS = ("__array_interface__", "__cuda_array_interface__", "__dlpack__", "__array__")

_INSTEAD: dict[type[Any], str] = {
    list: "write a tuple, which is captured by value, or pass an array as an argument",
    dict: "give its values names of their own, or pass each as an argument",
}


def uncapturable(value: Any, use: Use, captured: Captured, depth: int = 0) -> TeenyError:
    """E0022 at the use in the user's file; `depth` counts the attributes that were followed."""
    name = ".".join(use.chain[: depth + 1])
    span = captured.in_file(use.line, use.column, use.line, use.column + len(name))
    what, remedy = _describe(value, use.chain[depth])
    return E0022.at(span, name=name, what=what).help(remedy)


def _describe(value: Any, name: str) -> tuple[str, str]:
    kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
    typed = f"of type `{kind.__module__}.{kind.__qualname__}`"
    if isinstance(value, types.FunctionType):
        return "a plain function", "decorate it with `@device`"
    if isinstance(value, types.BuiltinFunctionType) or kind.__name__ in ("ufunc", "function"):
        language = getattr(sys.modules.get(DSL), "__all__", ())
        known = f"use `tl.{name}`" if name in language else "use an operation of `teeny_triton`"
        return "a compiled function", known
    if isinstance(value, list | dict | set) or any(hasattr(kind, mark) for mark in _ARRAYS):
        what = f"a {kind.__name__}" if kind.__module__ == "builtins" else f"an array {typed}"
        return what, _INSTEAD.get(kind, "pass it as an argument")
    if isinstance(value, types.ModuleType):
        return "a module", "use its functions and constants by name: `module.name`"
    if isinstance(value, type):
        return "a class", "use dtypes and enums of `teeny_triton`, or the constants of the class"
    return (
        f"an object {typed}",
        "pass it as an argument, or capture an int, float, bool, str, dtype or a tuple of them",
    )
