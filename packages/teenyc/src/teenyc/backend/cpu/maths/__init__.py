"""Vector maths of the CPU back end as LLVM IR text: `define` gives one function for one shape.

At most 2 ulp in f32 and f64 (README.md has the measured table), signed zeros, infinities, NaN and
subnormals as IEEE 754 recommends, the same bits on every target of the same kind (with or without
fused multiply-add). Nothing here calls the C library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from teenyc.backend.cpu.maths import (
    error_function,
    exponential,
    logarithm,
    quadrant,
    root,
    trigonometric,
)
from teenyc.backend.cpu.maths.definition import Definition, Key
from teenyc.backend.cpu.maths.emitter import ELEMENTS, Emitter, Value

__all__ = ["FUNCTIONS", "Definition", "Key", "complete", "define", "module_text"]

Formula = Callable[[Emitter, str, Value], Value]

FUNCTIONS: Mapping[str, Formula] = {
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "log": logarithm.log,
    "log2": logarithm.log2,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tanh": exponential.tanh,
    "sqrt": root.sqrt,
    "rsqrt": root.rsqrt,
    "erf": error_function.erf,
    "sigmoid": exponential.sigmoid,
}


@lru_cache(maxsize=512)
def define(name: str, lanes: int, element: str, fma: bool) -> Definition:
    """The definition of `name` (a key of `FUNCTIONS`, or what another one needs).

    It takes and returns `<lanes x float>` or `<lanes x double>` (one lane is a vector too), for
    `element` "f32" or "f64". `fma`: the target has fused multiply-add in hardware.
    """
    assert lanes in (1, 2, 4, 8, 16, 32, 64), f"{lanes} lanes"
    if name == "quadrant":
        return Definition(quadrant.QUADRANT, quadrant.TEXT, quadrant.DECLARES, frozenset())
    symbol = f"@teeny.{name}.{element}x{lanes}"
    base, _, variant = name.partition("_")
    if variant == "rare":
        text = trigonometric.rare(base, element, lanes)
        kind = ELEMENTS[element]
        absolute = f"declare {kind} @llvm.fabs.{element}({kind})"
        needs = frozenset({(f"{base}_huge", 1, "f64")})
        return Definition(symbol, text, frozenset({absolute}), needs)
    e = Emitter(lanes, ELEMENTS[element], fma=fma)
    if variant == "huge":
        result = trigonometric.huge(e, element, e.x, base)
        text = e.function(symbol, result, "noinline")
        return Definition(symbol, text, frozenset(e.declared), frozenset({("quadrant", 1, "f64")}))
    text = e.function(symbol, FUNCTIONS[name](e, element, e.x))
    rare: list[Key] = [(f"{name}_rare", lanes, element)] if name in ("sin", "cos") else []
    return Definition(symbol, text, frozenset(e.declared), frozenset(rare))


def complete(definitions: Iterable[Definition], *, fma: bool) -> tuple[Definition, ...]:
    """`definitions` and all that they need, each once, in a fixed order."""
    found: dict[str, Definition] = {}
    pending = list(definitions)[::-1]
    while pending:
        definition = pending.pop()
        if definition.symbol not in found:
            found[definition.symbol] = definition
            pending += [define(*key, fma) for key in sorted(definition.needs, reverse=True)]
    return tuple(found.values())


def module_text(definitions: Iterable[Definition], *, fma: bool) -> str:
    """`definitions`, all that they need and what these declare, as the text of a module."""
    found = complete(definitions, fma=fma)
    lines = sorted({line for definition in found for line in definition.declares})
    return "\n".join([*lines, *(definition.text for definition in found)])
