"""Writes the generated pages: operations and where they work, Python, error codes, environment.

`python docs/_gen.py` writes them from the packages' own tables, `--check` fails if one is stale.
What they say is edited where it is owned, never here.
"""

from __future__ import annotations

import keyword
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from _kernels import PAGE, kernel_library
from _operations import operations
from _triton_table import triton_table

from teeny_macros.pages import packages
from teenyc.frontend import subset

DOCS = Path(__file__).parent

NOTE = "<!-- Written by docs/_gen.py; never edited. -->\n"
PACKAGES = (
    "teeny_macros",
    "teeny_triton",
    "teenyc",
    "teeny_compiler",
    "teeny_cuda",
    "teeny_cpu",
    "teeny_kernels",
)
BLOCKS = {
    "E00": "Capture, and the language on the host",
    "E01": "Syntax",
    "E02": "Names and calls",
    "E03": "Types",
    "E04": "Shapes and compile-time values",
    "E05": "Memory",
    "E06": "Control flow",
    "E07": "GPU back end",
    "E08": "CPU back end",
    "E09": "Toolchain, cache, the `teeny` command",
    "E10": "Launches, devices, the CUDA driver",
    "E11": "Launches on the host",
    "E12": "The kernel library",
    "I00": "Our own bugs",
}


def pages() -> dict[str, str]:
    """The text of every generated page, by its path below `docs`."""
    return {
        "operations.md": operations(),
        "triton-to-teeny.md": triton_table(),
        "python-in-kernels.md": python_in_kernels(),
        "error-codes.md": error_codes(),
        "environment.md": environment(),
        PAGE: kernel_library(NOTE),
    }


# --- Python in kernels ----------------------------------------------------------------------------


def python_in_kernels() -> str:
    """Which statements and expressions of Python a kernel may hold."""
    lines = [
        "# Python in kernels\n",
        NOTE,
        "Which Python a kernel body and its helpers may be written in. All else is refused where",
        "it stands.\n",
    ]
    for title, table in (("Statements", subset.STATEMENTS), ("Expressions", subset.EXPRESSIONS)):
        rows = dict.fromkeys(table.values())
        may = dict.fromkeys(_code(row.what) for row in rows if row.refused_by is None)
        lines += [
            f"## {title}\n",
            ", ".join(may) + ".\n",
            "| refused | code | instead |",
            "|---|---|---|",
        ]
        lines += [
            f"| {_code(row.what)} | {row.refused_by.code} | {row.instead} |"
            for row in rows
            if row.refused_by is not None
        ]
        lines.append("")
    return "\n".join(lines)


def _code(what: str) -> str:
    """What is a keyword, as code; `assignment` and the like are words."""
    keywords = all(keyword.iskeyword(word) or word == "match" for word in what.split())
    return f"`{what}`" if keywords else what


# --- tables of the packages -----------------------------------------------------------------------


def error_codes() -> str:
    """Every code of every package, by block."""
    rows = [
        (row.code, row.name, row.message)
        for package in packages()
        for row in import_module(f"{package}.codes").CODES
    ]
    lines = [
        "# Error codes\n",
        NOTE,
        "`teenyc --explain CODE` prints the page of a code: what it means, a kernel that gives it",
        "and one that is right. [Errors](errors.md) says how to read them. In messages, `{...}`",
        "stands for what was found.",
        "A warning has the number of the error, and `W` in place of `E`.\n",
    ]
    for block, title in BLOCKS.items():
        found = sorted(row for row in rows if row[0].startswith(block))
        if found:
            lines += [f"## {block[:3]}xx: {title}\n" if block != "I00" else f"## {title}\n"]
            lines += ["| code | name | message |", "|---|---|---|"]
            lines += [f"| {code} | {name} | {_cell(message)} |" for code, name, message in found]
            lines.append("")
    return "\n".join(lines)


def environment() -> str:
    """Every environment variable, by the package that reads it."""
    lines = [
        "# Environment variables\n",
        NOTE,
        "An empty variable counts as unset. Each package declares its variables in its `env.py`.\n",
    ]
    for package in PACKAGES:
        variables = _variables(package)
        if variables:
            lines += [f"## {package.replace('_', '-')}\n", "| variable | when unset | meaning |"]
            lines.append("|---|---|---|")
            lines += [f"| `{one.name}` | {one.default} | {_cell(one.help)} |" for one in variables]
            lines.append("")
    return "\n".join(lines)


def _variables(package: str) -> tuple[Any, ...]:
    try:
        return tuple(import_module(f"{package}.env").VARIABLES)
    except ModuleNotFoundError:
        return ()


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def stale() -> list[str]:
    """The pages that are not what this file would write."""
    return [name for name, text in pages().items() if _read(DOCS / name) != text]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def main() -> None:
    """Write the pages that differ; with `--check` only name them, and fail if there are any."""
    different = stale()
    if "--check" in sys.argv[1:]:
        sys.exit(" ".join(different) or 0)
    for name in different:
        (DOCS / name).write_text(pages()[name], encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
