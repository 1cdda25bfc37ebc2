"""erf: a polynomial near zero, one minus an exponential beyond."""

from __future__ import annotations

from teenyc.backend.cpu.maths import coefficients
from teenyc.backend.cpu.maths.emitter import Emitter, Value
from teenyc.backend.cpu.maths.exponential import exp_parts
from teenyc.backend.cpu.maths.layout import layout_of, power_of_two

# Where erf has become 1.
_END = {"f32": 4.0, "f64": 6.0}


def erf(e: Emitter, element: str, x: Value) -> Value:
    """Near zero, |x| < 1, x + x E(x**2); else 1 - exp(Q(|x| - 1)) with the sign of x.

    E is at most 0.13, so half an ulp of the sum dominates. exp(Q) = erfc is at most 0.16, so that
    errors of several ulp in it stay below one ulp of the difference.
    """
    magnitude = e.absolute(x)
    near = e.multiply_add(x, e.polynomial(x * x, coefficients.ERF[element]), x)
    t = e.at_most(magnitude, _END[element]) - 1.0
    p, n = exp_parts(e, element, e.polynomial(t, coefficients.LOG_ERFC[element]))
    power = power_of_two(e, n, layout_of(x))
    far = 1.0 - e.multiply_add(p, power, power)
    return e.select(magnitude.compare("olt", 1.0), near, e.with_sign_of(far, x))
