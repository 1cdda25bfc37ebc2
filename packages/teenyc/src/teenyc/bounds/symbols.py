"""The atoms of a kernel: its parameters, the grid, lanes and counters, and derived integers.

`tag` tells two programs of one launch apart: parameters and the grid are common to both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teenyc.bounds.poly import Atoms, Condition, Poly

if TYPE_CHECKING:
    from teenyc.bounds.poly import Atom
    from teenyc.ir.core import Module

AXES = ("x", "y", "z")


class Symbols:
    """Makes the atoms of one program."""

    def __init__(self, module: Module, atoms: Atoms | None = None, tag: str = "") -> None:
        self.module = module
        self.atoms = atoms or Atoms()
        self.tag = tag
        self.bits = {
            name: int(dtype[1:]) if dtype[0] in "iu" else 0
            for name, kind, dtype in module.params
            if kind == "scalar"
        }

    def parameter(self, name: str) -> Poly | None:
        """An integer parameter; None when there is none of that name."""
        if self.bits.get(name, 0) < 8:
            return None
        return Poly.of(self.atoms.make("param", name, (self.bits[name],), name))

    def grid(self, axis: int) -> Poly:
        """The number of programs along an axis."""
        return Poly.of(self.atoms.make("grid", axis, (axis,), f"num_programs({axis})"))

    def program(self, axis: int) -> Poly:
        """The program's place along an axis."""
        name = f"program_id({axis}){self.tag}"
        return Poly.of(self.atoms.make("program", (axis, self.tag), (axis, self.grid(axis)), name))

    def lane(self, key: Any, side: int) -> Poly:
        """A place along an axis of a tile."""
        if side == 1:
            return Poly.constant(0)
        return Poly.of(
            self.atoms.make("lane", (key, side, self.tag), (side,), f"lane{key}{self.tag}")
        )

    def counter(self, key: Any, lower: Poly, upper: Poly, step: Poly) -> Poly:
        """The number of a loop's turn, from 0."""
        args = (lower, upper, step)
        return Poly.of(self.atoms.make("turn", (key, args, self.tag), args))

    def turns(self, lower: Poly, upper: Poly, step: Poly) -> Poly:
        """How many turns a loop takes."""
        args = (lower, upper, step)
        return Poly.of(self.atoms.make("turns", args, args))

    def unknown(self, key: Any, what: str) -> Poly:
        """An integer of which nothing is known."""
        return Poly.of(self.atoms.make("unknown", (key, self.tag), (what,)))

    def quotient(self, left: Poly, right: Poly) -> Poly:
        """`left / right`, rounded towards zero."""
        return self._division("quotient", left, right)

    def remainder(self, left: Poly, right: Poly) -> Poly:
        """What `quotient` leaves; it has the sign of `left`."""
        return self._division("remainder", left, right)

    def _division(self, kind: str, left: Poly, right: Poly) -> Poly:
        one, other = left.number, right.number
        if one is not None and other:
            size = abs(one) // abs(other)
            quotient = size if (one < 0) == (other < 0) else -size
            return Poly.constant(quotient if kind == "quotient" else one - other * quotient)
        if other == 1:
            return left if kind == "quotient" else Poly.constant(0)
        return Poly.of(self.atoms.make(kind, (left, right), (left, right)))

    def extreme(self, kind: str, left: Poly, right: Poly) -> Poly:
        """The smaller (`least`) or the larger (`most`) of two."""
        one, other = left.number, right.number
        if one is not None and other is not None:
            return Poly.constant(min(one, other) if kind == "least" else max(one, other))
        if left == right:
            return left
        return Poly.of(self.atoms.make(kind, (left, right), (left, right)))

    def choice(self, condition: Condition, left: Poly, right: Poly) -> Poly:
        """`left` where the condition holds, else `right`."""
        if left == right:
            return left
        args = (condition, left, right)
        return Poly.of(self.atoms.make("choice", args, args))


def depends(polys: list[Poly], kinds: frozenset[str]) -> Atom | None:
    """An atom of one of `kinds` that the polynomials depend on, at any depth."""
    seen: set[Atom] = set()
    pending = [atom for poly in polys for atom in poly.atoms]
    while pending:
        atom = pending.pop()
        if atom in seen:
            continue
        seen.add(atom)
        if atom.kind in kinds:
            return atom
        for argument in atom.args:
            if isinstance(argument, Poly):
                pending += argument.atoms
            elif isinstance(argument, Condition):
                pending += [one for poly in argument.polys() for one in poly.atoms]
    return None
