"""The tests of the kernels compile through one warm compiler process."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teeny_compiler import compile_kernels
from teeny_macros import devices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


@pytest.fixture(scope="session", autouse=True)
def warm_compiler() -> Iterator[None]:
    """Compile in a process that stays, instead of in a new one for every kernel."""

    def compile_warm(instance: Any, target: Any) -> Any:
        (found,) = compile_kernels([(instance, target)], workers=1, progress=False)
        if isinstance(found, Exception):
            raise found
        return found

    patch = pytest.MonkeyPatch()
    patch.setitem(devices._compilers, "default", compile_warm)
    yield
    patch.undo()


def _locked(file: Any) -> bool:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@pytest.fixture(scope="session")
def turn() -> Callable[[], AbstractContextManager[Any]]:
    """A context for one of two processes on a GPU at a time, each with up to 60 GB: PyTorch."""

    @contextmanager
    def taken() -> Iterator[Any]:
        import torch

        with ExitStack() as stack:
            places = (Path(tempfile.gettempdir(), f"teeny_large_{at}.lock") for at in (0, 1))
            locks = [stack.enter_context(place.open("w")) for place in places]
            while not any(map(_locked, locks)):
                time.sleep(0.02)
            yield torch
            torch.cuda.empty_cache()

    return taken
