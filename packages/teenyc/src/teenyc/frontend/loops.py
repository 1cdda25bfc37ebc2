"""Run-time loops: `for` over a range and `while` become scf.for and scf.while with block arguments.

A loop's body is lowered on the guess that literals do not change; where one does, it is carried as
a run-time value and the body lowered again. What comes back as it went in is not carried.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from teenyc.codes import E0604, E0607, E0610
from teenyc.frontend.call import arguments_of
from teenyc.frontend.constexpr import has_runtime, is_number, plain, same
from teenyc.frontend.context import Poisoned
from teenyc.frontend.control import alike, leaves, rebuild, typed_like
from teenyc.frontend.operands import data, require_scalar, truth
from teenyc.frontend.scope import POISON, Undefined, assigned_names
from teenyc.frontend.signature import Function, bind
from teenyc.ir.core import Block, Region
from teenyc.ops import semantics
from teenyc.ops.control import LOOP_ANNOTATION, SCF_CONDITION, SCF_FOR, SCF_WHILE, SCF_YIELD
from teenyc.types import ir_type
from teenyc.values import RuntimeValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.source import Span
    from teenyc.frontend.context import Context
    from teenyc.frontend.ranges import Range
    from teenyc.ir.core import Value


class Carried(NamedTuple):
    """A variable that a loop hands on: its value before, taken apart into run-time leaves."""

    name: str
    before: Any
    leaves: list[RuntimeValue]
    place: Span | None


def _carry(context: Context, node: ast.For | ast.While, name: str, value: Any) -> Carried:
    found: list[RuntimeValue] = []
    for leaf in leaves(value):
        if isinstance(leaf, RuntimeValue):
            found.append(leaf)
        elif is_number(leaf):
            builder = context.at(node)
            found.append(semantics.to_value(builder, leaf))
        else:
            place = node.iter if isinstance(node, ast.For) else node.test
            raise (
                context.fail(E0610, place, name=f"`{name}`", what=plain(leaf))
                .also(context.frame.assigned.get(name), "assigned here")
                .help("unroll the loop with `tl.static_range`, or do not assign it in the loop")
            )
    return Carried(name, value, found, context.frame.assigned.get(name))


def _enter(context: Context, carried: list[Carried], args: list[Value]) -> None:
    """Bind the carried variables to block arguments."""
    rest = list(args)
    for item in carried:
        parts: list[Any] = []
        for leaf in item.leaves:
            value = rest.pop(0)
            value.hint = value.hint or item.name
            parts.append(RuntimeValue(value, leaf.dtype, leaf.shape))
        context.frame.variables[item.name] = rebuild(item.before, parts)


def _yielded(context: Context, node: ast.For | ast.While, item: Carried) -> list[Value]:
    """The values of a carried variable at the end of an iteration. Raises E0604."""
    value = context.frame.variables.get(item.name, POISON)
    if value is POISON or isinstance(value, Undefined):
        return [leaf.ir for leaf in item.leaves]
    found: list[Value] = []
    parts = leaves(value) if alike(item.before, value) else []
    if len(parts) != len(item.leaves):
        raise _unstable(context, node, item, plain(item.before), plain(value))
    for leaf, part in zip(item.leaves, parts, strict=True):
        if is_number(part):
            context.at(node)
            part = typed_like(context, part, leaf)  # noqa: PLW2901 - the literal, at run time
        if not isinstance(part, RuntimeValue) or (part.dtype, part.shape) != (
            leaf.dtype,
            leaf.shape,
        ):
            raise _unstable(context, node, item, leaf.describe(), plain(part))
        found.append(part.ir)
    return found


def _unstable(
    context: Context, node: ast.For | ast.While, item: Carried, before: str, after: str
) -> TeenyError:
    place = context.frame.assigned.get(item.name) or context.span(node)
    error = E0604.at(place, f"{after} here", name=item.name, before=before, after=after)
    return error.also(item.place, f"{before} here").help(
        f"give `{item.name}` its final dtype and shape before the loop, or cast it back in the loop"
    )


def _candidates(context: Context, body: list[ast.stmt], skip: str = "") -> list[str]:
    """Variables that the body may assign and that have a value before it, in the frame's order."""
    assigned = set(assigned_names(body))
    return [
        name
        for name, value in context.frame.variables.items()
        if name in assigned and name != skip and not isinstance(value, Undefined)
    ]


