"""What a CPU does for the functions of libdevice, by the DSL's names.

Functions of real numbers are computed in f64 and rounded once: by the C library for each lane where
it has them, else by formulas of its functions. The rest are instructions on integers and bits, and
arithmetic in another rounding mode (libdevice_text.py).
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

from teenyc.ops import libdevice_text as text

Emit = Callable[..., Any]

# LLVM's intrinsics of the same type.
INTRINSICS = {
    "rint": "llvm.nearbyint",
    "nearbyint": "llvm.nearbyint",
    "trunc": "llvm.trunc",
    "round": "llvm.round",
    "copysign": "llvm.copysign",
    "fma_rn": "llvm.fma",
    "sqrt_rn": "llvm.sqrt",
    "brev": "llvm.bitreverse",
}
# The vector maths.
MATHS = {"tanh": "tanh", "fast_expf": "exp", "fast_logf": "log", "fast_log2f": "log2"}
MATHS |= {"fast_sinf": "sin", "fast_cosf": "cos"}
# Instructions that round to nearest.
ARITHMETIC = {"add_rn": "fadd", "sub_rn": "fsub", "mul_rn": "fmul", "fast_dividef": "fdiv"}
# The C library's functions of doubles.
LIBM = {
    name: name
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cosh", "erfc", "expm1"),
        *("j0", "j1", "lgamma", "log10", "log1p", "logb", "sinh", "tan", "tgamma", "y0", "y1"),
        *("atan2", "hypot", "pow", "remainder"),
    )
}
LIBM |= {"fast_tanf": "tan", "fast_log10f": "log10", "fast_powf": "pow"}
# Functions of doubles in LLVM's text.
SCALARS = {"erfcx": "erfcx", "erfinv": "erfinv", "erfcinv": "erfcinv"}
SCALARS |= {"cyl_bessel_i0": "bessel_i0", "cyl_bessel_i1": "bessel_i1"}
# Bits read as another type.
_VIEWS = frozenset(
    ("int_as_float", "float_as_int", "uint_as_float", "float_as_uint", "longlong_as_double")
) | {"double_as_longlong"}


def emit(c: Any, name: str, values: tuple[Any, ...], result: str) -> Any:
    """The code of a function; `result` is the IR element of its result."""
    first = values[0]
    if name in INTRINSICS:
        return c.call(INTRINSICS[name], first.type, *values)
    if name in MATHS:
        return c.function(MATHS[name], first)
    if name in ARITHMETIC:
        return c.binary(ARITHMETIC[name], *values)
    if name in _OWN:
        return _OWN[name](c, *values)
    if name in _VIEWS:
        return c.cast("bitcast", first, {"f32": "float", "f64": "double"}.get(result, result))
    if name in text.MODES_OF:
        return text.directed(c, name, values, result)
    wide = [c.cast("fpext", x, "double") if x.type == "float" else x for x in values]
    if name == "pow" and wide[1].type == "i32":
        wide[1] = c.cast("sitofp", wide[1], "double")
    if name in LIBM:
        found = text.each_lane(c, LIBM[name], "double", *wide)
    elif name in SCALARS:
        found = text.scalar_function(c, SCALARS[name], wide[0])
    else:
        found = _WIDE[name](c, *wide)
    return _rounded(c, found, result)


def _rounded(c: Any, x: Any, result: str) -> Any:
    return c.cast("fptrunc", x, "float") if result == "f32" and x.type == "double" else x


# --- formulas in doubles --------------------------------------------------------------------------


def _number(c: Any, x: Any, value: float) -> Any:
    return c.same(x, value)


def _sine_of_half_turns(c: Any, x: Any) -> Any:
    """sin(pi x) for x from -1/2 to 1/2."""
    return c.function("sin", c.binary("fmul", x, _number(c, x, pi)))


def _rest_of_turn(c: Any, x: Any) -> Any:
    """What is left of `x` without the nearest even number, exactly: from -1 to 1."""
    half = c.binary("fmul", x, _number(c, x, 0.5))
    whole = c.call("llvm.nearbyint", x.type, half)
    return c.binary("fsub", x, c.binary("fmul", whole, _number(c, x, 2.0)))


def _sinpi(c: Any, x: Any) -> Any:
    rest = _rest_of_turn(c, x)
    size = c.magnitude(rest)
    folded = c.binary("fsub", _number(c, x, 1.0), size)
    small = c.select(c.compare("ogt", size, _number(c, x, 0.5)), folded, size)
    found = _sine_of_half_turns(c, small)
    # Whole numbers give a zero of the argument's sign.
    sign = c.select(c.compare("oeq", small, _number(c, x, 0.0)), x, rest)
    return c.call("llvm.copysign", x.type, found, sign)


def _cospi(c: Any, x: Any) -> Any:
    size = c.magnitude(_rest_of_turn(c, x))
    return _sine_of_half_turns(c, c.binary("fsub", _number(c, x, 0.5), size))


def _root(c: Any, *values: Any) -> Any:
    """The length of a vector; infinite where one side is."""
    found = values[0]
    for value in values[1:]:
        found = text.each_lane(c, "hypot", "double", found, value)
    return c.magnitude(found)


def _inverse(c: Any, x: Any) -> Any:
    return c.binary("fdiv", _number(c, x, 1.0), x)


def _difference(c: Any, x: Any, y: Any) -> Any:
    zero = _number(c, x, 0.0)
    found = c.select(c.compare("ogt", x, y), c.binary("fsub", x, y), zero)
    return c.select(c.compare("uno", x, y), c.binary("fadd", x, y), found)


def _of_order(c: Any, name: str, n: Any, x: Any) -> Any:
    """A Bessel function; NaN for negative orders, as CUDA has it."""
    found = text.each_lane(c, name, "double", n, x)
    negative = c.compare("slt", n, c.same(n, 0))
    return c.select(negative, _number(c, x, float("nan")), found)


def _normcdf(c: Any, x: Any) -> Any:
    turned = c.binary("fmul", x, _number(c, x, -(0.5**0.5)))
    found = text.each_lane(c, "erfc", "double", turned)
    return c.binary("fmul", found, _number(c, x, 0.5))


def _normcdfinv(c: Any, x: Any) -> Any:
    twice = c.binary("fmul", x, _number(c, x, 2.0))
    found = text.scalar_function(c, "erfcinv", twice)
    return c.binary("fmul", found, _number(c, x, -(2.0**0.5)))


def _scaled(c: Any, x: Any, exponent: Any) -> Any:
    return text.each_lane(c, "ldexp", "double", x, exponent)


def _ilogb(c: Any, x: Any) -> Any:
    """Zero and NaN have the least i32, infinities the greatest."""
    found = c.to_integer(text.each_lane(c, "logb", "double", x), "i32", signed=True)
    return c.select(c.compare("uno", x, x), c.constant(-(2**31), "i32"), found)


def _to_long(c: Any, x: Any) -> Any:
    found = c.to_integer(x, "i64", signed=True)
    return c.select(c.compare("uno", x, x), c.constant(-(2**63), "i64"), found)


def _power_of_ten(c: Any, x: Any) -> Any:
    return text.each_lane(c, "pow", "double", c.splat(_number(c, x, 10.0), x.lanes), x)


_WIDE: dict[str, Emit] = {
    "sinpi": _sinpi,
    "cospi": _cospi,
    "norm3d": _root,
    "norm4d": _root,
    "rhypot": lambda c, *v: _inverse(c, _root(c, *v)),
    "rnorm3d": lambda c, *v: _inverse(c, _root(c, *v)),
    "rnorm4d": lambda c, *v: _inverse(c, _root(c, *v)),
    "rcbrt": lambda c, x: _inverse(c, text.each_lane(c, "cbrt", "double", x)),
    "rsqrt_rn": lambda c, x: _inverse(c, c.call("llvm.sqrt", x.type, x)),
    "fdim": _difference,
    "normcdf": _normcdf,
    "normcdfinv": _normcdfinv,
    "ldexp": _scaled,
    "scalbn": _scaled,
    "ilogb": _ilogb,
    "llrint": lambda c, x: _to_long(c, c.call("llvm.nearbyint", x.type, x)),
    "llround": lambda c, x: _to_long(c, c.call("llvm.round", x.type, x)),
    "exp10": _power_of_ten,
    "fast_exp10f": _power_of_ten,
    "jn": lambda c, n, x: _of_order(c, "jn", n, x),
    "yn": lambda c, n, x: _of_order(c, "yn", n, x),
}

# --- integers and bits ----------------------------------------------------------------------------


def _truth(c: Any, x: Any) -> Any:
    return c.cast("zext", x, "i32")


def _finite(c: Any, x: Any) -> Any:
    return _truth(c, c.compare("olt", c.magnitude(x), c.same(x, float("inf"))))


def _infinite(c: Any, x: Any) -> Any:
    return _truth(c, c.compare("oeq", c.magnitude(x), c.same(x, float("inf"))))


def _signbit(c: Any, x: Any) -> Any:
    bits = c.bits(x)
    return _truth(c, c.compare("slt", bits, c.same(bits, 0)))


def _saturate(c: Any, x: Any) -> Any:
    zero, one = c.same(x, 0.0), c.same(x, 1.0)
    found = c.select(c.compare("ogt", x, zero), x, zero)  # a NaN is not
    return c.select(c.compare("olt", found, one), found, one)


def _count(c: Any, name: str, x: Any) -> Any:
    extra = "" if name == "ctpop" else "i1 false"
    return c.cast("trunc", c.call(f"llvm.{name}", x.type, x, extra=extra), "i32")


def _first_set(c: Any, x: Any) -> Any:
    found = c.binary("add", _count(c, "cttz", x), c.constant(1, "i32"))
    return c.select(c.compare("eq", x, c.same(x, 0)), c.constant(0, "i32"), found)


def _byte_perm(c: Any, x: Any, y: Any, selector: Any) -> Any:
    pair = c.binary("shl", c.cast("zext", y, "i64"), c.constant(32, "i64"))
    pair = c.binary("or", pair, c.cast("zext", x, "i64"))
    found = c.constant(0, "i32")
    for place in range(4):
        code = c.binary("lshr", selector, c.same(selector, 4 * place))
        low = c.binary("and", code, c.same(code, 7))
        shift = c.binary("shl", c.cast("zext", low, "i64"), c.constant(3, "i64"))
        byte = c.cast("trunc", c.binary("lshr", pair, shift), "i8")
        chosen = c.cast("zext", byte, "i32")
        found = c.binary("or", found, c.binary("shl", chosen, c.same(chosen, 8 * place)))
    return found


def _widened(c: Any, x: Any, *, signed: bool) -> Any:
    wide = {"i32": "i64", "i64": "i128"}[x.type]
    return c.cast("sext" if signed else "zext", x, wide)


def _mulhi(c: Any, x: Any, y: Any, *, signed: bool) -> Any:
    product = c.binary("mul", _widened(c, x, signed=signed), _widened(c, y, signed=signed))
    bits = 32 if x.type == "i32" else 64
    return c.cast("trunc", c.binary("lshr", product, c.same(product, bits)), x.type)


def _low_24(c: Any, x: Any, *, signed: bool) -> Any:
    moved = c.binary("shl", x, c.same(x, 8))
    return c.binary("ashr" if signed else "lshr", moved, c.same(x, 8))


def _mul24(c: Any, x: Any, y: Any, *, signed: bool) -> Any:
    return c.binary("mul", _low_24(c, x, signed=signed), _low_24(c, y, signed=signed))


def _sad(c: Any, x: Any, y: Any, z: Any, *, signed: bool) -> Any:
    above = c.compare("sgt" if signed else "ugt", x, y)
    apart = c.select(above, c.binary("sub", x, y), c.binary("sub", y, x))
    return c.binary("add", apart, z)


def _mean(c: Any, x: Any, y: Any, *, signed: bool, extra: int) -> Any:
    total = c.binary("add", _widened(c, x, signed=signed), _widened(c, y, signed=signed))
    total = c.binary("add", total, c.same(total, extra))
    return c.cast("trunc", c.binary("ashr", total, c.same(total, 1)), x.type)


def _joined(c: Any, high: Any, low: Any) -> Any:
    upper = c.binary("shl", c.cast("zext", high, "i64"), c.constant(32, "i64"))
    return c.cast("bitcast", c.binary("or", upper, c.cast("zext", low, "i64")), "double")


def _half(c: Any, x: Any, shift: int) -> Any:
    bits = c.bits(x)
    return c.cast("trunc", c.binary("lshr", bits, c.same(bits, shift)), "i32")


def _coarse_reciprocal(c: Any, x: Any) -> Any:
    """Of the upper word of x, and of that the upper word."""

    def upper(value: Any) -> Any:
        bits = c.bits(value)
        return c.cast("bitcast", c.binary("and", bits, c.same(bits, -(1 << 32))), "double")

    return upper(_inverse(c, upper(x)))


def _next(c: Any, x: Any, y: Any) -> Any:
    return text.each_lane(c, "nextafterf" if x.type == "float" else "nextafter", x.type, x, y)


_OWN: dict[str, Emit] = {
    "isnan": lambda c, x: _truth(c, c.compare("uno", x, x)),
    "isinf": _infinite,
    "finitef": _finite,
    "isfinited": _finite,
    "signbit": _signbit,
    "saturatef": _saturate,
    "popc": lambda c, x: _count(c, "ctpop", x),
    "clz": lambda c, x: _count(c, "ctlz", x),
    "ffs": _first_set,
    "byte_perm": _byte_perm,
    "hiloint2double": _joined,
    "double2loint": lambda c, x: _half(c, x, 0),
    "double2hiint": lambda c, x: _half(c, x, 32),
    "rcp64h": _coarse_reciprocal,
    "nextafter": _next,
    "fmod": lambda c, x, y: c.remainder(x, y),
}
# Those that ask whether their operands have a sign.
SIGNED: dict[str, Emit] = {
    "mulhi": _mulhi,
    "mul24": _mul24,
    "sad": _sad,
    "hadd": lambda c, x, y, signed: _mean(c, x, y, signed=signed, extra=0),
    "rhadd": lambda c, x, y, signed: _mean(c, x, y, signed=signed, extra=1),
}
