"""Bounds checks: an access outside of the arrays given is recorded, and the launch stops.

Where the first and the last lane of a strip lie in the array of their own parameter the strip runs
at full speed; everything else asks a function that goes through all lanes and all arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.hazards import base_of
from teenyc.backend.cpu.text import Val, number

if TYPE_CHECKING:
    from teenyc.backend.cpu.builder import Builder
    from teenyc.backend.cpu.scope import Scope
    from teenyc.ir.core import Operation, Value

READS, WRITES, CHANGES, ASSERTS = 1, 2, 3, 4  # what the record of an error begins with

# The first lane of `mask` whose `size` bytes lie in none of the arrays, or -1.
_FIND = """\
define internal i64 @teeny.outside(ptr %table, i64 %mask, i64 %size, ptr %extents) \
noinline nounwind {
  %none = icmp eq i64 %mask, 0
  br i1 %none, label %good, label %next
next:
  %left = phi i64 [%mask, %0], [%rest, %inside]
  %lane = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %at = getelementptr i64, ptr %table, i64 %lane
  %first = load i64, ptr %at, align 8
  %end = add i64 %first, %size
  br label %array
array:
  %i = phi i64 [0, %next], [%i.next, %other]
  %more = icmp ult i64 %i, {arrays}
  br i1 %more, label %look, label %bad
look:
  %pair = shl i64 %i, 1
  %base.at = getelementptr i64, ptr %extents, i64 %pair
  %bytes.at = getelementptr i64, ptr %base.at, i64 1
  %base = load i64, ptr %base.at, align 8
  %bytes = load i64, ptr %bytes.at, align 8
  %limit = add i64 %base, %bytes
  %above = icmp uge i64 %first, %base
  %below = icmp ule i64 %end, %limit
  %in = and i1 %above, %below
  br i1 %in, label %inside, label %other
other:
  %i.next = add i64 %i, 1
  br label %array
inside:
  %less = add i64 %left, -1
  %rest = and i64 %left, %less
  %last = icmp eq i64 %rest, 0
  br i1 %last, label %good, label %next
bad:
  ret i64 %lane
good:
  ret i64 -1
}
"""
_REPORT = """\
define internal void @teeny.report(ptr %error, i64 %kind, i64 %line, i64 %column, i64 %program, \
i64 %element, i64 %address, i64 %parameter, i64 %size) noinline cold nounwind {
  store i64 %kind, ptr %error, align 8
  %p1 = getelementptr i64, ptr %error, i64 1
  store i64 %line, ptr %p1, align 8
  %p2 = getelementptr i64, ptr %error, i64 2
  store i64 %column, ptr %p2, align 8
  %p3 = getelementptr i64, ptr %error, i64 3
  store i64 %program, ptr %p3, align 8
  %p4 = getelementptr i64, ptr %error, i64 4
  store i64 %element, ptr %p4, align 8
  %p5 = getelementptr i64, ptr %error, i64 5
  store i64 %address, ptr %p5, align 8
  %p6 = getelementptr i64, ptr %error, i64 6
  store i64 %parameter, ptr %p6, align 8
  %p7 = getelementptr i64, ptr %error, i64 7
  store i64 %size, ptr %p7, align 8
  ret void
}
"""


def within(scope: Scope, c: Builder, pointer: Value, first: Val, end: Val) -> Val:
    """Whether the bytes from `first` to `end` lie in the array of the pointer's own parameter."""
    array = _array_of(scope, pointer)
    if array is None:
        return number(0, "i1")
    low = c.compare("uge", first, Val(f"%array.{array}", "i64"))
    high = c.compare("ule", end, Val(f"%array.{array}.end", "i64"))
    return c.binary("and", low, high)


def _array_of(scope: Scope, pointer: Value) -> int | None:
    """Which of the extents belongs to the parameter that a pointer comes from."""
    base = base_of(pointer)
    return None if base is None else scope.arrays.get(id(base))


