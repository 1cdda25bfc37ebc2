"""What is known of atoms: ranges, and what quotients, extremes and choices are.

`certain` are polynomials that are not negative, `others` conditions that hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.bounds.poly import Condition, Poly, at_least, equal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teenyc.bounds.poly import Atom, Monomial
    from teenyc.bounds.solver import Question

# Of an array whose extent i32 counts; what rounds up to whole blocks needs the rest.
MOST_ELEMENTS = (1 << 31) - (1 << 20)
_MOST_PRODUCTS = 1500
_MOST_FACTS = 60


class Context:
    """What is taken as given: parameters that are sizes, and how large arrays may be."""

    def __init__(self, sizes: set[str], conditions: list[Condition]) -> None:
        self.sizes = sizes
        self.conditions = conditions

    def range_of(self, atom: Atom) -> tuple[int, int]:
        """The least and the largest value of a parameter."""
        bits = int(atom.args[0])
        high = (1 << (bits - 1)) - 1
        if atom.name in self.sizes:
            return 0, min(high, MOST_ELEMENTS) if bits <= 32 else 1 << 48
        return -high - 1, high


def atoms_of(polys: Iterable[Poly], conditions: Iterable[Condition]) -> list[Atom]:
    """All atoms that these depend on, those that others are made of first."""
    found: set[Atom] = set()
    pending = [atom for poly in polys for atom in poly.atoms]
    pending += [atom for one in conditions for poly in one.polys() for atom in poly.atoms]
    while pending:
        atom = pending.pop()
        if atom in found:
            continue
        found.add(atom)
        for argument in atom.args:
            if isinstance(argument, Poly):
                pending += argument.atoms
            elif isinstance(argument, Condition):
                pending += [one for poly in argument.polys() for one in poly.atoms]
    return sorted(found)


class Facts:
    """Facts about some polynomials under some conditions."""

    def __init__(
        self,
        polys: Iterable[Poly],
        conditions: Iterable[Condition],
        context: Context,
        question: Question,
    ) -> None:
        given = [*conditions, *context.conditions]
        self.context = context
        self.question = question
        self.certain: dict[Poly, None] = {}
        self.others: list[Condition] = []
        self._pairs: dict[tuple[Poly, Poly], dict[str, Poly]] = {}
        for condition in given:
            self.sure(*condition.certain())
            self.either(condition)
        for atom in atoms_of(polys, given):
            getattr(self, f"_{atom.kind}")(atom)

    def sure(self, *polys: Poly) -> None:
        """Polynomials that are not negative."""
        new = [poly for poly in polys if poly not in self.certain]
        self.certain.update(dict.fromkeys(new))
        self.question.add(new)

    def either(self, *conditions: Condition) -> None:
        """Conditions that hold."""
        self.others += conditions
        self.question.add((), conditions)

    def known(self, condition: Condition) -> bool:
        """Whether a condition follows from what was collected so far."""
        return self.question.excludes(~condition)

    def follows(self, poly: Poly) -> bool:
        """Whether a polynomial is not negative, with products of facts where it takes these."""
        wrong = ~at_least(poly, 0)
        if self.question.excludes(wrong):
            return True
        if not any(True for one in self.certain for _ in one.monomials()):
            return False
        products = self.products([poly], [wrong.poly])
        return self.question.excludes(wrong, products=products)

    # --- kinds of atoms ---------------------------------------------------------------------------

    def _param(self, atom: Atom) -> None:
        low, high = self.context.range_of(atom)
        self.sure(Poly.of(atom) - low, Poly.constant(high) - Poly.of(atom))

    def _grid(self, atom: Atom) -> None:
        self.sure(Poly.of(atom) - 1)

    def _program(self, atom: Atom) -> None:
        value = Poly.of(atom)
        self.sure(value, atom.args[1] - value - 1)

    def _lane(self, atom: Atom) -> None:
        value = Poly.of(atom)
        self.sure(value, Poly.constant(atom.args[0] - 1) - value)

    def _turn(self, atom: Atom) -> None:
        lower, upper, step = atom.args
        value = Poly.of(atom)
        self.sure(value, upper - 1 - lower - value * step)
        if step.number is None:
            self.sure(step - 1)  # a loop without a step never ends

    def _turns(self, atom: Atom) -> None:
        lower, upper, step = atom.args
        value = Poly.of(atom)
        runs = at_least(upper, lower + 1)
        self.sure(value)
        if self.known(runs):
            self.sure(lower + value * step - upper, upper - 1 - lower - (value - 1) * step)
            return
        inside = at_least(lower + value * step, upper)
        inside = inside & at_least(upper - 1, lower + (value - 1) * step)
        self.either(~runs | inside, runs | equal(value, 0))

    def _unknown(self, atom: Atom) -> None:
        del atom

    def _quotient(self, atom: Atom) -> None:
        self._division(atom, "quotient")

    def _remainder(self, atom: Atom) -> None:
        self._division(atom, "remainder")

    def _division(self, atom: Atom, kind: str) -> None:
        left, right = atom.args
        value = Poly.of(atom)
        pair = self._pairs.setdefault((left, right), {})
        pair[kind] = value
        positive = (right.number or 0) > 0 or self.follows(right)
        if positive and right.number is None:
            self.sure(right - 1)  # nothing is divided by zero
        natural = self.follows(left)
        if kind == "quotient":
            inside = [left - value * right, value * right + right - 1 - left, value]
        else:
            inside = [value, right - 1 - value, left - value]
        if positive and natural:
            self.sure(*inside)
        else:
            if natural and kind == "remainder":
                self.sure(value, left - value)
            both = at_least(left, 0) & at_least(right, 1)
            held = at_least(inside[0], 0) & at_least(inside[1], 0) & at_least(inside[2], 0)
            self.either(~both | held)
            if kind == "remainder":
                small = at_least(value, 0) & at_least(left, value)
                self.either(~at_least(left, 0) | small)
        if len(pair) == 2:
            whole = left - pair["quotient"] * right - pair["remainder"]
            self.sure(whole, -whole)

    def _least(self, atom: Atom) -> None:
        left, right = atom.args
        value = Poly.of(atom)
        self.sure(left - value, right - value)
        if self.follows(left) and self.follows(right):
            self.sure(value)
        self.either(equal(value, left) | equal(value, right))

    def _most(self, atom: Atom) -> None:
        left, right = atom.args
        value = Poly.of(atom)
        self.sure(value - left, value - right)
        if self.follows(left) or self.follows(right):
            self.sure(value)
        self.either(equal(value, left) | equal(value, right))

    def _choice(self, atom: Atom) -> None:
        condition, left, right = atom.args
        value = Poly.of(atom)
        if not condition.is_opaque():
            if self.known(condition):
                self.sure(value - left, left - value)
                return
            if self.known(~condition):
                self.sure(value - right, right - value)
                return
        self.either(~condition | equal(value, left), condition | equal(value, right))
        for bound in (at_least(left, 0), at_least(right, 0)):
            if not self.known(bound):
                return
        self.sure(value)

    # --- products ---------------------------------------------------------------------------------

    def products(self, wanted: Iterable[Poly], also: Iterable[Poly] = ()) -> list[Poly]:
        """Products of facts (and of `also`) in which products of atoms stand that matter."""
        facts = [*also, *self.certain]
        matter: set[Monomial] = {one for poly in (*wanted, *facts) for one in poly.monomials()}
        for condition in self.others:
            matter.update(one for poly in condition.polys() for one in poly.monomials())
        deepest = min(max((len(one) for one in matter), default=0), 4)
        simple = [poly for poly in facts if poly.number is None][:_MOST_FACTS]
        found: dict[Poly, None] = {}
        layer = simple
        for depth in range(2, deepest + 1):
            rest = {
                left * right: None
                for at, left in enumerate(simple)
                for right in (layer[at:] if depth == 2 else layer)
                if _degree(left) + _degree(right) == depth or depth == 2
            }
            layer = []
            for _ in range(2):  # what a product brings with it may be taken off by another
                chosen = [one for one in rest if not matter.isdisjoint(one.monomials())]
                chosen = [one for one in chosen if _degree(one) <= deepest]
                for one in chosen[: _MOST_PRODUCTS - len(found)]:
                    found[one] = None
                    layer.append(one)
                    del rest[one]
                matter.update(one for poly in layer for one in poly.monomials())
        return list(found)


def _degree(poly: Poly) -> int:
    return max((len(one) for one in poly.terms), default=0)
