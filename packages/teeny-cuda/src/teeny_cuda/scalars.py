"""Scalar arguments: which Python and NumPy values a parameter takes, and their bit patterns.

Nothing is narrowed silently: an integer must fit, and a number too large for a float dtype is
refused.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from teeny_cuda.codes import E1065, E1066

if TYPE_CHECKING:
    from teeny_cuda.dtypes import DType

# The largest finite value of the float dtypes that scalars may have, and the first that rounds
# beyond it (half a unit in the last place above; IEEE 754, bf16: 8 significant bits).
_RANGES = {
    "f16": (65504.0, 65520.0),
    "bf16": ((2 - 2**-7) * 2.0**127, (2 - 2**-8) * 2.0**127),
    "f32": ((2 - 2**-23) * 2.0**127, (2 - 2**-24) * 2.0**127),
    "f64": (math.inf, math.inf),
}


def scalar_bits(name: str, dtype: DType, value: Any) -> Any:
    """What `struct` packs for parameter `name` under the letter of `dtype`.

    Raises:
        LaunchError: E1065 for a value of another kind, E1066 for a number outside of the dtype.
    """
    if dtype.is_float:
        return _float(name, dtype, value)
    return _integer(name, dtype, value)


def _integer(name: str, dtype: DType, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        # NumPy's bool is no index.
        if dtype.name != "i1" or type(value).__name__ not in {"bool", "bool_"}:
            raise _mistyped(name, dtype, value) from None
        number = int(value)
    bits = 1 if dtype.name == "i1" else 8 * dtype.itemsize
    low = -(1 << (bits - 1)) if dtype.is_signed else 0
    high = (1 << (bits - dtype.is_signed)) - 1
    if not low <= number <= high:
        raise E1066.error(name=name, dtype=dtype.name, value=number).help(
            f"{dtype.name} holds {low} to {high}: annotate the parameter with a wider dtype"
        )
    return number


def _float(name: str, dtype: DType, value: Any) -> float | int:
    if dtype.name not in _RANGES:
        raise E1065.error(
            name=name, wanted="no scalar: fp8 values travel in arrays", found=_kind(value)
        ).help("annotate the parameter as f32 and cast it in the kernel")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _mistyped(name, dtype, value) from None
    if isinstance(value, (str, bytes)):
        raise _mistyped(name, dtype, value)
    largest, beyond = _RANGES[dtype.name]
    if math.isfinite(number) and abs(number) > largest:
        if abs(number) >= beyond:
            raise E1066.error(name=name, dtype=dtype.name, value=number).help(
                f"the largest {dtype.name} is {largest:g}: annotate it with a wider dtype"
            )
        number = math.copysign(largest, number)
    return bf16_bits(number) if dtype.name == "bf16" else number


def bf16_bits(number: float) -> int:
    """The bit pattern of the bf16 nearest to `number`, half to even; rounded once, from f64."""
    sign = 0x8000 if math.copysign(1.0, number) < 0 else 0
    if math.isnan(number):
        return sign | 0x7FC0
    if math.isinf(number):
        return sign | 0x7F80
    mantissa, exponent = math.frexp(abs(number))
    # Normal numbers have 8 significant bits; below 2**-126 the step stays 2**-133.
    step = max(exponent - 8, -133)
    units = round(math.ldexp(mantissa, exponent - step))
    if units == 256:
        units, step = 128, step + 1
    if units < 128:
        return sign | units
    return sign | ((step + 134) << 7) | (units - 128)


def _mistyped(name: str, dtype: DType, value: Any) -> Any:
    return E1065.error(name=name, wanted=f"a scalar of {dtype.name}", found=_kind(value)).help(
        "pass a Python number; arrays are for parameters that are pointers"
    )


def _kind(value: Any) -> str:
    return (
        f"`{value!r}`"
        if isinstance(value, (bool, int, float, str))
        else f"a {type(value).__name__}"
    )
