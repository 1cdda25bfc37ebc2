"""Loops, branches, early returns, helpers."""

from __future__ import annotations

import numpy as np

from reported_cases import Cases, reported
from semantic_cases import Refusal, f32, i32, i64, kernel_text, program

RNG = np.random.default_rng(29)


@reported("triton-lang/triton#1517")
def a_loop_backwards_may_reassign_its_variable() -> Cases:
    x = RNG.integers(-9, 10, 16 * 16).astype(np.float32)
    yield program(
        """
o = tl.arange(0, 16)
total = tl.zeros((16,), f32)
for idx in range(15, -1, -1):
    idx = 15 - idx
    total += tl.load(x_ptr + idx * 16 + o)
tl.store(y_ptr, tl.sum(total))""",
        x=x,
        out={"y": f32(x.sum())},
    )


@reported("triton-lang/triton#11242")
def a_step_of_zero_is_refused() -> Cases:
    lines = ["for i in range(0, 10, 0):", "    tl.store(y_ptr, i)"]
    yield Refusal("zero", kernel_text("y_ptr: Ptr[i32]", lines), "E0606", "0")


@reported("triton-lang/triton#11677", "triton-lang/triton#11656")
def an_empty_inner_loop_does_not_run_in_a_flattened_one() -> Cases:
    for upper, wanted in ((3, 0), (5, 0), (7, 8)):
        yield program(
            "ub = tl.load(u_ptr)\ncount = 0\nfor i in tl.range(0, 4, flatten=True):\n"
            "    for j in range(5, ub):\n        count += 1\ntl.store(y_ptr, count)",
            u=i32(upper),
            out={"y": i32(wanted)},
        )


@reported("triton-lang/triton#2015")
def a_shadowed_loop_variable_changes_no_iteration() -> Cases:
    yield program(
        "acc = 0\nfor idx in range(0, 8, 2):\n    idx = idx + 100\n    acc += idx\n"
        "tl.store(y_ptr, acc)",
        out={"y": i32(412)},
    )


@reported("triton-lang/triton#10672", "triton-lang/triton#10678")
def a_variable_first_assigned_in_a_loop_is_named_where_it_may_be_unset() -> Cases:
    lines = ["n = tl.program_id(0)", "for i in range(0, n):", "    value = 1.0",
             "tl.store(y_ptr, value)"]  # fmt: skip
    yield Refusal("loop", kernel_text("y_ptr: Ptr[f32]", lines), "E0211", "value")
    lines = ["n = tl.program_id(0)", "if n > 0:", "    value = 1.0", "tl.store(y_ptr, value)"]
    yield Refusal("branch", kernel_text("y_ptr: Ptr[f32]", lines), "E0211", "value")


@reported("triton-lang/triton#2617")
def a_while_loop_may_start_from_a_compile_time_number() -> Cases:
    yield program(
        "N: tl.constexpr = 16\nr = N + 1\nn = 0\nwhile r > 1:\n    r = (r + 1) // 2\n    n += 1\n"
        "tl.store(y_ptr, n)",
        out={"y": i32(5)},
    )


@reported("triton-lang/triton#2567", "triton-lang/triton#2576")
def a_return_inside_a_loop_is_refused_at_its_line() -> Cases:
    for loop in ("for _ in range(3):", "while p < 9:"):
        helper = f"@device\ndef f(p):\n    {loop}\n        return p\n    return p\n"
        text = kernel_text("y_ptr: Ptr[i32]", ["tl.store(y_ptr, f(tl.program_id(0) + 1))"], helper)
        yield Refusal(loop, text, "E0601", "return p")


@reported("triton-lang/triton#10257", "triton-lang/triton#9719")
def what_stands_behind_a_compile_time_return_is_not_compiled() -> Cases:
    helper = (
        "@device\ndef f(x, flag: tl.constexpr):\n    if flag:\n        return x\n"
        "    return x + tl.arange(0, 3)\n"
    )
    yield program(
        "tl.store(y_ptr, f(tl.load(x_ptr), True))", helpers=helper, x=i32(7), out={"y": i32(7)}
    )
    text = kernel_text("y_ptr: Ptr[i32]", ["tl.store(y_ptr, f(tl.load(y_ptr), False))"], helper)
    yield Refusal("alive", text, "E0401", "3")


@reported("triton-lang/triton#5768")
def the_result_of_a_helper_may_be_ignored_in_a_loop() -> Cases:
    x, y = (RNG.integers(-9, 9, 256).astype(np.float16) for _ in "xy")
    helper = (
        "@device\ndef add_at(x_ptr, y_ptr, z_ptr, o):\n"
        "    z = tl.load(x_ptr + o) + tl.load(y_ptr + o)\n    tl.store(z_ptr + o, z)\n"
        "    return z\n"
    )
    yield program(
        "for i in range(0, 8):\n    if i < 4:\n"
        "        add_at(x_ptr, y_ptr, z_ptr, i * 64 + tl.arange(0, 64))",
        helpers=helper,
        x=x,
        y=y,
        out={"z": x + y},
    )


