"""Functions in LLVM's text for libdevice on a CPU: calls for each lane, series, rounding modes.

Each is a helper function of the module, made once for each shape.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from teenyc.ops.directed import MODES

_LLVM = {"i32": "i32", "u32": "i32", "i64": "i64", "u64": "i64", "f32": "float", "f64": "double"}
# The numbers of `llvm.set.rounding`.
_ROUNDING = {"rz": 0, "rn": 1, "ru": 2, "rd": 3}
_WHOLE = {"rz": "llvm.trunc", "rn": "llvm.nearbyint", "ru": "llvm.ceil", "rd": "llvm.floor"}
_OPERATIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_OPERATIONS |= {"rcp": "fdiv", "sqrt": "sqrt", "fma": "fma"}
_C_TYPES = {"float": "f32", "double": "f64", "int": "i32", "uint": "u32", "ll": "i64", "ull": "u64"}


class Directed(NamedTuple):
    """What a name with a rounding mode says: an operation, or a conversion between two dtypes."""

    operation: str
    mode: str
    source: str = ""
    target: str = ""


def _all_directed() -> dict[str, Directed]:
    found = {
        f"{name}_{mode}": Directed(operation, mode)
        for mode in MODES
        for name, operation in _OPERATIONS.items()
    }
    for mode in MODES:
        for one, source in _C_TYPES.items():
            for other, target in _C_TYPES.items():
                if "f" in (source[0], target[0]):
                    found[f"{one}2{other}_{mode}"] = Directed("", mode, source, target)
    return found


MODES_OF = _all_directed()


def directed(c: Any, name: str, values: tuple[Any, ...], result: str) -> Any:
    """An operation or conversion that rounds as its name says."""
    what = MODES_OF[name]
    first = values[0]
    if what.operation:
        if name.startswith("rcp"):
            values = (c.splat(c.same(first, 1.0), first.lanes), first)
        return _in_mode(c, what.operation, what.mode, values, first.type)
    if what.target[0] == "f":
        operation = "fptrunc" if what.source[0] == "f" else f"{_sign(what.source)}itofp"
        return _in_mode(c, operation, what.mode, (first,), _LLVM[what.target])
    whole = c.call(_WHOLE[what.mode], first.type, first)
    found = c.to_integer(whole, f"i{what.target[1:]}", signed=what.target[0] == "i")
    # PTX gives 0 for a NaN where no side has 64 bits, else the highest bit.
    bits = int(what.target[1:])
    nothing = 0 if what.source == "f32" and bits == 32 else -(1 << (bits - 1))
    return c.select(c.compare("uno", first, first), c.constant(nothing, f"i{bits}"), found)


def _sign(dtype: str) -> str:
    return "s" if dtype[0] == "i" else "u"


def _vector(type_: str, lanes: int) -> str:
    return f"<{lanes} x {type_}>" if lanes else type_


def _mangled(type_: str, lanes: int) -> str:
    short = {"float": "f32", "double": "f64"}.get(type_, type_)
    return f"v{lanes}{short}" if lanes else short


def _in_mode(c: Any, operation: str, mode: str, values: tuple[Any, ...], result: str) -> Any:
    """A call of a function that sets the rounding mode, computes, and sets it back."""
    values, lanes, level = c.joined(*values)
    kind, types = _vector(result, lanes), [_vector(x.type, lanes) for x in values]
    suffix = _mangled(result, lanes)
    if operation.endswith(("itofp", "trunc")):
        suffix += f".{_mangled(values[0].type, lanes)}"
    intrinsic = f"@llvm.experimental.constrained.{operation}.{suffix}"
    name = f"@teeny.{operation}.{mode}.{suffix}"
    names = [f"%x{i}" for i in range(len(values))]
    operands = ", ".join(f"{t} {n}" for t, n in zip(types, names, strict=True))
    c.output.declares.add("declare void @llvm.set.rounding(i32)")
    c.output.declares.add(f"declare {kind} {intrinsic}({', '.join(types)}, metadata, metadata)")
    c.output.helpers[name] = (
        f"define internal {kind} {name}({operands}) noinline strictfp nounwind {{\n"
        f"  call void @llvm.set.rounding(i32 {_ROUNDING[mode]}) strictfp\n"
        f'  %r = call {kind} {intrinsic}({operands}, metadata !"round.dynamic", '
        'metadata !"fpexcept.strict") strictfp\n'
        "  call void @llvm.set.rounding(i32 1) strictfp\n"
        f"  ret {kind} %r\n}}\n"
    )
    c.output.passes_vectors = True
    given = ", ".join(map(str, values))
    return c.put(f"call {kind} {name}({given})", result, lanes, level)


def each_lane(c: Any, symbol: str, result: str, *values: Any) -> Any:
    """A function of the C library for each lane."""
    lanes = max(x.lanes for x in values)
    level = max(x.level for x in values)
    kinds = ", ".join(x.type for x in values)
    c.output.declares.add(f"declare {result} @{symbol}({kinds})")
    return _called(c, f"@{symbol}", result, values, lanes, level)


def _called(c: Any, name: str, result: str, values: Any, lanes: int, level: int) -> Any:
    if not lanes:
        return c.put(f"call {result} {name}({', '.join(map(str, values))})", result, 0, level)
    kinds = [_vector(x.type, lanes) for x in values]
    helper = f"@teeny.each.{name[1:]}.x{lanes}"
    head = ", ".join(f"{kind} %x{i}" for i, kind in enumerate(kinds))
    given = ", ".join(f"{x.type} %y{i}" for i, x in enumerate(values))
    picks = "".join(
        f"  %y{i} = extractelement {kind} %x{i}, i32 %lane\n" for i, kind in enumerate(kinds)
    )
    kind = _vector(result, lanes)
    c.output.helpers[helper] = f"""\
