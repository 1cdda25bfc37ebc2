"""Rounding and wrapping of Python scalars and of arrays against ml_dtypes and NumPy, bit by bit."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teenyc.ops import arrays, scalars
from teenyc.types import ScalarType

FLOATS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
RNG = np.random.default_rng(7)
ANY_FLOAT = st.floats(allow_nan=False)


def every_value(name: str) -> np.ndarray[Any, Any]:
    """Every finite value of a narrow type as float64; of f32 a sample of bit patterns."""
    kind = FLOATS[name]
    bits = np.dtype(kind).itemsize * 8
    codes = np.arange(1 << bits) if bits < 32 else RNG.integers(0, 1 << 32, 1 << 16)
    with np.errstate(invalid="ignore"):  # signaling NaNs
        values = codes.astype(f"u{bits // 8}").view(kind).astype(np.float64)
    finite: np.ndarray[Any, Any] = np.unique(values[np.isfinite(values)])
    return finite


def near_ties(name: str) -> np.ndarray[Any, Any]:
    """Values, midpoints of neighbours, and the float64 numbers right beside the midpoints."""
    values = every_value(name)
    kind = FLOATS[name]
    above = np.nextafter(values.astype(kind), kind(np.inf)) if name == "f32" else values[1:]
    middle = (values[: len(above)] + above.astype(np.float64)) / 2
    middle = middle[np.isfinite(middle)]
    found = np.concatenate(
        [values, middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)]
    )
    inside: np.ndarray[Any, Any] = found[np.abs(found) <= scalars.FORMATS[name].largest]
    return inside


def expected(values: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Rounded once: to the nearest of the values of the type, ties to the even code."""
    if name in ("f16", "f32"):
        rounded: np.ndarray[Any, Any] = values.astype(FLOATS[name]).astype(np.float64)
        return rounded
    ordered = np.abs(every_value(name))
    ordered = np.unique(ordered)
    magnitude = np.abs(values)
    above = np.clip(np.searchsorted(ordered, magnitude), 1, len(ordered) - 1)
    low, high = ordered[above - 1], ordered[above]
    up, down = high - magnitude, magnitude - low
    # Codes ascend with the values from 0, so the index of a value is its code.
    pick = np.where(up == down, np.where(above % 2 == 0, high, low), np.where(up < down, high, low))
    signed: np.ndarray[Any, Any] = np.copysign(pick, values)
    return signed


@pytest.mark.parametrize("name", FLOATS)
def test_arrays_are_rounded_to_the_nearest_value_with_ties_to_even(name: str) -> None:
    values = near_ties(name)
    found = arrays.rounded(np, values, name).astype(np.float64)
    assert np.array_equal(found, expected(values, name))
    assert np.array_equal(np.signbit(found), np.signbit(values))


@pytest.mark.parametrize("name", FLOATS)
def test_scalars_are_rounded_like_arrays(name: str) -> None:
    values = RNG.permutation(near_ties(name))[:20000]
    found = [scalars.round_float(float(value), name) for value in values]
    assert np.array_equal(found, arrays.rounded(np, values, name).astype(np.float64))


@pytest.mark.parametrize("name", FLOATS)
@given(value=ANY_FLOAT)
def test_any_float_is_rounded_alike_as_scalar_and_array(name: str, value: float) -> None:
    with np.errstate(over="ignore"):
        found = arrays.rounded(np, np.asarray(value), name)
    rounded = scalars.round_float(value, name)
    assert found.astype(np.float64).item() == rounded
    assert math.copysign(1, rounded) == math.copysign(1, value)


@given(value=ANY_FLOAT)
def test_rounding_towards_zero_never_goes_outwards(value: float) -> None:
    found = scalars.round_float(value, "f16", toward_zero=True)
    assert abs(found) <= abs(value)
    nearest = scalars.round_float(value, "f16")
    if math.isfinite(value):
        assert found in (nearest, float(np.nextafter(np.float16(nearest), np.float16(0))))
    array = arrays.rounded(np, np.asarray(value), "f16", toward_zero=True)
    assert array == found or math.isinf(value)


@pytest.mark.parametrize("name", FLOATS)
def test_memory_bits_are_those_of_ml_dtypes(name: str) -> None:
    kind = np.dtype(FLOATS[name])
    codes = np.arange(1 << 16 if kind.itemsize > 1 else 256).astype(f"u{kind.itemsize}")
    element = ScalarType(name)
    held = arrays.decode(np, codes.view(arrays.memory_dtype(element)), element)
    wanted = codes.view(kind).astype(np.float32)
    assert np.array_equal(held.astype(np.float32), wanted, equal_nan=True)
    back = np.asarray(arrays.encode(np, held, element)).view(codes.dtype)
    numbers = ~np.isnan(wanted)
    assert np.array_equal(back[numbers], codes[numbers])
    nans = back[~numbers].view(kind).astype(np.float32)
    assert np.isnan(nans).all()


@pytest.mark.parametrize("bits", [1, 8, 16, 32, 64])
@given(value=st.integers(-(2**70), 2**70))
def test_integers_wrap_modulo_their_width(bits: int, value: int) -> None:
    found = scalars.wrap(value, bits)
    assert (found - value) % (1 << bits) == 0
    low, high = (0, 1) if bits == 1 else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    assert low <= found <= high
    assert scalars.unsigned(found, bits) == value % (1 << bits)


@pytest.mark.parametrize("x", [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, 5e-324])
@pytest.mark.parametrize("y", [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, 5e-324])
def test_scalar_arithmetic_is_that_of_ieee(x: float, y: float) -> None:
    a, b = np.float64(x), np.float64(y)
    with np.errstate(all="ignore"):
        pairs = [
            (scalars.divide(x, y), a / b),
            (scalars.remainder(x, y), np.fmod(a, b)),
            (scalars.square_root(x), np.sqrt(a)),
        ]
    for found, wanted in pairs:
        assert repr(found).lstrip("-") == repr(float(wanted)).lstrip("-")
        assert math.isnan(found) or math.copysign(1, found) == math.copysign(1, wanted)


def test_maximum_orders_zeros_and_drops_or_keeps_nan() -> None:
    assert repr(scalars.number_max(-0.0, 0.0)) == repr(scalars.number_max(0.0, -0.0)) == "0.0"
    assert repr(scalars.number_min(-0.0, 0.0)) == repr(scalars.number_min(0.0, -0.0)) == "-0.0"
    assert scalars.number_max(math.nan, 1.0) == scalars.number_max(1.0, math.nan) == 1.0
    assert scalars.number_min(math.nan, 1.0) == scalars.number_min(1.0, math.nan) == 1.0
    assert math.isnan(scalars.ieee_max(math.nan, 1.0))
    assert math.isnan(scalars.ieee_min(1.0, math.nan))
    assert math.isnan(scalars.number_max(math.nan, math.nan))
