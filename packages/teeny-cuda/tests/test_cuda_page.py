"""The Python of the documentation's page about GPUs runs as it stands there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from teeny_cuda import Device

PAGE = Path(__file__).resolve().parents[3] / "docs" / "on-a-gpu.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _text() -> str:
    if not PAGE.exists():  # the tests of an installed package lie alone
        pytest.skip("the documentation is not here")
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(found) >= 7
    return "\n".join(found)


def test_the_page_is_python() -> None:
    compile(_text(), str(PAGE), "exec")


@pytest.mark.gpu
def test_the_page_runs_on_the_gpu(
    gpu: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "page.py"
    script.write_text(_text(), encoding="utf-8")
    runpy.run_path(str(script))
    printed = capsys.readouterr().out
    assert "GPU-" in printed
    assert "median us" in printed
