"""Places in text.

`Span` (where), `SourceMap` (from the normalised body of a unit back to the user's file).

Lines and columns count from 1, in characters; the end of a span is exclusive. Nothing here reads a
file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class Span(NamedTuple):
    """A stretch of text in the file called `file`."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def point(cls, file: str, line: int, column: int = 1) -> Span:
        """The one-character span at a place."""
        return cls(file, line, column, line, column + 1)


class Origin(NamedTuple):
    """Where one line of a unit's body comes from.

    `columns` pairs a column of the body with the column of the file at which that stretch begins; a
    line that only lost its indentation has one pair. `(body_column, file_line, file_column)` in
    ascending order.
    """

    file: str
    line: int
    pieces: tuple[tuple[int, int, int], ...]


class SourceMap:
    """Maps lines and columns of a unit's body (from 1) to the files that the user edits."""

    __slots__ = ("_origins",)

    def __init__(
        self,
        origins: Mapping[int, Origin]
        | Iterable[tuple[int, Origin]]
        | Callable[[], dict[int, Origin]] = (),
    ) -> None:
        self._origins = origins if callable(origins) else dict(origins)

    @property
    def origins(self) -> dict[int, Origin]:
        """Where each line comes from that a user wrote."""
        found = self._origins
        if callable(found):  # few processes look at a place
            found = self._origins = found()
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return SourceMap, (self.origins,)

    def lookup(self, line: int, column: int = 1) -> tuple[str, int, int] | None:
        """`(file, line, column)` of a place in the body, or None for text that no user wrote."""
        origin = self.origins.get(line)
        if origin is None:
            return None
        found = (1, origin.line, 1)
        for piece in origin.pieces:
            if piece[0] > column:
                break
            found = piece
        return origin.file, found[1], found[2] + max(0, column - found[0])

    def span(self, span: Span) -> Span:
        """`span` in the user's file; itself where nothing is known of its lines."""
        start = self.lookup(span.line, span.column)
        if start is None:
            return span
        end = self.lookup(span.end_line, max(1, span.end_column - 1))
        if end is None or end[0] != start[0]:
            return Span(start[0], start[1], start[2], start[1], start[2] + 1)
        return Span(start[0], start[1], start[2], end[1], end[2] + 1)

    def to_json(self) -> list[list[object]]:
        """A JSON value that `from_json` reads back."""
        return [
            [line, origin.file, origin.line, [list(piece) for piece in origin.pieces]]
            for line, origin in sorted(self.origins.items())
        ]

    @classmethod
    def from_json(cls, rows: Iterable[Iterable[object]]) -> SourceMap:
        """The map that `to_json` wrote."""
        found: dict[int, Origin] = {}
        for row in rows:
            line, file, origin_line, pieces = row
            found[int(str(line))] = Origin(
                str(file),
                int(str(origin_line)),
                tuple((int(p[0]), int(p[1]), int(p[2])) for p in pieces),  # type: ignore[attr-defined]
            )
        return cls(found)
