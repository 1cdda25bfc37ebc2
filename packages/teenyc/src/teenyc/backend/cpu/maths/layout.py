"""How f32 and f64 are laid out in bits, and what the formulas do with those bits."""

from __future__ import annotations

import math
from typing import NamedTuple

from teenyc.backend.cpu.maths.emitter import Emitter, Value


class Layout(NamedTuple):
    """`kind` and `integer` are the IR's element types; `mantissa` counts the stored bits."""

    kind: str
    integer: str
    mantissa: int
    bias: int

    @property
    def rounder(self) -> float:
        """1.5 2**mantissa: what it is added to is rounded to an integer, held in the low bits."""
        return 1.5 * 2.0**self.mantissa

    @property
    def rounder_bits(self) -> int:
        return ((self.bias + self.mantissa) << self.mantissa) | (1 << (self.mantissa - 1))

    @property
    def bits(self) -> int:
        return int(self.integer[1:])

    @property
    def sign_bit(self) -> int:
        return -(1 << (self.bits - 1))

    @property
    def smallest_normal(self) -> float:
        return math.ldexp(1.0, 1 - self.bias)


LAYOUTS = {"f32": Layout("float", "i32", 23, 127), "f64": Layout("double", "i64", 52, 1023)}
BY_KIND = {layout.kind: layout for layout in LAYOUTS.values()}


def layout_of(value: Value) -> Layout:
    """The layout of the value's elements, which are floats."""
    return BY_KIND[value.kind]


def rounded_quotient(e: Emitter, x: Value, inverse: float) -> tuple[Value, Value]:
    """The integer nearest to x inverse, as float and as integer; below 2**(mantissa - 1)."""
    layout = layout_of(x)
    shifted = e.multiply_add(x, inverse, layout.rounder)
    return shifted - layout.rounder, e.bitcast(shifted, layout.integer) - layout.rounder_bits


def integer_as_float(e: Emitter, n: Value, layout: Layout) -> Value:
    """A small integer as a float: AVX2 has no conversion of 64-bit integers."""
    return e.bitcast(n + layout.rounder_bits, layout.kind) - layout.rounder


def power_of_two(e: Emitter, n: Value, layout: Layout) -> Value:
    """2**n, where that is a normal number."""
    return e.bitcast((n + layout.bias) << layout.mantissa, layout.kind)


def scaled(e: Emitter, value: Value, n: Value) -> Value:
    """The product value 2**n, rounded once; 2**n itself may lie beyond the range."""
    layout = layout_of(value)
    half = n.arithmetic_shift(1)
    partly = value * power_of_two(e, half, layout)
    return partly * power_of_two(e, n - half, layout)


def leading_half(e: Emitter, value: Value) -> Value:
    """The leading half of the significant bits, so that products of two such are exact."""
    layout = layout_of(value)
    kept = -(1 << (layout.mantissa // 2 + 1))
    return e.bitcast(e.bitcast(value, layout.integer) & kept, layout.kind)