@reported("triton-lang/triton#2672")
def a_loop_keeps_its_body_whatever_the_number_of_turns() -> Cases:
    for turns in (1, 2, 3):
        yield program(
            "o = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]\n"
            "num = tl.load(x_ptr + o)\nden = tl.load(d_ptr + o)\nout = num * 0\n"
            "for i in range(0, tl.load(n_ptr)):\n    out = tl.div_rn(num, den)\n"
            "    num = num * 1.0\n    den = den * 1.0\ntl.store(y_ptr + o, out)",
            x=np.ones(64, np.float32),
            d=np.full(64, 12, np.float32),
            n=i32(turns),
            out={"y": np.full(64, np.float32(1) / np.float32(12))},
        )


@reported("triton-lang/triton#11153")
def a_guarded_store_changes_no_other_result() -> Cases:
    yield program(
        """
p = tl.program_id(0)
o = tl.arange(0, 4)
total = tl.sum(tl.load(a_ptr + p * 4 + o) * tl.load(x_ptr + o))
always = tl.load(one_ptr)
if always > 0:
    if p == 0:
        tl.store(scratch_ptr + o, total + o, mask=o < 3)
    if always < 5:
        tl.store(y_ptr + p, total)
        if p == 0:
            tl.store(scratch_ptr + 4 + o, total, mask=o > 0)""",
        a=np.ones(16, np.float32),
        x=np.ones(4, np.float32),
        one=i32(1),
        scratch=np.zeros(8, np.float32),
        out={"y": f32(4, 4, 4, 4), "scratch": f32(4, 5, 6, 0, 0, 4, 4, 4)},
        grid=(4,),
    )


@reported("triton-lang/triton#10279")
def a_compile_time_tuple_is_unpacked_and_indexed() -> Cases:
    yield program(
        "shape: tl.constexpr = (8, 4, 2)\nd0, d1, d2 = shape\n"
        "tl.store(y_ptr + tl.arange(0, d0), tl.arange(0, shape[0]) * d1 + shape[2])",
        out={"y": i32(*(4 * i + 2 for i in range(8)))},
    )


@reported("triton-lang/triton#3918")
def a_function_may_be_handed_to_a_helper() -> Cases:
    x = RNG.standard_normal(16).astype(np.float32)
    helper = (
        "@device\ndef softplus(x):\n    return tl.log(1 + tl.exp(x))\n"
        "@device\ndef pointwise(f: tl.constexpr, x):\n    return f(x)\n"
    )
    yield program(
        "o = tl.arange(0, 16)\ntl.store(y_ptr + o, pointwise(softplus, tl.load(x_ptr + o)))",
        helpers=helper,
        x=x,
        out={"y": np.log1p(np.exp(x.astype(np.float64))).astype(np.float32)},
        ulp=40,
    )


@reported("triton-lang/triton#3383", "triton-lang/triton#3226")
def parameters_and_locals_win_over_globals_of_the_same_name() -> Cases:
    yield program(
        "to = tl.load(x_ptr)\noutput = to.to(i64)\ntl.store(y_ptr, output + adj())",
        helpers="to = 3\noutput = 4\nx = 5\n@device\ndef adj():\n    output = 1\n"
        "    return output\n",
        x=i32(40),
        out={"y": i64(41)},
    )


@reported("pytorch/pytorch#183686")
def a_barrier_is_allowed_everywhere() -> Cases:
    yield program(
        "i = tl.arange(0, 8)\ntl.store(y_ptr + i, i)\ntl.debug_barrier()\n"
        "tl.store(z_ptr + i, tl.load(y_ptr + 7 - i))",
        out={"y": i32(*range(8)), "z": i32(*range(7, -1, -1))},
    )


@reported("triton-lang/triton#4474", "triton-lang/triton#3678")
def what_python_has_and_kernels_lack_is_named_at_its_place() -> Cases:
    for lines, code, at in (
        (["try:", "    x = 1", "finally:", "    x = 2"], "E0102", "try:"),
        (["with x_ptr:", "    pass"], "E0102", "with x_ptr:"),
        (["x: int", "tl.store(x_ptr, x)"], "E0211", "x"),
        (["if tl.program_id(0) > 1:", "    x: tl.constexpr = 4", "tl.store(x_ptr, x)"],
         "E0211", "x"),
    ):  # fmt: skip
        yield Refusal(lines[0], kernel_text("x_ptr: Ptr[i32]", lines), code, at)
    yield program("f = lambda x: x + 1\ntl.store(y_ptr, f(1))", out={"y": i32(2)})
