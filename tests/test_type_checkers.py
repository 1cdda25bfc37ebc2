"""What the type checkers, the launch and Triton say, run anew: of right code and of the catalogue.

`nox -s types` runs these; test_mistakes.py reads the results that are stored.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import checkers
import mistake_matrix

pytestmark = [pytest.mark.checkers, pytest.mark.timeout(900)]

ROOT = checkers.ROOT
# Kernels as they are written from Python 3.12 on.
PYTHON_312 = '''\
"""Type parameters in brackets."""

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import (
    R1, Const, DeviceArray, Float, Num, Ptr, Rank, Tensor, WideFloat, f16, f32, i32
)


@device
def silu[F: WideFloat, R: Rank](x: Tensor[F, R]) -> Tensor[F, R]:
    return x * tl.sigmoid(x)


@kernel
def add[D: Num](x: Ptr[D], y: Ptr[D], out: Ptr[D], n: i32 | int, BLOCK: Const[int]) -> None:
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + lanes, mask=lanes < n) + tl.load(y + lanes, mask=lanes < n)
    tl.store(out + lanes, total, mask=lanes < n)


@kernel
def activate[F: WideFloat](x: Ptr[F], out: Ptr[F], scale: F | float) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, silu(tl.load(x + lanes)) * scale)


def launches(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 16, BLOCK=16)
    activate[(1,)](x, x, 0.5)


@kernel
def halved[D: Num](x: Ptr[D], out: Ptr[D]) -> None:
    tl.store(out, tl.load(x) * 0.5)  # wrong


def two_dtypes(x: DeviceArray[f32], h: DeviceArray[f16]) -> None:
    add[(1,)](x, h, x, 16, BLOCK=16)  # wrong


def leaked[D: Num, F: Float](x: Tensor[D, R1], y: Tensor[F, R1]) -> None:
    print(x + y)  # wrong
'''


def right_code() -> dict[str, str]:
    """Every file of kernels in the repository that is right and annotated."""
    paths = [
        *ROOT.glob("examples/*.py"),
        *ROOT.glob("tests/public_style_typed/*.py"),
        ROOT / "packages" / "teeny-triton" / "typing_tests" / "accepted.py",
    ]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


@pytest.mark.parametrize("checker", checkers.CHECKERS)
def test_right_code_is_not_reported(checker: str, tmp_path: Path) -> None:
    checkers.prepare(tmp_path, right_code())
    assert not list(checkers.CHECKERS[checker](tmp_path))


@pytest.mark.parametrize("checker", checkers.CHECKERS)
def test_the_syntax_of_python_312_is_checked_as_well(checker: str, tmp_path: Path) -> None:
    checkers.prepare(tmp_path, {"brackets.py": PYTHON_312}, python="3.12")
    found = {row.line for row in checkers.CHECKERS[checker](tmp_path)}
    lines = PYTHON_312.splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert found <= wrong
    assert len(found) >= {"mypy": 3, "basedpyright": 3, "ty": 2, "pyrefly": 2}[checker]


@pytest.mark.parametrize("tool", mistake_matrix.TOOLS)
def test_the_results_are_those_of_the_tool(tool: str) -> None:
    assert mistake_matrix.collect(tool) == mistake_matrix.stored()[tool]
