"""What `teeny check` prints: faults in one of four formats, and a line of counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from teeny_macros.diagnostics import WARNING
from teeny_macros.render import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_compiler.check.session import Summary

FORMATS = ("human", "concise", "json", "github")
_RENDERED = {"human": "full"}
_PROVED, _REFUTED, _UNKNOWN = "proved", "refuted", "unknown"


def lines(summary: Summary, form: str, *, color: bool = False) -> Iterator[str]:
    """The faults, then what was skipped and what is not known, for standard output."""
    for at, fault in enumerate(summary.faults):
        if form == "human" and at:
            yield ""
        yield render(fault, _RENDERED.get(form, form), color=color)
    if form == "json":
        yield json.dumps(counts(summary))
        return
    if form == "github":
        return
    unknown = [row for row in summary.bounds if row["verdict"] == _UNKNOWN]
    # Several instances of a kernel say the same.
    yield from dict.fromkeys(
        "{}:{}:{}: not proved: {}: {}".format(*_start(row), row["what"], row["reason"])
        for row in unknown
    )
    for skipped in summary.skipped:
        place = f"{skipped.place}: " if skipped.place else ""
        yield f"{place}not checked: `{skipped.kernel}`: {skipped.reason}"


def _start(row: dict[str, Any]) -> tuple[str, int, int]:
    file, line, column = [*row["span"], "", 0, 0][:3]
    return file, line, column


def counts(summary: Summary) -> dict[str, Any]:
    """The numbers of a run, as the last JSON line has them."""
    warnings = sum(fault.severity == WARNING for fault in summary.faults)
    found: dict[str, Any] = {
        "files": summary.files,
        "kernels": summary.kernels,
        "instances": summary.instances,
        "errors": len(summary.faults) - warnings,
        "warnings": warnings,
        "skipped": [row._asdict() for row in summary.skipped],
    }
    if summary.bounds:
        verdicts = [row["verdict"] for row in summary.bounds]
        found["bounds"] = {one: verdicts.count(one) for one in (_PROVED, _REFUTED, _UNKNOWN)}
        found["accesses"] = summary.bounds
    return found


def last_line(summary: Summary) -> str:
    """The counts in words."""
    found = counts(summary)
    text = (
        f"checked {_many(found['kernels'], 'kernel')} ({_many(found['instances'], 'instance')}) in "
        f"{_many(found['files'], 'file')}: {_many(found['errors'], 'error')}, "
        f"{_many(found['warnings'], 'warning')}"
    )
    if summary.skipped:
        text += f", {len(summary.skipped)} not checked"
    if summary.bounds:
        one = found["bounds"]
        text += (
            f"; {_many(len(summary.bounds), 'access')}: {one[_PROVED]} proved, "
            f"{one[_REFUTED]} refuted, {one[_UNKNOWN]} unknown"
        )
    return text


def _many(count: int, what: str) -> str:
    plural = f"{what}es" if what.endswith("s") else f"{what}s"
    return f"{count} {what if count == 1 else plural}"
