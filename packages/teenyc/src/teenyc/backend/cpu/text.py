"""LLVM IR as text: typed values, sections that lines go to, and what a whole module collects.

A value knows the level of the loop nest it was made at; an operation lands at the highest level of
its operands, so that everything is hoisted as far as it can be without a pass of LLVM.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from teenyc.backend.cpu.features import Features

WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128, "float": 32, "double": 64}
FLOATS = ("float", "double")
# What an element of the IR is held in while it is computed with.
HELD = {
    "f16": "float",
    "bf16": "float",
    "f8E4M3FN": "float",
    "f8E5M2": "float",
    "f32": "float",
    "f64": "double",
    "ptr": "i64",
}


def held_type(element: str) -> str:
    """The LLVM type that holds an IR element in registers and in the arena."""
    return HELD.get(element, element)


def vector(type_: str, lanes: int) -> str:
    """`float`, or `<8 x float>`."""
    return f"<{lanes} x {type_}>" if lanes else type_


def mangle(type_: str, lanes: int) -> str:
    """The suffix of an overloaded intrinsic: `v8f32`."""
    short = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}.get(type_, type_)
    return f"v{lanes}{short}" if lanes else short


class Val(NamedTuple):
    """An SSA value or a constant: `lanes` 0 is a scalar; `level` is where it was made."""

    text: str
    type: str
    lanes: int = 0
    level: int = 0

    @property
    def llvm(self) -> str:
        """Its LLVM type."""
        return vector(self.type, self.lanes)

    @property
    def is_constant(self) -> bool:
        """A literal of the text."""
        return not self.text.startswith("%")

    def __str__(self) -> str:
        return f"{self.llvm} {self.text}"


def float_text(value: float, type_: str) -> str:
    """A float as LLVM spells it: the bits of the double it is."""
    if type_ == "float":
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def number(value: float, type_: str, lanes: int = 0) -> Val:
    """A constant, repeated in every lane."""
    if type_ in FLOATS:
        text = float_text(value, type_)
    elif type_ == "i1":
        text = "true" if value else "false"
    else:
        text = str(int(value))
    return Val(f"splat ({type_} {text})" if lanes else text, type_, lanes)


def iota(type_: str, lanes: int, step: int = 1) -> Val:
    """The constant vector 0, step, 2 step, ..."""
    return Val(f"<{', '.join(f'{type_} {i * step}' for i in range(lanes))}>", type_, lanes)


class Section:
    """Lines of straight code, with the label of the block that they end in."""

    __slots__ = ("label", "lines")

    def __init__(self, label: str) -> None:
        self.label = label
        self.lines: list[str] = []

    def open(self, label: str) -> None:
        """Begin the block `label`; the block before has its terminator already."""
        self.lines.append(f"{label}:")
        self.label = label


class Output:
    """What the functions of one module share: names, declarations, helper functions, maths."""

    def __init__(self, features: Features, *, fusion: bool, checks: bool = False) -> None:
        self.features = features
        self.fusion = fusion
        self.checks = checks
        self.declares: set[str] = set()
        self.helpers: dict[str, str] = {}
        self.maths: set[tuple[str, int, str]] = set()
        # Helper functions take vectors, so all must agree on how these are passed.
        self.passes_vectors = False
        self._count = 0

    def fresh(self, prefix: str = "v") -> str:
        """A number that no other name has, behind `prefix`."""
        self._count += 1
        return f"{prefix}{self._count}"
