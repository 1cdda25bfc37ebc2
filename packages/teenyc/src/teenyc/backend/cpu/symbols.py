"""What an object may refer to: functions of the C library by name, and nothing else."""

from __future__ import annotations

import struct

from teenyc.codes import E0802

# Those from `acos` on are libdevice's. Rounding and fma are calls only where hardware has neither.
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
        "teeny_print",  # of the package that loads the object
    ]
)
_ELF = b"\x7fELF"


def undefined_symbols(data: bytes) -> frozenset[str]:
    """The undefined symbols of a 64-bit little-endian ELF object."""
    if data[:6] != _ELF + b"\x02\x01":
        return frozenset()
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    found: set[str] = set()
    for i in range(count):
        at = offset + i * size
        (kind,) = struct.unpack_from("<I", data, at + 4)
        if kind != 2:  # SHT_SYMTAB
            continue
        start, length = struct.unpack_from("<QQ", data, at + 24)
        (link,) = struct.unpack_from("<I", data, at + 40)
        (names,) = struct.unpack_from("<Q", data, offset + link * size + 24)
        for entry in range(start, start + length, 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, entry)
            if section == 0 and name:
                end = data.index(b"\0", names + name)
                found.add(data[names + name : end].decode())
    return frozenset(found)


def check_symbols(data: bytes) -> None:
    """Raise E0802 where an object refers to anything that is not allowed."""
    unknown = sorted(undefined_symbols(data) - ALLOWED)
    if unknown:
        raise E0802.error(names=", ".join(unknown)).help(
            "this is a bug of the CPU back end: please report it with the kernel"
        )
