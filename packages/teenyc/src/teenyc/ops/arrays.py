"""Numbers of the IR as NumPy arrays: which dtype holds which type, rounding, bytes in memory.

bf16 and the 8-bit floats are held as float32 arrays that contain only values of the type;
everything else is held in its own dtype, integers in the signed one, i1 as bool, pointers as int64
byte addresses. NumPy comes in as the argument `np`: this package does not import it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from teenyc.ops.scalars import FORMATS
from teenyc.types import IRType, PointerType, ScalarType, scalar_of, shape_of

Array = Any
_HELD = {
    "i1": "bool",
    "f16": "float16",
    "bf16": "float32",
    "f8E4M3FN": "float32",
    "f8E5M2": "float32",
    "f32": "float32",
    "f64": "float64",
}
_MANTISSA = {"f8E4M3FN": 3, "f8E5M2": 2}
NARROW = frozenset(("bf16", "f8E4M3FN", "f8E5M2"))


def element_name(type_: IRType) -> str:
    """`f32`, `i1`, ... of a scalar or tensor type; `ptr` for pointers."""
    scalar = scalar_of(type_)
    return "ptr" if isinstance(scalar, PointerType) else scalar.name


def held_dtype(name: str) -> str:
    """The name of the NumPy dtype that holds the type called `name`."""
    return "int64" if name in ("ptr", "tensordesc") else _HELD.get(name) or f"int{name[1:]}"


def itemsize(element: ScalarType | PointerType) -> int:
    """Bytes of one element in memory."""
    if isinstance(element, PointerType):
        return 8
    return max(1, int("".join(c for c in element.name.split("E")[0] if c.isdigit())) // 8)


def constant(np: Any, value: Any, type_: IRType) -> Array:
    """An array of one repeated value."""
    return np.full(shape_of(type_), value, dtype=held_dtype(element_name(type_)))


def widened(np: Any, array: Array, name: str) -> Array:
    """The operand in which arithmetic of type `name` is done before it is rounded once."""
    return array.astype(np.float64) if name in NARROW else array


def rounded(np: Any, array: Array, name: str, *, toward_zero: bool = False) -> Array:
    """`array` (float64, or of the type itself) rounded once to the float type `name`."""
    array = np.asarray(array)
    if not toward_zero and name not in NARROW:
        return array.astype(held_dtype(name))
    precision, min_exponent, largest, saturates = FORMATS[name]
    wide = array.astype(np.float64)
    finite = np.where(np.isfinite(wide), wide, 0.0)
    magnitude = np.abs(finite)
    exponent = np.maximum(np.frexp(magnitude)[1] - 1, min_exponent) - (precision - 1)
    scaled = np.ldexp(magnitude, -exponent)
    found = np.ldexp(np.trunc(scaled) if toward_zero else np.rint(scaled), exponent)
    beyond = largest if saturates or toward_zero else np.inf
    found = np.copysign(np.where(found > largest, beyond, found), wide)
    special = np.copysign(largest, wide) if saturates else wide
    found = np.where(np.isinf(wide), special, found)
    return np.where(np.isnan(wide), wide, found).astype(held_dtype(name))


def without_sign(array: Array) -> Array:
    """A signed integer array read as unsigned."""
    return array if array.dtype.kind != "i" else array.view(f"u{array.dtype.name}")


def with_sign(np: Any, array: Array) -> Array:
    """An unsigned integer array read as signed, as it is held."""
    array = np.asarray(array)
    return array if array.dtype.kind != "u" else array.view(array.dtype.name[1:])


def encode(np: Any, array: Array, element: ScalarType | PointerType) -> Array:
    """The array in memory's own dtype (bf16 as uint16, 8-bit floats and i1 as uint8)."""
    name = element_name(element)
    if name == "bf16":
        bits = np.ascontiguousarray(array).view(np.uint32) >> 16
        bits = np.where(np.isnan(array), np.signbit(array) * 0x8000 + 0x7FC0, bits)
        return bits.astype(np.uint16).reshape(array.shape)
    if name in _MANTISSA:
        table = np.asarray(_codes(name))
        codes = np.searchsorted(table, np.abs(array))
        codes = np.where(np.isinf(array), 0x7C, np.where(np.isnan(array), 0x7F, codes))
        return (codes + np.signbit(array) * 0x80).astype(np.uint8)
    return array.astype(np.uint8) if name == "i1" else array


def decode(np: Any, data: Array, element: ScalarType | PointerType) -> Array:
    """The array that `encode` wrote, as it is held."""
    name = element_name(element)
    if name == "bf16":
        return (data.astype(np.uint32) << 16).view(np.float32)
    if name in _MANTISSA:
        table = np.asarray([_decoded(code, name) for code in range(256)], dtype=np.float32)
        return table[data]
    return data != 0 if name == "i1" else data


def memory_dtype(element: ScalarType | PointerType) -> str:
    """The NumPy dtype of one element in memory."""
    name = element_name(element)
    if name == "bf16":
        return "uint16"
    return "uint8" if name in _MANTISSA or name == "i1" else held_dtype(name)


@lru_cache(maxsize=2)
def _codes(name: str) -> tuple[float, ...]:
    """The finite values of an 8-bit float that are not negative, by code."""
    return tuple(_decoded(code, name) for code in range(0x7C if name == "f8E5M2" else 0x7F))


def _decoded(code: int, name: str) -> float:
    mantissa_bits = _MANTISSA[name]
    sign = -1.0 if code & 0x80 else 1.0
    exponent, mantissa = (code & 0x7F) >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    if name == "f8E5M2" and exponent == 0x1F:
        return sign * (float("nan") if mantissa else float("inf"))
    if name == "f8E4M3FN" and code & 0x7F == 0x7F:
        return sign * float("nan")
    low = FORMATS[name].min_exponent - mantissa_bits
    if exponent == 0:
        return sign * float(mantissa * 2.0**low)
    return sign * float((mantissa + (1 << mantissa_bits)) * 2.0 ** (low + exponent - 1))
