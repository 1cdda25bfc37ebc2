"""Where CPython keeps what the machine code of short launches reads without asking for it.

Each place is found by looking at a sample and verified on it; where one is not as expected, there
is no machine code and launches go through cuda-python.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from teeny_cuda.buffer import Buffer

_WORD = ctypes.sizeof(ctypes.c_void_p)


class Places(NamedTuple):
    """Bytes from an object's start.

    `type`: to its type. `length` and `items`: to a tuple's size and its first item. `memory`: to
    the address that a ctypes object stands for. `kind` and `address`: to these slots of a `Buffer`.
    """

    type: int
    length: int
    items: int
    memory: int
    kind: int
    address: int
    layout: int


class Handle(ctypes.Structure):
    """A ctypes object over other memory: what built-in functions of records have as their self."""

    _fields_ = (("first", ctypes.c_uint64),)


def find_places() -> Places | None:
    """The places in this interpreter, or None when one is not where it is looked for."""
    head = object.__basicsize__
    sample: Any = 1.5
    three = (sample, None, sample)
    words = (ctypes.c_uint64 * 2)(7, 8)
    handle = Handle.from_address(ctypes.addressof(words))
    kind, address, layout = map(_slot, ("_launch_kind", "_address", "_layout"))
    found = Places(head - _WORD, head, tuple.__basicsize__, head, kind, address, layout)
    holds = (
        _word(sample, found.type) == id(float)
        and _word(three, found.length) == len(three)
        and _word(three, found.items) == id(sample)
        and _word(three, found.items + _WORD) == id(None)
        and _word(handle, found.memory) == ctypes.addressof(words)
        and kind > 0
        and address > 0
        and layout > 0
    )
    return found if holds else None


def _word(value: object, offset: int) -> int:
    return ctypes.c_size_t.from_address(id(value) + offset).value


def _slot(name: str) -> int:
    """Where buffers have the slot `name`; 0 when it is not found."""
    probe, mark = Buffer.__new__(Buffer), object()
    setattr(probe, name, mark)
    for offset in range(object.__basicsize__, Buffer.__basicsize__, _WORD):
        if _word(probe, offset) == id(mark):
            return offset
    return 0
