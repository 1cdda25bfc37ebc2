"""A module of the IR as LLVM IR text: the entry point's ABI, its loop over programs, its body.

`i32 @<kernel>_entry_point(ptr args, i64 begin, i64 end, ptr arena)` runs the programs begin..end-1
of the grid, counted x first, and returns 1 where a check failed. `args` are slots of 8 bytes: the
parameters, the grid (x, y, z), flags, extents, error record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teenyc.backend.cpu import maths
from teenyc.backend.cpu.builder import memory_type
from teenyc.backend.cpu.classes import Classes
from teenyc.backend.cpu.control import emit_steps
from teenyc.backend.cpu.hazards import Hazards
from teenyc.backend.cpu.induction import split_inductions
from teenyc.backend.cpu.plan import Planner
from teenyc.backend.cpu.scope import SLOT_BYTES, Scope
from teenyc.backend.cpu.text import Output, Section, Val
from teenyc.ops import arrays
from teenyc.types import PointerType

if TYPE_CHECKING:
    from teenyc.backend.cpu.features import Features
    from teenyc.ir.core import Function, Module

NO_OVERLAP = 1  # bit 0 of `flags`
# What only moves data is bound by memory, where accesses of 512 bits that lie across two lines of
# the cache, as most do, cost more than their halves (10 % of vector add on Zen 4).
_NARROW = '"min-legal-vector-width"="0" "prefer-vector-width"="256"'
NANOSECONDS = 0.012  # an addition of one lane, loads and stores included, in vectors


class Lowered(NamedTuple):
    """The text, the bytes of the arena, the work of a program in ns, and the dump of clusters."""

    text: str
    arena_bytes: int
    work: int
    clusters: str


def lower_module(
    module: Module, features: Features, *, fusion: bool, checks: bool = False
) -> Lowered:
    """Lower the entry point of `module`, which is changed on the way."""
    split_inductions(module)
    output = Output(features, fusion=fusion, checks=checks)
    function = module.entry
    classes = Classes()
    classes.learn(function.body.walk())
    scope = Scope(output, classes)
    pointers = [arg for arg in function.args if isinstance(arg.type, PointerType)]
    hazards = Hazards(classes, frozenset(map(id, pointers)))
    steps = Planner(classes, hazards, scope.places).block(function.body.block)
    entry = Section("entry")
    _bind_arguments(scope, function, entry)
    emit_steps(scope, steps)
    arena_bytes = scope.arena.layout()
    for buffer in scope.arena.buffers:
        offset = max(buffer.offset, 0)
        entry.lines.append(f"  {buffer.name} = getelementptr i8, ptr %arena, i64 {offset}")
    for i in range(scope.slots):
        entry.lines.append(f"  %slot{i} = alloca [{SLOT_BYTES} x i8], align 64")
    plain = not (output.maths or output.passes_vectors)
    narrow = features.has("avx512f") and plain
    attributes = f"nounwind {_NARROW}" if narrow else "nounwind"
    text = _function(
        function.name, entry, scope.main, attributes=attributes, stops=bool(scope.stops)
    )
    definitions = [maths.define(*key, features.has("fma")) for key in sorted(output.maths)]
    parts = [
        maths.module_text(definitions, fma=features.has("fma")) if definitions else "",
        *(output.helpers[name] for name in sorted(output.helpers)),
        text,
    ]
    whole = "\n".join(part for part in parts if part)
    declared = [line for line in sorted(output.declares) if line not in whole]
    work = max(1, int(scope.work * NANOSECONDS))
    head = f"{function.name}: arena {arena_bytes} bytes, about {work} ns a program"
    dump = "\n".join([head, *scope.dump, ""])
    return Lowered("\n".join([*declared, whole]), arena_bytes, work, dump)


def _bind_arguments(scope: Scope, function: Function, entry: Section) -> None:
    """Load the slots once, before the loop over programs."""
    c = scope.builder([entry])
    pointers = [arg for arg in function.args if isinstance(arg.type, PointerType)]
    scope.arrays = {id(arg): i for i, arg in enumerate(pointers)}
    scope.parameters = {id(arg): i for i, arg in enumerate(function.args)}
    for i, arg in enumerate(function.args):
        element = arrays.element_name(arg.type)
        at = f"%slot.{i}"
        entry.lines.append(f"  {at} = getelementptr i64, ptr %args, i64 {i}")
        type_ = memory_type(element)
        raw = c.put(f"load {type_}, ptr {at}, align 8", type_, 0, 0)
        scope.scalars[id(arg)] = c.decode(raw, element)
    count = len(function.args)
    for i, name in enumerate(("gx", "gy", "gz", "flags", "extents", "error")):
        entry.lines.append(f"  %at.{name} = getelementptr i64, ptr %args, i64 {count + i}")
        entry.lines.append(f"  %{name} = load i64, ptr %at.{name}, align 8")
    entry.lines += [
        "  %error.record = inttoptr i64 %error to ptr",
        f"  %overlap.bit = and i64 %flags, {NO_OVERLAP}",
        "  %apart = icmp ne i64 %overlap.bit, 0",
    ]
    if scope.output.checks:
        entry.lines += _extents(len(scope.arrays))
    main = scope.main
    for axis in "xyz":
        main.lines.append(f"  %program.{axis} = trunc i64 %pid.{axis} to i32")
        entry.lines.append(f"  %grid.{axis} = trunc i64 %g{axis} to i32")
        scope.program[axis] = Val(f"%program.{axis}", "i32")
        scope.grid[axis] = Val(f"%grid.{axis}", "i32")


def _extents(count: int) -> list[str]:
    """The ends of all arrays, and a pointer to their table."""
    lines = ["  %extents.table = inttoptr i64 %extents to ptr"]
    for i in range(count):
        lines += [
            f"  %array.{i}.at = getelementptr i64, ptr %extents.table, i64 {2 * i}",
            f"  %array.{i} = load i64, ptr %array.{i}.at, align 8",
            f"  %array.{i}.bytes.at = getelementptr i64, ptr %extents.table, i64 {2 * i + 1}",
            f"  %array.{i}.bytes = load i64, ptr %array.{i}.bytes.at, align 8",
            f"  %array.{i}.end = add i64 %array.{i}, %array.{i}.bytes",
        ]
    return lines


def _function(name: str, entry: Section, main: Section, *, attributes: str, stops: bool) -> str:
    """The whole function: the program's number is counted in x, y and z without dividing."""
    given = "ptr %args, i64 %begin, i64 %end, ptr noalias %arena"
    turns = f"%{main.label}"
    numbers = ("pid", "pid.x", "pid.y", "pid.z")
    starts = ("%begin", "%first.x", "%first.y", "%first.z")
    phis = [
        f"  %{number} = phi i64 [{start}, %start], [%{number}.next, {turns}]"
        for number, start in zip(numbers, starts, strict=True)
    ]
    return "\n".join(
        (
            f"define i32 @{name}({given}) {attributes} {{",
            "entry:",
            *entry.lines,
            "  %any = icmp slt i64 %begin, %end",
            "  br i1 %any, label %start, label %return",
            "start:",
            "  %first.row = udiv i64 %begin, %gx",
            "  %first.x = urem i64 %begin, %gx",
            "  %first.z = udiv i64 %first.row, %gy",
            "  %first.y = urem i64 %first.row, %gy",
            "  br label %program",
            "program:",
            *phis,
            *main.lines,
            "  %pid.next = add nsw i64 %pid, 1",
            "  %pid.x.more = add nsw i64 %pid.x, 1",
            "  %pid.x.end = icmp eq i64 %pid.x.more, %gx",
            "  %pid.x.next = select i1 %pid.x.end, i64 0, i64 %pid.x.more",
            "  %pid.x.carry = zext i1 %pid.x.end to i64",
            "  %pid.y.more = add nsw i64 %pid.y, %pid.x.carry",
            "  %pid.y.end = icmp eq i64 %pid.y.more, %gy",
            "  %pid.y.next = select i1 %pid.y.end, i64 0, i64 %pid.y.more",
            "  %pid.y.carry = zext i1 %pid.y.end to i64",
            "  %pid.z.next = add nsw i64 %pid.z, %pid.y.carry",
            "  %pid.more = icmp slt i64 %pid.next, %end",
            "  br i1 %pid.more, label %program, label %return",
            "return:",
            "  ret i32 0",
            *(("stopped:", "  ret i32 1") if stops else ()),
            "}",
            "",
        )
    )
