"""Pages of the documentation as data: their fenced blocks, what running them gives, rewriting them.

It knows the form of a page and nothing of what the page says.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
# A longer fence may hold a shorter one.
FENCE = re.compile(r"^(`{3,})(\w*)([^\n]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
NEEDS = re.compile(r"<!-- needs (\w+) ([\d.]+) -->")
# What a block shows of the block above it.
OUTPUTS = {"text", "mlir", "llvm", "ptx", "json"}
OWN_COMMANDS = {"teeny", "teenyc"}


class Block(NamedTuple):
    """One fenced block: its language, its file name, its text, its line, its place in the page."""

    language: str
    file: str
    text: str
    line: int
    start: int
    end: int


class Shown(NamedTuple):
    """A block that ran: what it printed or raised, and the block of the page that shows it."""

    block: Block
    output: str
    expected: Block | None

    @property
    def holds(self) -> bool:
        """Whether the page shows what came out; `...` in the page stands for any text."""
        wanted = self.expected.text if self.expected else ""
        return doctest.OutputChecker().check_output(
            wanted.rstrip() + "\n", self.output.rstrip() + "\n", doctest.ELLIPSIS
        )


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for number, match in enumerate(FENCE.finditer(text)):
        title = TITLE.search(match[3])
        file = title[1] if title else f"{page.stem.lower().replace('-', '_')}_{number}.py"
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match[2], file, match[4], line, match.start(4), match.end(4)))
    return found


def needs(page: Path) -> tuple[str, str] | None:
    """The distribution and version, as far as it counts, that the page's output comes from."""
    found = NEEDS.search(page.read_text(encoding="utf-8"))
    return (found[1], found[2]) if found else None


def commands(block: Block) -> list[list[str]]:
    """The commands of a `sh` block, split into words."""
    found = []
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        ends = [-1, *(i for i, word in enumerate(words) if word == "&&"), len(words)]
        found += [words[before + 1 : end] for before, end in pairwise(ends)]
    return [words for words in found if words]


def is_run(block: Block) -> bool:
    """Whether the block runs: Python, or a shell block that holds our own commands only."""
    own = block.language == "sh" and all(words[0] in OWN_COMMANDS for words in commands(block))
    return block.language == "py" or own


def run(page: Path, folder: Path) -> list[Shown]:
    """Run a page in `folder`, first its Python, then its own commands."""
    found = blocks(page)
    outputs = _run_python([block for block in found if block.language == "py"], folder)
    for block in found:
        if block.language == "sh" and is_run(block):
            outputs[block] = "".join(_run_command(words, folder) for words in commands(block))
    following = dict(pairwise(found))
    shown = []
    for block, output in outputs.items():
        after = following.get(block)
        expected = after if after is not None and after.language in OUTPUTS else None
        shown.append(Shown(block, output.replace(f"{folder}{os.sep}", ""), expected))
    return shown


def rewrite(page: Path, shown: list[Shown]) -> None:
    """Put what came out into the blocks that show something else."""
    text = page.read_text(encoding="utf-8")
    for one in sorted(shown, key=lambda one: -one.block.start):
        if one.expected is not None and not one.holds:
            lines = one.output.rstrip() + "\n"
            text = text[: one.expected.start] + lines + text[one.expected.end :]
    page.write_text(text, encoding="utf-8")


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "TEENYC_CACHE_DIR": str(folder / "cache"),
        "TEENY_COLOR": "never",
        "COLUMNS": "80",
    }


def _run_python(found: list[Block], folder: Path) -> dict[Block, str]:
    if not found:
        return {}
    for block in found:
        (folder / block.file).write_text(block.text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_page.py"))],
        input=json.dumps([block.file for block in found]),
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(zip(found, json.loads(done.stdout), strict=True))


def own_command(name: str) -> Path:
    """Where this interpreter's commands lie."""
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    assert found is not None, f"`{name}` is not installed"
    return Path(found)


def _run_command(words: list[str], folder: Path) -> str:
    done = subprocess.run(
        [str(own_command(words[0])), *words[1:]],
        cwd=folder,
        env=_environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    # 1 means diagnostics, which the page shows; anything above is our bug or wrong usage.
    assert done.returncode <= 1, f"{' '.join(words)}: {done.stdout}"
    return done.stdout
