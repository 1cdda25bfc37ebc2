"""Integer operations and comparisons as polynomials and conditions, one table each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.bounds.poly import Condition, Poly, at_least, equal
from teenyc.types import shape_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from teenyc.bounds.walk import Places, Walker
    from teenyc.ir.core import Operation

# Operations whose result may leave its type.
WRAPPING = frozenset({"arith.addi", "arith.subi", "arith.muli", "arith.shli", "arith.trunci"})


def value_of(walker: Walker, op: Operation, places: Places) -> Poly | None:
    """The value at some places, None for an operation that is not read."""
    rule = _VALUES.get(op.name)
    return None if rule is None else rule(walker, op, places)


def describe(op: Operation) -> str:
    """What an operation that is not read gives, in words."""
    if op.name in ("tt.load", "tt.descriptor_load", "tt.atomic_rmw", "tt.gather"):
        return "a value that is loaded"
    return f"the result of `{op.name}`"


def condition_of(walker: Walker, op: Operation, places: Places) -> Condition:
    """A comparison or a combination of some; opaque for others."""
    if op.name == "arith.constant":
        value = op.attrs["value"]
        return Condition("true") if value else ~Condition("true")
    if op.name in ("arith.andi", "arith.ori", "arith.xori"):
        left, right = (walker.condition(operand, places) for operand in op.operands)
        if op.name == "arith.andi":
            return left & right
        if op.name == "arith.ori":
            return left | right
        return (left & ~right) | (~left & right)
    if op.name == "arith.cmpi":
        return _compared(walker, op, places)
    if op.name == "arith.select":
        chosen = places if shape_of(op.operands[0].type) else ()
        condition = walker.condition(op.operands[0], chosen)
        left, right = (walker.condition(operand, places) for operand in op.operands[1:])
        return (condition & left) | (~condition & right)
    return Condition("opaque")


def _compared(walker: Walker, op: Operation, places: Places) -> Condition:
    if str(op.operands[0].type).endswith(("i1>", "i1")):
        left, right = (walker.condition(operand, places) for operand in op.operands)
        same = (left & right) | (~left & ~right)
        found = {"eq": same, "ne": ~same}
        return found.get(op.attrs["predicate"], Condition("opaque"))
    one, other = (walker.poly(operand, places) for operand in op.operands)
    predicate = op.attrs["predicate"]
    if predicate[0] == "u":
        # Of numbers that are not negative, the order is that of signed ones.
        signed = _RELATIONS["s" + predicate[1:]](one, other)
        return at_least(one, 0) & at_least(other, 0) & signed | (
            ~(at_least(one, 0) & at_least(other, 0)) & Condition("opaque")
        )
    return _RELATIONS[predicate](one, other)


_RELATIONS: dict[str, Callable[[Poly, Poly], Condition]] = {
    "eq": equal,
    "ne": lambda one, other: ~equal(one, other),
    "slt": lambda one, other: at_least(other - 1, one),
    "sle": lambda one, other: at_least(other, one),
    "sgt": lambda one, other: at_least(one - 1, other),
    "sge": at_least,
}


def _constant(walker: Walker, op: Operation, places: Places) -> Poly | None:
    value = op.attrs["value"]
    return Poly.constant(int(value)) if isinstance(value, int) else None


def _range(walker: Walker, op: Operation, places: Places) -> Poly:
    return places[0] + int(op.attrs["start"])


def _axis(op: Operation) -> int:
    axis = op.attrs["axis"]
    return axis if isinstance(axis, int) else "xyz".index(axis)


def _pair(walker: Walker, op: Operation, places: Places) -> tuple[Poly, Poly]:
    return walker.poly(op.operands[0], places), walker.poly(op.operands[1], places)


def _shift(walker: Walker, op: Operation, places: Places) -> Poly | None:
    left, right = _pair(walker, op, places)
    amount = right.number
    return None if amount is None or not 0 <= amount < 63 else left * (1 << amount)


def _shift_right(walker: Walker, op: Operation, places: Places) -> Poly | None:
    left, right = _pair(walker, op, places)
    amount = right.number
    if amount is None or not 0 <= amount < 63:
        return None
    power = Poly.constant(1 << amount)
    # Rounds down where the quotient rounds towards zero.
    down = walker.symbols.quotient(left - ((1 << amount) - 1), power)
    return walker.symbols.choice(at_least(left, 0), walker.symbols.quotient(left, power), down)


def _low_bits(walker: Walker, op: Operation, places: Places) -> Poly | None:
    left, right = _pair(walker, op, places)
    if left.number is not None:
        left, right = right, left
    mask = right.number
    if mask is None or mask < 0 or mask & (mask + 1):
        return None
    power = Poly.constant(mask + 1)
    rest = walker.symbols.remainder(left, power)
    return walker.symbols.choice(at_least(rest, 0), rest, rest + power)


def _select(walker: Walker, op: Operation, places: Places) -> Poly:
    chosen = places if shape_of(op.operands[0].type) else ()
    condition = walker.condition(op.operands[0], chosen)
    left, right = (walker.poly(operand, places) for operand in op.operands[1:])
    return walker.symbols.choice(condition, left, right)


def _extended(walker: Walker, op: Operation, places: Places) -> Poly | None:
    before = str(op.operands[0].type)
    if before.endswith(("i1", "i1>")):
        condition = walker.condition(op.operands[0], places)
        one = 1 if op.name == "arith.extui" else -1
        return walker.symbols.choice(condition, Poly.constant(one), Poly.constant(0))
    value = walker.poly(op.operands[0], places)
    if op.name == "arith.extsi":
        return value
    bits = int(before.rpartition("x")[2].rstrip(">")[1:])
    return walker.symbols.choice(at_least(value, 0), value, value + (1 << bits))


_VALUES: dict[str, Callable[[Walker, Operation, Places], Poly | None]] = {
    "arith.constant": _constant,
    "tt.make_range": _range,
    "tt.get_program_id": lambda w, op, places: w.symbols.program(_axis(op)),
    "tt.get_num_programs": lambda w, op, places: w.symbols.grid(_axis(op)),
    "arith.addi": lambda w, op, places: (
        w.poly(op.operands[0], places) + w.poly(op.operands[1], places)
    ),
    "arith.subi": lambda w, op, places: (
        w.poly(op.operands[0], places) - w.poly(op.operands[1], places)
    ),
    "arith.muli": lambda w, op, places: (
        w.poly(op.operands[0], places) * w.poly(op.operands[1], places)
    ),
    "arith.divsi": lambda w, op, places: w.symbols.quotient(*_pair(w, op, places)),
    "arith.remsi": lambda w, op, places: w.symbols.remainder(*_pair(w, op, places)),
    "arith.minsi": lambda w, op, places: w.symbols.extreme("least", *_pair(w, op, places)),
    "arith.maxsi": lambda w, op, places: w.symbols.extreme("most", *_pair(w, op, places)),
    "arith.shli": _shift,
    "arith.shrsi": _shift_right,
    "arith.andi": _low_bits,
    "arith.select": _select,
    "arith.extsi": _extended,
    "arith.extui": _extended,
    "arith.trunci": lambda w, op, places: w.poly(op.operands[0], places),
}
