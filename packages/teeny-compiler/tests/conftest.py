"""Fixtures of the teeny-compiler tests: a teenyc that fails on demand, a cache, an instance."""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import log, versions
from teeny_compiler.cache import directory, store

FAKES = Path(__file__).parent / "fakes"


class FakeTeenyc:
    """An executable that plays teenyc: its path, what it does, and the calls that it got."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = self.install(folder / "teenyc")
        self._calls = folder / "calls.txt"
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("FAKE_CALLS", str(self._calls))

    @staticmethod
    def install(path: Path) -> Path:
        """Write the executable to `path`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (FAKES / "teenyc.py").read_text(encoding="utf-8")
        path.write_text(f"#!{sys.executable} -IS\n{text}", encoding="utf-8")
        path.chmod(0o755)
        return path

    def behave(self, mode: str, *, delay: float = 0) -> None:
        """Choose how the next calls end."""
        self._monkeypatch.setenv("FAKE_MODE", mode)
        self._monkeypatch.setenv("FAKE_DELAY", str(delay))

    def calls(self, kind: str = "compile") -> list[str]:
        """The calls so far."""
        if not self._calls.exists():
            return []
        lines = self._calls.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.startswith(kind)]


@pytest.fixture
def teenyc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTeenyc:
    """The fake, named by TEENYC_PATH."""
    fake = FakeTeenyc(tmp_path / "fake", monkeypatch)
    monkeypatch.setenv("TEENYC_PATH", str(fake.path))
    return fake


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache directory of the test; it does not exist yet."""
    path = tmp_path / "cache"
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(path))
    return path


@pytest.fixture
def make_instance() -> Callable[..., Any]:
    """The class of fake kernel instances."""
    return runpy.run_path(str(FAKES / "instance.py"))["Instance"]  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def _own_process_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins like a fresh process with an empty environment."""
    for name in list(os.environ):
        if name.startswith(("TEENYC_", "TEENY_", "FAKE_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(versions, "_answers", {})
    monkeypatch.setattr(store, "_unkept", {})
    monkeypatch.setattr(log, "_said", set())
    private: dict[int, str] = {}
    monkeypatch.setattr(directory, "_private", private)
    yield
    for folder in private.values():
        shutil.rmtree(folder, ignore_errors=True)
