"""Parameters of a kernel, read from its annotations.

Pointer, scalar, compile-time value, or untyped.

An annotation that says nothing to a kernel (`int`, `torch.Tensor`, none) leaves the type to the
launch.
"""

from __future__ import annotations

from functools import lru_cache
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from teeny_macros.codes import E0024, E0025
from teeny_macros.namespace import (
    MISSING,
    Missing,
    dsl_name,
    dtype_name,
    find,
    is_dsl_module,
    unwrap_constexpr,
)

if TYPE_CHECKING:
    import ast

    from teeny_macros.capture import Captured
    from teeny_macros.source import Span

POINTER, SCALAR, CONST, UNTYPED = "pointer", "scalar", "const", "untyped"
DESCRIPTOR = "descriptor"
_TUNED = "Auto"  # the class of what `tl.auto()` returns
_EXTENT = "Extent"  # the class that says how large an array is


class Parameter(NamedTuple):
    """One parameter of a kernel.

    `kind` is `pointer`, `scalar`, `descriptor`, `const` or `untyped`. `dtype` is a dtype's name
    (`f32`) or that of a type variable for pointers, scalars and descriptors, the Python type's name
    (`int`) for a `Const[int]`, else None. `default` is MISSING without a default. `variable` is the
    type variable that `dtype` names.
    """

    name: str
    kind: str
    dtype: str | None = None
    default: Any | Missing = MISSING
    variable: TypeVar | None = None
    is_optional: bool = False
    passing: str = "any"  # "any", "positional" or "keyword"
    extent: str | None = None

    @property
    def has_default(self) -> bool:
        """Whether the argument may be left out."""
        return self.default is not MISSING


class _Form(NamedTuple):
    """What an annotation says."""

    kind: str
    dtype: str | None = None
    variable: TypeVar | None = None
    is_optional: bool = False
    extent: str | None = None


class _Unsupported(Exception):  # noqa: N818 - never leaves this module
    """An annotation of the kernel language that no parameter can have.

    The argument says what it is.
    """


def read_parameters(captured: Captured) -> tuple[Parameter, ...]:
    """The parameters of a captured function in its order.

    Raises:
        CaptureError: E0024 for an annotation that cannot be evaluated, E0025 for one that no
            parameter can have (`Ptr[int]`).
    """
    function = captured.function
    code = function.__code__
    plain, keyword = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames[: plain + keyword]
    defaults: dict[str, Any] = {}
    given = function.__defaults__ or ()
    defaults.update(zip(names[plain - len(given) : plain], given, strict=True))
    defaults.update(function.__kwdefaults__ or {})
    found: list[Parameter] = []
    for at, name in enumerate(names):
        form = _form_of_parameter(captured, name)
        passing = "positional" if at < code.co_posonlyargcount else "any"
        passing = passing if at < plain else "keyword"
        default: object = defaults.get(name, MISSING)
        if form.kind == CONST:
            default = unwrap_constexpr(default)
        if dsl_name(type(default)) == _TUNED:
            default = MISSING  # there is no value before a tuner has chosen one
        found.append(
            Parameter(
                name,
                form.kind,
                form.dtype,
                default,
                form.variable,
                form.is_optional,
                passing,
                form.extent,
            )
        )
    return tuple(found)


def _form_of_parameter(captured: Captured, name: str) -> _Form:
    annotation = _annotations(captured).get(name, MISSING)
    if annotation is MISSING:
        return _Form(UNTYPED)
    try:
        while isinstance(annotation, str):
            annotation = _evaluate(captured, annotation)
        return _form(annotation)
    except _Unsupported as found:
        raise (
            E0025.at(_annotation_span(captured, name), name=name, what=str(found)).help(
                "write pointers `Ptr[f32]`, numbers `i32 | int`, compile-time values `Const[int]`"
            )
        ) from None
    except Exception as error:  # noqa: BLE001 - the annotation is the user's code
        reason = f"{type(error).__name__}: {error}"
        raise (
            E0024.at(_annotation_span(captured, name), name=name, reason=reason).help(
                "import its names at run time, not only under `if TYPE_CHECKING:`"
            )
        ) from None


def _annotations(captured: Captured) -> dict[str, Any]:
    try:
        return captured.function.__annotations__
    except NameError:  # evaluated late, from Python 3.14 on
        return _texts_of_annotations(captured)


def _texts_of_annotations(captured: Captured) -> dict[str, Any]:
    import ast

    from teeny_macros.names import parse_function

    found: dict[str, Any] = {}
    for argument in ast.walk(parse_function(captured.text, captured.file).args):
        if isinstance(argument, ast.arg) and argument.annotation is not None:
            found[argument.arg] = ast.unparse(argument.annotation)
    return found


class _Scope(dict[str, Any]):
    """The names that an annotation sees."""

    def __init__(self, captured: Captured) -> None:
        super().__init__()
        self.captured = captured

    def __missing__(self, name: str) -> Any:
        value = find(self.captured, name, in_body=False).value
        if value is MISSING:
            raise KeyError(name)  # `eval` makes it a NameError
        return value


