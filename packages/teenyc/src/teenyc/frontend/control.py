"""Run-time branches: `if`, the conditional expression, `and`/`or` and early `return` become scf.if.

What a branch changes is found by lowering it: a variable that is the same on both ways is not
joined. Literals that differ become i32, i64, f32 or i1, as in Triton.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from teenyc.codes import E0605
from teenyc.frontend.constexpr import is_number, plain, same
from teenyc.frontend.operands import data, require_scalar, truth
from teenyc.frontend.scope import MISSING, POISON, Undefined
from teenyc.ir.core import Block, Region
from teenyc.ir.opdef import HANDLERS
from teenyc.ops import semantics
from teenyc.ops.control import SCF_IF, SCF_YIELD
from teenyc.types import I1, DType
from teenyc.values import BlockPointer, Descriptor, Record, RuntimeValue, is_tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.source import Span
    from teenyc.frontend.context import Context
    from teenyc.frontend.parser import Node
    from teenyc.ir.core import Value

_TENSOR_IF = "choose between tensors with `tl.where(condition, x, y)`"


class Branch(NamedTuple):
    """One way through an `if`: its block, the variables at its end and the result it returned."""

    block: Block
    variables: dict[str, Any]
    assigned: dict[str, Span]
    result: Any = None


# --- values with structure -----------------------------------------------------------------------


def leaves(value: Any) -> list[Any]:
    """The parts of a value that change one by one: a tuple's, at any depth."""
    if isinstance(value, (BlockPointer, Descriptor)):
        return list(value.parts)
    if is_tuple(value):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def rebuild(value: Any, parts: list[Any]) -> Any:
    """`value` with its leaves replaced by `parts`, which is used up from the front."""
    if isinstance(value, (BlockPointer, Descriptor)):
        return value.with_parts([parts.pop(0) for _ in value.parts])
    if is_tuple(value):
        items = tuple(rebuild(item, parts) for item in value)
        return Record.make(value.kind, items) if isinstance(value, Record) else items
    return parts.pop(0)


def alike(left: Any, right: Any) -> bool:
    """Whether two values are tuples of the same structure, or both none."""
    for kind in (BlockPointer, Descriptor):
        if isinstance(left, kind) or isinstance(right, kind):
            return (
                isinstance(left, kind)
                and isinstance(right, kind)
                and (left.element, left.block) == (right.element, right.block)
            )
    if is_tuple(left) or is_tuple(right):
        if isinstance(left, Record) and isinstance(right, Record) and left.kind != right.kind:
            return False
        return (
            type(left) is type(right) and len(left) == len(right) and all(map(alike, left, right))
        )
    return True


# --- if ------------------------------------------------------------------------------------------


def lower_if(context: Context, node: ast.If, condition: RuntimeValue) -> None:
    """An `if` on a run-time condition, without a `return` inside."""
    scalar = require_scalar(context, node.test, condition, "`if`", _TENSOR_IF)
    branches = [_branch(context, lambda: context.run(node.body))]
    branches.append(_branch(context, lambda: context.run(node.orelse)))
    join_branches(context, node, scalar, branches)


def _branch(context: Context, body: Callable[[], Any]) -> Branch:
    block = Block()
    with context.into(block):
        result = body()
        frame = context.frame
        return Branch(block, frame.variables, frame.assigned, result)


def fork(
    context: Context,
    node: ast.If,
    condition: RuntimeValue,
    ways: Sequence[Callable[[], Any]],
    what: str,
) -> Any:
    """An `if` whose two ways run to the end of the function: its value is what they return."""
    scalar = require_scalar(context, node.test, condition, "`if`", _TENSOR_IF)
    branches = [_branch(context, way) for way in ways]
    results = [branch.result for branch in branches]
    if context.frame.has_failed:
        return None
    if not alike(*results) or (results[0] is None) != (results[1] is None):
        raise _mismatch(context, node, what, *results)
    return join_branches(context, node, scalar, branches, what)


def join_branches(
    context: Context,
    node: ast.If | ast.IfExp,
    condition: RuntimeValue,
    branches: list[Branch],
    what: str = "",
) -> Any:
    """Emit the scf.if, bind the variables after it; the joined result where `what` names one."""
    frame = context.frame
    then, other = branches
    joined: list[tuple[str, Any, list[Any]]] = []
    pairs: list[tuple[Value, Value]] = []
    names = dict.fromkeys([*frame.variables, *then.variables, *other.variables])
    for name in names:
        left, right = then.variables.get(name, MISSING), other.variables.get(name, MISSING)
        before = frame.variables.get(name, MISSING)
        if left is before and right is before:
            continue
        value = _joined(context, node, name, left, right, branches)
        if isinstance(value, (Undefined,)) or value is POISON or same(left, right):
            frame.variables[name] = value
        else:
            parts = _join(context, node, f"`{name}`", left, right, branches, pairs, name)
            joined.append((name, left, parts))
        place = then.assigned.get(name) if left is not before else other.assigned.get(name)
        if place is not None:
            frame.assigned[name] = place
    parts = []
    if what and not same(then.result, other.result):
        parts = _join(context, node, what, then.result, other.result, branches, pairs, "")
    results = _emit_if(context, node, condition, branches, pairs)
    for name, like, found in joined:
        frame.variables[name] = rebuild(like, [_settled(p, results, name) for p in found])
    if not what:
        return None
    if not parts:
        return then.result
    return rebuild(then.result, [_settled(p, results, "") for p in parts])


def _settled(part: Any, results: list[Value], name: str) -> Any:
    if not isinstance(part, _Joined):
        return part
    value = results[part.number]
    value.hint = value.hint or name
    return RuntimeValue(value, part.like.dtype, part.like.shape)


class _Joined(NamedTuple):
    number: int
    like: RuntimeValue


