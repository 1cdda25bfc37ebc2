"""The entry points of installed packages, read from their files.

`importlib.metadata` gives the same, but importing it (it parses mail) and asking it takes longer
than a launch may. It is asked wherever the search path has more than plain folders.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_INFO = (".dist-info", ".egg-info")


class Point(NamedTuple):
    """One line of an `entry_points.txt`: `name = module:attr` in the section `group`."""

    group: str
    name: str
    module: str
    attr: str

    def load(self) -> Any:
        """What it names, imported. Raises ImportError and AttributeError."""
        from importlib import import_module

        found: Any = import_module(self.module)
        for part in filter(None, self.attr.split(".")):
            found = getattr(found, part)
        return found


def points(path: Sequence[str]) -> list[Any]:
    """All entry points of the packages on `path`; of two with one name the first package counts."""
    found: dict[str, list[Point]] = {}
    try:
        _check_finders()
        for folder in path:
            for package, text in _texts(folder or os.curdir):
                if package not in found:
                    found[package] = list(_parse(text))
    except _NotPlainError:
        from importlib.metadata import entry_points

        known = entry_points()
        return [point for group in known.groups for point in known.select(group=group)]
    return [point for group in found.values() for point in group]


class _NotPlainError(Exception):
    """Packages may be found by other means than a look into folders."""


def _check_finders() -> None:
    """Raise where others than Python itself find packages."""
    from importlib.machinery import PathFinder

    for finder in sys.meta_path:
        if finder is not PathFinder and hasattr(finder, "find_distributions"):
            raise _NotPlainError


def _texts(folder: str) -> Iterator[tuple[str, str]]:
    """The name of each package in a folder, and its `entry_points.txt` (empty without one)."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except NotADirectoryError:
        raise _NotPlainError from None  # an archive
    except OSError:
        return
    for name in names:
        stem, ending = os.path.splitext(name)
        if ending == ".egg":
            raise _NotPlainError
        if ending not in _INFO:
            continue
        try:
            with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8") as file:
                text = file.read()
        except OSError:
            text = ""
        yield _normal(stem.partition("-")[0]), text


def _normal(name: str) -> str:
    """One spelling of a package's name."""
    return "-".join(filter(None, name.lower().replace("_", "-").replace(".", "-").split("-")))


def _parse(text: str) -> Iterator[Point]:
    group = ""
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
            continue
        name, _, value = line.partition("=")
        module, _, attr = value.partition("[")[0].partition(":")
        yield Point(group, name.strip(), module.strip(), attr.strip())
