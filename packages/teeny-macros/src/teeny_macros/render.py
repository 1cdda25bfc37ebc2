"""Diagnostics as text.

Full (with the source lines), concise (one line), JSON and GitHub annotations.

Only reads files to show their lines. The columns of a full rendering are those of a terminal: tabs
become four spaces and wide characters count twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_macros.diagnostics import ERROR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TextIO

    from teeny_macros.diagnostics import Diagnostic, Label

FORMATS = ("full", "concise", "json", "github")
TAB = "    "
# The faults of an environment without teenyc, where the command that explains is not there either.
_WITHOUT_TEENYC = frozenset(("E0901", "E1022", "E1101"))

_RESET, _BOLD, _RED, _YELLOW, _BLUE = "\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m"


def render(diagnostic: Diagnostic, form: str = "full", *, color: bool = False) -> str:
    """The diagnostic in one of `FORMATS`, without a newline at the end; other names mean `full`."""
    if form == "concise":
        return render_concise(diagnostic)
    if form == "json":
        return render_json(diagnostic)
    if form == "github":
        return render_github(diagnostic)
    return render_full(diagnostic, color=color)


def wants_color(stream: TextIO) -> bool:
    """Whether `stream` is a terminal and nobody asked for plain text."""
    from teeny_macros import env

    return env.color_allowed() and stream.isatty()


def render_concise(diagnostic: Diagnostic) -> str:
    """`file:line:column: error[E0401] message`; without a place only the part after it."""
    span = diagnostic.span
    place = "" if span is None else f"{span.file}:{span.line}:{span.column}: "
    return f"{place}{diagnostic.severity}[{diagnostic.code}] {diagnostic.message}"


def render_json(diagnostic: Diagnostic) -> str:
    """One line of JSON, the form that `Diagnostic.from_json` reads."""
    import json

    return json.dumps(diagnostic.to_json(), ensure_ascii=False)


def render_github(diagnostic: Diagnostic) -> str:
    """A workflow command that GitHub shows at the line of a pull request."""
    level = "error" if diagnostic.severity == ERROR else "warning"
    properties: list[str] = []
    span = diagnostic.span
    if span is not None:
        properties += [f"file={_property(span.file)}", f"line={span.line}", f"col={span.column}"]
        properties += [f"endLine={span.end_line}", f"endColumn={span.end_column}"]
    properties.append(f"title={_property(f'{diagnostic.code} {diagnostic.name}')}")
    parts = [diagnostic.message]
    parts += [label.text for label in diagnostic.labels if label.primary and label.text]
    parts += [f"note: {note}" for note in diagnostic.notes]
    parts += [f"help: {text}" for text in diagnostic.helps]
    return f"::{level} {','.join(properties)}::{_message(chr(10).join(parts))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def render_full(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """The diagnostic in rustc's manner: source lines, labels under them, notes, helps."""
    return "\n".join(_Page(diagnostic, color=color).lines())


