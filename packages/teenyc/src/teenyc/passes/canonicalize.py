"""Constant folding: a pure operation whose record folds its operands becomes a constant or operand.

The arithmetic itself belongs to the records (`OpDef.fold`), on Python scalars and without NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import REGISTRY

if TYPE_CHECKING:
    from teenyc.ir.core import Block, Module

CONSTANT = "arith.constant"


def constant_value(value: Value) -> Any:
    """The Python scalar of a (splat) constant, or None."""
    op = value.op
    return op.attrs["value"] if op is not None and op.name == CONSTANT else None


def canonicalize(module: Module) -> None:
    """Fold the whole module, in place."""
    replaced: dict[int, Value] = {}
    for function in module.functions:
        _fold_block(function.body.block, replaced)


def _fold_block(block: Block, replaced: dict[int, Value]) -> None:
    kept: list[Operation] = []
    for op in block.ops:
        op.operands = [replaced.get(id(value), value) for value in op.operands]
        for region in op.regions:
            for inner in region.blocks:
                _fold_block(inner, replaced)
        kept.append(_folded(op, replaced))
    block.ops = [op for op in kept if op.parent is block]


def _folded(op: Operation, replaced: dict[int, Value]) -> Operation:
    """`op`, or the constant that stands for it (a forwarded operand leaves the dead `op`)."""
    opdef = op.opdef
    if opdef.fold is None or not opdef.is_pure or len(op.results) != 1 or op.name == CONSTANT:
        return op
    found = opdef.fold(op, [constant_value(value) for value in op.operands])
    if found is None:
        return op
    if isinstance(found, Value):
        replaced[id(op.result)] = found
        return op
    old = op.result
    constant = Operation(REGISTRY[CONSTANT], [], [old.type], {"value": found}, (), op.loc)
    constant.parent = op.parent
    constant.result.hint = old.hint
    replaced[id(old)] = constant.result
    return constant
