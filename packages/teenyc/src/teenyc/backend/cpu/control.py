"""Writing steps one after the other, and loops and conditionals as basic blocks around them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from teenyc.backend.cpu.ahead import Growth
from teenyc.backend.cpu.atomics import emit_scalar_atomic
from teenyc.backend.cpu.backlog import Backlog
from teenyc.backend.cpu.checks import check_condition
from teenyc.backend.cpu.cluster import Cluster, Dot, Serial, Slot, Step, Structured
from teenyc.backend.cpu.describe import note_structured
from teenyc.backend.cpu.dot import emit_dot
from teenyc.backend.cpu.memory import check_scalar, guarded_load, guarded_store
from teenyc.backend.cpu.roots import emit_cluster
from teenyc.backend.cpu.serial import emit_serial
from teenyc.backend.cpu.structure import ASSERT, ATOMICS, LOAD, SCF_FOR, SCF_IF, STORE, refusal
from teenyc.backend.cpu.text import Val, held_type, number
from teenyc.ops import arrays

if TYPE_CHECKING:
    from teenyc.backend.cpu.scope import Scope
    from teenyc.ir.core import Operation, Value


def emit_steps(scope: Scope, steps: list[Step]) -> None:
    """Append the code of `steps`."""
    for i, step in enumerate(steps):
        if isinstance(step, Cluster):
            if scope.backlog is None and _product_follows(steps[i + 1 :]):
                scope.backlog = Backlog(scope)
            emit_cluster(scope, step)
        elif isinstance(step, Dot):
            emit_dot(scope, step)
            scope.backlog = None
        elif isinstance(step, Structured):
            _emit_structured(scope, step)
        elif isinstance(step, Serial):
            emit_serial(scope, step, emit_steps)
        else:
            _emit_scalar(scope, step.op)


def _product_follows(steps: list[Step]) -> bool:
    """Whether a single product comes before anything that is a loop by itself."""
    for step in steps:
        if isinstance(step, Dot):
            return prod(step.out.shape[:-2]) == 1
        if isinstance(step, Structured | Serial):
            return False
    return False


def _emit_scalar(scope: Scope, op: Operation) -> None:
    if op.opdef is LOAD or op.opdef is STORE:
        values = [scope.scalar(x) for x in op.operands]
        c = scope.builder()
        if op.opdef is LOAD:
            element = arrays.element_name(op.result.type)
            mask, other = (values[i] if i < len(values) else None for i in (1, 2))
            check_scalar(scope, c, op, values[0], mask, element)
            found = guarded_load(scope, c, values[0], mask, other, element)
            scope.scalars[id(op.result)] = c.decode(found, element)
        else:
            element = arrays.element_name(op.operands[1].type)
            mask = values[2] if len(values) > 2 else None
            check_scalar(scope, c, op, values[0], mask, element)
            guarded_store(scope, c, values[0], values[1], mask, element)
    elif op.opdef is ASSERT:
        check_condition(
            scope, scope.builder(), op, scope.scalar(op.operands[0]), number(0, "i64"), 0
        )
    elif op.opdef in ATOMICS:
        emit_scalar_atomic(scope, op)
    elif op.opdef.cpu is None:
        raise refusal(op)
    else:
        scope.scalar_operation(op)


def _emit_structured(scope: Scope, step: Structured) -> None:
    note_structured(scope, step)
    scope.depth += 1
    _emit_kind(scope, step)
    scope.depth -= 1


def _emit_kind(scope: Scope, step: Structured) -> None:
    if step.op.opdef is SCF_FOR:
        _emit_for(scope, step)
    elif step.op.opdef is SCF_IF:
        _emit_if(scope, step)
    else:
        _emit_while(scope, step)


def _is_scalar(value: Value) -> bool:
    return not hasattr(value.type, "shape")


def _type(value: Value) -> str:
    return held_type(arrays.element_name(value.type))


# --- what loops carry -----------------------------------------------------------------------------


class _Carried:
    """The phis of a loop's head: scalars by their arguments, pointers of slots that swap."""

    def __init__(
        self, scope: Scope, step: Structured, args: list[Value], inits: list[Value]
    ) -> None:
        self.scope = scope
        self.slots = [slot for slot in step.slots if not slot.in_place]
        self.scalars: list[tuple[int, Value, Val]] = []
        self.inits = [scope.scalar(x) if _is_scalar(x) else None for x in inits]
        for i, arg in enumerate(args):
            if _is_scalar(arg):
                phi = Val(f"%{scope.label('carried')}", _type(arg))
                self.scalars.append((i, arg, phi))
        self.pointers: list[tuple[str, str, str, str]] = []
        for slot in step.slots:
            scope.arena.touch(slot.current)
        for slot in self.slots:
            self._swap(slot)

    def _swap(self, slot: Slot) -> None:
        arena = self.scope.arena
        first = slot.current.pointer
        arena.allocate(slot.following)
        second = slot.following.pointer
        buffers = (*slot.current.buffers, *slot.following.buffers)
        slot.current.buffers = slot.following.buffers = buffers
        arena.touch(slot.current)
        one, other = (f"%{self.scope.label('place')}" for _ in range(2))
        slot.current.pointer, slot.following.pointer = one, other
        self.pointers.append((one, first, other, second))

    def open(self, before: str) -> int:
        """Bind the arguments; the line at which the phis will stand."""
        self.before = before
        for _, arg, phi in self.scalars:
            self.scope.scalars[id(arg)] = phi
        self.at = len(self.scope.main.lines)
        return self.at

    def close(self, latch: str, following: list[Val | None]) -> None:
        """Write the phis, now that the values of the next turn are known."""
        lines = []
        for i, _, phi in self.scalars:
            init, after = self.inits[i], following[i]
            assert init is not None
            assert after is not None
            lines.append(
                f"  {phi.text} = phi {phi.type} [{init.text}, %{self.before}], "
                f"[{after.text}, %{latch}]"
            )
        for one, first, other, second in self.pointers:
            lines.append(f"  {one} = phi ptr [{first}, %{self.before}], [{other}, %{latch}]")
            lines.append(f"  {other} = phi ptr [{second}, %{self.before}], [{one}, %{latch}]")
        self.scope.main.lines[self.at : self.at] = lines


