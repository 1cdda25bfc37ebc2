"""One walk that passes share: operations are replaced by others, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.ir.builder import Builder

if TYPE_CHECKING:
    from collections.abc import Callable

    from teenyc.ir.core import Block, Module, Operation, Value

    # Emits what stands for an operation and returns its result; None leaves the operation, behind
    # what was emitted and with the operands that it has by then.
    Make = Callable[[Builder, Operation], Value | None]


def replace(module: Module, make: Make) -> None:
    """Show every operation to `make`, those inside of others first, in place."""
    for function in module.functions:
        _replace_in(function.body.block, make, {})


def _replace_in(block: Block, make: Make, replaced: dict[int, Value]) -> None:
    old, block.ops = block.ops, []
    for op in old:
        op.operands = [replaced.get(id(value), value) for value in op.operands]
        for region in op.regions:
            for inner in region.blocks:
                _replace_in(inner, make, replaced)
        b = Builder(block)
        b.loc = op.loc
        instead = make(b, op)
        if instead is None:
            block.append(op)
        else:
            replaced[id(op.result)] = instead
