"""Text to `ast`, and from nodes back to places in characters (`ast` counts bytes)."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from teeny_macros.source import Span
from teenyc.codes import E0101, E0107
from teenyc.ir.core import Location

if TYPE_CHECKING:
    Node = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias


class Source:
    """A text parsed by itself: line 1 of its `ast` is line `first_line` of `file`."""

    __slots__ = ("_ascii", "_lines", "_text", "file", "offset")

    def __init__(self, file: str, text: str, first_line: int = 1) -> None:
        self.file = file
        self.offset = first_line - 1
        self._text = text
        self._ascii = text.isascii()
        self._lines: list[str] | None = None

    def _column(self, line: int, byte: int) -> int:
        if self._ascii:
            return byte + 1
        if self._lines is None:
            self._lines = self._text.split("\n")
        return len(self._lines[line - 1].encode()[:byte].decode(errors="replace")) + 1

    def span(self, node: Node) -> Span:
        """The span of a node."""
        line, end_line = node.lineno, node.end_lineno or node.lineno
        end = node.end_col_offset if node.end_col_offset is not None else node.col_offset + 1
        return Span(
            self.file,
            line + self.offset,
            self._column(line, node.col_offset),
            end_line + self.offset,
            self._column(end_line, end),
        )

    def location(self, node: Node, caller: Location | None) -> Location:
        """The place of a node in the IR."""
        line = node.lineno
        return Location(self.file, line + self.offset, self._column(line, node.col_offset), caller)


def parse_text(source: Source, text: str) -> list[ast.stmt]:
    """The statements of `text`. Raises E0101 (not Python) and E0107 (nests too deeply)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are the author's business
            return ast.parse(text).body
    except SyntaxError as error:
        raise _syntax_error(source, error) from None
    except ValueError as error:  # null bytes and lone surrogates
        place = Span.point(source.file, source.offset + 1)
        raise E0101.at(place, reason=str(error)) from None
    except (RecursionError, MemoryError):
        raise E0107.at(Span.point(source.file, source.offset + 1)) from None


def _syntax_error(source: Source, error: SyntaxError) -> Exception:
    line, column = max(1, error.lineno or 1), max(1, error.offset or 1)
    end_line, end_column = error.end_lineno or line, error.end_offset or column + 1
    if (end_line, end_column) <= (line, column):
        end_line, end_column = line, column + 1
    span = Span(source.file, line + source.offset, column, end_line + source.offset, end_column)
    return E0101.at(span, reason=error.msg or "it cannot be parsed")
