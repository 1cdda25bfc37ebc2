"""What an object file says of itself: the symbols that it leaves to others, and its machine.

ELF, Mach-O and COFF of 64-bit little-endian machines are read; nothing here loads anything.
"""

from __future__ import annotations

from struct import unpack_from
from typing import NamedTuple

# What code for a CPU may call. Anything else is refused before it is linked.
# The same list as the compiler's; rounding and fma are calls only where hardware lacks them.
ALLOWED = frozenset(
    [
        "memcpy",
        "memset",
        "memmove",
        "fmod",
        "fmodf",
        "fma",
        "fmaf",
        "floor",
        "floorf",
        "ceil",
        "ceilf",
        "trunc",
        "truncf",
        "rint",
        "rintf",
        "nearbyint",
        "nearbyintf",
        "round",
        "roundf",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "expm1",
        "hypot",
        "j0",
        "j1",
        "jn",
        "ldexp",
        "lgamma",
        "log",
        "log10",
        "log1p",
        "logb",
        "nextafter",
        "nextafterf",
        "pow",
        "remainder",
        "sinh",
        "tan",
        "tgamma",
        "y0",
        "y1",
        "yn",
        "teeny_print",  # of prints.py
    ]
)

_ELF = b"\x7fELF\x02\x01"
_MACH_O = b"\xcf\xfa\xed\xfe"
_MACHINES = {62: "x86-64", 183: "aarch64"}
_MACH_MACHINES = {0x01000007: "x86-64", 0x0100000C: "aarch64"}
_COFF_MACHINES = {0x8664: "x86-64", 0xAA64: "aarch64"}
_SYMTAB = 2  # of a section in ELF and of a load command in Mach-O


class ObjectFacts(NamedTuple):
    """`machine` is `x86-64`, `aarch64` or empty; `undefined` are the symbols it calls."""

    machine: str
    undefined: frozenset[str]


def read_object(data: bytes) -> ObjectFacts | None:
    """The facts of an object file; None when it is none, or damaged."""
    try:
        if data.startswith(_ELF):
            return _elf(data)
        if data.startswith(_MACH_O):
            return _mach_o(data)
        if data[:2] in (b"\x64\x86", b"\x64\xaa"):
            return _coff(data)
    except (ValueError, IndexError, OverflowError):
        return None
    except Exception as error:
        if type(error).__name__ == "error":  # struct.error: it ends too early
            return None
        raise
    return None


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")


def _elf(data: bytes) -> ObjectFacts:
    (machine,) = unpack_from("<H", data, 18)
    (sections,) = unpack_from("<Q", data, 40)
    size, count = unpack_from("<HH", data, 58)
    undefined = set()
    for number in range(count):
        at = sections + number * size
        if unpack_from("<I", data, at + 4)[0] != _SYMTAB:
            continue
        start, length = unpack_from("<QQ", data, at + 24)
        (link,) = unpack_from("<I", data, at + 40)
        (names,) = unpack_from("<Q", data, sections + link * size + 24)
        for entry in range(start, start + length, 24):
            name, _, _, section = unpack_from("<IBBH", data, entry)
            if name and section == 0:
                undefined.add(_text(data, names + name))
    return ObjectFacts(_MACHINES.get(machine, ""), frozenset(undefined))


def _mach_o(data: bytes) -> ObjectFacts:
    machine, _, _, commands = unpack_from("<IIII", data, 4)
    undefined = set()
    at = 32
    for _ in range(commands):
        kind, size = unpack_from("<II", data, at)
        if kind == _SYMTAB:
            symbols, count, names, _ = unpack_from("<IIII", data, at + 8)
            for entry in range(symbols, symbols + 16 * count, 16):
                name, flags = unpack_from("<IB", data, entry)
                if flags & 0x0E == 0 and flags & 0x01:  # external, and of no section
                    undefined.add(_text(data, names + name).removeprefix("_"))
        at += size
    return ObjectFacts(_MACH_MACHINES.get(machine, ""), frozenset(undefined))


def _coff(data: bytes) -> ObjectFacts:
    machine, _, _, symbols, count, _, _ = unpack_from("<HHIIIHH", data, 0)
    names = symbols + 18 * count
    undefined = set()
    number = 0
    while number < count:
        at = symbols + 18 * number
        short, section, _, storage, more = (
            data[at : at + 8],
            *unpack_from("<hHBB", data, at + 12),
        )
        if section == 0 and storage == 2:
            undefined.add(
                _text(data, names + unpack_from("<I", short, 4)[0])
                if short[:4] == b"\0\0\0\0"
                else short.rstrip(b"\0").decode("utf-8", "replace")
            )
        number += 1 + more
    return ObjectFacts(_COFF_MACHINES.get(machine, ""), frozenset(undefined))
