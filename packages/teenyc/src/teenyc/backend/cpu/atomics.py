"""Atomic operations: one lane after the other, each with the hardware's own instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.builder import Builder, memory_type
from teenyc.backend.cpu.memory import (
    all_lanes,
    check_scalar,
    load,
    mask_bits,
    pointer,
    store,
)
from teenyc.backend.cpu.structure import ATOMIC_CAS, ATOMIC_LOAD, ATOMIC_STORE
from teenyc.backend.cpu.text import WIDTHS, Output, Section, Val, number
from teenyc.ops import arrays

if TYPE_CHECKING:
    from teenyc.backend.cpu.cluster import Atomic
    from teenyc.backend.cpu.evaluate import Evaluator
    from teenyc.backend.cpu.scope import Scope
    from teenyc.ir.core import Operation

_ORDER = {"acq_rel": "acq_rel", "acquire": "acquire", "release": "release", "relaxed": "monotonic"}
_NAMES = {"exch": "xchg"}


def _facts(op: Operation) -> tuple[str, str, str]:
    """The name of what happens, the IR element, and the order in LLVM's words."""
    element = arrays.element_name(op.operands[1].type)
    order = _ORDER[op.attrs["sem"]]
    if op.opdef is ATOMIC_CAS:
        return "cas", element, order
    if op.opdef is ATOMIC_LOAD:
        return "load", element, order
    if op.opdef is ATOMIC_STORE:
        return "store", element, order
    return _NAMES.get(op.attrs["kind"], op.attrs["kind"]), element, order


def _values(op: Operation) -> int:
    """How many operands are values to write or to compare with."""
    return 2 if op.opdef is ATOMIC_CAS else 1


def _function(output: Output, kind: str, element: str, order: str) -> str:
    """A function `old (address, value, [new])` for one lane."""
    name = f"teeny.atomic.{kind}.{element}.{order}"
    if name not in output.helpers:
        type_ = memory_type(element)
        extra = f", {type_} %new" if kind == "cas" else ""
        head = f"define internal {type_} @{name}(ptr %at, {type_} %x{extra}) noinline nounwind {{\n"
        body = _body(output, kind, element, type_, order)
        output.helpers[name] = f"{head}entry:\n{body}}}\n"
    return f"@{name}"


def _body(output: Output, kind: str, element: str, type_: str, order: str) -> str:
    size = WIDTHS[type_] // 8
    if kind == "load":
        bits = f"i{WIDTHS[type_]}"
        how = order if order in ("acquire", "monotonic") else "acquire"
        return (
            f"  %raw = load atomic {bits}, ptr %at {how}, align {size}\n"
            f"  %old = bitcast {bits} %raw to {type_}\n  ret {type_} %old\n"
        )
    if kind == "store":
        bits = f"i{WIDTHS[type_]}"
        how = order if order in ("release", "monotonic") else "release"
        return (
            f"  %raw = bitcast {type_} %x to {bits}\n"
            f"  store atomic {bits} %raw, ptr %at {how}, align {size}\n  ret {type_} %x\n"
        )
    if kind == "cas":
        return _compare_and_swap(type_, order, size)
    if kind == "fadd" and memory_type(element) in ("i8", "i16"):
        return _narrow_sum(output, element, type_, order, size)
    return (
        f"  %old = atomicrmw {kind} ptr %at, {type_} %x {order}, align {size}\n  ret {type_} %old\n"
    )


def _failure(order: str) -> str:
    return "acquire" if order in ("acq_rel", "acquire") else "monotonic"


def _compare_and_swap(type_: str, order: str, size: int) -> str:
    bits = f"i{WIDTHS[type_]}"
    return (
        f"  %a = bitcast {type_} %x to {bits}\n  %b = bitcast {type_} %new to {bits}\n"
        f"  %pair = cmpxchg ptr %at, {bits} %a, {bits} %b {order} {_failure(order)}, align {size}\n"
        f"  %raw = extractvalue {{{bits}, i1}} %pair, 0\n"
        f"  %old = bitcast {bits} %raw to {type_}\n  ret {type_} %old\n"
    )


def _narrow_sum(output: Output, element: str, type_: str, order: str, size: int) -> str:
    """A sum of narrow floats, rounded as everywhere, tried until nobody came in between."""
    section = Section("again")
    c = Builder(output, [section])
    old, x = Val("%seen", type_), Val("%x", type_)
    total = c.binary("fadd", c.decode(old, element), c.decode(x, element))
    new = c.encode(c.rounded(total, element), element)
    lines = "\n".join(section.lines)
    return (
        f"  %first = load atomic {type_}, ptr %at monotonic, align {size}\n  br label %again\n"
        f"again:\n  %seen = phi {type_} [%first, %entry], [%found, %again]\n{lines}\n"
        f"  %pair = cmpxchg ptr %at, {type_} %seen, {new} {order} {_failure(order)}, align {size}\n"
        f"  %found = extractvalue {{{type_}, i1}} %pair, 0\n"
        f"  %done = extractvalue {{{type_}, i1}} %pair, 1\n"
        f"  br i1 %done, label %out, label %again\nout:\n  ret {type_} %seen\n"
    )