def _evaluate(captured: Captured, text: str) -> Any:
    return eval(text, {}, _Scope(captured))  # noqa: S307 - as typing.get_type_hints does


def _form(annotation: Any) -> _Form:
    """What an evaluated annotation says."""
    kind: type[Any] = type(annotation)  # pyright: ignore[reportUnknownVariableType]
    if kind is UnionType or kind is type or kind.__module__ == "typing":
        try:
            return _known_form(annotation)
        except TypeError:
            pass  # `Annotated` with data that has no hash
    return _read_form(annotation)


def _read_form(annotation: Any) -> _Form:
    if annotation is None or annotation is type(None):
        return _Form(UNTYPED, is_optional=True)
    if isinstance(annotation, TypeVar):
        return _Form(SCALAR, annotation.__name__, annotation)
    dtype = dtype_name(annotation)
    if dtype is not None:
        return _Form(SCALAR, dtype)
    if "const" in getattr(annotation, "__metadata__", ()):
        inner = annotation.__origin__
        return _Form(CONST, inner.__name__ if inner in (int, float, bool, str) else None)
    for data in getattr(annotation, "__metadata__", ()):
        if dsl_name(type(data)) == _EXTENT:  # pyright: ignore[reportUnknownArgumentType]
            return _form(annotation.__origin__)._replace(extent=data.text)
    origin = getattr(annotation, "__origin__", None)
    name = dsl_name(annotation if origin is None else origin)
    if name in ("constexpr", "Const"):
        return _Form(CONST)
    if name == "Ptr":
        return _pointer(annotation, "Ptr", POINTER)
    if name in ("TensorDescriptor", "tensor_descriptor"):  # the second as Triton spells the type
        return _pointer(annotation, "TensorDescriptor", DESCRIPTOR)
    arguments = getattr(annotation, "__args__", None)
    if arguments and (origin is None or not isinstance(origin, type)) and name is None:
        return _union(arguments)
    if name is not None and not is_dsl_module(annotation):
        raise _Unsupported(f"`{name}`, which no parameter of a kernel can be")
    return _Form(UNTYPED)


# Kernels of a module have the same few annotations. What is equal says the same.
_known_form = lru_cache(512)(_read_form)


def _pointer(annotation: Any, name: str, kind: str) -> _Form:
    """`Ptr[f32]`, `Ptr[D]`, `TensorDescriptor[f16, R2]`."""
    arguments = getattr(annotation, "__args__", ())
    if not arguments:
        return _Form(kind)
    element = arguments[0]
    if element is Any:
        return _Form(kind)
    if isinstance(element, TypeVar):
        return _Form(kind, element.__name__, element)
    dtype = dtype_name(element)
    if dtype is None:
        shown = getattr(element, "__name__", repr(element))
        raise _Unsupported(f"`{name}[{shown}]`, but `{shown}` is no dtype of the kernel language")
    return _Form(kind, dtype)


def _union(options: tuple[Any, ...]) -> _Form:
    """`i32 | int`, `D | float`, `Ptr[f32] | None`.

    The one option that means something to a kernel.
    """
    forms = [_form(option) for option in options]
    optional = any(form.is_optional for form in forms)
    telling = [form for form in forms if form.kind != UNTYPED]
    if len(telling) > 1:
        raise _Unsupported("a union of several types of the kernel language")
    return (
        telling[0]._replace(is_optional=optional)
        if telling
        else _Form(UNTYPED, is_optional=optional)
    )


def parameter_span(captured: Captured, name: str) -> Span:
    """The place of a parameter in the user's file."""
    return _span_of(captured, name, of_annotation=False)


def _annotation_span(captured: Captured, name: str) -> Span:
    return _span_of(captured, name, of_annotation=True)


def _span_of(captured: Captured, name: str, *, of_annotation: bool) -> Span:
    import ast

    from teeny_macros.names import parse_function

    tree = parse_function(captured.text, captured.file)
    for node in ast.walk(tree.args):
        if isinstance(node, ast.arg) and node.arg == name:
            found: ast.expr | ast.arg = node
            if of_annotation and node.annotation is not None:
                found = node.annotation
            start, end = found.col_offset, found.end_col_offset or found.col_offset + 1
            if not of_annotation:
                end = start + len(name.encode())
            return _mapped(captured, found, start, end)
    return captured.normal.header


def _mapped(captured: Captured, node: ast.expr | ast.arg, start: int, end: int) -> Span:
    lines = captured.text.split("\n")
    end_line = node.end_lineno or node.lineno
    first = len(lines[node.lineno - 1].encode()[:start].decode()) + 1
    last = len(lines[end_line - 1].encode()[:end].decode()) + 1
    return captured.in_file(node.lineno, first, end_line, last)
