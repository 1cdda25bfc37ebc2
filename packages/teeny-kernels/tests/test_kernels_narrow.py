"""The short formulas for f16 and bf16, over every number of both dtypes."""

from __future__ import annotations

from math import erfc
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import teeny_kernels as tk

WORST = 0.52  # ulps: half of one is the rounding
UNARY = {
    "sinh": (tk.sinh, np.sinh),
    "cosh": (tk.cosh, np.cosh),
    "asinh": (tk.asinh, np.arcsinh),
    "acosh": (tk.acosh, np.arccosh),
    "atan": (tk.atan, np.arctan),
    "sqrt": (tk.sqrt, np.sqrt),
}
DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


def all_numbers(dtype: str) -> Any:
    return np.arange(2**16, dtype=np.uint16).view(DTYPES[dtype])


def ulps(found: Any, exact: np.ndarray, dtype: str) -> float:
    """The largest error in spacings of the dtype at the exact result; NaN and infinities equal."""
    info: Any = ml_dtypes.finfo(DTYPES[dtype])  # type: ignore[no-untyped-call]
    got = found.astype(np.float64)
    assert np.array_equal(np.isnan(got), np.isnan(exact))
    with np.errstate(all="ignore"):
        rounded = exact.astype(DTYPES[dtype]).astype(np.float64)
        spacing = 2.0 ** np.maximum(np.floor(np.log2(np.abs(exact))), info.minexp) * float(info.eps)
        error = np.abs(got - exact) / spacing
    same = (got == rounded) | np.isnan(exact)  # infinities too
    assert not np.isnan(error[~same]).any()
    zero = (exact == 0.0) & ~np.isnan(got)
    assert np.array_equal(np.signbit(got[zero]), np.signbit(exact[zero]))
    return float(np.max(np.where(same, 0.0, error)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_every_number_is_right_to_half_a_spacing(name: str, dtype: str) -> None:
    ours, exact = UNARY[name]
    x = all_numbers(dtype)
    with np.errstate(all="ignore"):
        assert ulps(ours(x), exact(x.astype(np.float64)), dtype) <= WORST


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_every_number_are_right_to_half_a_spacing(dtype: str) -> None:
    x = all_numbers(dtype)
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 7.0, 0.1, 33.25, -17.0, 1024.0]
    numbers += [np.inf, -np.inf, np.nan, 1000.5]
    near = np.linspace(0.9, 1.1, 2**16).astype(DTYPES[dtype])
    for base in (x, near):
        for number in numbers:
            y = np.full(base.shape, number, DTYPES[dtype])
            with np.errstate(all="ignore"):
                exact = np.power(base.astype(np.float64), y.astype(np.float64))
                assert ulps(tk.pow(base, y), exact, dtype) <= WORST, number
    rng = np.random.default_rng(0)
    y = rng.permutation(x)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
    assert ulps(tk.pow(x, y), exact, dtype) <= WORST


@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_of_every_number_is_as_near_as_its_formula_says(dtype: str) -> None:
    x = all_numbers(dtype)
    with np.errstate(all="ignore"):
        x = x[np.abs(x.astype(np.float64)) < 100.0]
    wide = x.astype(np.float64)
    share = 0.5 * np.array([erfc(-z * 0.5**0.5) for z in wide])
    info: Any = ml_dtypes.finfo(DTYPES[dtype])  # type: ignore[no-untyped-call]

    def error(found: Any, exact: np.ndarray) -> np.ndarray:
        rounding = np.maximum(0.51 * info.eps * np.abs(exact), float(info.smallest_subnormal))
        return np.asarray(np.abs(found.astype(np.float64) - exact) - rounding)

    own = error(tk.gelu(x), wide * share)
    assert np.all(own <= 2e-7 * np.abs(wide))
    shown = (wide > -9.0) & (wide < 0.0)
    assert np.all(own[shown] <= 0.005 * np.abs(wide * share)[shown])
    slope = share + wide * np.exp(-0.5 * wide * wide) / (2 * np.pi) ** 0.5
    assert np.all(error(tk.gelu_backward(np.ones_like(x), x), slope) <= 4e-7)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*UNARY, "pow"])
def test_every_number_is_right_on_the_gpu(name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    x = all_numbers(dtype)
    kind = torch.float16 if dtype == "f16" else torch.bfloat16

    def there(own: Any) -> Any:
        return torch.from_numpy(own.view(np.int16).copy()).view(kind).cuda()

    others = [np.random.default_rng(0).permutation(x)] if name == "pow" else []
    found = getattr(tk, name)(there(x), *map(there, others))
    got = found.view(torch.int16).cpu().numpy().view(DTYPES[dtype])
    reference: Any = np.power if name == "pow" else UNARY[name][1]
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64), *(own.astype(np.float64) for own in others))
    assert ulps(got, exact, dtype) <= (0.6 if name == "pow" else WORST)
