"""Every page of `explain/`: its first example raises its code, its second runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import teeny_kernels
from teeny_kernels.codes import CODES, KernelError

PAGES = Path(teeny_kernels.__file__).parent / "explain"
BLOCK = re.compile(r"^```py (\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("code", [row.code for row in CODES])
def test_the_examples_of_a_page_raise_its_code_and_run(code: str) -> None:
    blocks = dict(BLOCK.findall((PAGES / f"{code}.md").read_text(encoding="utf-8")))
    assert list(blocks) == [code, "ok"]
    names: dict[str, Any] = {}
    with pytest.raises(KernelError, match=code) as caught:
        exec(blocks[code], names)
    assert "help:" in str(caught.value)
    exec(blocks["ok"], {})
