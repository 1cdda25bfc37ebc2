"""Tensors that a loop moves on by the same amount in each element become an index and a scalar.

`pointers += BLOCK * stride` is the usual form: the loop then carries one number, and the addresses
are those from before the loop plus that number. The module is changed in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.structure import BROADCAST, EXPAND_DIMS, SCF_FOR, SPLAT
from teenyc.ir.core import Operation
from teenyc.ops import arith, casts
from teenyc.ops.memory import ADDPTR
from teenyc.types import ScalarType, TensorType, scalar_of, shape_of

if TYPE_CHECKING:
    from teenyc.ir.core import Block, Module, Value
    from teenyc.ir.opdef import OpDef
    from teenyc.types import IRType

_I64 = ScalarType("i64")


def split_inductions(module: Module) -> None:
    """Rewrite every loop of the module, inner loops first."""
    for function in module.functions:
        _rewrite_block(function.body.block)


def _rewrite_block(block: Block) -> None:
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                _rewrite_block(inner)
        if op.opdef is SCF_FOR:
            _rewrite_loop(block, op)


def _rewrite_loop(block: Block, op: Operation) -> None:
    body = op.regions[0].block
    for i in range(len(op.results)):
        arg, end = body.args[1 + i], body.ops[-1].operands[i]
        steps = _steps(arg, end)
        if steps:
            _split(block, op, i, steps)


def _steps(arg: Value, end: Value) -> list[Operation] | None:
    """The additions of uniform amounts that lead from `arg` to `end`, in order."""
    found: list[Operation] = []
    while end is not arg:
        op = end.op
        if op is None or op.opdef not in (ADDPTR, arith.ADDI) or not shape_of(end.type):
            return None
        one, other = op.operands
        if _uniform(other) is not None:
            end = one
        elif op.opdef is arith.ADDI and _uniform(one) is not None:
            end = other
        else:
            return None
        found.append(op)
    return found[::-1]


def _uniform(value: Value) -> Value | Operation | None:
    """The scalar in all elements of a tensor, or the constant's operation."""
    op = value.op
    while op is not None and op.opdef in (BROADCAST, EXPAND_DIMS):
        op = op.operands[0].op
    if op is None:
        return None
    if op.opdef is SPLAT:
        return op.operands[0]
    return op if op.opdef is arith.CONSTANT else None


class _At:
    """Puts operations into a block, before another one or at its beginning."""

    def __init__(self, block: Block, before: Operation | None, loc: Operation) -> None:
        self.block = block
        self.at = block.ops.index(before) if before is not None else 0
        self.loc = loc.loc

    def put(self, opdef: OpDef, operands: list[Value], type_: IRType, **attrs: object) -> Value:
        op = Operation(opdef, operands, [type_], attrs, (), self.loc)
        op.parent = self.block
        self.block.ops.insert(self.at, op)
        self.at += 1
        return op.result


def _split(block: Block, op: Operation, i: int, steps: list[Operation]) -> None:
    body, init = op.regions[0].block, op.operands[3 + i]
    type_ = init.type
    is_pointer = steps[0].opdef is ADDPTR
    number = _I64 if is_pointer else scalar_of(type_)
    before = _At(block, op, op)
    zero = before.put(arith.CONSTANT, [], number, value=0)
    arg, old = body.args[1 + i], op.results[i]
    # The slot now carries the number; its uses see the tensor that it stands for.
    op.operands[3 + i] = zero
    start = _At(body, None, op)
    moved = _moved(start, init, arg, type_, number)
    _replace(body.ops[start.at :], arg, moved)
    arg.type = number
    end = _At(body, body.ops[-1], op)
    total = arg
    for step in steps:
        amount = _amount(end, step, number)
        total = end.put(arith.ADDI, [total, amount], number)
    body.ops[-1].operands[i] = total
    after = _At(block, None, op)
    after.at = block.ops.index(op) + 1
    result = _moved(after, init, old, type_, number)
    _replace(block.ops[after.at :], old, result)
    old.type = number


def _moved(at: _At, init: Value, index: Value, type_: IRType, number: IRType) -> Value:
    shape = shape_of(type_)
    splat = at.put(SPLAT, [index], TensorType(shape, scalar_of(number)), shape=shape)
    opdef = ADDPTR if number == _I64 and scalar_of(type_) != _I64 else arith.ADDI
    return at.put(opdef, [init, splat], type_)


def _amount(at: _At, step: Operation, number: IRType) -> Value:
    """The scalar that a step adds, as wide as the index."""
    one, other = step.operands
    found = _uniform(other)
    if found is None:
        found = _uniform(one)
    assert found is not None
    if isinstance(found, Operation):
        return at.put(arith.CONSTANT, [], number, value=found.attrs["value"])
    if found.type == number:
        return found
    return at.put(casts.EXTSI, [found], number, type=number)


def _replace(ops: list[Operation], old: Value, new: Value) -> None:
    for outer in ops:
        for op in outer.walk():
            op.operands = [new if x is old else x for x in op.operands]
