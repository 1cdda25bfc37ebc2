"""Conversions between number types: equal to the interpreter, to NumPy and to ml_dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from teenyc.ops import arrays, casts
from teenyc.types import ScalarType

if TYPE_CHECKING:
    from conftest import Array, Lab, Native

NARROW = ["f16", "bf16", "f8E4M3FN", "f8E5M2"]
FLOATS = [*NARROW, "f32", "f64"]
NUMPY: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f32": np.float32,
    "f64": np.float64,
}
LARGEST = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}
INTEGERS = [f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)]


def native(
    lab: Lab, source: str, result: str, *, hardware: bool = False, toward_zero: bool = False
) -> Native:
    definition = lab.conversion(source, result, 16, native_half=hardware, toward_zero=toward_zero)
    return lab.native(definition, modern=hardware)


def machines(lab: Lab) -> tuple[bool, ...]:
    """In integers, and where there is one by the hardware's conversion of f16."""
    return (False, True) if lab.has_native_half else (False,)


def codes(name: str) -> Array:
    """Every bit pattern of a narrow type."""
    bits = 8 if name.startswith("f8") else 16
    return np.arange(1 << bits, dtype=f"uint{bits}")


def same_values(found: Array, expected: Array) -> bool:
    """Equal with the signs of zeros; NaN where NaN is expected, with its sign."""
    return np.array_equal(found, expected, equal_nan=True) and np.array_equal(
        np.signbit(found), np.signbit(expected)
    )


def interpreted(x: Array, name: str, *, toward_zero: bool = False) -> Array:
    """The interpreter's codes of f64 values rounded to a type."""
    held = arrays.rounded(np, x.astype(np.float64), name, toward_zero=toward_zero)
    found = arrays.encode(np, held, ScalarType(name))
    return np.ascontiguousarray(found).view(f"u{found.dtype.itemsize}")


def without_nan(x: Array, name: str) -> Array:
    """Codes with every NaN made the same: which one it is does not matter."""
    values = arrays.decode(np, x.view(arrays.memory_dtype(ScalarType(name))), ScalarType(name))
    return np.where(np.isnan(values), x.dtype.type(0x7F), x)


def close_calls(name: str, wide: str) -> Array:
    """All values of a narrow type and all halves between them, each with its neighbors, and more.

    In f64 the neighbors also reveal results that were rounded twice.
    """
    values = codes(name).view(NUMPY[name]).astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    halves = (values[1:] + values[:-1]) / 2
    largest = values[-1]
    beyond = largest + (largest - values[-2]) * np.array([0.5, 1.0, 1.5, 2.0, 1e3])
    exact = np.concatenate([values, halves, beyond, -beyond]).astype(NUMPY[wide])
    info = np.finfo(NUMPY[wide])
    rng = np.random.default_rng(1)
    patterns = rng.integers(0, 1 << info.bits, 100_000, dtype=np.uint64)
    anything = patterns.astype(f"uint{info.bits}").view(NUMPY[wide])
    near = np.exp2(rng.uniform(-30, 20, 100_000)) * rng.choice([-1, 1], 100_000)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.smallest_subnormal]
    return np.concatenate(
        [
            exact,
            np.nextafter(exact, NUMPY[wide](np.inf)),
            np.nextafter(exact, NUMPY[wide](-np.inf)),
            anything,
            near.astype(NUMPY[wide]),
            np.array(special, dtype=NUMPY[wide]),
        ]
    )


@pytest.mark.parametrize("wide", ["f32", "f64"])
@pytest.mark.parametrize("name", NARROW)
def test_every_pattern_widens_exactly(lab: Lab, name: str, wide: str) -> None:
    expected = codes(name).view(NUMPY[name]).astype(NUMPY[wide])
    for hardware in machines(lab):
        found = native(lab, name, wide, hardware=hardware)(codes(name))
        assert same_values(found, expected)


@pytest.mark.parametrize("toward_zero", [False, True])
@pytest.mark.parametrize("wide", ["f32", "f64"])
@pytest.mark.parametrize("name", NARROW)
def test_narrowing_rounds_once_as_the_interpreter_does(
    lab: Lab, name: str, wide: str, toward_zero: bool
) -> None:
    x = close_calls(name, wide)
    expected = without_nan(interpreted(x, name, toward_zero=toward_zero), name)
    for hardware in machines(lab):
        found = native(lab, wide, name, hardware=hardware, toward_zero=toward_zero)(x)
        different = np.flatnonzero(without_nan(found, name) != expected)
        assert not len(different), (x[different[:3]], found[different[:3]])


@pytest.mark.parametrize("wide", ["f32", "f64"])
@pytest.mark.parametrize("name", NARROW)
def test_narrowing_gives_the_bits_of_numpy_and_ml_dtypes(lab: Lab, name: str, wide: str) -> None:
    x = close_calls(name, wide)
    if wide == "f64" and name != "f16":
        x = x[x == x.astype(np.float32)]  # ml_dtypes itself rounds f64 twice
    if name.startswith("f8"):
        x = x[np.abs(x) <= LARGEST[name]]  # ours saturate
    x = x[~np.isnan(x)]
    narrow = x.astype(NUMPY[name])
    expected = narrow.view(f"u{narrow.dtype.itemsize}")
    assert np.array_equal(native(lab, wide, name)(x), expected)


