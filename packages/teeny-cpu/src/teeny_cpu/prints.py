"""What programs print: compiled code calls `teeny_print`, which writes to `sys.stdout`.

The lines are those of a GPU, in the order of the elements, whole for each value of each program.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any, NamedTuple

SYMBOL = "teeny_print"
_MEMORY: dict[str, Any] = {
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


class Printed(NamedTuple):
    """What a line of the compiler says of a value; without `element` there is only the prefix."""

    element: str
    type: str
    signed: bool
    as_hex: bool
    number: int
    of: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int
    prefix: str


@lru_cache(maxsize=256)
def read_line(text: bytes) -> Printed:
    """The fields of a line."""
    element, type_, signed, as_hex, number, count, shape, strides, start, prefix = (
        text.decode().split("|", 9)
    )
    return Printed(
        element, type_, signed == "1", as_hex == "1", int(number), int(count),
        _numbers(shape), _numbers(strides), int(start or 0), prefix,
    )  # fmt: skip


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


def shown(value: Any, what: Printed) -> str:
    """One element as `printf` writes it on a GPU."""
    element = what.element
    if element == "ptr":
        return hex(int(value) % (1 << 64))
    if element[0] != "i":
        return float(value).hex() if what.as_hex else f"{float(value):f}"
    bits = int(element[1:])
    unsigned = int(value) % (1 << bits)
    if what.as_hex:
        return f"0x{unsigned:0{max(1, bits // 4)}x}"
    return str(int(value) if what.signed and bits > 1 else unsigned)


def lines_of(what: Printed, data: int, program: tuple[int, int, int]) -> list[str]:
    """The lines of a value whose first element is counted from address `data`."""
    from itertools import product

    head = f"pid ({', '.join(map(str, program))})"
    if not what.element:
        return [f"{head}{what.prefix}\n"]
    kind = _MEMORY[what.type]
    which = f"(operand {what.number}) " if what.of > 1 else ""
    found = []
    for place in product(*map(range, what.shape)):
        offset = what.start + sum(i * s for i, s in zip(place, what.strides, strict=True))
        value = kind.from_address(data + offset * ctypes.sizeof(kind)).value
        index = f" idx ({', '.join(map(str, place))})"
        found.append(f"{head}{index}{what.prefix}{which}{shown(value, what)}\n")
    return found


def _print(text: int, size: int, data: int | None, x: int, y: int, z: int) -> None:
    what = read_line(ctypes.string_at(text, size))
    sys.stdout.write("".join(lines_of(what, data or 0, (x, y, z))))


_word, _number = ctypes.c_void_p, ctypes.c_int64
_function = ctypes.CFUNCTYPE(None, _word, _number, _word, _number, _number, _number)(_print)


def address() -> int:
    """Where compiled code finds `teeny_print`."""
    return ctypes.cast(_function, ctypes.c_void_p).value or 0
