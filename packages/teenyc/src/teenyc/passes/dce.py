"""Dead-code removal: an operation without effects and without uses goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.ir.opdef import Effects

if TYPE_CHECKING:
    from teenyc.ir.core import Block, Module, Operation


def eliminate_dead_code(module: Module) -> None:
    """Remove dead operations of each function, in place."""
    for function in module.functions:
        used: set[int] = set()
        _sweep(function.body.block, used)


def _sweep(block: Block, used: set[int]) -> None:
    """Walk backwards: what comes later has already said what it uses."""
    kept: list[Operation] = []
    for op in reversed(block.ops):
        if not any(id(value) in used for value in op.results) and _is_removable(op):
            continue
        for region in op.regions:
            for inner in region.blocks:
                _sweep(inner, used)
        used.update(map(id, op.operands))
        kept.append(op)
    block.ops = kept[::-1]


def _is_removable(op: Operation) -> bool:
    """No effect of its own, and none inside its regions but ending them."""
    if op.opdef.effects is not Effects.NONE:
        return False
    return all(
        inner.opdef.effects in (Effects.NONE, Effects.TERMINATOR)
        for region in op.regions
        for inner in region.walk()
    )
