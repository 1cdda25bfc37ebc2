"""Whole kernels in the interpreter against formulas in NumPy, on the values that go wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teeny_macros.diagnostics import CompileError

MakeKernel = Callable[..., Any]
KINDS: dict[str, Any] = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
RNG = np.random.default_rng(5)


def evaluate(
    kernel: MakeKernel, expression: str, inputs: dict[str, tuple[str, Any]], result: str
) -> np.ndarray[Any, Any]:
    """`expression` of the loaded inputs, stored as `result`; the inputs have 2**n elements."""
    size = max(len(values) for _, values in inputs.values())
    params = [f"{name}_ptr: Ptr[{dtype}]" for name, (dtype, _) in inputs.items()]
    lines = [f"o = tl.arange(0, {size})"]
    lines += [f"{name} = tl.load({name}_ptr + o)" for name in inputs]
    lines.append(f"tl.store(out_ptr + o, {expression})")
    made = kernel(", ".join([*params, f"out_ptr: Ptr[{result}]"]), "\n".join(lines))
    out = np.zeros(size, KINDS[result])
    arrays = [np.asarray(values).astype(KINDS[dtype]) for dtype, values in inputs.values()]
    made.program().launch((1, 1, 1), [*arrays, out])
    return out


# --- integers -------------------------------------------------------------------------------------


def test_division_of_integers_truncates(kernel: MakeKernel) -> None:
    x = np.arange(16)
    found = evaluate(kernel, "x // -2", {"x": ("i64", x)}, "i64")
    assert list(found) == [-(i // 2) for i in range(16)]
    x, y = np.asarray([-7, 7, -7, 7]), np.asarray([2, -2, -2, 2])
    both = {"x": ("i32", x), "y": ("i32", y)}
    assert list(evaluate(kernel, "x // y", both, "i32")) == [-3, -3, 3, 3]
    assert list(evaluate(kernel, "x % y", both, "i32")) == [-1, 1, -1, 1]


def test_true_division_of_integers_is_exact_where_it_can_be(kernel: MakeKernel) -> None:
    x = np.tile(np.arange(1, 101), 6)[:512]
    assert (evaluate(kernel, "(2 * x) / x", {"x": ("i64", x)}, "i64") == 2).all()


@pytest.mark.parametrize(
    ("dtype", "expression", "value", "wanted"),
    [
        ("u8", "x << 2", 200, 32), ("u8", "x + 100", 200, 44), ("i8", "x + 100", 100, -56),
        ("u8", "x - 100", 50, 206), ("i8", "-x", -128, -128), ("i8", "tl.abs(x)", -128, -128),
        ("u8", "~x", 1, 254), ("i1", "~x", 1, 0), ("u32", "x >> 31", 2**31, 1),
        ("i32", "x >> 31", -(2**31), -1), ("u64", "x // 3", 2**64 - 1, (2**64 - 1) // 3),
        ("u64", "x % 10", 2**64 - 1, 5), ("u8", "x * x", 100, 16), ("i1", "x * x", 1, 1),
    ],
)  # fmt: skip
def test_a_literal_does_not_widen_what_it_meets(
    dtype: str, expression: str, value: int, wanted: int, kernel: MakeKernel
) -> None:
    wide = "u64" if dtype == "u64" else "i64"
    x = np.full(4, value, np.uint64 if dtype == "u64" else np.int64)
    assert (evaluate(kernel, expression, {"x": (dtype, x)}, wide) == wanted).all()


@pytest.mark.parametrize("literal", [2147483648, 4294967295, 2**40, -(2**40)])
def test_a_comparison_with_a_literal_beyond_i32_is_done_in_i64(
    literal: int, kernel: MakeKernel
) -> None:
    found = evaluate(kernel, f"x < {literal}", {"x": ("i32", [-1, 0, 1, 2])}, "i1")
    assert (found == (literal > 2)).all()


def test_a_comparison_rounds_no_literal(kernel: MakeKernel) -> None:
    x = np.asarray([0.1, 0.2], np.float16)  # 0.1 in f16 lies below 0.1
    assert list(evaluate(kernel, "x < 0.1", {"x": ("f16", x)}, "i1")) == [True, False]
    assert list(evaluate(kernel, "x < 300", {"x": ("u8", [0, 255])}, "i1")) == [True, True]


def test_offsets_wrap_in_their_own_width(kernel: MakeKernel) -> None:
    x = {"x": ("i32", [319, 0])}
    assert evaluate(kernel, "x * 7864320", x, "i64")[0] == -1_786_249_216
    assert evaluate(kernel, "x.to(i64) * 7864320", x, "i64")[0] == 2_508_718_080


# --- floats ---------------------------------------------------------------------------------------


def test_f16_stays_f16_beside_float_literals(kernel: MakeKernel) -> None:
    made = kernel(
        "x_ptr: Ptr[f16], out_ptr: Ptr[f16]",
        "o = tl.arange(0, 8)\nv = tl.load(x_ptr + o)\nfor i in range(0, 4):\n"
        "    v = tl.minimum(tl.maximum(v, 0.0), 6.0)\ntl.store(out_ptr + o, v)",
    )
    x = np.linspace(-9, 9, 8).astype(np.float16)
    out = np.zeros(8, np.float16)
    made.program().launch((1, 1, 1), [x, out])
    assert np.array_equal(out, np.clip(x, 0, 6))


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_negation_turns_the_sign_of_zeros_too(dtype: str, kernel: MakeKernel) -> None:
    x = np.asarray([0.0, -0.0, 1.5, -np.inf])
    found = evaluate(kernel, "-x", {"x": (dtype, x)}, "f64")
    assert np.array_equal(found, -x)
    assert np.array_equal(np.signbit(found), np.signbit(-x))


@pytest.mark.parametrize("position", range(4))
def test_max_and_min_drop_nan_wherever_it_stands(position: int, kernel: MakeKernel) -> None:
    x = np.asarray([3.0, np.inf, -1.0, 2.0], np.float32)
    x[position] = np.nan
    for name, formula in {"max": np.nanmax, "min": np.nanmin}.items():
        found = evaluate(kernel, f"tl.full((4,), tl.{name}(x), f32)", {"x": ("f32", x)}, "f32")
        assert (found == formula(x)).all()
    nothing = np.full(4, np.nan, np.float32)
    assert np.isnan(
        evaluate(kernel, "tl.full((4,), tl.max(x), f32)", {"x": ("f32", nothing)}, "f32")
    ).all()


def test_propagating_maximum_keeps_nan(kernel: MakeKernel) -> None:
    both = {"x": ("f32", [np.nan, 1.0]), "y": ("f32", [1.0, np.nan])}
    usual = evaluate(kernel, "tl.maximum(x, y)", both, "f32")
    assert list(usual) == [1.0, 1.0]
    kept = "tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)"
    assert np.isnan(evaluate(kernel, kept, both, "f32")).all()


# --- reductions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "value", "count", "wanted"),
    [("i1", 1, 1024, 1024), ("i8", 2, 128, 256), ("u8", 255, 64, 16320), ("i32", 2**30, 128, 0),
     ("i16", -30000, 4, -120000)],
)  # fmt: skip
def test_sums_of_narrow_integers_are_taken_in_32_bits(
    dtype: str, value: int, count: int, wanted: int, kernel: MakeKernel
) -> None:
    x = np.full(count, value)
    found = evaluate(kernel, f"tl.full(({count},), tl.sum(x), i64)", {"x": (dtype, x)}, "i64")
    assert (found == wanted).all()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_every_axis_is_reduced(name: str, axis: int, kernel: MakeKernel) -> None:
    x = RNG.integers(-100, 100, (8, 1, 16)).astype(np.int32)
    wanted = getattr(np, name)(x, axis=axis, keepdims=True)
    out = np.zeros((8, 1, 16), np.int32)
    made = kernel(
        "x_ptr: Ptr[i32], out_ptr: Ptr[i32]",
        "a = tl.arange(0, 8)[:, None, None]\nc = tl.arange(0, 16)[None, None, :]\n"
        "x = tl.load(x_ptr + a * 16 + c)\n"
        f"y = tl.{name}(x, axis={axis}, keep_dims=True)\n"
        "tl.store(out_ptr + a * 16 + c, x * 0 + y)",
    )
    made.program().launch((1, 1, 1), [x, out])
    assert np.array_equal(out, np.broadcast_to(wanted, out.shape))


def test_a_masked_load_fills_in_other_and_nothing_without_it(kernel: MakeKernel) -> None:
    x = RNG.standard_normal(16).astype(np.float32)
    made = kernel(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32",
        "o = tl.arange(0, 256)\n"
        "tl.store(out_ptr, tl.sum(tl.load(x_ptr + o, mask=o < n, other=0.0)))\n"
        "tl.store(out_ptr + 1, tl.sum(tl.load(x_ptr + o, mask=o < n)))\n"
        "tl.store(out_ptr + 2, tl.sum(tl.load(x_ptr + o, mask=o < n, other=1)))",
    )
    out = np.zeros(3, np.float32)
    made.program().launch((1, 1, 1), [x, out, 16])
    assert np.allclose(out, [x.sum(), x.sum(), x.sum() + 240], rtol=1e-6)


def test_variance_does_not_count_the_padding(kernel: MakeKernel) -> None:
    made = kernel(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32",
        """\
