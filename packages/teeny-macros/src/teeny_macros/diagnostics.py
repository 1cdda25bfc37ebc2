"""What can go wrong, as data.

`Code` rows, `Diagnostic` records, and the exceptions that carry them.

Rendering lives in render.py, the rows in each package's codes.py. The JSON form of a diagnostic is
the protocol between teenyc and teeny-compiler (`SCHEMA`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from teeny_macros.source import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SCHEMA = 1
ERROR = "error"
WARNING = "warning"

_E = TypeVar("_E", bound="TeenyError")  # noqa: PYI018 - used by methods below


class Label:
    """One span of a diagnostic with its text; `source` is the text of the span's first line."""

    __slots__ = ("primary", "source", "span", "text")

    def __init__(
        self, span: Span, text: str = "", *, primary: bool = True, source: str | None = None
    ) -> None:
        self.span = span
        self.text = text
        self.primary = primary
        self.source = source

    def to_json(self) -> dict[str, object]:
        """A JSON object in which the span is `file`, `line`, `column`, `end_line`, `end_column`."""
        return {
            **self.span._asdict(),
            "text": self.text,
            "primary": self.primary,
            "source": self.source,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Label:
        """The label that `to_json` wrote."""
        span = Span(
            data["file"], data["line"], data["column"], data["end_line"], data["end_column"]
        )
        return cls(span, data["text"], primary=data["primary"], source=data.get("source"))


class Diagnostic:
    """One fault: its code, one-line message, labelled places, notes and the next step."""

    __slots__ = ("code", "helps", "labels", "message", "name", "notes", "severity")

    def __init__(
        self,
        code: str,
        name: str,
        message: str,
        *,
        severity: str = ERROR,
        labels: Iterable[Label] = (),
        notes: Iterable[str] = (),
        helps: Iterable[str] = (),
    ) -> None:
        self.code = code
        self.name = name
        self.message = message
        self.severity = severity
        self.labels = list(labels)
        self.notes = list(notes)
        self.helps = list(helps)

    @property
    def span(self) -> Span | None:
        """The span of the primary label."""
        for label in self.labels:
            if label.primary:
                return label.span
        return self.labels[0].span if self.labels else None

    def map_spans(self, mapped: Callable[[Label], Label]) -> Diagnostic:
        """The same fault with each label replaced by `mapped(label)`."""
        return Diagnostic(
            self.code,
            self.name,
            self.message,
            severity=self.severity,
            labels=[mapped(label) for label in self.labels],
            notes=self.notes,
            helps=self.helps,
        )

    def to_json(self) -> dict[str, object]:
        """A JSON object with the schema number."""
        return {
            "schema": SCHEMA,
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "labels": [label.to_json() for label in self.labels],
            "notes": self.notes,
            "helps": self.helps,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Diagnostic:
        """The diagnostic that `to_json` wrote."""
        return cls(
            data["code"],
            data["name"],
            data["message"],
            severity=data["severity"],
            labels=[Label.from_json(row) for row in data["labels"]],
            notes=data["notes"],
            helps=data["helps"],
        )


class TeenyError(Exception):
    """Base of every error a user can meet.

    `diagnostics` holds one or more faults, and it pickles.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics: list[Diagnostic] = list(diagnostics)

    @property
    def code(self) -> str:
        """The code of the first fault."""
        return self.diagnostics[0].code

    def also(self, span: Span | None, text: str, *, source: str | None = None) -> Self:
        """Label a second place of the last fault (ignored when the place is unknown)."""
        if span is not None:
            self.diagnostics[-1].labels.append(Label(span, text, primary=False, source=source))
        return self

    def note(self, text: str) -> Self:
        """Add a fact to the last fault."""
        self.diagnostics[-1].notes.append(text)
        return self

    def help(self, text: str) -> Self:
        """Add a next step to the last fault."""
        self.diagnostics[-1].helps.append(text)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), [diagnostic.to_json() for diagnostic in self.diagnostics])

    def __str__(self) -> str:
        from teeny_macros.render import (
            render_full,
        )  # rendering is only needed once something failed

        return "\n\n".join(render_full(diagnostic) for diagnostic in self.diagnostics)


def _rebuild(kind: type[TeenyError], rows: list[dict[str, Any]]) -> TeenyError:
    return kind(*(Diagnostic.from_json(row) for row in rows))


class CaptureError(TeenyError):
    """A function cannot be captured as a kernel or helper."""


class CompileError(TeenyError):
    """The compiler refuses a unit, or a back end fails on it."""


class ToolchainError(TeenyError):
    """teenyc, a back end or the cache is missing or unusable."""


class LaunchError(TeenyError):
    """A launch is wrong, or the driver refuses it."""


class InternalError(TeenyError):
    """Our bug."""


class Code:
    """One row of a codes.py.

    The code, its kebab-case name (the bad thing) and the message template.
    """

    __slots__ = ("code", "kind", "message", "name")

    def __init__(self, code: str, name: str, message: str, kind: type[TeenyError]) -> None:
        self.code = code
        self.name = name
        self.message = message
        self.kind = kind

    def diagnostic(
        self,
        span: Span | None = None,
        label: str = "",
        *,
        severity: str = ERROR,
        source: str | None = None,
        **fields: object,
    ) -> Diagnostic:
        """The fault as a record, the message template filled with `fields`."""
        found = self._filled(span, label, fields, severity)
        for place in found.labels:
            place.source = source
        return found

    def _filled(
        self, span: Span | None, label: str, fields: Mapping[str, object], severity: str = ERROR
    ) -> Diagnostic:
        labels = [] if span is None else [Label(span, label)]
        message = self.message.format(**fields) if fields else self.message
        return Diagnostic(self.code, self.name, message, severity=severity, labels=labels)

    def at(self, span: Span | None, label: str = "", **fields: object) -> TeenyError:
        """The fault at a place, as an exception: `raise E0401.at(span, "...")`."""
        return self.kind(self._filled(span, label, fields))

    def error(self, **fields: object) -> TeenyError:
        """The fault without a place: `raise E0901.error(path=p).help("...")`."""
        return self.kind(self._filled(None, "", fields))

    def warn(self, span: Span | None = None, label: str = "", **fields: object) -> Diagnostic:
        """The fault as a warning record; its code reads W instead of E."""
        found = self._filled(span, label, fields, WARNING)
        found.code = "W" + self.code[1:]
        return found

    def __repr__(self) -> str:
        return f"Code({self.code} {self.name})"


def code(code_: str, name: str, message: str, kind: type[TeenyError] = CompileError) -> Code:
    """One row of a codes.py."""
    return Code(code_, name, message, kind)
