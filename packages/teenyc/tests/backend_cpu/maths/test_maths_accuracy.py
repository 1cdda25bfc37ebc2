"""The vector maths against mpmath: within the published bounds, special values exact."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from teenyc.backend.cpu import maths
from teenyc.backend.cpu.maths import FUNCTIONS

if TYPE_CHECKING:
    from conftest import Lab

TABLE = Path(maths.__file__).parent / "README.md"
ROW = re.compile(r"^\| (\w+) \| (f\d\d) \| (yes|no) \| ([\d.]+) \|", re.MULTILINE)


def published() -> dict[tuple[str, str, bool], float]:
    """The bounds of the table in the maths' README."""
    rows = ROW.findall(TABLE.read_text(encoding="utf-8"))
    return {(name, element, fma == "yes"): float(bound) for name, element, fma, bound in rows}


def test_the_table_has_every_function_and_no_bound_above_two_ulp() -> None:
    bounds = published()
    expected = {
        (name, e, fma) for name in FUNCTIONS for e in ("f32", "f64") for fma in (True, False)
    }
    assert bounds.keys() == expected
    assert max(bounds.values()) <= 2.0


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_within_the_published_bound(lab: Lab, name: str, element: str) -> None:
    arguments = lab.points(name, element, lab.samples)
    exact = lab.references(name, arguments)
    for fma in (True, False) if lab.has_fma else (False,):
        errors = lab.errors(lab.function(name, element, fma=fma)(arguments), exact)
        worst = int(np.argmax(errors))
        bound = published()[name, element, fma]
        assert errors[worst] <= bound, f"{name}({arguments[worst]!r}), {fma=}"


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 64])
def test_every_lane_count_gives_the_same_bits(lab: Lab, lanes: int) -> None:
    names = ["exp", "log", "sin", "erf", "tanh"]
    arguments = {name: lab.points(name, "f32", 300) for name in names}
    found = lab.natives([maths.define(n, lanes, "f32", fma=False) for n in names], modern=False)
    usual = lab.natives([maths.define(n, 32, "f32", fma=False) for n in names], modern=False)
    for name, some, other in zip(names, found, usual, strict=True):
        ours, theirs = some(arguments[name]), other(arguments[name])
        assert ours.tobytes() == theirs.tobytes(), name


def test_one_large_angle_does_not_change_its_neighbors(lab: Lab) -> None:
    sine = lab.function("sin", "f32", fma=False)
    angles = np.linspace(-3, 3, 32, dtype=np.float32)
    usual = sine(angles)
    for lane in (0, 13, 31):
        mixed = angles.copy()
        mixed[lane] = 3e38
        found = sine(mixed)
        assert lab.errors(found[[lane]], lab.references("sin", mixed[[lane]]))[0] <= 1.0
        assert np.array_equal(np.delete(found, lane), np.delete(usual, lane))


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_no_instruction_fuses_where_the_target_does_not(element: str) -> None:
    for name in FUNCTIONS:
        definition = maths.define(name, 8, element, fma=False)
        assert "llvm.fma" not in maths.module_text([definition], fma=False)


def test_special_values_are_exact(lab: Lab) -> None:
    inf, nan = float("inf"), float("nan")
    cases = {
        "exp": [(0.0, 1.0), (inf, inf), (-inf, 0.0)],
        "log": [(0.0, -inf), (-0.0, -inf), (-1.0, nan), (inf, inf), (1.0, 0.0)],
        "log2": [
            (0.0, -inf),
            (-0.0, -inf),
            (-1.0, nan),
            (inf, inf),
            (8.0, 3.0),
            (2.0**-1074, -1074),
        ],
        "sin": [(0.0, 0.0), (-0.0, -0.0), (inf, nan), (2.0**-1074, 2.0**-1074)],
        "cos": [(0.0, 1.0), (-inf, nan)],
        "tanh": [(0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0), (2.0**-1074, 2.0**-1074)],
        "rsqrt": [(0.0, inf), (-0.0, -inf), (inf, 0.0), (-1.0, nan), (4.0, 0.5)],
        "sqrt": [(0.0, 0.0), (-0.0, -0.0), (inf, inf), (-1.0, nan), (4.0, 2.0)],
        "sigmoid": [(0.0, 0.5), (-0.0, 0.5), (inf, 1.0), (-inf, 0.0)],
        "erf": [(0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0)],
        "exp2": [(3.0, 8.0), (-1074.0, 2.0**-1074), (1023.0, 2.0**1023), (1024.0, inf)],
    }
    for name, pairs in cases.items():
        given, expected = np.array([*pairs, (nan, nan)]).T.copy()
        for fma in (True, False) if lab.has_fma else (False,):
            found = lab.function(name, "f64", fma=fma)(given)
            assert np.array_equal(found, expected, equal_nan=True), (name, found)
            kept = ~np.isnan(expected)
            assert np.array_equal(np.signbit(found[kept]), np.signbit(expected[kept])), name


def test_a_wrong_result_is_seen(lab: Lab) -> None:
    one = np.array([1.0], dtype=np.float32)
    exact = lab.references("exp", one)
    right = np.array([np.e], dtype=np.float32)
    assert lab.errors(right, exact)[0] < 0.5
    assert 2 < lab.errors(right * np.float32(1 + 3 * 2**-23), exact)[0] < 5
    assert lab.errors(-right, exact)[0] == np.inf
    assert lab.errors(right * np.float32(np.nan), exact)[0] == np.inf
