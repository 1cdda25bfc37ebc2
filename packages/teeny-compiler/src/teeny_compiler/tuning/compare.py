"""Whether two results are the same, as far as the order of floating-point operations allows.

Arrays come as bytes and are NumPy's; nothing is imported for them.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, nan
from typing import Any

# What results of the same kernel with other block sizes differ by at most, of the magnitude.
TOLERANCES = {
    "f64": 1e-10,
    "f32": 1e-3,  # products may go through TF32
    "f16": 1e-2,
    "bf16": 4e-2,
    "f8e4m3": 0.2,
    "f8e5m2": 0.4,
}
_CODES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "i1": "uint8",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}


def decode(raw: Any, dtype: str) -> Any:
    """Bytes as numbers: bf16 and fp8 as float32, all else in its own dtype."""
    if dtype == "bf16":
        bits = raw[: len(raw) // 2 * 2].view("uint16").astype("uint32")
        return (bits << 16).view("float32")
    if dtype == "f8e5m2":  # the upper byte of an f16
        return (raw.astype("uint16") << 8).view("float16").astype("float32")
    if dtype == "f8e4m3":
        return type(raw)((256,), "float32", _f8e4m3())[raw]
    code = _CODES[dtype]
    size = 1 if dtype == "i1" else int(dtype[1:]) // 8
    return raw[: len(raw) // size * size].view(code)


def difference(found: Any, expected: Any, dtype: str, tolerance: float | None = None) -> str:
    """What differs, in words; empty when the results are the same.

    Integers must be equal. Floats may differ by `tolerance` times the element's magnitude plus the
    result's root mean square; infinities and NaNs must stand in the same places.
    """
    if found.size != expected.size:
        return f"{found.size} elements instead of {expected.size}"
    if not found.size or found.data.cast("B") == expected.data.cast("B"):
        return ""
    if dtype not in TOLERANCES:
        wrong = found != expected
        return _first(wrong, found, expected) if wrong.any() else ""
    allowed = TOLERANCES[dtype] if tolerance is None else tolerance
    if _is_near(found, expected, dtype, allowed):
        return ""
    found, expected = found.astype("float64"), expected.astype("float64")
    finite = (abs(found) < inf) & (abs(expected) < inf)
    same = (found == expected) | ((found != found) & (expected != expected))  # noqa: PLR0124 - NaN
    wrong = ~same & ~finite
    if finite.any():
        scale = (expected[finite] ** 2).mean() ** 0.5
        gap = abs(found[finite] - expected[finite])
        wrong[finite] = gap > allowed * (abs(expected[finite]) + scale)
    return _first(wrong, found, expected) if wrong.any() else ""


def _is_near(found: Any, expected: Any, dtype: str, allowed: float) -> bool:
    """Whether all is finite and near, in few passes; False says that it has to be looked at."""
    code = "float64" if dtype in {"f32", "f64"} else "float32"
    found, expected = found.astype(code), expected.astype(code)
    scale = (float(expected.dot(expected)) / expected.size) ** 0.5
    if not scale < inf:
        return False
    limit = abs(expected)
    limit += scale
    limit *= allowed
    found -= expected
    return bool((abs(found) <= limit).all())


def _first(wrong: Any, found: Any, expected: Any) -> str:
    at = int(wrong.argmax())
    count = int(wrong.sum())
    more = f" and {count - 1} more" if count > 1 else ""
    return f"element {at} is {found[at]:g} instead of {expected[at]:g}{more}"


@lru_cache(maxsize=1)
def _f8e4m3() -> Any:
    from array import array

    def value(bits: int) -> float:
        exponent, fraction = bits >> 3 & 15, bits & 7
        if bits & 127 == 127:
            return nan
        size = fraction * 2.0**-9 if exponent == 0 else (8 + fraction) * 2.0 ** (exponent - 10)
        return -size if bits >> 7 else size

    return array("f", [value(bits) for bits in range(256)])
