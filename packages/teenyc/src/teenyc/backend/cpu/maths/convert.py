"""Conversions between number types as LLVM IR text: `convert` and `round_to`.

bf16 and the 8-bit floats have no usable instructions (LLVM calls library functions that a process
need not have), so they are converted in integers, exactly and rounded once. Their values, and
f16's, are integers of their width in memory and here. All results equal the interpreter's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from teenyc.backend.cpu.maths.definition import Definition
from teenyc.backend.cpu.maths.emitter import Emitter, Value
from teenyc.backend.cpu.maths.layout import LAYOUTS, Layout, layout_of

__all__ = ["FLOATS", "convert", "kind_of", "round_to"]


class Narrow(NamedTuple):
    """A float format that is kept in an integer.

    `largest` is the code of the largest finite number, `nan` that of a NaN. Without `infinite` the
    format saturates, as `cvt.satfinite` does.
    """

    integer: str
    mantissa: int
    bias: int
    largest: int
    nan: int
    infinite: bool

    @property
    def bits(self) -> int:
        return int(self.integer[1:])

    @property
    def magnitude(self) -> int:
        return (1 << (self.bits - 1)) - 1


_NARROW = {
    "f16": Narrow("i16", 10, 15, 0x7BFF, 0x7E00, infinite=True),
    "bf16": Narrow("i16", 7, 127, 0x7F7F, 0x7FC0, infinite=True),
    "f8E4M3FN": Narrow("i8", 3, 7, 0x7E, 0x7F, infinite=False),
    "f8E5M2": Narrow("i8", 2, 15, 0x7B, 0x7F, infinite=False),
}
# f32 as the result of a conversion from f64 in integers.
_F32_RESULT = Narrow("i32", 23, 127, 0x7F7FFFFF, 0x7FC00000, infinite=True)
FLOATS = frozenset((*_NARROW, *LAYOUTS))


def kind_of(element: str) -> str:
    """The IR's type of one value: `i16` for bf16, `float` for f32, `i32` for i32 and u32."""
    if element in _NARROW:
        return _NARROW[element].integer
    return LAYOUTS[element].kind if element in LAYOUTS else f"i{element[1:]}"


@lru_cache(maxsize=512)
def convert(
    source: str, result: str, lanes: int, *, native_half: bool, toward_zero: bool = False
) -> Definition:
    """A function of `<lanes x kind_of(source)>` that gives `<lanes x kind_of(result)>`.

    Types are called f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i8 ... i64 and u8 ... u64 (i1 and u1 as
    sources: true is -1 and 1). `native_half`: the target converts f32 and f16 in hardware (F16C,
    Arm). To floats: rounded once, to nearest even or, between floats, toward zero; what is too
    large becomes infinite or, in 8-bit floats, the largest number. To integers: truncated, what
    does not fit becomes the nearest integer that does, NaN becomes 0. (PTX does the same but for
    NaN to 64 bits.)
    """
    e = Emitter(lanes, kind_of(source), fma=False)
    if source in FLOATS and result in FLOATS:
        found = _float_to_float(e, e.x, source, result, native_half, toward_zero)
    elif source in FLOATS:
        found = _float_to_integer(e, source, result, native_half)
    else:
        assert result in FLOATS, "integers are extended and truncated by LLVM's own instructions"
        found = _integer_to_float(e, source, result, native_half)
    way = ".rtz" if toward_zero else ""
    symbol = f"@teeny.{source}_to_{result}{way}.x{lanes}"
    return Definition(symbol, e.function(symbol, found), frozenset(e.declared), frozenset())


@lru_cache(maxsize=64)
def round_to(element: str, lanes: int, *, native_half: bool) -> Definition:
    """A function of `<lanes x float>`: the nearest values of the narrow type, as f32."""
    e = Emitter(lanes, "float", fma=False)
    narrow = _float_to_float(e, e.x, "f32", element, native_half, toward_zero=False)
    found = _widened(e, narrow, element, native_half)
    symbol = f"@teeny.round_to_{element}.x{lanes}"
    return Definition(symbol, e.function(symbol, found), frozenset(e.declared), frozenset())


# --- floats to floats -----------------------------------------------------------------------------


def _float_to_float(
    e: Emitter, x: Value, source: str, result: str, native_half: bool, toward_zero: bool
) -> Value:
    if source in _NARROW:
        x, source = _widened(e, x, source, native_half), "f32"
    if source == result:
        return x
    if source == "f32" and result == "f64":
        return e.convert("fpext", x, "double")
    if result == "f32":
        if not toward_zero:
            return e.convert("fptrunc", x, "float")
        return e.bitcast(_narrowed(e, x, _F32_RESULT, toward_zero), "float")
    if (source, result) == ("f32", "f16") and native_half and not toward_zero:
        return e.bitcast(e.convert("fptrunc", x, "half"), "i16")
    return _narrowed(e, x, _NARROW[result], toward_zero)


def _widened(e: Emitter, x: Value, source: str, native_half: bool) -> Value:
    """The same value as f32, exactly.

    Magnitude bits moved into place are the value times 2**(bias - 127), subnormal or not.
    """
    format_, f32 = _NARROW[source], LAYOUTS["f32"]
    if source == "f16" and native_half:
        return e.convert("fpext", e.bitcast(x, "half"), "float")
    bits = e.convert("zext", x, "i32")
    if source == "bf16":
        return e.bitcast(bits << 16, "float")
    magnitude = bits & format_.magnitude
    placed = magnitude << (f32.mantissa - format_.mantissa)
    value = e.bitcast(e.bitcast(placed, "float") * 2.0 ** (f32.bias - format_.bias), "i32")
    if source == "f8E4M3FN":
        value = e.select(magnitude.compare("eq", format_.nan), 0x7FC00000, value)
    else:
        infinity = ((1 << (format_.bits - 1 - format_.mantissa)) - 1) << format_.mantissa
        value = e.select(magnitude.compare("uge", infinity), placed | 0x7F800000, value)
        value = e.select(magnitude.compare("ugt", infinity), value | 0x7FC00000, value)
    sign = (bits & (format_.magnitude + 1)) << (32 - format_.bits)
    return e.bitcast(value | sign, "float")


