"""What one program moves and computes, counted in the MLIR of a kernel.

Loops count as often as they run, where their bounds are known from constants and given arguments;
else once, and the count says so. Masks are not looked at: a load counts all its elements.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Operations on the elements of a tensor that count as one each; what is not here counts nothing.
_FLOATS = frozenset(
    f"arith.{name}"
    for name in (
        "addf", "subf", "mulf", "divf", "remf", "negf", "maxnumf", "minnumf", "maximumf",
        "minimumf", "cmpf", "truncf", "extf", "sitofp", "uitofp", "fptosi", "fptoui",
    )
)  # fmt: skip
_TWICE = frozenset(("math.fma",))
_CASTS = frozenset(("arith.truncf", "arith.extf", "arith.sitofp", "arith.uitofp", "arith.fptosi",
                    "arith.fptoui", "arith.cmpf"))  # fmt: skip
_BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8,
          "f8E4M3FN": 1, "f8E5M2": 1}  # fmt: skip
_DOTS = {"f32": "tf32", "f8E4M3FN": "f8", "f8E5M2": "f8"}
_OP = re.compile(r'^\s*(?:(%[\w#:, %]+?) = )?"?([a-z_]+\.[\w.]+)"?')
_TENSOR = re.compile(r"tensor<((?:\d+x)*)([^<>]+(?:<[^<>]*>)?)>")
_VALUE = re.compile(r"%[\w]+")
_CONSTANT = re.compile(r"arith\.constant (-?\d+) : i\d+")


class Counts(NamedTuple):
    """Of one program: bytes read and written, operations on floats by kind, dots by dtype.

    `unknown_loops` are the lines of loops whose number of turns is not known; their bodies count
    once. `uneven_loops` are those whose number depends on the program; the first one counts.
    """

    read: int = 0
    written: int = 0
    vector: int = 0
    dots: tuple[tuple[str, int], ...] = ()
    unknown_loops: tuple[int, ...] = ()
    uneven_loops: tuple[int, ...] = ()

    @property
    def bytes(self) -> int:
        """Read and written."""
        return self.read + self.written

    @property
    def flops(self) -> int:
        """All operations on floats, two for each product and sum of a dot."""
        return self.vector + sum(count for _, count in self.dots)


class _Counter:
    def __init__(self, arguments: Mapping[str, int]) -> None:
        self.integers = {f"%{name}": value for name, value in arguments.items()}
        self.types: dict[str, str] = {}
        self.read = self.written = self.vector = 0
        self.dots: dict[str, int] = {}
        self.unknown: list[int] = []
        self.uneven: list[int] = []
        self.of_program: set[str] = set()  # integers that differ from program to program
        # Each open region: how often it runs, and how many elements each of its operations has.
        self.open: list[tuple[int, int]] = [(1, 1)]

    def line(self, number: int, line: str) -> None:
        text = line.strip()
        while text.startswith("}") and len(self.open) > 1:
            self.open.pop()
            text = text[1:].lstrip()
            if text.startswith("else"):
                self.open.append(self.open[-1])
                return
            if text.startswith(("do {", ", {")):
                self.open.append(self.open[-1])
                return
        found = _OP.match(line)
        if found is None:
            return
        result, name = found[1], found[2]
        self.evaluate(result, name, line)
        turns, elements = self.open[-1]
        self.count(name, line, turns * elements)
        if line.rstrip().endswith("{") or line.rstrip().endswith("({"):
            self.enter(number, name, line, turns, elements)

    def enter(self, number: int, name: str, line: str, turns: int, elements: int) -> None:
        if name == "scf.for":
            count = self.turns(line)
            if count is None:
                self.unknown.append(number)
                count = 1
            elif self.of_program.intersection(_bounds(line)):
                self.uneven.append(number)
            turns *= count
        elif name == "scf.while":
            self.unknown.append(number)
        elif name in ("tt.reduce", "tt.scan"):
            # Its region combines two elements; a tensor of n needs n - 1 of them.
            elements *= self.combinations_of(line)
        self.open.append((turns, elements))

    # --- integers --------------------------------------------------------------------------------

    def evaluate(self, result: str | None, name: str, line: str) -> None:
        if result is None or "," in result or ":" in result:
            return
        head = line.split(" : ", maxsplit=1)[0]
        if (tensor := _result_type(line)) is not None:
            self.types[result] = tensor
        constant = _CONSTANT.search(line)
        if constant:
            self.integers[result] = int(constant[1])
            return
        names = _VALUE.findall(head)[1:]
        if name == "tt.get_program_id" or self.of_program.intersection(names):
            self.of_program.add(result)
        values = [self.integers.get(value) for value in names]
        rule = _RULES.get(name)
        known = [value for value in values if value is not None]
        if rule is not None and len(known) == len(values) == 2:
            left, right = known
            computed = rule(left, right)
            if computed is not None:
                self.integers[result] = computed
        elif name in ("arith.extsi", "arith.extui", "arith.trunci") and len(known) == 1:
            self.integers[result] = known[0]
        elif name == "tt.get_program_id":
            self.integers[result] = 0  # the first program stands for all

    def turns(self, line: str) -> int | None:
        names = _bounds(line)
        if not names:
            return None
        low, high, step = map(self.integers.get, names)
        if low is None or high is None or not step or step < 0:
            return None
        return max(0, -(-(high - low) // step))

    # --- operations ------------------------------------------------------------------------------

    def combinations_of(self, line: str) -> int:
        """How often a reduction or scan combines two elements of its first operand."""
        names = _VALUE.findall(line.partition("=")[2])
        found = _TENSOR.search(self.types.get(names[0], "")) if names else None
        axis = re.search(r"axis = (\d+)", line)
        if found is None or axis is None:
            return 1
        sides = [int(side) for side in found[1].split("x") if side]
        return _product(sides) // sides[int(axis[1])] * (sides[int(axis[1])] - 1)

    def count(self, name: str, line: str, times: int) -> None:
        if name in ("tt.load", "tt.descriptor_load", "tt.descriptor_gather"):
            self.read += times * self.moved(name, line)
        elif name in ("tt.store", "tt.descriptor_store", "tt.descriptor_scatter"):
            self.written += times * self.moved(name, line)
        elif name.startswith("tt.atomic"):
            moved = self.moved("tt.store", line)
            self.read += times * moved
            self.written += times * moved
        elif name == "tt.dot":
            self.count_dot(line, times)
        elif name in _FLOATS or name in _TWICE or name.startswith("math."):
            if name in _CASTS:
                return
            found = _TENSOR.search(line.rpartition(" : ")[2])
            self.vector += times * (_size(found[1]) if found else 1) * (2 if name in _TWICE else 1)

    def moved(self, name: str, line: str) -> int:
        """The bytes of the tensor that an operation moves."""
        types = _TENSOR.findall(line.rpartition(" : ")[2])
        if name.startswith("tt.descriptor"):
            types = types[-1:] if name.endswith(("load", "gather")) else types[:]
            types = [row for row in types if "!" not in row[1]] or types
        if not types:
            scalar = re.search(r"!tt\.ptr<(\w+)", line.rpartition(" : ")[2])
            return _BYTES.get(scalar[1], 0) if scalar else 0
        sides, element = types[-1]
        inner = re.search(r"!tt\.ptr<(\w+)", element)
        return _size(sides) * _BYTES.get(inner[1] if inner else element, 0)

    def count_dot(self, line: str, times: int) -> None:
        types = _TENSOR.findall(line.rpartition(" : ")[2])
        if len(types) < 2:
            return
        left = [int(side) for side in types[0][0].split("x") if side]
        right = [int(side) for side in types[1][0].split("x") if side]
        work = 2 * _product(left) * right[-1]
        dtype = types[0][1].partition(",")[0]
        kind = _DOTS.get(dtype, dtype)
        self.dots[kind] = self.dots.get(kind, 0) + times * work


def _bounds(line: str) -> tuple[str, ...]:
    """The names of first, end and step of a loop."""
    found = re.search(r"= (%\w+) to (%\w+) step (%\w+)", line)
    return found.groups() if found else ()


def _floor(left: int, right: int) -> int | None:
    """Division as C has it."""
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_RULES: dict[str, Callable[[int, int], int | None]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": _floor,
    "arith.divui": _floor,
    "arith.remsi": lambda a, b: a - b * (_floor(a, b) or 0) if b else None,
    "arith.minsi": min,
    "arith.maxsi": max,
}


def _result_type(line: str) -> str | None:
    """The text of the type that an operation ends with."""
    tail = line.rpartition(" : ")[2]
    return tail if "tensor<" in tail else None


def _size(sides: str) -> int:
    return _product([int(side) for side in sides.split("x") if side])


def _product(sides: list[int]) -> int:
    found = 1
    for side in sides:
        found *= side
    return found


def count(mlir: str, arguments: Mapping[str, int]) -> Counts:
    """The work of one program. `arguments` are integers of the launch by the parameter's name."""
    counter = _Counter(arguments)
    for number, line in enumerate(mlir.splitlines(), 1):
        if "tt.func" in line:
            continue
        counter.line(number, line)
    return Counts(
        counter.read,
        counter.written,
        counter.vector,
        tuple(sorted(counter.dots.items())),
        tuple(counter.unknown),
        tuple(counter.uneven),
    )
