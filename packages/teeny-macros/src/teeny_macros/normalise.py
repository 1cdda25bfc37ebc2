"""The normalised text of a function: what its identity hashes and what the compiler reads.

Decorators, comments, docstrings, blank lines, trailing space and common indentation go; everything
else stays as written. Works on tokens, never on a syntax tree, so that all Python versions give one
text.
"""

from __future__ import annotations

import tokenize
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from teeny_macros.codes import E0026, E0029
from teeny_macros.source import Span
from teeny_macros.texts import Normalised, TypeParameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from teeny_macros.diagnostics import TeenyError

Token = tokenize.TokenInfo
Place = tuple[int, int]

_SPACE = " \t\f"
_LAYOUT = {tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
_TEXT_STARTS = {getattr(tokenize, name, -1) for name in ("FSTRING_START", "TSTRING_START")}
_TEXT_ENDS = {getattr(tokenize, name, -1) for name in ("FSTRING_END", "TSTRING_END")}


class Piece(NamedTuple):
    """A stretch of an output line, and where the file has it (line from 1, column from 0)."""

    text: str
    line: int
    column: int


def normalise(lines: Sequence[str], first_line: int = 1, file: str = "<text>") -> Normalised:
    """Normalise the function that begins (with its decorators) on line `first_line` of `lines`.

    Raises:
        CaptureError: E0029 when no function begins there or it does not end, E0026 for `*Ts` and
            `**P`.
    """
    tokens = _function_tokens(lines, first_line, file)
    # Only the function's own lines, under their numbers in the file: a file may hold many kernels.
    end = tokens[-1].end[0]
    own = [line.rstrip("\r\n") for line in lines[first_line - 1 : end]]
    lines = [""] * (first_line - 1) + own
    at = next(i for i, token in enumerate(tokens) if token.string == "def")
    colon = _block_colon(tokens, at)
    if colon is None or tokens[at + 1].type != tokenize.NAME:
        raise _unreadable(file, tokens[at].start[0], "this `def` has no name or body")
    layout = _Layout(lines, tokens)
    parameters: tuple[TypeParameter, ...] = ()
    if tokens[at + 2].string == "[":
        end = _matching(tokens, at + 2)
        parameters = _type_parameters(lines, tokens[at + 3 : end], file)
        layout.cut(tokens[at + 2].start, tokens[end].end)
    for i, token in enumerate(tokens):
        if token.string in ("def", "class") and token.type == tokenize.NAME:
            layout.cut_docstring(i)
    texts, pieces = layout.write()
    start, end_place = tokens[at + 1].start, tokens[at + 1].end
    return Normalised(
        tokens[at + 1].string,
        "".join(f"{text}\n" for text in texts),
        tuple(pieces),
        parameters,
        frozenset(token.string for token in tokens if token.type == tokenize.NAME),
        Span(file, start[0], start[1] + 1, end_place[0], end_place[1] + 1),
    )


def _unreadable(file: str, line: int, reason: str) -> TeenyError:
    return E0029.at(Span.point(file, line), reason=reason).help("give the text of one function")


# --- finding the tokens of the function ---------------------------------------------------------


def _file_tokens(lines: Sequence[str], first_line: int) -> Iterator[Token]:
    """Tokens from `first_line` on, with lines counted in the file."""
    shift = first_line - 1
    text = (line.rstrip("\r\n") + "\n" for line in islice(lines, shift, None))
    for kind, string, (line, column), (end_line, end_column), physical in tokenize.generate_tokens(
        lambda: next(text, "")
    ):
        yield Token(kind, string, (line + shift, column), (end_line + shift, end_column), physical)


def _function_tokens(lines: Sequence[str], first_line: int, file: str) -> list[Token]:
    """The tokens from `def` (or `async`) to the last NEWLINE of the body."""
    found: list[Token] = []
    depth, ended = 0, 0
    in_decorator = block = False
    try:
        for token in _file_tokens(lines, first_line):
            if not found:
                if in_decorator:
                    in_decorator = token.type != tokenize.NEWLINE
                elif token.string == "@":
                    in_decorator = True
                elif token.string in ("def", "async") and token.type == tokenize.NAME:
                    found.append(token)
                elif token.type not in _LAYOUT:
                    raise _unreadable(file, token.start[0], "no function begins here")
                continue
            found.append(token)
            if token.type == tokenize.NEWLINE:
                ended = len(found)
                if not block and not _opens_block(found):
                    return found
                block = True
            elif token.type == tokenize.INDENT:
                depth += 1
            elif token.type == tokenize.DEDENT:
                depth -= 1
                if depth <= 0:
                    return found[:ended]
    except IndentationError as error:
        # A dedent to a level that began above the first line: the function ended before it.
        if not (depth and _dedented(lines, first_line + (error.lineno or 0) - 1, found[0])):
            raise _unreadable(file, first_line, str(error.msg)) from None
        return found[:ended]
    except (tokenize.TokenError, SyntaxError) as error:
        raise _unreadable(file, first_line, str(error.args[0])) from None
    raise _unreadable(file, first_line, "no function begins here")


def _dedented(lines: Sequence[str], line: int, definition: Token) -> bool:
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return len(text) - len(text.lstrip()) <= definition.start[1]


def _opens_block(header: list[Token]) -> bool:
    """Whether nothing but a comment follows the colon of a header."""
    colon = _block_colon(header, 0)
    return colon is not None and all(token.type in _LAYOUT for token in header[colon + 1 :])


def _block_colon(tokens: Sequence[Token], start: int) -> int | None:
    """The index of the colon that ends the header beginning at `start`."""
    depth = lambdas = 0
    for i in range(start, len(tokens)):
        string = tokens[i].string
        if tokens[i].type == tokenize.OP:
            depth += (string in "([{") - (string in ")]}")
            if string == ":" and depth == 0:
                if not lambdas:
                    return i
                lambdas -= 1
        elif string == "lambda" and depth == 0 and tokens[i].type == tokenize.NAME:
            lambdas += 1
        elif tokens[i].type == tokenize.NEWLINE:
            return None
    return None


def _matching(tokens: Sequence[Token], start: int) -> int:
    depth = 0
    for i in range(start, len(tokens)):
        if tokens[i].type == tokenize.OP:
            depth += (tokens[i].string in "([{") - (tokens[i].string in ")]}")
            if depth == 0:
                return i
    return len(tokens) - 1


# --- PEP 695 headers ----------------------------------------------------------------------------


def _type_parameters(
    lines: Sequence[str], tokens: Sequence[Token], file: str
) -> tuple[TypeParameter, ...]:
    """What stands between the brackets of `def k[D: Float, E: (f16, f32)]`."""
    groups: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.type in _LAYOUT:
            continue
        depth += (token.string in "([{") - (token.string in ")]}")
        if token.string == "," and depth == 0:
            groups.append([])
        else:
            groups[-1].append(token)
    found: list[TypeParameter] = []
    for group in filter(None, groups):
        if group[0].string.startswith("*"):
            name = "".join(token.string for token in group[:2])
            span = Span.point(file, group[0].start[0], group[0].start[1] + 1)
            raise E0026.at(span, name=name).help("use one type parameter for each dtype")
        cut = next((i for i, token in enumerate(group) if token.string == "="), len(group))
        bound = group[2:cut]
        text = " ".join(_slice(lines, bound[0].start, bound[-1].end).split()) if bound else ""
        if bound and bound[0].string == "(" and _matching(bound, 0) == len(bound) - 1:
            arguments = f", {text[1:-1].strip().rstrip(',')}"
        else:
            arguments = f", bound={text}" if text else ""
        found.append(TypeParameter(group[0].string, arguments))
    return tuple(found)


def _slice(lines: Sequence[str], start: Place, end: Place) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    middle = lines[start[0] : end[0] - 1]
    return " ".join([lines[start[0] - 1][start[1] :], *middle, lines[end[0] - 1][: end[1]]])


# --- laying out what stays ----------------------------------------------------------------------


class _Layout:
    """What is cut from a function's lines, and the lines that remain."""

    def __init__(self, lines: Sequence[str], tokens: list[Token]) -> None:
        self.lines = lines
        self.tokens = tokens
        self.begin, self.end = tokens[0].start, tokens[-1].start
        self.cuts: list[tuple[Place, Place, str]] = []
        self.ends_in_string: set[int] = set()  # lines whose end lies inside a string
        self.depths: dict[int, int] = {}  # lines that begin a statement -> depth of indentation
        commented = self._scan()
        self.prefix = lines[self.begin[0] - 1][: self.begin[1]]
        self.reindents = any(
            set(self._indentation(line)) - {" "} for line in self.depths if line != self.begin[0]
        )
        self.continued = {
            line
            for line in range(self.begin[0], self.end[0] + 1)
            if line not in commented
            and line not in self.ends_in_string
            and lines[line - 1].endswith("\\")
        }

    def _scan(self) -> set[int]:
        """Cut the comments; note the lines inside strings and the depth of each statement."""
        commented: set[int] = set()
        opened: list[Token] = []
        depth, fresh = 0, True
        for token in self.tokens:
            if token.type == tokenize.COMMENT:
                if not opened:
                    self.cut(token.start, token.end)
                commented.add(token.start[0])
            elif token.type == tokenize.STRING:
                self.ends_in_string.update(range(token.start[0], token.end[0]))
            elif token.type in _TEXT_STARTS:
                opened.append(token)
            elif token.type in _TEXT_ENDS:
                self.ends_in_string.update(range(opened.pop().start[0], token.end[0]))
            if token.type == tokenize.INDENT:
                depth += 1
            elif token.type == tokenize.DEDENT:
                depth -= 1
            elif token.type == tokenize.NEWLINE:
                fresh = True
            elif fresh and token.type not in _LAYOUT:
                self.depths[token.start[0]] = depth
                fresh = False
        return commented

    def _indentation(self, line: int) -> str:
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip(_SPACE))]

    def cut(self, start: Place, end: Place, replacement: str = "") -> None:
        """Take `start` to `end` out."""
        self.cuts.append((start, end, replacement))

    def cut_docstring(self, header: int) -> None:
        """Cut the docstring of the `def` or `class` at token `header`, and strings right after it.

        Those strings would be the docstring of what remains.
        """
        colon = _block_colon(self.tokens, header)
        if colon is None:
            return
        first = at = self._skip_layout(colon + 1)
        inline = all(token.type != tokenize.NEWLINE for token in self.tokens[colon:first])
        end = None
        while (after := self._docstring_end(at)) is not None:
            end = self.tokens[after - 1].end
            if self.tokens[after].string == ";":
                end = self.tokens[after].end
                after += 1
            ends_block = inline and self.tokens[after].type in _LAYOUT
            at = self._next_statement(after)
            if ends_block or at is None:
                self.cut(self.tokens[first].start, end, "pass")
                return
        if end is not None:
            self.cut(self.tokens[first].start, self.tokens[at].start)

    def _next_statement(self, at: int) -> int | None:
        """The index of the block's next statement from `at` on, None at the end of the block."""
        while at < len(self.tokens) and self.tokens[at].type in _LAYOUT:
            if self.tokens[at].type == tokenize.DEDENT:
                return None
            at += 1
        return at if at < len(self.tokens) else None

    def _skip_layout(self, at: int) -> int:
        while at < len(self.tokens) - 1 and self.tokens[at].type in _LAYOUT:
            at += 1
        return at

    def _docstring_end(self, at: int) -> int | None:
        """The index after a statement made of plain strings alone, or None."""
        opened = closed = strings = 0
        while self.tokens[at].string == "(" or self.tokens[at].type in (
            tokenize.NL,
            tokenize.COMMENT,
        ):
            opened += self.tokens[at].string == "("
            at += 1
        while self.tokens[at].type in (tokenize.STRING, tokenize.NL, tokenize.COMMENT):
            if self.tokens[at].type == tokenize.STRING:
                prefix = self.tokens[at].string.split("'")[0].split('"')[0].lower()
                if "b" in prefix or "f" in prefix:
                    return None
                strings += 1
            elif closed == opened:
                break
            at += 1
        while self.tokens[at].string == ")" or (
            closed < opened and self.tokens[at].type in (tokenize.NL, tokenize.COMMENT)
        ):
            closed += self.tokens[at].string == ")"
            at += 1
        ends = self.tokens[at].type in (tokenize.NEWLINE, tokenize.COMMENT) or (
            self.tokens[at].string == ";"
        )
        return at if strings and opened == closed and ends else None

    def write(self) -> tuple[list[str], list[tuple[tuple[int, int, int], ...]]]:
        """The lines that remain, and for each the places of its pieces."""
        texts: list[str] = []
        places: list[tuple[tuple[int, int, int], ...]] = []
        started_in_string = after_backslash = False
        for first, last, pieces in self._kept_lines():
            kept = list(pieces)
            if not started_in_string:
                kept = self._unindent(kept, first)
            ends_in_string = last in self.ends_in_string
            if not ends_in_string:
                kept = _without_trailing_space(kept)
            text = "".join(piece.text for piece in kept)
            if text or started_in_string or after_backslash:
                texts.append(text)
                places.append(tuple(_place_pieces(kept)))
            started_in_string, after_backslash = ends_in_string, last in self.continued
        return texts, places

    def _kept_lines(self) -> Iterator[tuple[int, int, list[Piece]]]:
        """The output lines as `(first file line, last file line, pieces)`."""
        cuts = sorted(self.cuts)
        pieces: list[Piece] = []
        at = self.begin
        first = at[0]
        while at <= self.end:
            line, column = at
            text = self.lines[line - 1]
            if line == self.end[0]:
                text = text[: self.end[1]]
            while cuts and cuts[0][0] < at:  # a comment inside a docstring's parentheses
                cuts.pop(0)
            if cuts and cuts[0][0][0] == line:
                start, end, replacement = cuts.pop(0)
                pieces.append(Piece(text[column : start[1]], line, column))
                if replacement:
                    pieces.append(Piece(replacement, start[0], start[1]))
                at = end
                continue
            pieces.append(Piece(text[column:], line, column))
            yield first, line, pieces
            pieces = []
            at = (line + 1, 0)
            first = line + 1

    def _unindent(self, pieces: list[Piece], line: int) -> list[Piece]:
        """Take the common indentation off the first piece; tabs become four spaces a level."""
        head, *rest = pieces
        if line == self.begin[0]:
            return pieces
        space = len(head.text) - len(head.text.lstrip(_SPACE))
        if self.reindents and line in self.depths:
            body = Piece(head.text[space:], head.line, head.column + space)
            return [Piece(" " * 4 * self.depths[line], head.line, head.column), body, *rest]
        if head.text.startswith(self.prefix):
            gone = len(self.prefix)
        else:
            gone = min(space, len(self.prefix))
        return [Piece(head.text[gone:], head.line, head.column + gone), *rest]


def _without_trailing_space(pieces: list[Piece]) -> list[Piece]:
    kept = list(pieces)
    while kept:
        text = kept[-1].text.rstrip(_SPACE)
        if text:
            kept[-1] = kept[-1]._replace(text=text)
            break
        kept.pop()
    return kept


def _place_pieces(pieces: list[Piece]) -> Iterator[tuple[int, int, int]]:
    column = 1
    for piece in pieces:
        if piece.text:
            yield column, piece.line, piece.column + 1
            column += len(piece.text)
