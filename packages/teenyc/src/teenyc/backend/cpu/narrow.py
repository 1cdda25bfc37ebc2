"""Floats narrower than 32 bits: rounding (once), and their bits in memory.

All are integer operations but where the hardware converts halves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teenyc.backend.cpu.text import WIDTHS, Val, number

if TYPE_CHECKING:
    from teenyc.backend.cpu.builder import Builder


class Format(NamedTuple):
    """Bits of the mantissa and of the whole, the exponent's bias, the greatest finite number."""

    mantissa: int
    width: int
    bias: int
    largest: float
    saturates: bool = False


FORMATS = {
    "f16": Format(10, 16, 15, 65504.0),
    "bf16": Format(7, 16, 127, (2 - 2**-7) * 2.0**127),
    "f8E4M3FN": Format(3, 8, 7, 448.0, saturates=True),
    "f8E5M2": Format(2, 8, 15, 57344.0, saturates=True),
}
_ABSOLUTE = 0x7FFFFFFF
_SIGN = -(1 << 31)


def _float(c: Builder, bits: Val) -> Val:
    return c.cast("bitcast", bits, "float")


def rounded(c: Builder, x: Val, element: str, *, toward_zero: bool) -> Val:
    """`x` (float or double) rounded once to `element`, held as float."""
    if x.type == "double":
        x = shorten(c, x) if toward_zero else odd_float(c, x)
    if element == "f16" and c.output.features.has("f16c") and not toward_zero:
        return c.cast("fpext", c.cast("fptrunc", x, "half"), "float")
    form = FORMATS[element]
    bits = c.bits(x)
    found = _rounded_magnitude(c, bits, form, toward_zero=toward_zero)
    if form.bias != 127:  # bf16 has the exponents of float, so these bits are right already
        found = _limited(c, x, found, form, toward_zero=toward_zero)
    sign = c.binary("and", bits, number(_SIGN, "i32"))
    found = _float(c, c.binary("or", found, sign))
    quiet = _float(c, c.binary("and", c.binary("or", bits, number(0x400000, "i32")), _kept(form)))
    return c.select(c.compare("uno", x, x), quiet, found)


def _kept(form: Format) -> Val:
    """The bits of a float that the format has."""
    return number(-(1 << (23 - form.mantissa)), "i32")


def _rounded_magnitude(c: Builder, bits: Val, form: Format, *, toward_zero: bool) -> Val:
    """The bits of the rounded magnitude, where the result is normal in the format."""
    magnitude = c.binary("and", bits, number(_ABSOLUTE, "i32"))
    if not toward_zero:
        drop = 23 - form.mantissa
        last = c.binary("lshr", magnitude, number(drop, "i32"))
        last = c.binary("and", last, number(1, "i32"))
        half = c.binary("add", last, number((1 << (drop - 1)) - 1, "i32"))
        magnitude = c.binary("add", magnitude, half)
    return c.binary("and", magnitude, _kept(form))


def _limited(c: Builder, x: Val, found: Val, form: Format, *, toward_zero: bool) -> Val:
    """The bits of the magnitude after subnormal and too great numbers."""
    size = c.magnitude(x)
    tiny = number(2.0 ** (1 - form.bias), "float")
    quantum = 1 - form.bias - form.mantissa
    if toward_zero:
        # Clamped first: the conversion of what is greater would be undefined.
        inside = c.select(c.compare("olt", size, tiny), size, number(0.0, "float"))
        whole = c.cast("fptosi", c.binary("fmul", inside, number(2.0**-quantum, "float")), "i32")
        small = c.binary("fmul", c.cast("sitofp", whole, "float"), number(2.0**quantum, "float"))
    else:
        magic = number(2.0 ** (quantum + 23), "float")
        small = c.binary("fsub", c.binary("fadd", size, magic), magic)
    found = c.select(c.compare("olt", size, tiny), c.bits(small), found)
    keeps = form.saturates or toward_zero
    limit = number(form.largest, "float")
    beyond = limit if keeps else number(float("inf"), "float")
    found = c.select(c.compare("ogt", _float(c, found), limit), c.bits(beyond), found)
    if toward_zero and not form.saturates:
        infinite = c.compare("oeq", size, number(float("inf"), "float"))
        found = c.select(infinite, c.bits(size), found)
    return found


def odd_sum(c: Builder, x: Val, y: Val) -> Val:
    """The sum as a double whose last bit is odd where it is not exact.

    Rounded to a narrow float it is the exact sum rounded once, which rounding to double first would
    not give: two bf16 lie hundreds of bits apart.
    """
    total = c.binary("fadd", x, y)
    part = c.binary("fsub", total, x)
    rest = c.binary(
        "fadd", c.binary("fsub", x, c.binary("fsub", total, part)), c.binary("fsub", y, part)
    )
    zero, one = number(0.0, "double"), number(1, "i64")
    bits = c.bits(total)
    even = c.compare("eq", c.binary("and", bits, one), number(0, "i64"))
    inexact = c.binary("and", even, c.compare("one", rest, zero))
    above = c.binary("xor", c.compare("ogt", rest, zero), c.compare("olt", total, zero))
    moved = c.binary("add", bits, c.select(above, one, number(-1, "i64")))
    return c.cast("bitcast", c.select(inexact, moved, bits), "double")


