"""A typed stub of a bundle: its kernels as checkers and editors see them, without their source.

Dtypes and compile-time values are narrowed to those that are there, so that what the bundle does
not hold is a type error.
"""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from teeny_macros.bundle import Bundle
    from teeny_macros.bundle_file import KernelRow

_PYTHON = {"i1": "bool"}

LOADER = '''\
"""The kernels of {file}, which lies beside this file. Written by `teeny bundle stub`."""

from pathlib import Path
from typing import Any

from teeny_macros import bundle

_bundle = bundle.Bundle(Path(__file__).with_name("{file}"))
__all__ = list(_bundle)


def __getattr__(name: str) -> Any:
    if name in _bundle:
        return _bundle[name]
    raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}", name=name)
'''


def loader_text(bundle: Bundle) -> str:
    """The module that the stub describes: it gives the kernels of the bundle beside it."""
    return LOADER.format(file=os.path.basename(bundle.path))


def stub_text(bundle: Bundle) -> str:
    """The stub: one `@kernel` function without a body for each kernel."""
    used: set[str] = set()
    blocks = [
        _kernel(row, used)
        for row in bundle.kernels
        if sum(other.name == row.name for other in bundle.kernels) == 1
    ]
    text = "\n\n\n".join(blocks)
    typing = [name for name in ("Any", "Literal", "TypeVar") if name in _names_in(text)]
    imports = [f"from typing import {', '.join(typing)}\n"] if typing else []
    language = sorted(name for name in used if name in _names_in(text))
    imports.append("from teeny_macros import kernel")
    if language:
        imports.append(f"from teeny_triton import {', '.join(language)}")
    head = f'"""Kernels of the bundle `{bundle.name}`. Written by `teeny bundle stub`."""\n'
    return (
        head
        + "\n"
        + "\n".join(imports)
        + "\n\n"
        + ("" if text.startswith("_") else "\n")
        + text
        + "\n"
    )


def _kernel(row: KernelRow, used: set[str]) -> str:
    variables = _variables(row)
    lines: list[str] = []
    names: dict[str, str] = {}
    for name, dtypes in variables.items():
        used.update(dtypes)
        if len(dtypes) == 1:
            names[name] = dtypes[0]
            continue
        names[name] = f"_{row.name}_{name}"
        lines.append(f'{names[name]} = TypeVar("{names[name]}", {", ".join(dtypes)})')
    parameters: list[str] = []
    starred = False
    for number, parameter in enumerate(row.parameters):
        if parameter["passing"] == "keyword" and not starred:
            parameters.append("*")
            starred = True
        default = " = ..." if parameter["default"] is not None else ""
        parameters.append(f"{parameter['name']}: {_type(row, parameter, names, used)}{default}")
        following = row.parameters[number + 1 :]
        if parameter["passing"] == "positional" and (
            not following or following[0]["passing"] != "positional"
        ):
            parameters.append("/")
    lines += ["", ""] if lines else []
    lines += ["@kernel", f"def {row.name}("]
    lines += [f"    {text}," for text in parameters]
    lines.append(") -> None:")
    lines.append(f"    {_docstring(row)}")
    return "\n".join(lines)


def _docstring(row: KernelRow) -> str:
    count = len({instance.base for instance in row.instances})
    targets = sorted({target for one in row.instances for target in one.code})
    text = f"{row.doc}\n\n    " if row.doc else ""
    text += f"{count} instance{'s' if count > 1 else ''}, for {', '.join(targets)}."
    end = "\n    " if row.doc else ""
    return '"""' + text.replace("\\", "\\\\").replace('"""', "'''") + end + '"""'


def _variables(row: KernelRow) -> dict[str, list[str]]:
    """The dtypes that each type variable has in some instance."""
    found: dict[str, set[str]] = {}
    for parameter in row.parameters:
        if parameter["variable"]:
            for text in _types(row, parameter["name"]):
                found.setdefault(parameter["dtype"], set()).add(_dtype(text))
    return {name: sorted(dtypes) for name, dtypes in found.items()}


def _types(row: KernelRow, name: str) -> list[str]:
    found = {text for one in row.instances for other, text in one.types if other == name}
    return sorted(found)


def _dtype(text: str) -> str:
    """The dtype in `f32`, `Ptr[f32]`, `TensorDescriptor[f32, (64, 64)]`."""
    return text.partition("[")[2].partition(",")[0].removesuffix("]") or text


def _type(
    row: KernelRow, parameter: Mapping[str, Any], names: Mapping[str, str], used: set[str]
) -> str:
    name = parameter["name"]
    constants = sorted({text for one in row.instances for other, text in one.constants
                        if other == name})  # fmt: skip
    types = _types(row, name)
    if parameter["kind"] == "const":
        used.add("Const")
        return f"Const[{_constant_type(constants)}]"
    if parameter["variable"] and types:
        dtype = names[parameter["dtype"]]
        shown = [
            _annotation(text.replace(_dtype(text), dtype), used, _dtype(text)) for text in types
        ]
    else:
        shown = [_annotation(text, used, _dtype(text)) for text in types]
    if "None" in constants:
        shown.append("None")
    return " | ".join(dict.fromkeys(shown))


def _annotation(text: str, used: set[str], dtype: str) -> str:
    root, _, inner = text.partition("[")
    used.update((dtype, root))
    if root == "TensorDescriptor":
        rank = f"R{inner.count(',')}"
        used.add(rank)
        return f"{root}[{inner.partition(',')[0]}, {rank}]"
    if root == "Ptr":
        return text
    python = _PYTHON.get(dtype, "float" if "f" in dtype else "int")
    return f"{text} | {python}"


def _constant_type(texts: Iterable[str]) -> str:
    """`Literal[512, 1024]` where checkers can tell the values; else what they can."""
    values: list[Any] = []
    for text in texts:
        try:
            values.append(ast.literal_eval(text))
        except (ValueError, SyntaxError):
            return "Any"
    if all(value is None or isinstance(value, bool | int | str) for value in values):
        ordered = sorted(values, key=lambda value: (str(type(value)), str(value).zfill(20)))
        return f"Literal[{', '.join(map(repr, ordered))}]"
    if all(isinstance(value, float) for value in values):
        return "float"
    return "Any"


def _names_in(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
