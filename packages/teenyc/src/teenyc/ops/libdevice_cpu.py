"""What a CPU does for functions of libdevice: instructions, and the vector maths.

`emit` is asked with the DSL's name; functions that are not here have no code for a CPU, since an
object may call next to nothing of the C library.
"""

from __future__ import annotations

from typing import Any

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


_OTHERS = ("isnan", "isinf", "popc", "clz", "fmod")


def has_code(name: str) -> bool:
    """Whether a CPU has code for a function."""
    return name in (*INTRINSICS, *MATHS, *ARITHMETIC, *_OTHERS)


def emit(c: Any, name: str, values: tuple[Any, ...]) -> Any:
    """The code of a function that `has_code`."""
    first = values[0]
    if name in INTRINSICS:
        return c.call(INTRINSICS[name], first.type, *values)
    if name in MATHS:
        return c.function(MATHS[name], first)
    if name in ARITHMETIC:
        return c.binary(ARITHMETIC[name], *values)
    if name == "isnan":
        return c.cast("zext", c.compare("uno", first, first), "i32")
    if name == "isinf":
        infinite = c.compare("oeq", c.magnitude(first), c.same(first, float("inf")))
        return c.cast("zext", infinite, "i32")
    if name in ("popc", "clz"):
        extra = "i1 false" if name == "clz" else ""
        symbol = "llvm.ctlz" if name == "clz" else "llvm.ctpop"
        return c.cast("trunc", c.call(symbol, first.type, first, extra=extra), "i32")
    return c.remainder(*values)