def _changed(context: Context, names: list[str], before: dict[str, Any]) -> list[str]:
    variables = context.frame.variables
    return [name for name in names if not same(variables.get(name, POISON), before[name])]


class _Loop:
    """One loop while its carried variables are being found."""

    def __init__(self, context: Context, node: ast.For | ast.While, skip: str = "") -> None:
        self.context = context
        self.node = node
        self.candidates = _candidates(context, node.body, skip)
        variables = context.frame.variables
        self.before = {name: variables[name] for name in self.candidates}
        self.names = {name for name in self.candidates if has_runtime(self.before[name])}
        self._cache: dict[str, Carried] = {}
        self._mark = len(context.diagnostics)

    def carried(self) -> list[Carried]:
        """The carried variables, in the order in which the function first assigned them."""
        for name in self.candidates:
            if name in self.names and name not in self._cache:
                self._cache[name] = _carry(self.context, self.node, name, self.before[name])
        return [self._cache[name] for name in self.candidates if name in self.names]

    def grows(self) -> bool:
        """Whether literals changed in the body just lowered; they are carried from now on."""
        rest = [name for name in self.candidates if name not in self.names]
        changed = _changed(self.context, rest, self.before)
        if changed:
            self.names.update(changed)
            del self.context.diagnostics[self._mark :]
        return bool(changed)

    def endless(self, test: ast.expr) -> Poisoned:
        """Report E0607, which is found after the faults of the body and stands before them."""
        found = self.context.diagnostics
        inside = found[self._mark :]
        del found[self._mark :]
        label = "is true at compile time, and nothing in the loop changes it"
        try:
            self.context.report(
                self.context.fail(E0607, test, label).help(
                    "write what holds as long as it goes on, such as `while i < n:`"
                )
            )
        finally:
            found.extend(inside)
        return Poisoned()

    def run_body(self) -> None:
        """Lower the body once."""
        frame = self.context.frame
        frame.loops += 1
        try:
            self.context.run(self.node.body)
        finally:
            frame.loops -= 1

    def leave(self, carried: list[Carried], kept: list[bool], results: list[Value]) -> None:
        """Bind the variables after the loop."""
        rest, flags = list(results), list(kept)
        for item in carried:
            parts: list[Any] = []
            for leaf in item.leaves:
                if not flags.pop(0):
                    parts.append(leaf)
                    continue
                value = rest.pop(0)
                value.hint = item.name
                parts.append(RuntimeValue(value, leaf.dtype, leaf.shape))
            self.context.frame.variables[item.name] = rebuild(item.before, parts)

    def forget(self, inner: dict[str, Any], assigned: dict[str, Any], target: str) -> None:
        """Take away what only the body assigns: it may not run at all."""
        frame = self.context.frame
        for name, value in inner.items():
            if name == target:
                rule = f"copy `{name}` to a variable that has a value before the loop"
                frame.variables[name] = Undefined(name, assigned.get(name), rule)
            elif name not in frame.variables:
                rule = f"give `{name}` a value before the loop: its body may not run at all"
                undefined = Undefined(name, assigned.get(name), rule)
                frame.variables[name] = POISON if value is POISON else undefined
        for name in self.candidates:
            if name in assigned:
                frame.assigned[name] = assigned[name]


