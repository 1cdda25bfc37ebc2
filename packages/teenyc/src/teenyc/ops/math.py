"""Elementwise functions of MLIR's `math`, and the DSL functions that lower to one of them.

The NumPy readings compute in float64 and round once, so they are the correctly rounded values;
`ulp` is what a GPU may differ from them in `domain` (PTX: `ex2.approx`, `lg2.approx`,
`sqrt.approx`, `rsqrt.approx`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from teenyc.codes import E0305, E0313
from teenyc.ir.builder import Builder
from teenyc.ir.opdef import OpDef, lowers
from teenyc.ops import scalars
from teenyc.ops.families import Array, float_op, int_op
from teenyc.ops.literals import numeric
from teenyc.types import F32, F64
from teenyc.values import RuntimeValue


def _wide(np: Any, x: Array) -> Array:
    return x if x.dtype == np.float64 else x.astype(np.float64)


def function(
    name: str,
    dsl: str,
    *,
    ref: Callable[[Any, Array], Array],
    fold: Callable[[float], float] | None = None,
    cpu: Callable[[Any, Any], Any] | None = None,
    cost: int = 20,
    domain: tuple[float, float] = (-4.0, 4.0),
    ulp: float = 0.0,
) -> OpDef:
    """A function of one f32 or f64 value, and the handler of the DSL function `dsl`."""
    record = float_op(
        name,
        1,
        fold=fold,
        ref=lambda np, x: ref(np, _wide(np, x)),
        cpu=cpu or (lambda c, x: c.function(dsl, x)),
        cost=cost,
        dsl=(dsl,),
        domain=domain,
        ulp=ulp,
    )

    def handler(b: Builder, x: object) -> RuntimeValue:
        value, dtype = numeric(b, x, dsl, "x")
        if dtype not in (F32, F64):
            raise b.fail(E0305, f"has dtype {dtype}", arg="x", op=dsl, dtype=dtype).help(
                f"cast it first: `{dsl}(x.to(f32))`"
            )
        return RuntimeValue(b.value(record, value.ir), dtype, value.shape)

    handler.__name__ = f"_{dsl}"
    lowers(dsl)(handler)
    return record


EXP = function("math.exp", "exp", ref=lambda np, x: np.exp(x), domain=(-20.0, 20.0), ulp=32.0)
EXP2 = function("math.exp2", "exp2", ref=lambda np, x: np.exp2(x), domain=(-20.0, 20.0), ulp=2.0)
LOG = function("math.log", "log", ref=lambda np, x: np.log(x), domain=(0.0, 1e4), ulp=3.0)
LOG2 = function("math.log2", "log2", ref=lambda np, x: np.log2(x), domain=(0.0, 1e4), ulp=3.0)
SQRT = function(
    "math.sqrt",
    "sqrt",
    fold=scalars.square_root,
    ref=lambda np, x: np.sqrt(x),
    domain=(0.0, 1e4),
    ulp=2.0,
)
RSQRT = function(
    "math.rsqrt", "rsqrt", ref=lambda np, x: 1.0 / np.sqrt(x), domain=(0.0, 1e4), ulp=2.0
)

SIN = function("math.sin", "sin", ref=lambda np, x: np.sin(x), domain=(-100.0, 100.0), ulp=2.0)
COS = function("math.cos", "cos", ref=lambda np, x: np.cos(x), domain=(-100.0, 100.0), ulp=2.0)


def _erf(np: Any, x: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), dtype=np.float64)


ERF = function("math.erf", "erf", ref=_erf, ulp=2.0)

ABSF = float_op(
    "math.absf",
    1,
    fold=abs,
    ref=lambda np, x: np.abs(x),
    cpu=lambda c, x: c.magnitude(x),
    dsl=("abs",),
)
ABSI = int_op(
    "math.absi",
    1,
    fold=lambda bits, x: abs(x),
    ref=lambda np, x: np.abs(x),
    cpu=lambda c, x: c.absolute(x),
    dsl=("abs",),
)


@lowers("abs")
def _abs(b: Builder, x: object) -> RuntimeValue:
    value, dtype = numeric(b, x, "abs", "x")
    if dtype.kind in ("uint", "bool"):
        return value
    if dtype.is_float and dtype.bits == 8:
        raise b.fail(E0313, arg="x", op="abs", dtype=dtype).help("cast it first: `x.to(f32)`")
    record = ABSF if dtype.is_float else ABSI
    return RuntimeValue(b.value(record, value.ir), dtype, value.shape)