def _narrowed(e: Emitter, x: Value, result: Narrow, toward_zero: bool) -> Value:
    """`x`, f32 or f64, rounded once to the narrower format, as its code.

    Normal results: the exponent is rebiased and the low bits are rounded off, a carry running into
    the exponent as it should. Subnormal results: adding 2**k, whose last bit is worth as much as
    the result's, rounds the magnitude to it.
    """
    wide = layout_of(x)
    bits = e.bitcast(x, wide.integer)
    sign = bits & wide.sign_bit
    magnitude = bits ^ sign
    infinity = ((1 << (wide.bits - 1 - wide.mantissa)) - 1) << wide.mantissa
    shift = wide.mantissa - result.mantissa
    code = magnitude
    if result.bias != wide.bias:
        code = code - ((wide.bias - result.bias) << wide.mantissa)
    if not toward_zero:
        code = code + ((code >> shift) & 1) + ((1 << (shift - 1)) - 1)
    code = code >> shift
    if result.bias != wide.bias:
        normal_from = (wide.bias + 1 - result.bias) << wide.mantissa
        subnormal = _subnormal_code(e, e.bitcast(magnitude, wide.kind), wide, result, toward_zero)
        code = e.select(magnitude.compare("ult", normal_from), subnormal, code)
    limit = result.largest + (1 if result.infinite and not toward_zero else 0)
    code = e.select(code.compare("ugt", limit), limit, code)
    if result.infinite and toward_zero:
        code = e.select(magnitude.compare("eq", infinity), result.largest + 1, code)
    nan = e.constant(result.nan, wide.integer)
    if result.mantissa in (10, 23):  # f16 and f32 keep the payload, as hardware does
        nan = ((magnitude >> shift) & ((1 << result.mantissa) - 1)) | nan
    code = e.select(magnitude.compare("ugt", infinity), nan, code)
    return e.convert("trunc", code | (sign >> (wide.bits - result.bits)), result.integer)


def _subnormal_code(
    e: Emitter, magnitude: Value, wide: Layout, result: Narrow, toward_zero: bool
) -> Value:
    exponent = 1 - result.bias + wide.mantissa - result.mantissa
    adder = 2.0**exponent
    total = magnitude + adder
    code = e.bitcast(total, wide.integer) - ((exponent + wide.bias) << wide.mantissa)
    if not toward_zero:
        return code
    rounded_up = (total - adder).compare("ogt", magnitude)
    return e.select(rounded_up, code - 1, code)


# --- integers -------------------------------------------------------------------------------------


def _integer_to_float(e: Emitter, source: str, result: str, native_half: bool) -> Value:
    """Through f32 where that is exact or the result overflows anyway, else through f64."""
    opcode = "sitofp" if source.startswith("i") else "uitofp"
    bits = int(source[1:])
    if result == "f64":
        return e.convert(opcode, e.x, "double")
    if bits <= 16 or (bits == 32 and result != "bf16"):
        single = e.convert(opcode, e.x, "float")
        return _float_to_float(e, single, "f32", result, native_half, toward_zero=False)
    value = e.x if bits < 64 else _shortened(e, e.x, signed=opcode == "sitofp")
    double = e.convert(opcode, value, "double")
    return _float_to_float(e, double, "f64", result, native_half, toward_zero=False)


def _shortened(e: Emitter, x: Value, *, signed: bool) -> Value:
    """An integer of at most 53 significant bits that rounds to f32 or less as `x` does.

    Beyond 2**53 the last 11 bits become a single one, a twelfth bit that is set where they are not
    all zero.
    """
    low = x & 0x7FF
    sticky = ((low + 0x7FF) & 0x800) | (x & ~0x7FF)
    size = e.select(x.compare("slt", 0), e.constant(0, "i64") - x, x) if signed else x
    return e.select(size.compare("ult", 1 << 53), x, sticky)


def _float_to_integer(e: Emitter, source: str, result: str, native_half: bool) -> Value:
    """Clamped first: LLVM's conversion is undefined beyond the range, its saturating one scalar.

    Where the largest integer is no float, the largest float below it is converted instead, and what
    exceeds that is replaced.
    """
    wide = "f64" if source == "f64" else "f32"
    value = _float_to_float(e, e.x, source, wide, native_half, toward_zero=False)
    bits, signed = int(result[1:]), result.startswith("i")
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    digits = LAYOUTS[wide].mantissa + 1
    spare = max(0, high.bit_length() - digits)
    largest = (high >> spare) << spare
    clamped = e.select(value.compare("ogt", low), value, low)
    clamped = e.select(clamped.compare("olt", largest), clamped, largest)
    kind = kind_of(result) if bits >= 32 else "i32"
    opcode = "fptosi" if signed or bits < 32 else "fptoui"
    found = e.convert(opcode, clamped, kind)
    if largest < high:
        found = e.select(value.compare("ogt", largest), high, found)
    if signed:  # else NaN has been clamped to 0 already
        found = e.select(value.compare("uno", value), 0, found)
    return found if bits >= 32 else e.convert("trunc", found, kind_of(result))
