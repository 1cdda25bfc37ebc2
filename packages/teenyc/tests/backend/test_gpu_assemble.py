"""Which ptxas is asked for machine code, how, and what becomes of what it answers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from teeny_macros.unit import Unit
from teenyc.backend.gpu import assemble, libtriton
from teenyc.backend.gpu.versions import RELEASES

# A ptxas of a few lines: it notes what it is asked, and does as its name says.
TOOL = """#!/bin/sh
echo "$0 $*" >> {log}
for last; do :; done
{action}
"""
_OLD = "ptxas k.ptx, line 1; fatal   : Unsupported .version 9.9; current is 8.7"
_UNKNOWN = "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'"
_REFUSED = "ptxas $last, line 7; error   : Not a name of any known instruction: mull"
ACTIONS = {
    "works": 'printf "machine code" > "$last"',
    "old": f'echo "{_OLD}"; exit 255',
    "unknown": f'echo "{_UNKNOWN}"; exit 255',
    "refuses": f'echo "{_REFUSED}" >&2; exit 255',
    "dies": "kill -9 $$",
    "is silent": "exit 1",
}
PTX = """.version 8.0
.target {target}
.address_size 64
.visible .entry k_entry_point(
)
{{
	.loc	1 3 5
	mull.f32 %f1, %f2, %f3;
	.file	1 "k.py"
}}
"""
UNIT = Unit("k", (), "", "0" * 64)
MakeTools = Callable[..., Path]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeTools:
    """Puts tools into a wheel, by what they do; the file that comes back notes their runs."""
    monkeypatch.delenv("TEENYC_PTXAS", raising=False)
    log = tmp_path / "log"
    log.touch()

    def make(**actions: str) -> Path:
        folder = tmp_path / "triton" / "backends" / "nvidia" / "bin"
        folder.mkdir(parents=True)
        for name, action in actions.items():
            path = folder / name.replace("_", "-")
            path.write_text(TOOL.format(log=log, action=ACTIONS[action]), encoding="utf-8")
            path.chmod(0o755)
        monkeypatch.setattr(libtriton, "find_folder", lambda: tmp_path / "triton")
        return log

    return make


def run(arch: str, minor: int, *, fusion: bool = True) -> assemble.Assembled:
    text = PTX.format(target=arch + ("a" if arch >= "sm_90" or len(arch) > 5 else ""))
    return assemble.assemble(text, UNIT, arch, RELEASES[3, minor], fusion=fusion)


def asked(log: Path) -> list[str]:
    """The name of each tool that ran, with its options."""
    rows = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    return [" ".join([Path(row[0]).name, *row[1:-3]]) for row in rows]


@pytest.mark.parametrize(
    ("arch", "minor", "command"),
    [
        ("sm_80", 6, "ptxas -lineinfo --gpu-name=sm_80"),
        ("sm_90", 6, "ptxas -lineinfo --gpu-name=sm_90a"),
        ("sm_100", 6, "ptxas-blackwell -lineinfo --gpu-name=sm_100a"),
        ("sm_90", 8, "ptxas -lineinfo --regAllocOptLevel=2 --gpu-name=sm_90a"),
        ("sm_90", 9, "ptxas-blackwell -lineinfo --regAllocOptLevel=2 --gpu-name=sm_90a"),
        ("sm_80", 9, "ptxas -lineinfo --regAllocOptLevel=2 --gpu-name=sm_80"),
    ],
)
def test_the_tool_and_its_options_are_tritons(
    arch: str, minor: int, command: str, tools: MakeTools
) -> None:
    log = tools(ptxas="works", ptxas_blackwell="works")
    assert run(arch, minor).data == b"machine code"
    assert asked(log) == [command]


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton's own text")
def test_the_table_says_what_the_installed_triton_does() -> None:
    spec = importlib.util.find_spec("triton")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    major, minor, *_ = libtriton.find_version(folder).split(".")
    text = (folder / "backends/nvidia/compiler.py").read_text(encoding="utf-8")
    release = RELEASES[int(major), int(minor)]
    assert ("--regAllocOptLevel=2" in text) == bool(release.ptxas_options)
    first = 90 if "if arch < 90:\n        return knobs.nvidia.ptxas\n" in text else 100
    assert release.first_of_new_ptxas == first
    assert first == 90 or "knobs.nvidia.ptxas_blackwell if arch >= 100 else" in text


def test_without_fusion_ptxas_fuses_nothing(tools: MakeTools) -> None:
    log = tools(ptxas="works")
    run("sm_80", 6, fusion=False)
    assert asked(log) == ["ptxas -lineinfo --fmad=false --gpu-name=sm_80"]


@pytest.mark.parametrize("reason", ["old", "unknown", "dies", "is silent"])
def test_where_one_tool_cannot_the_other_is_asked(reason: str, tools: MakeTools) -> None:
    log = tools(ptxas=reason, ptxas_blackwell="works")
    assert run("sm_90", 6).data == b"machine code"
    assert len(asked(log)) == 2


@pytest.mark.parametrize("reason", ["old", "unknown", "dies", "is silent"])
def test_where_no_tool_can_there_is_no_machine_code(reason: str, tools: MakeTools) -> None:
    tools(ptxas=reason, ptxas_blackwell=reason)
    made = run("sm_90", 6)
    assert made[:2] == (b"", "")
    status = {"dies": "ended with status -9", "is silent": "ended with status 1"}
    assert made.failed.endswith(status.get(reason, ""))
    assert bool(made.failed) == (reason in status)


def test_without_tools_there_is_no_machine_code(tools: MakeTools) -> None:
    tools()
    assert run("sm_90", 6) == (b"", "", "")


def test_a_tool_may_be_named(
    tools: MakeTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tools(ptxas="dies")
    own = tmp_path / "mine"
    own.write_text(TOOL.format(log=log, action=ACTIONS["works"]), encoding="utf-8")
    own.chmod(0o755)
    monkeypatch.setenv("TEENYC_PTXAS", str(own))
    assert run("sm_90", 6).data == b"machine code"
    assert [row.partition(" ")[0] for row in asked(log)] == ["mine"]
    monkeypatch.setenv("TEENYC_PTXAS", str(tmp_path / "nothing"))
    assert run("sm_90", 6) == (b"", "", "")
    own.chmod(0o600)
    monkeypatch.setenv("TEENYC_PTXAS", str(own))
    assert "Permission denied" in run("sm_90", 6).failed


def test_what_is_refused_is_not_asked_again_and_has_a_place(tools: MakeTools) -> None:
    log = tools(ptxas="refuses", ptxas_blackwell="works")
    made = run("sm_90", 6)
    assert not made.data
    assert len(asked(log)) == 1
    error = assemble.describe_refusal(PTX.format(target="sm_90a"), made.refused, UNIT)
    (found,) = error.diagnostics
    assert (found.code, found.labels[0].span.line) == ("E0718", 3)
    assert found.message.endswith("Not a name of any known instruction: mull")
    assert "teenyc-" not in str(error)  # no folder of this run


def test_temporary_files_go_where_they_may(
    tools: MakeTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools(ptxas="works")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    assert run("sm_90", 6).data
    assert list(folder.iterdir()) == []
    monkeypatch.setenv("TMPDIR", str(folder / "absent"))
    assert run("sm_90", 6).data
