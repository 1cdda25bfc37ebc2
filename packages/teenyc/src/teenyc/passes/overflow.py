"""Checks arithmetic on integers of at most 32 bits whose result an address is made of.

Each such operation gets an assertion that computes it again in 64 bits, at the operation's own
place: what a target makes of assertions is the report. Elements that a mask leaves out are checked
too, for their addresses are computed. What a reduction or a scan adds up is not looked into, nor
what is cast on purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.ir.builder import Builder
from teenyc.ir.opdef import HANDLERS
from teenyc.ops.control import SCF_FOR, SCF_IF, SCF_WHILE
from teenyc.ops.debug import ASSERT
from teenyc.ops.semantics import cast
from teenyc.types import I8, I16, I32, I64, DescriptorType, scalar_of, shape_of
from teenyc.values import RuntimeValue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teenyc.ir.core import Block, Module, Operation, Value

# What is computed again in 64 bits: the operator, and how messages spell it.
_CHECKED = {
    "arith.addi": ("add", "+"),
    "arith.subi": ("sub", "-"),
    "arith.muli": ("mul", "*"),
    "arith.shli": ("lshift", "<<"),
}
# What hands numbers on that an address is made of: with their sign, so not `arith.extui`.
_THROUGH = frozenset(
    (
        *_CHECKED,
        *("arith.extsi", "arith.minsi", "arith.maxsi", "arith.divsi", "arith.remsi"),
        *("tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans"),
        *("tt.join", "tt.split", "tt.cat", "arith.select"),
    )
)
_NARROW = {dtype.mlir: dtype for dtype in (I8, I16, I32)}
# Operations whose integers are places: all operands from the second on.
_PLACES = ("tt.addptr", "tt.make_tensor_descriptor", "tt.gather")


def check_overflows(module: Module) -> None:
    """Put assertions behind what may overflow on its way to an address, in place."""
    found = _reaching(module)
    for function in module.functions:
        _check_block(function.body.block, found)


def _reaching(module: Module) -> set[int]:
    """The operations whose results addresses are made of, by identity."""
    pending: list[Value] = []
    for op in module.walk():
        takes_places = op.name in _PLACES or (
            op.operands and isinstance(op.operands[0].type, DescriptorType)
        )
        if takes_places:
            pending += [v for v in op.operands[1:] if str(scalar_of(v.type)).startswith("i")]
    seen: set[int] = set()
    found: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if value.op is not None and value.op.name in _CHECKED:
            found.add(id(value.op))
        pending.extend(_sources(value))
    return found


def _sources(value: Value) -> Iterator[Value]:
    """The values that `value` is made of."""
    op = value.op
    if op is None:
        yield from _sources_of_argument(value)
    elif op.name in _THROUGH:
        yield from op.operands
    elif op.opdef is SCF_FOR or op.opdef is SCF_IF:
        for region in op.regions:
            yield region.block.ops[-1].operands[value.index]
        if op.opdef is SCF_FOR:
            yield op.operands[3 + value.index]
    elif op.opdef is SCF_WHILE:
        yield op.regions[0].block.ops[-1].operands[1 + value.index]


def _sources_of_argument(value: Value) -> Iterator[Value]:
    block = value.owner
    region = getattr(block, "parent", None)
    op: Operation | None = getattr(region, "parent", None)
    opdef = getattr(op, "opdef", None)
    if op is None or opdef not in (SCF_FOR, SCF_WHILE):
        return
    if opdef is SCF_FOR:
        if value.index == 0:
            yield op.operands[0]
        else:
            yield op.operands[2 + value.index]
            yield op.regions[0].block.ops[-1].operands[value.index - 1]
    elif region is op.regions[0]:
        yield op.operands[value.index]
        yield op.regions[1].block.ops[-1].operands[value.index]
    else:
        yield op.regions[0].block.ops[-1].operands[1 + value.index]


def _check_block(block: Block, found: set[int]) -> None:
    old, block.ops = block.ops, []
    for op in old:
        for region in op.regions:
            for inner in region.blocks:
                _check_block(inner, found)
        block.ops.append(op)
        if id(op) in found and str(scalar_of(op.result.type)) in _NARROW:
            _check(block, op)


def _check(block: Block, op: Operation) -> None:
    if all(value.op is not None and value.op.name == "arith.constant" for value in op.operands):
        return
    b = Builder(block)
    b.loc = op.loc
    dtype = _NARROW[str(scalar_of(op.result.type))]
    left, right, result = (
        cast(b, RuntimeValue(value, dtype, shape_of(value.type)), I64)
        for value in (*op.operands, op.result)
    )
    name, symbol = _CHECKED[op.name]
    exact = HANDLERS[f"operator.{name}"](b, lhs=left, rhs=right)
    holds = HANDLERS["operator.eq"](b, lhs=exact, rhs=result)
    message = f"{dtype} overflow in `{symbol}`, and an address is made of the result"
    b.emit(ASSERT, [holds.ir], attrs={"message": message})