o = tl.arange(0, 4)
m = o < n
x = tl.load(x_ptr + o, mask=m, other=0.0)
mean = tl.sum(x, axis=0) / n
d = tl.where(m, x - mean, 0.0)
rstd = tl.rsqrt(tl.sum(d * d, axis=0) / n + 1e-5)
tl.store(out_ptr + o, d * rstd, mask=m)""",
    )
    out = np.zeros(3, np.float32)
    made.program().launch((1, 1, 1), [np.asarray([1, 2, 3], np.float32), out, 3])
    assert np.allclose(out, [-1.22474, 0, 1.22474], atol=1e-5)


# --- casts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", KINDS)
@pytest.mark.parametrize("after", KINDS)
def test_casts_are_those_of_numpy_where_the_value_fits(
    before: str, after: str, kernel: MakeKernel
) -> None:
    low = 0 if before[0] == "u" or after[0] == "u" else -100
    values = RNG.integers(low, 100, 32)
    x = (values % 2 if before == "i1" else values).astype(KINDS[before])
    found = evaluate(kernel, f"x.to({after})", {"x": (before, x)}, after)
    wanted = x != 0 if after == "i1" else x.astype(np.float64).astype(KINDS[after])
    assert np.array_equal(found, wanted)


def test_storing_casts_to_the_pointer(kernel: MakeKernel) -> None:
    x = {"x": ("f32", [1.7, -1.7, 65504.0, 1e9])}
    assert list(evaluate(kernel, "x", x, "i64")) == [1, -1, 65504, 1000000000]
    with np.errstate(over="ignore"):
        wanted = np.asarray(x["x"][1]).astype(np.float16)
    assert np.array_equal(evaluate(kernel, "x", x, "f16"), wanted)
    assert list(evaluate(kernel, "x", {"x": ("f32", [0.0, 0.5])}, "i1")) == [False, True]


# --- random expressions ---------------------------------------------------------------------------


@st.composite
def integer_expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """An expression of x, y and small literals."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["x", "y", "x", "y", "3", "100"]))
    left = draw(integer_expressions(depth - 1))
    right = draw(integer_expressions(depth - 1))
    return f"({left} {draw(st.sampled_from('+-*&|^'))} {right})"


