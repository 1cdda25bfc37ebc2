"""Requests for instances, and the choices that each leaves open."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler.check import guesses
from teeny_macros.diagnostics import TeenyError
from teeny_macros.resolve import Given, Resolver
from teeny_macros.signature import CONST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_macros.instance import KernelInstance
    from teeny_macros.kernel import Kernel
    from teeny_macros.options import LaunchOptions
    from teeny_macros.source import Span

_MOST = 64


class Choice(NamedTuple):
    """An instance, and in words what of it is assumed.

    Choices that differ in `dtypes` or `flags` must all hold, of others one is enough.
    """

    instance: KernelInstance[...]
    assumed: str
    dtypes: tuple[str, ...] = ()
    flags: tuple[bool, ...] = ()
    guesses_types: bool = False


class Request:
    """A kernel with what a launch or `instantiate` says of it.

    `given` are types of parameters, `constants` values, `unsure` the names of compile-time
    parameters of which the value is not known. `place` is None for a kernel that is launched
    nowhere.
    """

    def __init__(
        self,
        kernel: Kernel[...],
        given: dict[str, Given],
        constants: dict[str, Any],
        unsure: list[str],
        options: LaunchOptions,
        place: Span | None,
    ) -> None:
        self.kernel = kernel
        self.given = given
        self.constants = constants
        self.unsure = unsure
        self.options = options
        self.place = place
        self.variables: dict[str, str] = {}

    def resolve(self) -> None:
        """Check what is given against the annotations. Raises as a launch does."""
        first = next(guesses.types_for(self.kernel, self.given), {})
        resolver, open_ = self._resolver()
        for name, variable in open_.items():
            dtype = guesses.dtypes_for(self.kernel, variable)[0]
            resolver.bind_variable(name, variable, dtype, name)
        resolver.resolve({**self.given, **first})

    def _resolver(self) -> tuple[Resolver, dict[str, Any]]:
        """A resolver that knows what is given, and the type variables that are still open."""
        resolver = Resolver(self.kernel.name, self.kernel.parameters)
        declared = {p.variable.__name__: p.variable for p in self.kernel.parameters if p.variable}
        for name, dtype in self.variables.items():
            if name in declared:
                resolver.bind_variable(name, declared[name], dtype, name)
        for parameter in resolver.parameters:
            found = self.given.get(parameter.name)
            if found is not None and found.number is None and found.kind != "none":
                resolver.bind_typed(parameter, found)
        return resolver, {n: v for n, v in declared.items() if n not in resolver.variables}

    def first(self) -> KernelInstance[...] | None:
        """The likeliest instance."""
        choice = next(self.choices(), None)
        return None if choice is None else choice.instance

    def choices(self) -> Iterator[Choice]:
        """Instances with plausible types and values for what is open, the likeliest first."""
        _, open_ = self._resolver()
        names = list(open_)
        rows = product(*(guesses.dtypes_for(self.kernel, open_[name]) for name in names))
        for row in rows:
            chosen = dict(zip(names, row, strict=True))
            count = 0
            types = list(islice(guesses.types_for(self.kernel, self.given), _MOST))
            values = list(islice(guesses.constants_for(self.kernel, self.unsure), _MOST))
            pairs = product(range(len(types)), range(len(values)))
            for one, other in sorted(pairs, key=_distance):
                choice = self._choice(chosen, types[one], values[other])
                count += choice is not None
                if count > _MOST:
                    break
                if choice is not None:
                    yield choice

    def _choice(
        self, variables: dict[str, str], types: dict[str, Given], values: dict[str, Any]
    ) -> Choice | None:
        resolver, open_ = self._resolver()
        try:
            for name, dtype in variables.items():
                resolver.bind_variable(name, open_[name], dtype, name)
            found = resolver.resolve({**self.given, **types})
            constants = {**self.constants, **values}
            ordered = {
                p.name: constants[p.name]
                for p in self.kernel.parameters
                if p.kind == CONST and p.name in constants
            }
            ordered.update((name, None) for name, one in self.given.items() if one.kind == "none")
            instance = self.kernel.instance(found, ordered, self.options)
        except TeenyError:
            return None
        assumed = ", ".join(f"{name} = {dtype}" for name, dtype in variables.items())
        more = guesses.describe(found, ordered, {*types, *values})
        words = ", ".join(part for part in (assumed, more) if part)
        flags = tuple(value for value in values.values() if isinstance(value, bool))
        return Choice(instance, words, tuple(variables.values()), flags, bool(types))


def _distance(pair: tuple[int, int]) -> int:
    """How far a choice of types and values is from the likeliest; dtypes are tried more freely."""
    return pair[0] + 4 * pair[1]