class _Page:
    """Lays out one diagnostic: a frame of line numbers, and in it one excerpt a file."""

    def __init__(self, diagnostic: Diagnostic, *, color: bool) -> None:
        self.diagnostic = diagnostic
        self.color = color
        last = max((label.span.end_line for label in diagnostic.labels), default=0)
        self.width = len(str(last))

    def paint(self, text: str, style: str) -> str:
        return f"{style}{text}{_RESET}" if self.color and text else text

    def gutter(self, number: int | str = "") -> str:
        return self.paint(f"{number:>{self.width}} |", _BLUE)

    def lines(self) -> Iterable[str]:
        fault = self.diagnostic
        style = _RED if fault.severity == ERROR else _YELLOW
        head = self.paint(f"{fault.severity}[{fault.code}]", style)
        yield f"{head}{self.paint(f': {fault.message}', _BOLD)}"
        arrow = "-->"
        for file, labels in self.files():
            anchor = next((label for label in labels if label.primary), labels[0]).span
            pointer = self.paint(f"{' ' * self.width}{arrow}", _BLUE)
            yield f"{pointer} {file}:{anchor.line}:{anchor.column}"
            yield from self.excerpt(file, labels)
            arrow = ":::"
        mark = self.paint(f"{' ' * self.width} =", _BLUE)
        helps = [*fault.helps, f"{_explainer(fault.code)} {fault.code}"]
        for kind, texts in (("note", fault.notes), ("help", helps)):
            for text in texts:
                first, *rest = text.split("\n")
                yield f"{mark} {self.paint(f'{kind}:', _BOLD)} {first}"
                yield from (f"{' ' * (self.width + 9)}{line}" for line in rest)

    def files(self) -> list[tuple[str, list[Label]]]:
        """Labels grouped by file, the file of the primary label first."""
        groups: dict[str, list[Label]] = {}
        span = self.diagnostic.span
        if span is not None:
            groups[span.file] = []
        for label in self.diagnostic.labels:
            groups.setdefault(label.span.file, []).append(label)
        return list(groups.items())

    def excerpt(self, file: str, labels: list[Label]) -> Iterable[str]:
        given = {label.span.line: label.source for label in labels if label.source is not None}
        read = _reader(file)
        rows: dict[int, list[Label]] = {}
        for label in labels:
            rows.setdefault(label.span.line, []).append(label)
            if label.span.end_line > label.span.line:
                rows.setdefault(label.span.end_line, [])
        texts = {number: given.get(number, read(number)) for number in sorted(rows)}
        shown = {number: text for number, text in texts.items() if text is not None}
        if not shown:
            for label in labels:
                if label.text:
                    yield f"{self.gutter()} {label.span.line}:{label.span.column}: {label.text}"
            return
        yield self.gutter()
        previous = None
        for number, text in shown.items():
            if previous is not None and number > previous + 1:
                yield self.paint(f"{' ' * self.width} :", _BLUE)
            yield f"{self.gutter(number)} {_expand(text).rstrip()}".rstrip()
            yield from self.marks(number, text, rows[number], labels)
            previous = number

    def marks(
        self, number: int, text: str, starting: list[Label], labels: list[Label]
    ) -> Iterable[str]:
        """The lines of carets and texts below one source line."""
        found: list[tuple[int, int, Label, str]] = []
        for label in starting:
            span = label.span
            several = span.end_line > span.line
            start = _cells(text, span.column)
            end = _cells(text, len(text) + 1 if several else span.end_column)
            note = f"{label.text} (to line {span.end_line})" if several else label.text
            found.append((start, max(end, start + 1), label, note.strip()))
        for label in labels:
            if label.span.end_line == number and label.span.line < number:
                indent = len(text) - len(text.lstrip())
                start, end = _cells(text, indent + 1), _cells(text, label.span.end_column)
                found.append((start, max(end, start + 1), label, "to here"))
        found.sort(key=lambda mark: (mark[0], not mark[2].primary))
        if not found:
            return
        yield f"{self.gutter()} {self.underline(found)}"
        # The last text stands beside its carets, the others below them, from right to left.
        for at in range(len(found) - 2, -1, -1):
            start, _, label, note = found[at]
            if note:
                stems = [mark[0] for mark in found[:at] if mark[3] and mark[0] < start]
                line = "".join("|" if column in stems else " " for column in range(start))
                yield f"{self.gutter()} {self.paint(line, _BLUE)}{self.style(note, label)}"

    def style(self, text: str, label: Label) -> str:
        strong = _RED if self.diagnostic.severity == ERROR else _YELLOW
        return self.paint(text, strong if label.primary else _BLUE)

    def underline(self, found: list[tuple[int, int, Label, str]]) -> str:
        cells: list[Label | None] = [None] * max(end for _, end, _, _ in found)
        for start, end, label, _ in sorted(found, key=lambda mark: mark[2].primary):
            cells[start:end] = [label] * (end - start)
        line, at = "", 0
        while at < len(cells):
            label, start = cells[at], at
            while at < len(cells) and cells[at] is label:
                at += 1
            if label is None:
                line += " " * (at - start)
            else:
                line += self.style(("^" if label.primary else "-") * (at - start), label)
        _, _, label, note = found[-1]
        return f"{line} {self.style(note, label)}" if note else line


def _explainer(code: str) -> str:
    from importlib.util import find_spec

    # The pages of the compiler's own codes, E01 to E08, come with it.
    is_elsewhere = not "01" <= code[1:3] <= "08" and find_spec("teenyc") is None
    if is_elsewhere or code in _WITHOUT_TEENYC:
        return "python -m teeny_macros explain"
    return "teenyc --explain"


def _reader(file: str) -> Callable[[int], str | None]:
    """A function from a line number to the line, or None where the file has none."""
    import linecache
    import os

    # `linecache` would look for a relative name in the folders of sys.path, too: another file.
    known = file in linecache.cache or os.path.exists(file)

    def read(number: int) -> str | None:
        if not known:
            return None
        line = linecache.getline(file, number)
        return line.rstrip("\r\n") if line else None

    return read


def _expand(text: str) -> str:
    return text.replace("\t", TAB)


def _cells(text: str, column: int) -> int:
    """How many terminal cells stand before `column` of `text`."""
    before = text[: column - 1]
    extra = max(0, column - 1 - len(before))
    if before.isascii():
        return len(before) + before.count("\t") * (len(TAB) - 1) + extra
    return sum(map(_cell_width, before)) + extra


def _cell_width(character: str) -> int:
    from unicodedata import combining, east_asian_width

    if character == "\t":
        return len(TAB)
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
