"""Integers and i1: wrapping, division, shifts, comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from semantic_cases import (
    f32,
    i1,
    i8,
    i32,
    i64,
    program,
    refused,
    sentence,
    u8,
    u16,
    u32,
    u64,
    values,
)

Cases = Any


@sentence("S201")
def sums_and_products_wrap() -> Cases:
    least = -(2**31)
    x, y = i32(2**31 - 1, least, 65536, -7), i32(1, -1, 65536, 3)
    wanted = {"x + y": i32(least, 2**31 - 1, 131072, -4), "x * y": i32(2**31 - 1, least, 0, -21)}
    yield values({**wanted, "x - y": i32(2**31 - 2, least + 1, 0, -10)}, x=x, y=y)
    yield values(
        {"x + 100": u8(44, 99), "x * x": u8(64, 1), "x - 201": u8(255, 54)}, x=u8(200, 255)
    )
    yield values({"x + 100": i8(-56), "-x": i8(-100), "x * 2": i8(-56)}, x=i8(100))
    yield values({"x + x": u64(0, 2**64 - 2)}, x=u64(2**63, 2**64 - 1))
    yield values({"-x": u16(65535, 0)}, x=u16(1, 0))


@sentence("S202")
def nothing_is_widened() -> Cases:
    yield program(
        """
x = tl.load(x_ptr)
tl.store(y_ptr, x * 7864320)
tl.store(y_ptr + 1, x.to(i64) * 7864320)""",
        x=i32(319),
        out={"y": i64(-1_786_249_216, 2_508_718_080)},
    )


@sentence("S203")
def division_truncates() -> Cases:
    x, y = i32(-7, 7, -7, 7, 6, 0), i32(2, -2, -2, 2, 3, 5)
    yield values({"x // y": i32(-3, -3, 3, 3, 2, 0), "x % y": i32(-1, 1, -1, 1, 0, 0)}, x=x, y=y)
    yield values(
        {"x // -2": i64(0, 0, -1, -1, -2), "x % -3": i64(0, 1, 2, 0, 1)}, x=i64(0, 1, 2, 3, 4)
    )
    yield values({"x // y": i8(-42, 42), "x % y": i8(-1, 1)}, x=i8(-127, 127), y=i8(3, 3))
    rng = np.random.default_rng(1)
    a = rng.integers(-(2**63), 2**63, 64)
    b = np.where(rng.integers(-999, 999, 64) == 0, 1, rng.integers(1, 999, 64))
    yield values({"(x // y) * y + x % y": a}, x=a, y=b)


@sentence("S204")
def division_of_unsigned_integers_has_no_sign() -> Cases:
    most = 2**32 - 1
    yield values({"x // 3": u32(most // 3, 0), "x % 10": u32(most % 10, 2)}, x=u32(most, 2))
    most = 2**64 - 1
    yield values({"x // y": u64(most // 7), "x % y": u64(most % 7)}, x=u64(most), y=u64(7))
    yield values({"x // y": u8(127), "x % y": u8(1)}, x=u8(255), y=u8(2))


@sentence("S205")
def division_of_mixed_signs_is_refused() -> Cases:
    for operator in ("//", "%", "/"):
        yield refused("E0303", f"x {operator} y", x="i32", y="u32")


@sentence("S206")
def division_by_zero_ends_nothing() -> Cases:
    yield program(
        """
