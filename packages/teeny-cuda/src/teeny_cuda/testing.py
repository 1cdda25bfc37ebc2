"""For tests: the rule for those that need a GPU, and the fake driver in the real one's place.

A test marked `gpu` is deselected unless `-m gpu` asks for it; asked for, it fails without a GPU, so
that a GPU run that tested nothing cannot pass. Importing this module imports pytest.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from teeny_cuda.device import Device
from teeny_cuda.driver import Driver, replace
from teeny_cuda.fake_driver import FakeDriver
from teeny_macros.artifact import Artifact, Metadata, Param
from teeny_macros.diagnostics import TeenyError
from teeny_macros.target import Target

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path


def require_gpu(ordinal: int = 0) -> Device:
    """GPU `ordinal`; fails the test with the coded error when it is not there."""
    try:
        return Device(ordinal)
    except TeenyError as error:
        pytest.fail(f"a test marked `gpu` needs a GPU\n{error}", pytrace=False)


@pytest.fixture
def gpu() -> Iterator[Device]:
    """GPU 0, its errors found in the test that caused them."""
    device = require_gpu()
    yield device
    device.synchronize()


def import_library(name: str) -> Any:
    """An array library; without it the test is skipped. Its warnings on import are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


@contextmanager
def fake_driver(fake: FakeDriver | None = None) -> Generator[FakeDriver]:
    """A fake driver in place of cuda-python's, as long as the block runs."""
    fake = fake or FakeDriver()
    old = replace(None)
    try:
        replace(Driver(fake))
        yield fake
    finally:
        replace(old)


@pytest.fixture(name="fake")
def fake_fixture() -> Iterator[FakeDriver]:
    """A fake driver with one GPU."""
    with fake_driver() as fake:
        yield fake


def write_artifact(
    folder: Path,
    ptx: str,
    kernel: str,
    params: Sequence[tuple[str, str, str]],
    *,
    target: Target | None = None,
    **metadata: Any,
) -> Artifact:
    """An artefact of `ptx` in `folder`, as the compiler leaves it.

    `params` are (name, kind, dtype).
    """
    target = target or Target.cuda("sm_90")
    path = folder / f"{kernel}_entry_point.ptx"
    path.write_text(ptx, encoding="utf-8")
    fields: dict[str, Any] = {"num_warps": 4, "threads_per_block": 128, "ptx_version": 80}
    entry_point = f"{kernel}_entry_point"
    rows = tuple(Param(*param) for param in params)
    found = Metadata(kernel, entry_point, str(target), rows, **{**fields, **metadata})
    return Artifact(path, found, target)
