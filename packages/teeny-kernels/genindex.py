"""Writes `_index.py` and `__init__.pyi` of the package from its modules: `python genindex.py`.

Public are the functions of every module that has a `SPEC` or `SPECS`. With `--check` it writes
nothing and names the files that are stale.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

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
    stub = [
        "# The public functions, for type checkers. Written by genindex.py.",
        "",
        *(f"from teeny_kernels.{home} import {name} as {name}" for name, home in known.items()),
        "from teeny_kernels.bundling import bundle_instances as bundle_instances",
        "",
        "__version__: str",
        "__all__ = [",
        '    "__version__",',
        '    "bundle_instances",',
        *(f'    "{name}",' for name in known),
        "]",
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