def _scalars_of(scope: Scope, values: list[Value]) -> list[Val | None]:
    return [scope.scalar(x) if _is_scalar(x) else None for x in values]


# --- for ------------------------------------------------------------------------------------------


def _emit_for(scope: Scope, step: Structured) -> None:
    op, main = step.op, scope.main
    block = op.regions[0].block
    type_ = _type(block.args[0])
    c = scope.builder()
    lower, upper, stride = (c.cast("sext", scope.scalar(x), "i64") for x in op.operands[:3])
    head, body, latch, done = (scope.label(name) for name in ("for", "turn", "again", "done"))
    carried = _Carried(scope, step, block.args[1:], op.operands[3:])
    before = main.label
    main.lines.append(f"  br label %{head}")
    main.open(head)
    start = scope.arena.tick()
    counter = Val(f"%{scope.label('n')}", "i64")
    carried.open(before)
    goes = c.compare("slt", counter, upper)
    positive = c.compare("sgt", stride, number(0, "i64"))
    main.lines.append(f"  {counter.text}.go = and i1 {goes.text}, {positive.text}")
    main.lines.append(f"  br i1 {counter.text}.go, label %{body}, label %{done}")
    main.open(body)
    scope.scalars[id(block.args[0])] = scope.builder().cast("trunc", counter, type_)
    scope.loop_depth += 1
    outer, scope.growth = scope.growth, Growth(scope, block, stride)
    emit_steps(scope, step.bodies[0])
    scope.growth = outer
    scope.loop_depth -= 1
    following = _scalars_of(scope, block.ops[-1].operands)
    main.lines.append(f"  br label %{latch}")
    main.open(latch)
    main.lines.append(f"  {counter.text}.next = add i64 {counter.text}, {stride.text}")
    main.lines.append(f"  br label %{head}")
    carried.close(latch, following)
    main.lines.insert(
        carried.at,
        f"  {counter.text} = phi i64 [{lower.text}, %{before}], [{counter.text}.next, %{latch}]",
    )
    scope.arena.tick()
    for slot in step.slots:
        scope.arena.touch(slot.current)
    scope.arena.loop(start)
    main.open(done)
    for i, _, phi in carried.scalars:
        scope.scalars[id(op.results[i])] = phi


# --- if -------------------------------------------------------------------------------------------


def _emit_if(scope: Scope, step: Structured) -> None:
    op, main = step.op, scope.main
    scope.arena.tick()
    for _, place in step.handed:
        if not place.target.pointer:
            scope.arena.allocate(place.target)
        scope.arena.touch(place)
    then, other, done = (scope.label(name) for name in ("then", "else", "endif"))
    condition = scope.scalar(op.operands[0])
    has_else = len(op.regions) > 1
    main.lines.append(
        f"  br i1 {condition.text}, label %{then}, label %{other if has_else else done}"
    )
    ends: list[tuple[str, list[Val | None]]] = []
    for label, region, body in zip((then, other), op.regions, step.bodies, strict=False):
        main.open(label)
        emit_steps(scope, body)
        ends.append((main.label, _scalars_of(scope, region.block.ops[-1].operands)))
        main.lines.append(f"  br label %{done}")
    main.open(done)
    for i, result in enumerate(op.results):
        if _is_scalar(result):
            name = f"%{scope.label('either')}"
            pairs = ", ".join(f"[{values[i].text}, %{label}]" for label, values in ends)  # type: ignore[union-attr]
            main.lines.append(f"  {name} = phi {_type(result)} {pairs}")
            scope.scalars[id(result)] = Val(name, _type(result))
    scope.arena.tick()
    for _, place in step.handed:
        scope.arena.touch(place)


# --- while ----------------------------------------------------------------------------------------


def _emit_while(scope: Scope, step: Structured) -> None:
    op, main = step.op, scope.main
    first, second = (region.block for region in op.regions)
    head, body, done = (scope.label(name) for name in ("while", "turn", "done"))
    carried = _Carried(scope, step, first.args, op.operands)
    before = main.label
    main.lines.append(f"  br label %{head}")
    main.open(head)
    start = scope.arena.tick()
    carried.open(before)
    scope.loop_depth += 1
    emit_steps(scope, step.bodies[0])
    condition, *handed = first.ops[-1].operands
    main.lines.append(f"  br {scope.scalar(condition)}, label %{body}, label %{done}")
    for value, inner, result in zip(handed, second.args, op.results, strict=True):
        if _is_scalar(value):
            scope.scalars[id(inner)] = scope.scalars[id(result)] = scope.scalar(value)
    main.open(body)
    emit_steps(scope, step.bodies[1])
    scope.loop_depth -= 1
    following = _scalars_of(scope, second.ops[-1].operands)
    latch = main.label
    main.lines.append(f"  br label %{head}")
    carried.close(latch, following)
    scope.arena.tick()
    for slot in step.slots:
        scope.arena.touch(slot.current)
    for _, place in step.handed:
        scope.arena.touch(place)
    scope.arena.loop(start)
    main.open(done)