define internal {kind} {helper}({head}) noinline nounwind {{
entry:
  br label %each
each:
  %lane = phi i32 [0, %entry], [%next, %each]
  %found = phi {kind} [zeroinitializer, %entry], [%more, %each]
{picks}  %one = call {result} {name}({given})
  %more = insertelement {kind} %found, {result} %one, i32 %lane
  %next = add i32 %lane, 1
  %again = icmp ult i32 %next, {lanes}
  br i1 %again, label %each, label %out
out:
  ret {kind} %more
}}
"""
    c.output.passes_vectors = True
    wide = [c.splat(x, lanes) for x in values]
    return c.put(f"call {kind} {helper}({', '.join(map(str, wide))})", result, lanes, level)


def scalar_function(c: Any, name: str, x: Any) -> Any:
    """One of the functions below, for each lane."""
    for part in _NEEDS[name]:
        c.output.helpers[f"@teeny.{part}"] = _TEXTS[part]
        c.output.declares |= _DECLARES[part]
    return _called(c, f"@teeny.{name}", "double", (x,), x.lanes, x.level)


# exp(x * x) * erfc(x), the square in two parts; a continued fraction from 4 on (DLMF 7.9.3).
_ERFCX = """\
define internal double @teeny.erfcx(double %x) nounwind {
entry:
  %far = fcmp oge double %x, 4.0
  br i1 %far, label %step, label %near
near:
  %least = fcmp olt double %x, -26.7
  br i1 %least, label %huge, label %product
huge:
  ret double 0x7FF0000000000000
product:
  %square = fmul double %x, %x
  %minus = fneg double %square
  %rest = call double @llvm.fma.f64(double %x, double %x, double %minus)
  %e = call double @exp(double %square)
  %c = call double @erfc(double %x)
  %more = fadd double %rest, 1.0
  %ec = fmul double %e, %c
  %r = fmul double %ec, %more
  ret double %r
step:
  %k = phi double [80.0, %entry], [%k.n, %step]
  %tail = phi double [0.0, %entry], [%tail.n, %step]
  %half = fmul double %k, 0.5
  %sum = fadd double %x, %tail
  %tail.n = fdiv double %half, %sum
  %k.n = fadd double %k, -1.0
  %again = fcmp ogt double %k.n, 0.5
  br i1 %again, label %step, label %end
end:
  %last = fadd double %x, %tail.n
  %whole = fmul double %last, 0x3FFC5BF891B4EF6A
  %found = fdiv double 1.0, %whole
  ret double %found
}
"""
# Newton's steps on erf, from two terms of the series; beyond a half by the complement.
_ERFINV = """\
define internal double @teeny.erfinv(double %x) nounwind {
entry:
  %size = call double @llvm.fabs.f64(double %x)
  %outer = fcmp ogt double %size, 0.5
  br i1 %outer, label %complement, label %start
complement:
  %c = fsub double 1.0, %size
  %ci = call double @teeny.erfcinv(double %c)
  %s = call double @llvm.copysign.f64(double %ci, double %x)
  ret double %s
start:
  %square = fmul double %x, %x
  %part = fmul double %square, 0x3FD0C152382D7366
  %one = fadd double %part, 1.0
  %first = fmul double %x, 0x3FEC5BF891B4EF6A
  %guess = fmul double %first, %one
  br label %step
step:
  %k = phi i32 [0, %start], [%k.n, %step]
  %at = phi double [%guess, %start], [%at.n, %step]
  %value = call double @erf(double %at)
  %off = fsub double %value, %x
  %sq = fmul double %at, %at
  %e = call double @exp(double %sq)
  %slope = fmul double %e, 0x3FEC5BF891B4EF6A
  %move = fmul double %off, %slope
  %at.n = fsub double %at, %move
  %k.n = add i32 %k, 1
  %again = icmp ult i32 %k.n, 5
  br i1 %again, label %step, label %end
end:
  ret double %at.n
}
"""
# Newton's steps on log(erfc), which is nearly a parabola; erfc itself runs out of bits.
_ERFCINV = """\
define internal double @teeny.erfcinv(double %x) nounwind {
entry:
  %low = fcmp oge double %x, 0.0
  %high = fcmp ole double %x, 2.0
  %in = and i1 %low, %high
  br i1 %in, label %inside, label %none
none:
  ret double 0x7FF8000000000000
inside:
  %zero = fcmp oeq double %x, 0.0
  br i1 %zero, label %infinite, label %some
infinite:
  ret double 0x7FF0000000000000
some:
  %upper = fcmp ogt double %x, 1.5
  br i1 %upper, label %turn, label %lower
turn:
  %t = fsub double 2.0, %x
  %ti = call double @teeny.erfcinv(double %t)
  %tn = fneg double %ti
  ret double %tn
lower:
  %middle = fcmp ogt double %x, 0.5
  br i1 %middle, label %inverse, label %start
inverse:
  %c = fsub double 1.0, %x
  %ci = call double @teeny.erfinv(double %c)
  ret double %ci
start:
  %wanted = call double @log(double %x)
  %minus = fneg double %wanted
  %guess = call double @llvm.sqrt.f64(double %minus)
  br label %step
step:
  %k = phi i32 [0, %start], [%k.n, %step]
  %at = phi double [%guess, %start], [%at.n, %step]
  %scaled = call double @teeny.erfcx(double %at)
  %sq = fmul double %at, %at
  %l = call double @log(double %scaled)
  %more = fadd double %wanted, %sq
  %off = fsub double %more, %l
  %slope = fmul double %scaled, 0x3FEC5BF891B4EF6A
  %move = fmul double %off, %slope
  %at.n = fsub double %at, %move
  %size = call double @llvm.fabs.f64(double %move)
  %limit = fmul double %at.n, 0x3C9CD2B297D889BC
  %close = fcmp ole double %size, %limit
  %k.n = add i32 %k, 1
  %last = icmp uge i32 %k.n, 60
  %done = or i1 %close, %last
  br i1 %done, label %end, label %step
end:
  ret double %at.n
}
"""


def _bessel(order: int) -> str:
    """The series of DLMF 10.25.2, whose terms are all positive."""
    first, sign = ("1.0", "%size") if order == 0 else ("%half", "%x")
    return f"""\
