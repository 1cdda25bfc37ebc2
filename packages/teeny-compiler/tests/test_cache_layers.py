"""Caches of others: read-only directories that come first, and a remote one that comes last."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import Target, compile_kernel
from teeny_compiler.cache import Cache, remote
from teeny_macros.diagnostics import TeenyError

SM_90 = Target.cuda("sm_90")
Make = Callable[..., Any]


@pytest.fixture
def layer(
    teenyc: Any, tmp_path: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A directory with the kernels 0 and 1, which nobody may write to."""
    path = tmp_path / "layer"
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(path))
    for variant in (0, 1):
        compile_kernel(make_instance(variant), SM_90)
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("TEENYC_CACHE_LAYERS", f"{os.pathsep}{path}")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_layer_comes_first_and_nothing_is_written_to_it(
    layer: Path, teenyc: Any, tmp_path: Path, make_instance: Make
) -> None:
    before, count = contents(layer), len(teenyc.calls())
    made = compile_kernel(make_instance(1), SM_90)
    assert made.path.is_relative_to(layer)
    assert len(teenyc.calls()) == count
    new = compile_kernel(make_instance(2), SM_90)
    assert new.path.is_relative_to(tmp_path / "own")
    assert contents(layer) == before


def test_what_a_device_makes_of_a_layers_kernel_is_kept_in_the_own_cache(
    layer: Path, teenyc: Any, tmp_path: Path, make_instance: Make
) -> None:
    foreign = compile_kernel(make_instance(0), SM_90)
    own = compile_kernel(make_instance(5), SM_90)
    assert foreign.side_folder == tmp_path / "own" / ".cubins" / foreign.path.parent.name
    assert own.side_folder == own.path.parent


def test_a_damaged_entry_of_a_layer_is_compiled_into_the_own_cache(
    layer: Path,
    teenyc: Any,
    tmp_path: Path,
    make_instance: Make,
    capsys: pytest.CaptureFixture[str],
) -> None:
    foreign = compile_kernel(make_instance(0), SM_90)
    good = foreign.read_text()
    foreign.path.write_text("flipped", encoding="utf-8")
    made = compile_kernel(make_instance(0), SM_90)
    assert made.path.is_relative_to(tmp_path / "own")
    assert made.read_text() == good
    assert "warning[W0921]" in capsys.readouterr().err
    assert foreign.path.read_text(encoding="utf-8") == "flipped"


