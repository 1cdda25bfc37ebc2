"""Every page of `explain/`: its first example raises its code, its second runs.

They run over the fake driver; `device`, `artifact`, `program`, `x`, `y` and `out` are there, as the
pages say, and `fake` is the driver itself.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import teeny_cuda
from teeny_cuda import Device, cubin
from teeny_cuda.codes import CODES
from teeny_cuda.fake_driver import FakeDriver
from teeny_macros.diagnostics import LaunchError
from teeny_macros.testing import missing_parts

if TYPE_CHECKING:
    from conftest import MakeArtifact

PAGES = Path(teeny_cuda.__file__).parent / "explain"
WARNINGS = {"E1090": "W1090"}
BLOCK = re.compile(r"^```py (\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _blocks(code: str) -> dict[str, str]:
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    found = BLOCK.findall(text)
    assert [kind for kind, _ in found] == [WARNINGS.get(code, code), "ok"]
    return dict(found)


@pytest.fixture
def names(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    # An example takes this module away; the undoing brings it back.
    monkeypatch.delitem(sys.modules, "cuda.bindings", raising=False)
    artifact = artifact_of("vector_add")
    arrays = {name: device.buffer(4, "f32") for name in ("x", "y", "out")}
    program = device.load(artifact)
    return {"device": device, "artifact": artifact, "program": program, "fake": fake, **arrays}


@pytest.mark.parametrize("code", [row.code for row in CODES if row.code not in WARNINGS])
def test_the_failing_example_raises_its_code(code: str, names: dict[str, Any]) -> None:
    source = compile(_blocks(code)[code], f"{code}.md", "exec")
    with pytest.raises(LaunchError) as caught:
        exec(source, names)
    assert caught.value.code == code
    assert missing_parts(caught.value, placed=False) == []


@pytest.mark.parametrize("code", sorted(WARNINGS))
def test_the_example_of_a_warning_warns(
    code: str,
    names: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cubin, "_told", False)
    monkeypatch.delenv("TEENY_LOG", raising=False)
    exec(compile(_blocks(code)[WARNINGS[code]], f"{code}.md", "exec"), names)
    assert f"warning[{WARNINGS[code]}]" in capsys.readouterr().err


@pytest.mark.parametrize("code", [row.code for row in CODES])
def test_the_corrected_example_runs(code: str, names: dict[str, Any]) -> None:
    exec(compile(_blocks(code)["ok"], f"{code}.md", "exec"), names)
    names["device"].synchronize()


@pytest.mark.parametrize("code", [row.code for row in CODES])
def test_the_page_is_titled_with_code_and_name(code: str) -> None:
    name = next(row.name for row in CODES if row.code == code)
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {code}: {name}\n\n## What it means\n")
