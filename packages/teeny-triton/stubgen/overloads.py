"""Turns a function's typing rules into signatures: one function per kind of rule."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stubgen.reader import Function, Parameter, Rule

NARROW = {
    "signed": ("i8", "i16"),
    "unsigned": ("i1", "u8", "u16"),
    "ints": ("i1", "i8", "i16", "u8", "u16"),
    "floats": ("f16", "bf16", "f8e4m3", "f8e5m2"),
}
# `self` of a method that exists for some dtypes only. A protocol, because mypy does not check the
# bound of a type variable in an explicit self type.
# Classes whose methods are functions of places in memory.
PLACES = ("BlockPtr[", "TensorDescriptor[")
OF = {"N": "Of[Num]", "F": "Of[Float]", "W": "Of[WideFloat]", "I": "Of[Int]"}
# Names in the text for what a parameter of few values takes; "" and None leave it out.
CHOICES = {
    "LoadCache": ("", ".ca", ".cg", ".cv"),
    "StoreCache": ("", ".wb", ".cg", ".cs", ".wt"),
    "Eviction": ("", "evict_first", "evict_last"),
    "Padding": ("zero", "nan"),
    "BlockPadding": ("", "zero", "nan"),
    "Order": ("acq_rel", "acquire", "release", "relaxed"),
    "LoadOrder": ("acquire", "relaxed"),
    "StoreOrder": ("release", "relaxed"),
    "Scope": ("gpu", "cta", "sys"),
}
_CHOICE = re.compile(rf"\b(?:{'|'.join(CHOICES)})\b")


@dataclass(frozen=True)
class Signature:
    """One overload: the type of each parameter that a rule names, and the result."""

    types: Mapping[str, str]
    returns: str


def shape(rank: int) -> str:
    """The type of a compile-time shape."""
    return f"tuple[{', '.join(['int'] * rank)}]"


def scalars(rank: int) -> str:
    """The type of one integer for each of `rank` sides, as a tuple."""
    return f"tuple[{', '.join(['i32 | i64 | int'] * rank)}]"


def axis(rank: int) -> str:
    """The type of an axis of a tensor of `rank`: a literal, so that checkers see it in range."""
    numbers = [*range(rank), *(-1 - number for number in range(rank))]
    return f"Literal[{', '.join(map(str, numbers))}]"


def _expanded(text: str) -> str:
    text = re.sub(r"\bShape(\d)", lambda match: shape(int(match[1])), text)
    text = re.sub(r"\bAxis(\d)", lambda match: axis(int(match[1])), text)
    text = re.sub(r"\bScalars(\d)", lambda match: scalars(int(match[1])), text)
    text = text.replace("AnyShape", "list[int] | Sides")
    text = _CHOICE.sub(lambda match: f"Literal[{', '.join(map(repr, CHOICES[match[0]]))}]", text)
    return re.sub(r"\bMask\b", "Tensor[i1, R] | i1", text)


def _plain(_function: Function, rule: Rule) -> Iterator[Signature]:
    for rank in rule.ranks or (0,):
        types = {name: text.replace("{k}", str(rank)) for name, text in rule.types.items()}
        returns = types.pop("returns", "None")
        yield Signature(types, returns)


def _elementwise(function: Function, rule: Rule) -> Iterator[Signature]:
    name, (bound,) = function.parameters[0].name, rule.values
    if name == "self":
        yield Signature({name: OF[bound]}, "Tensor[E, R]")
        return
    yield Signature({name: f"Tensor[{bound}, R]"}, f"Tensor[{bound}, R]")
    yield Signature({name: bound}, bound)
    if bound == "W":  # a number of the kernel's text; also what is `float | f32` after a loop
        yield Signature({name: "float"}, "f32")


def _binary(function: Function, _rule: Rule) -> Iterator[Signature]:
    x, y = (parameter.name for parameter in function.parameters[:2])
    yield Signature({x: "Tensor[F, R]", y: "Tensor[F, R] | F | float"}, "Tensor[F, R]")
    yield Signature({x: "Tensor[N, R]", y: "Tensor[N, R] | N | int"}, "Tensor[N, R]")
    yield Signature({x: "N | int", y: "Tensor[N, R]"}, "Tensor[N, R]")
    yield Signature({x: "F | float", y: "Tensor[F, R]"}, "Tensor[F, R]")
    yield Signature({x: "F", y: "F | float"}, "F")
    yield Signature({x: "N", y: "N | int"}, "N")
    yield Signature({x: "int", y: "int"}, "int")
    yield Signature({x: "int", y: "N"}, "N")
    yield Signature({x: "float", y: "F"}, "F")


def _reduced(
    name: str, element: str, result: str, extra: Mapping[str, str], *, exact: bool
) -> Iterator[Signature]:
    """The forms of one reduction for tensors of `element` (several: a union of tensors)."""

    def tensors(rank: str) -> str:
        return " | ".join(f"Tensor[{part}, {rank}]" for part in element.split(" | "))

    drop = {"keep_dims": "Literal[False]", **extra}
    keep = {"keep_dims": "Literal[True]", **extra}
    yield Signature({name: tensors("R"), "axis": "None", **drop}, result)
    yield Signature({name: tensors("R1"), "axis": axis(1), **drop}, result)
    for rank in (2, 3):
        types = {name: tensors(f"R{rank}"), "axis": axis(rank), **drop}
        yield Signature(types, f"Tensor[{result}, R{rank - 1}]")
    if exact:
        for rank in (1, 2, 3):
            types = {name: tensors(f"R{rank}"), "axis": axis(rank), **keep}
            yield Signature(types, f"Tensor[{result}, R{rank}]")
    else:
        yield Signature({name: tensors("R"), "axis": axis(3), **keep}, f"Tensor[{result}, R]")


def _reduction(function: Function, rule: Rule) -> Iterator[Signature]:
    name = function.parameters[0].name
    has_dtype = any(parameter.name == "dtype" for parameter in function.parameters)
    takes_all = function.parameters[1].default is not None or not rule.values
    own: dict[str, str] = {"dtype": "None"} if has_dtype else {}
    for group, result in rule.types.items():
        yield from _reduced(name, " | ".join(NARROW[group]), result, own, exact=False)
    element = "E" if name == "self" else "N" if rule.types or rule.values else "E"
    result = rule.values[0] if rule.values else element
    for signature in _reduced(name, element, result, own, exact=True):
        if takes_all or signature.types["axis"] != "None":
            yield signature
    if has_dtype:
        yield from _reduced(name, "Any", "X", {"dtype": "type[X]"}, exact=False)


def _indices(function: Function, rule: Rule) -> Iterator[Signature]:
    """The forms of a reduction that gives (value, index)."""
    name = function.parameters[0].name
    chosen = {"return_indices": "Literal[True]"}
    element = "E" if name == "self" else "N"
    for before, after in (*rule.types.items(), (element, element)):

        def form(rank: str, axis_: str, result: str, keep: str, own: str = before) -> Signature:
            types = {name: f"Tensor[{own}, {rank}]", "axis": axis_, "keep_dims": keep, **chosen}
            return Signature(types, result)

        yield form("R1", axis(1), f"tuple[{after}, i32]", "Literal[False]")
        for rank in (2, 3):
            pair = f"tuple[Tensor[{after}, R{rank - 1}], Tensor[i32, R{rank - 1}]]"
            yield form(f"R{rank}", axis(rank), pair, "Literal[False]")
        kept = f"tuple[Tensor[{after}, R], Tensor[i32, R]]"
        yield form("R", axis(3), kept, "Literal[True]")


RULES: dict[str, Callable[[Function, Rule], Iterator[Signature]]] = {
    "rule": _plain,
    "elementwise": _elementwise,
    "binary": _binary,
    "reduction": _reduction,
    "indices": _indices,
}


def signatures(function: Function) -> list[Signature]:
    """All overloads of the function, in the order of its decorators."""
    return [found for rule in function.rules for found in RULES[rule.name](function, rule)]


def as_method(method: Function, function: Function) -> Function:
    """The method with the rules of the function it calls: the first parameter becomes `self`."""
    first = function.parameters[0].name
    rules: list[Rule] = []
    for rule in function.rules:
        types = dict(rule.types)
        if first in types:
            receiver = types.pop(first)
            if receiver.startswith(PLACES):
                own = dict(types)
                rules.append(replace(rule, types={"self": receiver, **own}))
                continue
            if not receiver.startswith("Tensor["):
                continue  # the scalar form: scalars have their own class
            receiver = receiver.partition(" | ")[0].replace("Any]", "R]").replace("[Any", "[E")
            bound = re.fullmatch(r"Tensor\[([NFWI]), R\]", receiver)
            if bound is not None:
                receiver = OF[bound[1]]
            receiver = re.sub(r"^Tensor\[[NFWI],", "Tensor[E,", receiver)
            own = {name: re.sub(r"\b[NFWI]\b", "E", type_) for name, type_ in types.items()}
            types = {"self": receiver, **own}
        rules.append(replace(rule, types=types))
    known = {parameter.name: parameter for parameter in function.parameters}
    parameters = tuple(
        replace(parameter, annotation=known[parameter.name].annotation)
        if parameter.name in known
        else parameter
        for parameter in method.parameters
    )
    return replace(method, rules=tuple(rules), parameters=parameters)


def admits(type_: str, default: str) -> bool:
    """Whether a parameter of this type may have this default; else the overload requires it."""
    if default == "None":
        return re.search(r"\bNone\b", type_) is not None
    if default in {"True", "False"}:
        return re.search(rf"\bbool\b|Literal\[{default}\]", type_) is not None
    return True


def render_parameters(function: Function, signature: Signature) -> str:
    """The parameter list of one overload, names and defaults as the text has them."""
    parts: list[str] = []
    optional = keyword_only = False
    for parameter in function.parameters:
        type_ = signature.types.get(parameter.name, parameter.annotation)
        if parameter.variadic:
            parts += _variadic(parameter, type_ or "")
            keyword_only = parts[-1].startswith("*")
            continue
        if parameter.keyword_only and not keyword_only:
            parts.append("*")
            keyword_only = True
        if parameter.name == "self":
            parts.append("self" if type_ in {None, "Tensor[E, R]"} else f"self: {type_}")
            continue
        assert type_ is not None, f"{function.name}: no type for `{parameter.name}`"
        text = f"{parameter.name}: {_expanded(type_)}"
        if parameter.default is not None and admits(type_, parameter.default):
            text += f" = {parameter.default}"
            optional = True
        elif optional and not keyword_only:
            parts.append("*")
            keyword_only = True
        parts.append(text)
    return ", ".join(parts)


def _variadic(parameter: Parameter, type_: str) -> list[str]:
    """`*shape` as one tuple, or (rule `*2`) as so many numbers; positional either way.

    A rule `*T` stays one: `*args: T`.
    """
    if type_.startswith("*") and not type_[1:].isdigit():
        return [f"*{parameter.name}: {_expanded(type_[1:])}"]
    if type_.startswith("*"):
        return [*(f"{parameter.name}_{number}: int" for number in range(int(type_[1:]))), "/"]
    return [f"{parameter.name}: {_expanded(type_)}", "/"]
