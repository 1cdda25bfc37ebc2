"""Minimax polynomials of the CPU back end's vector maths, by the Remez exchange in mpmath.

`python benchmarks/fit_maths.py` prints the module `teenyc/backend/cpu/maths/coefficients.py`. Each
row states the quantity that the polynomial stands for, its interval and the weight of its error;
the largest weighted error that remains (after the coefficients are rounded) is printed beside it.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

mpmath: Any = importlib.import_module("mpmath")  # it has no stubs
mp, mpf = mpmath.mp, mpmath.mpf
mp.dps = 50
Real = Any
Function = Callable[[Real], Real]
GRID = 600


class Fit(NamedTuple):
    """One polynomial: `terms` coefficients for `function` on [low, high], error times `weight`."""

    name: str
    formula: str
    function: Function
    weight: Function
    low: float
    high: float
    terms: dict[str, int]


def _rounded(value: Real, element: str) -> float:
    code = {"f32": "f", "f64": "d"}[element]
    (found,) = struct.unpack(code, struct.pack(code, float(value)))
    return float(found)


def _horner(coefficients: list[Real], x: Real) -> Real:
    found = mpf(0)
    for coefficient in reversed(coefficients):
        found = found * x + coefficient
    return found


def _grid(low: Real, high: Real, count: int) -> list[Real]:
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * (i + mpf("0.5")) / count) for i in range(count)]


def _extrema(errors: list[Real], count: int) -> list[int]:
    """Indices of the largest error in each run of one sign, the `count` largest in a row."""
    found: list[int] = []
    for i, error in enumerate(errors):
        if found and (errors[found[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return found


def remez(fit: Fit, terms: int) -> list[Real]:
    """The minimax coefficients, lowest power first."""
    low, high = mpf(fit.low), mpf(fit.high)
    points = _grid(low, high, GRID)
    values = [fit.function(x) for x in points]
    weights = [fit.weight(x) for x in points]
    nodes = _grid(mpf(0), mpf(GRID - 1), terms + 1)
    chosen = [int(mp.nint(node)) for node in nodes]
    coefficients: list[Real] = []
    for _ in range(30):
        matrix = mp.matrix(terms + 1, terms + 1)
        right = mp.matrix(terms + 1, 1)
        for row, i in enumerate(chosen):
            for power in range(terms):
                matrix[row, power] = points[i] ** power
            matrix[row, terms] = (-1) ** row / weights[i]
            right[row] = values[i]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[power] for power in range(terms)]
        errors = [
            weight * (_horner(coefficients, x) - value)
            for x, value, weight in zip(points, values, weights, strict=True)
        ]
        found = _extrema(errors, terms + 1)
        if len(found) < terms + 1 or found == chosen:
            break
        chosen = found
    return coefficients


def largest_error(fit: Fit, coefficients: list[float]) -> Real:
    """The largest weighted error of the coefficients on a dense grid."""
    points = _grid(mpf(fit.low), mpf(fit.high), GRID)
    return max(
        abs(fit.weight(x) * (_horner([mpf(c) for c in coefficients], x) - fit.function(x)))
        for x in points
    )


def _series(function: Function, taken: list[Real]) -> Function:
    """`function` less the first terms of its series, divided by the power that follows them.

    More digits make up for those that cancel near zero.
    """

    def rest(x: Real) -> Real:
        with mp.workdps(120):
            return (function(x) - _horner(taken, x)) / x ** len(taken)

    return rest


def _in_square(function: Function) -> Function:
    return lambda z: function(mp.sqrt(z))


def _log_ratio(z: Real) -> Real:
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) / s - 2) / z


HALF_LN2 = 0.34657359027997264
QUARTER_PI_SQUARED = 0.6168502750680849
# Weights that vanish would leave the exchange without a solution.
FLOOR = 0.02

FITS = (
    Fit(
        "EXP",
        "(exp(r) - 1 - r) / r**2 on |r| <= ln(2) / 2; error relative to exp(r) - 1",
        _series(mp.exp, [1, 1]),
        lambda r: abs(r) + FLOOR,
        -HALF_LN2 * 1.01,
        HALF_LN2 * 1.01,
        {"f32": 6, "f64": 11},
    ),
    Fit(
        "EXP2",
        "(2**r - 1) / r on |r| <= 1/2; error relative to 2**r",
        _series(lambda r: mp.power(2, r), [1]),
        lambda r: (abs(r) + FLOOR) / mp.power(2, r),
        -0.505,
        0.505,
        {"f32": 6, "f64": 12},
    ),
    Fit(
        "LOG",
        "(log(1 + f) - f + f**2 / 2) / f**3, sqrt(1/2) <= 1 + f <= sqrt(2); relative to log(1 + f)",
        _series(lambda f: mp.log(1 + f), [0, 1, -mpf(1) / 2]),
        lambda f: f**2 + FLOOR**2,
        -0.2929,
        0.41422,
        {"f32": 9},
    ),
    Fit(
        "LOG_RATIO",
        "(log((1 + s) / (1 - s)) - 2 s) / s**3 as a function of z = s**2, |s| <= 0.1716",
        _log_ratio,
        lambda z: z,
        1e-12,
        0.02945,
        {"f64": 7},
    ),
    Fit(
        "SIN",
        "(sin(r) - r) / r**3 as a function of r**2, |r| <= pi/4; error relative to sin(r)",
        _in_square(_series(mp.sin, [0, 1, 0])),
        lambda z: z,
        1e-12,
        QUARTER_PI_SQUARED * 1.05,
        {"f32": 3, "f64": 6},
    ),
    Fit(
        "COS",
        "(cos(r) - 1 + r**2 / 2) / r**4 as a function of r**2, |r| <= pi/4; absolute error",
        _in_square(_series(mp.cos, [1, 0, -mpf(1) / 2, 0])),
        lambda z: z**2,
        1e-12,
        QUARTER_PI_SQUARED * 1.05,
        {"f32": 3, "f64": 6},
    ),
    Fit(
        "TANH",
        "(tanh(x) - x) / x**3 as a function of x**2, |x| <= 0.55; error relative to tanh(x)",
        _in_square(_series(mp.tanh, [0, 1, 0])),
        lambda z: z + FLOOR**2,
        1e-12,
        0.55**2,
        {"f32": 5, "f64": 12},
    ),
    Fit(
        "ERF",
        "erf(x) / x - 1 as a function of x**2, |x| <= 1; error relative to erf(x) / x",
        _in_square(lambda x: mp.erf(x) / x - 1),
        lambda z: 1,
        1e-12,
        1.0,
        {"f32": 8, "f64": 14},
    ),
    Fit(
        "LOG_ERFC",
        "log(erfc(1 + t)), 1 <= 1 + t <= 4; error relative to erf",
        lambda t: mp.log(mp.erfc(1 + t)),
        lambda t: mp.erfc(1 + t),
        0.0,
        3.0,
        {"f32": 10},
    ),
    Fit(
        "LOG_ERFC",
        "log(erfc(1 + t)), 1 <= 1 + t <= 6; error relative to erf",
        lambda t: mp.log(mp.erfc(1 + t)),
        lambda t: mp.erfc(1 + t),
        0.0,
        5.0,
        {"f64": 22},
    ),
)


def main() -> None:
    """Print the module of coefficients."""
    print('"""Minimax coefficients, lowest power first: own Remez fits in 50-digit arithmetic.')
    print()
    print('Written by benchmarks/fit_maths.py; do not edit.\n"""\n')
    print("from __future__ import annotations\n")
    print("from collections.abc import Mapping")
    tables: dict[str, list[str]] = {}
    for fit in FITS:
        for element, terms in fit.terms.items():
            coefficients = [_rounded(c, element) for c in remez(fit, terms)]
            error = mp.log(largest_error(fit, coefficients), 2)
            rows = "".join(f"        {c!r},\n" for c in coefficients)
            lines = tables.setdefault(fit.name, [])
            lines.append(f"    # {fit.formula}:\n    # 2**{float(error):.1f}.\n")
            lines.append(f'    "{element}": (\n{rows}    ),\n')
    for name, lines in tables.items():
        print(f"\n{name}: Mapping[str, tuple[float, ...]] = {{\n{''.join(lines)}}}")


if __name__ == "__main__":
    main()
