"""Regions of scalars, computed on vectors: functions given to reductions, scans and maps.

Conditionals become selections of both sides, which is right for what has no effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenyc.backend.cpu.structure import SCF_IF, refusal
from teenyc.backend.cpu.text import Val

if TYPE_CHECKING:
    from teenyc.backend.cpu.builder import Builder
    from teenyc.ir.core import Block, Operation, Region


def is_inlined(region: Region) -> bool:
    """Whether `inline` can do it: no loops, and nothing that has to run only sometimes."""
    return all(op.opdef.cpu is not None or op.opdef is SCF_IF for op in _body(region.block))


def _body(block: Block) -> list[Operation]:
    found: list[Operation] = []
    for op in block.ops[:-1]:
        found.append(op)
        for region in op.regions:
            found += _body(region.block)
    return found


def inline(c: Builder, region: Region, args: Sequence[Val]) -> list[Val]:
    """The operands of the region's terminator, for all lanes at once."""
    values = {id(arg): x for arg, x in zip(region.block.args, args, strict=True)}
    return _run(c, region.block, values)


def _run(c: Builder, block: Block, values: dict[int, Val]) -> list[Val]:
    for op in block.ops[:-1]:
        if op.opdef is SCF_IF:
            condition = values[id(op.operands[0])]
            sides = [_run(c, region.block, values) for region in op.regions]
            for i, result in enumerate(op.results):
                values[id(result)] = c.select(condition, sides[0][i], sides[1][i])
        elif op.opdef.cpu is None:
            raise refusal(op)
        else:
            operands = [values[id(x)] for x in op.operands]
            values[id(op.result)] = op.opdef.cpu(c, op, *operands)
    return [values[id(x)] for x in block.ops[-1].operands]
