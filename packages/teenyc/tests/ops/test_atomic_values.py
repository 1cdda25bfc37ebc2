"""Atomic operations in the interpreter: what is left in memory, and what each lane gets back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from teeny_macros.diagnostics import CompileError

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: dict[str, Any] = {
    "i32": np.int32, "i64": np.int64, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
INTS, FLOATS = ("i32", "i64", "u32", "u64"), ("f32", "f64")
RNG = np.random.default_rng(11)
FORMULAS: dict[str, tuple[tuple[str, ...], Any]] = {
    "add": ((*INTS, *FLOATS, "f16", "bf16"), lambda old, new: old + new),
    "max": ((*INTS, *FLOATS), np.maximum), "min": ((*INTS, *FLOATS), np.minimum),
    "and": (INTS, np.bitwise_and), "or": (INTS, np.bitwise_or), "xor": (INTS, np.bitwise_xor),
    "xchg": ((*INTS, *FLOATS), lambda old, new: new),
}  # fmt: skip


def numbers(dtype: str, count: int) -> Any:
    if dtype in INTS:
        info = np.iinfo(KINDS[dtype])
        return RNG.integers(info.min, info.max, count, dtype=KINDS[dtype])
    return RNG.standard_normal(count).astype(KINDS[dtype])


@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name, (dtypes, _) in FORMULAS.items() for dtype in dtypes]
)
def test_each_place_is_changed_and_its_old_value_comes_back(
    name: str, dtype: str, kernel: Callable[..., Any]
) -> None:
    x, y = numbers(dtype, 32), numbers(dtype, 32)
    made = kernel(
        f"x_ptr: Ptr[{dtype}], y_ptr: Ptr[{dtype}], old_ptr: Ptr[{dtype}], n: i32",
        "o = tl.arange(0, 32)\n"
        f"old = tl.atomic_{name}(x_ptr + o, tl.load(y_ptr + o), mask=o < n)\n"
        "tl.store(old_ptr + o, old, mask=o < n)",
    )
    place, old = x.copy(), np.zeros(32, KINDS[dtype])
    made.program().launch((1, 1, 1), [place, y, old, 20])
    with np.errstate(over="ignore"):
        wanted = FORMULAS[name][1](x, y).astype(KINDS[dtype])
    assert np.array_equal(place[:20], wanted[:20])
    assert np.array_equal(place[20:], x[20:])
    assert np.array_equal(old[:20], x[:20])


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_the_greatest_float_is_found_among_all_signs(
    dtype: str, kernel: Callable[..., Any]
) -> None:
    x = np.asarray([-1.5, 2.5, -0.0, 0.0, -np.inf, 7.0, 3.0, -3.0], KINDS[dtype])
    for name, formula in (("max", np.max), ("min", np.min)):
        made = kernel(
            f"x_ptr: Ptr[{dtype}], out_ptr: Ptr[{dtype}]",
            f"o = tl.arange(0, 8)\ntl.atomic_{name}(out_ptr + o * 0, tl.load(x_ptr + o))",
        )
        for start in (x[0], x[-2]):
            out = np.asarray([start])
            made.program().launch((1, 1, 1), [x, out])
            assert out[0] == formula(x)


@pytest.mark.parametrize("dtype", ["bf16", "f16", "i32", "u64"])
def test_programs_and_lanes_that_share_a_place_all_count(
    dtype: str, kernel: Callable[..., Any]
) -> None:
    made = kernel(
        f"x_ptr: Ptr[{dtype}], old_ptr: Ptr[{dtype}]",
        "o = tl.arange(0, 16)\np = tl.program_id(0)\n"
        "tl.store(old_ptr + p * 16 + o, tl.atomic_add(x_ptr + o * 0, 1))",
    )
    x, old = np.zeros(1, KINDS[dtype]), np.zeros(64, KINDS[dtype])
    made.program().launch((4, 1, 1), [x, old])
    assert x[0] == 64
    assert sorted(map(int, old)) == list(range(64))


def test_sums_in_half_precision_start_from_what_is_there(kernel: Callable[..., Any]) -> None:
    for dtype in ("f16", "bf16"):
        made = kernel(
            f"x_ptr: Ptr[{dtype}], y_ptr: Ptr[{dtype}], old_ptr: Ptr[{dtype}]",
            "o = tl.arange(0, 256)\n"
            "tl.store(old_ptr + o, tl.atomic_add(x_ptr + o, tl.load(y_ptr + o)))",
        )
        y = RNG.standard_normal(256).astype(KINDS[dtype])
        x, old = np.zeros(256, KINDS[dtype]), np.ones(256, KINDS[dtype])
        made.program().launch((1, 1, 1), [x, y, old])
        assert np.array_equal(x, y)
        assert not old.any()


@pytest.mark.parametrize("dtype", ["i32", "u32", "i64", "f32", "f16", "bf16", "f64"])
def test_places_that_hold_the_expected_value_are_swapped(
    dtype: str, kernel: Callable[..., Any]
) -> None:
    made = kernel(
        f"x_ptr: Ptr[{dtype}], old_ptr: Ptr[{dtype}]",
        "o = tl.arange(0, 8)\ntl.store(old_ptr + o, tl.atomic_cas(x_ptr + o, 2, 9))",
    )
    x = np.asarray([0, 1, 2, 3, 2, 2, 0, 7], KINDS[dtype])
    before, old = x.copy(), np.zeros(8, KINDS[dtype])
    made.program().launch((1, 1, 1), [x, old])
    assert np.array_equal(old, before)
    assert np.array_equal(x, np.where(before == 2, KINDS[dtype](9), before))


def test_a_lock_of_compare_and_swap_and_exchange_is_taken_and_given_back(
    kernel: Callable[..., Any],
) -> None:
    made = kernel(
        "lock_ptr: Ptr[i32], sum_ptr: Ptr[f32]",
        """\
