"""Pages of the error codes: `explain("E0401")` finds the text in the package that owns the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_macros.codes import CODES, E0023

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_macros.diagnostics import Code

GROUP = "teeny.codes"
_OWN = "teeny_macros"


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
    raise E0023.error(code=code).help("codes look like `E0401`; each error shows its own")
