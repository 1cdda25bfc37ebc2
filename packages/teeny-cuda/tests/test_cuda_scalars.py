"""Scalar arguments: kinds, ranges, rounding."""

from __future__ import annotations

import math
import struct
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teeny_cuda.dtypes import DTYPES
from teeny_cuda.scalars import bf16_bits, scalar_bits
from teeny_macros.diagnostics import LaunchError


def _bits(dtype: str, value: Any) -> Any:
    return scalar_bits("n", DTYPES[dtype], value)


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
def test_integers_are_taken_within_their_range(dtype: str) -> None:
    info = np.iinfo(DTYPES[dtype].foreign)
    low, high = int(info.min), int(info.max)
    for value in (low, high, 0, np.int8(5), True):
        assert _bits(dtype, value) == int(value)
    for value in (low - 1, high + 1):
        with pytest.raises(LaunchError) as caught:
            _bits(dtype, value)
        assert caught.value.code == "E1066"
        assert f"{dtype} holds {low} to {high}" in str(caught.value)


@pytest.mark.parametrize("value", [True, False, 0, 1, np.True_, np.bool_(False)])
def test_booleans_are_taken(value: Any) -> None:
    assert _bits("i1", value) == int(value)


@pytest.mark.parametrize(
    ("dtype", "value", "code"),
    [
        ("i1", 2, "E1066"),
        ("i1", -1, "E1066"),
        ("i32", 1.0, "E1065"),
        ("i32", "1", "E1065"),
        ("i32", None, "E1065"),
        ("i32", np.True_, "E1065"),
        ("f32", "1.0", "E1065"),
        ("f32", None, "E1065"),
        ("f32", np.zeros(3), "E1065"),
        ("f16", 65520.0, "E1066"),
        ("bf16", 3.4e38, "E1066"),
        ("f32", 1e39, "E1066"),
        ("f32", 10**400, "E1065"),
        ("f8e4m3", 1.0, "E1065"),
    ],
)
def test_other_values_are_refused(dtype: str, value: Any, code: str) -> None:
    with pytest.raises(LaunchError) as caught:
        _bits(dtype, value)
    assert caught.value.code == code
    assert "`n`" in str(caught.value)


def test_floats_keep_their_value_and_their_specials() -> None:
    assert _bits("f16", 42.0) == 42.0
    assert _bits("f16", np.float16(1.5)) == 1.5
    assert _bits("f64", 0.1) == 0.1
    assert _bits("f32", 7) == 7.0
    assert _bits("f32", math.inf) == math.inf
    assert math.isnan(_bits("f64", math.nan))


@given(st.floats(allow_nan=False))
def test_every_float_is_packed_as_numpy_rounds_it_or_refused(value: float) -> None:
    for dtype in ("f16", "f32"):
        with np.errstate(over="ignore"):
            wanted = np.float64(value).astype(DTYPES[dtype].foreign)
        if math.isinf(wanted) and math.isfinite(value):
            with pytest.raises(LaunchError):
                _bits(dtype, value)
        else:
            packed = struct.pack("<" + DTYPES[dtype].letter, _bits(dtype, value))
            assert packed == wanted.tobytes()


@given(st.floats(width=32))
def test_bf16_of_an_f32_is_what_ml_dtypes_has(value: float) -> None:
    wanted = np.float32(value).astype(ml_dtypes.bfloat16)
    if math.isnan(value):
        assert np.uint16(bf16_bits(value)).view(ml_dtypes.bfloat16) != 0
    elif math.isfinite(value):
        assert bf16_bits(value) == int(wanted.view(np.uint16))


def test_bf16_is_rounded_once_from_the_double() -> None:
    # Just above halfway between 1 and the next bf16; by way of f32 it would be a tie and go down to
    # 1.
    assert bf16_bits(1 + 2.0**-8 + 2.0**-40) == 0x3F81
    assert bf16_bits(1 + 2.0**-8) == 0x3F80
    assert bf16_bits(-0.0) == 0x8000
    assert bf16_bits(-math.inf) == 0xFF80
    assert bf16_bits(2.0**-133) == 1
    assert bf16_bits(2.0**-135) == 0


def test_numbers_that_round_down_to_the_largest_are_taken() -> None:
    assert _bits("f16", 65519.9) == 65504.0
    assert struct.pack("<e", _bits("f16", 65519.9)) == struct.pack("<e", 65504.0)
    assert struct.pack("<f", _bits("f32", 3.4028235e38)) == b"\xff\xff\x7f\x7f"