def check(
    scope: Scope, c: Builder, op: Operation, addresses: Val, mask: Val, element: Val, size: int,
    level: int, step: int = 1,
) -> None:  # fmt: skip
    """Stop the program where a lane of `mask` reaches outside of every array.

    `element` is the number of the first lane's element in its tensor, `step` from lane to lane.
    """
    from teenyc.backend.cpu.memory import mask_bits, store
    from teenyc.backend.cpu.structure import ATOMICS, LOAD

    output = scope.output
    output.helpers["teeny.outside"] = _FIND.replace("{arrays}", str(len(scope.arrays)))
    output.declares.add("declare i64 @llvm.cttz.i64(i64, i1)")
    table, section = scope.slot(1), c.sections[level]
    store(c, table, addresses, level)
    if mask.lanes:
        bits = mask_bits(c, mask, level)
    else:
        bits = c.put(f"zext {mask} to i64", "i64", 0, level)
    found = c.put(
        f"call i64 @teeny.outside(ptr {table}, {bits}, i64 {size}, ptr %extents.table)",
        "i64", 0, level,
    )  # fmt: skip
    good = c.compare("slt", found, number(0, "i64"))
    bad, after = scope.label("outside"), scope.label("inside")
    section.lines.append(f"  br {good}, label %{after}, label %{bad}")
    section.open(bad)
    at = c.put(f"getelementptr i64, ptr {table}, {found}", "ptr", 0, level).text
    address = c.put(f"load i64, ptr {at}, align 8", "i64", 0, level)
    kind = READS if op.opdef is LOAD else CHANGES if op.opdef in ATOMICS else WRITES
    base = base_of(op.operands[0])
    parameter = -1 if base is None else scope.parameters.get(id(base), -1)
    lane = _lane(c, found, element, step, level)
    _report(scope, c, op, (kind, lane, address, parameter, size), level)
    section.open(after)


def check_condition(
    scope: Scope, c: Builder, op: Operation, condition: Val, element: Val, level: int, step: int = 0
) -> None:
    """Stop the program where an assertion fails; the record has its message's address and size."""
    from teenyc.backend.cpu.memory import mask_bits

    output, section = scope.output, c.sections[level]
    if condition.lanes:
        bits = mask_bits(c, condition, level)
        full = number((1 << condition.lanes) - 1, "i64")
        good = c.compare("eq", bits, full)
    else:
        good = condition
    bad, after = scope.label("failed"), scope.label("held")
    section.lines.append(f"  br {good}, label %{after}, label %{bad}")
    section.open(bad)
    lane = element
    if condition.lanes:
        output.declares.add("declare i64 @llvm.cttz.i64(i64, i1)")
        off = c.put(f"xor {bits}, -1", "i64", 0, level)
        first = c.put(f"call i64 @llvm.cttz.i64({off}, i1 true)", "i64", 0, level)
        lane = _lane(c, first, element, step, level)
    text = str(op.attrs["message"]).encode()
    name = f"teeny.message.{text.hex()}"
    spelled = "".join(f"\\{byte:02X}" for byte in text)
    output.helpers[name] = f'@{name} = private constant [{len(text)} x i8] c"{spelled}"\n'
    address = c.put(f"ptrtoint ptr @{name} to i64", "i64", 0, level)
    _report(scope, c, op, (ASSERTS, lane, address, -1, len(text)), level)
    section.open(after)


def _lane(c: Builder, lane: Val, element: Val, step: int, level: int) -> Val:
    """The number of an element from that of its lane."""
    moved = c.put(f"mul {lane}, {step}", "i64", 0, level)
    return c.put(f"add {moved}, {element.text}", "i64", 0, level)


def _report(
    scope: Scope, c: Builder, op: Operation, facts: tuple[int, Val, Val, int, int], level: int
) -> None:
    """Write the record and leave the function."""
    scope.output.helpers["teeny.report"] = _REPORT
    kind, lane, address, parameter, size = facts
    line, column = _place_of(op)
    c.do(
        f"call void @teeny.report(ptr %error.record, i64 {kind}, i64 {line}, i64 {column}, "
        f"i64 %pid, {lane}, {address}, i64 {parameter}, i64 {size})",
        level,
    )
    section = c.sections[level]
    section.lines.append("  br label %stopped")
    scope.stops.append(section.label)


def _place_of(op: Operation) -> tuple[int, int]:
    """Line and column in the body of the unit: the call's, where the operation is in the DSL."""
    loc = op.loc
    while loc.caller is not None and loc.file.startswith("teeny_triton"):
        loc = loc.caller
    return loc.line, loc.column
