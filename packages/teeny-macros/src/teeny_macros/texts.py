"""What is known of the text of a function.

normalise.py and names.py find it, remembered.py keeps it. Apart from them, since a process that
finds it remembered needs neither tokens nor trees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from teeny_macros.source import Span

BODY, ANNOTATION, DEFAULT = "body", "annotation", "default"


class TypeParameter(NamedTuple):
    """A type parameter of a PEP 695 header, and the arguments of the TypeVar that it becomes."""

    name: str
    arguments: str

    @property
    def definition(self) -> str:
        """The line that defines it on Python 3.11: `D = TypeVar("D", bound=Float)`."""
        return f'{self.name} = TypeVar("{self.name}"{self.arguments})'


class Normalised(NamedTuple):
    """The normalised text of one function.

    `pieces` has one tuple of `(column, file line, file column)` for each line, all counted from 1:
    the form of `source.Origin`. `names` are all identifiers of the function, decorators left out.
    """

    name: str
    text: str
    pieces: tuple[tuple[tuple[int, int, int], ...], ...]
    type_parameters: tuple[TypeParameter, ...]
    names: frozenset[str]
    header: Span

    def kept(self) -> tuple[Any, ...]:
        """The same as plain values, for remembered.py."""
        parameters = tuple(map(tuple, self.type_parameters))
        return *self[:3], parameters, tuple(sorted(self.names)), tuple(self.header[1:])

    @classmethod
    def restored(cls, kept: tuple[Any, ...], file: str) -> Normalised:
        """What `kept` gave, of a function in `file`."""
        name, text, pieces, parameters, names, place = kept
        header = Span(file, *place)
        if parameters:
            parameters = tuple(map(TypeParameter._make, parameters))
        return cls(name, text, pieces, parameters, frozenset(names), header)

    def renamed(self, name: str) -> Normalised:
        """The same function with another name in its `def`; positions follow."""
        before, after = f"def {self.name}", f"def {name}"
        at = self.text.index(before)
        line = self.text.count("\n", 0, at)
        end = at - (self.text.rfind("\n", 0, at) + 1) + len(before)
        shift = len(after) - len(before)
        moved = tuple(
            (column + shift if column > end else column, file_line, file_column)
            for column, file_line, file_column in self.pieces[line]
        )
        # What follows the name on the line needs a piece of its own, counted from the new place.
        start = max((piece for piece in self.pieces[line] if piece[0] <= end + 1), default=None)
        if start is not None:
            rest = (end + 1 + shift, start[1], start[2] + end + 1 - start[0])
            moved = tuple(sorted({*moved, rest}))
        return self._replace(
            name=name,
            text=self.text[:at] + after + self.text[at + len(before) :],
            pieces=(*self.pieces[:line], moved, *self.pieces[line + 1 :]),
        )


class Use(NamedTuple):
    """`a.b.c` in a text is the chain `("a", "b", "c")`; line and column count from 1."""

    chain: tuple[str, ...]
    role: str
    line: int
    column: int

    @property
    def text(self) -> str:
        """The chain as written."""
        return ".".join(self.chain)
