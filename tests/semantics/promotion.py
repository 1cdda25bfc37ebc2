"""Which dtype an operation has, literals, and arithmetic at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np

from semantic_cases import (
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
    program,
    refused,
    sentence,
    u8,
    u32,
    u64,
    values,
)

Cases = Any


@sentence("S101")
def f64_wins_then_f32() -> Cases:
    yield values({"x + y": f64(1.5 + 2**-40)}, x=f32(1.5), y=f64(2**-40))
    yield values({"x + y": f64(3.5)}, x=i64(3), y=f64(0.5))
    yield values({"x + y": f32(3.5)}, x=f16(3), y=f32(0.5))
    yield values({"x * y": f32(2**24)}, x=i64(2**24 + 1), y=f32(1))
    yield values({"x + y": f32(1.5)}, x=u8(1), y=f32(0.5))


@sentence("S102")
def f16_wins_over_bf16_and_integers() -> Cases:
    yield values({"x + y": f16(2049 - 1)}, x=f16(2048), y=bf16(0.5))
    yield values({"x + y": f16(3.5)}, x=i64(3), y=f16(0.5))
    yield values({"x + y": f16(1.5)}, x=u8(1), y=f16(0.5))
    yield values({"x + y": f16(1.5)}, x=i1(True), y=f16(0.5))


@sentence("S103")
def bf16_stays_alone() -> Cases:
    yield values({"x + y": bf16(256)}, x=bf16(256), y=bf16(0.5))
    yield values({"x + y": f32(257)}, x=i32(1), y=bf16(256))


@sentence("S104")
def the_wider_integer_wins() -> Cases:
    yield values({"x + y": i64(2**32)}, x=i32(1), y=i64(2**32 - 1))
    yield values({"x + y": i32(-129)}, x=i8(-128), y=i32(-1))
    yield values({"x + y": u64(2**32)}, x=u32(2**32 - 1), y=u64(1))


@sentence("S105")
def unsigned_wins_unless_the_signed_is_wider() -> Cases:
    yield values({"x + y": u32(2**32 - 2)}, x=i32(-1), y=u32(2**32 - 1))
    yield values({"x + y": i64(2**32 - 2)}, x=i64(-1), y=u32(2**32 - 1))
    yield values({"x + y": u64(2**64 - 1)}, x=i32(-1), y=u64(0))
    yield values({"x < y": i1(0)}, x=i32(-1), y=u32(1))
    yield values({"x < y": i1(1)}, x=i64(-1), y=u32(1))


@sentence("S106")
def a_literal_takes_the_dtype_that_it_meets() -> Cases:
    yield values({"x + 1.0": f16(3), "x * 2": f16(4), "x + 0.1": f16(2.099609375)}, x=f16(2))
    yield values({"x + 100": u8(44)}, x=u8(200))
    yield values({"x + 1": bf16(3)}, x=bf16(2))
    yield values({"tl.maximum(x, 0.0)": f16(0, 3)}, x=f16(-2, 3))
    yield values({"tl.where(x > 0, x, 0)": i8(0, 5)}, x=i8(-2, 5))
    yield values({"x + 1e-40": f64(1 + 1e-40)}, x=f64(1))


@sentence("S107")
def a_literal_of_another_kind_brings_its_own() -> Cases:
    yield values({"x + 1.5": f32(3.5)}, x=i32(2))
    yield values({"x + 1": i32(2)}, x=i1(True))
    yield values({"x + 0.5": f32(2.5)}, x=u8(2))


@sentence("S108")
def a_literal_alone_is_i32_i64_u64_or_f32() -> Cases:
    lines = [
        "tl.static_assert(tl.to_tensor(2147483647).dtype == i32)",
        "tl.static_assert(tl.to_tensor(2147483648).dtype == i64)",
        "tl.static_assert(tl.to_tensor(-2147483649).dtype == i64)",
        "tl.static_assert(tl.to_tensor(9223372036854775808).dtype == u64)",
        "tl.static_assert(tl.to_tensor(1.5).dtype == f32)",
        "tl.static_assert(tl.to_tensor(1e300).dtype == f64)",
        "tl.static_assert(tl.to_tensor(1e-40).dtype == f64)",
        "tl.static_assert(tl.to_tensor(float('inf')).dtype == f32)",
        "tl.static_assert(tl.to_tensor(True).dtype == i1)",
        "tl.store(y_ptr, tl.to_tensor(4294967295))",
    ]
    yield program("\n".join(lines), out={"y": i64(2**32 - 1)})


@sentence("S109")
def a_comparison_rounds_no_literal() -> Cases:
    for literal in ("2147483648", "4294967295"):
        yield values({f"x < {literal}": i1(1, 1, 1)}, x=i32(-1, 0, 2**31 - 1))
    yield values({"x < 300": i1(1, 1), "x >= 256": i1(0, 0)}, x=u8(0, 255))
    yield values({"x < 0.1": i1(1, 0), "x == 0.1": i1(0, 0)}, x=f16(0.1, 0.2))  # f16(0.1) < 0.1


@sentence("S110")
def a_negative_literal_beside_an_unsigned_value_is_refused() -> Cases:
    yield refused("E0302", "x + -1", at="-1", x="u32")
    yield refused("E0302", "x + 9223372036854775808000", at="9223372036854775808000", x="i32")


@sentence("S111")
def compile_time_arithmetic_is_pythons() -> Cases:
    facts = [
        "-7 // 2 == -4", "-7 % 2 == 1", "7 / 2 == 3.5", "2**100 % 1000 == 376", "2**-1 == 0.5",
        "True + True == 2", "1 << 40 == 1099511627776", "-1 >> 1 == -1", "-7.5 % 2 == 0.5",
        "(1, 2) + (3,) == (1, 2, 3)", "'a' + 'b' == 'ab'", "0.1 + 0.2 != 0.3", "min(3, 2) == 2",
        "(0 and 1) == 0", "(0 or 5) == 5", "1 < 2 < 3", "len((1, 2)) == 2",
    ]  # fmt: skip
    lines = [f"tl.static_assert({fact})" for fact in facts]
    lines.append("tl.store(y_ptr + tl.arange(0, 1), -7 // 2)")
    yield program("\n".join(lines), out={"y": i32(-4)})


@sentence("S112")
def a_store_casts_to_what_the_pointer_points_at() -> Cases:
    body = "i = tl.arange(0, 4)\ntl.store(y_ptr + i, tl.load(x_ptr + i))"
    yield program(body, x=f32(2.9, -2.9, 0.5, 100), out={"y": i32(2, -2, 0, 100)})
    yield program(body, x=i32(257, -1, 2, 3), out={"y": u8(1, 255, 2, 3)})
    yield program(body, x=f32(1 + 2**-9, 1e6, 0, -1), out={"y": f16(1 + 2**-9, np.inf, 0, -1)})
    yield program(body, x=i32(0, 256, -1, 1), out={"y": i1(0, 1, 1, 1)})


@sentence("S113")
def narrow_floats_are_rounded_after_each_operation() -> Cases:
    yield values({"x + 1 - 1": f16(0, 2)}, x=f16(2**-12, 2))
    yield values({"x * x / x": f32(np.inf)}, x=f16(300))
    yield values({"x + 1 - 1": bf16(0)}, x=bf16(2**-9))


@sentence("S114")
def arithmetic_in_8_bit_floats_is_refused() -> Cases:
    for operator in ("+", "-", "*"):
        yield refused("E0313", f"x {operator} y", x="f8e5m2", y="f8e5m2")
