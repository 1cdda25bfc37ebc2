"""Moving strips between registers and memory: plain, masked, gathered and scattered.

Masked-off lanes are never touched in memory. Addresses are i64 values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu import helpers
from teenyc.backend.cpu.builder import memory_type
from teenyc.backend.cpu.checks import check
from teenyc.backend.cpu.text import WIDTHS, Val, mangle, number, vector

if TYPE_CHECKING:
    from teenyc.backend.cpu.builder import Builder
    from teenyc.backend.cpu.scope import Scope
    from teenyc.ir.core import Operation


def pointer(c: Builder, address: Val, level: int) -> str:
    """An address as a `ptr`."""
    return c.put(f"inttoptr {address} to ptr", "ptr", 0, level).text


def load(c: Builder, at: str, type_: str, lanes: int, level: int, align: int = 0) -> Val:
    """A scalar or a strip at the pointer `at`."""
    align = align or WIDTHS[type_] // 8
    return c.put(f"load {vector(type_, lanes)}, ptr {at}, align {align}", type_, lanes, level)


def store(c: Builder, at: str, x: Val, level: int, align: int = 0) -> None:
    """Write a scalar or a strip."""
    c.do(f"store {x}, ptr {at}, align {align or WIDTHS[x.type] // 8}", level)


def mask_bits(c: Builder, mask: Val, level: int) -> Val:
    """A mask as i64, bit i for lane i."""
    bits = c.put(f"bitcast {mask} to i{mask.lanes}", f"i{mask.lanes}", 0, level)
    return c.put(f"zext {bits} to i64", "i64", 0, level)


def masked_load(scope: Scope, c: Builder, at: str, mask: Val, other: Val, level: int) -> Val:
    """The strip at `at` where `mask` holds, elsewhere `other`."""
    type_, lanes = other.type, other.lanes
    if WIDTHS[type_] >= c.output.features.masked:
        return _masked(c, "load", at, mask, other, level)
    slot = scope.slot(0)
    store(c, slot, other, level)
    copy(c, slot, at, mask, WIDTHS[type_] // 8, level)
    return load(c, slot, type_, lanes, level)


def masked_store(scope: Scope, c: Builder, at: str, x: Val, mask: Val, level: int) -> None:
    """Write the lanes of `x` where `mask` holds."""
    if WIDTHS[x.type] >= c.output.features.masked:
        kind = vector(x.type, x.lanes)
        symbol = f"@llvm.masked.store.{mangle(x.type, x.lanes)}.p0"
        c.output.declares.add(f"declare void {symbol}({kind}, ptr, <{x.lanes} x i1>)")
        c.do(f"call void {symbol}({x}, ptr align {WIDTHS[x.type] // 8} {at}, {mask})", level)
        return
    slot = scope.slot(0)
    store(c, slot, x, level)
    copy(c, at, slot, mask, WIDTHS[x.type] // 8, level)


def _masked(c: Builder, name: str, at: str, mask: Val, other: Val, level: int) -> Val:
    type_, lanes = other.type, other.lanes
    kind = vector(type_, lanes)
    symbol = f"@llvm.masked.{name}.{mangle(type_, lanes)}.p0"
    c.output.declares.add(f"declare {kind} {symbol}(ptr, <{lanes} x i1>, {kind})")
    align = WIDTHS[type_] // 8
    return c.put(
        f"call {kind} {symbol}(ptr align {align} {at}, {mask}, {other})", type_, lanes, level
    )


def copy(c: Builder, to: str, source: str, mask: Val, size: int, level: int) -> None:
    """Copy the lanes of `mask` from one pointer to another."""
    bits = mask_bits(c, mask, level)
    c.do(
        f"call void {helpers.lanes(c.output, 'copy', size)}(ptr {to}, ptr {source}, {bits})", level
    )


def gather(scope: Scope, c: Builder, addresses: Val, mask: Val, other: Val, level: int) -> Val:
    """The elements at `addresses` where `mask` holds, elsewhere `other`."""
    type_, lanes = other.type, other.lanes
    if WIDTHS[type_] >= 32 and c.output.features.has("avx2"):
        kind, pointers = vector(type_, lanes), f"<{lanes} x ptr>"
        at = c.put(f"inttoptr {addresses} to {pointers}", "ptr", lanes, level)
        symbol = f"@llvm.masked.gather.{mangle(type_, lanes)}.v{lanes}p0"
        c.output.declares.add(f"declare {kind} {symbol}({pointers}, <{lanes} x i1>, {kind})")
        align = WIDTHS[type_] // 8
        return c.put(
            f"call {kind} {symbol}({pointers} align {align} {at.text}, {mask}, {other})",
            type_, lanes, level,
        )  # fmt: skip
    slot, table = scope.slot(0), scope.slot(1)
    store(c, slot, other, level)
    store(c, table, addresses, level)
    bits = mask_bits(c, mask, level)
    symbol = helpers.lanes(c.output, "gather", WIDTHS[type_] // 8)
    c.do(f"call void {symbol}(ptr {slot}, ptr {table}, {bits})", level)
    return load(c, slot, type_, lanes, level)


def scatter(scope: Scope, c: Builder, addresses: Val, x: Val, mask: Val, level: int) -> None:
    """Write the lanes of `x` where `mask` holds, in their order."""
    slot, table = scope.slot(0), scope.slot(1)
    store(c, slot, x, level)
    store(c, table, addresses, level)
    bits = mask_bits(c, mask, level)
    symbol = helpers.lanes(c.output, "scatter", WIDTHS[x.type] // 8)
    c.do(f"call void {symbol}(ptr {table}, ptr {slot}, {bits})", level)


def all_lanes(lanes: int) -> Val:
    """The mask that holds everywhere."""
    return number(1, "i1", lanes)


def check_scalar(
    scope: Scope, c: Builder, op: Operation, address: Val, mask: Val | None, element: str
) -> None:
    """Check a scalar access where accesses are checked."""
    if scope.output.checks:
        on, size = mask or number(1, "i1"), WIDTHS[memory_type(element)] // 8
        check(scope, c, op, address, on, number(0, "i64"), size, 0)


def guarded_load(
    scope: Scope, c: Builder, address: Val, mask: Val | None, other: Val | None, element: str
) -> Val:
    """One element, in the type of memory, behind a branch on its mask."""
    type_ = memory_type(element)
    if mask is None:
        return load(c, pointer(c, address, address.level), type_, 0, address.level)
    rest = number(0, type_) if other is None else c.encode(other, element)
    level = max(address.level, mask.level, rest.level)
    section = c.sections[level]
    then, after, before = scope.label("on"), scope.label("after"), section.label
    section.lines.append(f"  br {mask}, label %{then}, label %{after}")
    section.open(then)
    found = load(c, pointer(c, address, level), type_, 0, level)
    section.lines.append(f"  br label %{after}")
    section.open(after)
    return c.put(f"phi {type_} [{found.text}, %{then}], [{rest.text}, %{before}]", type_, 0, level)


def guarded_store(
    scope: Scope, c: Builder, address: Val, x: Val, mask: Val | None, element: str
) -> None:
    """Write one element behind a branch on its mask."""
    found, section = c.encode(x, element), c.sections[0]
    if mask is None:
        store(c, pointer(c, address, 0), found, 0)
        return
    then, after = scope.label("on"), scope.label("after")
    section.lines.append(f"  br {mask}, label %{then}, label %{after}")
    section.open(then)
    store(c, pointer(c, address, 0), found, 0)
    section.lines.append(f"  br label %{after}")
    section.open(after)
