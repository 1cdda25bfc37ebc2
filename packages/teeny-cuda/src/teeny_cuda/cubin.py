"""Cubins beside the PTX: what the driver's linker makes of it, so that it is compiled once.

A file is named by the PTX as the driver gets it, the driver and the architecture, and carries its
own digest. Whatever goes wrong here, the PTX itself is loaded as if there were no such file.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from teeny_cuda import env

if TYPE_CHECKING:
    from teeny_cuda.device import Device
    from teeny_cuda.driver import Driver
    from teeny_macros.artifact import Artifact

SUFFIX = ".cubin"
_MAGIC = b"teeny-cubin 1\n"
_DIGEST_BYTES = 32
_KEPT = 4  # beside one PTX: each edit of the lines above a kernel makes another
# Code that moves registers between warps needs the whole program's count, which a linker lacks.
_NOT_TO_LINK = b"setmaxnreg"
_DRIVER_BUILD = "/proc/driver/nvidia/version"


def load(device: Device, artifact: Artifact, ptx: bytes) -> Any:
    """The module of `ptx` (with its terminating zero), or None when it is to be loaded as it is."""
    folder = artifact.side_folder
    if folder is None or not env.keeps_cubins() or _NOT_TO_LINK in ptx:
        return None
    driver = device.context.driver
    path = os.path.join(folder, _name(device, artifact, ptx))
    known = _read(path)
    if known is not None:
        number, module = driver.attempt("cuModuleLoadDataEx", known, 0, [], [])
        if not number:
            return module
    made = _link(driver, ptx)
    if made is None:
        return None
    number, module = driver.attempt("cuModuleLoadDataEx", made, 0, [], [])
    if number:
        return None
    with contextlib.suppress(OSError):
        _write(path, made)
        _prune(os.fspath(folder), path)
    return module


def load_given(device: Device, artifact: Artifact) -> Any:
    """The module of a cubin that came with the PTX, as in a bundle; None when it is not for us."""
    given = artifact.stages.get("cubin")
    if given is None or artifact.target != device.target or not env.keeps_cubins():
        return None
    try:
        image = given.read_bytes()
    except OSError:
        return None
    number, module = device.context.driver.attempt("cuModuleLoadDataEx", image, 0, [], [])
    return None if number else module


def _name(device: Device, artifact: Artifact, ptx: bytes) -> str:
    from hashlib import sha256

    major, minor = device.capability
    arch = f"sm_{major}{minor}"
    driver = f"{device.context.driver.version} {_driver_build()}"
    key = sha256(b"\0".join((driver.encode(), arch.encode(), ptx))).hexdigest()[:24]
    return f"{artifact.metadata.entry_point}.{arch}-{key}{SUFFIX}"


@lru_cache(maxsize=1)
def _driver_build() -> str:
    """Which build of the driver this is, where the system tells: its compiler is a part of it."""
    try:
        with open(_DRIVER_BUILD, encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""


def _link(driver: Driver, ptx: bytes) -> bytes | None:
    """The cubin that the driver makes of PTX; None when it does not."""
    api = driver.api
    number, state = driver.attempt(
        "cuLinkCreate", 1, [api.CUjit_option.CU_JIT_GENERATE_LINE_INFO], [1]
    )
    if number:
        return None
    try:
        kind = api.CUjitInputType.CU_JIT_INPUT_PTX
        number, _ = driver.attempt(
            "cuLinkAddData", state, kind, ptx, len(ptx), b"kernel.ptx", 0, [], []
        )
        if number:
            return None
        number, found = driver.attempt("cuLinkComplete", state)
        return None if number else ctypes.string_at(*found)
    finally:
        driver.attempt("cuLinkDestroy", state)


# --- files ----------------------------------------------------------------------------------------


def _read(path: str) -> bytes | None:
    """A cubin that is whole; one that is not is removed."""
    from hashlib import sha256

    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST_BYTES
    content = data[start:]
    if data[:start] == _MAGIC + sha256(content).digest():
        return content
    with contextlib.suppress(OSError):
        os.unlink(path)
    return None


def _write(path: str, content: bytes) -> None:
    """Put a file there whole; its folder is not made, for it may just have been removed."""
    import threading
    from hashlib import sha256

    aside = f"{path}.{os.getpid()}-{threading.get_ident()}"
    try:
        with open(aside, "wb") as file:
            file.write(_MAGIC + sha256(content).digest() + content)
        os.replace(aside, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def _prune(folder: str, newest: str) -> None:
    with os.scandir(folder) as rows:
        others = [row for row in rows if row.name.endswith(SUFFIX) and row.path != newest]
    found = [(row.stat(follow_symlinks=False).st_mtime, row.path) for row in others]
    for _, path in sorted(found, reverse=True)[_KEPT - 1 :]:
        os.unlink(path)
