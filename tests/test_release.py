"""Releases: what is checked, changelogs, and uploads to an index of this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from email.message import Message
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
pytest.importorskip("twine", reason="twine is not installed")


@pytest.fixture(scope="module")
def release() -> Any:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return import_module("release")
    finally:
        sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def rehearsal(release: Any) -> Any:
    del release  # which it imports
    if find_spec("pypiserver") is None:  # importing it would change how this process imports
        pytest.skip("pypiserver is not installed")
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return import_module("rehearsal")
    finally:
        sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def dist(release: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel and an sdist of every package."""
    folder = tmp_path_factory.mktemp("dist")
    for name in release.PACKAGES:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
            cwd=ROOT / "packages" / name,
            capture_output=True,
            check=True,
            timeout=60,
        )
    return folder


def test_what_is_built_is_whole(release: Any, dist: Path) -> None:
    assert [one.name for one in release.check(dist)] == list(release.PACKAGES)


def test_every_package_of_the_tree_is_released_after_what_it_needs(release: Any) -> None:
    folders = {path.parent.name for path in ROOT.glob("packages/*/pyproject.toml")}
    assert folders == set(release.PACKAGES)
    for at, name in enumerate(release.PACKAGES):
        text = (ROOT / "packages" / name / "pyproject.toml").read_text(encoding="utf-8")
        needs = text.partition("dependencies = [")[2].partition("]")[0]
        assert not [other for other in release.PACKAGES[at:] if f'"{other}>' in needs], name


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("Summary", None, "lacks Summary"),
        ("Keywords", None, "lacks Keywords"),
        ("Version", "9.9.9", "is 9.9.9, and its pyproject.toml says"),
        ("Classifier", "License :: OSI Approved", "license classifier"),
        ("Description-Content-Type", "text/plain", "not Markdown"),
    ],
)
def test_metadata_that_is_incomplete_is_refused(
    field: str, value: str | None, fault: str, release: Any, dist: Path
) -> None:
    whole = release.find_releases(dist)[0]
    changed = Message()
    for name, old in whole.metadata.items():
        if name != field or name == "Classifier":
            changed[name] = old
    if value is not None:
        changed[field] = value
    version = str(changed["Version"])
    faults = release.faults_of(whole._replace(metadata=changed, version=version))
    assert any(fault in one for one in faults), faults


def test_an_upload_asks_for_more_than_a_check(release: Any, dist: Path) -> None:
    (first, *_) = release.find_releases(dist)
    assert release.faults_of(first) == []
    faults = release.faults_of(first, for_upload=True)
    assert any("unreleased" in fault for fault in faults)


def test_a_missing_wheel_is_named(release: Any, dist: Path, tmp_path: Path) -> None:
    for path in dist.iterdir():
        if not path.name.startswith("teeny_cpu"):
            shutil.copy(path, tmp_path)
    with pytest.raises(release.ReleaseError, match="teeny-cpu: 0 wheels"):
        release.find_releases(tmp_path)


# --- changelogs -----------------------------------------------------------------------------------


@pytest.fixture
def tree(release: Any, tmp_path: Path) -> Path:
    (tmp_path / "changelog.d").mkdir()
    for name in release.PACKAGES:
        folder = tmp_path / "packages" / name
        folder.mkdir(parents=True)
        text = (
            f"# Changelog of {name}\n\n## 0.2.0 (unreleased)\n\n## 0.1.0 (2026-01-02)\n\n* First.\n"
        )
        (folder / "CHANGELOG.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_fragments_go_into_their_changelogs_by_kind(release: Any, tree: Path) -> None:
    for name, text in (
        ("teenyc.fixed.a.md", "teenyc: one\ntwo.\n"),
        ("teenyc.added.b.md", "teenyc: new.\n"),
        ("README.md", "what fragments are\n"),
    ):
        (tree / "changelog.d" / name).write_text(text, encoding="utf-8")
    release.gather_notes(tree, "2026-12-24")
    text = (tree / "packages" / "teenyc" / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text == (
        "# Changelog of teenyc\n\n## 0.2.0 (2026-12-24)\n\n### Added\n\n* new.\n\n### Fixed\n\n"
        "* one\n  two.\n\n## 0.1.0 (2026-01-02)\n\n* First.\n"
    )
    other = (tree / "packages" / "teeny-cpu" / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## 0.2.0 (2026-12-24)\n\n## 0.1.0" in other
    assert [path.name for path in (tree / "changelog.d").iterdir()] == ["README.md"]


@pytest.mark.parametrize("name", ["teeny.added.a.md", "teenyc.new.a.md", "teenyc.added.md"])
def test_a_fragment_that_belongs_nowhere_is_named(name: str, release: Any, tree: Path) -> None:
    (tree / "changelog.d" / name).write_text("text", encoding="utf-8")
    with pytest.raises(release.ReleaseError, match=name):
        release.gather_notes(tree)


def test_the_fragments_of_the_tree_are_well_named(release: Any) -> None:
    for path in (ROOT / "changelog.d").glob("*.md"):
        if path.name != "README.md":
            package, kind, words = path.name.removesuffix(".md").split(".")
            assert package in release.PACKAGES, path.name
            assert kind in release.KINDS, path.name
            assert words, path.name


# --- uploading ------------------------------------------------------------------------------------


def test_a_dry_run_uploads_nothing_and_an_upload_what_is_missing(
    release: Any,
    rehearsal: Any,
    dist: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TWINE_USERNAME", "releaser")
    monkeypatch.delenv("TWINE_PASSWORD", raising=False)
    with rehearsal.local_index(tmp_path, "releaser", "secret") as index:
        assert release.upload(dist, index, really=False) == 14
        assert "would upload teeny_macros-" in capsys.readouterr().out
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(release.ReleaseError, match="unreleased"):
            release.upload(dist, index, really=True)
        with pytest.raises(release.ReleaseError, match="TWINE_PASSWORD"):
            release.upload(dist, index, really=True, allow_incomplete=True)
        monkeypatch.setenv("TWINE_PASSWORD", "wrong")
        with pytest.raises(release.ReleaseError, match="403"):
            release.upload(dist, index, really=True, allow_incomplete=True)
        assert list(tmp_path.iterdir()) == []
        monkeypatch.setenv("TWINE_PASSWORD", "secret")
        assert release.upload(dist, index, really=True, allow_incomplete=True) == 14
        assert {path.name for path in tmp_path.iterdir()} == {path.name for path in dist.iterdir()}
        assert release.upload(dist, index, really=True, allow_incomplete=True) == 0


@pytest.mark.large
def test_every_package_is_installed_alone_from_an_index(rehearsal: Any, dist: Path) -> None:
    rehearsal.rehearse(dist, list(rehearsal.BRINGS), tests=False)
