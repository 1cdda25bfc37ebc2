"""Writes `_index.py` and `__init__.pyi` of the package from its modules: `python genindex.py`.

Public are the functions of every module that has a `SPEC` or `SPECS`. With `--check` it writes
nothing and names the files that are stale.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

from teeny_kernels.options import NAMES_OF_TORCH

PACKAGE = Path(__file__).parent / "src" / "teeny_kernels"


def homes() -> dict[str, str]:
    """Each public function and the module below the package that it lies in."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if path.name.startswith("_") or "SPEC" not in path.read_text(encoding="utf-8"):
            continue
        module = import_module(f"teeny_kernels.{name}")
        if not hasattr(module, "SPEC") and not hasattr(module, "SPECS"):
            continue
        for public, value in vars(module).items():
            own = isinstance(value, FunctionType) and value.__module__ == module.__name__
            if own and not public.startswith("_"):
                if public in found:
                    sys.exit(f"{public} stands in {found[public]} and in {name}")
                found[public] = name
    return dict(sorted(found.items()))


def by_both_names(name: str, home: str) -> list[str]:
    """The stub of a function with an `axis`, which has PyTorch's names of options too."""
    function = getattr(import_module(f"teeny_kernels.{home}"), name)
    signature = inspect.signature(function)
    if "axis" not in signature.parameters or name.endswith("_reference"):
        return []
    parameters = [*signature.parameters.values()]
    at = [own.name for own in parameters].index("axis")
    by_name = parameters[at:]
    forms = [parameters, parameters[:at] + _renamed(by_name, NAMES_OF_TORCH)]
    if "keepdims" in signature.parameters:
        forms.append(parameters[: at + 1] + _renamed(by_name[1:], NAMES_OF_TORCH))
    return [
        line
        for own in forms
        for line in (
            "@overload",
            f"def {name}({_shown(own)}) -> {signature.return_annotation}: ...",
        )
    ]


def _renamed(parameters: list[inspect.Parameter], names: dict[str, str]) -> list[inspect.Parameter]:
    """Parameters by keyword alone; those of PyTorch's names by these."""
    foreign = {own: other for other, own in names.items()}
    return [
        own.replace(
            name=foreign.get(own.name, own.name),
            kind=inspect.Parameter.KEYWORD_ONLY,
        )
        for own in parameters
    ]


def _shown(parameters: list[inspect.Parameter]) -> str:
    shown: list[str] = []
    for own in parameters:
        if own.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        has_default = own.default is not inspect.Parameter.empty
        shown.append(
            f"{own.name}: {own.annotation}" + (f" = {own.default!r}" if has_default else "")
        )
    return ", ".join(shown)


def texts() -> dict[Path, str]:
    """The generated files and their texts."""
    known = homes()
    index = [
        '"""Where each public function lies. Written by genindex.py."""',
        "",
        "HOMES = {",
        *(f'    "{name}": "{home}",' for name, home in known.items()),
        "}",
    ]
    named = {name: text for name in known if (text := by_both_names(name, known[name]))}
    stub = [
        "# The public functions, for type checkers. Written by genindex.py.",
        "",
        "from collections.abc import Sequence",
        "from typing import TypeVar, overload",
        "",
        *(
            f"from teeny_kernels.{home} import {name} as {name}"
            for name, home in known.items()
            if name not in named
        ),
        "from teeny_kernels.bundling import bundle_instances as bundle_instances",
        "from teeny_kernels.reduce.run import Axes",
        "",
        'A = TypeVar("A")',
        "",
        "__version__: str",
        "__all__ = [",
        '    "__version__",',
        '    "bundle_instances",',
        *(f'    "{name}",' for name in known),
        "]",
        "",
        *(line for text in named.values() for line in text),
    ]
    lines = {PACKAGE / "_index.py": index, PACKAGE / "__init__.pyi": stub}
    return {path: "\n".join(own) + "\n" for path, own in lines.items()}


if __name__ == "__main__":
    stale = {
        path: text
        for path, text in texts().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    if "--check" in sys.argv:
        sys.exit(", ".join(path.name for path in stale) or 0)
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
