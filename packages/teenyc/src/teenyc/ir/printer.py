"""Text of the IR in Triton's MLIR dialect: readable, stable names, no paths or hashes.

Operations print themselves (`OpDef.fmt`, with `{}` where each region goes); spelling that differs
between libtriton versions comes in as
`Dialect` switches.
"""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from teenyc.types import DescriptorType, ScalarType, scalar_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teenyc.ir.core import Block, Function, Location, Module, Operation, Region, Value
    from teenyc.types import IRType

_UNSAFE = re.compile(r"[^A-Za-z0-9_]")
_FLOAT_BITS = {"f16": ("<e", "<H", 4), "f32": ("<f", "<I", 8), "f64": ("<d", "<Q", 16)}


class Dialect(NamedTuple):
    """Spelling switches between versions of libtriton (see backend/gpu/versions.py)."""

    cache_policy_attribute: bool = True
    bare_descriptor_type: bool = True
    has_negf: bool = True
    atomic_access: bool = True


class Names:
    """Hands out SSA names: the source name where there is one, else one from the operation."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._names: dict[int, str] = {}
        self._taken: dict[str, int] = {}

    def define(self, value: Value, fallback: str) -> str:
        """Give `value` a name that no other value has."""
        base = _UNSAFE.sub("_", value.hint or fallback)
        if base[0].isdigit():
            base = f"v{base}"
        count = self._taken.get(base, 0)
        self._taken[base] = count + 1
        name = f"%{base}" if count == 0 else f"%{base}_{count}"
        while count and name[1:] in self._taken:
            count += 1
            name = f"%{base}_{count}"
        self._taken.setdefault(name[1:], 1)
        self._names[id(value)] = name
        return name

    def __call__(self, value: Value) -> str:
        return self._names[id(value)]

    def list(self, values: Sequence[Value]) -> str:
        """Names, comma-separated."""
        return ", ".join(self(value) for value in values)

    def type(self, type_: IRType) -> str:
        """A type in the spelling of the dialect."""
        if not isinstance(type_, DescriptorType) or self.dialect.bare_descriptor_type:
            return str(type_)
        return f"!tt.tensordesc<tensor<{type_.sides}>>"

    def types(self, values: Sequence[Value]) -> str:
        """The types of values, comma-separated."""
        return ", ".join(self.type(value.type) for value in values)


def literal(value: bool | float, type_: IRType) -> str:
    """A constant's text: decimal where it reads back exactly, the bit pattern else."""
    scalar = scalar_of(type_)
    assert isinstance(scalar, ScalarType)
    if scalar.name == "i1":
        return "true" if value else "false"
    if scalar.name.startswith("i"):
        return str(int(value))
    number = float(value)
    if math.isfinite(number):
        return f"{number:.17e}" if scalar.name == "f64" else _short_float(number)
    return _float_bits(number, scalar.name)


def _short_float(number: float) -> str:
    text = repr(number)
    mantissa, _, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}e{exponent}" if exponent else mantissa


def _float_bits(number: float, name: str) -> str:
    if name in _FLOAT_BITS:
        pack, unpack, width = _FLOAT_BITS[name]
        (bits,) = struct.unpack(unpack, struct.pack(pack, number))
        return f"0x{bits:0{width}X}"
    if name == "bf16":
        (bits,) = struct.unpack("<I", struct.pack("<f", number))
        return f"0x{bits >> 16:04X}"
    exponent = {"f8E5M2": 0x7C, "f8E4M3FN": 0x7F}[name]  # e4m3fn has no infinity: NaN
    bits = exponent if not math.isnan(number) else {"f8E5M2": 0x7E, "f8E4M3FN": 0x7F}[name]
    return f"0x{bits | (0x80 if math.copysign(1.0, number) < 0 else 0):02X}"


def quoted(text: str) -> str:
    """A string literal of MLIR: what is not plain ASCII as two hexadecimal digits a byte."""
    plain = (
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\\\' else f"\\{byte:02X}"
        for byte in text.encode("utf-8")
    )
    return f'"{"".join(plain)}"'


