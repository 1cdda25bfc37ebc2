"""Which tool finds which mistake of the catalogue: the results, and the page made of them.

`python tests/mistake_matrix.py` runs every tool and writes `tests/mistakes/results.json` and
`docs/mistakes.md`; `python tests/mistake_matrix.py mypy check` runs those named. What a tool says
is never written by hand.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import checkers
from mistake_catalogue import FOLDER, Mistake, mistakes
from mistake_page import page

RESULTS = FOLDER / "results.json"
PAGE = checkers.ROOT / "docs" / "mistakes.md"
# For each tool and each entry: the line that is reported and the first line of the message; None
# when nothing is.
Found = tuple[int, str] | None
Results = dict[str, dict[str, Found]]
# Consequences of a mistake, which basedpyright reports beside it, or in place of it.
_CONSEQUENCES = re.compile(r"reportUnknown\w+|reportUnused\w+")


def _attributed(reports: Iterator[checkers.Report]) -> dict[str, Found]:
    """The report of each entry: at the wrong line if there is one, else the first of the entry."""
    known = [row for row in reports if not _CONSEQUENCES.fullmatch(row.rule)]
    found: dict[str, Found] = {}
    for entry in mistakes():
        own = [row for row in known if row.file == entry.path.name and entry.holds(row.line)]
        own.sort(key=lambda row: (row.line != entry.wrong_line, row.line))
        found[entry.id] = (own[0].line, own[0].message) if own else None
        known = [row for row in known if row not in own]
    assert not known, f"reported outside of all entries: {known}"
    return found


def _checker(name: str) -> dict[str, Found]:
    with tempfile.TemporaryDirectory() as folder:
        files = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
        checkers.prepare(Path(folder), files)
        return _attributed(checkers.CHECKERS[name](Path(folder)))


def _check() -> dict[str, Found]:
    start = "import sys; from teeny_compiler.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", start, "check", "--strict", "--format", "json"]
    done = subprocess.run(
        [*command, str(FOLDER)], check=False, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 1, done.stderr
    return _attributed(_faults(done.stdout))


def _faults(output: str) -> Iterator[checkers.Report]:
    for line in output.splitlines():
        row = json.loads(line) if line.startswith("{") else {}
        for label in row.get("labels", ()):
            if label["primary"] and Path(label["file"]).parent == FOLDER:
                name = Path(label["file"]).name
                text = f"{row['code']}: {row['message']}"
                yield checkers.Report(name, label["line"], row["code"], text)


def _worker(script: str) -> dict[str, Found]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(FOLDER.parent / script), folder],
            check=False,
            capture_output=True,
            text=True,
            timeout=900,
            env={**os.environ, "TEENYC_CACHE_DIR": os.path.join(folder, "cache")},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        rows = json.loads(done.stdout)
        return {
            name: None if row is None else (row[0], _first_line(row[1], folder))
            for name, row in rows.items()
        }


def _first_line(text: str, folder: str) -> str:
    """Without what differs from run to run."""
    return re.sub(r" at 0x[0-9a-f]+", "", text.replace(folder, "").splitlines()[0])


TOOLS = (*checkers.CHECKERS, "check", "launch", "triton")


def collect(tool: str) -> dict[str, Found]:
    """Run one tool over the whole catalogue."""
    if tool == "check":
        return _check()
    if tool == "launch":
        return _worker("mistake_launches.py")
    if tool == "triton":
        return _worker("mistake_triton.py")
    return _checker(tool)


def stored() -> Results:
    """The results as they were written last."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    return {
        tool: {name: None if row is None else (row[0], row[1]) for name, row in found.items()}
        for tool, found in rows.items()
    }


def rendered(results: Mapping[str, Mapping[str, Found]], entries: tuple[Mistake, ...]) -> str:
    """The page of these results."""
    return page(results, entries)


def main(names: list[str]) -> None:
    """Run the tools named, or all; write the results and the page."""
    results = stored()
    for tool in names or TOOLS:
        results[tool] = collect(tool)
        caught = sum(found is not None for found in results[tool].values())
        print(f"{tool}: {caught} of {len(results[tool])}")
    ordered = {tool: results[tool] for tool in TOOLS if tool in results}
    rows = (
        f"{json.dumps(tool)}: {{\n"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found.items())
        + "\n}"
        for tool, found in ordered.items()
    )
    RESULTS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    PAGE.write_text(rendered(ordered, mistakes()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