@settings(max_examples=40, deadline=None)
@given(expression=integer_expressions(), dtype=st.sampled_from(["i8", "u8", "i16", "i32", "i64"]))
def test_integer_expressions_wrap_like_numpy(
    expression: str, dtype: str, kernel: MakeKernel
) -> None:
    if not {"x", "y"} & set(expression):
        return
    info = np.iinfo(KINDS[dtype])
    x, y = RNG.integers(info.min, info.max, (2, 8), dtype=KINDS[dtype])
    scope = {"x": x, "y": y}
    try:
        found = evaluate(kernel, expression, {"x": (dtype, x), "y": (dtype, y)}, dtype)
    except CompileError as error:
        # Literals are computed exactly at compile time, and may then not fit beside x or y.
        if error.code != "E0302":
            raise
        return
    with np.errstate(over="ignore"):
        wanted = eval(expression, {}, scope)  # noqa: S307 - made above
    assert np.array_equal(found, wanted)


@settings(max_examples=40, deadline=None)
@given(
    data=st.lists(st.floats(width=32, allow_nan=True), min_size=8, max_size=8),
    op=st.sampled_from(["x + y", "x - y", "x * y", "x / y", "tl.where(x < y, x, y)", "tl.abs(x)"]),
)
def test_float_expressions_are_those_of_ieee(
    data: list[float], op: str, kernel: MakeKernel
) -> None:
    x, y = np.asarray(data, np.float32), np.roll(np.asarray(data, np.float32), 1)
    found = evaluate(kernel, op, {"x": ("f32", x), "y": ("f32", y)}, "f32")

    class Language:
        where = staticmethod(np.where)
        abs = staticmethod(np.abs)

    with np.errstate(all="ignore"):
        wanted = eval(op, {"tl": Language}, {"x": x, "y": y})  # noqa: S307 - made above
    assert np.array_equal(found, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(found)[~np.isnan(found)], np.signbit(wanted)[~np.isnan(found)])
