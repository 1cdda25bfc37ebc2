"""Every page of `explain/`: its first example raises its code, its second runs.

`device`, `artifact`, `program`, `x` and `out` are there, as the pages say. Pages on native code
have the compiled device.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_cpu
from teeny_cpu import Device, Interpreter, interpreted
from teeny_cpu.codes import CODES
from teeny_macros.diagnostics import LaunchError
from teeny_macros.testing import missing_parts

if TYPE_CHECKING:
    from conftest import MakeArtifact, MakeNative, Recorder

PAGES = Path(teeny_cpu.__file__).parent / "explain"
BLOCK = re.compile(r"^```py (\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PARAMS = [("x_ptr", "pointer", "f32"), ("out_ptr", "pointer", "f32"), ("n", "scalar", "i32")]


def _blocks(code: str) -> dict[str, str]:
    found = BLOCK.findall((PAGES / f"{code}.md").read_text(encoding="utf-8"))
    assert [kind for kind, _ in found] == [code, "ok"]
    return dict(found)


@pytest.fixture
def names(
    device: Interpreter,
    artifact_of: MakeArtifact,
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    native: MakeNative,
    request: pytest.FixtureRequest,
) -> dict[str, Any]:
    # An example may take the interpreter away.
    monkeypatch.setattr(interpreted, "_loaders", interpreted._loaders.copy())
    monkeypatch.setattr(interpreted, "GROUP", interpreted.GROUP)
    monkeypatch.setenv("TEENY_CPU_THREADS", "1")
    arrays = {name: np.zeros(4, np.float32) for name in ("x", "out")}
    if request.node.callspec.params["code"] < "E1119":
        artifact = artifact_of(PARAMS)
        return {"device": device, "artifact": artifact, "program": device.load(artifact), **arrays}
    compiled = Device()
    artifact = native("copy")
    found = {"device": compiled, "artifact": artifact, "program": compiled.load(artifact)}
    return {
        **found,
        "foreign": native("foreign"),
        "checked": compiled.load(native("checked")),
        "asserting": compiled.load(native("asserting")),
        **arrays,
    }


@pytest.mark.parametrize("code", [row.code for row in CODES])
def test_the_failing_example_raises_its_code(code: str, names: dict[str, Any]) -> None:
    source = compile(_blocks(code)[code], f"{code}.md", "exec")
    with pytest.raises(LaunchError) as caught:
        exec(source, names)
    assert caught.value.code == code
    assert missing_parts(caught.value, placed=False) == []


@pytest.mark.parametrize("code", [row.code for row in CODES])
def test_the_corrected_example_runs(code: str, names: dict[str, Any]) -> None:
    exec(compile(_blocks(code)["ok"], f"{code}.md", "exec"), names)


@pytest.mark.parametrize("code", [row.code for row in CODES])
def test_the_page_is_titled_with_code_and_name(code: str) -> None:
    name = next(row.name for row in CODES if row.code == code)
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {code}: {name}\n\n## What it means\n")
