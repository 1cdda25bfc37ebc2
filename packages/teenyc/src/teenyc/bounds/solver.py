"""The solver: the only module that imports z3.

Proofs treat products of atoms as further unknowns, about which `Facts.products` says what is known:
these questions are linear and always answered. Witnesses are looked for in the integers as they
are, within a time limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teenyc.bounds.facts import atoms_of
from teenyc.bounds.poly import Poly
from teenyc.codes import E0516

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from teenyc.bounds.facts import Context
    from teenyc.bounds.poly import Atom, Condition

# How much one question may take, in the solver's own steps, so that the answer does not depend on
# how busy the machine is: a million are about a second. The milliseconds are for hangs alone.
_PROOF, _WHOLE, _QUICK, _SEARCH = 3_000_000, 1_500_000, 500_000, 500_000
_MILLISECONDS = 20_000


def _z3() -> Any:
    try:
        import z3
    except ImportError as error:
        raise E0516.error().help("install it: `pip install 'teenyc[bounds]'`") from error
    return z3


class Linear:
    """Linear questions over the reals, or over the integers, which takes longer."""

    def __init__(self, *, whole: bool = False) -> None:
        self.whole = whole
        self.z3 = _z3()
        self.context = self.z3.Context()
        self._variables: dict[Any, Any] = {}
        self._truths = 0

    def poly(self, poly: Poly) -> Any:
        """A polynomial, with one variable for each product of atoms."""
        z3 = self.z3
        parts = []
        for monomial, factor in poly.terms.items():
            if not monomial:
                parts.append(self._number(factor))
                continue
            variable = self._variables.get(monomial)
            if variable is None:
                name = f"m{len(self._variables)}"
                kind = z3.Int if self.whole else z3.Real
                variable = self._variables[monomial] = kind(name, self.context)
            parts.append(variable * factor)
        return z3.Sum(parts) if len(parts) > 1 else parts[0] if parts else self._number(0)

    def _number(self, value: int) -> Any:
        kind = self.z3.IntVal if self.whole else self.z3.RealVal
        return kind(value, self.context)

    def condition(self, condition: Condition) -> Any:
        """A condition; something unknown may be either."""
        z3, kind = self.z3, condition.kind
        if kind == "true":
            return z3.BoolVal(val=True, ctx=self.context)
        if kind == "ge":
            return self.poly(condition.poly) >= 0
        if kind == "eq":
            return self.poly(condition.poly) == 0
        if kind == "opaque":
            self._truths += 1
            return z3.Bool(f"b{self._truths}", self.context)
        parts = [self.condition(part) for part in condition.parts]
        if kind == "not":
            return self._negated(condition.parts[0])
        return z3.And(*parts) if kind == "and" else z3.Or(*parts)

    def _negated(self, condition: Condition) -> Any:
        """`not condition` of integers: not `a >= 0` is `a <= -1`, not `a == 0` either side."""
        z3, kind = self.z3, condition.kind
        if kind == "ge":
            return self.poly(condition.poly) <= -1
        if kind == "eq":
            value = self.poly(condition.poly)
            return z3.Or(value <= -1, value >= 1)
        if kind == "and":
            return z3.Or(*(self._negated(part) for part in condition.parts))
        if kind == "or":
            return z3.And(*(self._negated(part) for part in condition.parts))
        if kind == "not":
            return self.condition(condition.parts[0])
        return z3.Not(self.condition(condition))

    def question(self, *, quick: bool = False) -> Question:
        """A new question: facts are added to it, and what contradicts them is asked.

        A `quick` one gives up soon.
        """
        limit = _WHOLE if self.whole else _QUICK if quick else _PROOF
        return Question(self, limit)


class Question:
    """Facts in the solver, and what cannot hold beside them."""

    def __init__(self, linear: Linear, steps: int) -> None:
        self.linear = linear
        self.solver = linear.z3.Solver(ctx=linear.context)
        self.solver.set("timeout", _MILLISECONDS)
        self.solver.set("rlimit", steps)

    def add(self, polys: Iterable[Poly], conditions: Iterable[Condition] = ()) -> None:
        """Polynomials that are not negative, and conditions that hold."""
        for poly in polys:
            self.solver.add(self.linear.poly(poly) >= 0)
        for condition in conditions:
            self.solver.add(self.linear.condition(condition))

    def excludes(self, *wrong: Condition, products: Iterable[Poly] = ()) -> bool:
        """Whether these cannot hold beside the facts and `products`."""
        self.solver.push()
        self.add(products, wrong)
        found = self.solver.check()
        self.solver.pop()
        return bool(found == self.linear.z3.unsat)


class Search:
    """Looks for values of atoms under which conditions hold."""

    def __init__(self, context: Context, fixed: Mapping[str, int] | None = None) -> None:
        self.z3 = _z3()
        self.ctx = self.z3.Context()
        self.context = context
        self.fixed = dict(fixed or {})
        self._variables: dict[Atom, Any] = {}

    def find(
        self,
        conditions: list[Condition],
        polys: Iterable[Poly],
        limits: list[Condition] | None = None,
    ) -> dict[Atom, int] | None:
        """Values of all atoms (of `polys` too), or None when there are none or time ran out."""
        z3 = self.z3
        solver = z3.Solver(ctx=self.ctx)
        solver.set("timeout", _MILLISECONDS)
        solver.set("rlimit", _SEARCH)
        given = [*conditions, *self.context.conditions, *(limits or ())]
        atoms = atoms_of(polys, given)
        for condition in given:
            solver.add(self.condition(condition))
        for atom in atoms:
            solver.add(*self.meaning(atom))
        if solver.check() != z3.sat:
            return None
        model = solver.model()
        found: dict[Atom, int] = {}
        for atom in atoms:
            value = model.eval(self.atom(atom), model_completion=True)
            found[atom] = value.as_long()
        return found

    def atom(self, atom: Atom) -> Any:
        """The variable of an atom, or its number where it is fixed."""
        if atom.kind == "param" and atom.name in self.fixed:
            return self.z3.IntVal(self.fixed[atom.name], self.ctx)
        found = self._variables.get(atom)
        if found is None:
            name = f"a{len(self._variables)}"
            found = self._variables[atom] = self.z3.Int(name, self.ctx)
        return found

    def poly(self, poly: Poly) -> Any:
        """A polynomial as it is."""
        total = self.z3.IntVal(0, self.ctx)
        for monomial, factor in poly.terms.items():
            term = self.z3.IntVal(factor, self.ctx)
            for atom in monomial:
                term = term * self.atom(atom)
            total = total + term
        return self.z3.simplify(total)

    def condition(self, condition: Condition) -> Any:
        """A condition; something unknown does not hold, so that a witness does not rest on it."""
        z3, kind = self.z3, condition.kind
        if kind == "ge":
            return self.poly(condition.poly) >= 0
        if kind == "eq":
            return self.poly(condition.poly) == 0
        if kind in ("true", "opaque"):
            return z3.BoolVal(val=kind == "true", ctx=self.ctx)
        parts = [self.condition(part) for part in condition.parts]
        if kind == "not":
            return z3.Not(parts[0])
        return z3.And(*parts) if kind == "and" else z3.Or(*parts)

    def meaning(self, atom: Atom) -> list[Any]:
        """What an atom is, exactly."""
        z3, value = self.z3, self.atom(atom)
        if atom.kind == "param":
            low, high = self.context.range_of(atom)
            return [value >= low, value <= high]
        if atom.kind == "grid":
            most = 2**31 - 1 if atom.args[0] == 0 else 65535
            return [value >= 1, value <= most]
        if atom.kind == "program":
            return [value >= 0, value < self.poly(atom.args[1])]
        if atom.kind == "lane":
            return [value >= 0, value < atom.args[0]]
        if atom.kind == "turn":
            lower, upper, step = map(self.poly, atom.args)
            return [value >= 0, step >= 1, lower + value * step < upper]
        if atom.kind == "turns":
            lower, upper, step = map(self.poly, atom.args)
            runs = z3.And(lower + (value - 1) * step < upper, upper <= lower + value * step)
            return [step >= 1, z3.If(upper > lower, z3.And(value >= 1, runs), value == 0)]
        if atom.kind in ("quotient", "remainder"):
            return self._division(atom, value)
        if atom.kind in ("least", "most"):
            left, right = map(self.poly, atom.args)
            smaller = left <= right if atom.kind == "least" else left >= right
            return [value == z3.If(smaller, left, right)]
        if atom.kind == "choice":
            condition, left, right = atom.args
            chosen = z3.If(self.condition(condition), self.poly(left), self.poly(right))
            return [value == chosen]
        return []

    def _division(self, atom: Atom, value: Any) -> list[Any]:
        """C's rules: towards zero, the remainder has the sign of the dividend."""
        z3 = self.z3
        left, right = map(self.poly, atom.args)
        size, by = z3.If(left < 0, -left, left), z3.If(right < 0, -right, right)
        if atom.kind == "quotient":
            down = size / by
            exact = z3.If((left < 0) == (right < 0), down, -down)
        else:
            rest = size % by
            exact = z3.If(left < 0, -rest, rest)
        return [right != 0, value == z3.simplify(exact)]
