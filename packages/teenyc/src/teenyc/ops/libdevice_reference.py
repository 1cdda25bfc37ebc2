"""NumPy readings of libdevice's functions, by the DSL's names.

`WIDE`: computed in float64, then rounded once. `BITS`: on integers, or on a float's bits, as they
are. `DIRECTED`: exactly, rounded in the direction that ends the name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from teenyc.ops import directed, special

Array = Any
Reading = Callable[..., Array]


def _each(f: Callable[..., float]) -> Reading:
    """A function of Python floats, for every element."""

    def read(np: Any, *arrays: Array) -> Array:
        found = np.frompyfunc(f, len(arrays), 1)(*arrays)
        return np.asarray(found, dtype=np.float64)

    return read


def _plain(name: str) -> Reading:
    """NumPy's own function."""
    return lambda np, *arrays: getattr(np, name)(*arrays)


def _norm(np: Any, *arrays: Array) -> Array:
    """The length of a vector; infinite where one side is."""
    found = arrays[0]
    for array in arrays[1:]:
        found = np.hypot(found, array)
    return np.abs(found)


def _inverse_norm(np: Any, *arrays: Array) -> Array:
    """1 / length, also where the length itself is too great."""
    length = _norm(np, *arrays)
    halved = 0.25 / _norm(np, *(array * 0.25 for array in arrays))
    return np.where(np.isinf(length), halved, 1.0 / length)


def _difference(np: Any, x: Array, y: Array) -> Array:
    unordered = np.isnan(x) | np.isnan(y)
    return np.where(unordered, np.nan, np.where(x > y, x - y, 0.0))


def _saturate(np: Any, x: Array) -> Array:
    return np.where(np.isnan(x), 0.0, np.clip(x, 0.0, 1.0) + 0.0)


def _exponent(np: Any, x: Array) -> Array:
    """The binary exponent of finite numbers other than zero, as floats."""
    return np.frexp(x)[1].astype(np.float64) - 1.0


def _logb(np: Any, x: Array) -> Array:
    found = np.where(x == 0, -np.inf, _exponent(np, x))
    return np.where(np.isfinite(x), found, np.abs(x))


def _ilogb(np: Any, x: Array) -> Array:
    """Zero and NaN have the least i32, infinities the greatest."""
    finite = np.where(np.isfinite(x) & (x != 0), x, 1.0)
    found = _exponent(np, finite)
    found = np.where((x == 0) | np.isnan(x), -(2.0**31), found)
    return np.where(np.isinf(x), 2.0**31 - 1, found).astype(np.int32)


def _scaled(np: Any, x: Array, exponent: Array) -> Array:
    # NumPy reads the exponent as a C int, and every format ends long before these.
    return np.ldexp(x, np.clip(exponent, -5000, 5000).astype(np.int32))


def _to_long(np: Any, x: Array) -> Array:
    """As PTX converts: what does not fit becomes the nearest that does."""
    convert = np.frompyfunc(lambda v: directed.to_integer(v, 64, "rz", signed=True), 1, 1)
    bad = -(1 << 63)
    found = convert(np.where(np.isnan(x), 0.0, x))
    return np.where(np.isnan(x), bad, found).astype(np.int64)


def _bessel(f: Callable[[int, float], float]) -> Reading:
    return _each(lambda n, x: f(int(n), x))


def _coarse_reciprocal(np: Any, x: Array) -> Array:
    """Of the upper word of x, and of that the upper word."""

    def upper(value: Array) -> Array:
        return (value.view(np.int64) & ~np.int64(0xFFFFFFFF)).view(np.float64)

    return upper(1.0 / upper(x))


