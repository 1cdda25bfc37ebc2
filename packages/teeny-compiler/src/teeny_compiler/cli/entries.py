"""What the arguments of `teeny cache` name: entries, sizes, ages; and how these are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_compiler.cache import survey, units
from teeny_compiler.codes import E0923, E0934

if TYPE_CHECKING:
    from teeny_compiler.cache import Cache

_DIGITS, _SHOWN = 12, 8


def find_entry(cache: Cache, given: str) -> str:
    """The key that begins with `given`, else that of the only entry of this kernel.

    Raises E0923 unless it is one and no other.
    """
    found = [key for key in cache.list_keys() if given and key.startswith(given.lower())]
    if len(found) == 1:
        return found[0]
    if found:
        raise E0923.error(key=given, count=len(found)).help("give more of its digits")
    found = [record.key for record in survey.survey(cache) if record.kernel == given]
    if len(found) == 1:
        return found[0]
    error = E0923.error(key=given, count=len(found) or "no")
    listed = ", ".join(f"`{key[:_DIGITS]}`" for key in found[-_SHOWN:])
    raise error.help(f"give a key: {listed}" if found else "`teeny cache ls` lists the keys")


def parse_size(given: str) -> int:
    """`500M`, `2GiB`, `1000000` in bytes. Raises E0934."""
    found = units.parse_size(given)
    if found is None:
        raise E0934.error(given=given, wanted="a size").help("for example 500M or 2GiB")
    return found


def parse_age(given: str) -> float:
    """`90m`, `12h`, `30d`, `2w` in seconds. Raises E0934."""
    found = units.parse_age(given)
    if found is None:
        raise E0934.error(given=given, wanted="an age").help("for example 12h or 30d")
    return found


def show_size(size: int) -> str:
    """`1.5 MiB`."""
    shown = float(size)
    for unit in ("B", "KiB", "MiB"):
        if shown < 1024:
            return f"{shown:.0f} {unit}" if unit == "B" else f"{shown:.1f} {unit}"
        shown /= 1024
    return f"{shown:.1f} GiB"


def show_age(seconds: float) -> str:
    """`3h`, `12d`: the largest unit that is not below one."""
    names = sorted(units.AGES, key=lambda name: -units.AGES[name])
    name = next((name for name in names if seconds >= units.AGES[name]), "s")
    return f"{max(0, int(seconds // units.AGES[name]))}{name}"
