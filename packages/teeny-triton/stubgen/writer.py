"""Writes the stubs: a `.pyi` beside each file of the text, `__init__.pyi`, the table of names."""

from __future__ import annotations

import builtins
import re
import textwrap
from typing import TYPE_CHECKING

from stubgen.operators import pointer_members, scalar_members, tensor_members
from stubgen.overloads import as_method, render_parameters, signatures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stubgen.reader import Class, Function, Module

HEADER = '''\
"""{doc}

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
'''

TYPE_VARIABLES = """\
E = TypeVar("E", bound="Elem")  # anything a tensor holds
X = TypeVar("X", bound="Elem")  # another of the same
N = TypeVar("N", bound="Num")  # arithmetic
F = TypeVar("F", bound="Float")
W = TypeVar("W", bound="WideFloat")
I = TypeVar("I", bound="Int")
M = TypeVar("M", bound="MmaFloat")
"""

POINTERS = '''\
R = TypeVar("R", bound="Rank")
E_co = TypeVar("E_co", covariant=True)
MYPY = False  # mypy reads this name as True


class Of(Protocol[E_co]):
    """`self: Of[Float]` = "this method exists only for float elements".

    mypy does not check the bound of a type variable in an explicit self type, but it does check a
    protocol.
    """
    def _elem(self) -> E_co: ...


class Inv(Generic[E]):
    """Phantom: makes E occur, invariantly, in the protocol Ptr."""
    def _get(self) -> E: ...
    def _set(self, v: E, /) -> None: ...


class Mismatch:
    """Result of == on operands that do not match: nothing accepts it."""


class Sides(tuple[int, ...]):
    """A shape as `x.shape` gives it: a tuple whose length checkers do not know."""


class Ptr(Protocol[E]):
    """A pointer: `Ptr[f32]`; `pointer + offsets` is in elements. A launch takes arrays."""
    def __dlpack__(self) -> Any: ...
    # E has to occur in a parameter, of a method that every object has and that takes anything
    def __setattr__(self, name: str, value: Inv[E], /) -> None: ...
    def __add__(self, o: int, /) -> Ptr[E]: ...
'''

IMPORTS = {
    "dtypes": """\
from typing import ClassVar, Literal, TypeVar, overload

from typing_extensions import Self, deprecated

from teeny_triton.triton.types import Mismatch, Ptr

""",
    "types": """\
from collections.abc import Callable
from typing import Any, Generic, Literal, Protocol, TypeVar, overload

from typing_extensions import deprecated

{dtypes}
""",
    "enums": "from enum import Enum\n",
}
# Written out above, in place of the class that the text has.
_PROTOCOLS = {"Ptr"}
_GENERIC = {"Tensor": "Tensor(Generic[E, R])", "PtrTensor": "PtrTensor(Generic[E, R])"}
_GENERIC |= {name: f"{name}(Generic[E, R])" for name in ("BlockPtr", "TensorDescriptor")}


def _docstring(doc: str, indent: str) -> list[str]:
    if not doc:
        return []
    first, *rest = doc.splitlines()
    if not rest:
        return [f'{indent}"""{first}"""']
    return [
        f'{indent}"""{first}',
        *(f"{indent}{line}".rstrip() for line in rest),
        f'{indent}"""',
    ]


def function_lines(function: Function, indent: str = "") -> list[str]:
    """The overloads of a function or method; the docstring is at the first, where editors look."""
    found = signatures(function)
    assert found, f"{function.name} has no typing rule"
    lines: list[str] = []
    for number, signature in enumerate(found):
        if len(found) > 1:
            lines.append(f"{indent}@overload")
        if function.is_property:
            lines.append(f"{indent}@property")
        head = f"{indent}def {function.name}({render_parameters(function, signature)})"
        doc = [] if number else _docstring(function.doc, indent + "    ")
        lines += (
            [f"{head} -> {signature.returns}:", *doc]
            if doc
            else [f"{head} -> {signature.returns}: ..."]
        )
    return lines


def _class_lines(item: Class, functions: Mapping[str, Function]) -> list[str]:
    """One class: its rows, methods and operators."""
    head = _GENERIC.get(item.name)
    if head is None:
        bases = [base for base in item.bases if base != "Scalar"]
        head = f"{item.name}({', '.join(bases)})" if bases else item.name
    body = _docstring(item.doc, "    ")
    if "Enum" in item.bases:
        body += [f"    {name} = {value}" for name, value in item.rows]
    for method in item.methods:
        known = method
        if not method.rules:
            assert method.calls is not None, f"{method.name} has neither a rule nor a call"
            known = as_method(method, functions[method.calls])
        body += function_lines(known, "    ")
    if item.name == "Tensor":
        body += tensor_members()
    elif item.name == "PtrTensor":
        body += pointer_members()
    return [f"class {head}:", *body]


