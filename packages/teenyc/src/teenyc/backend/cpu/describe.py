"""The dump `--emit clusters`: which loop nests were chosen, what each does, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.cluster import Assert, Atomic, Reduce, Root, Scan, Store

if TYPE_CHECKING:
    from teenyc.backend.cpu.arena import Place
    from teenyc.backend.cpu.cluster import Dot, Structured
    from teenyc.backend.cpu.nest import Nest
    from teenyc.backend.cpu.scope import Scope
    from teenyc.ir.core import Operation, Value


def note(scope: Scope, text: str) -> None:
    """Add a line to the dump, as deep as the code is."""
    scope.dump.append("  " * scope.depth + text)


def note_nest(scope: Scope, nest: Nest) -> None:
    """One loop nest: its loops from outside in, and its roots."""
    loops = [
        f"axis {axis} by {nest.step(axis)}" for axis in nest.order if nest.levels[axis] > 0
    ] or ["no loop"]
    shape = "x".join(map(str, nest.shape))
    note(scope, f"nest {shape}: {', '.join(loops)}; {nest.width} lanes along axis {nest.strip}")
    for root in nest.cluster.roots:
        note(scope, f"  {_root(root)}")
    if nest.tests:
        note(scope, f"  fast where {len(nest.tests)} tests hold, else through slots")


def note_dot(scope: Scope, step: Dot, rows: int, columns: int) -> None:
    """One product of matrices."""
    left, right = ("x".join(map(str, place.shape)) for place in (step.left, step.right))
    where = _buffer(step.out)
    note(scope, f"dot {left} * {right} in {where}, {rows} x {columns} in registers{_at(step.op)}")


def note_structured(scope: Scope, step: Structured) -> None:
    """A loop or a conditional, and how it carries its tensors."""
    note(scope, f"{step.op.name}{_at(step.op)}")
    for slot in step.slots:
        how = "in place" if slot.in_place else "by turns"
        note(scope, f"  carries {_buffer(slot.current)} {how}")


def _root(root: Root) -> str:
    if isinstance(root, Store):
        if root.source is not None:
            return f"store what waited{_at(root.op)}"
        guarded = ", put aside where arrays overlap" if root.guarded else ""
        return f"store {_named(root.op.operands[1])}{_at(root.op)}{guarded}"
    if isinstance(root, Reduce):
        goes = f" to {', '.join(map(_buffer, root.places))}" if root.places else ""
        axis = root.op.attrs["axis"]
        return f"reduce {_named(root.op.operands[0])} along axis {axis}{goes}{_at(root.op)}"
    if isinstance(root, Scan | Atomic):
        return f"{root.op.name} to {', '.join(map(_buffer, root.places))}{_at(root.op)}"
    if isinstance(root, Assert):
        return f"assert{_at(root.op)}"
    op = root.value.op
    return f"write {_named(root.value)} to {_buffer(root.place)}{_at(op) if op else ''}"


def _buffer(place: Place) -> str:
    return place.target.pointer.removeprefix("%")


def _named(value: Value) -> str:
    op = value.op
    what = value.hint or (op.name if op is not None else "argument")
    return f"{what} : {value.type}"


def _at(op: Operation) -> str:
    loc = op.loc
    while loc.caller is not None:
        loc = loc.caller
    return f" ({loc.file}:{loc.line}:{loc.column})" if loc.file else ""
