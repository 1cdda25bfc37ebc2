"""Reductions, scans, sorting, gather and histogram in the interpreter, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny_macros.diagnostics import TeenyError

MakeKernel = Callable[..., Any]
Array = np.ndarray[Any, Any]
KINDS: dict[str, Any] = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}
RNG = np.random.default_rng(3)
TILE = RNG.standard_normal((8, 16)).astype(np.float32)
NUMBERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"]


def place(shape: tuple[int, ...]) -> str:
    """The offsets of all elements of a tile, row by row."""
    parts = []
    for axis, side in enumerate(shape):
        index = ", ".join(":" if i == axis else "None" for i in range(len(shape)))
        step = int(np.prod(shape[axis + 1 :]))
        parts.append(f"tl.arange(0, {side})[{index}] * {step}")
    return " + ".join(parts) or "0"


def evaluate(
    kernel: MakeKernel,
    expression: str,
    x: Array,
    shape: tuple[int, ...],
    result: str,
    **more: Array,
) -> Array:
    """`expression` of the tile `x` (and of others by name), which has `shape`, as `result`."""
    inputs = {"x": x, **more}
    params = [f"{name}_ptr: Ptr[{NAMES[array.dtype]}]" for name, array in inputs.items()]
    lines = [f"{name} = tl.load({name}_ptr + {place(a.shape)})" for name, a in inputs.items()]
    lines.append(f"tl.store(out_ptr + {place(shape)}, {expression})")
    made = kernel(", ".join([*params, f"out_ptr: Ptr[{result}]"]), "\n".join(lines))
    out = np.zeros(shape or (1,), KINDS[result])
    made.program().launch((1, 1, 1), [*map(np.ascontiguousarray, inputs.values()), out])
    return out if shape else out[0]


def samples(dtype: str, shape: tuple[int, ...] = (8, 16)) -> Array:
    values = RNG.integers(0, 100, shape) if dtype[0] == "u" else RNG.integers(-50, 50, shape)
    return (values / (4 if "f" in dtype else 1)).astype(KINDS[dtype])


# --- reductions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_extremes_and_their_places_are_numpys(dtype: str, axis: int, kernel: MakeKernel) -> None:
    x = samples(dtype)
    shape = np.max(x, axis).shape
    for name in ("max", "min"):
        wanted = getattr(np, name)(x, axis)
        assert np.array_equal(evaluate(kernel, f"tl.{name}(x, {axis})", x, shape, dtype), wanted)
        pair = f"x.{name}({axis}, return_indices=True)"
        assert np.array_equal(evaluate(kernel, f"{pair}[0]", x, shape, dtype), wanted)
        index = getattr(np, f"arg{name}")(x, axis)
        assert np.array_equal(evaluate(kernel, f"{pair}[1]", x, shape, "i32"), index)
        call = f"tl.arg{name}(x, {axis})"
        assert np.array_equal(evaluate(kernel, call, x, shape, "i32"), index)


def test_the_first_of_equal_elements_is_found(kernel: MakeKernel) -> None:
    for values, wanted in (([1.0] * 1024, 0), ([3.0, 7.0, 7.0, 7.0], 1)):
        x = np.asarray(values, np.float32)
        assert evaluate(kernel, "tl.argmax(x, 0)", x, (), "i32") == wanted
        assert evaluate(kernel, "tl.argmin(-x, 0)", x, (), "i32") == wanted
        any_place = evaluate(kernel, "tl.argmax(x, 0, tie_break_left=False)", x, (), "i32")
        assert x[any_place] == x.max()


@pytest.mark.parametrize("name", ["max", "min"])
def test_a_nan_loses_against_a_number_wherever_it_is(name: str, kernel: MakeKernel) -> None:
    for at in range(64):
        x = np.full(64, np.inf if name == "max" else -np.inf, np.float32)
        x[1::2] = RNG.standard_normal(32)
        x[at] = np.nan
        wanted = getattr(np, f"nan{name}")(x)
        assert evaluate(kernel, f"tl.{name}(x)", x, (), "f32") == wanted
        found = evaluate(kernel, f"tl.{name}(x, 0, return_indices=True)[0]", x, (), "f32")
        assert found == wanted
        index = evaluate(kernel, f"tl.arg{name}(x, 0)", x, (), "i32")
        assert index == getattr(np, f"nanarg{name}")(x)
    x = np.full(64, np.nan, np.float32)
    assert np.isnan(evaluate(kernel, f"tl.{name}(x)", x, (), "f32"))
    assert np.isnan(evaluate(kernel, f"x.{name}(0, return_indices=True)[0]", x, (), "f32"))
    assert 0 <= evaluate(kernel, f"tl.arg{name}(x, 0)", x, (), "i32") < 64


def test_small_integers_and_booleans_are_summed_in_32_bits(kernel: MakeKernel) -> None:
    assert evaluate(kernel, "tl.sum(x)", np.ones((32, 32), np.bool_), (), "i32") == 1024
    assert evaluate(kernel, "tl.sum(x)", np.full(128, 2, np.int8), (), "i32") == 256
    assert evaluate(kernel, "x.sum()", np.full(64, 255, np.uint8), (), "i32") == 16320
    assert evaluate(kernel, "tl.sum(x)", np.full(128, 1 << 30, np.int32), (), "i32") == 0
    wide = evaluate(kernel, "tl.sum(x, dtype=i64)", np.full(128, 1 << 30, np.int32), (), "i64")
    assert wide == 1 << 37


@pytest.mark.parametrize("dtype", ["i1", "i8", "i32", "u64"])
def test_bits_are_combined_in_their_own_dtype(dtype: str, kernel: MakeKernel) -> None:
    x = samples("i8").astype(KINDS[dtype])
    wanted = np.bitwise_xor.reduce(x, 1)
    assert np.array_equal(evaluate(kernel, "tl.xor_sum(x, 1)", x, (8,), dtype), wanted)
    wanted = np.bitwise_or.reduce(x, 0, keepdims=True)
    found = evaluate(kernel, "x.reduce_or(0, keep_dims=True)", x, (1, 16), dtype)
    assert np.array_equal(found, wanted)


def test_reduce_takes_a_lambda_a_function_of_the_language_and_several_tensors(
    kernel: MakeKernel,
) -> None:
    product = np.prod(TILE, 1)
    found = evaluate(kernel, "tl.reduce(x, 1, lambda a, b: a * b)", TILE, (8,), "f32")
    np.testing.assert_allclose(found, product, rtol=1e-5)
    found = evaluate(kernel, "x.reduce(None, tl.minimum, keep_dims=True)", TILE, (1, 1), "f32")
    assert found[0, 0] == TILE.min()
    both = "tl.reduce((x, x * x), 0, lambda a, b, c, d: (a + c, b + d))"
    found = evaluate(kernel, f"{both}[1] - {both}[0]", TILE, (16,), "f32")
    np.testing.assert_allclose(found, (TILE * TILE - TILE).sum(0), atol=1e-4)


def test_a_combine_function_may_branch(kernel: MakeKernel) -> None:
    expression = "tl.reduce(x, 1, lambda a, b: a if tl.abs(a) > tl.abs(b) else b)"
    wanted = TILE[np.arange(8), np.abs(TILE).argmax(1)]
    assert np.array_equal(evaluate(kernel, expression, TILE, (8,), "f32"), wanted)


def test_the_order_of_a_reduction_is_fixed(kernel: MakeKernel) -> None:
    x = RNG.standard_normal((4, 256)).astype(np.float32)
    lanes = x[:, :32].copy()
    for start in range(32, 256, 32):
        lanes += x[:, start : start + 32]
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    assert np.array_equal(evaluate(kernel, "tl.sum(x, 1)", x, (4,), "f32"), lanes[:, 0])
    total = x[0].copy()
    for row in x[1:]:
        total += row
    assert np.array_equal(evaluate(kernel, "tl.sum(x, 0)", x, (256,), "f32"), total)


def test_sides_of_length_1_are_reduced(kernel: MakeKernel) -> None:
    x = TILE[:, :1]
    for call in ("tl.max(x, 1)", "tl.sum(x, 1)", "tl.min(x, axis=-1)"):
        assert np.array_equal(evaluate(kernel, call, x, (8,), "f32"), x[:, 0])
    assert (evaluate(kernel, "tl.argmax(x, 1)", x, (8,), "i32") == 0).all()


# --- scans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_sums_and_products_are_numpys(axis: int, reverse: bool, kernel: MakeKernel) -> None:
    for name in ("cumsum", "cumprod"):
        x = np.flip(TILE, axis) if reverse else TILE
        wanted = getattr(np, name)(x, axis)
        wanted = np.flip(wanted, axis) if reverse else wanted
        call = f"tl.{name}(x, {axis}, reverse={reverse})"
        found = evaluate(kernel, call, TILE, (8, 16), "f32")
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    assert np.array_equal(
        evaluate(kernel, "x.cumsum()", samples("i64"), (8, 16), "i64").shape, (8, 16)
    )


def test_running_sums_of_booleans_and_small_integers_do_not_wrap(kernel: MakeKernel) -> None:
    index = np.asarray([5, 1, 7, 12], np.int32)
    made = kernel(
        "x_ptr: Ptr[i32], out_ptr: Ptr[i32]",
        "x = tl.load(x_ptr + tl.arange(0, 4))\ntl.store(out_ptr + tl.cumsum(x >= 0) - 1, x)",
    )
    out = np.zeros(4, np.int32)
    made.program().launch((1, 1, 1), [index, out])
    assert list(out) == [5, 1, 7, 12]
    x = np.full(64, 100, np.int8)
    assert np.array_equal(evaluate(kernel, "x.cumsum()", x, (64,), "i32"), np.arange(1, 65) * 100)
    x = np.full(2, 200, np.uint8)
    assert list(evaluate(kernel, "x.cumprod()", x, (2,), "i64")) == [200, 40000]
    small = np.full(512, 1.0, ml_dtypes.bfloat16)
    assert evaluate(kernel, "x.cumsum()", small, (512,), "f32")[-1] == 512


def test_a_scan_of_two_tensors_solves_a_recurrence(kernel: MakeKernel) -> None:
    a, x = TILE / 2, samples("f32")
    scan = "tl.associative_scan((a, x), 1, lambda p, q, r, s: (p * r, q * r + s))[1]"
    found = evaluate(kernel, scan, x, (8, 16), "f32", a=a)
    state, wanted = np.zeros(8, np.float32), []
    for i in range(16):
        state = a[:, i] * state + x[:, i]
        wanted.append(state)
    np.testing.assert_allclose(found, np.stack(wanted, 1), rtol=1e-4, atol=1e-4)


def test_a_scan_before_a_reduction_in_one_kernel(kernel: MakeKernel) -> None:
    k, v = (RNG.standard_normal((16, 16)).astype(np.float32) for _ in range(2))
    call = "tl.sum(tl.cumsum(x[:, :, None] * v[:, None, :], 0), 1)"
    wanted = np.cumsum(k[:, :, None] * v[:, None, :], 0).sum(1)
    np.testing.assert_allclose(evaluate(kernel, call, k, (16, 16), "f32", v=v), wanted, atol=1e-4)


# --- sorting --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*NUMBERS, "i1"])
def test_rows_are_sorted(dtype: str, kernel: MakeKernel) -> None:
    x = samples(dtype) if dtype != "i1" else TILE > 0
    wanted = np.sort(x, 1)
    assert np.array_equal(evaluate(kernel, "tl.sort(x)", x, (8, 16), dtype), wanted)
    falling = evaluate(kernel, "x.sort(dim=1, descending=True)", x, (8, 16), dtype)
    assert np.array_equal(falling, wanted[:, ::-1])
    for k in (1, 4, 16):
        most = evaluate(kernel, f"tl.topk(x, {k})", x, (8, k), dtype)
        assert np.array_equal(most, wanted[:, ::-1][:, :k])
        least = evaluate(kernel, f"tl.topk(x, {k}, descending=False)", x, (8, k), dtype)
        assert np.array_equal(least, wanted[:, :k])
    halves = np.concatenate((np.sort(x[:, :8], 1), np.sort(x[:, 8:], 1)[:, ::-1]), 1)
    merged = evaluate(kernel, "tl.bitonic_merge(x)", halves, (8, 16), dtype)
    assert np.array_equal(merged, wanted)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_a_nan_is_sorted_last_and_hides_nothing(dtype: str, kernel: MakeKernel) -> None:
    x = np.asarray([np.inf, 3.1416, np.nan, -1.0], np.float64).astype(KINDS[dtype])
    found = evaluate(kernel, "tl.sort(x, descending=True)", x, (4,), dtype)
    assert np.array_equal(found, x[[2, 0, 1, 3]], equal_nan=True)
    x = RNG.standard_normal(64).astype(KINDS[dtype])
    x[[3, 17, 18, 40, 63]] = np.nan
    x[17] = -x[17]  # a NaN with a sign
    found = evaluate(kernel, "tl.sort(x)", x, (64,), dtype)
    wanted = np.sort(x.astype(np.float64)).astype(KINDS[dtype])
    assert np.array_equal(found.astype(np.float64), wanted.astype(np.float64), equal_nan=True)


def test_zeros_are_sorted_by_their_sign(kernel: MakeKernel) -> None:
    x = np.asarray([0.0, -0.0, 0.0, -0.0], np.float32)
    found = evaluate(kernel, "tl.sort(x)", x, (4,), "f32")
    assert list(np.signbit(found)) == [True, True, False, False]


def test_the_only_element_becomes_a_scalar(kernel: MakeKernel) -> None:
    total = "tl.sum(x, keep_dims=True)"
    wanted = evaluate(kernel, "tl.sum(x)", TILE, (), "f32")
    for call in (f"{total}.item()", f"{total}.cast(f64).item().cast(f32)", f"{total}.reshape(())"):
        assert evaluate(kernel, call, TILE, (), "f32") == wanted
    with pytest.raises(TeenyError) as caught:
        evaluate(kernel, "x.item()", TILE, (), "f32")
    assert caught.value.code == "E0417"


def test_one_element_is_sorted_already(kernel: MakeKernel) -> None:
    x = TILE[:1, :1]
    for call in ("tl.sort(x)", "tl.topk(x, 1)", "tl.bitonic_merge(x)", "tl.flip(x)"):
        assert np.array_equal(evaluate(kernel, call, x, (1, 1), "f32"), x)


@pytest.mark.parametrize("dim", [None, 0, 1, -1, -2])
def test_flip_reverses_an_axis(dim: int | None, kernel: MakeKernel) -> None:
    axis = 1 if dim is None else dim
    for x in (TILE, samples("i8"), samples("f16"), TILE > 0):
        found = evaluate(kernel, f"tl.flip(x, {dim})", x, (8, 16), NAMES[x.dtype])
        assert np.array_equal(found, np.flip(x, axis))


# --- gather and histogram -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i8", "u8", "i32", "i64"])
def test_gather_picks_along_an_axis(dtype: str, kernel: MakeKernel) -> None:
    index = RNG.integers(0, 2, (8, 8)).astype(KINDS[dtype])
    x = TILE[:, :2]
    found = evaluate(kernel, "x.gather(index, axis=1)", x, (8, 8), "f32", index=index)
    assert np.array_equal(found, np.take_along_axis(x, index.astype(np.int64), 1))
    zeros = np.zeros(4096, KINDS[dtype])
    x = np.asarray([1, 2, 3, 4], np.float32)
    assert (evaluate(kernel, "tl.gather(x, index, 0)", x, (4096,), "f32", index=zeros) == 1).all()


def test_values_without_a_bin_are_not_counted(kernel: MakeKernel) -> None:
    x = np.asarray([21, 298, 408, 131, 315, 104, 149, 4], np.int32)
    assert list(evaluate(kernel, "tl.histogram(x, 8)", x, (8,), "i32")) == [0, 0, 0, 0, 1, 0, 0, 0]
    x = np.asarray([0, 1, 2, 3, 4, 4, 5, -1], np.int32)
    for kind in (np.int8, np.int32, np.int64):
        assert list(evaluate(kernel, "x.histogram(4)", x.astype(kind), (4,), "i32")) == [1] * 4


def test_counts_are_32_bits_and_masked(kernel: MakeKernel) -> None:
    x = np.zeros(512, np.int8)
    assert list(evaluate(kernel, "tl.histogram(x, 4)", x, (4,), "i32")) == [512, 0, 0, 0]
    x = np.zeros(65536, np.int16)
    assert evaluate(kernel, "tl.histogram(x, 2)", x, (2,), "i32")[0] == 65536
    x = RNG.integers(0, 8, 128).astype(np.int32)
    call = "tl.histogram(x, 8, mask=tl.arange(0, 128) < 100)"
    assert np.array_equal(evaluate(kernel, call, x, (8,), "i32"), np.bincount(x[:100], minlength=8))
    x = np.arange(256).astype(np.uint8)
    assert (evaluate(kernel, "tl.histogram(x, 256)", x, (256,), "i32") == 1).all()


# --- one call an element --------------------------------------------------------------------------


def test_a_mapped_function_may_branch_and_return_several_values(kernel: MakeKernel) -> None:
    selu = "tl.map_elementwise(lambda a, b: a if a > 0 else b * (tl.exp(a) - 1), x, 2.0)"
    found = evaluate(kernel, selu, TILE, (8, 16), "f32")
    np.testing.assert_allclose(found, np.where(TILE > 0, TILE, 2 * np.expm1(TILE)), rtol=1e-5)
    pair = "tl.map_elementwise(lambda a, b: (a + b, a > b), x, x[:1].reshape(1, 16))"
    pair = pair.replace("x[:1].reshape(1, 16)", "tl.sum(x, 0, keep_dims=True)")
    total = evaluate(kernel, f"{pair}[0]", TILE, (8, 16), "f32")
    np.testing.assert_allclose(total, TILE + TILE.sum(0, keepdims=True), rtol=1e-5, atol=1e-5)
    above = evaluate(kernel, f"{pair}[1]", TILE, (8, 16), "i1")
    assert np.array_equal(above, TILE.sum(0, keepdims=True) < TILE)


def test_a_packed_call_gets_several_elements(kernel: MakeKernel) -> None:
    call = "tl.map_elementwise(lambda a0, a1, b0, b1: (a0 + b0, a1 + b1), x, x, pack=2)"
    assert np.array_equal(evaluate(kernel, call, TILE, (8, 16), "f32"), 2 * TILE)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("tl.reduce(x, 2, tl.maximum)", "E0405"), ("tl.reduce(x, 0, 3)", "E0203"),
        ("tl.reduce(x, 0, lambda a: a)", "E0204"), ("tl.reduce(x, n, tl.maximum)", "E0210"),
        ("tl.reduce((x, n), 0, tl.maximum)", "E0413"),
        ("tl.reduce(x, 0, lambda a, b: 1 < a)", "E0314"),
        ("tl.reduce((x, tl.sum(x, 0)), 0, tl.maximum)", "E0403"),
        ("tl.reduce(x, 0, lambda a, b: (a, b))", "E0314"),
        ("tl.max(x, return_indices=True)", "E0408"),
        ("tl.xor_sum(x)", "E0408"), ("tl.sort(x, 0)", "E0408"), ("tl.topk(x, 3)", "E0408"),
        ("tl.topk(x, 32)", "E0408"), ("tl.flip(x, 2)", "E0408"), ("tl.histogram(x, 8)", "E0301"),
        ("tl.histogram(tl.arange(0, 8), 6)", "E0402"),
        ("tl.histogram(tl.arange(0, 8), n)", "E0416"),
        ("tl.gather(x, tl.arange(0, 8), 0)", "E0413"), ("tl.gather(x, x, 0)", "E0301"),
        ("tl.gather(x, tl.arange(0, 8)[None, :], 1)", "E0403"),
        ("tl.map_elementwise(lambda a: a, 1.0)", "E0413"),
        ("tl.map_elementwise(lambda a: x, x)", "E0111"),
        ("tl.map_elementwise(lambda a: None, x)", "E0314"),
        ("tl.map_elementwise(lambda a, b: a, x, pack=2)", "E0314"),
        ("tl.map_elementwise(lambda a: a, x, pack=3)", "E0416"),
        ("tl.squeeze(x, 0)", "E0408"), ("tl.split(x)", "E0413"), ("tl.join(x, n)", "E0301"),
        ("tl.cat(x, tl.sum(x, 0))", "E0403"), ("tl.permute(x, 0, 0)", "E0414"),
        ("x.permute(0)", "E0414"), ("x.reshape(7, 16)", "E0402"), ("x.reshape(4, 4)", "E0417"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_a_coded_error(expression: str, code: str, kernel: MakeKernel) -> None:
    body = f"x = tl.load(x_ptr + {place((8, 16))})\ny = {expression}\ntl.store(x_ptr, 0.0)"
    with pytest.raises(TeenyError) as caught:
        kernel("x_ptr: Ptr[f32], n: i32", body).lower()
    assert [found.code for found in caught.value.diagnostics] == [code]
