"""Leaves out what `device_assert` checks, as code for GPUs does unless asked for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teenyc.ir.core import Block, Module

ASSERT = "tt.assert"


def drop_assertions(module: Module) -> None:
    """Remove the assertions of each function; what computes their conditions dies with them."""
    for function in module.functions:
        _sweep(function.body.block)


def _sweep(block: Block) -> None:
    block.ops = [op for op in block.ops if op.name != ASSERT]
    for op in block.ops:
        for region in op.regions:
            for inner in region.blocks:
                _sweep(inner)
