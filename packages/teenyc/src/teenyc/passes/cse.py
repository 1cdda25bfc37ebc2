"""Common-subexpression elimination: of two equal pure operations the dominating one serves both."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teenyc.ir.core import Block, Module, Operation, Value

_Key = tuple[object, ...]


def eliminate_common_subexpressions(module: Module) -> None:
    """Merge equal pure operations of each function, in place."""
    replaced: dict[int, Value] = {}
    for function in module.functions:
        _merge_block(function.body.block, {}, replaced)


def _key(op: Operation) -> _Key:
    # repr keeps 0.0 and -0.0, True and 1 apart, and makes every NaN equal to itself.
    attrs = tuple(sorted((name, repr(value)) for name, value in op.attrs.items()))
    types = tuple(value.type for value in op.results)
    return (op.name, tuple(map(id, op.operands)), attrs, types)


def _merge_block(block: Block, known: dict[_Key, Operation], replaced: dict[int, Value]) -> None:
    kept: list[Operation] = []
    for op in block.ops:
        op.operands = [replaced.get(id(value), value) for value in op.operands]
        if op.opdef.is_pure and not op.regions:
            first = known.setdefault(_key(op), op)
            if first is not op:
                for old, new in zip(op.results, first.results, strict=True):
                    replaced[id(old)] = new
                    new.hint = new.hint or old.hint
                continue
        kept.append(op)
        for region in op.regions:
            for inner in region.blocks:
                _merge_block(inner, {} if op.opdef.isolated else dict(known), replaced)
    block.ops = kept
