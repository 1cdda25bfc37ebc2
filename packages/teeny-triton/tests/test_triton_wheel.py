"""The built wheel: its constant is the text of the sources, and the checkout stays as it was."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from teeny_triton import embed

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src", "teeny_triton")


def build(root: Path, *arguments: str) -> None:
    """Run hatchling on the copy at `root`; nothing is downloaded."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with one sdist and one wheel in `dist`."""
    root = tmp_path_factory.mktemp("checkout") / "teeny-triton"
    skip = shutil.ignore_patterns("__pycache__", ".*_cache", "dist", "_embedded.py")
    shutil.copytree(ROOT, root, ignore=skip)
    build(root)
    return root


def test_the_wheel_holds_the_text_of_the_sources(checkout: Path, tmp_path: Path) -> None:
    (wheel,) = (checkout / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = (
        "import teeny_triton, teeny_triton._embedded as e, teeny_triton.triton_lang as t; "
        f"assert teeny_triton.__file__.startswith({str(tmp_path)!r}), teeny_triton.__file__; "
        "assert (t.TRITON, t.TRITON_SHA) == (e.TRITON, e.TRITON_SHA); "
        "print(t.TRITON_SHA); print(t.TRITON, end='')"
    )
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {program}"],
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    sha, text = run.stdout.split("\n", 1)
    assert text == embed.build_text(ROOT / PACKAGE / "triton")
    assert sha == embed.digest(text)


def test_the_wheel_holds_stubs_and_pages(checkout: Path) -> None:
    (wheel,) = (checkout / "dist").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in (ROOT / PACKAGE).rglob("*"):
        if path.suffix in {".py", ".pyi", ".md", ".typed"}:
            assert path.relative_to(ROOT / "src").as_posix() in names


def test_building_leaves_no_constant_behind(checkout: Path) -> None:
    assert not (checkout / PACKAGE / "_embedded.py").exists()


def test_the_wheel_does_not_depend_on_the_place_of_its_checkout(checkout: Path) -> None:
    (wheel,) = (checkout / "dist").glob("*.whl")
    (sdist,) = (checkout / "dist").glob("*.tar.gz")
    elsewhere = checkout.parent / "elsewhere"
    shutil.unpack_archive(sdist, elsewhere, filter="data")
    (root,) = elsewhere.iterdir()
    build(root, "-t", "wheel")
    (again,) = (root / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as two:
        name = "teeny_triton/_embedded.py"
        assert one.read(name) == two.read(name)
