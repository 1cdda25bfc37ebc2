"""Named ranges on the time lines of NVIDIA's profilers (NVTX).

They cost almost nothing without a profiler, and nothing where the NVTX library is not installed.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# The library of the toolkit, of CUDA 13's packages, and of Windows.
_NAMES = ("libnvtx3interop.so.1", "libnvtx3interop.so", "libnvToolsExt.so.1", "nvToolsExt64_1.dll")
_state: dict[str, Any] = {}


def is_available() -> bool:
    """Whether ranges reach a profiler here."""
    return _library() is not None


@contextmanager
def annotate(name: str) -> Iterator[None]:
    """A range called `name` around a `with` block."""
    library = _library()
    if library is None:
        yield
        return
    library.nvtxRangePushA(name.encode())
    try:
        yield
    finally:
        library.nvtxRangePop()


def mark(name: str) -> None:
    """A point in time called `name`."""
    library = _library()
    if library is not None:
        library.nvtxMarkA(name.encode())


def _library() -> Any:
    if "library" not in _state:
        _state["library"] = _load()
    return _state["library"]


def _load() -> Any:
    for path in (*_NAMES, *_packaged()):
        try:
            library = ctypes.CDLL(path)
            library.nvtxRangePushA.argtypes = (ctypes.c_char_p,)
            library.nvtxMarkA.argtypes = (ctypes.c_char_p,)
        except (OSError, AttributeError):
            continue
        return library
    return None


def _packaged() -> list[str]:
    """The library inside of NVIDIA's Python packages."""
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("nvidia")
    found: list[str] = []
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found += [
            str(path)
            for pattern in ("*/lib/libnvtx3interop.so*", "*/lib/libnvToolsExt.so*")
            for path in sorted(Path(folder).glob(pattern))
        ]
    return found
