"""Casts: widening, narrowing, rounding, saturation, what does not fit, bits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from semantic_cases import (
    DTYPES,
    bf16,
    bits,
    each,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
    nearest,
    program,
    refused,
    samples,
    sentence,
    u8,
    u16,
    u32,
    u64,
    values,
)

Cases = Any
NAN, INF = np.nan, np.inf


def _rounded(name: str, x: Any) -> Any:
    """Finite floats in another format, from the exact value, zeros with their sign."""
    found = each(name, lambda v: v, x)
    zero = np.asarray(found == 0)
    signs = np.signbit(x.astype(np.float64))
    found[zero & signs] = -0.0
    return found


@sentence("S401")
def narrowing_an_integer_keeps_the_low_bits() -> Cases:
    x = i32(257, -1, -129, 2**31 - 1)
    yield values({"x.to(i8)": i8(1, -1, 127, -1), "x.to(u16)": u16(257, 65535, 65407, 65535)}, x=x)
    yield values({"x.to(i32)": i32(-1, 0)}, x=u64(2**64 - 1, 2**32))


@sentence("S402")
def widening_extends_the_sign_of_signed_integers() -> Cases:
    yield values({"x.to(i64)": i64(-1, 127), "x.to(u32)": u32(2**32 - 1, 127)}, x=i8(-1, 127))
    yield values({"x.to(i64)": i64(255), "x.to(i16)": i16(255)}, x=u8(255))
    yield values({"x.to(i8)": i8(1, 0), "x.to(i64)": i64(1, 0)}, x=i1(True, False))


@sentence("S403")
def the_cast_to_i1_asks_for_zero() -> Cases:
    yield values({"x.to(i1)": i1(1, 0, 1, 1)}, x=i32(256, 0, -1, 2))
    yield values({"x.to(i1)": i1(1, 0, 0, 1, 1)}, x=f32(0.25, 0.0, -0.0, NAN, INF))
    yield values({"x.to(i1)": i1(1, 0)}, x=f16(2.0**-24, 0))


@sentence("S404")
def narrowing_a_float_rounds_to_nearest_even() -> Cases:
    for name in ("f16", "bf16"):
        x = samples("f32", 256, seed=20)
        close = samples(name, 128, seed=21).astype(np.float32)  # halfway between neighbors
        halves = close + np.abs(np.spacing(close.astype(DTYPES[name])).astype(np.float32)) / 2
        x = np.concatenate([x, halves[np.isfinite(halves)]]).astype(np.float32)
        yield values({f"x.to({name})": _rounded(name, x)}, x=x)
    yield values({"x.to(f16)": f16(65504, INF, -INF)}, x=f32(65519, 65520, -1e9))


@sentence("S405")
def f64_is_rounded_once() -> Cases:
    for name in ("f32", "f16", "bf16"):
        x = samples("f64", 128, seed=22)
        middle = np.abs(samples(name, 128, seed=23)).astype(np.float64)
        step = np.spacing(middle.astype(DTYPES[name])).astype(np.float64) / 2
        halves = middle + step * (1 + 2.0**-40)  # just above halfway: two roundings would go down
        x = np.concatenate([x, halves[np.isfinite(halves)]])
        yield values({f"x.to({name})": _rounded(name, x)}, x=x)


@sentence("S406")
def rounding_towards_zero() -> Cases:
    x = f32(1 + 2**-7 - 2**-20, -1 - 2**-7 + 2**-20, 1e30, -1e30, INF, NAN)
    rtz = 'x.to({}, fp_downcast_rounding="rtz")'
    wanted = f16(1 + 7 * 2**-10, -1 - 7 * 2**-10, 65504, -65504, INF, NAN)
    yield values({rtz.format("f16"): wanted}, x=x)
    x = f32(1 + 2**-6 - 2**-20, -1 - 2**-6 + 2**-20, 3.4028235e38)
    most = (2 - 2**-7) * 2.0**127
    yield values({rtz.format("bf16"): bf16(1 + 2**-7, -1 - 2**-7, most)}, x=x)


@sentence("S407")
def widening_a_float_is_exact() -> Cases:
    for name, wide in (("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64")):
        x = samples(name, 128, seed=24, finite=False)
        yield values({f"x.to({wide})": x.astype(DTYPES[wide])}, x=x)


def _saturated(name: str, x: Any) -> Any:
    """Rounded to nearest even from the exact value; beyond the greatest number, that number."""
    most = {"f8e4m3": 448.0, "f8e5m2": 57344.0}[name]
    found = []
    for value in x.astype(np.float64):
        if np.isnan(value):
            found.append(NAN)
        elif np.isinf(value):
            found.append(np.copysign(most, value))
        else:
            rounded = min(nearest(name, Fraction(float(abs(value)))), most)
            found.append(float(np.copysign(rounded, value)))
    return np.array(found).astype(DTYPES[name])


@sentence("S408")
def eight_bit_floats_saturate() -> Cases:
    edges = [448, 464, 465, 57344, 61440, 1e9, -1e9, INF, -INF, NAN, 0.0, -0.0, 2**-17, 2**-10]
    for name in ("f8e4m3", "f8e5m2"):
        x = np.concatenate([f32(*edges), samples("f16", 200, seed=25).astype(np.float32)])
        yield values({f"x.to({name}).to(f32)": _saturated(name, x).astype(np.float32)}, x=x)
        y = x.astype(np.float16)
        yield values({f"x.to({name})": _saturated(name, y)}, x=y, folded=False)
        z = x.astype(DTYPES["bf16"])
        yield values({f"x.to({name})": _saturated(name, z)}, x=z, folded=False)


def _meaning(name: str, byte: int) -> float:
    """What a byte means, from the definition of the format."""
    mantissa_bits, bias = (3, 7) if name == "f8e4m3" else (2, 15)
    sign = -1.0 if byte & 0x80 else 1.0
    exponent = (byte & 0x7F) >> mantissa_bits
    mantissa = byte & ((1 << mantissa_bits) - 1)
    if name == "f8e4m3" and byte & 0x7F == 0x7F:
        return NAN
    if name == "f8e5m2" and exponent == 31:
        return NAN if mantissa else sign * INF
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)


@sentence("S409")
def eight_bit_floats_are_read_exactly() -> Cases:
    for name in ("f8e4m3", "f8e5m2"):
        x = bits(name, *range(256))
        wanted = np.array([_meaning(name, byte) for byte in range(256)])
        for wide in ("f16", "bf16", "f32", "f64"):
            yield values({f"x.to({wide})": wanted.astype(DTYPES[wide])}, x=x, folded=False)


@sentence("S410")
def an_integer_is_rounded_to_nearest_even() -> Cases:
    x = i32(2**24 + 1, 2**24 + 3, -(2**24) - 1, 2**31 - 1)
    yield values({"x.to(f32)": f32(2**24, 2**24 + 4, -(2**24), 2**31)}, x=x)
    big = i64(2**53 + 1, -(2**63), 2**40 + 2**16 + 1, 2**63 - 1)
    for name in ("f32", "f64"):
        exact = [nearest(name, Fraction(int(value))) for value in big]
        yield values({f"x.to({name})": np.array(exact).astype(DTYPES[name])}, x=big)
    yield values({"x.to(f16)": f16(2048, 2052, INF)}, x=i64(2049, 2051, 2**40))
    few = i32(1, -1, 2)  # with so few bits that f16 holds them, out of its range
    wanted = {"(x << 28).to(f16).to(f32)": f32(INF, -INF, INF)}
    yield values({**wanted, "(x << 28).to(f16).to(bf16)": bf16(INF, -INF, INF)}, x=few)
    yield values({"(x << 60).to(f16).to(f32)": f32(INF, INF)}, x=u64(1, 8))
    yield values({"x.to(f32)": f32(2.0**64), "x.to(f64)": f64(2.0**64)}, x=u64(2**64 - 1))
    yield values({"x.to(bf16)": bf16(256, 260, -256)}, x=i16(257, 259, -257))


@sentence("S411")
def a_float_is_truncated_to_an_integer() -> Cases:
    x = f32(2.9, -2.9, 0.99, -0.99, 2**30)
    yield values({"x.to(i32)": i32(2, -2, 0, 0, 2**30), "x.to(i64)": i64(2, -2, 0, 0, 2**30)}, x=x)
    yield values({"x.to(u8)": u8(2, 255, 0)}, x=f32(2.9, 255.9, 0))
    yield values({"x.to(i8)": i8(-128, 127)}, x=f16(-128.5, 127.9))
    yield values({"x.to(i64)": i64(-(2**62), 2**53 + 2)}, x=f64(-(2**62), 2**53 + 2))
    yield values({"x.to(u64)": u64(2**63)}, x=f64(2**63))


@sentence("S412")
def f32_beyond_32_bits_becomes_the_nearest_integer() -> Cases:
    most, least = 2**31 - 1, -(2**31)
    yield values({"x.to(i32)": i32(most, least, most, least, 0)}, x=f32(3e9, -3e9, INF, -INF, NAN))
    yield values({"x.to(u32)": u32(2**32 - 1, 0, 2**32 - 1, 0)}, x=f32(5e9, -1, INF, NAN))
    yield values({"x.to(i32).to(f32).to(u32)": u32(0, 3)}, x=f16(-1.5, 3))
    yield values({"x.to(f32).to(i32)": i32(most, 7)}, x=u32(2**32 - 256, 7))
    yield values({"tl.where(x > 0, -1.0, 2.0).to(u32)": u32(0, 2)}, x=i32(1, 0))


@sentence("S413")
def what_does_not_fit_is_some_integer() -> Cases:
    yield program(
        "i = tl.arange(0, 4)\ntl.store(y_ptr + i, tl.load(x_ptr + i).to(i8))",
        x=f32(300, 5, NAN, -7),
        out={"y": i8(127, 5, 0, -7)},
        checks={"y": lambda found: list(found[1::2]) == [5, -7]},
    )


@sentence("S414")
def some_casts_go_through_f32() -> Cases:
    yield refused("E0306", "x.to(i32)", x="f8e5m2")
    yield refused("E0306", "x.to(f8e4m3)", x="i32")
    yield refused("E0306", "x.to(f8e5m2)", x="f64")
    yield values({"x.to(f32).to(i32)": i32(3)}, x=np.array([3]).astype(DTYPES["f8e5m2"]))


@sentence("S415")
def a_bitcast_keeps_the_bits() -> Cases:
    x = f32(1, -0.0, INF)
    yield values({"x.to(i32, bitcast=True)": i32(0x3F800000, -(2**31), 0x7F800000)}, x=x)
    yield values({"x.to(f16, bitcast=True)": f16(1, -2)}, x=u16(0x3C00, 0xC000))
    yield values({"x.to(u8, bitcast=True)": u8(0x7F)}, x=bits("f8e4m3", 0x7F), folded=False)
    yield values({"x.to(u32, bitcast=True)": u32(2**32 - 1)}, x=i32(-1))


@sentence("S416")
def a_bitcast_between_widths_is_refused() -> Cases:
    yield refused("E0308", "x.to(i64, bitcast=True)", at="i64", x="f32")
    yield refused("E0308", "x.to(f16, bitcast=True)", at="f16", x="i32")
