"""Functions of mathematics in the interpreter: mpmath, exact arithmetic and known values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest

from teeny_macros.diagnostics import CompileError
from teenyc.ops import special
from teenyc.ops.libdevice import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: dict[str, Any] = {
    "i32": np.int32, "i64": np.int64, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
RNG = np.random.default_rng(7)


def evaluate(
    kernel: Callable[..., Any], expression: str, inputs: dict[str, tuple[str, Any]], result: str
) -> Any:
    """`expression` of the loaded inputs, stored as `result`; the inputs have 2**n elements."""
    size = max(np.size(values) for _, values in inputs.values())
    params = [f"{name}_ptr: Ptr[{dtype}]" for name, (dtype, _) in inputs.items()]
    lines = [f"o = tl.arange(0, {size})"]
    lines += [f"{name} = tl.load({name}_ptr + o)" for name in inputs]
    lines.append(f"tl.store(out_ptr + o, {expression})")
    made = kernel(", ".join([*params, f"out_ptr: Ptr[{result}]"]), "\n".join(lines))
    out = np.zeros(size, KINDS[result])
    arrays = [np.asarray(values).astype(KINDS[dtype]) for dtype, values in inputs.values()]
    made.program().launch((1, 1, 1), [*arrays, out])
    return out


def _wrapped(function: Any) -> Callable[..., float]:
    """A formula of mpmath with 30 digits, of floats."""

    def wrapped(*values: Any) -> float:
        with mpmath.workdps(30):
            return float(function(*(mpmath.mpf(float(value)) for value in values)))

    return wrapped


# --- transcendental functions ---------------------------------------------------------------------

m: Any = mpmath
FORMULAS: dict[str, tuple[Any, float, float]] = {
    "tl.sin": (m.sin, -50, 50), "tl.cos": (m.cos, -50, 50), "tl.erf": (m.erf, -3, 3),
    "tl.exp": (m.exp, -20, 20), "tl.exp2": (lambda x: m.mpf(2) ** x, -20, 20),
    "tl.log": (m.log, 0.01, 100), "tl.log2": (lambda x: m.log(x, 2), 2, 100),
    "tl.rsqrt": (lambda x: 1 / m.sqrt(x), 0.01, 100), "tl.floor": (m.floor, -9, 9),
    "tl.ceil": (m.ceil, -9, 9), "tl.sqrt_rn": (m.sqrt, 0, 100),
    "tl.math.acos": (m.acos, -1, 1), "tl.math.acosh": (m.acosh, 1, 50),
    "tl.math.asin": (m.asin, -1, 1), "tl.math.asinh": (m.asinh, -50, 50),
    "tl.math.atan": (m.atan, -50, 50), "tl.math.atanh": (m.atanh, -1, 1),
    "tl.math.cbrt": (lambda x: m.sign(x) * m.cbrt(abs(x)), -50, 50),
    "tl.math.cosh": (m.cosh, -9, 9), "tl.math.sinh": (m.sinh, -9, 9),
    "tl.math.cospi": (m.cospi, -9, 9), "tl.math.sinpi": (m.sinpi, -9, 9),
    "tl.math.cyl_bessel_i0": (lambda x: m.besseli(0, x), -20, 20),
    "tl.math.cyl_bessel_i1": (lambda x: m.besseli(1, x), -20, 20),
    "tl.math.erfc": (m.erfc, -3, 9), "tl.math.erfinv": (m.erfinv, -1, 1),
    "tl.math.erfcinv": (lambda x: m.erfinv(1 - x), 0.1, 1.9),
    "tl.math.erfcx": (lambda x: m.exp(x * x) * m.erfc(x), -4, 30),
    "tl.math.exp10": (lambda x: m.mpf(10) ** x, -9, 9), "tl.math.expm1": (m.expm1, -1, 1),
    "tl.math.j0": (lambda x: m.besselj(0, x), 0, 2),
    "tl.math.j1": (lambda x: m.besselj(1, x), 0, 3),
    "tl.math.y0": (lambda x: m.bessely(0, x), 1, 3),
    "tl.math.y1": (lambda x: m.bessely(1, x), 3, 5),
    "tl.math.lgamma": (lambda x: m.log(abs(m.gamma(x))), 2.5, 30),
    "tl.math.tgamma": (m.gamma, 0.1, 20), "tl.math.log10": (m.log10, 2, 100),
    "tl.math.log1p": (m.log1p, -0.9, 9), "tl.math.tan": (m.tan, -1.5, 1.5),
    "tl.math.tanh": (m.tanh, -5, 5), "tl.math.normcdf": (m.ncdf, -5, 5),
    "tl.math.normcdfinv": (lambda x: m.sqrt(2) * m.erfinv(2 * x - 1), 0.05, 0.4),
    "tl.math.rcbrt": (lambda x: 1 / m.cbrt(x), 0.1, 50), "tl.math.trunc": (int, -9, 9),
    "tl.math.rint": (m.nint, -9, 9), "tl.math.nearbyint": (m.nint, -9, 9),
    "tl.math.logb": (lambda x: math.frexp(x)[1] - 1, 0.01, 100),
    "tl.math.fast_sinf": (m.sin, -3, 3), "tl.math.fast_cosf": (m.cos, -3, 3),
    "tl.math.fast_tanf": (m.tan, -1, 1), "tl.math.fast_expf": (m.exp, -9, 9),
    "tl.math.fast_exp10f": (lambda x: m.mpf(10) ** x, -9, 9),
    "tl.math.fast_logf": (m.log, 2, 9), "tl.math.fast_log2f": (lambda x: m.log(x, 2), 2, 9),
    "tl.math.fast_log10f": (m.log10, 2, 9),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_function_of_one_float_is_that_of_mpmath(
    name: str, dtype: str, kernel: Callable[..., Any]
) -> None:
    formula, low, high = FORMULAS[name]
    if name.partition("fast_")[1] and dtype == "f64":
        return
    x = RNG.uniform(low, high, 32).astype(KINDS[dtype])
    found = evaluate(kernel, f"{name}(x)", {"x": (dtype, x)}, dtype)
    wanted = np.asarray([_wrapped(formula)(value) for value in x])
    # f32 is rounded once, from float64 values that are good to 12 digits.
    tolerance = 2.0**-23 if dtype == "f32" else 1e-12
    assert (np.abs(found - wanted) <= tolerance * np.abs(wanted)).all()


SEVERAL: dict[str, tuple[int, Any]] = {
    "tl.math.atan2": (2, m.atan2), "tl.math.hypot": (2, m.hypot),
    "tl.math.rhypot": (2, lambda x, y: 1 / m.hypot(x, y)),
    "tl.math.norm3d": (3, lambda *x: m.norm(x)), "tl.math.rnorm3d": (3, lambda *x: 1 / m.norm(x)),
    "tl.math.norm4d": (4, lambda *x: m.norm(x)), "tl.math.rnorm4d": (4, lambda *x: 1 / m.norm(x)),
    "tl.math.pow": (2, lambda x, y: x**y), "tl.math.fmod": (2, lambda x, y: x - y * int(x / y)),
    "tl.math.remainder": (2, lambda x, y: x - y * m.nint(x / y)),
    "tl.math.copysign": (2, lambda x, y: x), "tl.math.fdim": (2, lambda x, y: max(x - y, 0)),
    "tl.fdiv": (2, lambda x, y: x / y), "tl.div_rn": (2, lambda x, y: x / y),
    "tl.math.fast_dividef": (2, lambda x, y: x / y), "tl.math.fast_powf": (2, lambda x, y: x**y),
    "tl.fma": (3, lambda x, y, z: x * y + z),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_a_function_of_several_floats_is_that_of_mpmath(
    name: str, kernel: Callable[..., Any]
) -> None:
    count, formula = SEVERAL[name]
    x = RNG.uniform(0.1, 5, (count, 32)).astype(np.float32)
    names = "xyzw"[:count]
    inputs = {name: ("f32", row) for name, row in zip(names, x, strict=True)}
    found = evaluate(kernel, f"{name}({', '.join(names)})", inputs, "f32")
    wanted = np.asarray([_wrapped(formula)(*values) for values in x.T])
    assert (np.abs(found - wanted) <= 2.0**-23 * np.abs(wanted)).all()


def test_bessel_functions_of_any_order(kernel: Callable[..., Any]) -> None:
    x = RNG.uniform(4, 9, 8).astype(np.float32)
    for name, formula in (("jn", m.besselj), ("yn", m.bessely)):
        for order in (0, 1, 3, 8):
            found = evaluate(kernel, f"tl.math.{name}({order}, x)", {"x": ("f32", x)}, "f32")
            wanted = [float(formula(order, m.mpf(float(v)))) for v in x]
            assert np.allclose(found, wanted, rtol=1e-6, atol=1e-8)
        found = evaluate(kernel, f"tl.math.{name}(-2, x)", {"x": ("f32", x)}, "f32")
        assert np.isnan(found).all()  # as CUDA's math API says


# --- special values -------------------------------------------------------------------------------


def test_tanh_never_overflows(kernel: Callable[..., Any]) -> None:
    x = np.asarray([20.0, 50.0, 100.0, -100.0, np.inf, -np.inf, 0.0, -0.0], np.float32)
    found = evaluate(kernel, "tl.math.tanh(x)", {"x": ("f32", x)}, "f32")
    assert list(found) == [1, 1, 1, -1, 1, -1, 0, 0]
    assert np.signbit(found[7])
    assert not np.signbit(found[6])


def test_small_powers_of_two_are_kept(kernel: Callable[..., Any]) -> None:
    x = np.asarray([-126, -127, -149, -150], np.float32)
    found = evaluate(kernel, "tl.exp2(x)", {"x": ("f32", x)}, "f32")
    assert list(found) == [2.0**-126, 2.0**-127, 2.0**-149, 0.0]


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("tl.math.isnan(x)", [0, 0, 0, 0, 0, 0, 1, 0]),
        ("tl.math.isinf(x)", [0, 0, 0, 0, 1, 1, 0, 0]),
        ("tl.math.finitef(x)", [1, 1, 1, 1, 0, 0, 0, 1]),
        ("tl.math.signbit(x)", [0, 1, 0, 1, 0, 1, 0, 1]),
        ("tl.math.ilogb(x)", [-(2**31), -(2**31), 1, 1, 2**31 - 1, 2**31 - 1, -(2**31), -1]),
        ("tl.math.llrint(x)", [0, 0, 2, -2, 2**63 - 1, -(2**63), -(2**63), 0]),
        ("tl.math.llround(x)", [0, 0, 3, -3, 2**63 - 1, -(2**63), -(2**63), -1]),
        ("tl.math.float2int_rz(x)", [0, 0, 2, -2, 2**31 - 1, -(2**31), 0, 0]),
        ("tl.math.float2int_ru(x)", [0, 0, 3, -2, 2**31 - 1, -(2**31), 0, 0]),
        ("tl.math.float2int_rd(x)", [0, 0, 2, -3, 2**31 - 1, -(2**31), 0, -1]),
        ("tl.math.float2uint_rn(x)", [0, 0, 2, 0, -1, 0, 0, 0]),
        ("tl.math.float_as_int(x)",
         [0, -(2**31), 0x40200000, 0x40200000 - 2**31, 0x7F800000, 0x7F800000 - 2**31, 0x7FC00000,
          0x3F000000 - 2**31]),
    ],
)  # fmt: skip
def test_questions_to_floats(
    expression: str, wanted: list[int], kernel: Callable[..., Any]
) -> None:
    x = np.asarray([0.0, -0.0, 2.5, -2.5, np.inf, -np.inf, np.nan, -0.5], np.float32)
    found = evaluate(kernel, expression, {"x": ("f32", x)}, "i64")
    assert list(found) == wanted


def test_rounding_to_integers(kernel: Callable[..., Any]) -> None:
    x = np.asarray([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 8388609.0, -np.inf], np.float32)
    rows = {
        "tl.math.round(x)": [1, 2, 3, -1, -2, 0, 8388609, -np.inf],
        "tl.math.rint(x)": [0, 2, 2, 0, -2, 0, 8388609, -np.inf],
        "tl.math.trunc(x)": [0, 1, 2, 0, -1, 0, 8388609, -np.inf],
        "tl.floor(x)": [0, 1, 2, -1, -2, 0, 8388609, -np.inf],
        "tl.ceil(x)": [1, 2, 3, 0, -1, 1, 8388609, -np.inf],
        "tl.math.saturatef(x)": [0.5, 1, 1, 0, 0, 0.49999997, 1, 0],
    }
    for expression, wanted in rows.items():
        found = evaluate(kernel, expression, {"x": ("f32", x)}, "f32")
        assert np.array_equal(found, np.asarray(wanted, np.float32)), expression


def test_floats_scaled_and_their_neighbours(kernel: Callable[..., Any]) -> None:
    x = RNG.standard_normal(16).astype(np.float32)
    n = RNG.integers(-160, 160, 16).astype(np.int32)
    with np.errstate(over="ignore", under="ignore"):
        wanted = np.ldexp(x, n)
    both = {"x": ("f32", x), "n": ("i32", n)}
    assert np.array_equal(evaluate(kernel, "tl.math.ldexp(x, n)", both, "f32"), wanted)
    assert np.array_equal(evaluate(kernel, "tl.math.scalbn(x, n)", both, "f32"), wanted)
    found = evaluate(kernel, "tl.math.nextafter(x, 9.0)", {"x": ("f32", x)}, "f32")
    assert np.array_equal(found, np.nextafter(x, np.float32(9)))


@pytest.mark.parametrize("dtype", ["i32", "i64", "u32", "u64"])
def test_functions_of_bits_are_those_of_python(dtype: str, kernel: Callable[..., Any]) -> None:
    info, bits = np.iinfo(KINDS[dtype]), int(dtype[1:])
    x, y = RNG.integers(info.min, info.max, (2, 16), dtype=KINDS[dtype])
    x[:4] = [0, 1, info.max, info.min]
    unsigned = [int(v) & ((1 << bits) - 1) for v in x]
    wide = "u64" if dtype[0] == "u" else "i64"
    rows = {
        "popc": [v.bit_count() for v in unsigned],
        "clz": [bits - v.bit_length() for v in unsigned],
        "ffs": [(v & -v).bit_length() for v in unsigned],
    }
    for name, wanted in rows.items():
        assert list(evaluate(kernel, f"tl.math.{name}(x)", {"x": (dtype, x)}, wide)) == wanted
    found = evaluate(kernel, "tl.math.brev(x)", {"x": (dtype, x)}, dtype)
    assert [int(v) & ((1 << bits) - 1) for v in found] == [
        int(f"{v:0{bits}b}"[::-1], 2) for v in unsigned
    ]
    both = {"x": (dtype, x), "y": (dtype, y)}
    upper = [(int(a) * int(b)) >> bits for a, b in zip(x, y, strict=True)]
    assert list(evaluate(kernel, "tl.math.mulhi(x, y)", both, wide)) == upper
    raw = [(a * (int(b) & ((1 << bits) - 1))) >> bits for a, b in zip(unsigned, y, strict=True)]
    found = evaluate(kernel, "tl.umulhi(x, y)", both, dtype)
    assert [int(v) & ((1 << bits) - 1) for v in found] == raw


def test_other_functions_of_integers(kernel: Callable[..., Any]) -> None:
    x, y = np.asarray([7, -7, 2**31 - 1, 0], np.int32), np.asarray([4, 4, 2**31 - 2, -1], np.int32)
    both = {"x": ("i32", x), "y": ("i32", y)}
    rows = {
        "hadd": [5, -2, 2**31 - 2, -1],
        "rhadd": [6, -1, 2**31 - 1, 0],
        "mul24": [28, -28, 2, 0],
    }
    for name, wanted in rows.items():
        assert list(evaluate(kernel, f"tl.math.{name}(x, y)", both, "i32")) == wanted, name
    found = evaluate(kernel, "tl.math.sad(x, y, tl.full((4,), 1, u32))", both, "i32")
    assert list(found) == [4, 12, 2, 2]
    pair = {"x": ("i32", np.full(4, 0x33221100)), "y": ("i32", np.full(4, 0x77665544))}
    found = evaluate(kernel, "tl.math.byte_perm(x, y, 0x7250)", pair, "i32")
    assert list(found) == [0x77225500] * 4


def test_halves_and_bits_of_f64(kernel: Callable[..., Any]) -> None:
    x = RNG.standard_normal(8)
    high = (x.view(np.int64) >> 32).astype(np.int32)
    low = x.view(np.int64).astype(np.int32)
    assert np.array_equal(
        evaluate(kernel, "tl.math.double2hiint(x)", {"x": ("f64", x)}, "i32"), high
    )
    assert np.array_equal(
        evaluate(kernel, "tl.math.double2loint(x)", {"x": ("f64", x)}, "i32"), low
    )
    both = {"x": ("i32", high), "y": ("i32", low)}
    assert np.array_equal(evaluate(kernel, "tl.math.hiloint2double(x, y)", both, "f64"), x)
    back = "tl.math.longlong_as_double(tl.math.double_as_longlong(x))"
    assert np.array_equal(evaluate(kernel, back, {"x": ("f64", x)}, "f64"), x)
    f = x.astype(np.float32)
    back = "tl.math.int_as_float(tl.math.float_as_int(x))"
    assert np.array_equal(evaluate(kernel, back, {"x": ("f32", f)}, "f32"), f)
    back = "tl.math.uint_as_float(tl.math.float_as_uint(x).to(u32, bitcast=True))"
    assert np.array_equal(evaluate(kernel, back, {"x": ("f32", f)}, "f32"), f)
    found = evaluate(kernel, "tl.math.rcp64h(x)", {"x": ("f64", x)}, "f64")
    assert not (found.view(np.int64) & 0xFFFFFFFF).any()
    assert np.allclose(found, 1 / x, rtol=1e-5)
    assert list(evaluate(kernel, "tl.math.isfinited(x / 0.0)", {"x": ("f64", x)}, "i32")) == [0] * 8


# --- rounding modes -------------------------------------------------------------------------------

EXACT: dict[str, tuple[int, Any]] = {
    "add": (2, lambda x, y: x + y), "sub": (2, lambda x, y: x - y),
    "mul": (2, lambda x, y: x * y), "div": (2, lambda x, y: x / y), "rcp": (1, lambda x: 1 / x),
    "fma": (3, lambda x, y, z: x * y + z), "sqrt": (1, None), "rsqrt": (1, None),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", [name for name in TABLE if name.rpartition("_")[0] in EXACT])
def test_a_rounding_mode_gives_the_neighbour_that_it_names(
    name: str, dtype: str, kernel: Callable[..., Any]
) -> None:
    operation, _, mode = name.rpartition("_")
    count, exact = EXACT[operation]
    if dtype not in {row.result for row in TABLE[name]}:
        return
    x = RNG.uniform(0.5, 3, (count, 16)).astype(KINDS[dtype])
    x[:, ::3] *= -1 if "sqrt" not in operation else 1
    names = "xyz"[:count]
    inputs = {letter: (dtype, row) for letter, row in zip(names, x, strict=True)}
    found = evaluate(kernel, f"tl.math.{name}({', '.join(names)})", inputs, dtype)
    for values, result in zip(x.T, found, strict=True):
        given = [Fraction(float(v)) for v in values]

        def error(candidate: Any, given: list[Fraction] = given) -> Fraction:
            """A number with the sign of candidate - wanted."""
            value = Fraction(float(candidate))
            if operation == "sqrt":
                return value * value - given[0]
            if operation == "rsqrt":
                return value * value * given[0] - 1
            return value - Fraction(exact(*given))

        below, above = np.nextafter(result, -np.inf), np.nextafter(result, np.inf)
        towards_zero = "rd" if result > 0 else "ru"
        match towards_zero if mode == "rz" else mode:
            case "rd":
                assert error(result) <= 0 < error(above)
            case "ru":
                assert error(below) < 0 <= error(result)
            case "rn":
                assert error(below) < 0 < error(above)
                assert abs(error(result)) <= max(abs(error(below)), abs(error(above)))


def test_directed_results_at_the_ends_of_the_range(kernel: Callable[..., Any]) -> None:
    big, tiny = 3.0e38, 1e-45
    both = {"x": ("f32", [big, -big, tiny, 0.0]), "y": ("f32", [big, big, 0.25, -1.0])}
    largest = float(np.finfo(np.float32).max)
    rows = {
        "mul_rn": [np.inf, -np.inf, 0.0, -0.0], "mul_rz": [largest, -largest, 0.0, -0.0],
        "mul_rd": [largest, -np.inf, 0.0, -0.0],
        "mul_ru": [np.inf, -largest, float(np.float32(tiny)), -0.0],
    }  # fmt: skip
    for name, wanted in rows.items():
        found = evaluate(kernel, f"tl.math.{name}(x, y)", both, "f32")
        assert list(found) == wanted, name
        assert np.signbit(found[3])
    zero = {"x": ("f32", [1.0, -0.0, 0.0, 1.0]), "y": ("f32", [-1.0, -0.0, -0.0, -1.0])}
    found = evaluate(kernel, "tl.math.add_rd(x, y)", zero, "f32")
    assert np.signbit(found).all()
    found = evaluate(kernel, "tl.math.add_rn(x, y)", zero, "f32")
    assert list(np.signbit(found)) == [False, True, False, False]


@pytest.mark.parametrize("name", [name for name in TABLE if "2" in name and name[-3:-1] == "_r"])
def test_conversions_round_as_they_say(name: str, kernel: Callable[..., Any]) -> None:
    ((operand,), _, result) = TABLE[name][0]
    target = {"float": "f32", "double": "f64", "int": "i32", "uint": "u32", "ll": "i64"}.get(
        name.split("2")[1].rpartition("_")[0], "u64"
    )
    if operand[0] == "f":
        x = RNG.uniform(0 if target[0] == "u" else -1e6, 1e6, 16).astype(KINDS[operand])
    else:
        info = np.iinfo(KINDS[operand])
        x = RNG.integers(info.min, info.max, 16, dtype=KINDS[operand])
    found = evaluate(kernel, f"tl.math.{name}(x)", {"x": (operand, x)}, result)
    mode = name[-2:]
    for given, got in zip(x, found, strict=True):
        exact = Fraction(given.item())
        value = Fraction(got.item())
        towards_zero = "rd" if exact > 0 else "ru"
        mode_here = towards_zero if mode == "rz" else mode
        if target[0] == "f":
            step = Fraction(float(np.nextafter(got, np.inf))) - value
        else:
            step = Fraction(1)
        difference = value - exact
        limits = {
            "rd": (-step, Fraction(0)),
            "ru": (Fraction(0), step),
            "rn": (-step / 2, step / 2),
        }
        low, high = limits[mode_here]
        assert low <= difference <= high, (given, got)


# --- exactness ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_fma_rounds_once(dtype: str, kernel: Callable[..., Any]) -> None:
    digits = {"f16": 10, "f32": 23, "f64": 52}[dtype]
    x = np.asarray([1 + 2.0**-digits, 1.0, 3.0, np.inf], KINDS[dtype])
    y = np.asarray([1 - 2.0**-digits, 0.1, 5.0, 0.0], KINDS[dtype])
    z = np.asarray([-1.0, -0.1, 0.25, 1.0], KINDS[dtype])
    inputs = {"x": (dtype, x), "y": (dtype, y), "z": (dtype, z)}
    found = evaluate(kernel, "tl.fma(x, y, z)", inputs, dtype)
    assert list(found[:3]) == [-(2.0 ** (-2 * digits)), 0.0, 15.25]
    assert np.isnan(found[3])


def test_quotients_and_roots_are_rounded_once(kernel: Callable[..., Any]) -> None:
    x = RNG.uniform(1e-39, 1e3, 64).astype(np.float32)
    x[:2] = [1e-40, 2e-45]
    y = RNG.uniform(0.1, 3, 64).astype(np.float32)
    both = {"x": ("f32", x), "y": ("f32", y)}
    assert np.array_equal(evaluate(kernel, "tl.div_rn(x, y)", both, "f32"), x / y)
    found = evaluate(kernel, "tl.fdiv(x, y, ieee_rounding=True)", both, "f32")
    assert np.array_equal(found, x / y)
    assert np.array_equal(evaluate(kernel, "tl.sqrt_rn(x)", both, "f32"), np.sqrt(x))


def test_clamp_follows_its_nan_rule(kernel: Callable[..., Any]) -> None:
    x = np.asarray([np.nan, -9.0, 0.5, 9.0], np.float32)
    found = evaluate(kernel, "tl.clamp(x, -1.0, 2)", {"x": ("f32", x)}, "f32")
    assert list(found) == [-1.0, -1.0, 0.5, 2.0]
    kept = "tl.clamp(x, -1.0, 2, propagate_nan=tl.PropagateNan.ALL)"
    assert np.isnan(evaluate(kernel, kept, {"x": ("f32", x)}, "f32")[0])
    ints = {"x": ("i32", np.asarray([-9, 3, 9, 0]))}
    assert list(evaluate(kernel, "tl.clamp(x, 0, 5)", ints, "i32")) == [0, 3, 5, 0]


def test_operators_have_functions(kernel: Callable[..., Any]) -> None:
    both = {"x": ("i32", [2**31 - 1, 3]), "y": ("i32", [1, 4])}
    assert list(evaluate(kernel, "tl.add(x, y)", both, "i32")) == [-(2**31), 7]
    assert list(evaluate(kernel, "tl.sub(1, y)", both, "i32")) == [0, -3]
    found = evaluate(kernel, "tl.mul(x, y, sanitize_overflow=False)", both, "i32")
    assert list(found) == [2**31 - 1, 12]


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("tl.math.tanh(n)", "E0301"), ("tl.math.popc(x)", "E0301"), ("tl.math.tanh(h)", "E0301"),
        ("tl.math.fmod(x, h)", "E0301"), ("tl.fma(n, n, n)", "E0301"), ("tl.sin(h)", "E0305"),
        ("tl.umulhi(x, x)", "E0301"), ("tl.fdiv(x, x, ieee_rounding=True, approx=True)", "E0416"),
        ("tl.fdiv(x.to(f64), x, approx=True)", "E0301"), ("tl.clamp(x, 0, 1, 2)", "E0416"),
        ("tl.math.nosuch(x)", "E0202"), ("tl.sqrt_rn(n)", "E0305"), ("tl.div_rn(n, n)", "E0305"),
    ],
)  # fmt: skip
def test_other_operands_are_refused(expression: str, code: str, kernel: Callable[..., Any]) -> None:
    with pytest.raises(CompileError) as caught:
        kernel(
            "x_ptr: Ptr[f32], h_ptr: Ptr[f16], n: i32",
            f"x, h = tl.load(x_ptr), tl.load(h_ptr)\ny = {expression}",
        ).lower()
    assert caught.value.code == code
    assert caught.value.diagnostics[0].helps


def test_every_spelling_of_the_family_is_the_same_function(kernel: Callable[..., Any]) -> None:
    texts = {
        kernel("x_ptr: Ptr[f32]", f"tl.store(x_ptr, {name}(tl.load(x_ptr)))").mlir()
        for name in (
            "tl.tanh",
            "tl.math.tanh",
            "tl.extra.libdevice.tanh",
            "tl.extra.cuda.libdevice.tanh",
        )
    }
    assert len(texts) == 1


FAR_AND_NEAR = (5e-324, 1e-300, 8.5e-17, 1e-10, 1e-3, 0.5, 1.9, 2.1, 12.0, 24.0, 26.0, 1e3, 1e10)


@pytest.mark.parametrize("order", [0, 1, 2, 15])
def test_bessel_functions_keep_their_digits_near_zero_and_far_out(order: int) -> None:
    for x in FAR_AND_NEAR:
        with mpmath.workdps(30):
            first, second = float(m.besselj(order, x)), float(m.bessely(order, x))
        assert special.bessel_j(order, x) == pytest.approx(first, rel=1e-11, abs=2e-14)
        assert special.bessel_y(order, x) == pytest.approx(second, rel=1e-11, abs=2e-14)
        if order < 2 and x < 700:
            with mpmath.workdps(30):
                modified = float(m.besseli(order, x))
            assert special.bessel_i(order, x) == modified
            assert special.bessel_i(order, -x) == (-1) ** order * special.bessel_i(order, x)
    assert special.bessel_i(order, 719.0) == math.inf


def test_the_gamma_functions_end_in_infinities() -> None:
    assert special.gamma(-5e-324) == -math.inf
    assert special.gamma(5e-324) == special.gamma(200.0) == math.inf
    assert special.log_gamma(1.7e308) == special.log_gamma(-3.0) == math.inf


def _inverse_erfc(x: Any) -> Any:
    """By Newton's steps on log(erfc), in the digits that mpmath is set to."""
    found = m.mpf(special.erfcinv(float(x)))
    for _ in range(6):
        value = m.erfc(found)
        slope = -2 / m.sqrt(m.pi) * m.exp(-found * found) / value
        found -= (m.log(value) - m.log(x)) / slope
    return found


