"""What the arguments of `teeny cache` name: entries, sizes, ages; and how these are shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny_compiler.codes import E0923, E0934

if TYPE_CHECKING:
    from teeny_compiler.cache import Cache

_SIZES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def find_entry(cache: Cache, given: str) -> str:
    """The key that begins with `given`. Raises E0923 unless it is one and no other."""
    found = [key for key in cache.list_keys() if given and key.startswith(given.lower())]
    if len(found) == 1:
        return found[0]
    error = E0923.error(key=given, count=len(found) or "no")
    raise error.help("give more of its digits" if found else "`teeny cache ls` lists the keys")


def parse_size(given: str) -> int:
    """`500M`, `2GiB`, `1000000` in bytes. Raises E0934."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", given.strip().upper())
    if match is None:
        raise E0934.error(given=given, wanted="a size").help("for example 500M or 2GiB")
    return int(float(match[1]) * _SIZES[match[2]])


def parse_age(given: str) -> float:
    """`90m`, `12h`, `30d`, `2w` in seconds. Raises E0934."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", given.strip().lower())
    if match is None:
        raise E0934.error(given=given, wanted="an age").help("for example 12h or 30d")
    return float(match[1]) * _AGES[match[2]]


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
    names = sorted(_AGES, key=lambda name: -_AGES[name])
    name = next((name for name in names if seconds >= _AGES[name]), "s")
    return f"{max(0, int(seconds // _AGES[name]))}{name}"