def lower_for(context: Context, node: ast.For, name: str, span: Range) -> None:
    """`for name in range(...)` as scf.for; the range's bounds are run-time scalars of one dtype."""
    loop = _Loop(context, node, name)
    frame = context.frame
    while True:
        carried = loop.carried()
        parts = [leaf for item in carried for leaf in item.leaves]
        types = [ir_type(span.dtype), *(part.ir.type for part in parts)]
        block = Block(types)
        with context.into(block):
            _enter(context, carried, block.args[1:])
            context.assign(name, span.variable(context, node, block.args[0]), node.target)
            loop.run_body()
            if loop.grows():
                continue
            values = [v for item in carried for v in _yielded(context, node, item)]
            context.at(node).emit(SCF_YIELD, values, results=())
            inner, assigned = frame.variables, frame.assigned
            break
    kept = [v is not arg for v, arg in zip(values, block.args[1:], strict=True)]
    _prune(block, [True, *kept], [None, *(part.ir for part in parts)])
    inits = [part.ir for part, keep in zip(parts, kept, strict=True) if keep]
    op = context.at(node).emit(
        SCF_FOR,
        [span.lower.ir, span.upper.ir, span.step.ir, *inits],
        attrs=dict(span.attrs),
        results=[value.type for value in inits],
        regions=[Region(block)],
    )
    loop.leave(carried, kept, op.results)
    loop.forget(inner, assigned, name)


def lower_while(context: Context, node: ast.While) -> None:
    """`while` on a run-time scalar as scf.while; on False nothing."""
    loop = _Loop(context, node)
    frame = context.frame
    while True:
        carried = loop.carried()
        parts = [leaf for item in carried for leaf in item.leaves]
        test, block = (Block([part.ir.type for part in parts]) for _ in range(2))
        with context.into(test):
            _enter(context, carried, test.args)
            condition = data(context, node.test)
            if isinstance(condition, RuntimeValue):
                hint = "a tensor has one truth value an element; reduce it first"
                scalar = require_scalar(context, node.test, condition, "`while`", hint)
                context.at(node).emit(SCF_CONDITION, [scalar.ir, *test.args], results=())
            elif not truth(context, node.test, condition, "`while`"):
                return
        with context.into(block):
            _enter(context, carried, block.args)
            loop.run_body()
            if loop.grows():
                continue
            if not isinstance(condition, RuntimeValue):
                raise loop.endless(node.test)
            values = [v for item in carried for v in _yielded(context, node, item)]
            context.at(node).emit(SCF_YIELD, values, results=())
            inner, assigned = frame.variables, frame.assigned
            break
    kept = [v is not arg for v, arg in zip(values, block.args, strict=True)]
    for region_block in (test, block):
        _prune(region_block, kept, [part.ir for part in parts])
    _drop_operands(test, kept)
    inits = [part.ir for part, keep in zip(parts, kept, strict=True) if keep]
    op = context.at(node).emit(
        SCF_WHILE,
        inits,
        attrs=_options(context, node.test),
        results=[value.type for value in inits],
        regions=[Region(test), Region(block)],
    )
    loop.leave(carried, kept, op.results)
    loop.forget(inner, assigned, "")


def _options(context: Context, test: ast.expr) -> dict[str, bool]:
    """What `while tl.condition(..., disable_licm=True)` asks for besides its condition."""
    if not isinstance(test, ast.Call) or not isinstance(test.func, (ast.Name, ast.Attribute)):
        return {}
    target = context.value(test.func)
    if not isinstance(target, Function) or not target.is_dsl or target.name != "condition":
        return {}
    bound = bind(target.name, target.parameters, arguments_of(context, test), context.span(test))
    asked = bound.get("disable_licm")
    return {LOOP_ANNOTATION: True} if asked is not None and asked.value is True else {}


def _prune(block: Block, kept: list[bool], inits: Sequence[Value | None]) -> None:
    """Take out block arguments that never change: their uses become the value before the loop."""
    if all(kept):
        return
    instead = {id(a): v for a, keep, v in zip(block.args, kept, inits, strict=True) if not keep}
    for op in Region(block).walk():
        op.operands = [instead.get(id(value)) or value for value in op.operands]
    last = block.ops[-1]
    if last.opdef is SCF_YIELD:
        flags = kept[len(kept) - len(last.operands) :]
        last.operands = [v for v, keep in zip(last.operands, flags, strict=True) if keep]
    block.args = [arg for arg, keep in zip(block.args, kept, strict=True) if keep]
    for i, arg in enumerate(block.args):
        arg.index = i


def _drop_operands(test: Block, kept: list[bool]) -> None:
    condition, *values = test.ops[-1].operands
    passed = [v for v, keep in zip(values, kept, strict=True) if keep]
    test.ops[-1].operands = [condition, *passed]
