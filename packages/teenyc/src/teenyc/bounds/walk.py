"""The accesses of a kernel with their offsets and masks, as polynomials and conditions.

A tensor is read one element at a time: the value of an operation at given places is made from its
operands' values at their places. Integers are taken not to wrap; overflow.py looks at that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teenyc.bounds import integers
from teenyc.bounds.poly import TRUE, ZERO, Condition, Poly, at_least
from teenyc.bounds.symbols import Symbols, depends
from teenyc.types import PointerType, ScalarType, scalar_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from teenyc.bounds.poly import Atom
    from teenyc.ir.core import Block, Module, Operation, Value

Places = tuple[Poly, ...]
# Operand positions of pointer and mask in operations that touch memory; and what they do.
_ACCESSES = {
    "tt.load": (1, "load"),
    "tt.store": (2, "store"),
    "tt.atomic_rmw": (2, "atomic"),
    "tt.atomic_cas": (3, "atomic"),
    "tt.atomic_load": (2, "atomic"),
    "tt.atomic_store": (2, "atomic"),
}


class Step(NamedTuple):
    """An integer operation on the way to an offset: its value, and the bits that it has."""

    op: Operation
    value: Poly
    bits: int


class Access(NamedTuple):
    """One element that an operation may touch.

    `base` is the parameter, None where the pointer comes from elsewhere; `conditions` hold where
    the element is touched; `reason` says why nothing can be decided.
    """

    op: Operation
    what: str
    base: str | None
    offset: Poly
    conditions: tuple[Condition, ...]
    lanes: Places
    steps: tuple[Step, ...]
    reason: str = ""


class _Loop(NamedTuple):
    """A loop that was entered: its bounds and the number of its turn."""

    op: Operation
    bounds: tuple[Poly, Poly, Poly]
    turn: Poly


class Walker:
    """Reads the values of one program of a kernel."""

    def __init__(self, module: Module, symbols: Symbols) -> None:
        self.module = module
        self.symbols: Symbols = symbols
        self.names = {
            id(arg): param[0] for arg, param in zip(module.entry.args, module.params, strict=True)
        }
        self.loops: dict[int, _Loop] = {}
        self.owners: dict[int, tuple[Operation, int]] = {}
        self.memo: dict[tuple[int, Places], Poly] = {}
        self.open: set[tuple[int, Places]] = set()
        self.steps: dict[tuple[int, Places], Step] = {}
        self.assumed: list[Condition] = []

    def accesses(self) -> Iterator[Access]:
        """All accesses, in the order of the text."""
        yield from self._block(self.module.entry.body.block, ())

    def _block(self, block: Block, path: tuple[Condition, ...]) -> Iterator[Access]:
        for op in block.ops:
            if op.name in _ACCESSES:
                yield self._access(op, path)
            elif op.name == "scf.for":
                yield from self._for(op, path)
            elif op.name == "scf.if":
                condition = self.condition(op.operands[0], ())
                for region, holds in zip(op.regions, (condition, ~condition), strict=False):
                    yield from self._block(region.block, (*path, holds))
            elif op.name == "scf.while":
                yield from self._while(op, path)
            elif op.name == "llvm.intr.assume":
                path = (*path, self.condition(op.operands[0], ()))

    def _for(self, op: Operation, path: tuple[Condition, ...]) -> Iterator[Access]:
        body = op.regions[0].block
        lower, upper, step = (self.poly(bound, ()) for bound in op.operands[:3])
        turn = self.symbols.counter(id(op), lower, upper, step)
        self.loops[id(op)] = _Loop(op, (lower, upper, step), turn)
        for at, arg in enumerate(body.args):
            self.owners[id(arg)] = (op, at - 1)
        yield from self._block(body, (*path, at_least(upper - 1, lower + turn * step)))

    def _while(self, op: Operation, path: tuple[Condition, ...]) -> Iterator[Access]:
        before, after = (region.block for region in op.regions)
        yield from self._block(before, path)
        holds = self.condition(before.ops[-1].operands[0], ())
        yield from self._block(after, (*path, holds))

    def _access(self, op: Operation, path: tuple[Condition, ...]) -> Access:
        at, what = _ACCESSES[op.name]
        shape = shape_of(op.operands[0].type)
        lanes = tuple(self.symbols.lane(axis, side) for axis, side in enumerate(shape))
        self.memo, self.steps = {}, {}
        base, offset = self.pointer(op.operands[0], lanes)
        steps = tuple(self.steps.values())
        mask = self.condition(op.operands[at], lanes) if len(op.operands) > at else TRUE
        reason = "" if base is not None else "its pointer does not come from one parameter"
        found = depends([offset], _UNKNOWN)
        if found is not None:
            reason = f"its place depends on {found.args[0]}"
        return Access(op, what, base, offset, (*path, mask), lanes, steps, reason)

    # --- values -----------------------------------------------------------------------------------

    def poly(self, value: Value, places: Places) -> Poly:
        """An integer at some places of its tensor."""
        key = (id(value), places)
        found = self.memo.get(key)
        if found is None:
            if key in self.open:  # a value that a loop makes from itself
                return self.unknown(value, places, "a value that a loop carries")
            self.open.add(key)
            found = self.memo[key] = self._poly(value, places)
            self.open.discard(key)
        return found

    def _poly(self, value: Value, places: Places) -> Poly:
        op = value.op
        if op is None:
            return self._argument(value, places)
        moved = moved_places(op, value.index, places, self.symbols)
        if moved is not None:
            return self.poly(*moved)
        if op.name == "scf.for":
            return self._after_loop(op, value.index, places)
        if op.name == "scf.if":
            condition = self.condition(op.operands[0], ())
            then, other = (region.block.ops[-1].operands[value.index] for region in op.regions)
            return self.symbols.choice(condition, self.poly(then, places), self.poly(other, places))
        found = integers.value_of(self, op, places)
        if found is None:
            return self.unknown(value, places, integers.describe(op))
        scalar = scalar_of(value.type)
        if op.name in integers.WRAPPING and isinstance(scalar, ScalarType):
            self.steps[id(value), places] = Step(op, found, int(scalar.name[1:]))
        return found

    def unknown(self, value: Value, places: Places, what: str) -> Poly:
        """Nothing is known of a value, but that it is one for each place."""
        return self.symbols.unknown((id(value), places), what)

    def _argument(self, value: Value, places: Places) -> Poly:
        name = self.names.get(id(value))
        if name is not None:
            found = self.symbols.parameter(name)
            return found if found is not None else self.unknown(value, places, f"`{name}`")
        owner = self.owners.get(id(value))
        if owner is None:
            return self.unknown(value, places, "a value that a loop carries")
        op, at = owner
        loop = self.loops[id(op)]
        if at < 0:
            return loop.bounds[0] + loop.turn * loop.bounds[2]
        step = self._step(op, at, places)
        if step is None:
            return self.unknown(value, places, "a value that a loop carries")
        return self.poly(op.operands[3 + at], places) + loop.turn * step[1]

    def _after_loop(self, op: Operation, at: int, places: Places) -> Poly:
        value = op.results[at]
        loop = self.loops.get(id(op))
        step = self._step(op, at, places) if loop is not None else None
        if loop is None or step is None:
            return self.unknown(value, places, "a value that a loop carries")
        return self.poly(op.operands[3 + at], places) + self.symbols.turns(*loop.bounds) * step[1]

    def _step(self, op: Operation, at: int, places: Places) -> tuple[str | None, Poly] | None:
        """What a turn of the loop adds to a carried value, if that is the same in each turn."""
        body = op.regions[0].block
        arg, end = body.args[at + 1], body.ops[-1].operands[at]
        inner = _Turn(self, op, arg)
        if isinstance(scalar_of(arg.type), PointerType):
            base, step = inner.pointer(end, places)
            if base != inner.mark:
                return None
        else:
            total = inner.poly(end, places)
            step = total - inner.marked(places)
        loop = self.loops[id(op)]
        if inner.depends_on_turn(step, loop.turn):
            return None
        return "", step

    def condition(self, value: Value, places: Places) -> Condition:
        """An i1 at some places of its tensor."""
        op = value.op
        if op is None:
            return Condition("opaque")
        moved = moved_places(op, value.index, places, self.symbols)
        if moved is not None:
            return self.condition(*moved)
        return integers.condition_of(self, op, places)

    def pointer(self, value: Value, places: Places) -> tuple[str | None, Poly]:
        """The parameter that a pointer comes from, and the elements that it lies behind it."""
        op = value.op
        if op is None:
            return self._pointer_argument(value, places)
        moved = moved_places(op, value.index, places, self.symbols)
        if moved is not None:
            return self.pointer(*moved)
        if op.name == "tt.addptr":
            base, offset = self.pointer(op.operands[0], places)
            return base, offset + self.poly(op.operands[1], places)
        if op.name in ("arith.select", "scf.if"):
            return self._choice(op, value.index, places)
        if op.name == "scf.for":
            loop, step = self.loops.get(id(op)), self._step(op, value.index, places)
            if loop is not None and step is not None:
                base, offset = self.pointer(op.operands[3 + value.index], places)
                return base, offset + self.symbols.turns(*loop.bounds) * step[1]
        return None, ZERO

    def _choice(self, op: Operation, at: int, places: Places) -> tuple[str | None, Poly]:
        if op.name == "scf.if":
            condition = self.condition(op.operands[0], ())
            pair = [region.block.ops[-1].operands[at] for region in op.regions]
        else:
            chosen = places if shape_of(op.operands[0].type) else ()
            condition = self.condition(op.operands[0], chosen)
            pair = op.operands[1:]
        (left, one), (right, other) = (self.pointer(value, places) for value in pair)
        if left is None or left != right:
            return None, ZERO
        return left, self.symbols.choice(condition, one, other)

    def _pointer_argument(self, value: Value, places: Places) -> tuple[str | None, Poly]:
        name = self.names.get(id(value))
        if name is not None:
            return name, ZERO
        owner = self.owners.get(id(value))
        if owner is None:
            return None, ZERO
        op, at = owner
        step = self._step(op, at, places)
        if step is None:
            return None, ZERO
        base, offset = self.pointer(op.operands[3 + at], places)
        return base, offset + self.loops[id(op)].turn * step[1]


_UNKNOWN = frozenset({"unknown"})


class _Turn(Walker):
    """Reads one turn of a loop: what it carries is a mark that can be found again."""

    def __init__(self, around: Walker, op: Operation, arg: Value) -> None:
        super().__init__(around.module, around.symbols)
        self.loops, self.owners = around.loops, around.owners
        self.arg = arg
        self.loop = op
        self.mark = f"carried {id(arg)}"

    def marked(self, places: Places) -> Poly:
        """The carried value."""
        return self.symbols.unknown((self.mark, places), self.mark)

    def _argument(self, value: Value, places: Places) -> Poly:
        return self.marked(places) if value is self.arg else super()._argument(value, places)

    def _pointer_argument(self, value: Value, places: Places) -> tuple[str | None, Poly]:
        if value is self.arg:
            return self.mark, ZERO
        return super()._pointer_argument(value, places)

    def _step(self, op: Operation, at: int, places: Places) -> tuple[str | None, Poly] | None:
        if op is self.loop:
            return None  # another value that the same loop carries
        return super()._step(op, at, places)

    @staticmethod
    def depends_on_turn(step: Poly, turn: Poly) -> bool:
        """Whether a step differs between turns, or is not known."""
        (atom,) = turn.atoms
        return depends([step], _UNKNOWN) is not None or _stands_in(step, atom)


def _stands_in(poly: Poly, atom: Atom) -> bool:
    seen: set[Atom] = set()
    pending = list(poly.atoms)
    while pending:
        one = pending.pop()
        if one is atom:
            return True
        if one not in seen:
            seen.add(one)
            for argument in one.args:
                if isinstance(argument, Poly):
                    pending += argument.atoms
                elif isinstance(argument, Condition):
                    pending += [found for part in argument.polys() for found in part.atoms]
    return False


def moved_places(
    op: Operation, index: int, places: Places, symbols: Symbols
) -> tuple[Value, Places] | None:
    """The operand whose element an operation that only moves elements hands on, and where it is."""
    source = op.operands[0] if op.operands else None
    if source is None:
        return None
    if op.name == "tt.splat":
        return source, ()
    if op.name == "tt.unsplat":
        return source, tuple(ZERO for _ in shape_of(source.type))
    if op.name == "tt.expand_dims":
        axis = op.attrs["axis"]
        return source, places[:axis] + places[axis + 1 :]
    if op.name == "tt.broadcast":
        sides = shape_of(source.type)
        pairs = zip(sides, places, strict=True)
        return source, tuple(ZERO if side == 1 else place for side, place in pairs)
    if op.name == "tt.trans":
        order: Sequence[int] = op.attrs["order"]
        moved = [ZERO] * len(order)
        for at, axis in enumerate(order):
            moved[axis] = places[at]
        return source, tuple(moved)
    if op.name == "tt.reshape" and not op.attrs.get("reorder"):
        return source, _reshaped(shape_of(op.result.type), shape_of(source.type), places, symbols)
    return None


def _reshaped(
    after: Sequence[int], before: Sequence[int], places: Places, symbols: Symbols
) -> Places:
    """Where an element stood before a reshape."""
    if [side for side in after if side > 1] == [side for side in before if side > 1]:
        kept = iter([place for side, place in zip(after, places, strict=True) if side > 1])
        return tuple(next(kept) if side > 1 else ZERO for side in before)
    flat = ZERO
    for side, place in zip(after, places, strict=True):
        flat = flat * side + place
    found: list[Poly] = []
    for side in reversed(before):
        found.append(symbols.remainder(flat, Poly.constant(side)))
        flat = symbols.quotient(flat, Poly.constant(side))
    return tuple(reversed(found))
