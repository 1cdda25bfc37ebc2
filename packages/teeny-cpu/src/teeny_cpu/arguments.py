"""Arguments as compiled code takes them: words of 8 bytes, extents of the arrays, flags.

The layout is that of objects for a CPU: the parameters in order, three sizes of the grid, flags,
the address of the extents, the address of the error record (filled in by each thread).
"""

from __future__ import annotations

import ctypes
import math
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cpu.dtypes import DTYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_macros.artifact import Metadata
    from teeny_macros.protocol import Grid

# Bit 0 of the flags: no two arrays overlap.
SEPARATE = 1
_AFTER = 6  # words behind the parameters


class Packed(NamedTuple):
    """The words of a launch; `extents` and `arrays` are what they point to."""

    words: Any
    extents: Any
    arrays: list[Any]


class Packer:
    """Packs the checked arguments of one kernel."""

    __slots__ = ("_encoders", "_layout", "_pointers", "error_slot", "slots")

    def __init__(self, metadata: Metadata) -> None:
        params = metadata.params
        self.slots = len(params) + _AFTER
        self.error_slot = self.slots - 1
        self._pointers = [at for at, param in enumerate(params) if param.kind == "pointer"]
        self._encoders: list[Callable[[Any], int] | None] = [
            None if param.kind == "pointer" else encoder_of(param.dtype) for param in params
        ]
        self._layout = ctypes.c_uint64 * self.slots

    def word(self, at: int, value: Any) -> int:
        """The word of a number for parameter `at`."""
        encode = self._encoders[at]
        assert encode is not None
        return encode(value)

    def pack(self, grid: Grid, values: Sequence[Any]) -> Packed:
        """`values` are NumPy arrays, None for a null pointer, and numbers that fit."""
        words = [encode(value) if encode else 0
                 for encode, value in zip(self._encoders, values, strict=True)]  # fmt: skip
        extents: list[int] = []
        arrays = []
        for at in self._pointers:
            array = values[at]
            if array is None:
                extents += (0, 0)
                continue
            pointer = array.__array_interface__["data"][0]
            words[at] = pointer
            extents += extent_of(array, pointer)
            arrays.append(array)
        table = (ctypes.c_int64 * max(len(extents), 1))(*extents)
        flags = SEPARATE if are_separate(extents) else 0
        words += (*grid, flags, ctypes.addressof(table), 0)
        return Packed(self._layout(*words), table, arrays)


def extent_of(array: Any, pointer: int) -> tuple[int, int]:
    """Where the memory of an array begins, and its bytes."""
    if array.flags.c_contiguous:
        return pointer, array.nbytes
    if array.size == 0:
        return pointer, 0
    reach = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    low = sum(min(r, 0) for r in reach)
    return pointer + low, sum(max(r, 0) for r in reach) - low + array.itemsize


def are_separate(extents: Sequence[int]) -> bool:
    """Whether no two of the (begin, bytes) pairs overlap."""
    pairs = sorted((extents[i], extents[i + 1]) for i in range(0, len(extents), 2))
    end = 0
    for begin, nbytes in pairs:
        if begin < end and nbytes:
            return False
        end = max(end, begin + nbytes)
    return True


def encoder_of(dtype: str) -> Callable[[Any], int]:
    """What makes a word of a number of a dtype: its bits, integers extended to 64."""
    if not DTYPES[dtype].is_float:
        return _integer
    return _FLOATS[dtype]


def _integer(value: int) -> int:
    return value & 0xFFFFFFFFFFFFFFFF


def _bits(form: str, as_integer: str) -> Callable[[Any], int]:
    def encode(value: float) -> int:
        return int(struct.unpack(as_integer, struct.pack(form, value))[0])

    return encode


_f32 = _bits("<f", "<I")


def _bf16(value: float) -> int:
    """Rounded once, to the nearest with 8 significant bits and to even."""
    if not math.isfinite(value) or value == 0:
        return _f32(value) >> 16 | (0x40 if math.isnan(value) else 0)
    step = math.ldexp(1.0, max(math.frexp(value)[1] - 8, -133))
    return _f32(math.copysign(round(value / step) * step, value)) >> 16


_FLOATS: dict[str, Callable[[Any], int]] = {
    "f16": _bits("<e", "<H"),
    "bf16": _bf16,
    "f32": _f32,
    "f64": _bits("<d", "<Q"),
}
