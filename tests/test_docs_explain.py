"""Every code of the table in the documentation has a page that `teenyc --explain` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from teenyc.cli import main

TABLE = Path(__file__).parents[1] / "docs" / "error-codes.md"
ROWS = re.findall(
    r"^\| ([EI]\d{4}) \| ([\w-]+) \|", TABLE.read_text(encoding="utf-8"), re.MULTILINE
)


def test_the_table_has_every_block_that_errors_send_readers_to() -> None:
    assert {code[:3] for code, _ in ROWS} >= {"E00", "E01", "E04", "E09", "E10", "E11", "I00"}


@pytest.mark.parametrize(("code", "name"), ROWS, ids=[code for code, _ in ROWS])
def test_explain_prints_the_page_of_a_code(
    code: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--explain", code]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"# {code}")
    assert name in printed.splitlines()[0]
    assert main(["--explain", code.lower()]) == 0
    assert capsys.readouterr().out == printed
