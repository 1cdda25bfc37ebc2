"""Runs every code block of the documentation and of the README as a reader would.

`py` blocks of a page run in order as one program; a `text` block right after one must occur in
what the page prints. `sh` blocks may only use the commands named here; our own commands with
`--help`, `--version` or `--explain` are run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OWN_COMMANDS = {"teeny", "teenyc"}
COMMANDS = OWN_COMMANDS | {"cd", "git", "ls", "nox", "pip", "python", ".ci/run"}
QUICK_OPTIONS = {"--version", "--help", "--explain"}


class Block(NamedTuple):
    """One fenced block: its language, the words after it, its text and its line."""

    language: str
    words: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2].strip(), found[3], text.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(text)
    ]


def with_code(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_names_a_language_that_is_checked(page: Path) -> None:
    checked = {"py", "sh", "text", "mlir", "ptx", "toml", "json"}
    assert [block for block in blocks(page) if block.language not in checked] == []


@pytest.mark.parametrize("page", with_code("py"), ids=name)
def test_the_program_of_a_page_runs_and_prints_what_the_page_shows(
    page: Path, tmp_path: Path
) -> None:
    program = tmp_path / f"{page.stem.replace('-', '_')}.py"
    found = blocks(page)
    program.write_text("\n".join(block.text for block in found if block.language == "py"), "utf-8")
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for before, block in pairwise(found):
        if block.language == "text" and before.language == "py":
            assert block.text.strip() in done.stdout, f"{name(page)}:{block.line}"


def commands(page: Path) -> list[list[str]]:
    lines = [
        line.split("#")[0]
        for block in blocks(page)
        if block.language == "sh"
        for line in block.text.splitlines()
    ]
    return [words for line in lines for part in line.split("&&") if (words := part.split())]


@pytest.mark.parametrize("page", with_code("sh"), ids=name)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    for words in commands(page):
        assert words[0] in COMMANDS, words
        if words[0] in OWN_COMMANDS and QUICK_OPTIONS & set(words):
            script = shutil.which(words[0], path=str(Path(sys.executable).parent))
            assert script is not None, words[0]
            subprocess.run([script, *words[1:]], capture_output=True, check=True, timeout=60)
