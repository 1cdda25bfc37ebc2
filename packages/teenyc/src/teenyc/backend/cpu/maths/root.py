"""sqrt, which every target rounds correctly, and its reciprocal."""

from __future__ import annotations

from teenyc.backend.cpu.maths.emitter import Emitter, Value


def sqrt(e: Emitter, element: str, x: Value) -> Value:
    """IEEE square root: half an ulp, -0.0 stays, NaN below zero."""
    return e.intrinsic("sqrt", x.kind, x)


def rsqrt(e: Emitter, element: str, x: Value) -> Value:
    """The quotient 1 / sqrt(x); an infinity of the same sign at a zero.

    Half an ulp from the root, doubled at most in ulp of the quotient, and half of its own.
    """
    return 1.0 / e.intrinsic("sqrt", x.kind, x)