WIDE: dict[str, Reading] = {
    **{
        name: _plain(theirs)
        for name, theirs in {
            "acos": "arccos",
            "acosh": "arccosh",
            "asin": "arcsin",
            "asinh": "arcsinh",
            "atan": "arctan",
            "atan2": "arctan2",
            "atanh": "arctanh",
            "fast_cosf": "cos",
            "fast_dividef": "divide",
            "fast_expf": "exp",
            "fast_log10f": "log10",
            "fast_log2f": "log2",
            "fast_logf": "log",
            "fast_powf": "power",
            "fast_sinf": "sin",
            "fast_tanf": "tan",
            "finitef": "isfinite",
            "isfinited": "isfinite",
            "nearbyint": "rint",
            "pow": "float_power",
        }.items()
    },
    **{
        name: _plain(name)
        for name in (
            *("cbrt", "copysign", "cosh", "expm1", "fmod", "hypot", "isinf", "isnan", "log10"),
            *("log1p", "rint", "signbit", "sinh", "tan", "tanh", "trunc"),
        )
    },
    "exp10": lambda np, x: np.power(10.0, x),
    "fast_exp10f": lambda np, x: np.power(10.0, x),
    "rcbrt": lambda np, x: 1.0 / np.cbrt(x),
    "fdim": _difference,
    "saturatef": _saturate,
    "norm3d": _norm,
    "norm4d": _norm,
    "rhypot": _inverse_norm,
    "rnorm3d": _inverse_norm,
    "rnorm4d": _inverse_norm,
    "logb": _logb,
    "ilogb": _ilogb,
    "ldexp": _scaled,
    "scalbn": _scaled,
    "llrint": lambda np, x: _to_long(np, np.rint(x)),
    "llround": lambda np, x: _to_long(np, _each(special.round_half_away)(np, x)),
    "rcp64h": _coarse_reciprocal,
    "round": _each(special.round_half_away),
    "remainder": _each(special.ieee_remainder),
    "sinpi": _each(special.sine_of_turns),
    "cospi": _each(special.cosine_of_turns),
    "erfc": _each(math.erfc),
    "erfcinv": _each(special.erfcinv),
    "erfcx": _each(special.erfcx),
    "erfinv": _each(special.erfinv),
    "normcdf": _each(special.normcdf),
    "normcdfinv": _each(special.normcdfinv),
    "tgamma": _each(special.gamma),
    "lgamma": _each(special.log_gamma),
    "j0": _each(lambda x: special.bessel_j(0, x)),
    "j1": _each(lambda x: special.bessel_j(1, x)),
    "y0": _each(lambda x: special.bessel_y(0, x)),
    "y1": _each(lambda x: special.bessel_y(1, x)),
    "jn": _bessel(special.bessel_j),
    "yn": _bessel(special.bessel_y),
    "cyl_bessel_i0": _each(lambda x: special.bessel_i(0, x)),
    "cyl_bessel_i1": _each(lambda x: special.bessel_i(1, x)),
}

# --- bits -----------------------------------------------------------------------------------------


def _on_bits(f: Callable[..., int]) -> Reading:
    """A function of the width and of integers without a sign, for every element."""

    def read(np: Any, *arrays: Array) -> Array:
        bits = arrays[0].dtype.itemsize * 8
        mask = (1 << bits) - 1
        found = np.frompyfunc(lambda *x: f(bits, *(int(v) & mask for v in x)), len(arrays), 1)
        return found(*arrays)

    return read


def _byte_perm(bits: int, x: int, y: int, selector: int) -> int:
    pair = (y << 32) | x
    chosen = 0
    for place in range(4):
        code = selector >> (4 * place) & 7  # the fourth bit of each counts for nothing
        chosen |= (pair >> (8 * code) & 0xFF) << (8 * place)
    return chosen


def _low_24(np: Any, x: Array) -> Array:
    wide = np.asarray(x).astype(np.int64) & 0xFFFFFF
    return np.where((wide >> 23) & 1, wide - (1 << 24), wide) if x.dtype.kind == "i" else wide


def _as(dtype: str) -> Reading:
    return lambda np, x: np.ascontiguousarray(x).view(dtype).reshape(x.shape)


