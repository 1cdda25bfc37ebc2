"""Floats: what is correctly rounded, NaN, signed zeros, functions and their errors."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from semantic_cases import (
    DTYPES,
    bf16,
    bits,
    each,
    f16,
    f32,
    f64,
    i1,
    nearest,
    program,
    refused,
    samples,
    sentence,
    values,
)

Cases = Any
NAN, INF = np.nan, np.inf


def _root(name: str, x: float) -> float:
    """The square root, of integers, rounded by hand."""
    scaled = Fraction(float(x))
    shift = 2 * (1200 if name == "f64" else 200)
    whole = mpmath.libmp.isqrt(int(scaled * 2**shift * 2**140)) if scaled else 0
    return nearest(name, Fraction(int(whole), 2 ** (shift // 2 + 70)))


@sentence("S301")
def sums_and_products_are_correctly_rounded() -> Cases:
    for name in ("f16", "bf16", "f32", "f64"):
        x, y = samples(name, seed=1), samples(name, seed=2)
        wanted = {
            f"x {sign} y": each(name, function, x, y)
            for sign, function in (("+", operator.add), ("-", operator.sub), ("*", operator.mul))
        }
        # A zero that comes of nothing but zeros and roundings has IEEE's sign.
        zero = wanted["x * y"] == 0
        sign = np.signbit(x) ^ np.signbit(y)
        wanted["x * y"][zero & sign] = -0.0
        yield values(wanted, x=x, y=y)


@sentence("S302")
def infinities_and_nan_follow_ieee() -> Cases:
    x, y = f32(INF, INF, NAN, 0.0, -INF, 3e38), f32(INF, 1, 1, INF, 2, 3e38)
    table = {
        "x + y": f32(INF, INF, NAN, INF, -INF, INF),
        "x - y": f32(NAN, INF, NAN, -INF, -INF, 0),
    }
    yield values({**table, "x * y": f32(INF, INF, NAN, NAN, -INF, INF)}, x=x, y=y)
    yield values({"x + y": f64(INF, NAN)}, x=f64(1e308, NAN), y=f64(1e308, 1))
    yield values({"x * y": f16(INF, -INF)}, x=f16(60000, -300), y=f16(2, 300))


@sentence("S303")
def subnormal_numbers_are_kept() -> Cases:
    tiny = bits("f32", 1, 0x00400000, 0x80000001)
    yield values({"x + 0.0": tiny, "x * 1.0": tiny, "tl.abs(x)": np.abs(tiny)}, x=tiny)
    yield values({"x * 0.5": bits("f32", 0x00400000)}, x=bits("f32", 0x00800000))
    yield values({"x > 0.0": i1(1, 1, 0), "x == 0.0": i1(0, 0, 0)}, x=tiny)
    yield values({"x.to(f64)": f64(2.0**-149, 2.0**-127, -(2.0**-149))}, x=tiny)
    yield values({"tl.div_rn(x, y)": bits("f32", 0x00200000)}, x=bits("f32", 0x00400000), y=f32(2))
    yield values({"tl.sqrt_rn(x)": np.sqrt(tiny[:2])}, x=tiny[:2])
    yield values({"x + x": bits("f16", 2)}, x=bits("f16", 1))


@sentence("S304")
def fma_rounds_once() -> Cases:
    for name in ("f16", "bf16", "f32", "f64"):
        x, y = samples(name, 64, seed=3), samples(name, 64, seed=4)
        z = -(x.astype(np.float64) * y.astype(np.float64)).astype(DTYPES[name])
        live = np.isfinite(z.astype(np.float64)) & (z != 0)
        x, y, z = x[live], y[live], z[live]
        wanted = each(name, lambda a, b, c: a * b + c, x, y, z)
        live = wanted != 0  # an exact zero has a sign, which `each` does not know
        yield values({"tl.fma(x, y, z)": wanted[live]}, x=x[live], y=y[live], z=z[live])


@sentence("S305")
def div_rn_and_sqrt_rn_are_correctly_rounded() -> Cases:
    for name in ("f32", "f64"):
        x, y = samples(name, seed=5), samples(name, seed=6)
        live = (x != 0) & (y != 0)
        x, y = x[live], y[live]
        exact = each(name, lambda a, b: a / b, x, y)
        live = exact != 0
        yield values({"tl.div_rn(x, y)": exact[live]}, x=x[live], y=y[live])
        root = np.array([_root(name, value) for value in np.abs(x)]).astype(DTYPES[name])
        yield values({"tl.sqrt_rn(x)": root}, x=np.abs(x))
    yield values({"tl.div_rn(x, y)": f32(INF, -INF, NAN)}, x=f32(1, 1, 0), y=f32(0.0, -0.0, 0))


@sentence("S306")
def f64_divides_and_roots_exactly() -> Cases:
    x, y = samples("f64", seed=7), samples("f64", seed=8)
    live = (x != 0) & (y != 0)
    x, y = np.abs(x[live]), y[live]
    exact = each("f64", lambda a, b: a / b, x, y)
    live = exact != 0
    yield values({"x / y": exact[live]}, x=x[live], y=y[live])
    yield values({"tl.sqrt(x)": np.array([_root("f64", v) for v in x])}, x=x)


@sentence("S307")
def f32_division_is_within_2_ulp() -> Cases:
    x, y = samples("f32", 1024, seed=9), samples("f32", 1024, seed=10)
    exact = x.astype(np.float64) / np.where(y == 0, 1, y).astype(np.float64)
    size = np.abs(y.astype(np.float64))
    live = (size > 2.0**-126) & (size < 2.0**126) & (np.abs(exact) > 2.0**-126)
    live &= (np.abs(exact) < 2.0**127) & (np.abs(x) > 2.0**-120)
    x, y = x[live], y[live]
    yield values({"x / y": each("f32", lambda a, b: a / b, x, y)}, x=x, y=y, ulp=2)


@sentence("S308")
def f32_division_is_exact_on_a_cpu() -> Cases:
    x, y = samples("f32", 256, seed=11), samples("f32", 256, seed=12)
    exact = each("f32", lambda a, b: a / b, x, np.where(y == 0, np.float32(1), y))
    live = (y != 0) & (exact != 0)
    wanted = exact[live][:128]
    body = "i = tl.arange(0, 128)\ntl.store(q_ptr + i, tl.load(x_ptr + i) / tl.load(y_ptr + i))"
    x, y = x[live][:128], y[live][:128]
    assert wanted.size == 128
    yield program(body, x=x, y=y, out={"q": wanted}, targets=("interpreter", "cpu"))


@sentence("S309")
def narrow_floats_divide_as_f32() -> Cases:
    yield values({"x / y": f32(1 / 3, 0.5)}, x=f16(1, 1), y=f16(3, 2), ulp=2)
    yield values({"x / 3": f32(1 / 3)}, x=bf16(1), ulp=2)
    yield values({"x / y": f32(0.5)}, x=f16(1), y=bf16(2), ulp=2)


@sentence("S310")
def the_float_remainder_has_the_sign_of_the_dividend() -> Cases:
    x, y = f32(7.5, -7.5, 7.5, -7.5, 6), f32(2, 2, -2, -2, 3)
    yield values({"x % y": f32(1.5, -1.5, 1.5, -1.5, 0)}, x=x, y=y)
    yield values({"x % y": f64(0.5, -0.5)}, x=f64(10.5, -10.5), y=f64(2, -2))
    yield values({"x % y": f32(NAN, NAN, NAN)}, x=f32(1, INF, NAN), y=f32(0, 2, 1))


@sentence("S311")
def negation_and_abs_touch_the_sign_alone() -> Cases:
    for make in (f16, bf16, f32, f64):
        x = make(0.0, -0.0, 1.5, -INF)
        yield values({"-x": make(-0.0, 0.0, -1.5, INF), "tl.abs(x)": make(0, 0, 1.5, INF)}, x=x)
    yield values({"tl.abs(x)": f32(NAN), "-x": f32(NAN)}, x=f32(NAN))


@sentence("S312")
def nan_compares_unequal_to_all() -> Cases:
    x, y = f32(NAN, 1, NAN, 0.0), f32(1, NAN, NAN, -0.0)
    table = {"x < y": i1(0, 0, 0, 0), "x >= y": i1(0, 0, 0, 1), "x == y": i1(0, 0, 0, 1)}
    yield values({**table, "x != y": i1(1, 1, 1, 0), "x > y": i1(0, 0, 0, 0)}, x=x, y=y)
    yield values({"x != x": i1(1, 0), "x <= x": i1(0, 1)}, x=f16(NAN, 1))


@sentence("S313")
def a_number_wins_over_nan() -> Cases:
    for make in (f16, bf16, f32, f64):
        x, y = make(NAN, 1, NAN, 2), make(1, NAN, NAN, 3)
        table = {"tl.maximum(x, y)": make(1, 1, NAN, 3), "tl.minimum(x, y)": make(1, 1, NAN, 2)}
        yield values(table, x=x, y=y)


@sentence("S314")
def propagate_nan_keeps_nan() -> Cases:
    for make in (f16, f32):
        x, y = make(NAN, 1, NAN, 2), make(1, NAN, NAN, 3)
        rest = "(x, y, propagate_nan=tl.PropagateNan.ALL)"
        table = {f"tl.maximum{rest}": make(NAN, NAN, NAN, 3)}
        yield values({**table, f"tl.minimum{rest}": make(NAN, NAN, NAN, 2)}, x=x, y=y)


@sentence("S315")
def minus_zero_is_less_than_zero_in_extremes() -> Cases:
    for make in (f16, bf16, f32, f64):
        x, y = make(0.0, -0.0, -0.0), make(-0.0, 0.0, -0.0)
        table = {
            "tl.maximum(x, y)": make(0.0, 0.0, -0.0),
            "tl.minimum(x, y)": make(-0.0, -0.0, -0.0),
        }
        yield values(table, x=x, y=y)


@sentence("S316")
def clamp_is_minimum_of_maximum() -> Cases:
    x = f32(-2, 0.5, 9, NAN, INF)
    keep = "tl.clamp(x, 0.0, 1.0, propagate_nan=tl.PropagateNan.ALL)"
    yield values({"tl.clamp(x, 0.0, 1.0)": f32(0, 0.5, 1, 0, 1), keep: f32(0, 0.5, 1, NAN, 1)}, x=x)


@sentence("S317")
def where_reads_only_what_it_picks() -> Cases:
    x, y = f32(1, NAN, INF, 4), f32(NAN, 2, 3, INF)
    yield values({"tl.where(c, x, y)": f32(1, 2, 3, 4)}, c=i1(1, 0, 0, 1), x=x, y=y)
    yield values({"tl.where(c, x, y)": bits("f32", 1, 0x7F800000)},
                 c=i1(1, 0), x=bits("f32", 1, 2), y=bits("f32", 3, 0x7F800000))  # fmt: skip


@sentence("S318")
def floor_and_ceil_are_exact() -> Cases:
    x = f32(1.5, -1.5, -0.5, 0.5, 2**30, INF, NAN)
    floor, ceil = f32(1, -2, -1, 0, 2**30, INF, NAN), f32(2, -1, -0.0, 1, 2**30, INF, NAN)
    yield values({"tl.floor(x)": floor, "tl.ceil(x)": ceil}, x=x)


# Functions of f32 with the bounds of their errors, in units in the last place, and where they hold.
FUNCTIONS: tuple[tuple[str, Any, tuple[float, float], float], ...] = (
    ("exp", mpmath.exp, (-20, 20), 32), ("exp2", lambda x: mpmath.mpf(2) ** x, (-20, 20), 2),
    ("log", mpmath.log, (2, 1e4), 3), ("log2", lambda x: mpmath.log(x, 2), (2, 1e4), 3),
    ("sin", mpmath.sin, (-100, 100), 2), ("cos", mpmath.cos, (-100, 100), 2),
    ("sqrt", mpmath.sqrt, (1e-6, 1e4), 2), ("rsqrt", lambda x: 1 / mpmath.sqrt(x), (1e-6, 1e4), 2),
    ("erf", mpmath.erf, (-4, 4), 2),
)  # fmt: skip


@sentence("S319")
def functions_keep_their_bounds() -> Cases:
    with mpmath.workprec(120):
        for name, function, (low, high), ulp in FUNCTIONS:
            x = np.random.default_rng(13).uniform(low, high, 256).astype(np.float32)
            exact = [mpmath.nstr(function(mpmath.mpf(float(v))), 30) for v in x]
            wanted = np.array([float(text) for text in exact]).astype(np.float32)
            yield values({f"tl.{name}(x)": wanted}, x=x, ulp=ulp + 0.5)


@sentence("S320")
def functions_on_a_cpu_keep_2_ulp() -> Cases:
    with mpmath.workprec(120):
        for name, function, (low, high), _ in FUNCTIONS:
            x = np.random.default_rng(14).uniform(low, high, 256).astype(np.float32)
            exact = [mpmath.nstr(function(mpmath.mpf(float(v))), 30) for v in x]
            wanted = np.array([float(text) for text in exact]).astype(np.float32)
            body = f"i = tl.arange(0, 256)\ntl.store(y_ptr + i, tl.{name}(tl.load(x_ptr + i)))"
            yield program(body, x=x, out={"y": wanted}, ulp=2.5, targets=("interpreter", "cpu"))


@sentence("S321")
def functions_at_the_edges() -> Cases:
    x, wanted = f32(-INF, INF, NAN, 0), f32(0, INF, NAN, 1)
    yield values({"tl.exp(x)": wanted, "tl.exp2(x)": wanted}, x=x)
    x, wanted = f32(0, -1, INF, NAN, 1), f32(-INF, NAN, INF, NAN, 0)
    yield values({"tl.log(x)": wanted, "tl.log2(x)": wanted}, x=x)
    x, wanted = f32(0.0, -0.0, -1, INF), f32(0.0, -0.0, NAN, INF)
    yield values({"tl.sqrt(x)": wanted, "tl.sqrt_rn(x)": wanted}, x=x)
    yield values({"tl.rsqrt(x)": f32(INF, 0, NAN)}, x=f32(0, INF, -1))
    yield values({"tl.sigmoid(x)": f32(0, 1, 0.5, NAN)}, x=f32(-INF, INF, 0, NAN))
    x = f32(20, 100, -100, INF, -INF, 0.0, -0.0, NAN)
    yield values({"tl.math.tanh(x)": f32(1, 1, -1, 1, -1, 0.0, -0.0, NAN)}, x=x)
    yield values({"tl.erf(x)": f32(-1, 1, 0, NAN)}, x=f32(-INF, INF, 0, NAN))


@sentence("S322")
def functions_of_narrow_floats_are_refused() -> Cases:
    yield refused("E0305", "tl.exp(x)", at="x", x="f16")
    yield refused("E0305", "tl.sqrt(x)", at="x", x="bf16")
    yield refused("E0305", "tl.log(x)", at="x", x="i32")


_PAIR = {"x": f32(1 + 2**-12, 3), "y": f32(1 + 2**-12, 5), "z": f32(-1 - 2**-11, 1)}


@sentence("S323")
def without_fusion_each_operation_rounds() -> Cases:
    yield values({"x * y + z": f32(0, 16), "z + x * y": f32(0, 16)}, **_PAIR)
    yield values({"x * y - z": f32(2 + 2**-10, 14)}, **_PAIR)


def _either(found: Any) -> bool:
    return bool(found[1] == 16 and found[0] in (0, 2.0**-24))


@sentence("S324")
def with_fusion_one_rounding_may_go() -> Cases:
    body = """
i = tl.arange(0, 2)
x = tl.load(x_ptr + i)
y = tl.load(y_ptr + i)
z = tl.load(z_ptr + i)
tl.store(r_ptr + i, x * y + z)"""

    yield program(body, **_PAIR, out={"r": f32(0, 16)}, checks={"r": _either}, fusion=True)
