"""Cubins: what came with the PTX, and what the driver's linker makes of it where nothing came.

A linked cubin is kept beside the PTX, in a file that is named by the PTX as the driver gets it, the
driver and the architecture, and carries its own digest. The linker compiles for linking, which may
cost registers: such code is not kept. Whatever goes wrong here, the PTX itself is loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from teeny_cuda import env
from teeny_cuda.codes import E1090

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
_told = False


def load_given(device: Device, artifact: Artifact, ptx: bytes) -> Any:
    """The module of a cubin that came with the PTX; None when it is not for us, or refused."""
    major, minor = device.capability
    if artifact.target.arch != f"sm_{major}{minor}" or not env.keeps_cubins():
        return None
    given = artifact.stages.get("cubin")
    image = artifact.cubin
    if image is None and given is not None:
        with contextlib.suppress(OSError):
            image = given.read_bytes()
    if image is None:
        return None
    images = [image]
    if artifact.source_map is not None:
        from teeny_cuda.lines import rewrite_cubin

        kernel = artifact.metadata.kernel
        images.insert(0, rewrite_cubin(image, artifact.source_map, kernel, ptx))
    driver = device.context.driver
    number = 0
    for one in images:
        number, module = driver.attempt("cuModuleLoadDataEx", one, 0, [], [])
        if not number:
            return module
    _tell_refused(driver, artifact, number)
    return None


def load_kept(device: Device, artifact: Artifact, ptx: bytes) -> Any:
    """The module of the cubin that was kept of `ptx` (with its terminating zero); None without."""
    path = _path(device, artifact, ptx)
    known = None if path is None else _read(path)
    if not known:
        return None
    number, module = device.context.driver.attempt("cuModuleLoadDataEx", known, 0, [], [])
    if number and path is not None:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return None if number else module


def keep(device: Device, artifact: Artifact, ptx: bytes, module: Any) -> None:
    """Keep the linked cubin of `ptx`, of which the driver has just made `module`.

    Where it needs more registers or local memory than that module, an empty one is kept: it is
    known then, and not made again.
    """
    path = _path(device, artifact, ptx)
    if path is None or _read(path) is not None:
        return
    driver = device.context.driver
    made = _link(driver, ptx)
    if made is None:
        return
    number, linked = driver.attempt("cuModuleLoadDataEx", made, 0, [], [])
    if number:
        return
    entry = artifact.metadata.entry_point
    is_equal = _needs(driver, linked, entry) == _needs(driver, module, entry)
    driver.attempt("cuModuleUnload", linked)
    with contextlib.suppress(OSError):
        _write(path, made if is_equal else b"")
        _prune(os.path.dirname(path), path)


def _needs(driver: Driver, module: Any, entry: str) -> tuple[int, ...]:
    """Registers and bytes of local memory of a kernel; nothing where it is not found."""
    number, function = driver.attempt("cuModuleGetFunction", module, entry.encode())
    if number:
        return ()
    names = driver.api.CUfunction_attribute
    wanted = names.CU_FUNC_ATTRIBUTE_NUM_REGS, names.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
    return tuple(int(driver.call("cuFuncGetAttribute", one, function)) for one in wanted)


def _tell_refused(driver: Driver, artifact: Artifact, number: int) -> None:
    """Warn once in a process: what follows is as right, and may be slower."""
    import sys

    global _told  # noqa: PLW0603 - once in a process
    if _told or env.is_quiet() or sys.stderr is None:
        return
    _told = True
    from teeny_macros.render import render_full

    found = E1090.warn(kernel=artifact.metadata.kernel, name=driver.symbol_of(number))
    found.notes.append(f"the driver is that of CUDA {driver.version_text}")
    found.helps.append("update the driver, or set TEENYC_CUBIN=off where kernels are compiled")
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(render_full(found) + "\n")


def _path(device: Device, artifact: Artifact, ptx: bytes) -> str | None:
    """Where the cubin of `ptx` is kept; None when none is to be."""
    folder = artifact.side_folder
    if folder is None or not env.keeps_cubins() or _NOT_TO_LINK in ptx:
        return None
    return os.path.join(folder, _name(device, artifact, ptx))


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
    """Leave the latest cubins that were kept; one that came with the PTX is none of them."""
    head = os.path.basename(newest).partition(".")[0] + ".sm_"
    with os.scandir(folder) as rows:
        kept = [row for row in rows if row.name.startswith(head) and row.name.endswith(SUFFIX)]
        others = [row for row in kept if row.path != newest]
    found = [(row.stat(follow_symlinks=False).st_mtime, row.path) for row in others]
    for _, path in sorted(found, reverse=True)[_KEPT - 1 :]:
        os.unlink(path)