LEAST = (5e-324, 1.5e-323, 2.3e-308, 1e-300, 1e-205, 1e-100, 1e-10, 0.01, 0.26, 0.49)
EXACTLY: dict[str, Any] = {
    "erfcx": (special.erfcx, lambda x: m.exp(x * x) * m.erfc(x), (-26.4, -22.8, -3.3, 0.7, 3.99)),
    "normcdf": (special.normcdf, lambda x: m.erfc(-x / m.sqrt(2)) / 2, (-35.2, -20.8, -1.1, 2.5)),
    "erfcinv": (special.erfcinv, _inverse_erfc, LEAST),
    "normcdfinv": (special.normcdfinv, lambda x: -m.sqrt(2) * _inverse_erfc(2 * x), LEAST[:8]),
    "bessel_i0": (lambda x: special.bessel_i(0, x), lambda x: m.besseli(0, x), (113.4, 520.5, 713)),
    "bessel_i1": (lambda x: special.bessel_i(1, x), lambda x: m.besseli(1, x), (-139.9, 396.1)),
}


@pytest.mark.parametrize("name", list(EXACTLY))
def test_readings_keep_their_digits_where_formulas_lose_them(name: str) -> None:
    found, exact, points = EXACTLY[name]
    for x in points:
        with mpmath.workdps(60):
            wanted = exact(m.mpf(x))
            off: Any = abs(m.mpf(found(float(x))) - wanted)
            assert off <= 4 * math.ulp(float(wanted)), (name, x)


