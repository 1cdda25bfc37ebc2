"""What a captured name stands for.

Lookup as Python does it, and the kinds of things a kernel may capture.

Objects of the kernel language are known by the module that they come from; it is never imported
here.
"""

from __future__ import annotations

import builtins
import sys
from enum import Enum
from types import CellType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from teeny_macros.capture import Captured

DSL = "teeny_triton"
_BUILTINS = vars(builtins)
DTYPES = frozenset(
    "i1 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3 f8e5m2".split()  # noqa: SIM905
)


class Missing(Enum):
    """The value of a name that is not there."""

    MISSING = 0


MISSING = Missing.MISSING


class Guard(NamedTuple):
    """A lookup and what it gave.

    A capture holds as long as all its lookups give the same objects.
    """

    place: Mapping[str, Any] | CellType
    name: str
    value: Any

    def holds(self) -> bool:
        """Whether the lookup still gives the same object."""
        place = self.place
        if type(place) is CellType:
            return cell_value(place) is self.value
        return place.get(self.name, MISSING) is self.value


def cell_value(cell: CellType) -> Any:
    """The variable of an enclosing function, MISSING before its first assignment."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def find(captured: Captured, name: str, *, in_body: bool) -> Guard:
    """Look `name` up from a function.

    Its type parameters, closure, globals, enclosing scope, built-ins.

    An annotation or default (not `in_body`) sees the scope around the function first.
    """
    function = captured.function
    for parameter in getattr(function, "__type_params__", ()):
        if parameter.__name__ == name:
            return Guard({name: parameter}, name, parameter)
    if not in_body and name in captured.local_names:
        return Guard(captured.local_names, name, captured.local_names[name])
    if function.__closure__ is not None and name in function.__code__.co_freevars:
        cell = function.__closure__[function.__code__.co_freevars.index(name)]
        return Guard(cell, name, cell_value(cell))
    value = function.__globals__.get(name, MISSING)
    if value is not MISSING:
        return Guard(function.__globals__, name, value)
    for place in (captured.local_names, _BUILTINS):
        if name in place:
            return Guard(place, name, place[name])
    return Guard(function.__globals__, name, MISSING)


def is_dsl_module(value: object) -> bool:
    """Whether `value` is the kernel language or a part of it."""
    return isinstance(value, ModuleType) and _is_dsl_path(value.__name__)


# Functions and classes of the kernel language that were met, by `id`, and their names: a module
# may hold many kernels, and each names them.
_of_the_language: dict[int, tuple[object, str]] = {}


def _is_dsl_path(name: object) -> bool:
    return isinstance(name, str) and (name == DSL or name.startswith(f"{DSL}."))


def dsl_name(value: object) -> str | None:
    """The name that the kernel language has for `value`, None when it is not of the language."""
    known = _of_the_language.get(id(value))
    if known is not None:
        return known[1]
    # `Const` and `Ptr[f32]` are aliases made by `typing`; only the first has a name of its own.
    if hasattr(value, "__origin__"):
        language = sys.modules.get(DSL)
        return "Const" if getattr(language, "Const", MISSING) is value else None
    module = getattr(value, "__module__", None)
    name = getattr(value, "__name__", None)
    if _is_dsl_path(module) and isinstance(name, str) and not isinstance(value, TypeVar):
        if getattr(sys.modules.get(DSL), name, MISSING) is value:
            _of_the_language[id(value)] = value, name
        return name
    return None


def dtype_name(value: object) -> str | None:
    """`f32` for the dtype class of that name, None for anything else."""
    if isinstance(value, type):
        name = dsl_name(value)
        return name if name in DTYPES else None
    return None


def unwrap_constexpr(value: Any) -> Any:
    """The value inside `constexpr(...)`; any other value itself."""
    while type(value).__name__ == "constexpr" and _is_dsl_path(type(value).__module__):
        value = value.value
    return value


def is_builtin(name: str, value: object) -> bool:
    """Whether `value` is Python's own `name`, which the compiler judges."""
    return _BUILTINS.get(name, MISSING) is value


def is_namespace(value: object) -> bool:
    """Whether attributes of `value` are captured in its place: a user's module or class."""
    return isinstance(value, ModuleType | type) and dsl_name(value) is None


def literal_text(value: Any, need: Callable[[str], str]) -> str | None:
    """A literal as text of a unit, or None when `value` is none.

    Literals are int, float, bool, str, None, dtypes, enum members, tuples of them, classes of named
    tuples and `constexpr(...)`. `need` takes the name of a DSL object and returns the name to write
    for it.
    """
    value = unwrap_constexpr(value)
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, Enum):
        if _is_dsl_path(type(value).__module__):
            return f"{need(type(value).__name__)}.{value.name}"
        return literal_text(value.value, need)
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return _float_text(float(value))
    if isinstance(value, str):
        return ascii(str(value))
    if isinstance(value, tuple):
        members: tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType]
        parts = [literal_text(part, need) for part in members]
        if None in parts:
            return None
        text = f"({', '.join(map(str, parts))}{',' if len(parts) == 1 else ''})"
        kind = _record_text(cast("Any", value).__class__, need)
        return text if kind is None else kind + text
    if (text := _record_text(value, need)) is not None:
        return text
    dtype = dtype_name(value)
    return None if dtype is None else need(dtype)


def _is_record(kind: Any) -> bool:
    return getattr(kind, "_fields", None) is not None and tuple in getattr(kind, "__mro__", ())


def _record_text(kind: Any, need: Callable[[str], str]) -> str | None:
    """`NamedTuple("P", ("a", "b"), (1,))`: name, fields, and defaults of the last fields."""
    if not _is_record(kind):
        return None
    fields = literal_text(tuple(kind._fields), need)
    defaults = literal_text(tuple(getattr(kind, "_field_defaults", {}).values()), need)
    if defaults is None:
        return None
    return f'NamedTuple("{kind.__name__}", {fields}{"" if defaults == "()" else ", " + defaults})'


def _float_text(value: float) -> str:
    text = repr(value)
    return f'float("{text}")' if text.lstrip("-") in ("inf", "nan") else text


def type_variable_text(variable: TypeVar, need: Callable[[str], str]) -> str:
    """`TypeVar("D", bound=Float)`; a bound outside the kernel language is left out."""
    parts = [f'"{variable.__name__}"']
    if variable.__constraints__:
        parts += [need(name) for part in variable.__constraints__ if (name := dsl_name(part))]
    else:
        bound = variable.__bound__
        options = getattr(bound, "__args__", None) or (() if bound is None else (bound,))
        names = [need(name) for option in options if (name := dsl_name(option))]
        if names:
            parts.append(f"bound={' | '.join(names)}")
    return f"TypeVar({', '.join(parts)})"
