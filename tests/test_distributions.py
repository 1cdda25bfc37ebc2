"""Inspects what the wheels and sdists contain: those of `--distributions DIR`, else built here."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DISTRIBUTIONS = tuple(sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml")))


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel and an sdist of every package."""
    given = request.config.getoption("--distributions")
    if given is not None:
        return Path(given)
    folder = tmp_path_factory.mktemp("dist")
    for name in DISTRIBUTIONS:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
            cwd=ROOT / "packages" / name,
            capture_output=True,
            check=True,
            timeout=60,
        )
    return folder


def wheel_texts(built: Path, distribution: str) -> dict[str, bytes]:
    (path,) = built.glob(f"{distribution.replace('-', '_')}-*.whl")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sdist_names(built: Path, distribution: str) -> set[str]:
    (path,) = built.glob(f"{distribution.replace('-', '_')}-*.tar.gz")
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def sources(distribution: str) -> set[str]:
    """Every file of the package but what Python wrote."""
    src = ROOT / "packages" / distribution / "src"
    return {
        path.relative_to(src).as_posix()
        for path in src.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.name != "_embedded.py"
    }


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_wheel_holds_the_package_and_its_metadata_only(built: Path, distribution: str) -> None:
    names = set(wheel_texts(built, distribution))
    info = {name for name in names if ".dist-info/" in name}
    generated = {"teeny_triton/_embedded.py"} if distribution == "teeny-triton" else set[str]()
    assert names - info == sources(distribution) | generated
    assert any(name.endswith("/licenses/LICENSE") for name in info)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_an_sdist_holds_what_a_build_and_a_test_need(built: Path, distribution: str) -> None:
    names = sdist_names(built, distribution)
    needed = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO"}
    tests = ROOT / "packages" / distribution / "tests"
    tested = {f"tests/{path.name}" for path in tests.glob("*.py")}
    assert needed | tested | {f"src/{name}" for name in sources(distribution)} <= names
    assert not {name for name in names if name.endswith(".pyc") or "_cache/" in name}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_metadata_of_a_wheel_is_that_of_the_project(built: Path, distribution: str) -> None:
    texts = wheel_texts(built, distribution)
    (metadata,) = (text for name, text in texts.items() if name.endswith("/METADATA"))
    (wheel,) = (text for name, text in texts.items() if name.endswith("/WHEEL"))
    fields = message_from_string(metadata.decode())
    path = ROOT / "packages" / distribution / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    assert fields["Name"] == distribution
    assert fields["Version"] == project["version"]
    assert fields["License-Expression"] == "Apache-2.0"
    extras = set(fields.get_all("Provides-Extra") or [])
    assert extras == set(project.get("optional-dependencies", {}))
    assert b"Tag: py3-none-any" in wheel


def test_the_embedded_text_is_the_text_of_the_sources(built: Path) -> None:
    from teeny_triton.embed import build_text, module_text

    embedded = wheel_texts(built, "teeny-triton")["teeny_triton/_embedded.py"]
    sources = ROOT / "packages" / "teeny-triton" / "src" / "teeny_triton" / "triton"
    assert embedded.decode() == module_text(build_text(sources))


def test_building_twice_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT / "packages" / "teeny-triton",
        capture_output=True,
        check=True,
        timeout=60,
    )
    (again,) = tmp_path.glob("*.whl")
    assert again.read_bytes() == (built / again.name).read_bytes()
