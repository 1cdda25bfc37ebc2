"""The pages of the codes: a failing example raises exactly its code, a corrected one runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from teeny_compiler import codes

PAGES = sorted(Path(codes.__file__).with_name("explain").glob("*.md"))
FENCE = re.compile(r"^```py (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(found[1], found[2], id=f"{page.stem}-{found[1]}")
    for page in PAGES
    for found in FENCE.finditer(page.read_text(encoding="utf-8"))
]
COMPILES, READS = "build_bundle", "Assembler"
_REPORT = """
import runpy, sys
try:
    runpy.run_path(sys.argv[1])
except Exception as error:
    if not hasattr(error, "diagnostics"):
        raise
    from teeny_macros.testing import missing_parts
    print(error.code, *missing_parts(error, placed=False))
"""


def test_each_row_has_a_page_with_its_name() -> None:
    rows = {row.code: row for row in codes.CODES}
    assert {page.stem for page in PAGES} == set(rows)
    for page in PAGES:
        first = page.read_text(encoding="utf-8").splitlines()[0]
        assert first == f"# {page.stem}: {rows[page.stem].name}"


@pytest.mark.skipif(sys.platform != "linux", reason="the pages show Linux's folders")
@pytest.mark.parametrize(("expected", "text"), BLOCKS)
def test_example_does_what_its_page_says(expected: str, text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.py"
    page.write_text(text, encoding="utf-8")
    if COMPILES in text or READS in text:
        pytest.importorskip("teenyc")
    if "stages_of" in text:
        pytest.importorskip("typer")
    if expected == "E0981" and find_spec("triton") is None and shutil.which("ptxas") is None:
        pytest.skip("ptxas is not installed")
    done = subprocess.run(
        [sys.executable, "-c", _REPORT, str(page)],
        env={**os.environ, "TEENY_LOG": "quiet"} if COMPILES in text else None,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if expected == "ok":
        assert done.stdout == ""
        assert done.stderr == ""
    elif expected.startswith("W"):
        assert f"warning[{expected}]" in done.stderr
    else:
        assert done.stdout == f"{expected}\n"
