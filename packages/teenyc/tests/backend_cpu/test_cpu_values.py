"""The CPU back end leaves the bits that the interpreter leaves, whatever the types and shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Both = Callable[..., list[Any]]
RNG = np.random.default_rng(11)
KINDS: dict[str, Any] = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "u32": np.uint32,
    "i64": np.int64, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f32": np.float32, "f64": np.float64, "f8e4m3": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")
INTS = ("i8", "u8", "i16", "i32", "u32", "i64", "u64")
ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.5, 65504.0, 1e-7, -1e-40, 3.4e38, 2.0**-133]


def samples(dtype: str, count: int = 256) -> Any:
    kind = KINDS[dtype]
    if dtype in INTS:
        info = np.iinfo(kind)
        found = RNG.integers(info.min, info.max, count, dtype=kind, endpoint=True)
        found[:4] = [0, 1, info.max, info.min]
        return found
    with np.errstate(over="ignore", invalid="ignore"):
        found = (RNG.standard_normal(count) * 10.0 ** RNG.integers(-6, 6, count)).astype(kind)
        found[: len(ODD)] = np.asarray(ODD).astype(kind)
    return found


def elementwise(both: Both, expression: str, dtypes: list[str], result: str) -> None:
    names = ["x", "y", "z"][: len(dtypes)]
    params = ", ".join(f"{n}_ptr: Ptr[{d}]" for n, d in zip(names, dtypes, strict=True))
    lines = ["o = tl.arange(0, 256)", *(f"{n} = tl.load({n}_ptr + o)" for n in names)]
    lines.append(f"tl.store(out_ptr + o, {expression})")
    inputs = [samples(d) for d in dtypes]
    inputs[1:] = [RNG.permutation(x) for x in inputs[1:]]
    both(
        f"{params}, out_ptr: Ptr[{result}]",
        "\n".join(lines),
        lambda: [*(x.copy() for x in inputs), np.zeros(256, KINDS[result])],
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_arithmetic_is_rounded_once_in_its_own_type(dtype: str, both: Both) -> None:
    elementwise(both, "x * y + x - y / (x * x)", [dtype, dtype], dtype)
    elementwise(both, "tl.where(x < y, -x, tl.abs(y))", [dtype, dtype], dtype)
    elementwise(both, "tl.maximum(x, y) + tl.minimum(x, y)", [dtype, dtype], dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_maximum_and_minimum_know_zeros_and_nan(dtype: str, both: Both) -> None:
    for name in ("maximum", "minimum"):
        elementwise(both, f"tl.{name}(x, y)", [dtype, dtype], dtype)
        kept = f"tl.{name}(x, y, propagate_nan=tl.PropagateNan.ALL)"
        elementwise(both, kept, [dtype, dtype], dtype)


@pytest.mark.parametrize("dtype", INTS)
def test_integer_arithmetic_wraps_and_division_never_traps(dtype: str, both: Both) -> None:
    elementwise(both, "(x + y) * x - (y & x) + (x ^ 5) + (x | y)", [dtype, dtype], dtype)
    elementwise(both, "x // y + x % y", [dtype, dtype], dtype)
    elementwise(both, "x // 7 - x % 3", [dtype], dtype)
    elementwise(both, "(x << 3) + (y >> 2)", [dtype, dtype], dtype)
    elementwise(both, "x >> (y & 127)", [dtype, dtype], dtype)


@pytest.mark.parametrize("source", [*FLOATS, "f8e4m3", "f8e5m2"])
def test_floats_are_converted_as_the_interpreter_does(source: str, both: Both) -> None:
    for target in ("f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2", "i32", "u8", "i64"):
        short = "f8" in source + target
        elementwise(
            both, f"x.to(f32).to({target})" if short else f"x.to({target})", [source], target
        )


@pytest.mark.parametrize("source", INTS)
def test_integers_become_floats_with_one_rounding(source: str, both: Both) -> None:
    for target in FLOATS:
        elementwise(both, f"x.to({target})", [source], target)


@pytest.mark.parametrize("target", ["f16", "bf16", "f8e4m3", "f8e5m2"])
def test_every_short_pattern_survives_memory(target: str, both: Both, same_bits: Any) -> None:
    width = np.dtype(KINDS[target]).itemsize
    raw = np.arange(1 << (8 * width), dtype=f"u{width}").view(KINDS[target])
    size = raw.size
    found = both(
        f"x_ptr: Ptr[{target}], out_ptr: Ptr[{target}]",
        "o = tl.program_id(0) * 256 + tl.arange(0, 256)\n"
        "tl.store(out_ptr + o, tl.load(x_ptr + o).to(f32).to(" + target + "))",
        lambda: [raw.copy(), np.zeros(size, KINDS[target])],
        (size // 256, 1, 1),
    )
    with np.errstate(invalid="ignore"):  # signaling NaNs
        finite = ~np.isinf(raw.astype(np.float32))
    kept = finite if target == "f8e5m2" else slice(None)  # its conversions saturate
    same_bits(found[1][kept], raw[kept])


@pytest.mark.parametrize("shape", [(8, 64), (64, 8), (1, 128), (128, 1), (4, 4, 32), (2, 64, 2)])
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "i32"])
def test_reductions_along_every_axis_have_one_order(
    shape: tuple[int, ...], dtype: str, both: Both
) -> None:
    size = int(np.prod(shape))
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    parts = []
    for i, (n, s) in enumerate(zip(shape, strides, strict=True)):
        sides = ", ".join(":" if j == i else "None" for j in range(len(shape)))
        parts.append(f"tl.arange(0, {n})[{sides}] * {s}")
    x = RNG.standard_normal(size).astype(KINDS[dtype]) if dtype != "i32" else samples("i32", size)
    for axis in range(len(shape)):
        for name in ("sum", "max"):
            both(
                f"x_ptr: Ptr[{dtype}], out_ptr: Ptr[{dtype}]",
                f"o = {' + '.join(parts)}\nx = tl.load(x_ptr + o)\n"
                f"y = tl.{name}(x, axis={axis}, keep_dims=True)\ntl.store(out_ptr + o, x - y)",
                lambda: [x.copy(), np.zeros(size, KINDS[dtype])],
            )


@pytest.mark.parametrize("count", [2, 16, 32, 64, 1024, 4096])
def test_a_sum_over_everything_has_the_same_order(count: int, both: Both) -> None:
    x = RNG.standard_normal(count).astype(np.float32)
    both(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32]",
        f"x = tl.load(x_ptr + tl.arange(0, {count}))\ntl.store(out_ptr, tl.sum(x))\n"
        f"tl.store(out_ptr + 1, tl.max(x))",
        lambda: [x.copy(), np.zeros(2, np.float32)],
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_scans_go_in_order(axis: int, reverse: bool, both: Both) -> None:
    x = RNG.standard_normal(512).astype(np.float32)
    both(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32]",
        "o = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]\n"
        f"y = tl.cumsum(tl.load(x_ptr + o) * 2.0, axis={axis}, reverse={reverse})\n"
        "tl.store(out_ptr + o, y)",
        lambda: [x.copy(), np.zeros(512, np.float32)],
    )


@pytest.mark.parametrize(
    ("dtype", "acc"), [("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("bf16", "f32"),
                       ("i8", "i32")],
)  # fmt: skip
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 32), (64, 32, 32), (32, 128, 64), (16, 64, 32)])
def test_products_add_in_the_order_of_k(
    dtype: str, acc: str, m: int, n: int, k: int, both: Both
) -> None:
    def values(count: int) -> Any:
        if dtype == "i8":
            return samples("i8", count)
        return RNG.standard_normal(count).astype(KINDS[dtype])

    a, b = values(m * k), values(k * n)
    c = samples("i32", m * n) if acc == "i32" else RNG.standard_normal(m * n).astype(KINDS[acc])
    both(
        f"a_ptr: Ptr[{dtype}], b_ptr: Ptr[{dtype}], c_ptr: Ptr[{acc}]",
        f"r = tl.arange(0, {m})\nc = tl.arange(0, {n})\nk = tl.arange(0, {k})\n"
        f"a = tl.load(a_ptr + r[:, None] * {k} + k[None, :])\n"
        f"b = tl.load(b_ptr + k[:, None] * {n} + c[None, :])\n"
        f"p = c_ptr + r[:, None] * {n} + c[None, :]\n"
        "tl.store(p, tl.dot(a, b, tl.load(p), input_precision='ieee'))",
        lambda: [a.copy(), b.copy(), c.copy()],
    )


OPERATIONS = ("+", "-", "*", "max", "min", "where", "neg", "cast")


@st.composite
def graphs(draw: Any) -> tuple[str, int]:
    """A body that computes a random graph over a tile, with masks, broadcasts and reductions."""
    n = draw(st.sampled_from([8, 32, 64, 128]))
    values = ["x", "y"]
    lines = []
    for i in range(draw(st.integers(1, 8))):
        a, b = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        kind = draw(st.sampled_from((*OPERATIONS, "sum0", "sum1", "again", "trans")))
        text = {
            "+": f"{a} + {b}", "-": f"{a} - {b}", "*": f"{a} * {b}",
            "max": f"tl.maximum({a}, {b})", "min": f"tl.minimum({a}, {b})",
            "where": f"tl.where({a} < {b}, {a}, {b} * 2.0)", "neg": f"-{a}",
            "cast": f"{a}.to(bf16).to(f32)", "sum0": f"{a} - tl.sum({b}, axis=0)[None, :]",
            "sum1": f"{a} * tl.max({b}, axis=1)[:, None]",
            "again": f"tl.load(x_ptr + o, mask=r[:, None] < {draw(st.integers(0, 16))}, other=1.5)",
            "trans": f"tl.sum(tl.trans({a}), axis=0)[:, None] + {b}",
        }[kind]  # fmt: skip
        lines.append(f"v{i} = {text}")
        values.append(f"v{i}")
    stored = draw(st.sampled_from(values))
    return "\n".join([*lines, f"z = {stored} + {values[-1]}"]), n


@given(graph=graphs(), masked=st.integers(0, 200), apart=st.booleans())
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_random_graphs_give_the_interpreters_bits(
    graph: tuple[str, int],
    masked: int,
    apart: bool,
    both: Both,
) -> None:
    body, n = graph
    size = 16 * n
    x = RNG.standard_normal(size + 8).astype(np.float32)

    def make() -> list[Any]:
        data = x.copy()
        out = np.zeros(size, np.float32) if apart else data[8:]
        return [data[:size], RNG2.copy()[:size], out, masked]

    both(
        "x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32",
        f"r = tl.arange(0, 16)\nc = tl.arange(0, {n})\no = r[:, None] * {n} + c[None, :]\n"
        f"x = tl.load(x_ptr + o, mask=c[None, :] < n, other=0.5)\ny = tl.load(y_ptr + o)\n{body}\n"
        "tl.store(out_ptr + o, z, mask=o < 16 * n)",
        make,
        apart=apart,
    )


RNG2 = RNG.standard_normal(16 * 128).astype(np.float32)
