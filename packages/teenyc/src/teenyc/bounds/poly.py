"""Polynomials with integer coefficients over atoms: what offsets and sizes are made of.

An atom is a parameter, a program id, a lane, a counter of a loop, or the result of an operation
that polynomials do not have, such as a quotient. Equal atoms are one object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Monomial = tuple["Atom", ...]


class Atom:
    """An unknown integer. `args` are polynomials, conditions and numbers that it depends on."""

    __slots__ = ("args", "kind", "name", "number")

    def __init__(self, kind: str, name: str, args: tuple[Any, ...], number: int) -> None:
        self.kind = kind
        self.name = name
        self.args = args
        self.number = number

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: Atom) -> bool:
        return self.number < other.number


class Atoms:
    """Makes atoms, one for each kind and arguments."""

    def __init__(self) -> None:
        self._known: dict[Any, Atom] = {}

    def make(self, kind: str, key: Any, args: tuple[Any, ...] = (), name: str = "") -> Atom:
        """The atom of a kind under a key."""
        found = self._known.get((kind, key))
        if found is None:
            number = len(self._known)
            found = Atom(kind, name or f"{kind}{number}", args, number)
            self._known[kind, key] = found
        return found


class Poly:
    """A polynomial; immutable and hashable."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = {key: value for key, value in terms.items() if value}
        self._hash: int | None = None

    @classmethod
    def constant(cls, value: int) -> Poly:
        """A number."""
        return cls({(): value})

    @classmethod
    def of(cls, atom: Atom) -> Poly:
        """An atom."""
        return cls({(atom,): 1})

    @property
    def number(self) -> int | None:
        """The value of a polynomial without atoms, else None."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def atoms(self) -> set[Atom]:
        """The atoms that stand in it, not those that these depend on."""
        return {atom for monomial in self.terms for atom in monomial}

    def monomials(self) -> Iterator[Monomial]:
        """The products of two atoms and more."""
        return (monomial for monomial in self.terms if len(monomial) > 1)

    def __add__(self, other: Poly | int) -> Poly:
        terms = dict(self.terms)
        for key, value in _poly(other).terms.items():
            terms[key] = terms.get(key, 0) + value
        return Poly(terms)

    def __neg__(self) -> Poly:
        return Poly({key: -value for key, value in self.terms.items()})

    def __sub__(self, other: Poly | int) -> Poly:
        return self + -_poly(other)

    def __mul__(self, other: Poly | int) -> Poly:
        terms: dict[Monomial, int] = {}
        for left, one in self.terms.items():
            for right, two in _poly(other).terms.items():
                key = tuple(sorted((*left, *right)))
                terms[key] = terms.get(key, 0) + one * two
        return Poly(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        parts = []
        for monomial, value in self.terms.items():
            factors = [] if value == 1 and monomial else [str(value)]
            parts.append("*".join([*factors, *(atom.name for atom in monomial)]))
        return " + ".join(parts) or "0"


def _poly(value: Poly | int) -> Poly:
    return value if isinstance(value, Poly) else Poly.constant(value)


ZERO, ONE = Poly.constant(0), Poly.constant(1)


# --- conditions -----------------------------------------------------------------------------------


class Condition:
    """A condition: `kind` is ge, eq (of `poly` with 0), and, or, not, true, or opaque."""

    __slots__ = ("kind", "parts", "poly")

    def __init__(self, kind: str, poly: Poly = ZERO, parts: tuple[Condition, ...] = ()) -> None:
        self.kind = kind
        self.poly = poly
        self.parts = parts

    def _key(self) -> Any:
        return self.kind, self.poly, self.parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __invert__(self) -> Condition:
        if self.kind == "ge":
            return Condition("ge", -self.poly - 1)
        if self.kind == "not":
            return self.parts[0]
        return Condition("not", parts=(self,))

    def __and__(self, other: Condition) -> Condition:
        if TRUE in (self, other):
            return other if self == TRUE else self
        return Condition("and", parts=(self, other))

    def __or__(self, other: Condition) -> Condition:
        return Condition("or", parts=(self, other))

    def polys(self) -> Iterator[Poly]:
        """All polynomials in it."""
        if self.kind in ("ge", "eq"):
            yield self.poly
        for part in self.parts:
            yield from part.polys()

    def certain(self) -> Iterator[Poly]:
        """Polynomials that are not negative wherever it holds."""
        if self.kind == "ge":
            yield self.poly
        elif self.kind == "eq":
            yield self.poly
            yield -self.poly
        elif self.kind == "and":
            for part in self.parts:
                yield from part.certain()
        elif self.kind == "not" and self.parts[0].kind == "or":
            for part in self.parts[0].parts:
                yield from (~part).certain()

    def is_opaque(self) -> bool:
        """Whether something in it is not known."""
        return self.kind == "opaque" or any(part.is_opaque() for part in self.parts)


TRUE = Condition("true")
OPAQUE = Condition("opaque")


def at_least(left: Poly, right: Poly | int) -> Condition:
    """`left >= right`."""
    return Condition("ge", left - right)


def equal(left: Poly, right: Poly | int) -> Condition:
    """`left == right`."""
    return Condition("eq", left - right)
