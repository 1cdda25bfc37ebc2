"""The generated pages are what docs/_gen.py writes now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def check() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DOCS / "_gen.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_no_generated_page_is_stale() -> None:
    done = check()
    assert done.returncode == 0, f"run `python docs/_gen.py`: {done.stderr}"


def test_every_page_that_says_it_is_generated_is_checked() -> None:
    listed = subprocess.run(
        [sys.executable, "-c", "import _gen; print(*_gen.pages())"],
        cwd=DOCS,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split()
    marked = [path for path in DOCS.rglob("*.md") if "Written by docs/_gen.py" in path.read_text()]
    assert sorted(listed) == sorted(str(path.relative_to(DOCS)) for path in marked)