def test_the_selector_of_byte_perm_has_three_bits_a_byte(kernel: Callable[..., Any]) -> None:
    body = "o = tl.arange(0, 4)\ns = tl.load(s_ptr + o)\nx = s * 0 - 0x7F3F1F10\n"
    made = kernel("s_ptr: Ptr[i32]", body + "tl.store(s_ptr + o, tl.math.byte_perm(x, s * 0, s))")
    selectors = np.array([0x3210, 0x0123, -0x4568, 0xBA98], np.int64).astype(np.uint32)
    held = selectors.view(np.int32).copy()
    made.program().launch((1, 1, 1), [held])
    digits = [[int(s) >> (4 * place) & 7 for place in range(4)] for s in selectors]
    pair = 0x80C0E0F0
    wanted = [sum((pair >> (8 * d) & 0xFF) << (8 * p) for p, d in enumerate(row)) for row in digits]
    assert held.view(np.uint32).tolist() == wanted
    assert wanted[3] == wanted[0]


@pytest.mark.parametrize("x", [3e38, 1e300, -1e300, 1e6])
@pytest.mark.parametrize("order", [0, 1, -3, 2**31 - 1, -(2**31)])
def test_bessel_functions_come_back_whatever_they_are_asked(order: int, x: float) -> None:
    assert (
        math.isnan(special.bessel_j(order, x)) if order < 0 else abs(special.bessel_j(order, x)) < 1
    )
    assert not special.bessel_y(order, abs(x)) > 1