def _lanes(output: Output, kind: str, element: str, order: str) -> str:
    """A function that does it for each lane of a mask: tables of addresses and values in memory."""
    one = _function(output, kind, element, order)
    name = f"{one[1:]}.lanes"
    if name not in output.helpers:
        type_ = memory_type(element)
        output.declares.add("declare i64 @llvm.cttz.i64(i64, i1)")
        extra = ""
        if kind == "cas":
            extra = (
                f"  %new.at = getelementptr {type_}, ptr %news, i64 %lane\n"
                f"  %new = load {type_}, ptr %new.at\n"
            )
        given = f"ptr %to, {type_} %x" + (f", {type_} %new" if kind == "cas" else "")
        output.helpers[name] = f"""\
define internal void @{name}(ptr %table, ptr %values, ptr %news, i64 %mask) noinline nounwind {{
  %none = icmp eq i64 %mask, 0
  br i1 %none, label %done, label %next
next:
  %left = phi i64 [%mask, %0], [%rest, %next]
  %lane = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %at = getelementptr i64, ptr %table, i64 %lane
  %address = load i64, ptr %at
  %to = inttoptr i64 %address to ptr
  %value.at = getelementptr {type_}, ptr %values, i64 %lane
  %x = load {type_}, ptr %value.at
{extra}  %old = call {type_} {one}({given})
  store {type_} %old, ptr %value.at
  %less = add i64 %left, -1
  %rest = and i64 %left, %less
  %last = icmp eq i64 %rest, 0
  br i1 %last, label %done, label %next
done:
  ret void
}}
"""
    return f"@{name}"


def prepare_atomic(e: Evaluator, root: Atomic) -> None:
    """Compute everything that it needs."""
    for x in root.op.operands:
        e.value(x, e.nest.identity)


def emit_atomic(e: Evaluator, root: Atomic) -> None:
    """Do it for one strip; a lane that is off gives zero."""
    op, nest, c = root.op, e.nest, e.c
    kind, element, order = _facts(op)
    top, lanes = nest.top, nest.width
    wide = [c.splat(e.value(x, nest.identity), lanes) for x in op.operands]
    count = _values(op)
    mask = wide[1 + count] if len(wide) > 1 + count else all_lanes(lanes)
    table, values, news = (e.scope.slot(i) for i in (1, 0, 2))
    e.check_strip(op, nest.identity, mask, top)
    off = number(0, memory_type(element), lanes)
    given = [c.encode(x, element) for x in wide[1 : 1 + count]]
    store(c, table, wide[0], top)
    store(c, values, c.select(mask, given[0], off), top)
    if count > 1:
        store(c, news, given[1], top)
    symbol = _lanes(e.scope.output, kind, element, order)
    bits = mask_bits(c, mask, top)
    c.do(f"call void {symbol}(ptr {table}, ptr {values}, ptr {news}, {bits})", top)
    for place in root.places:
        old = c.decode(load(c, values, memory_type(element), lanes, top), element)
        e.put(place, nest.identity, old)
    e.scope.work += 32 * e.elements


def emit_scalar_atomic(scope: Scope, op: Operation) -> None:
    """The same for one place."""
    kind, element, order = _facts(op)
    c, section = scope.builder(), scope.main
    values = [scope.scalar(x) for x in op.operands]
    count = _values(op)
    mask = values[1 + count] if len(values) > 1 + count else None
    check_scalar(scope, c, op, values[0], mask, element)
    given = ", ".join(str(c.encode(x, element)) for x in values[1 : 1 + count])
    type_, symbol = memory_type(element), _function(scope.output, kind, element, order)
    before, then, after = section.label, scope.label("on"), scope.label("after")
    if mask is not None:
        section.lines.append(f"  br {mask}, label %{then}, label %{after}")
        section.open(then)
    at = pointer(c, values[0], 0)
    old = c.put(f"call {type_} {symbol}(ptr {at}, {given})", type_, 0, 0)
    if mask is not None:
        section.lines.append(f"  br label %{after}")
        section.open(after)
        zero = number(0, type_).text
        old = c.put(f"phi {type_} [{old.text}, %{then}], [{zero}, %{before}]", type_, 0, 0)
    if op.results:
        scope.scalars[id(op.result)] = c.decode(old, element)
