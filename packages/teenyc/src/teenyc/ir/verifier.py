"""Checks a module against its own rules: dominance, terminators, the records' `verify`.

A violation is our bug (I0000): the front end must never build such a module from any text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_macros.codes import I0000
from teenyc.ir.opdef import Effects

if TYPE_CHECKING:
    from teenyc.ir.core import Block, Function, Module, Operation, Region, Value


def verify_module(module: Module, *, after: str = "the front end") -> None:
    """Raise I0000 naming the first operation that breaks a rule; `after` is the last pass."""
    for function in module.functions:
        _verify_function(function, after)


def _verify_function(function: Function, after: str) -> None:
    _verify_block(function.body.block, set(map(id, function.args)), after, function.name)


def _verify_region(region: Region, visible: set[int], after: str, where: str) -> None:
    for block in region.blocks:
        _verify_block(block, visible | set(map(id, block.args)), after, where)


def _verify_block(block: Block, visible: set[int], after: str, where: str) -> None:
    seen = set(visible)
    if not block.ops or Effects.TERMINATOR not in block.ops[-1].opdef.effects:
        raise _broken(after, where, "a block has no terminator")
    for op in block.ops:
        if op.parent is not block:
            raise _broken(after, where, f"`{op.name}` has lost its block")
        if Effects.TERMINATOR in op.opdef.effects and op is not block.ops[-1]:
            raise _broken(after, where, f"`{op.name}` ends a block in its middle")
        _verify_operands(op, seen, after, where)
        for region in op.regions:
            _verify_region(region, seen, after, where)
        problem = op.opdef.verify(op) if op.opdef.verify is not None else None
        if problem:
            raise _broken(after, where, f"`{op.name}`: {problem}")
        seen.update(map(id, op.results))


def _verify_operands(op: Operation, seen: set[int], after: str, where: str) -> None:
    for i, operand in enumerate(op.operands):
        if id(operand) not in seen:
            raise _broken(
                after,
                where,
                f"operand {i} of `{op.name}` does not dominate it ({_origin(operand)})",
            )


def _origin(value: Value) -> str:
    return f"a result of `{value.op.name}`" if value.op is not None else "a block argument"


def _broken(after: str, where: str, what: str) -> Exception:
    return I0000.error(where=f"`{where}` after {after}", what=what)
