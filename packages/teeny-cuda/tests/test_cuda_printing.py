"""What kernels print comes out in order with what Python prints, also into a pipe."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "printing.py"


def _lines(*arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _check(lines: list[str]) -> None:
    numbers = [re.findall(r"\d+", line)[-1] for line in lines if "python" not in line]
    assert numbers[:5] == ["21", "22", "23", "24", "25"]
    kinds = ["python" if "python" in line else "kernel" for line in lines]
    assert kinds[:15] == ["python", "kernel", "python"] * 5, lines
    assert re.search(r"\b99\b", lines[15]), "what nobody waited for comes at the end"
    assert len(lines) == 16


@pytest.mark.skipif(sys.platform == "win32", reason="C's buffers of the driver are not ours there")
def test_prints_of_kernels_come_in_order() -> None:
    _check(_lines("fake"))


@pytest.mark.gpu
def test_prints_of_kernels_come_in_order_on_the_gpu() -> None:
    lines: list[str] = []
    for line in _lines():  # every thread may print the same line
        if not lines or line != lines[-1]:
            lines.append(line)
    _check(lines)
