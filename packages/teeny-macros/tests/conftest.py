"""Fixtures of this package's tests: golden files, modules from text, and a device made of lists."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teeny_macros import Target, devices
from teeny_macros.artifact import Artifact, Metadata
from teeny_macros.protocol import ArrayInfo

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
# Kernels that tests and their subprocesses import by name.
sys.path.insert(0, str(HERE))
HEADER = """\
import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import Const, Float, Ptr, bf16, f16, f32, f64, i1, i8, i32, i64, u8
"""


@pytest.fixture
def golden(update_golden: bool) -> Callable[[str, str], None]:
    """Compare a text with a stored file, or store it with `--update-golden`."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if update_golden:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), "accept with `nox -s golden`"

    return compare


_numbers = itertools.count()


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Callable[..., ModuleType]]:
    """Import a module from its text; a header imports the language unless `header=""` is given."""
    made: list[str] = []

    def make(
        text: str, *, header: str = HEADER, name: str | None = None, future: bool = False
    ) -> ModuleType:
        header = f"from __future__ import annotations\n{header}" if future else header
        name = name or f"user_module_{next(_numbers)}"
        path = tmp_path / f"{name}.py"
        path.write_text(header + text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        sys.modules[name] = found
        made.append(name)
        spec.loader.exec_module(found)
        return found

    yield make
    for name in made:
        sys.modules.pop(name, None)


class FakeArray:
    """An array of one of the fake devices."""

    def __init__(
        self, dtype: str = "f32", *, place: str = "cpu", pointer: int = 4096, readonly: bool = False
    ) -> None:
        self.info = ArrayInfo(pointer, dtype, 1024, place, readonly)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, _, number = self.info.device.partition(":")
        return (1 if kind == "cpu" else 2), int(number or 0)


class FakeDevice:
    """Remembers what was loaded and launched."""

    def __init__(self, name: str, target: Target) -> None:
        self.name = name
        self.target = target
        self.loaded: list[Artifact] = []
        self.launches: list[tuple[Any, tuple[int, int, int], list[Any], Any]] = []

    def load(self, artifact: Artifact) -> Artifact:
        self.loaded.append(artifact)
        return artifact

    def launch(self, program: Any, grid: Any, args: Any, *, stream: Any = None) -> None:
        self.launches.append((program, grid, list(args), stream))

    @property
    def last(self) -> tuple[Any, tuple[int, int, int], list[Any], Any]:
        return self.launches[-1]


class FakeProvider:
    """A device package whose devices are all there."""

    def __init__(self, kind: str, target: Target) -> None:
        self.kind = kind
        self.target = target
        self.devices: dict[str, FakeDevice] = {}

    def describe(self, array: Any) -> ArrayInfo | None:
        info = getattr(array, "info", None)
        return info if info is not None and info.device.startswith(self.kind) else None

    def device(self, name: str) -> FakeDevice:
        return self.devices.setdefault(name, FakeDevice(name, self.target))


class FakeWorld:
    """The entry points that launches find: a host, GPUs, a compiler that only keeps instances."""

    def __init__(self) -> None:
        self.cpu = FakeProvider("cpu", Target.interpret())
        self.cuda = FakeProvider("cuda", Target.cuda("sm_90"))
        self.compiled: list[tuple[Any, Target]] = []
        self.found: dict[tuple[str, str], Any] = {
            (devices.DEVICES, "cpu"): self.cpu,
            (devices.DEVICES, "cuda"): self.cuda,
            (devices.COMPILER, "default"): self.compile_kernel,
        }
        self.asked: list[tuple[str, str]] = []

    def entry_point(self, group: str, name: str) -> Any:
        self.asked.append((group, name))
        return self.found.get((group, name))

    def compile_kernel(self, instance: Any, target: Target, **_options: Any) -> Artifact:
        self.compiled.append((instance, target))
        metadata = Metadata(instance.name, instance.entry_point_name, str(target), ())
        return Artifact(Path("nowhere"), metadata, target)

    @property
    def host(self) -> FakeDevice:
        return self.cpu.device("cpu")

    @property
    def instance(self) -> Any:
        return self.compiled[-1][0]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> FakeWorld:
    """Fake devices and a fake compiler in place of the installed ones."""
    found = FakeWorld()
    monkeypatch.setattr(devices, "entry_point", found.entry_point)
    for name in ("_providers", "_provider_of_type", "_compilers"):
        monkeypatch.setattr(devices, name, {})
    monkeypatch.delenv("TEENY_DEVICE", raising=False)
    return found


@pytest.fixture
def array() -> type[FakeArray]:
    """The class of the fake devices' arrays."""
    return FakeArray
