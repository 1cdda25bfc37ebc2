"""Text of one vector function, written as formulas over `Value`s.

Operators of a `Value` append one instruction each. The emitter knows lanes, element and whether
the target fuses multiply and add; it knows no formula.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

_KINDS = {"float": "f32", "double": "f64"}
ELEMENTS = {"f32": "float", "f64": "double"}


def hex_float(value: float, kind: str) -> str:
    """`value` rounded to `float` or `double`, as the IR spells it: the bits of the double."""
    if kind == "float":
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Value:
    """One SSA vector. `kind` is its element type: `float`, `double`, `i1`, `i32`, ..."""

    __slots__ = ("emitter", "kind", "name")

    def __init__(self, emitter: Emitter, name: str, kind: str) -> None:
        self.emitter, self.name, self.kind = emitter, name, kind

    @property
    def type(self) -> str:
        return self.emitter.vector(self.kind)

    def __str__(self) -> str:
        return f"{self.type} {self.name}"

    def _binary(self, name: str, other: Value | float) -> Value:
        right = self.emitter.like(self, other)
        prefix = "f" if self.kind in _KINDS and name in ("add", "sub", "mul", "div") else ""
        return self.emitter.put(self.kind, f"{prefix}{name} {self}, {right.name}")

    def _reflected(self, name: str, other: Value | float) -> Value:
        return Value._binary(self.emitter.like(self, other), name, self)

    def __add__(self, other: Value | float) -> Value:
        return self._binary("add", other)

    def __sub__(self, other: Value | float) -> Value:
        return self._binary("sub", other)

    def __mul__(self, other: Value | float) -> Value:
        return self._binary("mul", other)

    def __truediv__(self, other: Value | float) -> Value:
        return self._binary("div", other)

    def __radd__(self, other: float) -> Value:
        return self._reflected("add", other)

    def __rsub__(self, other: float) -> Value:
        return self._reflected("sub", other)

    def __rtruediv__(self, other: float) -> Value:
        return self._reflected("div", other)

    def __and__(self, other: Value | int) -> Value:
        return self._binary("and", other)

    def __or__(self, other: Value | int) -> Value:
        return self._binary("or", other)

    def __xor__(self, other: Value | int) -> Value:
        return self._binary("xor", other)

    def __lshift__(self, bits: Value | int) -> Value:
        return self._binary("shl", bits)

    def __rshift__(self, bits: Value | int) -> Value:
        """Logical: zeros come in."""
        return self._binary("lshr", bits)

    def arithmetic_shift(self, bits: int) -> Value:
        """Copies of the sign come in."""
        return self._binary("ashr", bits)

    def compare(self, predicate: str, other: Value | float) -> Value:
        """`olt`, `uno`, ... of floats, `eq`, `ult`, `slt`, ... of integers."""
        right = self.emitter.like(self, other)
        opcode = "fcmp" if self.kind in _KINDS else "icmp"
        return self.emitter.put("i1", f"{opcode} {predicate} {self}, {right.name}")


class Emitter:
    """The instructions of a function of one vector, whose argument is `x`.

    `fma` says whether the target multiplies and adds with one rounding. Only then may a formula use
    `fused`; without it the instruction would become a library call per lane.
    """

    def __init__(self, lanes: int, kind: str, *, fma: bool) -> None:
        self.lanes, self.fma = lanes, fma
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.x = Value(self, "%x", kind)

    # --- values -----------------------------------------------------------------------------------

    def vector(self, kind: str) -> str:
        return f"<{self.lanes} x {kind}>"

    def put(self, kind: str, text: str) -> Value:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return Value(self, name, kind)

    def constant(self, value: float, kind: str) -> Value:
        shown = hex_float(float(value), kind) if kind in _KINDS else str(int(value))
        return Value(self, f"splat ({kind} {shown})", kind)

    def like(self, value: Value, other: Value | float) -> Value:
        return other if isinstance(other, Value) else self.constant(other, value.kind)

    def bitcast(self, value: Value, kind: str) -> Value:
        return self.put(kind, f"bitcast {value} to {self.vector(kind)}")

    def convert(self, opcode: str, value: Value, kind: str) -> Value:
        return self.put(kind, f"{opcode} {value} to {self.vector(kind)}")

    def select(self, condition: Value, yes: Value | float, no: Value | float) -> Value:
        found = yes if isinstance(yes, Value) else no
        assert isinstance(found, Value), "one side of a select is a value"
        left, right = self.like(found, yes), self.like(found, no)
        return self.put(found.kind, f"select {condition}, {left}, {right}")

    def intrinsic(self, name: str, result: str, *operands: Value) -> Value:
        """A call of `@llvm.<name>`, which is overloaded on the result."""
        symbol = f"@llvm.{name}.v{self.lanes}{_KINDS.get(result, result)}"
        types = ", ".join(operand.type for operand in operands)
        self.declared.add(f"declare {self.vector(result)} {symbol}({types})")
        shown = ", ".join(str(operand) for operand in operands)
        return self.put(result, f"call {self.vector(result)} {symbol}({shown})")

    # --- arithmetic -------------------------------------------------------------------------------

    def fused(self, a: Value, b: Value | float, c: Value | float) -> Value:
        """The sum a b + c, rounded once."""
        assert self.fma, "the target has no fused multiply-add"
        return self.intrinsic("fma", a.kind, a, self.like(a, b), self.like(a, c))

    def multiply_add(self, a: Value, b: Value | float, c: Value | float) -> Value:
        """The sum a b + c, rounded once or twice: for terms where it does not matter."""
        return self.fused(a, b, c) if self.fma else a * b + c

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """Sum of coefficients[i] x**i by Horner's rule."""
        found: Value | float = coefficients[-1]
        for coefficient in reversed(coefficients[:-1]):
            if isinstance(found, Value):
                found = self.multiply_add(found, x, coefficient)
            else:
                found = self.multiply_add(x, found, coefficient)
        assert isinstance(found, Value), "a polynomial has at least two coefficients"
        return found

    def negated(self, value: Value) -> Value:
        return self.put(value.kind, f"fneg {value}")

    def absolute(self, value: Value) -> Value:
        return self.intrinsic("fabs", value.kind, value)

    def with_sign_of(self, value: Value, sign: Value) -> Value:
        return self.intrinsic("copysign", value.kind, value, sign)

    def at_most(self, value: Value, limit: float) -> Value:
        """The smaller of the two; a NaN stays NaN."""
        return self.select(value.compare("ogt", limit), limit, value)

    def at_least(self, value: Value, limit: float) -> Value:
        """The larger of the two; a NaN stays NaN."""
        return self.select(value.compare("olt", limit), limit, value)

    # --- control flow and text --------------------------------------------------------------------

    def rarely(self, lanes: Value, symbol: str, value: Value) -> Value:
        """`value`, or where any of `lanes` is set what `@symbol(x, value)` returns."""
        mask = self.vector("i1")
        reduce = f"@llvm.vector.reduce.or.v{self.lanes}i1"
        self.declared.add(f"declare i1 {reduce}({mask})")
        any_lane = f"%any{len(self.lines)}"
        self.lines += [
            f"  {any_lane} = call i1 {reduce}({lanes})",
            f"  br i1 {any_lane}, label %rare, label %done",
            "rare:",
            f"  %other = call {value.type} {symbol}({self.x}, {value})",
            "  br label %done",
            "done:",
        ]
        return self.put(value.kind, f"phi {value.type} [{value.name}, %entry], [%other, %rare]")

    def function(self, symbol: str, result: Value, attributes: str = "alwaysinline") -> str:
        """The `define` of the instructions so far, without the declarations that it needs."""
        head = f"define internal {result.type} {symbol}({self.x}) {attributes} nounwind {{"
        return "\n".join([head, "entry:", *self.lines, f"  ret {result}", "}", ""])
