"""For tests: an error is whole, however it is shown. Importing this module loads no test framework.

Whole is an error that says what is wrong, where, and what to do next, in every format.
"""

from __future__ import annotations

import json

from teeny_macros.diagnostics import Diagnostic, TeenyError
from teeny_macros.render import render


def missing_parts(error: TeenyError, *, placed: bool = True) -> list[str]:
    """What a reader of some format does not learn of a fault; empty when the error is whole.

    `placed` is False for faults that no line of a file causes, such as those of a driver.
    """
    return [
        part
        for diagnostic in error.diagnostics
        for part in (*_missing(diagnostic, placed=placed), *_unreadable(diagnostic))
    ]


def _missing(diagnostic: Diagnostic, *, placed: bool) -> list[str]:
    code = diagnostic.code
    shown = {name: render(diagnostic, name) for name in ("full", "concise", "json", "github")}
    painted = render(diagnostic, "full", color=True)
    found = [f"{code}: the message in {n}" for n, t in shown.items() if code not in t]
    if not diagnostic.helps:
        found.append(f"{code}: a next step")
    first = diagnostic.helps[0].split("\n")[0] if diagnostic.helps else ""
    if f"help: {first}" not in shown["full"] or "\x1b[1mhelp:" not in painted:
        found.append(f"{code}: the next step in full")
    if "help: " not in shown["github"]:
        found.append(f"{code}: the next step in github")
    span = diagnostic.span
    if placed and span is None:
        found.append(f"{code}: the place")
    if span is not None:
        place = f"{span.file}:{span.line}:{span.column}"
        wanted = {"full": f"--> {place}", "concise": f"{place}: ", "github": f"line={span.line},"}
        found += [f"{code}: the place in {n}" for n, text in wanted.items() if text not in shown[n]]
        if span.end_line == span.line and span.end_column <= span.column:
            found.append(f"{code}: what the place underlines")
    return found


def _unreadable(diagnostic: Diagnostic) -> list[str]:
    """What does not survive the form that programs read."""
    data = diagnostic.to_json()
    back = Diagnostic.from_json(json.loads(render(diagnostic, "json"))).to_json()
    lines = len(render(diagnostic, "concise").split("\n")) + len(
        render(diagnostic, "json").split("\n")
    )
    found = [] if back == data else [f"{diagnostic.code}: itself, read back from json"]
    return found if lines == 2 else [*found, f"{diagnostic.code}: one line"]
