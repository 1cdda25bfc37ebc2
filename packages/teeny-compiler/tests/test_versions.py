"""Versions of a toolchain are read from its environment where it has one, else asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import versions
from teeny_compiler.toolchain import Toolchain


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)


def environment(folder: Path, *distributions: str) -> Path:
    """A made-up virtual environment with a teenyc command."""
    library = folder / "lib" / "python3.11" / "site-packages"
    for distribution in distributions:
        (library / f"{distribution}.dist-info").mkdir(parents=True)
    command = folder / "bin" / "teenyc"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    command.chmod(0o755)
    return command


def test_environment_states_its_versions_without_a_process(tmp_path: Path) -> None:
    command = environment(tmp_path, "teenyc-0.3.0", "triton-3.9.0", "tritonclient-9.0", "numpy-2.0")
    found = versions.versions_of(Toolchain(str(command), "test"))
    assert found == (("teenyc", "0.3.0"), ("triton", "3.9.0"), ("llvmlite", "absent"))


def test_link_to_a_command_leads_to_its_environment(tmp_path: Path) -> None:
    command = environment(tmp_path / "real", "teenyc-0.3.0")
    link = tmp_path / "bin" / "teenyc"
    link.parent.mkdir()
    link.symlink_to(command)
    assert dict(versions.versions_of(Toolchain(str(link), "test")))["teenyc"] == "0.3.0"


def test_new_back_end_in_the_environment_is_seen_at_once(tmp_path: Path) -> None:
    command = environment(tmp_path, "teenyc-0.3.0", "triton-3.8.0")
    before = versions.versions_of(Toolchain(str(command), "test"))
    library = tmp_path / "lib" / "python3.11" / "site-packages"
    (library / "triton-3.8.0.dist-info").rename(library / "triton-3.9.0.dist-info")
    assert versions.versions_of(Toolchain(str(command), "test")) != before


def test_edited_source_of_an_editable_install_is_another_version(tmp_path: Path) -> None:
    project = tmp_path / "project"
    module = project / "src" / "teenyc" / "cli.py"
    module.parent.mkdir(parents=True)
    module.write_text("a = 1\n", encoding="utf-8")
    command = environment(tmp_path, "teenyc-0.3.0")
    info = tmp_path / "lib" / "python3.11" / "site-packages" / "teenyc-0.3.0.dist-info"
    text = f'{{"url": "{project.as_uri()}", "dir_info": {{"editable": true}}}}'
    (info / "direct_url.json").write_text(text, encoding="utf-8")
    chain = Toolchain(str(command), "test")
    before = dict(versions.versions_of(chain))["teenyc"]
    assert before.startswith("0.3.0+src.")
    assert dict(versions.versions_of(chain))["teenyc"] == before
    module.write_text("a = 10\n", encoding="utf-8")
    assert dict(versions.versions_of(chain))["teenyc"] != before


def test_teenyc_that_pythonpath_puts_before_the_installed_one_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "tree" / "teenyc" / "__init__.py"
    module.parent.mkdir(parents=True)
    module.write_text("a = 1\n", encoding="utf-8")
    chain = Toolchain(str(environment(tmp_path, "teenyc-0.3.0")), "test")
    assert dict(versions.versions_of(chain))["teenyc"] == "0.3.0"
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'nothing'}{os.pathsep}{tmp_path / 'tree'}")
    before = dict(versions.versions_of(chain))["teenyc"]
    assert before.startswith("0.3.0+src.")
    module.write_text("a = 10\n", encoding="utf-8")
    assert dict(versions.versions_of(chain))["teenyc"] != before
    # A toolchain that stands apart does not see PYTHONPATH.
    assert dict(versions.versions_of(chain._replace(name="test")))["teenyc"] == "0.3.0"


def test_executable_without_an_environment_is_asked_and_remembered(
    teenyc: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = Toolchain(str(teenyc.path), "test")
    memory = str(tmp_path / "memory")
    found = versions.versions_of(chain, memory)
    assert found == (("teenyc", "1.0"), ("triton", "9.9.9"), ("llvmlite", "absent"))
    monkeypatch.setattr(versions, "_answers", {})
    assert versions.versions_of(chain, memory) == found
    assert len(teenyc.calls("version")) == 1
    for path in Path(memory).iterdir():
        path.write_text("{broken", encoding="utf-8")
    monkeypatch.setattr(versions, "_answers", {})
    assert versions.versions_of(chain, memory) == found
    assert len(teenyc.calls("version")) == 2


def test_file_that_is_new_or_gone_in_an_editable_install_is_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "teenyc" / "inner"
    source.mkdir(parents=True)
    (source / "one.py").write_text("a = 1\n", encoding="utf-8")
    (source / "loop").symlink_to(tmp_path / "teenyc")
    for path in (source, source.parent):
        os.utime(path, (1, 1))  # long ago: its listing is kept
    before = versions._state_of(str(tmp_path))
    assert versions._state_of(str(tmp_path)) == before
    (source / "two.py").write_text("b = 1\n", encoding="utf-8")
    with_two = versions._state_of(str(tmp_path))
    assert with_two != before
    (source / "two.py").unlink()
    assert versions._state_of(str(tmp_path)) == before
