"""Decides each access of a kernel: proved, refuted with a witness that was run, or unknown."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from teenyc.bounds import witness
from teenyc.bounds.extents import Extent, grid_axis, names_in, read_extents
from teenyc.bounds.facts import MOST_ELEMENTS, Context, Facts, atoms_of
from teenyc.bounds.poly import Condition, Poly, at_least, equal
from teenyc.bounds.solver import Linear, Search
from teenyc.bounds.symbols import Symbols, depends
from teenyc.bounds.walk import Access, Step, Walker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teenyc.bounds.poly import Atom
    from teenyc.bounds.solver import Question
    from teenyc.ir.core import Module

PROVED, REFUTED, UNKNOWN = "proved", "refuted", "unknown"
OUTSIDE, OVERFLOW, COLLISION = "outside", "overflow", "collision"
_SAMPLES = 8
_FEW = 4  # parameters as small as this make the plainest witness
_TURNS = 40  # of loops in a witness, which is run


class Found(NamedTuple):
    """A fault with its witness."""

    kind: str
    program: tuple[int, int, int]
    lane: tuple[int, ...]
    element: int
    size: int
    values: dict[str, int]
    other: tuple[int, int, int] | None = None


class Verdict(NamedTuple):
    """What was decided of one access."""

    access: Access
    verdict: str
    reason: str
    extent: str
    faults: tuple[Found, ...]


def decide(module: Module) -> list[Verdict]:
    """The verdicts of all accesses. Raises E0516 without a solver, E0517 for a wrong extent."""
    symbols = Symbols(module)
    extents = read_extents(module.attributes.get("extents", ()), symbols)
    decider = _Decider(module, symbols, extents)
    accesses = list(Walker(module, symbols).accesses())
    twins = list(Walker(module, Symbols(module, symbols.atoms, "'")).accesses())
    return [decider.decide(one, twin) for one, twin in zip(accesses, twins, strict=True)]


class _Decider:
    """Decides the accesses of one kernel."""

    def __init__(self, module: Module, symbols: Symbols, extents: dict[str, Extent]) -> None:
        self.module = module
        self.symbols = symbols
        self.extents = extents
        self.linear = Linear()
        conditions = [one for extent in extents.values() for one in extent.conditions]
        for name, extent in extents.items():
            axis = grid_axis(name)
            wide = any(symbols.bits[name] > 32 for name in extent.names)
            if axis is not None:
                conditions.append(at_least(extent.size, symbols.grid(axis)))
            elif not wide:  # what i32 counts has no more elements than i32 can count
                conditions.append(at_least(Poly.constant(MOST_ELEMENTS), extent.size))
        self.context = Context(names_in(extents), conditions)
        self.axes = self._axes()
        # Programs that take turns, by a lock or a counter, may store to one place.
        self.apart = not any(op.name == "tt.atomic_cas" for op in module.walk())

    def _axes(self) -> set[int]:
        """The axes of the grid that the kernel asks for; others have one program."""
        names = ("tt.get_program_id", "tt.get_num_programs")
        found: set[int] = set()
        for op in self.module.walk():
            if op.name in names:
                axis = op.attrs["axis"]
                found.add(axis if isinstance(axis, int) else "xyz".index(axis))
        return found

    def decide(self, access: Access, twin: Access) -> Verdict:
        """The verdict of one access."""
        extent = self.extents.get(access.base or "")
        faults: list[Found] = []
        verdict, reason = UNKNOWN, access.reason
        if not reason and extent is None:
            reason = f"no extent is declared for `{access.base}`"
        proof = None
        if not reason and extent is not None:
            wrong = [extent.size, *(step.value for step in _narrow(access))]
            proof = _Proof(access, wrong, self.context, self.linear)
            verdict, reason, fault = self._inside(access, extent, proof)
            if fault is not None:
                faults.append(fault)
        if verdict != REFUTED and proof is not None:
            overflow = self._overflow(access, proof)
            if isinstance(overflow, Found):
                faults.append(overflow)
                verdict, reason = REFUTED, ""
            elif overflow:
                verdict, reason = UNKNOWN, overflow
        if access.what == "store" and proof is not None and verdict != REFUTED and self.apart:
            collision = self._collision(access, twin)
            if collision is not None:
                faults.append(collision)
                verdict, reason = REFUTED, ""
        text = extent.text if extent is not None else ""
        return Verdict(access, verdict, reason, text, tuple(faults))

    # --- inside of the extent ---------------------------------------------------------------------

    def _inside(
        self, access: Access, extent: Extent, proof: _Proof
    ) -> tuple[str, str, Found | None]:
        low = at_least(Poly.constant(-1), access.offset)
        high = at_least(access.offset, extent.size)
        wrong = [one for one in (low, high) if not proof.excludes(one)]
        if not wrong:
            return PROVED, "", None
        bad = wrong[0] if len(wrong) == 1 else wrong[0] | wrong[1]
        for values in self._witnesses(access, [bad]):
            fault = self._run(access, values, extent)
            if fault is not None:
                return REFUTED, "", fault
        if any(condition.is_opaque() for condition in access.conditions):
            return (
                UNKNOWN,
                "a condition or mask depends on values that are not known",
                None,
            )
        side = "before the start" if wrong == [low] else "behind the end"
        return UNKNOWN, f"neither proved nor refuted that it stays from {side}", None

    def _run(self, access: Access, values: dict[Atom, int], extent: Extent) -> Found | None:
        """The fault that a witness shows when it is run, None when it shows none."""
        found = self._touched(access, values)
        size = _value(extent.size, values, self.context)
        if found is None or size is None:
            return None
        touched, program, scalars = found
        for element in sorted(touched.elements, key=abs):
            if not 0 <= element < size:
                lane = touched.places[element]
                return Found(OUTSIDE, program, lane, element, size, scalars)
        return None

    def _touched(
        self, access: Access, values: dict[Atom, int], tag: str = ""
    ) -> tuple[witness.Touched, tuple[int, int, int], dict[str, int]] | None:
        scalars = self._scalars(values)
        numbers = {
            (atom.kind, atom.args[0], _tag(atom)): one
            for atom, one in values.items()
            if atom.kind in ("program", "grid")
        }
        x, y, z = (numbers.get(("program", axis, tag), 0) for axis in range(3))
        width, height, depth = (
            max(numbers.get(("grid", axis, ""), 1), at + 1) for axis, at in enumerate((x, y, z))
        )
        assert access.base is not None
        program, grid = (x, y, z), (width, height, depth)
        touched = witness.run_program(self.module, access.op, access.base, program, grid, scalars)
        return touched, program, scalars

    def _scalars(self, values: dict[Atom, int]) -> dict[str, int]:
        found = {name: 1 for name, bits in self.symbols.bits.items() if bits >= 8}
        found.update((atom.name, one) for atom, one in values.items() if atom.kind == "param")
        return found

    # --- witnesses --------------------------------------------------------------------------------

    def _witnesses(
        self, access: Access, wrong: list[Condition], *, wide: bool = False
    ) -> Iterator[dict[Atom, int]]:
        """Values of atoms under which an access is live and wrong: free ones, then for samples."""
        if depends([access.offset], frozenset({"unknown"})):
            return
        conditions = [*access.conditions, *wrong]
        names = sorted(name for name, bits in self.symbols.bits.items() if bits >= 8)
        polys = [access.offset, *access.lanes]
        for most in (1 << 25,) if wide else (_FEW, 100, 1 << 20):
            limits = self._limits(conditions, most, wide=wide)
            found = Search(self.context).find(conditions, polys, limits)
            if found is not None:
                yield found
                break
        wide_names = {name for name in names if self.symbols.bits[name] > 32}
        for row in _large(names, wide_names) if wide else _samples(names):
            fixed = dict(zip(names, row, strict=True))
            if any(self.context.range_of(atom)[0] > fixed[atom.name] for atom in self._params()):
                continue
            found = Search(self.context, fixed).find(conditions, polys, limits)
            if found is not None:
                yield {**found, **self._fixed(fixed)}

    def _params(self) -> list[Atom]:
        polys = (self.symbols.parameter(name) for name in self.symbols.bits)
        return [atom for poly in polys if poly is not None for atom in poly.atoms]

    def _fixed(self, fixed: dict[str, int]) -> dict[Atom, int]:
        return {atom: fixed[atom.name] for atom in self._params() if atom.name in fixed}

    def _limits(self, conditions: list[Condition], most: int, *, wide: bool) -> list[Condition]:
        """Small numbers, which are easier to read, and loops that can be run."""
        limits: list[Condition] = []
        for atom in atoms_of([], [*conditions, *self.context.conditions]):
            value = Poly.of(atom)
            if atom.kind in ("turn", "turns"):
                limits.append(at_least(Poly.constant(_TURNS), value))
                if atom.kind == "turn":
                    lower, upper, step = atom.args
                    limits.append(at_least(lower + step * (2 * _TURNS), upper))
            elif atom.kind == "grid" or (atom.kind == "param" and not wide):
                limits.append(at_least(Poly.constant(most), value))
        return limits

    # --- overflow ---------------------------------------------------------------------------------

    def _overflow(self, access: Access, proof: _Proof) -> Found | str:
        """A step on the way to the offset that leaves its type; or why that is not known."""
        reason = ""
        for step in _narrow(access):
            most = (1 << (step.bits - 1)) - 1
            high = at_least(step.value, most + 1)
            low = at_least(Poly.constant(-most - 2), step.value)
            wrong = [one for one in (high, low) if not proof.excludes(one)]
            if not wrong:
                continue
            for values in self._witnesses(access, wrong[:1], wide=True):
                fault = self._run_overflow(access, values)
                if fault is not None:
                    return fault
            reason = f"`{step.op.name}` on the way to the offset may leave i{step.bits}"
        return reason

    def _run_overflow(self, access: Access, values: dict[Atom, int]) -> Found | None:
        """A live lane whose true offset is another than the one that the program computes."""
        offset = _value(access.offset, values, self.context)
        if offset is None:
            return None
        touched, program, scalars = self._touched(access, values)  # type: ignore[misc]
        lane = tuple(_value(place, values, self.context) or 0 for place in access.lanes)
        computed = {place: element for element, place in touched.places.items()}
        found = computed.get(lane)
        if found is not None and found == offset:
            return None
        if not touched.complete and found is None:
            return None
        return Found(OVERFLOW, program, lane, offset, found if found is not None else -1, scalars)

    # --- two programs at one place ----------------------------------------------------------------

    def _collision(self, access: Access, twin: Access) -> Found | None:
        """Two programs that store different values to one element."""
        if not self.axes:
            return None
        same = equal(access.offset, twin.offset)
        both = access._replace(conditions=(*access.conditions, *twin.conditions, same))
        twins = Symbols(self.module, self.symbols.atoms, "'")
        before: list[Condition] = []
        possible: list[Condition] = []
        # Of two programs one comes first: the cases are the axis along which it does.
        for axis in sorted(self.axes):
            one, other = self.symbols.program(axis), twins.program(axis)
            case = [*before, at_least(other - 1, one)]
            given = both._replace(conditions=(*both.conditions, *case))
            proof = _Proof(given, [twin.offset], self.context, self.linear, quick=True)
            if not proof.excludes(Condition("true")):
                possible.append(_all(case))
            before.append(equal(one, other))
        for case_ in possible:
            for tried, values in enumerate(self._witnesses(both, [case_])):
                fault = self._run_collision(access, values)
                if fault is not None:
                    return fault
                if tried > 1:
                    break
        return None

    def _run_collision(self, access: Access, values: dict[Atom, int]) -> Found | None:
        one, program, scalars = self._touched(access, values)  # type: ignore[misc]
        other, second, _ = self._touched(access, values, "'")  # type: ignore[misc]
        if program == second:
            return None
        for element in sorted(set(one.elements) & set(other.elements)):
            left, right = one.elements[element], other.elements[element]
            if left != right and repr(left) != repr(right):  # NaN is one value
                place = one.places[element]
                return Found(COLLISION, program, place, element, 0, scalars, second)
        return None


class _Proof:
    """What is known where an access is live; what it excludes cannot be."""

    def __init__(
        self,
        access: Access,
        polys: list[Poly],
        context: Context,
        linear: Linear,
        *,
        quick: bool = False,
    ) -> None:
        self.question = linear.question(quick=quick)
        self.polys = [access.offset, *polys]
        self.facts = Facts(self.polys, access.conditions, context, self.question)
        self._products: list[Poly] | None = None
        self._integers: Question | None = None
        kinds = {atom.kind for atom in atoms_of(self.polys, access.conditions)}
        self.steps = bool(kinds & {"turn", "quotient", "remainder"}) and not quick

    def excludes(self, wrong: Condition) -> bool:
        """Whether this cannot be: first without, then with products of facts."""
        if self.question.excludes(wrong):
            return True
        if self._products is None:
            self._products = self.facts.products(self.polys)
            self.question.add(self._products)
        if self._products and self.question.excludes(wrong):
            return True
        return self.steps and self._whole(wrong)

    def _whole(self, wrong: Condition) -> bool:
        """The same over the integers: where a loop or quotient counts, halves matter."""
        if self._integers is None:
            self._integers = Linear(whole=True).question()
            self._integers.add([*self.facts.certain, *(self._products or ())], self.facts.others)
        return self._integers.excludes(wrong)


def _all(conditions: list[Condition]) -> Condition:
    """All of some conditions."""
    found = conditions[0]
    for condition in conditions[1:]:
        found &= condition
    return found


def _narrow(access: Access) -> list[Step]:
    """The steps to an offset that a type may be too narrow for."""
    unknown = frozenset({"unknown"})
    return [one for one in access.steps if one.bits < 64 and not depends([one.value], unknown)]


def _tag(atom: Atom) -> str:
    return "'" if atom.name.endswith("'") else ""


def _samples(names: list[str]) -> Iterator[tuple[int, ...]]:
    """Small values for parameters, different ones first."""
    if not names:
        yield ()
        return
    primes = (37, 5, 130, 3, 67, 259, 2, 1, 17, 1025)
    for shift in range(_SAMPLES):
        yield tuple(primes[(at * 3 + shift) % len(primes)] for at in range(len(names)))
    yield from product((1,), repeat=len(names))


def _large(names: list[str], wide: set[str]) -> Iterator[tuple[int, ...]]:
    """Values for parameters of arrays that i32 cannot count."""
    many, few = ((1 << 33) + 1, 1 << 32, 3 << 30), (70_001, 1 << 20, 1_000, 3)
    for shift in range(6):
        yield tuple(
            many[(at + shift) % 3] if name in wide else few[(at + shift) % 4]
            for at, name in enumerate(names)
        )


def _value(poly: Poly, values: dict[Atom, int], context: Context) -> int | None:
    """The number that a polynomial is under a witness; None where an atom has no value."""
    total = 0
    for monomial, factor in poly.terms.items():
        for atom in monomial:
            if atom not in values:
                return None
            factor *= values[atom]  # noqa: PLW2901 - the product so far
        total += factor
    return total
