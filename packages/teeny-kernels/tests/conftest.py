"""The tests of the kernels compile through one warm compiler process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from teeny_compiler import compile_kernels
from teeny_macros import devices

if TYPE_CHECKING:
    from collections.abc import Iterator


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