def test_a_nan_keeps_its_sign_and_stays_one(lab: Lab) -> None:
    payloads = np.array([0x7F800001, 0xFF800001, 0x7FC00000, 0xFFFFFFFF], np.uint32)
    for name in NARROW:
        for hardware in machines(lab):
            found = native(lab, "f32", name, hardware=hardware)(payloads.view(np.float32))
            values = found.view(NUMPY[name]).astype(np.float32)
            assert np.isnan(values).all()
            assert np.array_equal(np.signbit(values), payloads >> 31 != 0)


def test_hardware_and_integers_agree_on_every_bit_of_f16(lab: Lab) -> None:
    if not lab.has_native_half:
        pytest.skip("this processor has no conversion of f16")
    x = close_calls("f16", "f32")
    ways = [native(lab, "f32", "f16", hardware=h)(x) for h in (False, True)]
    assert ways[0].tobytes() == ways[1].tobytes()
    ways = [native(lab, "f16", "f32", hardware=h)(codes("f16")) for h in (False, True)]
    assert ways[0].tobytes() == ways[1].tobytes()


def test_f64_becomes_f32_toward_zero(lab: Lab) -> None:
    x = close_calls("f16", "f64") * 2.0 ** np.random.default_rng(3).integers(-140, 120)
    expected = arrays.rounded(np, x, "f32", toward_zero=True)
    assert same_values(native(lab, "f64", "f32", toward_zero=True)(x), expected)
    assert same_values(native(lab, "f64", "f32")(x), x.astype(np.float32))


@pytest.mark.parametrize("result", NARROW)
@pytest.mark.parametrize("source", NARROW)
def test_narrow_types_convert_to_each_other(lab: Lab, source: str, result: str) -> None:
    if source == result:
        return
    values = arrays.decode(
        np, codes(source).view(arrays.memory_dtype(ScalarType(source))), ScalarType(source)
    )
    found = native(lab, source, result)(codes(source))
    expected = interpreted(values, result)
    assert np.array_equal(without_nan(found, result), without_nan(expected, result))


@pytest.mark.parametrize("name", NARROW)
def test_rounding_in_place_is_narrowing_and_widening(lab: Lab, name: str) -> None:
    x = close_calls(name, "f32")
    expected = arrays.rounded(np, x.astype(np.float64), name).astype(np.float32)
    for hardware in machines(lab):
        definition = lab.rounding(name, 16, native_half=hardware)
        assert same_values(lab.native(definition, modern=hardware)(x), expected)


# --- integers -------------------------------------------------------------------------------------


def integers(name: str) -> Array:
    """Small and large numbers of an integer type, those next to powers of two, random ones."""
    bits = int(name[1:])
    info = np.iinfo(f"{'int' if name[0] == 'i' else 'uint'}{bits}")
    rng = np.random.default_rng(2)
    powers = [(1 << k) + d for k in range(bits + 1) for d in (-1025, -1024, -3, -1, 0, 1, 3, 1023)]
    heads = [
        int(h) << int(s)
        for h, s in zip(rng.integers(256, 1024, 3000), rng.integers(0, 54, 3000), strict=True)
    ]
    values = [*powers, *heads, *(h + 1 for h in heads), *(h - 1 for h in heads)]
    values += [-v for v in values] + [info.min, info.max]
    kept = [v for v in values if info.min <= v <= info.max]
    anything = rng.integers(info.min, info.max, 20_000, dtype=info.dtype, endpoint=True)
    return np.concatenate([np.array(kept, dtype=info.dtype), anything])


@pytest.mark.parametrize("result", FLOATS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_become_floats_rounded_once(lab: Lab, source: str, result: str) -> None:
    x = integers(source)
    if source.endswith("64"):
        x = x[:: max(1, len(x) // 6000)]  # the interpreter takes these one by one
    signed = source.startswith("i")
    reference = casts._from_signed if signed else casts._from_unsigned
    held = reference(np, x if signed else arrays.with_sign(np, x), source, result)
    expected = arrays.encode(np, held, ScalarType(result))
    found = native(lab, source, result)(x)
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("result", INTEGERS)
@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64"])
def test_floats_become_integers_as_in_the_interpreter(lab: Lab, source: str, result: str) -> None:
    if source in ("f32", "f64"):
        rng = np.random.default_rng(4)
        x = rng.normal(size=20_000) * np.exp2(rng.integers(-3, 70, 20_000))
        edges = [
            s * 2.0**k + d
            for k in (7, 8, 15, 16, 31, 32, 63, 64)
            for d in (-1, -0.5, 0, 0.5)
            for s in (1, -1)
        ]
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.99, -0.99, -1.0]
        x = np.concatenate([x, edges, special]).astype(NUMPY[source])
        values = x
    else:
        x = codes(source)
        values = x.view(NUMPY[source]).astype(np.float32)
    expected = casts._truncated(np, values, f"i{result[1:]}", signed=result.startswith("i"))
    found = native(lab, source, result)(x)
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


def test_booleans_become_floats(lab: Lab) -> None:
    for source, one in (("i1", -1.0), ("u1", 1.0)):
        text = lab.conversion(source, "f32", 4, native_half=False).text
        assert ("sitofp" if one < 0 else "uitofp") in text
        assert lab.held_kind(source) == "i1"
