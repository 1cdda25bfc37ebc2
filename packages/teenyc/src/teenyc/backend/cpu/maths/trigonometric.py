"""sin and cos: reduction by pi/2 in three steps, two polynomials, a rare path for large arguments.

Large means beyond `LIMITS`. Such lanes go one by one through `huge`, which reduces with as many
bits of 2/pi as it takes (quadrant.py), so that no argument needs the C library.
"""

from __future__ import annotations

import math

from teenyc.backend.cpu.maths import coefficients
from teenyc.backend.cpu.maths.emitter import ELEMENTS, Emitter, Value, hex_float
from teenyc.backend.cpu.maths.layout import layout_of, rounded_quotient
from teenyc.backend.cpu.maths.quadrant import QUADRANT

# pi/2 in parts for a fused multiply-add: each step is exact until the cancellation is over.
_FUSED = {
    "f32": ("0x1.921fb6p0", "-0x1.777a5cp-25", "-0x1.ee59dap-50"),
    "f64": ("0x1.921fb54442d18p0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110"),
}
# In parts of 33 bits, whose products with a quotient below 2**20 are exact (FreeBSD
# `e_rem_pio2.c`), and the rest.
_PARTS = ("0x1.921fb544p0", "0x1.0b4611a6p-34", "0x1.3198a2ep-69", "0x1.b839a252049c1p-104")
# So far the rounded quotient is the nearest integer or almost, and the parts above are enough.
LIMITS = {"f32": 1.0e5, "f64": 1.0e6}
_BYTES = {"f32": 4, "f64": 8}


def _reduced(e: Emitter, element: str, x: Value) -> tuple[Value, Value]:
    """(r, n) with x = n pi/2 + r and |r| little above pi/4 at most; 0 <= x <= the limit.

    r is off by at most half an ulp of its own, close to multiples of pi/2 too.
    """
    k, n = rounded_quotient(e, x, 2 / math.pi)
    if e.fma:
        for part in _FUSED[element]:
            x = e.fused(k, -float.fromhex(part), x)
        return x, n
    first, second, third, rest = (float.fromhex(part) for part in _PARTS)
    if element == "f32":
        # f64 has the digits to spare that two roundings per step would cost.
        wide, quotient = (e.convert("fpext", value, "double") for value in (x, k))
        for part in (first, second, third):
            wide = wide - quotient * part
        return e.convert("fptrunc", wide, "float"), n
    x = x - k * first
    x, lost_second = _difference(x, k * second)
    x, lost_third = _difference(x, k * third)
    return x + (lost_second + lost_third - k * rest), n


def _difference(a: Value, b: Value) -> tuple[Value, Value]:
    """The rounded a - b and what the rounding lost, exactly: nothing where |a| < |b|."""
    found = a - b
    return found, (a - found) - b


def _at(e: Emitter, element: str, r: Value, quadrant: Value) -> Value:
    """sin(r + quadrant pi/2), |r| <= pi/4.

    sin r = r + r**3 S(r**2), cos r = 1 - r**2 / 2 + r**4 C(r**2): half an ulp from r, half from the
    last sum and, for the cosine, half from 1 - r**2 / 2.
    """
    integer = layout_of(r).integer
    z = r * r
    sine = e.multiply_add(r * z, e.polynomial(z, coefficients.SIN[element]), r)
    cosine = e.multiply_add(
        z * z, e.polynomial(z, coefficients.COS[element]), e.multiply_add(z, -0.5, 1.0)
    )
    odd = (quadrant & 1).compare("ne", 0)
    turned = (quadrant << (layout_of(r).bits - 2)) & layout_of(r).sign_bit
    return e.bitcast(e.bitcast(e.select(odd, cosine, sine), integer) ^ turned, r.kind)


def _function(e: Emitter, element: str, x: Value, name: str) -> Value:
    magnitude = e.absolute(x)
    r, n = _reduced(e, element, magnitude)
    value = _signed(e, element, x, _at(e, element, r, n + _turns(name)), name)
    large = magnitude.compare("ogt", LIMITS[element])
    return e.rarely(large, f"@teeny.{name}_rare.{element}x{e.lanes}", value)


def _turns(name: str) -> int:
    return 1 if name == "cos" else 0


def _signed(e: Emitter, element: str, x: Value, value: Value, name: str) -> Value:
    """sin(-x) = -sin(x), for zeros too."""
    if name == "cos":
        return value
    layout = layout_of(x)
    sign = e.bitcast(x, layout.integer) & layout.sign_bit
    return e.bitcast(e.bitcast(value, layout.integer) ^ sign, layout.kind)


def sin(e: Emitter, element: str, x: Value) -> Value:
    """Sine or cosine of r, negated or not, by the quadrant of |x|, and the sign of x."""
    return _function(e, element, x, "sin")


def cos(e: Emitter, element: str, x: Value) -> Value:
    """The sine of |x| + pi/2, the quarter turn added to the quadrant."""
    return _function(e, element, x, "cos")


def huge(e: Emitter, element: str, x: Value, name: str) -> Value:
    """The same for any finite x, in f64 and one lane; NaN for infinities."""
    assert (element, e.lanes) == ("f64", 1), "large arguments go one by one"
    e.lines += [
        f"  %scalar = extractelement {e.absolute(x)}, i32 0",
        f"  %reduced = call {{ double, i64 }} {QUADRANT}(double %scalar)",
        "  %r = extractvalue { double, i64 } %reduced, 0",
        "  %n = extractvalue { double, i64 } %reduced, 1",
    ]
    r = e.put("double", "bitcast double %r to <1 x double>")
    n = e.put("i64", "bitcast i64 %n to <1 x i64>")
    return _signed(e, element, x, _at(e, element, r, n + _turns(name)), name)


def rare(name: str, element: str, lanes: int) -> str:
    """The function that `name` calls when a lane is large: recomputes these lanes in a loop."""
    kind = ELEMENTS[element]
    vector = f"<{lanes} x {kind}>"
    before = "  %wide = fpext float %v to double\n" if element == "f32" else ""
    after = "  %narrow = fptrunc double %w to float\n" if element == "f32" else ""
    given, result = ("%wide", "%narrow") if element == "f32" else ("%v", "%w")
    return f"""\
define internal {vector} @teeny.{name}_rare.{element}x{lanes}({vector} %x, {vector} %value) \
noinline cold nounwind {{
entry:
  %xs = alloca {vector}, align 64
  %values = alloca {vector}, align 64
  store {vector} %x, ptr %xs, align 64
  store {vector} %value, ptr %values, align 64
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %end]
  %from = getelementptr {kind}, ptr %xs, i64 %i
  %v = load {kind}, ptr %from, align {_BYTES[element]}
  %magnitude = call {kind} @llvm.fabs.{element}({kind} %v)
  %large = fcmp ogt {kind} %magnitude, {hex_float(LIMITS[element], kind)}
  br i1 %large, label %replace, label %end
replace:
{before}  %one = bitcast double {given} to <1 x double>
  %found = call <1 x double> @teeny.{name}_huge.f64x1(<1 x double> %one)
  %w = bitcast <1 x double> %found to double
{after}  %to = getelementptr {kind}, ptr %values, i64 %i
  store {kind} {result}, ptr %to, align {_BYTES[element]}
  br label %end
end:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {lanes}
  br i1 %more, label %loop, label %exit
exit:
  %done = load {vector}, ptr %values, align 64
  ret {vector} %done
}}
"""
