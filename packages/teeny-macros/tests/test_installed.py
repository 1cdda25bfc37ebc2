"""Entry points: the same as `importlib.metadata` finds, in a fraction of its time."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from teeny_macros import devices, installed

TEXT = """\
# a comment
[ teeny.none ]
[teeny.test]
one = os.path:join
two=os.path : split [extra]
module = json

[other]
one = sys:path
"""


def install(folder: Path, name: str, text: str = TEXT) -> Path:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(text)
    return info


def named(found: list[Any]) -> set[tuple[str, str, str, str]]:
    return {(point.group, point.name, point.module, point.attr or "") for point in found}


def test_they_are_those_of_importlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "a", "First_Package")
    install(tmp_path / "b", "first.package", "[teeny.test]\nhidden = os:sep\n")
    install(tmp_path / "b", "second", "[teeny.test]\nthree = os:sep\n")
    for folder in ("b", "a", "missing"):
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    ours, known = installed.points(sys.path), importlib.metadata.entry_points()
    assert named(ours) == named([p for group in known.groups for p in known.select(group=group)])
    assert {point.name for point in ours if point.group == "teeny.test"} == {
        *("one", "two", "module", "three")
    }


def test_a_point_is_what_it_names(tmp_path: Path) -> None:
    import json
    import os.path

    install(tmp_path, "first")
    found = {p.name: p.load() for p in installed.points([str(tmp_path)]) if p.group != "other"}
    assert found == {"one": os.path.join, "two": os.path.split, "module": json}


def test_an_archive_is_left_to_importlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = install(tmp_path, "zipped")
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in info.iterdir():
            file.write(path, f"{info.name}/{path.name}")
    monkeypatch.syspath_prepend(str(archive))
    assert "two" in {p.name for p in installed.points(sys.path) if p.group == "teeny.test"}


def test_a_finder_of_somebodys_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(importlib.metadata.Distribution):
        def read_text(self, filename: str) -> str | None:
            texts = {"METADATA": "Name: mine\nVersion: 1\n", "entry_points.txt": TEXT}
            return texts.get(filename)

        def locate_file(self, path: Any) -> Path:
            return Path(path)

    class Finder:
        @staticmethod
        def find_spec(*_: object) -> None:
            return None

        @staticmethod
        def find_distributions(*_: object) -> list[Mine]:
            return [Mine()]

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert "two" in {p.name for p in installed.points(sys.path) if p.group == "teeny.test"}


def test_a_lookup_does_not_import_what_parses_mail() -> None:
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom teeny_macros import devices\n"
        f"devices.registered({devices.DEVICES!r})\n"
        "print(sorted({'email', 'importlib.metadata'} & (set(sys.modules) - before)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"