def _mean(extra: int) -> Reading:
    return lambda np, x, y: (x.astype(np.int64) + y.astype(np.int64) + extra) >> 1


def _upper_half(np: Any, x: Array, y: Array) -> Array:
    bits = x.dtype.itemsize * 8
    return np.frompyfunc(lambda a, b: (int(a) * int(b)) >> bits, 2, 1)(x, y)


BITS: dict[str, Reading] = {
    "popc": _on_bits(lambda bits, x: x.bit_count()),
    "clz": _on_bits(lambda bits, x: bits - x.bit_length()),
    "ffs": _on_bits(lambda bits, x: (x & -x).bit_length()),
    "brev": _on_bits(lambda bits, x: int(f"{x:0{bits}b}"[::-1], 2)),
    "byte_perm": _on_bits(_byte_perm),
    "mulhi": _upper_half,
    "mul24": lambda np, x, y: _low_24(np, x) * _low_24(np, y),
    "sad": lambda np, x, y, z: np.abs(x.astype(np.int64) - y.astype(np.int64)) + z.astype(np.int64),
    "hadd": _mean(0),
    "rhadd": _mean(1),
    "nextafter": lambda np, x, y: np.nextafter(x, y),
    "hiloint2double": lambda np, x, y: (
        (x.astype(np.int64) << 32) | (y.astype(np.int64) & 0xFFFFFFFF)
    ).view(np.float64),
    "double2loint": lambda np, x: x.view(np.int64) & 0xFFFFFFFF,
    "double2hiint": lambda np, x: x.view(np.int64) >> 32,
    "int_as_float": _as("float32"),
    "uint_as_float": _as("float32"),
    "float_as_int": _as("int32"),
    "float_as_uint": _as("int32"),
    "longlong_as_double": _as("float64"),
    "double_as_longlong": _as("int64"),
}

# --- rounding modes -------------------------------------------------------------------------------

_OPERATIONS: dict[str, Callable[..., float]] = {
    "add": directed.add,
    "sub": directed.subtract,
    "mul": directed.multiply,
    "div": directed.quotient,
    "rcp": directed.reciprocal,
    "sqrt": directed.square_root,
    "rsqrt": directed.inverse_root,
    "fma": directed.multiply_add,
}
_C_TYPES = {"float": "f32", "double": "f64", "int": "i32", "uint": "u32", "ll": "i64", "ull": "u64"}


def read_directed(np: Any, name: str, result: str, operands: Sequence[Array]) -> Array:
    """`add_rz`, `double2int_ru`, ...: `result` is the float type of the result, if it is one."""
    what, _, mode = name.rpartition("_")
    if what in _OPERATIONS:
        operation = _OPERATIONS[what]
        each = np.frompyfunc(lambda *x: operation(result, mode, *map(float, x)), len(operands), 1)
        return np.asarray(each(*operands), dtype=np.float64)
    source, target = (_C_TYPES[side] for side in what.split("2"))
    if target[0] == "f":
        if source[0] == "f":
            return _narrowed(np, operands[0], target, mode)
        each = np.frompyfunc(lambda x: directed.from_integer(int(x), target, mode), 1, 1)
        return np.asarray(each(operands[0]), dtype=np.float64)
    bits, signed = int(target[1:]), target[0] == "i"
    each = np.frompyfunc(lambda x: directed.to_integer(float(x), bits, mode, signed=signed), 1, 1)
    # PTX gives 0 for a NaN where no side has 64 bits, else the highest bit.
    nothing = 0 if source == "f32" and bits == 32 else -(1 << (bits - 1))
    bad = np.isnan(operands[0])
    return np.where(bad, nothing, each(np.where(bad, 0, operands[0])))


def _narrowed(np: Any, x: Array, target: str, mode: str) -> Array:
    each = np.frompyfunc(
        lambda v: directed.add(target, mode, float(v), math.copysign(0.0, v)), 1, 1
    )
    return np.asarray(each(x), dtype=np.float64)
