"""`teeny check --bounds` over the repository's kernels, over right ones and over planted faults.

It refutes no right kernel, proves four fifths of their accesses and refutes every planted fault.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bounds_extents import EXTENTS
from teeny_compiler.check import check_paths
from teeny_compiler.check.session import Summary
from teeny_macros.target import Target

pytest.importorskip("z3")

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "bounds"
FAULTS = sorted((FOLDER / "faults").glob("*.py"))
RIGHT = [
    *sorted((ROOT / "examples").glob("*.py")),
    *sorted((ROOT / "tests" / "public_style").glob("*.py")),
    FOLDER / "sound.py",
]
REFUTED = {"E0513", "E0514", "E0515"}
# Of a fault of each file; a mask that is forgotten may also let two programs meet.
CODES = {
    "collisions": {"E0515"},
    "masks": {"E0513"},
    "overflows": {"E0514"},
    "shapes": {"E0513"},
    "steps": {"E0513"},
}
MARK = re.compile(r"^# fault (\w+): ", re.MULTILINE)


def check(path: Path) -> Summary:
    return check_paths([str(path)], Target.cuda("sm_90"), bounds=True, extents=EXTENTS)


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_right_kernel_is_refuted(path: Path) -> None:
    summary = check(path)
    assert [fault.message for fault in summary.faults] == []
    assert summary.skipped == []
    verdicts = [row["verdict"] for row in summary.bounds]
    share = verdicts.count("proved") / len(verdicts)
    print(f"\n{path.stem}: {verdicts.count('proved')} of {len(verdicts)} accesses proved")
    assert share >= 0.8  # what is looked up in a table of indices cannot be proved


def test_there_are_forty_planted_faults() -> None:
    names = [name for path in FAULTS for name in MARK.findall(path.read_text(encoding="utf-8"))]
    assert len(names) == len(set(names)) >= 40


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.stem)
def test_every_planted_fault_is_refuted_at_its_line_and_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    wrong = {at for at, line in enumerate(lines, 1) if line.endswith("# wrong")}
    summary = check(path)
    found = {fault.span.line: fault for fault in summary.faults if fault.span}
    assert set(found) == wrong
    assert {fault.code for fault in found.values()} == CODES[path.stem]
    for at, name in ((text.count("\n", 0, m.start()) + 1, m[1]) for m in MARK.finditer(text)):
        stop = next((n for n in range(at + 1, len(lines)) if MARK.match(lines[n - 1])), len(lines))
        assert any(at < line <= stop for line in wrong), name