define internal double @teeny.bessel_i{order}(double %x) nounwind {{
entry:
  %size = call double @llvm.fabs.f64(double %x)
  %large = fcmp ogt double %size, 720.0
  br i1 %large, label %huge, label %start
huge:
  %s = call double @llvm.copysign.f64(double 0x7FF0000000000000, double {sign})
  ret double %s
start:
  %half = fmul double %x, 0.5
  %q = fmul double %half, %half
  br label %step
step:
  %k = phi double [1.0, %start], [%k.n, %step]
  %term = phi double [{first}, %start], [%term.n, %step]
  %sum = phi double [{first}, %start], [%sum.n, %step]
  %k2 = fadd double %k, {order}.0
  %kk = fmul double %k, %k2
  %ratio = fdiv double %q, %kk
  %term.n = fmul double %term, %ratio
  %sum.n = fadd double %sum, %term.n
  %k.n = fadd double %k, 1.0
  %changed = fcmp one double %sum.n, %sum
  br i1 %changed, label %step, label %end
end:
  ret double %sum.n
}}
"""


_TEXTS = {"erfcx": _ERFCX, "erfinv": _ERFINV, "erfcinv": _ERFCINV}
_TEXTS |= {"bessel_i0": _bessel(0), "bessel_i1": _bessel(1)}
_NEEDS: dict[str, tuple[str, ...]] = {
    "erfcx": ("erfcx",),
    "erfinv": ("erfcx", "erfinv", "erfcinv"),
    "erfcinv": ("erfcx", "erfinv", "erfcinv"),
    "bessel_i0": ("bessel_i0",),
    "bessel_i1": ("bessel_i1",),
}


def _unary(*names: str) -> set[str]:
    return {f"declare double @{name}(double)" for name in names}


_ABSOLUTE = {"declare double @llvm.fabs.f64(double)"}
_ABSOLUTE |= {"declare double @llvm.copysign.f64(double, double)"}
_DECLARES = {
    "erfcx": _unary("exp", "erfc") | {"declare double @llvm.fma.f64(double, double, double)"},
    "erfinv": _unary("erf", "exp") | _ABSOLUTE,
    "erfcinv": _unary("log", "llvm.sqrt.f64") | _ABSOLUTE,
    "bessel_i0": _ABSOLUTE,
    "bessel_i1": _ABSOLUTE,
}