def _with_hints(text: str, hints: Sequence[tuple[str, tuple[int, ...]]]) -> str:
    """Facts of the result (`tt.divisibility`), in the attributes of the operation's text."""
    facts = ", ".join(
        f"{name} = dense<{_dense(values)}> : tensor<{len(values)}xi32>"
        for name, values in sorted(hints)
    )
    head, colon, types = text.rpartition(" : ")
    if head.endswith("}"):
        return f"{head[:-1]}, {facts}}}{colon}{types}"
    return f"{head} {{{facts}}}{colon}{types}"


def _dense(values: tuple[int, ...]) -> str:
    if len(set(values)) == 1:
        return str(values[0])
    return f"[{', '.join(map(str, values))}]"


def print_module(module: Module, *, dialect: Dialect | None = None, locations: bool = False) -> str:
    """The module's text; `locations` adds `loc(...)` to every operation, for the back end."""
    printer = _Printer(Names(dialect or Dialect()), locations=locations)
    for i, function in enumerate(module.functions):
        printer.function(function, public=i == 0)
    return "module {\n" + "".join(printer.lines) + "}\n"


class _Printer:
    def __init__(self, names: Names, *, locations: bool) -> None:
        self.names = names
        self.locations = locations
        self.lines: list[str] = []

    def function(self, function: Function, *, public: bool) -> None:
        args = []
        for arg, attrs in zip(function.args, function.arg_attrs, strict=True):
            text = f"{self.names.define(arg, 'arg')}: {self.names.type(arg.type)}"
            if attrs:
                text += " {" + ", ".join(f"{k} = {v} : i32" for k, v in attrs.items()) + "}"
            args.append(text + self.loc(function.loc))
        visibility = "public" if public else "private"
        head = f"  tt.func {visibility} @{function.name}({', '.join(args)})"
        if function.result_types:
            head += f" -> ({', '.join(map(str, function.result_types))})"
        self.lines.append(head + " attributes {noinline = false} {\n")
        self.block(function.body.block, "    ")
        self.lines.append("  }" + self.loc(function.loc) + "\n")

    def block(self, block: Block, indent: str) -> None:
        for op in block.ops:
            self.operation(op, indent)

    def operation(self, op: Operation, indent: str) -> None:
        text = op.opdef.fmt(op, self.names)
        hints = op.attrs.get("hints")
        if hints and op.name != "arith.constant":  # whose attributes come before the value
            text = _with_hints(text, hints)
        head, hole, tail = text.partition("{}")
        left = ""
        if op.results:
            short = op.name.rpartition(".")[2]
            names = [self.names.define(value, short) for value in op.results]
            left = f"{names[0]} = " if len(names) == 1 else self._many(op, names[0])
        if not hole:
            self.lines.append(f"{indent}{left}{text}{self.loc(op.loc)}\n")
            return
        self.lines.append(f"{indent}{left}{head}{{\n")
        for i, region in enumerate(op.regions):
            if i:
                separator, hole, tail = tail.partition("{}")
                self.lines.append(f"{indent}}}{separator}{{\n")
            self.region(region, indent, labelled=i in op.opdef.labelled)
        self.lines.append(f"{indent}}}{tail}{self.loc(op.loc)}\n")

    def _many(self, op: Operation, first: str) -> str:
        for i, value in enumerate(op.results):
            self.names._names[id(value)] = f"{first}#{i}"  # noqa: SLF001 - the printer owns its names
        return f"{first}:{len(op.results)} = "

    def region(self, region: Region, indent: str, *, labelled: bool) -> None:
        block = region.block
        if labelled:
            args = ", ".join(
                f"{self.names.define(a, 'arg')}: {self.names.type(a.type)}" for a in block.args
            )
            self.lines.append(f"{indent}^bb0({args}):\n")
        self.block(block, indent + "  ")

    def loc(self, loc: Location) -> str:
        if not self.locations:
            return ""
        return f" loc({_loc(loc)})"


def _loc(loc: Location) -> str:
    if not loc.file:
        return "unknown"
    text = f'"{loc.file}":{loc.line}:{loc.column}'
    if loc.caller is not None:
        return f"callsite({text} at {_loc(loc.caller)})"
    return text
