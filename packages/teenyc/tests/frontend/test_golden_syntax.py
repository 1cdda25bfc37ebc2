"""Each file of golden/syntax is a kernel, in its leading comments, and the MLIR that it becomes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parents[1] / "golden" / "syntax"
CASES = sorted(FOLDER.glob("*.mlir"))


def kernel_text(text: str) -> str:
    """The kernel in the leading comments."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[3:])
    return "\n".join(lines) + "\n"


def test_there_are_cases() -> None:
    assert len(CASES) > 20


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_kernel_becomes_the_mlir_below_it(
    path: Path, mlir_of: Callable[..., str], *, update_golden: bool
) -> None:
    text = path.read_text(encoding="utf-8")
    kernel = kernel_text(text)
    head = "".join(f"// {line}".rstrip() + "\n" for line in kernel.splitlines())
    found = head + mlir_of(kernel)
    if update_golden:
        path.write_text(found, encoding="utf-8")
    assert found == text or update_golden