def encoded(c: Builder, x: Val, element: str) -> Val:
    """The bits in memory of a float that is a value of `element`."""
    form = FORMATS[element]
    type_ = f"i{form.width}"
    if element == "f16" and c.output.features.has("f16c"):
        return c.cast("bitcast", c.cast("fptrunc", x, "half"), "i16")
    bits = c.bits(x)
    if element == "bf16":
        return c.cast("trunc", c.binary("lshr", bits, number(16, "i32")), type_)
    size = c.binary("and", bits, number(_ABSOLUTE, "i32"))
    normal = c.binary("sub", size, number((127 - form.bias) << 23, "i32"))
    normal = c.binary("lshr", normal, number(23 - form.mantissa, "i32"))
    tiny = c.compare("ult", size, number((128 - form.bias) << 23, "i32"))
    scaled = c.binary(
        "fmul",
        _float(c, c.select(tiny, size, number(0, "i32"))),
        number(2.0 ** (form.bias - 1 + form.mantissa), "float"),
    )
    found = c.select(tiny, c.cast("fptosi", scaled, "i32"), normal)
    top = ((1 << (form.width - 1)) - 1) >> form.mantissa << form.mantissa
    if element.startswith("f8"):
        nan = number((1 << (form.width - 1)) - 1, "i32")
    else:  # its payload stays, as in hardware
        payload = c.binary("lshr", size, number(23 - form.mantissa, "i32"))
        payload = c.binary("and", payload, number((1 << form.mantissa) - 1, "i32"))
        nan = c.binary("or", payload, number(0x7E00, "i32"))
    if element != "f8E4M3FN":
        infinite = c.compare("eq", size, number(0x7F800000, "i32"))
        found = c.select(infinite, number(top, "i32"), found)
    found = c.select(c.compare("ugt", size, number(0x7F800000, "i32")), nan, found)
    sign = c.binary("lshr", bits, number(32 - form.width, "i32"))
    sign = c.binary("and", sign, number(1 << (form.width - 1), "i32"))
    return c.cast("trunc", c.binary("or", found, sign), type_)


def decoded(c: Builder, x: Val, element: str) -> Val:
    """Bits in memory (an integer of the format's width, or half) as float."""
    form = FORMATS[element]
    if element == "f16" and c.output.features.has("f16c"):
        return c.cast("fpext", c.cast("bitcast", x, "half"), "float")
    wide = c.cast("zext", x, "i32")
    if element == "bf16":
        return _float(c, c.binary("shl", wide, number(16, "i32")))
    size = c.binary("and", wide, number((1 << (form.width - 1)) - 1, "i32"))
    moved = c.binary("shl", size, number(23 - form.mantissa, "i32"))
    scale = number(2.0 ** (127 - form.bias), "float")
    found = c.bits(c.binary("fmul", _float(c, moved), scale))
    if element == "f8E4M3FN":
        special = c.compare("eq", size, number(0x7F, "i32"))
        found = c.select(special, number(0x7FC00000, "i32"), found)
    else:
        top = ((1 << (form.width - 1)) - 1) >> form.mantissa << form.mantissa
        special = c.compare("uge", size, number(top, "i32"))
        found = c.select(special, c.binary("or", moved, number(0x7F800000, "i32")), found)
        quiet = c.binary("or", found, number(0x00400000, "i32"))
        found = c.select(c.compare("ugt", size, number(top, "i32")), quiet, found)
    sign = c.binary("lshr", wide, number(form.width - 1, "i32"))
    sign = c.binary("shl", sign, number(31, "i32"))
    return _float(c, c.binary("or", found, sign))


def shorten(c: Builder, x: Val) -> Val:
    """A double as a float, towards zero."""
    near = c.cast("fptrunc", x, "float")
    above = c.compare("ogt", c.magnitude(c.cast("fpext", near, "double")), c.magnitude(x))
    return _float(c, c.binary("sub", c.bits(near), c.cast("zext", above, "i32")))


def odd_float(c: Builder, x: Val) -> Val:
    """A double as a float whose last bit is set when anything was lost: it may be rounded again."""
    low = shorten(c, x)
    lost = c.compare("one", c.cast("fpext", low, "double"), x)
    return _float(c, c.binary("or", c.bits(low), c.cast("zext", lost, "i32")))


def odd_double(c: Builder, x: Val, *, signed: bool) -> Val:
    """An integer as a double whose last bit is set when anything was lost."""
    name = "sitofp" if signed else "uitofp"
    if WIDTHS[x.type] < 64:
        return c.cast(name, x, "double")
    high = c.binary("ashr" if signed else "lshr", x, number(11, "i64"))
    lost = c.compare("ne", c.binary("and", x, number(2047, "i64")), number(0, "i64"))
    sticky = c.binary("or", high, c.cast("zext", lost, "i64"))
    wide = c.binary("fmul", c.cast(name, sticky, "double"), number(2048.0, "double"))
    if signed:
        moved = c.binary("add", x, number(1 << 53, "i64"))
        exact = c.compare("ult", moved, number(1 << 54, "i64"))
    else:
        exact = c.compare("ult", x, number(1 << 53, "i64"))
    return c.select(exact, c.cast(name, x, "double"), wide)
