"""find_teenyc: the order of the places, what is refused, and what the error lists."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from teeny_compiler import find_teenyc, places, toolchain
from teeny_macros.diagnostics import TeenyError, ToolchainError


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty scripts folder of this interpreter, and an empty data directory."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    monkeypatch.setattr(places, "scripts_folders", lambda: (str(folder),))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return folder


@pytest.fixture
def chains(tmp_path: Path) -> Path:
    """The folder of named toolchains."""
    return tmp_path / "data" / "teeny" / "toolchains"


def add(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def add_chain(chains: Path, name: str) -> Path:
    return add(Path(places.executable_in(str(chains / name))))


def refusal() -> TeenyError:
    with pytest.raises(ToolchainError) as caught:
        find_teenyc()
    return caught.value


def test_teenyc_path_comes_first(
    scripts: Path, chains: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(scripts / "teenyc")
    add_chain(chains, "teenyc-1")
    named = add(tmp_path / "elsewhere" / "compiler")
    monkeypatch.setenv("TEENYC_PATH", str(named))
    monkeypatch.setenv("TEENYC_TOOLCHAIN", "teenyc-1")
    assert find_teenyc().path == str(named)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        ("absent", "does not exist"),
        ("folder", "is a directory"),
        ("plain", "is not executable"),
        ("dangling", "is a symbolic link to nowhere"),
    ],
)
def test_teenyc_path_must_be_an_executable_file(
    make: str, reason: str, scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(scripts / "teenyc")  # never a silent second choice
    path = tmp_path / "named"
    if make == "folder":
        path.mkdir()
    elif make == "plain":
        path.write_text("", encoding="utf-8")
    elif make == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    monkeypatch.setenv("TEENYC_PATH", str(path))
    error = refusal()
    assert error.code == "E0903"
    assert error.diagnostics[0].message == f"TEENYC_PATH is `{path}`, which {reason}"


def test_empty_variables_count_as_unset(scripts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = add(scripts / "teenyc")
    monkeypatch.setenv("TEENYC_PATH", "")
    monkeypatch.setenv("TEENYC_TOOLCHAIN", "")
    assert find_teenyc().path == str(own)


def test_named_toolchain_wins_over_the_chosen_default(
    scripts: Path, chains: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(scripts / "teenyc")
    first, second = add_chain(chains, "teenyc-1"), add_chain(chains, "teenyc-2")
    toolchain.set_default("teenyc-1")
    assert find_teenyc().path == str(first)
    monkeypatch.setenv("TEENYC_TOOLCHAIN", "teenyc-2")
    assert find_teenyc().path == str(second)


def test_name_of_a_toolchain_that_is_not_there_lists_those_that_are(
    scripts: Path, chains: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(scripts / "teenyc")
    add_chain(chains, "teenyc-1")
    monkeypatch.setenv("TEENYC_TOOLCHAIN", "../teenyc-1")
    error = refusal()
    assert error.code == "E0904"
    assert "`teenyc-1`" in " ".join(error.diagnostics[0].notes)
    with pytest.raises(ToolchainError):
        toolchain.set_default("teenyc-9")
    assert toolchain.default_name() is None


def test_scripts_folder_alone_is_found(scripts: Path) -> None:
    own = add(scripts / "teenyc")
    assert find_teenyc().path == str(own)


def test_single_toolchain_in_the_data_directory_is_found(scripts: Path, chains: Path) -> None:
    only = add_chain(chains, "my-teenyc")
    add_chain(chains, "something-else")
    assert find_teenyc().path == str(only)


def test_several_are_an_error_with_the_commands_that_settle_it(scripts: Path, chains: Path) -> None:
    own = add(scripts / "teenyc")
    add_chain(chains, "teenyc-1")
    other = add_chain(chains, "teenyc-2")
    error = refusal()
    assert error.code == "E0902"
    found = error.diagnostics[0]
    assert found.message.startswith("3 teenyc toolchains were found")
    assert f"for this one: `export TEENYC_PATH={own}`" in found.helps
    assert f"for this one: `export TEENYC_PATH={other}`" in found.helps
    assert "or for good: `teeny toolchain default teenyc-2`" in found.helps
    toolchain.set_default("teenyc-2")
    assert find_teenyc().path == str(other)


def test_none_lists_every_place_and_what_it_holds(
    scripts: Path, chains: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = add(tmp_path / "bin" / "teenyc")
    monkeypatch.setenv("PATH", str(on_path.parent))
    add_chain(chains, "other")
    (chains / "teenyc-broken").mkdir()
    error = refusal()
    assert error.code == "E0901"
    notes = error.diagnostics[0].notes
    assert notes == [
        "TEENYC_PATH: not set",
        "TEENYC_TOOLCHAIN: not set",
        f"{chains / 'default'}: no default is chosen",
        f"{scripts / 'teenyc'}: does not exist",
        f"{chains / 'other'}: its name does not contain `teenyc`",
        f"{chains / 'teenyc-broken'}: does not exist",
        f"PATH is not searched, though it has {on_path}",
    ]
    assert any("pip install 'teenyc[cuda]'" in help_ for help_ in error.diagnostics[0].helps)


def test_data_directory_is_the_one_of_platformdirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in ("", " ", str(tmp_path)):
        monkeypatch.setenv("XDG_DATA_HOME", value)
        expected = Path(platformdirs.user_data_dir("teeny", appauthor=False)) / "toolchains"
        assert Path(places.toolchains_folder()) == expected


def test_scripts_folder_is_where_this_interpreter_has_its_commands() -> None:
    assert Path(sys.executable).parent in {Path(folder) for folder in places.scripts_folders()}


def test_toolchain_is_a_value(scripts: Path) -> None:
    own = add(scripts / "teenyc")
    first: Any = find_teenyc()
    assert first == find_teenyc()
    assert hash(first) == hash(find_teenyc())
    assert first.prefix == str(own.parent.parent)
