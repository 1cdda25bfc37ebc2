"""Pages of the codes of back ends and of the command: their examples do what they say.

A ```console block is run as it stands, the first command failing with the page's code and the last
one working; a kernel is compiled for the target that the page is about. What is reported is whole
in every format.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from semantic_cases import define
from teeny_macros import CompileError, Target, TeenyError
from teeny_macros.diagnostics import Diagnostic
from teeny_macros.testing import missing_parts
from teeny_triton.triton_lang import TRITON, TRITON_SHA

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "packages/teenyc/src/teenyc/explain").glob("E0[78]*.md"))
}
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```py (E\d{4}|ok)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What pip installs is tested where the errors of an environment without it are.
COMMANDS = {
    code: found[1]
    for code, text in PAGES.items()
    if (found := CONSOLE.search(text)) and not found[1].startswith("$ pip ")
}
KERNELS = {c: dict(EXAMPLE.findall(text)) for c, text in PAGES.items() if f"```py {c}\n" in text}
TARGETS = {
    "E0713": Target.cuda("sm_80"),
    "E0715": Target.cuda("sm_80"),
    "E0718": Target.cuda("sm_90"),
    "E0803": Target.cpu(),
}
# What only `teenyc --check` looks for.
CHECKED = {"E0716"}
# No line of a kernel is at fault.
WITHOUT_PLACE = {"E0706", "E0707", "E0708", "E0711"}
UNIT = """\
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Ptr, f32


@kernel
def k(x_ptr: Ptr[f32]):
    tl.store(x_ptr, 1.0)
"""


def reported(said: str) -> TeenyError:
    """What a run with `--error-format json` wrote, as an error."""
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return CompileError(*(Diagnostic.from_json(row) for row in rows))


@pytest.fixture
def needs_triton() -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")


@pytest.mark.parametrize("code", COMMANDS)
def test_the_commands_of_a_page_do_what_it_says(
    code: str, needs_triton: None, tmp_path: Path
) -> None:
    text = define(UNIT).instantiate().unit(TRITON, TRITON_SHA).render()
    (tmp_path / "unit.py").write_text(text, encoding="utf-8")
    lines = [line[2:] for line in COMMANDS[code].splitlines() if line.startswith("$ ")]
    shown = [line for line in COMMANDS[code].splitlines() if line.startswith("error")]
    status, said = run(lines[0], tmp_path)
    assert f"error[{code}]" in said or f'"{code}"' in said
    assert all(line in said for line in shown)
    if "|" in lines[0]:
        return
    assert status == 1
    _, as_json = run(f"{lines[0]} --error-format json", tmp_path)
    error = reported(as_json)
    assert [fault.code for fault in error.diagnostics] == [code]
    assert missing_parts(error, placed=code not in WITHOUT_PLACE) == []
    for line in lines[1:]:
        assert run(line, tmp_path) == (0, "")


def run(line: str, folder: Path) -> tuple[int, str]:
    """The status of a command of ours in a folder, and what it wrote."""
    before, _, command = line.rpartition("|")
    words = shlex.split(command)
    assert words[0] == "teenyc"
    done = subprocess.run(
        [sys.executable, "-m", "teenyc", *words[1:]],
        input=shlex.split(before)[1] + "\n" if before else "",
        cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("code", sorted(CHECKED))
def test_the_kernels_of_a_page_of_checks_do_what_it_says(
    code: str, needs_triton: None, tmp_path: Path
) -> None:
    command = "teenyc unit.py --check -C target-cpu=sm_90"
    for which, status in ((code, 1), ("ok", 0)):
        unit = _kernel(KERNELS[code][which]).unit(TRITON, TRITON_SHA)
        (tmp_path / "unit.py").write_text(unit.render(), encoding="utf-8")
        found, said = run(f"{command} --error-format json", tmp_path)
        assert found == status, said
        if status:
            error = reported(said)
            assert [fault.code for fault in error.diagnostics] == [code]
            assert missing_parts(error) == []


@pytest.mark.parametrize("code", sorted(KERNELS.keys() - CHECKED))
def test_the_kernels_of_a_page_do_what_it_says(code: str, needs_triton: None) -> None:
    from teeny_compiler import compile_kernel

    found: dict[str, Any] = KERNELS[code]
    with pytest.raises(TeenyError) as caught:
        compile_kernel(_kernel(found[code]), TARGETS[code])
    assert [fault.code for fault in caught.value.diagnostics] == [code]
    assert missing_parts(caught.value) == []
    compile_kernel(_kernel(found["ok"]), TARGETS[code])


def _kernel(text: str) -> Any:
    name = re.findall(r"^def (\w+)", text, re.MULTILINE)[-1]
    return define(f"{text}\nk = {name}\n").instantiate()
