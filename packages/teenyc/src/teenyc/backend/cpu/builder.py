"""`Builder`: what the `cpu` facets of the records write with. It knows no operation of the IR.

Operands may be scalars and vectors in any mix: scalars are repeated where a vector meets them. Each
instruction lands in the section of its highest operand. Floats narrower than 32 bits are held as
`float` that contain only values of their type, i1 as i1, pointers as i64 addresses.
"""

from __future__ import annotations

from teenyc.backend.cpu import narrow
from teenyc.backend.cpu.text import (
    FLOATS,
    WIDTHS,
    Output,
    Section,
    Val,
    held_type,
    mangle,
    number,
    vector,
)

_NARROW = frozenset(("f16", "bf16", "f8E4M3FN", "f8E5M2"))


class Builder:
    """Appends typed instructions to `sections`, one for each level of a loop nest."""

    def __init__(self, output: Output, sections: list[Section]) -> None:
        self.output = output
        self.sections = sections
        self.program: dict[str, Val] = {}
        self.grid: dict[str, Val] = {}
        self._splats: dict[tuple[str, int, int], Val] = {}

    # --- instructions -----------------------------------------------------------------------------

    def put(self, text: str, type_: str, lanes: int, level: int) -> Val:
        """Append `%name = text` at `level`."""
        name = f"%{self.output.fresh()}"
        self.sections[level].lines.append(f"  {name} = {text}")
        return Val(name, type_, lanes, level)

    def do(self, text: str, level: int) -> None:
        """Append an instruction without a result."""
        self.sections[level].lines.append(f"  {text}")

    def splat(self, x: Val, lanes: int, level: int | None = None) -> Val:
        """`x` in every lane."""
        if x.lanes == lanes:
            return x
        assert not x.lanes, (x, lanes)
        if x.is_constant:
            return Val(f"splat ({x.type} {x.text})", x.type, lanes)
        place = x.level if level is None else level
        key = (x.text, lanes, id(self.sections[place]))
        if key not in self._splats:
            type_ = vector(x.type, lanes)
            one = self.put(f"insertelement {type_} poison, {x}, i32 0", x.type, lanes, place)
            zeros = f"<{lanes} x i32> zeroinitializer"
            self._splats[key] = self.put(
                f"shufflevector {type_} {one.text}, {type_} poison, {zeros}", x.type, lanes, place
            )
        return self._splats[key]

    def joined(self, *values: Val) -> tuple[tuple[Val, ...], int, int]:
        """The operands with as many lanes each, these lanes, and the level of the result."""
        lanes = max(value.lanes for value in values)
        level = max(value.level for value in values)
        if lanes:
            values = tuple(self.splat(value, lanes) for value in values)
        return values, lanes, level

    def binary(self, name: str, x: Val, y: Val, flags: str = "") -> Val:
        """An instruction of two operands of one type."""
        (x, y), lanes, level = self.joined(x, y)
        return self.put(f"{name} {flags}{x}, {y.text}", x.type, lanes, level)

    def cast(self, name: str, x: Val, type_: str) -> Val:
        """A conversion instruction to `type_`; nothing when it is there already."""
        if x.type == type_:
            return x
        return self.put(f"{name} {x} to {vector(type_, x.lanes)}", type_, x.lanes, x.level)

    def call(self, name: str, type_: str, *args: Val, suffix: str = "", extra: str = "") -> Val:
        """A call of an intrinsic, overloaded on the type of its first operand."""
        args, lanes, level = self.joined(*args)
        result = vector(type_, lanes)
        kinds = ", ".join(arg.llvm for arg in args) + (
            f", {extra.partition(' ')[0]}" if extra else ""
        )
        symbol = f"@{name}.{suffix}{mangle(args[0].type, lanes)}"
        self.output.declares.add(f"declare {result} {symbol}({kinds})")
        given = ", ".join(map(str, args)) + (f", {extra}" if extra else "")
        return self.put(f"call {result} {symbol}({given})", type_, lanes, level)

    def select(self, condition: Val, x: Val, y: Val) -> Val:
        """`x` where `condition` holds, else `y`."""
        if not condition.lanes and (x.lanes or y.lanes):
            (x, y), lanes, level = self.joined(x, y)
            level = max(level, condition.level)
        else:
            (condition, x, y), lanes, level = self.joined(condition, x, y)
        return self.put(f"select {condition}, {x}, {y}", x.type, lanes, level)

    def compare(self, predicate: str, x: Val, y: Val) -> Val:
        """`icmp` or `fcmp`, by the type of the operands."""
        (x, y), lanes, level = self.joined(x, y)
        kind = "fcmp" if x.type in FLOATS else "icmp"
        return self.put(f"{kind} {predicate} {x}, {y.text}", "i1", lanes, level)

    def bits(self, x: Val) -> Val:
        """The bits of a float."""
        return self.cast("bitcast", x, f"i{WIDTHS[x.type]}")

    def same(self, x: Val, value: float) -> Val:
        """The constant `value` in the type of `x`."""
        return number(value, x.type)

    # --- what records need ------------------------------------------------------------------------

    def constant(self, value: float, element: str) -> Val:
        """A constant of an IR element type."""
        return number(value, held_type(element))

    def integer(self, name: str, x: Val, y: Val) -> Val:
        """Integer arithmetic that wraps."""
        return self.binary(name, x, y)

    def extreme(self, name: str, x: Val, y: Val) -> Val:
        """`smax`, `umax`, `smin` or `umin`."""
        return self.call(f"llvm.{name}", x.type, x, y)

    def absolute(self, x: Val) -> Val:
        """The absolute value of an integer; the least one is its own."""
        return self.call("llvm.abs", x.type, x, extra="i1 false")

    def shift(self, name: str, x: Val, amount: Val) -> Val:
        """A shift; by the width or more (or by less than 0) every bit leaves."""
        width = self.same(amount, WIDTHS[x.type])
        inside = self.compare("ult", amount, width)
        rest = WIDTHS[x.type] - 1 if name == "ashr" else 0
        safe = self.select(inside, amount, self.same(amount, rest))
        moved = self.binary(name, x, safe)
        return moved if name == "ashr" else self.select(inside, moved, self.same(x, 0))

    def quotient(self, x: Val, y: Val, *, signed: bool) -> Val:
        """Truncated division; by zero it gives 0, and the quotient that does not fit wraps."""
        zero, one = self.same(y, 0), self.same(y, 1)
        bad = self.compare("eq", y, zero)
        name, unsafe = "udiv", bad
        if signed:
            name = "sdiv"
            least = self.compare("eq", x, self.same(x, -(1 << (WIDTHS[x.type] - 1))))
            minus = self.compare("eq", y, self.same(y, -1))
            unsafe = self.binary("or", bad, self.binary("and", least, minus))
        safe = self.select(unsafe, one, y)
        lanes = max(x.lanes, y.lanes)
        if lanes and WIDTHS[x.type] <= 32 and not y.is_constant:
            # Exact: a double holds the quotient of two 32-bit integers closely enough to truncate.
            to, back = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
            wide = self.binary("fdiv", self.cast(to, x, "double"), self.cast(to, safe, "double"))
            found = self.cast(back, wide, x.type)
        else:
            found = self.binary(name, x, safe)
        return found if y.is_constant and y.text != "0" else self.select(bad, zero, found)

    def rest(self, x: Val, y: Val, *, signed: bool) -> Val:
        """What truncated division leaves; `x` itself for a zero divisor."""
        whole = self.quotient(x, y, signed=signed)
        return self.binary("sub", x, self.binary("mul", whole, y))

    def float(self, name: str, x: Val, y: Val) -> Val:
        """`fadd`, `fsub`, `fmul`, `fdiv`; the first three may be fused where fusion is on."""
        fused = self.output.fusion and name != "fdiv"
        return self.binary(name, x, y, "contract " if fused else "")

    def remainder(self, x: Val, y: Val) -> Val:
        """The remainder of truncated division of floats, by `fmod` of the C library."""
        symbol = "fmodf" if x.type == "float" else "fmod"
        self.output.declares.add(f"declare {x.type} @{symbol}({x.type}, {x.type})")
        return self.lanewise(symbol, x, y)

    def lanewise(self, symbol: str, x: Val, y: Val) -> Val:
        """A scalar function called for each lane."""
        (x, y), lanes, level = self.joined(x, y)
        if not lanes:
            return self.put(f"call {x.type} @{symbol}({x}, {y})", x.type, 0, level)
        found = Val("poison", x.type, lanes)
        for i in range(lanes):
            left, right = (
                self.put(f"extractelement {v}, i32 {i}", x.type, 0, level) for v in (x, y)
            )
            one = self.put(f"call {x.type} @{symbol}({left}, {right})", x.type, 0, level)
            found = self.put(f"insertelement {found}, {one}, i32 {i}", x.type, lanes, level)
        return found

    def negative(self, x: Val) -> Val:
        """`x` with the other sign."""
        return self.put(f"fneg {x}", x.type, x.lanes, x.level)

    def magnitude(self, x: Val) -> Val:
        """The absolute value of a float."""
        return self.call("llvm.fabs", x.type, x)

    def greatest(self, x: Val, y: Val, *, drop_nan: bool) -> Val:
        """The greater number, +0.0 above -0.0; a NaN is dropped, or kept."""
        return self._chosen("ogt", "and", x, y, drop_nan=drop_nan)

    def least(self, x: Val, y: Val, *, drop_nan: bool) -> Val:
        """The smaller number, -0.0 below +0.0; a NaN is dropped, or kept."""
        return self._chosen("olt", "or", x, y, drop_nan=drop_nan)

    def _chosen(self, predicate: str, mix: str, x: Val, y: Val, *, drop_nan: bool) -> Val:
        found = self.select(self.compare(predicate, x, y), x, y)
        # Equal numbers differ at most in the sign of a zero.
        signs = self.cast("bitcast", self.binary(mix, self.bits(x), self.bits(y)), x.type)
        found = self.select(self.compare("oeq", x, y), signs, found)
        if drop_nan:
            return self.select(self.compare("uno", y, y), x, found)
        either = self.compare("uno", x, y)
        return self.select(either, self.binary("fadd", x, y), found)

    def function(self, name: str, x: Val) -> Val:
        """A function of the vector maths."""
        element = "f32" if x.type == "float" else "f64"
        lanes = x.lanes or 1
        self.output.maths.add((name, lanes, element))
        type_ = vector(x.type, lanes)
        given = x
        if not x.lanes:
            given = self.put(f"insertelement {type_} poison, {x}, i32 0", x.type, 1, x.level)
        symbol = f"@teeny.{name}.{element}x{lanes}"
        found = self.put(f"call {type_} {symbol}({type_} {given.text})", x.type, lanes, x.level)
        if x.lanes:
            return found
        return self.put(f"extractelement {found}, i32 0", x.type, 0, x.level)

    # --- conversions ------------------------------------------------------------------------------

    def rounded(self, x: Val, element: str, *, toward_zero: bool = False) -> Val:
        """A float rounded once to the IR type `element`, as that type is held."""
        if element == "f64":
            return self.cast("fpext", x, "double")
        if element == "f32":
            if x.type == "float":
                return x
            return narrow.shorten(self, x) if toward_zero else self.cast("fptrunc", x, "float")
        return narrow.rounded(self, x, element, toward_zero=toward_zero)

    def odd_sum(self, x: Val, y: Val) -> Val:
        """The sum of two doubles, such that rounding it to a narrow float rounds once."""
        return narrow.odd_sum(self, x, y)

    def widened(self, x: Val, element: str) -> Val:
        """A float as a wider IR type holds it."""
        return self.cast("fpext", x, held_type(element))

    def resized(self, x: Val, element: str, *, signed: bool) -> Val:
        """An integer widened with or without its sign."""
        return self.cast("sext" if signed else "zext", x, held_type(element))

    def truncated(self, x: Val, element: str) -> Val:
        """The low bits of an integer."""
        return self.cast("trunc", x, held_type(element))

    def from_integer(self, x: Val, element: str, *, signed: bool) -> Val:
        """An integer as a float, rounded once."""
        name = "sitofp" if signed else "uitofp"
        if element in ("f32", "f64"):
            return self.cast(name, x, held_type(element))
        wide = narrow.odd_double(self, x, signed=signed)
        return self.rounded(wide, element)

    def to_integer(self, x: Val, element: str, *, signed: bool) -> Val:
        """A float truncated towards zero; what does not fit gives the nearest one, NaN 0."""
        name = f"llvm.fpto{'s' if signed else 'u'}i.sat"
        type_ = held_type(element)
        return self.call(name, type_, x, suffix=f"{mangle(type_, x.lanes)}.")

    def bitcast(self, x: Val, before: str, after: str) -> Val:
        """The bits of one IR type read as another of the same width."""
        if before == after or "ptr" in (before, after):
            return x
        return self.decode(self.encode(x, before), after)

    def encode(self, x: Val, element: str) -> Val:
        """A held value as it lies in memory: i1 as a byte, narrow floats as their bits."""
        if element == "i1":
            return self.cast("zext", x, "i8")
        return narrow.encoded(self, x, element) if element in _NARROW else x

    def decode(self, x: Val, element: str) -> Val:
        """What `encode` gave, or any bits of a type in memory, as the type is held."""
        if element == "i1":
            return self.cast("trunc", x, "i1") if x.type == "i8" else x
        if element in _NARROW:
            return narrow.decoded(self, x, element)
        return self.cast("bitcast", x, held_type(element))


def memory_type(element: str) -> str:
    """The LLVM type of an IR element in user memory."""
    if element in _NARROW:
        return "i8" if element.startswith("f8") else "i16"
    return "i8" if element == "i1" else held_type(element)
