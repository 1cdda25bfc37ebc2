"""Runs the four type checkers over a folder, with the settings that `docs/type-checking.md` gives.

What a report means is not known here: a report is a line, a rule and a message.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = tuple(sorted(map(str, ROOT.glob("packages/*/src"))))
PAGE = ROOT / "docs" / "type-checking.md"


class Report(NamedTuple):
    """One error or warning: the file's name, the line, the rule, the first line of the text."""

    file: str
    line: int
    rule: str
    message: str


def settings() -> str:
    """The text of the `pyproject.toml` that the page tells users to copy."""
    found = re.search(r"```toml[^\n]*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, "docs/type-checking.md has no settings"
    return found[1]


def prepare(folder: Path, files: dict[str, str], python: str = "3.11") -> None:
    """Lay out a project: the files, and the page's settings with the paths of these packages."""
    parsed = tomllib.loads(settings())
    assert parsed["tool"].keys() == {"mypy", "basedpyright", "ty", "pyrefly"}
    text = settings().replace(
        "[tool.basedpyright]\n", f"[tool.basedpyright]\nextraPaths = {json.dumps(SOURCES)}\n"
    )
    text = re.sub(r'"3\.\d+"', f'"{python}"', text)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


def _run(command: list[str], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.py"))


_MYPY = re.compile(r"(.+?\.pyi?):(\d+):(?:\d+:)? error: (.*?)(?:  \[([\w-]+)\])?$")


def mypy(folder: Path) -> Iterator[Report]:
    """What mypy reports."""
    command = [
        *(sys.executable, "-m", "mypy", "--no-pretty", "--show-column-numbers"),
        *("--no-error-summary", "--cache-dir", str(folder / ".mypy_cache")),
    ]
    output = _run([*command, *_names(folder)], folder, MYPYPATH=os.pathsep.join(SOURCES))
    for line in output.splitlines():
        found = _MYPY.match(line)
        if found is None:
            assert ": error:" not in line, line
            continue
        yield Report(found[1], int(found[2]), found[4] or "", found[3])


def basedpyright(folder: Path) -> Iterator[Report]:
    """What basedpyright reports."""
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    for row in json.loads(_run(command, folder))["generalDiagnostics"]:
        yield Report(
            Path(row["file"]).name,
            row["range"]["start"]["line"] + 1,
            row.get("rule", ""),
            row["message"].splitlines()[0],
        )


_TY = re.compile(r"(.+?\.pyi?):(\d+):\d+: (?:error|warning)\[([\w-]+)\] (.*)$")


def ty(folder: Path) -> Iterator[Report]:
    """What ty reports."""
    paths = [part for path in SOURCES for part in ("--extra-search-path", path)]
    command = [
        *(sys.executable, "-m", "ty", "check", "--output-format", "concise", "--color", "never"),
        *("--no-progress", "--python", sys.executable, *paths),
    ]
    for line in _run([*command, *_names(folder)], folder).splitlines():
        found = _TY.match(line)
        if found is not None:
            yield Report(found[1], int(found[2]), found[3], found[4])


def pyrefly(folder: Path) -> Iterator[Report]:
    """What pyrefly reports."""
    paths = [part for path in SOURCES for part in ("--search-path", path)]
    command = [
        *(sys.executable, "-m", "pyrefly", "check", "--output-format", "json", "--summary", "none"),
        *("--python-interpreter-path", sys.executable, *paths),
    ]
    rows: list[dict[str, Any]] = json.loads(_run([*command, *_names(folder)], folder))["errors"]
    for row in rows:
        if row["severity"] in {"error", "warn"}:
            text = row["concise_description"].splitlines()[0]
            yield Report(Path(row["path"]).name, row["line"], row["name"], text)


CHECKERS: dict[str, Callable[[Path], Iterator[Report]]] = {
    "mypy": mypy,
    "basedpyright": basedpyright,
    "ty": ty,
    "pyrefly": pyrefly,
}
