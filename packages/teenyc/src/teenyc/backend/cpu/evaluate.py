"""Computing values inside of a nest: each where a root asks for it, once for each way it is seen.

A value is seen through a tuple of the nest's axes, one for each of its own (views are nothing but
other tuples). What differs from lane to lane becomes a vector, everything else a scalar as far out
as its operands allow.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING

from teenyc.backend.cpu.ahead import ask_ahead
from teenyc.backend.cpu.arena import Place, row_major
from teenyc.backend.cpu.builder import memory_type
from teenyc.backend.cpu.checks import check, check_condition, within
from teenyc.backend.cpu.inline import inline
from teenyc.backend.cpu.masks import MaskTests, through
from teenyc.backend.cpu.memory import (
    all_lanes,
    gather,
    guarded_load,
    load,
    masked_load,
    pointer,
    scatter,
    store,
)
from teenyc.backend.cpu.nest import FIRST, LAST, NO_AXIS, Nest
from teenyc.backend.cpu.structure import (
    GATHER,
    LOAD,
    MAKE_RANGE,
    MAP_ELEMENTWISE,
    VIEWS,
    refusal,
)
from teenyc.backend.cpu.text import WIDTHS, Section, Val, number
from teenyc.ops import arrays
from teenyc.types import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teenyc.backend.cpu.builder import Builder
    from teenyc.ir.core import Operation, Value

Seen = tuple[int, ...]


class Evaluator:
    """The values of one nest. `own` are those that the nest itself writes to their places."""

    def __init__(self, nest: Nest, own: frozenset[int]) -> None:
        self.nest = nest
        self.c = nest.c
        self.scope = nest.scope
        self.own = own
        self._shared: dict[tuple[int, Seen], Val] = {}
        self._tops: dict[int, dict[tuple[int, Seen], Val]] = {}
        self._tested: set[tuple[int, Seen]] = set()
        self.masks = MaskTests(self)

    # --- contexts ---------------------------------------------------------------------------------

    @contextmanager
    def inside(self, section: Section) -> Iterator[None]:
        """Values of the top are made in `section` and known only there (and after `pre`)."""
        with self.nest.inside(section):
            yield

    def _find(self, key: tuple[int, Seen]) -> Val | None:
        found = self._shared.get(key)
        for section in (self.nest.sections[self.nest.top], self.nest.pre):
            if found is None:
                found = self._tops.get(id(section), {}).get(key)
        return found

    def _keep(self, key: tuple[int, Seen], value: Val) -> None:
        if value.level < self.nest.top:
            self._shared[key] = value
        else:
            self._tops.setdefault(id(self.nest.sections[self.nest.top]), {})[key] = value

    # --- values -----------------------------------------------------------------------------------

    def value(self, value: Value, seen: Seen) -> Val:
        """`value` seen through the axes `seen`."""
        pending = [(value, self.normal(value, seen))]
        while pending:
            at, through = pending[-1]
            key = (id(at), through)
            if self._find(key) is not None:
                pending.pop()
                continue
            needs = [(x, self.normal(x, how)) for x, how in self._operands(at, through)]
            missing = [need for need in needs if self._find((id(need[0]), need[1])) is None]
            if missing:
                pending += missing
                continue
            pending.pop()
            found = [self._found(x, how) for x, how in needs]
            self._keep(key, self._compute(at, through, found))
        return self._found(value, self.normal(value, seen))

    def _found(self, value: Value, seen: Seen) -> Val:
        found = self._find((id(value), seen))
        assert found is not None
        return found

    def normal(self, value: Value, seen: Seen) -> Seen:
        """Axes of one element do not matter."""
        shape = shape_of(value.type)
        return tuple(NO_AXIS if n == 1 else a for n, a in zip(shape, seen, strict=True))

    def _stored(self, value: Value) -> Place | None:
        # What is cheap may have a place for the sake of one later step: it is computed again here.
        if id(value) in self.own or self.scope.classes.is_cheap(value):
            return None
        return self.scope.place(value)

    def _operands(self, value: Value, seen: Seen) -> list[tuple[Value, Seen]]:
        """What must be computed before `value`, and how that is seen."""
        op = value.op
        if op is None or not shape_of(value.type) or self._stored(value) is not None:
            return []
        if op.opdef in VIEWS:
            return [(op.operands[0], through(op, seen))]
        if op.opdef is GATHER:
            return [(op.operands[1], seen)]
        if op.opdef.cpu is not None or op.opdef is MAP_ELEMENTWISE:
            return [(x, seen if shape_of(x.type) else ()) for x in op.operands]
        return []

    def _compute(self, value: Value, seen: Seen, operands: list[Val]) -> Val:
        op = value.op
        if not shape_of(value.type):
            return self.scope.scalar(value)
        place = self._stored(value)
        if place is not None:
            return self.read(place, seen)
        assert op is not None
        if op.opdef in VIEWS:
            return operands[0]
        if op.opdef is MAKE_RANGE:
            return self._range(op, seen[0])
        if op.opdef is LOAD:
            return self._load(op, seen)
        if op.opdef is GATHER:
            return self._gather(op, seen, operands[0])
        if op.opdef is MAP_ELEMENTWISE:
            self.scope.work += 4 * self.elements
            return inline(self.c, op.regions[0], operands)[value.index]
        if op.opdef.cpu is None:
            raise refusal(op)
        self.scope.work += op.opdef.cost * self.elements
        return op.opdef.cpu(self.c, op, *operands)  # type: ignore[no-any-return]

    @property
    def elements(self) -> float:
        """How many elements the nest goes through; loops around it are taken to run 16 times."""
        return prod(self.nest.shape) * 16.0**self.scope.loop_depth

    def _range(self, op: Operation, axis: int) -> Val:
        start = number(op.attrs["start"], "i32")
        if axis == NO_AXIS:
            return start
        base = self.nest.position(axis, "i32")
        if not (base.is_constant and base.text == "0"):
            start = self.c.binary("add", base, start) if start.text != "0" else base
        if axis != self.nest.strip:
            return start
        lanes = self.nest.lanes("i32")
        if start.is_constant and start.text == "0":
            return lanes
        return self.c.binary("add", start, lanes)

    # --- places -----------------------------------------------------------------------------------

    def read(self, place: Place, seen: Seen) -> Val:
        """The elements of a place."""
        self.scope.arena.touch(place)
        address, step, level = self.address(place, seen)
        type_, lanes = place.type, self.nest.width
        if step is None:
            found = load(self.c, address, type_, 0, level)
        elif step == 1:
            found = load(self.c, address, type_, lanes, level, strip_alignment(place, lanes))
        else:
            wide = self._addresses(address, step * (WIDTHS[type_] // 8), level)
            other = number(0, type_, lanes)
            found = gather(self.scope, self.c, wide, all_lanes(lanes), other, level)
        return self.c.decode(found, "i1") if place.element == "i1" else found

    def _gather(self, op: Operation, seen: Seen, index: Val) -> Val:
        """Elements of a place that `index` picks along an axis; the nearest where it is outside."""
        place = self.scope.place(op.operands[0])
        assert place is not None
        self.scope.arena.touch(place)
        axis, c = op.attrs["axis"], self.c
        wide = c.cast("sext", index, "i64")
        wide = c.extreme("smax", wide, number(0, "i64"))
        wide = c.extreme("smin", wide, number(place.shape[axis] - 1, "i64"))
        offset = c.binary("mul", wide, number(place.strides[axis], "i64"))
        for at, seen_as in enumerate(seen):
            if at == axis or seen_as == NO_AXIS:
                continue
            here = self.nest.position(seen_as, "i64")
            if seen_as == self.nest.strip:
                here = c.binary("add", here, self.nest.lanes("i64"))
            here = c.binary("mul", here, number(place.strides[at], "i64"))
            offset = c.binary("add", offset, here)
        size = WIDTHS[place.type] // 8
        moved = c.binary("mul", offset, number(size, "i64"))
        moved = c.binary("add", moved, number(place.start * size, "i64"))
        base = c.put(f"ptrtoint ptr {place.target.pointer} to i64", "i64", 0, 0)
        address = c.binary("add", base, moved)
        if not address.lanes:
            found = load(c, pointer(c, address, address.level), place.type, 0, address.level)
        else:
            other, mask = number(0, place.type, address.lanes), all_lanes(address.lanes)
            found = gather(self.scope, c, address, mask, other, address.level)
        return c.decode(found, "i1") if place.element == "i1" else found

    def address(self, place: Place, seen: Seen) -> tuple[str, int | None, int]:
        """A pointer to the (first lane's) element, and how it is used.

        That is: elements from lane to lane (None: one for all), and the level of the access.
        """
        strides = place.strides
        terms, step = [], None
        for axis, stride in zip(seen, strides, strict=True):
            if axis == NO_AXIS:
                continue
            index = self.nest.position(axis, "i64")
            if axis == self.nest.strip:
                step = stride
            if index.text != "0":
                terms.append((index.level, self.c.binary("mul", index, number(stride, "i64"))))
        offset = number(place.start, "i64")
        for _, term in sorted(terms, key=lambda pair: pair[0]):
            offset = term if offset.text == "0" else self.c.binary("add", offset, term)
        level = max(offset.level, self.nest.lane_level if step is not None else 0)
        if self._is_written_here(place):
            level = self.nest.top
        base = place.target.pointer
        at = self.c.put(f"getelementptr {place.type}, ptr {base}, {offset}", "ptr", 0, offset.level)
        return at.text, step, level

    def _is_written_here(self, place: Place) -> bool:
        """An old value must be read before the body overwrites it, in the same strip."""
        return any(
            place.root is other.root for root in self.nest.cluster.roots for other in root.places
        )

    def _addresses(self, at: str, step: int, level: int) -> Val:
        """The addresses of all lanes from the first one's pointer."""
        first = self.c.put(f"ptrtoint ptr {at} to i64", "i64", 0, level)
        lanes = self.nest.lanes("i64")
        return self.c.binary("add", first, self.c.binary("mul", lanes, number(step, "i64")))

    def put(self, place: Place, seen: Seen, x: Val) -> None:
        """Write a strip into a place."""
        c, nest = self.c, self.nest
        self.scope.arena.touch(place)
        x = c.splat(c.encode(x, "i1") if place.element == "i1" else x, nest.width)
        at, step, _ = self.address(place, seen)
        nest.written.append((at, x) if step == 1 else None)
        if step in (None, 1):
            store(c, at, x, nest.top, strip_alignment(place, nest.width))
        else:
            self.scatter_strip(c, at, step or 1, x)

    def scatter_strip(self, c: Builder, at: str, step: int, x: Val) -> None:
        """Write a strip into a place whose lanes lie `step` elements apart."""
        with self._writing_with(c):
            wide = self._addresses(at, step * (WIDTHS[x.type] // 8), self.nest.top)
            scatter(self.scope, c, wide, x, all_lanes(x.lanes), self.nest.top)

    @contextmanager
    def _writing_with(self, c: Builder) -> Iterator[None]:
        before, self.c = self.c, c
        try:
            yield
        finally:
            self.c = before

    def store_mask(self, op: Operation) -> Val:
        """The mask of a store as a strip."""
        if len(op.operands) < 3:
            return all_lanes(self.nest.width)
        return self.c.splat(self.value(op.operands[2], self.nest.identity), self.nest.width)

    # --- loads ------------------------------------------------------------------------------------

    def _load(self, op: Operation, seen: Seen) -> Val:
        element = arrays.element_name(op.results[0].type)
        self.scope.work += self.elements
        if self.nest.strip not in seen:
            return self.c.decode(self._load_scalar(op, seen, element), element)
        contiguous = self.contiguity(op.operands[0], seen, memory_type(element))
        masked = len(op.operands) > 1 or (self.checks and self.can_stage(op.operands))
        if contiguous is not None and not masked and contiguous:
            found = self._load_strip(op, seen, element)
        elif contiguous is not None and self.can_stage(op.operands):
            found = self._load_staged(op, seen, element, certain=contiguous)
        elif contiguous:
            found = self._load_masked(op, seen, element)
        else:
            found = self._load_gathered(op, seen, element)
        return self.c.decode(found, element)

    def contiguity(self, address: Value, seen: Seen, type_: str) -> bool | None:
        """Whether lanes lie side by side: True, False (only a test can tell) or None (no)."""
        size = WIDTHS[type_] // 8
        axes = self.scope.classes
        at = seen.index(self.nest.strip)
        if seen.count(self.nest.strip) > 1:
            return None
        if axes.axes.strides(address)[at] == size:
            return True
        return False if axes.guesses.strides(address)[at] == size else None

    def can_stage(self, operands: list[Value]) -> bool:
        """Whether the access can be decided before the body runs."""
        ready = self.nest.lane_level == self.nest.top
        inside = self.nest.sections[self.nest.top] is self.nest.body
        return ready and inside and all(map(self.scope.classes.is_cheap, operands))

    def first(self, seen: Seen) -> Seen:
        """The same, in the first lane."""
        return tuple(FIRST if a == self.nest.strip else a for a in seen)

    def last(self, seen: Seen) -> Seen:
        return tuple(LAST if a == self.nest.strip else a for a in seen)

    def _load_scalar(self, op: Operation, seen: Seen, element: str) -> Val:
        address = self.value(op.operands[0], seen)
        mask = self.value(op.operands[1], seen) if len(op.operands) > 1 else None
        other = self.value(op.operands[2], seen) if len(op.operands) > 2 else None
        if self.checks:
            on = mask or number(1, "i1")
            level = max(address.level, on.level)
            self.check(op, seen, address, on, level)
        return guarded_load(self.scope, self.c, address, mask, other, element)

    @property
    def checks(self) -> bool:
        """Whether accesses are checked."""
        return self.scope.output.checks

    def check(self, op: Operation, seen: Seen, addresses: Val, mask: Val, level: int) -> None:
        """Check an access before it happens; `level` is where it does."""
        element, step = self._element(op, seen)
        level = max(level, element.level)
        if addresses.lanes:
            mask = self.c.splat(mask, addresses.lanes)
        pointee = op.operands[0].type.element.pointee  # type: ignore[union-attr]
        size = arrays.itemsize(pointee)
        check(self.scope, self.c, op, addresses, mask, element, size, level, step)

    def assert_strip(self, op: Operation) -> None:
        """Stop where a condition does not hold in all lanes."""
        nest = self.nest
        found = self.c.splat(self.value(op.operands[0], nest.identity), nest.width)
        element, step = self._element(op, nest.identity)
        check_condition(self.scope, self.c, op, found, element, nest.top, step)

    def _element(self, op: Operation, seen: Seen) -> tuple[Val, int]:
        """The first lane's element in the tensor of the first operand, and the step to the next."""
        shape = shape_of(op.operands[0].type)
        element, step = number(0, "i64"), 0
        for axis, stride in zip(seen, row_major(shape), strict=True):
            if axis == NO_AXIS:
                continue
            if axis == self.nest.strip:
                step = stride
            index = self.c.binary("mul", self.nest.position(axis, "i64"), number(stride, "i64"))
            element = self.c.binary("add", element, index)
        return element, step

    def check_strip(self, op: Operation, seen: Seen, mask: Val, level: int) -> None:
        """Check every lane of a strip."""
        if self.checks:
            wide = self.c.splat(self.value(op.operands[0], seen), self.nest.width)
            self.check(op, seen, wide, mask, max(level, wide.level))

    def _load_strip(self, op: Operation, seen: Seen, element: str) -> Val:
        address = self.value(op.operands[0], self.first(seen))
        level = max(address.level, self.nest.lane_level)
        self.check_strip(op, seen, number(1, "i1"), level)
        at = pointer(self.c, address, address.level)
        self._ask_ahead(op.operands[0], address)
        return load(self.c, at, memory_type(element), self.nest.width, level)

    def _ask_ahead(self, address: Value, first: Val) -> None:
        """Rows of a tile lie far apart; a row by itself the hardware foresees."""
        if len(self.nest.shape) > 1:
            pointee = address.type.element.pointee  # type: ignore[union-attr]
            nbytes = self.nest.width * arrays.itemsize(pointee)
            ask_ahead(self.nest, self.c, address, first, nbytes)

    def mask_and_other(self, op: Operation, seen: Seen, element: str) -> tuple[Val, Val]:
        """Both as strips, `other` in the type of memory."""
        lanes = self.nest.width
        mask = all_lanes(lanes)
        other = number(0, memory_type(element))
        if len(op.operands) > 1:
            mask = self.c.splat(self.value(op.operands[1], seen), lanes)
        if len(op.operands) > 2:
            other = self.c.encode(self.value(op.operands[2], seen), element)
        return mask, self.c.splat(other, lanes)

    def _load_masked(self, op: Operation, seen: Seen, element: str) -> Val:
        address = self.value(op.operands[0], self.first(seen))
        mask, other = self.mask_and_other(op, seen, element)
        level = max(address.level, mask.level, other.level, self.nest.lane_level)
        self.check_strip(op, seen, mask, level)
        at = pointer(self.c, address, address.level)
        return masked_load(self.scope, self.c, at, mask, other, level)

    def _load_gathered(self, op: Operation, seen: Seen, element: str) -> Val:
        address = self.c.splat(self.value(op.operands[0], seen), self.nest.width)
        mask, other = self.mask_and_other(op, seen, element)
        level = max(address.level, mask.level, other.level, self.nest.lane_level)
        self.check_strip(op, seen, mask, level)
        return gather(self.scope, self.c, address, mask, other, level)

    def _load_staged(self, op: Operation, seen: Seen, element: str, *, certain: bool) -> Val:
        """A strip read from memory where all lanes are on, else from a slot filled before."""
        nest, c = self.nest, self.c
        real, slot = self.stage(op.operands[0], op.operands[1:2], seen, certain=certain)
        if certain:
            with self.inside(nest.pre):
                self._ask_ahead(op.operands[0], self.value(op.operands[0], self.first(seen)))
        with self.inside(nest.fill):
            if certain:
                found = self._load_masked(op, seen, element)
            else:
                found = self._load_gathered(op, seen, element)
            c.do(f"store {found}, ptr {slot}, align 64", nest.top)
        at = self.choose(real, slot)
        return load(c, at, memory_type(element), nest.width, nest.top)

    def stage(
        self, address: Value, mask: list[Value], seen: Seen, *, certain: bool
    ) -> tuple[str, str]:
        """Add the access's tests; the pointer to memory and a slot."""
        nest, c = self.nest, self.c
        with self.inside(nest.pre):
            first = self.value(address, self.first(seen))
            real = pointer(c, first, first.level)
            if not certain:
                last = self.value(address, self.last(seen))
                pointee = address.type.element.pointee  # type: ignore[union-attr]
                span = number((nest.width - 1) * arrays.itemsize(pointee), "i64")
                nest.tests.append(c.compare("eq", c.binary("sub", last, first), span))
            if self.checks:
                pointee = address.type.element.pointee  # type: ignore[union-attr]
                bytes_ = number(nest.width * arrays.itemsize(pointee), "i64")
                end = c.binary("add", first, bytes_)
                nest.tests.append(within(self.scope, c, address, first, end))
            for condition in mask:
                key = (id(condition), seen)
                if key not in self._tested:
                    self._tested.add(key)
                    self.masks.require(condition, seen)
            if not nest.tests:  # a mask that always holds
                nest.tests.append(number(1, "i1"))
        return real, nest.slot()

    def choose(self, real: str, slot: str) -> str:
        """The pointer that the body uses."""
        name = f"%{self.scope.label('at')}"
        self.nest.strip_phis.append(f"  {name} = phi ptr [{real}, %{{pre}}], [{slot}, %{{fill}}]")
        return name


def strip_alignment(place: Place, lanes: int) -> int:
    """What a strip in a place is aligned to."""
    size = max(1, WIDTHS[place.type] // 8)
    return size if place.base is not None else min(64, size * lanes)
