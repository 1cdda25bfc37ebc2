"""Writes `docs/mistakes.md` from the results of the tools; runs nothing itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mistake_catalogue import GROUPS, Mistake
from mistake_messages import COMMONEST, READS_BADLY

Found = tuple[int, str] | None
Results = Mapping[str, Mapping[str, Found]]

TITLES = {
    "mypy": "mypy",
    "basedpyright": "basedpyright",
    "ty": "ty",
    "pyrefly": "pyrefly",
    "check": "`teeny check`",
    "launch": "launch",
    "triton": "Triton 3.9",
}
# Unions whose share the page gives.
SUMS: dict[str, tuple[str, ...]] = {
    "mypy or basedpyright": ("mypy", "basedpyright"),
    "… or `teeny check`": ("mypy", "basedpyright", "check"),
    "… or the launch": ("mypy", "basedpyright", "check", "launch"),
}
INTRODUCTION = """\
# What finds which mistake

<!-- Written by tests/mistake_matrix.py; never edited. -->

Each row is one mistake in a kernel or a launch that is right otherwise, as it is written in
`tests/mistakes/`. The columns are the type checkers with the settings of
[Type checking](type-checking.md); `teeny check --strict`; the launch itself, on the interpreter
and, where values are wrong, with the limits of a GPU of `sm_90`; and, for the bodies of kernels,
the front end of Triton 3.9 with the annotations cut out. *yes* means that the line that is wrong
is reported, *near* that only another line of the same kernel or launch is; a dash stands where
nothing is.
"""


def caught(results: Results, tools: tuple[str, ...], entry: Mistake) -> bool:
    """Whether one of the tools reports the entry at all."""
    return any(results.get(tool, {}).get(entry.id) is not None for tool in tools)


def share(results: Results, tools: tuple[str, ...], entries: list[Mistake]) -> tuple[int, int]:
    """How many of the entries one of the tools reports, and how many there are."""
    return sum(caught(results, tools, entry) for entry in entries), len(entries)


def page(results: Results, entries: tuple[Mistake, ...]) -> str:
    """The text of the page."""
    lines = [INTRODUCTION]
    lines += _totals(results, entries)
    for group, title in GROUPS.items():
        lines += ["", f"## {title.capitalize()}", ""]
        lines += _table(results, [entry for entry in entries if entry.group == group])
    lines += _messages(results, entries)
    return "\n".join(lines) + "\n"


def _totals(results: Results, entries: tuple[Mistake, ...]) -> Iterator[str]:
    groups: dict[str, list[Mistake]] = {
        **{
            title: [one for one in entries if one.group == group] for group, title in GROUPS.items()
        },
        "all": list(entries),
    }
    yield f"| found by | {' | '.join(groups)} |"
    yield "|---" * (len(groups) + 1) + "|"
    rows: list[tuple[str, tuple[str, ...]]] = [
        *((title, (tool,)) for tool, title in TITLES.items() if tool in results),
        *SUMS.items(),
    ]
    for title, tools in rows:
        cells = [_share(results, tools, chosen) for chosen in groups.values()]
        yield f"| {title} | {' | '.join(cells)} |"


def _share(results: Results, tools: tuple[str, ...], entries: list[Mistake]) -> str:
    known = [entry for entry in entries if any(entry.id in results.get(tool, {}) for tool in tools)]
    if not known:
        return "–"
    count, total = share(results, tools, known)
    return f"{count} of {total} ({100 * count / total:.1f} %)"


def _table(results: Results, entries: list[Mistake]) -> Iterator[str]:
    tools = [tool for tool in TITLES if tool in results]
    shown = [tool for tool in tools if any(entry.id in results[tool] for entry in entries)]
    yield f"| mistake | {' | '.join(TITLES[tool] for tool in shown)} |"
    yield "|---" * (len(shown) + 1) + "|"
    for entry in entries:
        cells = [_cell(results[tool].get(entry.id), entry) for tool in shown]
        yield f"| {_escaped(entry.description)} | {' | '.join(cells)} |"


def _cell(found: Found, entry: Mistake) -> str:
    if found is None:
        return "–"
    return "yes" if found[0] == entry.wrong_line else "near"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _messages(results: Results, entries: tuple[Mistake, ...]) -> Iterator[str]:
    known = {entry.id: entry for entry in entries}
    tools = [tool for tool in TITLES if tool in results]
    yield from ("", f"## What is said of the {len(COMMONEST)} commonest", "")
    yield "The first line of each message, as it is printed. Where one does not say what is wrong,"
    yield "or says it of another thing than the mistake, the last line says so."
    for name in COMMONEST:
        entry = known[name]
        code = entry.path.read_text(encoding="utf-8").splitlines()[entry.wrong_line - 1]
        yield from ("", f"### {entry.description[0].upper()}{entry.description[1:]}", "")
        yield from ("```text", code.removesuffix("  # wrong").strip(), "```", "")
        for tool in tools:
            if entry.id in results[tool]:
                found = results[tool][entry.id]
                text = "nothing" if found is None else f"`` {found[1]} ``"
                yield f"* {TITLES[tool]}: {text}"
        if name in READS_BADLY:
            yield from ("", f"Reads badly: {READS_BADLY[name]}")
