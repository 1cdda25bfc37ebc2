"""Pages of the error codes: `explain("E0401")` finds the text in the package that owns the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_macros.codes import CODES, E0023

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_macros.diagnostics import Code

GROUP = "teeny.codes"
_OWN = "teeny_macros"
# Numbers of codes and the packages that have them, where these need not be installed.
_OWNERS = (
    (100, 899, "teenyc", "teenyc"),
    (900, 999, "teeny_compiler", "teeny-compiler"),
    (1050, 1099, "teeny_cuda", "teeny-cuda"),
    (1100, 1199, "teeny_cpu", "teeny-cpu"),
    (1200, 1299, "teeny_kernels", "teeny-kernels"),
)


def packages() -> list[str]:
    """The import names of the installed packages that own codes, this one first."""
    from importlib.metadata import entry_points

    names = {entry.value.partition(":")[0].partition(".")[0] for entry in entry_points(group=GROUP)}
    return [_OWN, *sorted(names - {_OWN})]


def all_codes() -> Iterator[Code]:
    """The rows of every installed package."""
    from importlib import import_module

    yield from CODES
    for package in packages()[1:]:
        yield from import_module(f"{package}.codes").CODES


def explain(code: str) -> str:
    """The page of an error code in Markdown; `E0401`, `e0401` and the warning `W0401` are one page.

    Raises:
        CaptureError: E0023 for a code that no installed package has.
    """
    from importlib.resources import files

    wanted = code.strip().upper()
    if wanted.startswith("W"):
        wanted = f"E{wanted[1:]}"
    if wanted.isalnum():
        for package in packages():
            page = files(package) / "explain" / f"{wanted}.md"
            if page.is_file():
                return page.read_text(encoding="utf-8")
    raise E0023.error(code=code).help(_remedy(wanted))


def _remedy(code: str) -> str:
    """Where the page of a code may be: with a package that is not installed, or nowhere."""
    from importlib.util import find_spec

    number = int(code[1:]) if len(code) == 5 and code[1:].isdecimal() else 0
    for first, last, package, name in _OWNERS:
        if first <= number <= last and find_spec(package) is None:
            return f"its page comes with {name}, which is not installed: `pip install {name}`"
    return "codes look like `E0401`; each error shows its own"
