"""Entries on disk: their format, damage, and every kind of directory that cannot be written."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import Target, compile_kernel
from teeny_compiler.cache import key, store

SM_90 = Target.cuda("sm_90")
Make = Callable[..., Any]
FAKES = Path(__file__).parent / "fakes"
ROOT_ONLY = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to mount or change user"
)
NOBODY = 65534
# <linux/prctl.h> and <linux/capability.h>
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def test_format_of_an_entry(teenyc: Any, cache_dir: Path, make_instance: Make) -> None:
    instance = make_instance()
    folder = compile_kernel(instance, SM_90).path.parent
    name = folder.name
    assert folder == cache_dir / name[:2] / name
    assert len(name) == 64
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json",
        "scale_entry_point.metadata",
        "scale_entry_point.mlir",
        "scale_entry_point.ptx",
    }
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["schema"] == 1
    assert manifest["key"] == name
    assert sorted(manifest["files"]) == [
        "scale_entry_point.metadata",
        "scale_entry_point.mlir",
        "scale_entry_point.ptx",
    ]
    assert manifest["inputs"]["id"] == instance.id
    assert manifest["inputs"]["target"] == "cuda:sm_90"
    assert manifest["inputs"]["versions"] == {
        "teenyc": "1.0",
        "triton": "9.9.9",
        "llvmlite": "absent",
    }
    assert manifest["inputs"]["options"] == {
        "fp_fusion": True,
        "ptx_version": None,
        "emit": ["mlir", "ptx"],
        "bounds_checks": False,
        "assertions": False,
        "overflow_checks": False,
        "cubin": "on",
    }
    assert stat.S_IMODE(cache_dir.stat().st_mode) == 0o700
    assert list((cache_dir / ".tmp").iterdir()) == []


def test_key_and_files_hold_no_path_of_this_machine(
    teenyc: Any, tmp_path: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = []
    for name in ("one", "two"):
        monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / name))
        folders.append(compile_kernel(make_instance(), SM_90).path.parent)
    assert folders[0].name == folders[1].name
    for folder in folders:
        for path in folder.iterdir():
            assert str(tmp_path) not in path.read_text(encoding="utf-8")


def flip_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def damage(kind: str, folder: Path) -> None:
    """Do to an entry what its name says."""
    ptx, manifest = folder / "scale_entry_point.ptx", folder / "manifest.json"
    change, _, what = kind.partition(" ")
    path = {"ptx": ptx, "manifest": manifest}.get(what, folder / "scale_entry_point.metadata")
    if change == "flipped":
        flip_bit(path)
    elif change == "truncated":
        truncate(path)
    elif change == "missing":
        path.unlink()
    elif change == "folder-as":
        path.unlink()
        path.mkdir()
    elif change == "list-as":
        path.write_bytes(b"[]")
    elif change == "emptied":
        for file in folder.iterdir():
            file.unlink()
    else:
        assert change == "file-as"
        shutil.rmtree(folder)
        folder.write_bytes(b"")


DAMAGE = (
    "flipped ptx",
    "flipped metadata",
    "flipped manifest",
    "truncated ptx",
    "truncated manifest",
    "list-as manifest",
    "missing metadata",
    "missing manifest",
    "emptied entry",
    "file-as entry",
    "folder-as ptx",
)


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_entry_is_compiled_again_with_a_warning_and_healed(
    kind: str,
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = compile_kernel(make_instance(), SM_90)
    text = made.read_text()
    damage(kind, made.path.parent)
    again = compile_kernel(make_instance(), SM_90)
    assert again.read_text() == text
    assert len(teenyc.calls()) == 2
    assert "W0921" in capsys.readouterr().err
    assert compile_kernel(make_instance(), SM_90).path == made.path
    assert len(teenyc.calls()) == 2
    assert capsys.readouterr().err == ""


def test_entry_of_another_schema_is_never_misread(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    folder = compile_kernel(make_instance(), SM_90).path.parent
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["schema"] = 2
    del manifest["digest"]
    manifest["digest"] = store.digest(key.canonical_json(manifest))
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    compile_kernel(make_instance(), SM_90)
    assert len(teenyc.calls()) == 2


# --- directories that cannot be written -----------------------------------------------------------


def assert_result_comes_with_one_warning(
    teenyc: Any, make_instance: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    """Results are right; caching is lost across processes but not within this one."""
    first = compile_kernel(make_instance(), SM_90)
    assert first.read_text().startswith("// ptx ")
    second = compile_kernel(make_instance(), SM_90)
    assert second.path == first.path
    assert len(teenyc.calls()) == 1
    other = compile_kernel(make_instance(1), SM_90)
    assert other.read_text() != first.read_text()
    said = capsys.readouterr().err
    assert said.count("warning[W0920]") == 1
    assert "TEENYC_CACHE_DIR" in said


def test_path_below_a_file_loses_only_the_caching(
    teenyc: Any,
    tmp_path: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert_result_comes_with_one_warning(teenyc, make_instance, capsys)


def drop_capabilities() -> None:
    """Make the next program's root an ordinary owner: what it may not write, it cannot."""
    libc = ctypes.CDLL(None)
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@ROOT_ONLY
@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
@pytest.mark.parametrize(("owner", "mode"), [(NOBODY, 0o755), (NOBODY, 0o700), (0, 0o500), (0, 0)])
def test_unwritable_directory_loses_only_the_caching(
    owner: int, mode: int, teenyc: Any, cache_dir: Path
) -> None:
    cache_dir.mkdir()
    os.chown(cache_dir, owner, owner)
    cache_dir.chmod(mode)
    done = subprocess.run(
        [sys.executable, str(FAKES / "compile_many.py"), "sm_90", "a", "b", "a"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=drop_capabilities,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["a", "b", "a"]
    assert lines[0][2] == lines[2][2] != lines[1][2]
    assert len(teenyc.calls()) == 2
    assert done.stderr.count("warning[W0920]") == 1
    assert "Permission denied" in done.stderr
    assert list(cache_dir.iterdir()) == []
    assert not Path(lines[0][1]).exists()  # the private folder ended with the process


@ROOT_ONLY
@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_read_only_directory_still_gives_what_it_holds(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    made = compile_kernel(make_instance("a"), SM_90)
    cache_dir.chmod(0o500)
    done = subprocess.run(
        [sys.executable, str(FAKES / "compile_many.py"), "sm_90", "a"],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=drop_capabilities,
    )
    assert done.stdout.split()[1] == str(made.path)
    assert done.stderr == ""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("mount is not permitted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write until there is no space."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 512)
    assert shutil.disk_usage(path.parent).free < 512


@ROOT_ONLY
def test_full_disk_loses_only_the_caching(
    teenyc: Any,
    small_disk: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(small_disk / "cache"))
    fill(small_disk / "ballast")
    assert_result_comes_with_one_warning(teenyc, make_instance, capsys)
    (small_disk / "ballast").unlink()
    assert compile_kernel(make_instance(2), SM_90).path.is_relative_to(small_disk)


def test_disk_that_fills_up_while_teenyc_writes_loses_only_the_caching(
    teenyc: Any, cache_dir: Path, make_instance: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    teenyc.behave("unwritable in the cache")
    made = compile_kernel(make_instance(), SM_90)
    assert made.read_text().startswith("// ptx ")
    assert len(teenyc.calls()) == 2
    assert made.path.is_relative_to(cache_dir)  # it had space again when it was published


def failing(
    real: Callable[..., Any], code: int, times: int, only: Callable[[Any], bool] = lambda _: True
) -> Callable[..., Any]:
    """`real`, after as many errors as `times` says."""
    left = [times]

    def call(path: Any, *args: Any, **kwargs: Any) -> Any:
        if left[0] > 0 and only(path):
            left[0] -= 1
            raise OSError(code, os.strerror(code), str(path))
        return real(path, *args, **kwargs)

    return call


@pytest.mark.parametrize("code", [errno.ESTALE, errno.EBUSY])
@pytest.mark.parametrize("function", ["rename", "mkdir"])
def test_errors_that_pass_are_tried_again_when_writing(
    function: str,
    code: int,
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cache_dir.mkdir()
    monkeypatch.setattr(os, function, failing(getattr(os, function), code, 2))
    made = compile_kernel(make_instance(), SM_90)
    assert made.path.is_relative_to(cache_dir)
    assert "W0920" not in capsys.readouterr().err
    compile_kernel(make_instance(), SM_90)
    assert len(teenyc.calls()) == 1


@pytest.mark.parametrize("code", [errno.EACCES, errno.ENOSPC, errno.EROFS, errno.ESTALE])
def test_rename_that_never_works_loses_only_the_caching(
    code: int,
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "rename", failing(os.rename, code, 10**6))
    assert_result_comes_with_one_warning(teenyc, make_instance, capsys)


@pytest.mark.parametrize(("times", "compiles"), [(2, 1), (10**6, 2)])
def test_stale_handles_when_reading_are_tried_again_and_then_a_miss(
    times: int,
    compiles: int,
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = compile_kernel(make_instance(), SM_90)
    only = failing(
        os.open,
        errno.ESTALE,
        times,
        lambda path: str(path).endswith(f"{made.path.parent.name}/manifest.json"),
    )
    monkeypatch.setattr(os, "open", only)
    assert compile_kernel(make_instance(), SM_90).read_text() == made.read_text()
    assert len(teenyc.calls()) == compiles


def test_lock_that_cannot_be_had_only_costs_work(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("filelock.FileLock.acquire", lambda *args, **kwargs: refuse())
    compile_kernel(make_instance(), SM_90)
    compile_kernel(make_instance(), SM_90)
    assert len(teenyc.calls()) == 1


def test_leftovers_of_killed_writers_are_swept_when_they_are_old(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    old, new = cache_dir / ".tmp" / "1-old", cache_dir / ".tmp" / "2-new"
    for folder in (old, new):
        (folder / "out").mkdir(parents=True)
    day_before_yesterday = time.time() - 2 * 24 * 3600
    os.utime(old, (day_before_yesterday, day_before_yesterday))
    compile_kernel(make_instance(), SM_90)
    assert not old.exists()
    assert new.exists()