def test_a_layer_serves_a_machine_without_a_compiler(
    layer: Path, teenyc: Any, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEENYC_PATH")
    monkeypatch.setenv("XDG_DATA_HOME", str(layer.parent / "none"))
    monkeypatch.setattr("teeny_compiler.places.scripts_folders", tuple)
    assert compile_kernel(make_instance(1), SM_90).path.is_relative_to(layer)
    with pytest.raises(TeenyError) as caught:
        compile_kernel(make_instance(2), SM_90)
    assert caught.value.code == "E0901"


def test_a_layer_that_is_not_there_is_one_warning(
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TEENYC_CACHE_LAYERS", "/no/such/layer")
    for variant in (0, 1):
        compile_kernel(make_instance(variant), SM_90)
    assert capsys.readouterr().err.count("warning[W0924]") == 1


# --- the remote layer -----------------------------------------------------------------------------


@pytest.fixture(params=["memory", "file"])
def url(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The URL of an empty remote cache, named in the environment."""
    fsspec = pytest.importorskip("fsspec")
    found = "memory://teenyc" if request.param == "memory" else f"file://{tmp_path}/remote"
    monkeypatch.setenv("TEENYC_CACHE_REMOTE", found)
    monkeypatch.setattr(remote, "_given_up", set())
    system, path = fsspec.core.url_to_fs(found)
    yield found
    if system.exists(path):
        system.rm(path, recursive=True)


def blobs(url: str) -> dict[str, bytes]:
    """The blobs by path."""
    import fsspec

    system, path = fsspec.core.url_to_fs(url)
    return {name: system.cat_file(name) for name in system.find(path)}


def another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "another machine"
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(path))
    return path


def test_what_one_machine_compiles_another_finds(
    url: str,
    teenyc: Any,
    tmp_path: Path,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = compile_kernel(make_instance(), SM_90)
    key = first.path.parent.name
    (name,) = blobs(url)
    assert name.endswith(f"/{key[:2]}/{key}.entry")
    other = another_machine(tmp_path, monkeypatch)
    second = compile_kernel(make_instance(), SM_90)
    assert second.path.is_relative_to(other)
    assert second.read_text() == first.read_text()
    assert contents(second.path.parent) == contents(first.path.parent)
    assert len(teenyc.calls()) == 1
    compile_kernel(make_instance(), SM_90, force=True)
    assert len(teenyc.calls()) == 2


@pytest.mark.parametrize("damage", [b"", b"teeny-entry 1\n{}\n", b"short"])
def test_a_blob_that_is_not_whole_is_compiled_and_replaced(
    damage: bytes,
    url: str,
    teenyc: Any,
    tmp_path: Path,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import fsspec

    good = compile_kernel(make_instance(), SM_90).read_text()
    ((name, content),) = blobs(url).items()
    bad = content[:-7] if damage == b"short" else damage
    fsspec.core.url_to_fs(url)[0].pipe_file(name, bad)
    another_machine(tmp_path, monkeypatch)
    assert compile_kernel(make_instance(), SM_90).read_text() == good
    assert len(teenyc.calls()) == 2
    ((_, healed),) = blobs(url).items()
    assert remote.unpack(healed, Path(name).stem) is not None


def test_every_flipped_byte_is_noticed(teenyc: Any, cache_dir: Path, make_instance: Make) -> None:
    key = compile_kernel(make_instance(), SM_90).path.parent.name
    entry = Cache(cache_dir).read(key)
    assert entry is not None
    content = remote.pack(entry)
    assert remote.unpack(content, key) is not None
    assert remote.unpack(content, "0" * 64) is None
    for at in range(0, len(content), 97):
        flipped = bytearray(content)
        flipped[at] ^= 4
        assert remote.unpack(bytes(flipped), key) is None, at


def test_a_blob_cannot_name_a_path(teenyc: Any, cache_dir: Path, make_instance: Make) -> None:
    from teeny_compiler.cache import store
    from teeny_compiler.cache.key import canonical_json

    key = compile_kernel(make_instance(), SM_90).path.parent.name
    facts = {"size": 1, "sha256": store.digest(b"x")}
    for name in ("../escaped", "/tmp/escaped", "a/b", "..", store.MANIFEST):
        manifest: dict[str, Any] = {"schema": 1, "key": key, "files": {name: facts}}
        manifest["digest"] = store.digest(canonical_json(manifest))
        blob = b"teeny-entry 1\n" + canonical_json(manifest) + b"\nx"
        assert remote.unpack(blob, key) is None


def test_read_mode_sends_nothing(
    url: str, teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_CACHE_REMOTE_MODE", "read")
    compile_kernel(make_instance(), SM_90)
    assert blobs(url) == {}
    monkeypatch.setenv("TEENYC_CACHE_REMOTE_MODE", "write")
    with pytest.raises(TeenyError) as caught:
        compile_kernel(make_instance(1), SM_90)
    assert caught.value.code == "E0914"


def test_a_remote_that_does_not_answer_is_one_warning_and_no_more_requests(
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fsspec = pytest.importorskip("fsspec")
    asked: list[str] = []

    def refuse(self: object, path: str, *args: object, **kwargs: object) -> bytes:
        asked.append(path)
        raise ConnectionError("no route to host")

    monkeypatch.setattr(fsspec.get_filesystem_class("memory"), "cat_file", refuse)
    monkeypatch.setattr(remote, "_given_up", set())
    monkeypatch.setenv("TEENYC_CACHE_REMOTE", "memory://silent")
    for variant in (0, 1):
        compile_kernel(make_instance(variant), SM_90)
    assert len(asked) == 1
    err = capsys.readouterr().err
    assert err.count("warning[W0925]") == 1
    assert "no route to host" in err


def test_a_full_local_cache_still_takes_from_the_remote(
    url: str,
    teenyc: Any,
    tmp_path: Path,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = compile_kernel(make_instance(), SM_90).read_text()
    shutil.rmtree(cache_dir)
    cache_dir.write_text("no directory", encoding="utf-8")
    assert compile_kernel(make_instance(), SM_90).read_text() == good