def _used(body: str, names: Iterable[str]) -> list[str]:
    code = re.sub(r'""".*?"""', "", body, flags=re.DOTALL)
    code = re.sub(r'"[^"\n]*"', "", code)  # a Literal may be spelled like a dtype
    return [name for name in names if re.search(rf"\b{name}\b", code)]


def _from(module: str, names: list[str]) -> str:
    return f"from {module} import {', '.join(names)}\n" if names else ""


def _import(module: str, names: list[str]) -> str:
    return f"from teeny_triton.triton.{module} import {', '.join(names)}\n" if names else ""


def module_stub(module: Module, modules: Mapping[str, Module]) -> str:
    """The stub of one file of the text."""
    functions = {found.name: found for each in modules.values() for found in each.functions}
    parts: list[str] = []
    for item in module.classes:
        if item.name in _PROTOCOLS:
            continue
        lines = _class_lines(item, functions)
        if module.name == "dtypes":
            lines += scalar_members(item.name)
        parts.append("\n".join(lines) + "\n")
    parts += [f"{alias} = {name}\n" for alias, name in module.aliases]
    parts += ["\n".join(function_lines(function)) + "\n" for function in module.functions]
    body = "\n".join(parts)
    if module.name == "dtypes":
        body = TYPE_VARIABLES + "\n" + body
    elif module.name == "types":
        body = POINTERS + "\n" + body
    variables = re.findall(r"^(\w+) = TypeVar", TYPE_VARIABLES, flags=re.MULTILINE)
    dtypes = [*variables, *(item.name for item in modules["dtypes"].classes)]
    if module.name in IMPORTS:
        imports = IMPORTS[module.name].format(dtypes=_import("dtypes", _used(body, dtypes)))
    else:
        typing = _used(body, ("Any", "Literal", "overload"))
        types = [item.name for item in modules["types"].classes]
        imports = (
            _from("collections.abc", _used(body, ("Callable", "Iterator")))
            + (f"from typing import {', '.join(typing)}\n\n" if typing else "\n")
            + _import("dtypes", _used(body, dtypes))
            + _import("enums", _used(body, modules["enums"].names))
            + _import("types", _used(body, [*types, "R", "Sides"]))
        )
    return HEADER.format(doc=module.doc.splitlines()[0]) + imports + "\n" + body


def package_stub(modules: Mapping[str, Module], doc: str, host: Iterable[str]) -> str:
    """`__init__.pyi`: every name of the language and of the host side, imported by name."""
    lines = [f"from teeny_triton.host import {', '.join(f'{name} as {name}' for name in host)}"]
    for module in modules.values():
        lines.append(f"from teeny_triton.triton.{module.name} import (")
        lines += [f"    {name} as {name}," for name in module.names]
        lines.append(")")
    lines.append("from teeny_triton import extra as extra, math as math")
    exported = public_names(modules, host)
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in exported), "]"]
    return HEADER.format(doc=doc) + "\n".join(lines) + "\n"


def part_stub(modules: Mapping[str, Module], doc: str, families: tuple[str, ...]) -> str:
    """A namespace that shows the functions of the files whose names begin so."""
    lines: list[str] = []
    for module in modules.values():
        if module.name.startswith(families):
            lines.append(f"from teeny_triton.triton.{module.name} import (")
            lines += [f"    {function.name} as {function.name}," for function in module.functions]
            lines.append(")")
    return HEADER.format(doc=doc) + "\n".join(lines) + "\n"


def public_names(modules: Mapping[str, Module], host: Iterable[str]) -> list[str]:
    """What `from teeny_triton import *` brings: nothing that would hide a builtin."""
    names = {name for module in modules.values() for name in module.names} | set(host)
    return sorted(name for name in names if not hasattr(builtins, name))


def surface(modules: Mapping[str, Module], host: Iterable[str]) -> str:
    """`_surface.py`: in which file of the text each name is, to be loaded when asked for."""
    rows = {name: module.name for module in modules.values() for name in module.names}
    return "\n".join(
        [
            '"""Where each name is defined. Generated by `python -m stubgen`; never edited."""',
            "# fmt: off",
            "# ruff: noqa: RUF022",
            "",
            "MODULES: dict[str, str] = {",
            *(f'    "{name}": "{rows[name]}",' for name in sorted(rows)),
            "}",
            "",
            "__all__ = [",
            *_packed(public_names(modules, host)),
            "]",
            "",
        ]
    )


def _packed(names: Iterable[str]) -> list[str]:
    """Names in lines of at most 100 columns."""
    text = " ".join(f'"{name}",' for name in names)
    return textwrap.wrap(text, 96, initial_indent="    ", subsequent_indent="    ")
