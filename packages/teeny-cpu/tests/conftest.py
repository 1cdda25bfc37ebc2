"""Artefacts for the host, and a stand-in for the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from teeny_cpu import Device, module
from teeny_macros.artifact import Artifact, Metadata, Param
from teeny_macros.source import SourceMap
from teeny_macros.target import Target


class MakeArtifact(Protocol):
    def __call__(
        self,
        params: Sequence[tuple[str, str, str]],
        *,
        unit: str = "",
        kernel: str = "k",
        source_map: SourceMap | None = None,
    ) -> Artifact: ...


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def artifact_of(tmp_path: Path) -> MakeArtifact:
    """An artefact for the interpreter as the compiler leaves it: its file is the unit."""

    def make(
        params: Sequence[tuple[str, str, str]],
        *,
        unit: str = "",
        kernel: str = "k",
        source_map: SourceMap | None = None,
    ) -> Artifact:
        path = tmp_path / f"{kernel}_entry_point.unit.py"
        path.write_text(unit, encoding="utf-8")
        target = Target.interpret()
        metadata = Metadata(
            kernel, f"{kernel}_entry_point", str(target), tuple(Param(*row) for row in params)
        )
        return Artifact(path, metadata, target, source_map=source_map)

    return make


class Recorder:
    """An interpreter that keeps what it was given, or raises `error`."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.launches: list[tuple[tuple[int, int, int], list[Any]]] = []
        self.error: Exception | None = None

    def load(self, text: str) -> Recorder:
        self.texts.append(text)
        return self

    def launch(self, grid: tuple[int, int, int], args: list[Any]) -> None:
        if self.error is not None:
            raise self.error
        self.launches.append((grid, args))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Stands where teenyc's interpreter stands."""
    found = Recorder()
    monkeypatch.setitem(module._loaders, module.GROUP, found.load)
    return found
