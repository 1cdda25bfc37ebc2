"""Operations that go through their tensors one element after the other: small loops of scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

from teenyc.backend.cpu.memory import load, store
from teenyc.backend.cpu.prints import emit_print
from teenyc.backend.cpu.structure import HISTOGRAM, PRINT, UNSPLAT
from teenyc.backend.cpu.text import WIDTHS, Val, number

if TYPE_CHECKING:
    from teenyc.backend.cpu.arena import Place
    from teenyc.backend.cpu.cluster import Serial, Step
    from teenyc.backend.cpu.scope import Scope

Emit = Callable[["Scope", "list[Step]"], None]


def emit_serial(scope: Scope, step: Serial, emit_steps: Emit) -> None:
    """Append the code of one serial step."""
    scope.arena.tick()
    for place in step.places:
        if not place.root.pointer:
            scope.arena.allocate(place.root)
    for place in (*step.sources, *step.places):
        scope.arena.touch(place)
    if step.op.opdef is UNSPLAT:
        scope.scalars[id(step.op.result)] = _get(scope, step.sources[0], number(0, "i64"))
    elif step.op.opdef is HISTOGRAM:
        _histogram(scope, step)
    elif step.op.opdef is PRINT:
        emit_print(scope, step)
    else:
        _map(scope, step, emit_steps)


def _address(scope: Scope, place: Place, index: Val) -> str:
    """A pointer to an element, by its number in the order of rows."""
    c, offset, rest = scope.builder(), number(place.start, "i64"), index
    side = prod(place.shape)
    for n, stride in zip(place.shape, place.strides, strict=True):
        side //= n
        here = c.binary("udiv", rest, number(side, "i64"))
        rest = c.binary("urem", rest, number(side, "i64"))
        offset = c.binary("add", offset, c.binary("mul", here, number(stride, "i64")))
    pointer = place.target.pointer
    return c.put(f"getelementptr {place.type}, ptr {pointer}, {offset}", "ptr", 0, 0).text


def _get(scope: Scope, place: Place, index: Val) -> Val:
    c = scope.builder()
    found = load(c, _address(scope, place, index), place.type, 0, 0)
    return c.decode(found, "i1") if place.element == "i1" else found


def _put(scope: Scope, place: Place, index: Val, x: Val) -> None:
    c = scope.builder()
    store(c, _address(scope, place, index), c.encode(x, "i1") if place.element == "i1" else x, 0)


class _Loop:
    """A loop over `count` numbers at the end of a function's code."""

    def __init__(self, scope: Scope, count: int) -> None:
        self.scope, self.count = scope, count
        main = scope.main
        self.head, self.latch = scope.label("each"), scope.label("following")
        self.index = Val(f"%{scope.label('element')}", "i64")
        before = main.label
        main.lines.append(f"  br label %{self.head}")
        main.open(self.head)
        main.lines.append(
            f"  {self.index.text} = phi i64 [0, %{before}], [{self.index.text}.n, %{self.latch}]"
        )

    def close(self) -> None:
        """End the loop's body."""
        main, name, done = self.scope.main, self.index.text, self.scope.label("through")
        main.lines.append(f"  br label %{self.latch}")
        main.open(self.latch)
        main.lines += [
            f"  {name}.n = add nuw nsw i64 {name}, 1",
            f"  {name}.more = icmp ult i64 {name}.n, {self.count}",
            f"  br i1 {name}.more, label %{self.head}, label %{done}",
        ]
        main.open(done)


def _histogram(scope: Scope, step: Serial) -> None:
    """Values without a bin are not counted."""
    out = step.places[0]
    clear = _Loop(scope, out.shape[0])
    _put(scope, out, clear.index, number(0, "i32"))
    clear.close()
    count = _Loop(scope, prod(step.sources[0].shape))
    c = scope.builder()
    value = _get(scope, step.sources[0], count.index)
    bins = number(out.shape[0], value.type)
    known = c.compare("ult", value, bins)
    if len(step.sources) > 1:
        known = c.binary("and", known, _get(scope, step.sources[1], count.index))
    index = c.cast("zext", c.select(known, value, number(0, value.type)), "i64")
    at = _address(scope, out, index)
    more = c.binary("add", load(c, at, "i32", 0, 0), c.cast("zext", known, "i32"))
    store(c, at, more, 0)
    count.close()
    scope.work += prod(step.sources[0].shape) * 16.0 ** (scope.loop_depth + 1)


def _map(scope: Scope, step: Serial, emit_steps: Emit) -> None:
    """A function of scalars for each pack of neighbors, with whatever control flow it has."""
    op = step.op
    pack, block = op.attrs["pack"], op.regions[0].block
    count = prod(step.sources[0].shape) // pack
    loop = _Loop(scope, count)
    start = scope.arena.tick()
    c = scope.builder()
    indices = [
        c.binary("add", c.binary("mul", loop.index, number(pack, "i64")), number(j, "i64"))
        for j in range(pack)
    ]
    given = [_get(scope, place, at) for place in step.sources for at in indices]
    for arg, x in zip(block.args, given, strict=True):
        scope.scalars[id(arg)] = x
    emit_steps(scope, list(step.body))
    results: Sequence[Val] = [scope.scalar(x) for x in block.ops[-1].operands]
    for i, place in enumerate(step.places):
        for j, at in enumerate(indices):
            _put(scope, place, at, results[i * pack + j])
    loop.close()
    scope.arena.tick()
    scope.arena.loop(start)
    scope.work += count * max(WIDTHS.values()) * 16.0**scope.loop_depth
