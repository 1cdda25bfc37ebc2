"""Planning of loops and conditionals: the places of what they carry, what is updated in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.arena import Place
from teenyc.backend.cpu.classes import is_tensor
from teenyc.backend.cpu.cluster import Cluster, Dot, Reduce, Serial, Slot, Step, Structured, Write
from teenyc.backend.cpu.structure import SCF_FOR, SCF_IF, VIEWS
from teenyc.ops import arrays
from teenyc.types import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teenyc.backend.cpu.plan import Planner
    from teenyc.ir.core import Value


def plan_regions(planner: Planner, made: Structured) -> None:
    """Plan the regions of `made`, whose slots are there already."""
    if made.op.opdef is SCF_FOR:
        _plan_for(planner, made)
    elif made.op.opdef is SCF_IF:
        _plan_if(planner, made)
    else:
        _plan_while(planner, made)


def _plan_for(planner: Planner, made: Structured) -> None:
    block = made.op.regions[0].block
    args, yields = block.args[1:], block.ops[-1].operands
    targets = []
    for slot in made.slots:
        planner.places[id(args[slot.index])] = slot.current
        planner.places[id(made.op.results[slot.index])] = slot.current
        slot.is_kept = yields[slot.index] is args[slot.index]
        if not slot.is_kept:
            targets.append((yields[slot.index], slot.following))
    body = planner.block(block, targets)
    made.bodies.append(body)
    for slot in made.slots:
        arg = args[slot.index]
        slot.in_place = slot.is_kept or _can_update(planner, body, arg, slot)
        slot.current.is_fixed = not slot.in_place
        if slot.in_place and not slot.is_kept:
            slot.following.forward = slot.current
            _drop_copies(body, arg, slot)


def _drop_copies(body: list[Step], arg: Value, slot: Slot) -> None:
    """Writing a value to where it is already does nothing."""
    for step in body:
        if isinstance(step, Cluster):
            step.roots = [
                root
                for root in step.roots
                if not (
                    isinstance(root, Write)
                    and root.value is arg
                    and root.place.root is slot.current.root
                )
            ]
    body[:] = [step for step in body if not isinstance(step, Cluster) or step.roots]


def _can_update(planner: Planner, body: list[Step], arg: Value, slot: Slot) -> bool:
    """Every reader of the old value comes before the first writer of the new one, or is that."""
    goal = slot.following.root
    writer = next((i for i, step in enumerate(body) if _writes(step, goal)), None)
    if writer is None:
        return False
    for i, step in enumerate(body):
        for moved in _reads(planner, step, arg):
            if i < writer:
                continue
            same = isinstance(step, Cluster) and step.shape == shape_of(arg.type)
            if i > writer or moved or not same or _reduces_into(step, goal):
                return False
    return True


def _reduces_into(step: Step, goal: Place) -> bool:
    return isinstance(step, Cluster) and any(
        isinstance(r, Reduce) and any(p.root is goal for p in r.places) for r in step.roots
    )


def _writes(step: Step, goal: Place) -> bool:
    if isinstance(step, Cluster):
        places = [place for root in step.roots for place in root.places]
    elif isinstance(step, Dot):
        places = [step.out]
    elif isinstance(step, Serial):
        places = list(step.places)
    elif isinstance(step, Structured):
        places = [*(place for _, place in step.handed), *(slot.current for slot in step.slots)]
    else:
        return False
    return any(place.root is goal for place in places)


def _reads(planner: Planner, step: Step, value: Value) -> Iterator[bool]:
    """For each way in which `step` reads `value`: whether it sees it from another side."""
    if isinstance(step, Cluster):
        own = {id(root.value) for root in step.roots if isinstance(root, Write)}
        pending = [(x, False) for root in step.roots for x in root.values]
        seen: set[tuple[int, bool]] = set()
        while pending:
            at, moved = pending.pop()
            if at is value:
                yield moved
            elif _same_root(planner, at, value):
                yield True
            if (id(at), moved) in seen or at.op is None or planner.classes.is_cheap(at):
                continue
            seen.add((id(at), moved))
            if id(at) in planner.places and id(at) not in own:
                continue
            if at.op.regions:
                continue
            moved = moved or at.op.opdef in VIEWS or at.op.opdef.cpu is None
            pending += [(x, moved) for x in at.op.operands]
    elif isinstance(step, Serial):
        yield from (True for x in step.op.operands if _same_root(planner, x, value))
    elif isinstance(step, Dot):
        yield from (True for x in step.op.operands[:2] if _same_root(planner, x, value))
    elif isinstance(step, Structured) and any(
        _same_root(planner, x, value)
        for inner in step.op.walk()
        if inner is not step.op
        for x in inner.operands
    ):
        yield True


def _same_root(planner: Planner, one: Value, other: Value) -> bool:
    """Whether the elements of two values lie in the same place."""
    places = planner.places
    if id(one) not in places or id(other) not in places:
        return one is other
    return places[id(one)].root is places[id(other)].root


def _plan_if(planner: Planner, made: Structured) -> None:
    for i, result in enumerate(made.op.results):
        if is_tensor(result):
            place = Place(shape_of(result.type), arrays.element_name(result.type))
            planner.places[id(result)] = place
            made.handed.append((i, place))
    for region in made.op.regions:
        yields = region.block.ops[-1].operands
        made.bodies.append(planner.block(region.block, [(yields[i], p) for i, p in made.handed]))


def _plan_while(planner: Planner, made: Structured) -> None:
    before, after = (region.block for region in made.op.regions)
    for slot in made.slots:
        planner.places[id(before.args[slot.index])] = slot.current
        slot.current.is_fixed = True
    handed = before.ops[-1].operands[1:]
    targets = []
    for i, value in enumerate(handed):
        if not is_tensor(value):
            continue
        place = planner.places.get(id(value)) if value in before.args else None
        if place is None:
            place = Place(shape_of(value.type), arrays.element_name(value.type))
            targets.append((value, place))
        made.handed.append((i, place))
        place.is_fixed = True
        planner.places[id(after.args[i])] = place
        planner.places[id(made.op.results[i])] = place
    made.bodies.append(planner.block(before, targets))
    yields = after.ops[-1].operands
    wanted = [(yields[slot.index], slot.following) for slot in made.slots]
    made.bodies.append(planner.block(after, wanted))
