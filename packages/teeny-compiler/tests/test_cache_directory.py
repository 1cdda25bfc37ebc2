"""The default cache directory is shared ground: used only when nobody else can write it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import Target, compile_kernel, default_cache_dir
from teeny_compiler.cache import directory
from teeny_macros.diagnostics import TeenyError

ROOT_ONLY = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to act as another user"
)
NOBODY = 65534


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in the place of /tmp."""
    folder = tmp_path / "ground"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(directory, "shared_folder", lambda: str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def own(ground: Path) -> Path:
    return ground / f"teenyc_cache-{os.geteuid()}"


def test_default_is_teenyc_cache_of_mode_0700(ground: Path) -> None:
    assert default_cache_dir() == ground / "teenyc_cache"
    assert stat.S_IMODE((ground / "teenyc_cache").stat().st_mode) == 0o700


def test_default_lies_in_tmp() -> None:
    assert directory.shared_folder() == "/tmp" or not Path("/tmp").is_dir()


def test_odd_umask_does_not_matter(ground: Path) -> None:
    before = os.umask(0o777)
    try:
        found = default_cache_dir()
    finally:
        os.umask(before)
    assert stat.S_IMODE(found.stat().st_mode) == 0o700


def test_directory_that_is_ours_alone_is_used_again(ground: Path) -> None:
    (ground / "teenyc_cache").mkdir(mode=0o755)
    assert default_cache_dir() == ground / "teenyc_cache"


def test_planted_symbolic_link_is_not_followed(ground: Path, tmp_path: Path) -> None:
    (tmp_path / "trap").mkdir()
    (ground / "teenyc_cache").symlink_to(tmp_path / "trap")
    assert default_cache_dir() == own(ground)
    assert list((tmp_path / "trap").iterdir()) == []


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_directory_that_others_can_write_is_not_used(mode: int, ground: Path) -> None:
    (ground / "teenyc_cache").mkdir()
    (ground / "teenyc_cache").chmod(mode)
    assert default_cache_dir() == own(ground)


def test_file_in_its_place_is_not_used(ground: Path) -> None:
    (ground / "teenyc_cache").write_text("", encoding="utf-8")
    assert default_cache_dir() == own(ground)


@ROOT_ONLY
def test_directory_of_another_user_is_not_used(ground: Path) -> None:
    (ground / "teenyc_cache").mkdir(mode=0o700)
    os.chown(ground / "teenyc_cache", NOBODY, NOBODY)
    assert default_cache_dir() == own(ground)


def test_private_directory_with_one_warning_when_both_are_planted(
    ground: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (ground / "teenyc_cache").symlink_to("/nowhere")
    own(ground).write_text("", encoding="utf-8")
    first, second = default_cache_dir(), default_cache_dir()
    assert first == second
    assert first.parent.parent == ground
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    said = capsys.readouterr().err
    assert said.count("warning[W0920]") == 1
    assert "is a symbolic link" in said
    assert "export TEENYC_CACHE_DIR=" in said


def test_private_directory_works_and_ends_with_the_process(tmp_path: Path) -> None:
    script = (
        "from teeny_compiler.cache import directory\n"
        f"import tempfile; tempfile.tempdir = {str(tmp_path)!r}\n"
        "print(directory.private_folder())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    path = Path(done.stdout.strip())
    assert path.parent == tmp_path
    assert not path.exists()


def test_no_folder_at_all_is_a_coded_error(ground: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(TeenyError) as caught:
        default_cache_dir()
    assert caught.value.code == "E0922"


def test_variable_names_the_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "mine"))
    assert default_cache_dir() == tmp_path / "mine"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TEENYC_CACHE_DIR", "~/mine")
    assert default_cache_dir() == tmp_path / "mine"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEENYC_CACHE_DIR", "mine")
    assert default_cache_dir() == tmp_path / "mine"


def test_empty_variable_counts_as_unset(ground: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENYC_CACHE_DIR", "")
    assert default_cache_dir() == ground / "teenyc_cache"


def test_linked_directory_of_the_users_choice_works(
    teenyc: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_instance: Callable[..., Any],
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "link"))
    monkeypatch.chdir(tmp_path / "link")
    compile_kernel(make_instance(), Target.cuda("sm_90"))
    compile_kernel(make_instance(), Target.cuda("sm_90"))
    assert len(teenyc.calls()) == 1