def _joined(
    context: Context, node: Node, name: str, left: Any, right: Any, branches: list[Branch]
) -> Any:
    if left is POISON or right is POISON:
        return POISON
    for value in (left, right):
        if isinstance(value, Undefined):
            return value
    if left is MISSING or right is MISSING:
        branch = branches[0] if right is MISSING else branches[1]
        rule = f"give `{name}` a value before the `if`, or in both branches"
        return Undefined(name, branch.assigned.get(name), rule)
    if not alike(left, right):
        raise _mismatch(context, node, f"`{name}`", left, right)
    return left


def _join(
    context: Context,
    node: ast.If | ast.IfExp,
    what: str,
    left: Any,
    right: Any,
    branches: list[Branch],
    pairs: list[tuple[Value, Value]],
    name: str,
) -> list[Any]:
    """For each leaf the common value, or which result of the scf.if it will be."""
    found: list[Any] = []
    for a, b in zip(leaves(left), leaves(right), strict=True):
        if same(a, b):
            found.append(a)
            continue
        x = _in_block(context, node, branches[0].block, a, b)
        y = _in_block(context, node, branches[1].block, b, a)
        if x is None or y is None or (x.dtype, x.shape) != (y.dtype, y.shape):
            error = _mismatch(context, node, what, a if x is None else x, b if y is None else y)
            for branch in branches:
                error.also(branch.assigned.get(name), f"`{name}` is assigned here")
            raise error
        found.append(_Joined(len(pairs), x))
        pairs.append((x.ir, y.ir))
    return found


def _in_block(
    context: Context, node: Node, block: Block, value: Any, other: Any
) -> RuntimeValue | None:
    """`value` at the end of `block`, at run time; None when it cannot be there."""
    if isinstance(value, RuntimeValue):
        return value
    if not is_number(value):
        return None
    builder = context.at(node)
    with builder.inside(block):
        return typed_like(context, value, other)


def typed_like(context: Context, value: Any, other: Any) -> RuntimeValue:
    """A literal at run time: of the other side's scalar dtype where that is of its kind."""
    builder = context.builder
    if isinstance(other, RuntimeValue) and not other.shape and isinstance(other.dtype, DType):
        dtype = other.dtype
        fits_float = dtype.is_float and not isinstance(value, bool)
        fits_int = type(value) is int and not dtype.is_float and not dtype.is_bool
        if fits_float or (fits_int and _holds(dtype, value)):
            return semantics.constant(builder, value, dtype)
    if isinstance(value, int) and isinstance(other, float):
        value = float(value)
    return semantics.to_value(builder, value)


def _holds(dtype: DType, value: int) -> bool:
    low = -(1 << (dtype.bits - 1)) if dtype.is_signed else 0
    return low <= value < low + (1 << dtype.bits)


def _mismatch(context: Context, node: Node, what: str, left: Any, right: Any) -> TeenyError:
    place = node.test if isinstance(node, ast.If) else node
    error = context.fail(E0605, place, what=what, left=plain(left), right=plain(right))
    return error.help("give both branches one dtype and one shape")


def _emit_if(
    context: Context,
    node: Node,
    condition: RuntimeValue,
    branches: list[Branch],
    pairs: list[tuple[Value, Value]],
) -> list[Value]:
    builder = context.at(node)
    for i, branch in enumerate(branches):
        with builder.inside(branch.block):
            builder.emit(SCF_YIELD, [pair[i] for pair in pairs], results=())
    if not pairs and len(branches[1].block.ops) == 1:
        branches = branches[:1]  # an else that does nothing is left out
    regions = [Region(branch.block) for branch in branches]
    types = [pair[0].type for pair in pairs]
    return builder.emit(SCF_IF, [condition.ir], results=types, regions=regions).results


def lower_conditional(context: Context, node: ast.IfExp, condition: RuntimeValue) -> Any:
    """`x if condition else y` on a run-time scalar."""
    scalar = require_scalar(context, node.test, condition, "`if`", _TENSOR_IF)
    branches = [
        _branch(context, lambda: context.value(node.body)),
        _branch(context, lambda: context.value(node.orelse)),
    ]
    results = [branch.result for branch in branches]
    if not alike(*results):
        raise _mismatch(context, node, "this value", *results)
    return join_branches(context, node, scalar, branches, "this value")


def guarded(
    context: Context, node: ast.expr, so_far: RuntimeValue, what: str, hint: str, *, is_and: bool
) -> RuntimeValue | bool:
    """The right side of `and` or `or`, joined with the value left of it.

    It runs only where Python would run it; without effects both sides are computed and joined with
    one operation, as Triton does.
    """
    block = Block()
    with context.into(block):
        value = data(context, node)
        if not isinstance(value, RuntimeValue):
            known = truth(context, node, value, what)
            if not block.ops:
                return so_far if known == is_and else known
            value = semantics.constant(context.at(node), known, I1)
        right = require_scalar(context, node, value, what, hint)
    builder = context.at(node)
    if all(op.opdef.is_pure and not op.regions for op in block.ops):
        for op in block.ops:
            builder.block.append(op)
        name = "and" if is_and else "or"
        joined = HANDLERS[f"operator.{name}"](builder, lhs=so_far, rhs=right)
        assert isinstance(joined, RuntimeValue)
        return joined
    short = Block()
    with builder.inside(short):
        constant = semantics.constant(builder, not is_and, I1)
    taken, skipped = Branch(block, {}, {}), Branch(short, {}, {})
    ways = [taken, skipped] if is_and else [skipped, taken]
    values = (right.ir, constant.ir) if is_and else (constant.ir, right.ir)
    (result,) = _emit_if(context, node, so_far, ways, [values])
    return RuntimeValue(result, I1)