while tl.atomic_cas(lock_ptr, 0, 1, sem="acquire") == 1:
    pass
tl.store(sum_ptr, tl.load(sum_ptr) + 1.0)
tl.atomic_xchg(lock_ptr, 0, sem="release")""",
    )
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.float32)
    made.program().launch((5, 2, 1), [lock, total])
    assert (lock[0], total[0]) == (0, 10)


def test_loads_and_stores_may_be_atomic(kernel: Callable[..., Any]) -> None:
    made = kernel(
        "x_ptr: Ptr[f64], out_ptr: Ptr[f32], n: i32",
        "o = tl.arange(0, 8)\nx = tl.atomic_load(x_ptr + o, mask=o < n)\n"
        'tl.atomic_store(out_ptr + o, x, mask=o < n, sem="relaxed")',
    )
    x, out = RNG.standard_normal(8), np.zeros(8, np.float32)
    made.program().launch((1, 1, 1), [x, out, 5])
    assert np.array_equal(out[:5], x[:5].astype(np.float32))
    assert not out[5:].any()


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("tl.atomic_max(h_ptr, 1.0)", "E0511"), ("tl.atomic_add(b_ptr, 1)", "E0511"),
        ("tl.atomic_and(x_ptr, 1)", "E0511"), ("tl.atomic_xchg(h_ptr, 1.0)", "E0511"),
        ("tl.atomic_cas(b_ptr, 0, 1)", "E0511"), ("tl.atomic_load(h_ptr)", "E0511"),
        ("tl.atomic_add(1, 1)", "E0501"), ('tl.atomic_add(x_ptr, 1, sem="strong")', "E0416"),
        ('tl.atomic_add(x_ptr, 1, scope="world")', "E0416"),
        ('tl.atomic_load(x_ptr, sem="release")', "E0416"),
        ("tl.atomic_add(x_ptr, tl.arange(0, 8))", "E0504"),
        ("tl.atomic_add(x_ptr, 1, mask=n)", "E0502"),
        ("tl.atomic_add(x_ptr + tl.arange(0, 8), tl.zeros((8, 8), f32))", "E0505"),
    ],
)  # fmt: skip
def test_what_no_hardware_does_is_refused(call: str, code: str, kernel: Callable[..., Any]) -> None:
    with pytest.raises(CompileError) as caught:
        kernel("x_ptr: Ptr[f32], h_ptr: Ptr[f16], b_ptr: Ptr[i8], n: i32", call).lower()
    assert caught.value.code == code
    assert caught.value.diagnostics[0].helps
