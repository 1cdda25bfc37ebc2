"""Arguments of a call: their order, and what of each decides the compilation."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from teeny_macros.capture import SourceFunction
from teeny_macros.codes import E1003, E1004, E1005, E1006, E1011, E1012
from teeny_macros.descriptor import is_descriptor_class
from teeny_macros.namespace import MISSING, dtype_name, literal_text, unwrap_constexpr
from teeny_macros.resolve import python_dtype
from teeny_macros.signature import CONST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_macros.signature import Parameter


class Array(NamedTuple):
    """What of an array argument decides how it is compiled for."""

    dtype: str
    aligned: bool
    readonly: bool


class Number(NamedTuple):
    """What of a number decides how it is compiled for; `typed` when it has a dtype of its own."""

    dtype: str
    typed: bool
    divisible: bool = False
    one: bool = False


class Form(Enum):
    """How a run-time argument is read."""

    INT = 1
    FLOAT = 2
    BOOL = 3
    NONE = 4
    TYPED = 5  # `f32(3)`: a number with a dtype of its own
    ITEM = 6  # a NumPy scalar
    ARRAY = 7  # an array, or nothing that a kernel can take
    DESCRIPTOR = 8


FORMS: dict[type, Form] = {
    bool: Form.BOOL,
    int: Form.INT,
    float: Form.FLOAT,
    type(None): Form.NONE,
}


def form_of(kind: type) -> Form:
    """How arguments of a Python type are read; remembered in `FORMS`."""
    known = FORMS.get(kind)
    if known is not None:
        return known
    if dtype_name(kind) is not None:
        found = Form.TYPED
    elif issubclass(kind, int):
        found = Form.INT
    elif issubclass(kind, float):
        found = Form.FLOAT
    elif any(base.__module__ == "numpy" and base.__name__ == "generic" for base in kind.__mro__):
        found = Form.ITEM
    elif is_descriptor_class(kind):  # pyright: ignore[reportUnknownArgumentType]
        found = Form.DESCRIPTOR
    else:
        found = Form.ARRAY
    FORMS[kind] = found
    return found


def number_key(value: Any, form: Form) -> tuple[Any, Number]:
    """The plain number to pass, and what of it decides the compilation.

    As in Triton: an int is an i32 when it fits, else an i64 or u64; a float is an f32, a bool an
    i1.
    """
    typed = ""
    if form is Form.TYPED:
        typed = dtype_name(cast("object", type(value))) or ""
        value = value.value
    elif form is Form.ITEM:
        value = value.item()
    if isinstance(value, bool):
        return value, Number(typed or "i1", bool(typed))
    if isinstance(value, float):
        return float(value), Number(typed or "f32", bool(typed))
    value = int(value)
    dtype = typed or python_dtype(value)
    return value, Number(dtype, bool(typed), value % 16 == 0, value == 1)


def constant_key(value: Any) -> Any:
    """A hashable that differs for compile-time values that differ: 1, 1.0 and True are three."""
    kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is int or kind is bool or kind is str or value is None:
        return kind, value
    value = unwrap_constexpr(value)
    if isinstance(value, SourceFunction):
        return value
    text = literal_text(value, str)
    # What is no literal is refused when the combination is prepared; until then it is its own key.
    return (id(value),) if text is None else (kind, text)


class CallSignature:
    """The parameters of a kernel as a call binds to them, with Python's rules and coded errors."""

    def __init__(self, kernel: str, parameters: Sequence[Parameter]) -> None:
        self.kernel = kernel
        self.parameters = tuple(parameters)
        self.index = {
            parameter.name: at
            for at, parameter in enumerate(parameters)
            if parameter.passing != "positional"
        }
        self.positional = sum(parameter.passing != "keyword" for parameter in parameters)
        self.defaults = tuple(parameter.default for parameter in parameters)
        self.unset = tuple(MISSING for _ in parameters)
        self.required = tuple(
            at for at, parameter in enumerate(parameters) if not parameter.has_default
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """One value for each parameter.

        Raises:
            LaunchError: E1003-E1006 and E1011.
        """
        values = self.fill(args, kwargs, self.defaults)
        for at in self.required:
            if values[at] is MISSING:
                self.reject_missing(values)
        return values

    def bind_with(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], fixed: dict[str, Any]
    ) -> list[Any]:
        """The same for an instance: a compile-time value may be left out or given again, equal."""
        values = self.fill(args, kwargs, self.unset)
        for at, parameter in enumerate(self.parameters):
            name = parameter.name
            if parameter.kind != CONST:
                if values[at] is MISSING:
                    values[at] = parameter.default
                continue
            given, value = values[at], fixed[name]
            values[at] = value
            if given is not MISSING and constant_key(given) != constant_key(value):
                given = unwrap_constexpr(given)
                is_int = isinstance(given, int) and not isinstance(given, bool)
                if not (is_int and isinstance(value, float) and float(given) == value):
                    raise E1012.error(
                        kernel=self.kernel, name=name, fixed=repr(value), given=repr(given)
                    ).help("leave it out, or instantiate the kernel with the other value")
        for value in values:
            if value is MISSING:
                self.reject_missing(values)
        return values

    def fill(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: tuple[Any, ...]
    ) -> list[Any]:
        """Positional and named arguments in place.

        MISSING where neither they nor `defaults` say.
        """
        count = len(args)
        if count > self.positional:
            error = E1004.error(kernel=self.kernel, expected=self.positional, given=count)
            raise error.help(f"its parameters are {self.listing()}")
        values = [*args, *defaults[count:]]
        for name, value in kwargs.items():
            at = self.index.get(name)
            if at is None:
                self.reject_unknown(name)
            elif at < count:
                raise E1006.error(kernel=self.kernel, name=name).help("give it once")
            else:
                values[at] = value
        return values

    def listing(self) -> str:
        """The names of the parameters, for a message."""
        return ", ".join(f"`{parameter.name}`" for parameter in self.parameters)

    def reject_unknown(self, name: str) -> None:
        """Raise E1005, with the name that was probably meant."""
        from difflib import get_close_matches

        from teeny_macros.options import LaunchOptions

        close = get_close_matches(name, [*self.index, *LaunchOptions._fields], n=1)
        error = E1005.error(kernel=self.kernel, name=name)
        raise error.help(
            f"did you mean `{close[0]}`?" if close else f"its parameters are {self.listing()}"
        )

    def reject_missing(self, values: Sequence[Any]) -> None:
        """Raise E1011 when only compile-time values are missing, E1003 otherwise."""
        missing = [p for p, value in zip(self.parameters, values, strict=True) if value is MISSING]
        constants = [p for p in missing if p.kind == CONST]
        if len(constants) == len(missing):
            names = ", ".join(f"`{p.name}`" for p in missing)
            raise E1011.error(kernel=self.kernel, names=names).help(
                f"give it by name: `{missing[0].name}=...`"
            )
        names = ", ".join(f"`{p.name}`" for p in missing)
        raise E1003.error(kernel=self.kernel, names=names).help(
            f"its parameters are {self.listing()}"
        )
