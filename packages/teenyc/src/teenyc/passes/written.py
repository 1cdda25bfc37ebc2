"""Which parameters a kernel may write through: those that the address of a write may come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.ir.core import Block, Operation, Value
from teenyc.ir.opdef import Effects
from teenyc.ops.debug import PRINT
from teenyc.types import DescriptorType, PointerType, scalar_of

if TYPE_CHECKING:
    from teenyc.ir.core import Module


def written_parameters(module: Module) -> tuple[str, ...]:
    """Their names, in the order of the parameters; all pointers where an address tells nothing."""
    args = module.entry.args
    pointers = [arg for arg in args if _is_address(arg)]
    found: set[int] = set()
    for op in module.entry.body.walk():
        if Effects.WRITE in op.opdef.effects and op.opdef is not PRINT and op.operands:
            address = op.operands[0]
            if _is_address(address):
                found |= _sources(address, pointers)
    names = [row[0] for arg, row in zip(args, module.params, strict=True) if id(arg) in found]
    return tuple(dict.fromkeys(names))


def _is_address(value: Value) -> bool:
    kind = value.type
    return isinstance(kind, DescriptorType) or isinstance(scalar_of(kind), PointerType)


def _sources(address: Value, pointers: list[Value]) -> set[int]:
    """The parameters that an address is made of, through whatever loops and branches."""
    every = set(map(id, pointers))
    found: set[int] = set()
    seen: set[int] = set()
    pending = [address]
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if id(value) in every:
            found.add(id(value))
            continue
        op = value.op or _around(value)
        below = [] if op is None else [x for x in _operands(op) if _is_address(x)]
        if not below:
            return every  # an address made of a number
        pending += below
    return found


def _around(value: Value) -> Operation | None:
    """The operation in whose region a block's argument is."""
    block = value.owner
    assert isinstance(block, Block)
    around = None if block.parent is None else block.parent.parent
    return around if isinstance(around, Operation) else None


def _operands(op: Operation) -> list[Value]:
    """What an operation takes, and what its regions hand on."""
    ends = [block.ops[-1] for region in op.regions for block in region.blocks if block.ops]
    return [*op.operands, *(value for end in ends for value in end.operands)]
