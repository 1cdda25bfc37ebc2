"""Integers, literals, promotion, conditions on scalars."""

from __future__ import annotations

import numpy as np

from reported_cases import Cases, reported
from semantic_cases import (
    Refusal,
    bf16,
    f16,
    f32,
    i1,
    i8,
    i32,
    i64,
    kernel_text,
    program,
    refused,
    u8,
    values,
)

RNG = np.random.default_rng(23)


@reported("triton-lang/triton#619", "triton-lang/triton#955")
def division_of_integers_truncates_and_gives_its_rest() -> Cases:
    x = i64(*range(16))
    yield values({"x // -2": i64(*(-(i // 2) for i in range(16)))}, x=x)
    x, y = i32(-7, 7, -7, 7, -1), i32(2, -2, -2, 2, 3)
    wanted = {"x // y": i32(-3, -3, 3, 3, 0), "x % y": i32(-1, 1, -1, 1, -1)}
    yield values({**wanted, "(x // y) * y + x % y": x}, x=x, y=y)


@reported("triton-lang/triton#10919")
def a_sum_of_two_i1_is_refused_and_does_not_wrap() -> Cases:
    yield refused("E0304", "x + y", x="i1", y="i1")
    yield values({"x.to(i32) + y": i32(2, 1, 0)}, x=i1(1, 1, 0), y=i1(1, 0, 0), folded=False)


@reported("triton-lang/triton#605")
def a_quotient_that_is_whole_is_exact() -> Cases:
    a = RNG.integers(1, 100, 400)
    yield program(
        "i = tl.arange(0, 512)\na = tl.load(a_ptr + i, mask=i < 400, other=1)\n"
        "tl.store(y_ptr + i, ((2 * a) / a).to(i64), mask=i < 400)",
        a=a,
        out={"y": np.full(400, 2, np.int64)},
    )


@reported("triton-lang/triton#9262")
def division_is_within_its_ulp_and_rounds_to_nearest_where_asked() -> Cases:
    a = (RNG.standard_normal(200) * 100).astype(np.float32)
    b = RNG.uniform(0.01, 90, 200).astype(np.float32)
    yield values({"a / b": a / b}, a=a, b=b, ulp=2, folded=False)
    yield values({"tl.div_rn(a, b)": a / b, "tl.div_rn(b, b)": b / b}, a=a, b=b, folded=False)


@reported("triton-lang/triton#4613")
def an_integer_literal_does_not_widen_a_narrow_tensor() -> Cases:
    yield values({"x << 2": u8(32), "x + 100": u8(44)}, x=u8(200))
    yield values({"x + 100": i8(-56)}, x=i8(100))


@reported("triton-lang/triton#6251")
def a_literal_beyond_i32_keeps_its_sign_in_comparisons() -> Cases:
    x = i32(-1, 0, 1)
    yield values({"x < 2147483648": i1(1, 1, 1), "x < 4294967295": i1(1, 1, 1)}, x=x)
    yield program(
        "BIG: tl.constexpr = 2147483648\ni = tl.arange(0, 4)\nm = i < 3\n"
        "tl.store(y_ptr + i, tl.load(x_ptr + i, mask=m) < BIG, mask=m)",
        x=x,
        out={"y": i1(1, 1, 1)},
    )


@reported("triton-lang/triton#10740")
def half_precision_stays_so_beside_float_literals_in_a_loop() -> Cases:
    for make in (f16, bf16):
        x = make(-9, -1.5, 0, 0.5, 3, 6, 7, 9)
        yield program(
            "i = tl.arange(0, 8)\nv = tl.load(x_ptr + i)\nfor _ in range(4):\n"
            "    v = tl.minimum(tl.maximum(v, 0.0), 6.0)\n"
            "tl.static_assert(v.dtype.primitive_bitwidth == 16)\ntl.store(y_ptr + i, v)",
            x=x,
            out={"y": make(0, 0, 0, 0.5, 3, 6, 6, 6)},
        )


@reported("meta-recsys/generative-recommenders#561", "triton-lang/triton#575")
def and_and_or_of_tensors_are_refused() -> Cases:
    for operator in ("and", "or"):
        yield refused("E0602", f"a {operator} b", "a", a="i32", b="i32")
    yield values(
        {"(a != 0) & (b != 0)": i1(1, 1, 0), "(a != 0) | (b != 0)": i1(1, 1, 1)},
        a=i32(1, 2, 0),
        b=i32(2, 1, 5),
    )


@reported("triton-lang/triton-ascend#2333", "triton-lang/triton#6769")
def three_conditions_may_be_joined() -> Cases:
    for third, wanted in ((5.0, 1.0), (0.0, -1.0)):
        yield program(
            "a = tl.load(x_ptr)\nb = tl.load(x_ptr + 1)\nc = tl.load(x_ptr + 2)\n"
            "use = (a != 1) or (b != 0) or (c != 0)\ntl.store(y_ptr, 1.0 if use else -1.0)",
            x=f32(1.0, 0.0, third),
            out={"y": f32(wanted)},
        )


@reported("triton-lang/triton#6769")
def compile_time_conditions_stop_at_the_first_that_decides() -> Cases:
    helper = (
        "@device\ndef is_i32(x):\n    if (x is not None) and (x.dtype == i32):\n"
        "        return 1\n    else:\n        return 0\n"
    )
    yield program(
        "tl.store(y_ptr, is_i32(None))\ntl.store(y_ptr + 1, is_i32(tl.load(x_ptr)))\n"
        "tl.store(y_ptr + 2, is_i32(tl.load(x_ptr).to(f32)))",
        helpers=helper,
        x=i32(3),
        out={"y": i32(0, 1, 0)},
    )


@reported("triton-lang/triton#4171")
def a_loop_that_changes_a_type_names_the_variable_and_both_types() -> Cases:
    text = kernel_text("y_ptr: Ptr[f32]", [
        "x = 0", "for i in range(tl.program_id(0)):", "    x = x + 1.5", "tl.store(y_ptr, x)",
    ])  # fmt: skip
    yield Refusal("dtype", text, "E0604", "x")
    text = kernel_text("y_ptr: Ptr[f32]", [
        "x = tl.zeros((8,), f32)", "for i in range(tl.program_id(0)):", "    x = tl.cat(x, x)",
        "tl.store(y_ptr + tl.arange(0, 8), x)",
    ])  # fmt: skip
    yield Refusal("shape", text, "E0604", "x")
