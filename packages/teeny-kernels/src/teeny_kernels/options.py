"""Options of the public functions: of the kind that their annotations say, or refused (E1204).

`checked` wraps a function once, when it is first used; what fits is handed on as plain Python
numbers. Arrays are looked at by the functions themselves (see arrays.py), and so are ranges, for
which `require` is here. PyTorch's names `dim` and `keepdim` are taken for `axis` and `keepdims`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from operator import index
from typing import Any, TypeAlias, TypeVar, cast

from teeny_kernels.codes import E1201, E1204

F = TypeVar("F", bound=Callable[..., Any])

# Numbers of a range, for annotations.
NotNegative: TypeAlias = float
Probability: TypeAlias = float
Betas: TypeAlias = tuple[float, float]

NAMES_OF_TORCH = {"dim": "axis", "keepdim": "keepdims"}
_LEAST, _MOST = -(2**63), 2**64 - 1  # seeds have 64 bits without a sign
_MOST_SIDE = 2**30  # twice as much is no number of 32 bits


class _UnfitError(Exception):
    """A value is not of a kind; `taken` says so to the caller of an operation."""


def _axes(value: Any) -> int:
    return int(getattr(value, "ndim", 0))


def _integer(value: Any) -> int:
    if type(value) is not int:
        if isinstance(value, bool) or _axes(value):
            raise _UnfitError
        value = index(value)
    if not _LEAST <= value <= _MOST:
        raise _UnfitError
    return int(value)


def _number(value: Any) -> float:
    if type(value) is float:
        return float(value)
    if type(value) is not int:
        if isinstance(value, str | bytes | bool) or _axes(value):
            raise _UnfitError
        if not hasattr(value, "__index__"):
            return float(value)
        value = index(value)
    float(value)  # too large a number is refused
    return value


def _not_negative(value: Any) -> float:
    found = _number(value)
    if not found >= 0:  # NaN neither
        raise _UnfitError
    return found


def _probability(value: Any) -> float:
    found = _number(value)
    if not 0 <= found <= 1:
        raise _UnfitError
    return found


def _flag(value: Any) -> bool:
    if value is True or value is False:
        return value
    if type(value).__name__ not in {"bool", "bool_"} or _axes(value):  # NumPy's
        raise _UnfitError
    return bool(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _UnfitError
    return value


def _several(value: Any) -> Sequence[Any]:
    if isinstance(value, str | bytes) or not (isinstance(value, Sequence) or _axes(value) == 1):
        raise _UnfitError
    return cast("Sequence[Any]", value)


def _integers(value: Any) -> tuple[int, ...]:
    return tuple([_integer(own) for own in _several(value)])


def _one_or_several(value: Any) -> int | tuple[int, ...]:
    one = hasattr(value, "__index__") and not _axes(value)
    return _integer(value) if one else _integers(value)


def _side(value: Any) -> int:
    found = _integer(value)
    if abs(found) > _MOST_SIDE:
        raise _UnfitError
    return found


def _sides(value: Any) -> int | tuple[int, ...]:
    found = _one_or_several(value)
    return _side(found) if isinstance(found, int) else tuple(map(_side, found))


def _padding(value: Any) -> int | tuple[int, ...] | str:
    return value if isinstance(value, str) else _sides(value)


def _sizes(value: Any) -> Any:
    if value is None or hasattr(value, "__index__"):
        return None if value is None else _side(value)
    return tuple([None if own is None else _side(own) for own in _several(value)])


def _window(value: Any) -> int | tuple[int, ...]:
    found = _one_or_several(value)
    if isinstance(found, tuple) and len(found) != 2:
        raise _UnfitError
    return found


def _numbers(count: int) -> Callable[[Any], tuple[float, ...]]:
    def numbers(value: Any) -> tuple[float, ...]:
        found = tuple([_number(own) for own in _several(value)])
        if len(found) != count:
            raise _UnfitError
        return found

    return numbers


def _betas(value: Any) -> tuple[float, ...]:
    found = _numbers(2)(value)
    if not all(0 <= own < 1 for own in found):
        raise _UnfitError
    return found


def _array(value: Any) -> Any:
    if not hasattr(value, "dtype"):
        raise _UnfitError
    return value


# By the text of an annotation: what makes of a value the plain one, and what to give.
KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "int": (_integer, "an integer of 64 bits"),
    "float": (_number, "a number"),
    "NotNegative": (_not_negative, "a number of at least 0"),
    "Probability": (_probability, "a number from 0 to 1"),
    "Betas": (_betas, "two numbers of at least 0 and below 1"),
    "bool": (_flag, "True or False"),
    "str": (_text, "a text"),
    "Sequence[int]": (_integers, "a tuple or list of integers"),
    "int | Sequence[int]": (_one_or_several, "an integer, or a tuple or list of them"),
    "Sides": (_sides, "an integer of at most 2^30, or a tuple or list of them"),
    "Sizes": (_sizes, "an integer of at most 2^30 or None, or a tuple or list of them"),
    "int | tuple[int, int]": (_window, "an integer, or two of them"),
    "Padding": (_padding, "an integer of at most 2^30, a tuple or list of them, or a name"),
    "tuple[float, float]": (_numbers(2), "two numbers"),
    "tuple[float, float, float]": (_numbers(3), "three numbers"),
    "Sequence[A]": (_several, "a tuple or list of arrays"),
    "A": (_array, "an array"),
}
KINDS["Shape"] = KINDS["Axes | None"] = KINDS["int | Sequence[int]"]  # None is one of Axes

Taken = tuple[Callable[[Any], Any], str, bool]  # the same, and whether None is taken


def kind_of(annotation: str) -> Taken | None:
    """What a parameter of this annotation takes; None where the function itself looks at it."""
    text = "Axes | None" if annotation == "Axes" else annotation
    plain = text.removesuffix(" | None")
    found = KINDS.get(plain) or KINDS.get(text)
    return None if found is None else (*found, plain != text)


def checked(function: F) -> F:
    """`function`, whose options are looked at first; itself where it has none.

    Raises:
        KernelError: E1204 for an option of another kind, or given by two names.
    """
    found = {own: kind_of(str(text)) for own, text in function.__annotations__.items()}
    kinds = {own: kind for own, kind in found.items() if kind and own != "return"}
    if not kinds:
        return function
    operation = function.__name__
    code: Any = function.__code__
    names = code.co_varnames[: code.co_argcount]
    first = next((at for at, own in enumerate(names) if own in kinds), len(names))
    has_axis = "axis" in found

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > first:
            given = list(args)
            for at in range(first, min(len(args), len(names))):
                if names[at] in kinds:
                    given[at] = taken(operation, names[at], given[at], kinds[names[at]])
            args = tuple(given)
        if kwargs:
            if has_axis:
                rename(operation, kwargs, names[: len(args)])
            for name, value in kwargs.items():
                if name in kinds:
                    kwargs[name] = taken(operation, name, value, kinds[name])
        return function(*args, **kwargs)

    return update_wrapper(call, function)  # type: ignore[return-value]


def taken(operation: str, name: str, value: Any, kind: Taken) -> Any:
    """The plain value of an option. Raises E1204 where it is not of its kind."""
    convert, wanted, or_none = kind
    if value is None and or_none:
        return None
    try:
        return convert(value)
    except (_UnfitError, TypeError, ValueError, OverflowError):
        pass
    if convert is _array:
        raise not_an_array(name, value)
    raise refusal(operation, name, value, f"{wanted}, or None" if or_none else wanted)


def not_an_array(name: str, value: Any) -> Exception:
    """E1201 for `value`."""
    return E1201.error(name=name, found=f"`{type(value).__qualname__}`").help(
        "pass a NumPy, torch, CuPy or JAX array, or a buffer of a device"
    )


def rename(operation: str, kwargs: dict[str, Any], given: Sequence[str] = ()) -> None:
    """Give PyTorch's names of options in `kwargs` their own; `given` were by position.

    Raises E1204 for one that is given by both names.
    """
    for foreign, own in NAMES_OF_TORCH.items():
        if foreign in kwargs:
            if own in kwargs or own in given:
                raise E1204.error(
                    operation=operation, name=foreign, found=f"given beside `{own}`"
                ).help("it is another name of the same option: give one of them")
            kwargs[own] = kwargs.pop(foreign)


def require(operation: str, name: str, value: Any, fits: bool, wanted: str) -> None:
    """Raise E1204 unless `value` `fits`; `wanted` says what would, behind "give"."""
    if not fits:
        raise refusal(operation, name, value, wanted)


def refusal(operation: str, name: str, value: Any, wanted: str) -> Exception:
    """E1204 for `value`, saying what is `wanted` instead."""
    return E1204.error(operation=operation, name=name, found=shown(value)).help(f"give {wanted}")


def shown(value: Any) -> str:
    """A value as messages show it: on one line, and no contents of arrays."""
    if _axes(value):
        return f"an array (`{type(value).__qualname__}`)"
    text = " ".join(repr(value).split())
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"
