"""What is checked while compiling."""

from __future__ import annotations

from teenyc.codes import E0210, E0408
from teenyc.ir.builder import Builder
from teenyc.ir.opdef import lowers
from teenyc.values import RuntimeValue, describe


@lowers("static_assert")
def _static_assert(b: Builder, cond: object, msg: object = "") -> None:
    if isinstance(cond, RuntimeValue):
        raise b.fail(E0210, arg="cond", what=f"the condition ({describe(cond)})").help(
            "only compile-time values can be asserted here"
        )
    if not cond:
        raise b.fail(E0408, arg="cond", message=f": {msg}" if msg else "").help(
            "instantiate with other compile-time values, or change the assertion"
        )