i = tl.arange(0, 4)
x = tl.load(x_ptr + i)
y = tl.load(y_ptr + i)
tl.store(q_ptr + i, x // y)
tl.store(r_ptr + i, x % y)""",
        x=i32(7, 8, -(2**31), 9),
        y=i32(0, 2, -1, 4),
        out={"q": i32(0, 4, 0, 2), "r": i32(0, 0, 0, 1)},
        checks={
            "q": lambda found: list(found[1::2]) == [4, 2],
            "r": lambda found: list(found[1::2]) == [0, 1],
        },
    )


@sentence("S219")
def what_a_divisor_is_compared_with_holds() -> Cases:
    x, d = i32(7, 8, -9, 10), i32(0, 2, 0, -3)
    wanted = {"tl.where(d == 0, 5, x // d)": i32(5, 4, 5, -3)}
    yield values({**wanted, "tl.where(d != 0, x % d, -1)": i32(-1, 0, -1, 1)}, x=x, d=d)
    yield values({"tl.where(d > 0, x // d, 1)": u64(1, 3)}, x=u64(9, 9), d=u64(0, 3))
    for dtype in (i32, u8, i64):
        yield program(
            """
d = tl.load(d_ptr)
q = tl.load(x_ptr) // d
tl.store(y_ptr + 1, d == 0)
if d == 0:
    q = q * 0 + 3
tl.store(y_ptr, q)""",
            x=dtype(100),
            d=dtype(0),
            out={"y": dtype(3, 1)},
        )


@sentence("S207")
def slash_divides_as_f32() -> Cases:
    x, y = i32(7, -7, 1, 98, 2**24 + 1), i32(2, 2, 3, 49, 1)
    yield values({"x / y": np.array([3.5, -3.5, 1 / 3, 2, 2**24], np.float32)}, x=x, y=y)
    yield values({"x / y": f32(1.5, 127.5)}, x=u8(3, 255), y=u8(2, 2))
    yield values({"x / 2": f32(2**62)}, x=i64(2**63 - 1))
    below = np.arange(1, 513, dtype=np.int32)
    yield values({"(7 * x) / x": f32(*[7] * 512)}, x=below, folded=False)
    quotients = 5 / below.astype(np.float32)
    yield values({"5 / x": quotients.astype(np.float32)}, x=below, folded=False)


@sentence("S208")
def shifts_move_bits() -> Cases:
    x, y = i32(1, -8, -(2**31), 3), i32(31, 1, 31, 0)
    yield values({"x << y": i32(-(2**31), -16, 0, 3), "x >> y": i32(0, -4, -1, 3)}, x=x, y=y)
    yield values({"x >> 31": u32(1), "x << 1": u32(0)}, x=u32(2**31))
    yield values({"x << 2": u8(32), "x >> 2": u8(50)}, x=u8(200))
    yield values({"x >> y": i64(-1, -(2**62))}, x=i64(-(2**63), -(2**63)), y=i64(63, 1))
    yield values({"x >> y": i8(-1, -64)}, x=i8(-128, -128), y=i8(7, 1))


@sentence("S209")
def shifts_by_the_width_or_more_leave_no_bit() -> Cases:
    amounts = i32(32, 33, 64, 1000, -1, -32)
    x, y = i32(5, -5, -5, 7, -7, 7), amounts
    yield values({"x << y": i32(*[0] * 6), "x >> y": i32(0, -1, -1, 0, -1, 0)}, x=x, y=y)
    yield values({"x << y": u32(0, 0), "x >> y": u32(0, 0)}, x=u32(9, 2**31), y=u32(32, 2**32 - 1))
    yield values({"x << y": i8(0, 0), "x >> y": i8(-1, 0)}, x=i8(-128, 127), y=i8(8, 100))
    yield values({"x << y": u16(0), "x >> y": u16(0)}, x=u16(65535), y=u16(16))
    yield values({"x << y": i64(0, 0), "x >> y": i64(-1, 0)}, x=i64(-9, 9), y=i64(64, 65))


@sentence("S210")
def a_literal_shift_that_leaves_no_bit_is_refused() -> Cases:
    yield refused("E0415", "x << 32", at="32", x="i32")
    yield refused("E0415", "x >> -1", at="-1", x="i64")
    yield refused("E0415", "x >> 8", at="8", x="u8")


@sentence("S211")
def the_least_integer_is_its_own_opposite() -> Cases:
    least = -(2**31)
    yield values({"-x": i32(least), "tl.abs(x)": i32(least)}, x=i32(least))
    yield values({"-x": i8(-128, 5), "tl.abs(x)": i8(-128, 5)}, x=i8(-128, -5))
    yield values({"tl.abs(x)": u32(2**32 - 1)}, x=u32(2**32 - 1))


@sentence("S212")
def complement_turns_every_bit() -> Cases:
    yield values({"~x": i32(-1, 0, -6)}, x=i32(0, -1, 5))
    yield values({"~x": u8(254, 0)}, x=u8(1, 255))
    yield values({"~x": i1(False, True)}, x=i1(True, False))


@sentence("S213")
def arithmetic_of_two_i1_is_refused() -> Cases:
    for operator in ("+", "-", "//", "%", "<<", ">>"):
        yield refused("E0304", f"x {operator} y", x="i1", y="i1")
    yield refused("E0304", "-x", x="i1")


@sentence("S214")
def an_i1_counts_as_0_or_1() -> Cases:
    x, y = i1(True, True, False), i32(5, -1, 5)
    yield values({"x + y": i32(6, 0, 5), "x * y": i32(5, -1, 0)}, x=x, y=y)
    yield values({"x + 1": i32(2, 1)}, x=i1(True, False))
    yield values({"x.to(i32) + x.to(i32)": i32(2, 0)}, x=i1(True, False))
    yield values({"x * 2.5": f32(2.5, 0)}, x=i1(True, False))


@sentence("S215")
def bitwise_operations_of_i1_are_logic() -> Cases:
    x, y = i1(True, True, False, False), i1(True, False, True, False)
    table = {"x & y": i1(1, 0, 0, 0), "x | y": i1(1, 1, 1, 0), "x ^ y": i1(0, 1, 1, 0)}
    yield values({**table, "x * y": i1(1, 0, 0, 0)}, x=x, y=y)


@sentence("S216")
def false_is_less_than_true() -> Cases:
    x, y = i1(True, True, False, False), i1(True, False, True, False)
    table = {"x < y": i1(0, 0, 1, 0), "x >= y": i1(1, 1, 0, 1), "x == y": i1(1, 0, 0, 1)}
    yield values(table, x=x, y=y)


@sentence("S217")
def comparisons_know_signs() -> Cases:
    yield values({"x < y": i1(1, 0), "x > y": i1(0, 1)}, x=i32(-1, 1), y=i32(1, -1))
    yield values({"x < y": i1(0, 1)}, x=u32(2**32 - 1, 1), y=u32(1, 2))
    yield values({"x <= y": i1(0)}, x=u64(2**63), y=u64(1))
    yield values({"tl.maximum(x, y)": u8(200), "tl.minimum(x, y)": u8(100)}, x=u8(200), y=u8(100))
    yield values({"tl.maximum(x, y)": i8(100), "tl.minimum(x, y)": i8(-56)}, x=i8(-56), y=i8(100))


@sentence("S218")
def umulhi_is_the_upper_half() -> Cases:
    a, b = 2**32 - 1, 2**31 + 5
    yield values({"tl.umulhi(x, y)": u32((a * b) >> 32)}, x=u32(a), y=u32(b))
    c, d = 2**64 - 1, 2**63 + 12345
    yield values({"tl.umulhi(x, y)": u64((c * d) >> 64)}, x=u64(c), y=u64(d))
