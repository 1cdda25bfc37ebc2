"""The entry point of an instance: a call of the kernel with every type and value concrete."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from teeny_macros.capture import SourceFunction
from teeny_macros.namespace import literal_text
from teeny_macros.signature import DESCRIPTOR, POINTER
from teeny_macros.unit import DSL_MODULE, KERNEL_MODULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from teeny_macros.options import LaunchOptions
    from teeny_macros.resolve import Type
    from teeny_macros.signature import Parameter


def entry_point_name(kernel: str) -> str:
    """The symbol of the compiled kernel."""
    return f"{kernel}_entry_point"


def entry_text(
    kernel: str,
    parameters: Sequence[Parameter],
    types: Mapping[str, Type],
    constants: Mapping[str, Any],
    functions: Mapping[int, tuple[str, str]],
    *,
    options: LaunchOptions,
    divisible_by_16: Sequence[str] = (),
    equal_to_1: Sequence[str] = (),
) -> str:
    """The `entry` module. `functions` says where device functions among `constants` are defined."""
    language = {_annotation_root(types[name]) for name in types} | {
        types[name].dtype for name in types
    }
    imports: dict[str, tuple[str, str]] = {}
    callee = (
        kernel if all(parameter.name != kernel for parameter in parameters) else f"call_{kernel}"
    )
    imports[callee] = (KERNEL_MODULE, kernel)

    def need(name: str) -> str:
        language.add(name)
        return name

    def constant(value: Any) -> str:
        if not isinstance(value, SourceFunction):
            return str(literal_text(value, need))
        module, name = functions[id(value)]
        local = name if imports.get(name, (module, name)) == (module, name) else f"{module}_{name}"
        imports[local] = (module, name)
        return local

    arguments: list[str] = []
    by_keyword = False
    for parameter in parameters:
        name = parameter.name
        is_constant = name in constants
        text = constant(constants[name]) if is_constant else "1" if name in equal_to_1 else name
        by_keyword = by_keyword or is_constant or parameter.passing == "keyword"
        plain = parameter.passing == "positional" or not by_keyword
        arguments.append(text if plain else f"{name}={text}")
    attributes = [*_attributes(options)]
    attributes.append(f"divisible_by_16={_names(divisible_by_16)}")
    attributes.append(f"equal_to_1={_names(equal_to_1)}")
    signature = ", ".join(f"{name}: {types[name].text}" for name in types)
    lines = [_import(module, name, local) for local, (module, name) in imports.items()]
    if language:
        lines.append(f"from {DSL_MODULE} import {', '.join(sorted(language))}")
    lines += [
        f"@entry_point({', '.join(attributes)})",
        f"def {entry_point_name(kernel)}({signature}) -> None:",
        f"    {callee}({', '.join(arguments)})",
    ]
    return "".join(f"{line}\n" for line in lines)


@lru_cache
def _attributes(options: LaunchOptions) -> tuple[str, ...]:
    return tuple(f"{name}={value!r}" for name, value in options.named().items())


_ROOTS = {POINTER: "Ptr", DESCRIPTOR: "TensorDescriptor"}


def _annotation_root(type_: Type) -> str:
    return _ROOTS.get(type_.kind, type_.dtype)


def _import(module: str, name: str, local: str) -> str:
    return f"from {module} import {name}" + ("" if name == local else f" as {local}")


def _names(names: Iterable[str]) -> str:
    """A tuple of names, written the same on every Python."""
    found = [f'"{name}"' for name in names]
    return f"({', '.join(found)}{',' if len(found) == 1 else ''})"
