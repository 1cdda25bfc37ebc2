"""`teeny doctor`: look at every part, say what works and how to mend the rest.

A missing GPU is no failure: kernels run without one.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Literal, NamedTuple

from teeny_compiler import env, places, toolchain, versions
from teeny_compiler.cache import default_cache_dir, store
from teeny_macros.diagnostics import TeenyError

if TYPE_CHECKING:
    from collections.abc import Callable
    from ctypes import CDLL

    from teeny_compiler.toolchain import Toolchain

# `works`; `absent`: not there, and some things need it; `broken`: the main job does not work.
State = Literal["works", "absent", "broken"]

_AGAIN = "`pip install --force-reinstall teenyc`, or `teeny toolchain install`"
_DRIVER_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_DEVICES = "teeny.devices"
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76  # CUdevice_attribute


class Finding(NamedTuple):
    """One part: its state, what was found, and what to do when it does not work."""

    part: str
    state: State
    found: str
    mend: str = ""


def examine() -> list[Finding]:
    """Look at every part, in the order in which a kernel meets them."""
    return [finding for check in _CHECKS for finding in check()]


def is_healthy(findings: list[Finding]) -> bool:
    """Whether the main job works."""
    return all(finding.state != "broken" for finding in findings)


def _check_python() -> list[Finding]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return [Finding("Python", "works", f"{version} ({sys.executable})")]


def _check_devices() -> list[Finding]:
    from importlib.metadata import entry_points

    found = sorted(point.name for point in entry_points(group=_DEVICES))
    if not found:
        text = "no package that runs kernels is installed"
        return [Finding("devices", "absent", text, "`pip install teeny-cpu` or `teeny-cuda`")]
    return [Finding("devices", "works", f"packages for {', '.join(found)}")]


def _check_toolchain() -> list[Finding]:
    try:
        chain = toolchain.find_teenyc()
        held = dict(versions.versions_of(chain))
    except TeenyError as error:
        first = error.diagnostics[0]
        return [
            Finding("teenyc", "broken", f"{first.message} [{first.code}]", "; ".join(first.helps)),
            *_check_ptxas(None),
        ]
    teenyc = Finding("teenyc", "works", f"{held['teenyc']} ({chain.path}, {chain.origin})")
    try:
        supported = versions.ask(chain).get("supported", "")
    except TeenyError as error:
        first = error.diagnostics[0]
        teenyc = Finding("teenyc", "broken", f"{chain.path} does not run: {first.message}", _AGAIN)
        supported = ""
    return [
        teenyc,
        _check_libtriton(held["triton"], supported),
        _check_back_end("llvmlite", held["llvmlite"], "code for CPUs", "pip install llvmlite"),
        *_check_ptxas(chain),
    ]


def _check_libtriton(version: str, supported: str) -> Finding:
    if version not in {"", versions.ABSENT} and not versions.is_within(version, supported):
        return Finding(
            "libtriton",
            "broken",
            f"Triton {version} is not supported: teenyc drives {supported}",
            "`pip install 'teenyc[cuda]'` beside it, or `teeny toolchain install`",
        )
    return _check_back_end("libtriton", version, "PTX for GPUs", "pip install 'teenyc[cuda]'")


def _check_back_end(part: str, version: str, gives: str, mend: str) -> Finding:
    if version == versions.ABSENT:
        return Finding(part, "absent", f"not installed beside teenyc: no {gives}", f"`{mend}`")
    return Finding(part, "works", version)


def _check_ptxas(chain: Toolchain | None) -> list[Finding]:
    """The ptxas that makes machine code of kernels: the one that is named, else Triton's own."""
    path = env.read(env.TEENYC_PTXAS)
    if path is None and chain is not None:
        name = os.path.join("triton", "backends", "nvidia", "bin", "ptxas")
        folders = versions.library_folders(chain)
        there = (os.path.join(folder, name + places.EXECUTABLE_SUFFIX) for folder in folders)
        path = next((candidate for candidate in there if os.path.isfile(candidate)), None)
    if path is None:
        found = "not found; kernels run without it, the driver assembles them"
        mend = "it comes with `pip install 'teenyc[cuda]'` (Linux); TEENYC_PTXAS names another"
        elsewhere = shutil.which("ptxas")
        if elsewhere is not None:
            found = f"none beside teenyc; kernels are assembled by the driver, not by {elsewhere}"
            mend = f"`export TEENYC_PTXAS={elsewhere}` has them assembled when they are compiled"
        return [Finding("ptxas", "absent", found, mend)]
    import subprocess

    try:
        said = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return [Finding("ptxas", "absent", f"{path} does not run: {error}", "reinstall it")]
    release = next((word for word in said.split() if word.startswith("V")), "unknown version")
    off = ", not used: TEENYC_CUBIN is off" if env.read(env.TEENYC_CUBIN) == "off" else ""
    return [Finding("ptxas", "works", f"{release.removeprefix('V')} ({path}){off}")]


def _check_gpu() -> list[Finding]:
    import ctypes

    try:
        driver = ctypes.CDLL(_DRIVER_LIBRARY)
    except OSError:
        return [
            Finding(
                "driver",
                "absent",
                f"{_DRIVER_LIBRARY} is not there: no NVIDIA driver; kernels run without a GPU",
                "install NVIDIA's driver to run on a GPU",
            )
        ]
    number = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(number))
    version = f"CUDA {number.value // 1000}.{number.value % 1000 // 10}"
    status = driver.cuInit(0)
    if status != 0:
        return [
            Finding("driver", "works", version),
            Finding("GPU", "absent", f"none that can be used (cuInit says {status})"),
        ]
    return [Finding("driver", "works", version), *_list_gpus(driver)]


def _list_gpus(driver: CDLL) -> list[Finding]:
    import ctypes

    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    found = []
    for ordinal in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
        driver.cuDeviceGet(ctypes.byref(device), ordinal)
        driver.cuDeviceGetName(name, len(name), device)
        capability = []
        for attribute in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR):
            value = ctypes.c_int()
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            capability.append(str(value.value))
        text = f"cuda:{ordinal} {name.value.decode(errors='replace')}, sm_{''.join(capability)}"
        found.append(Finding("GPU", "works", text))
    return found or [Finding("GPU", "absent", "the driver sees none")]


def _check_cache() -> list[Finding]:
    try:
        root = os.fspath(default_cache_dir())
    except TeenyError as error:
        return [Finding("cache", "broken", error.diagnostics[0].message, "set TEENYC_CACHE_DIR")]
    cache = store.Cache(root)
    cache.make()
    if not cache.can_write():
        return [
            Finding(
                "cache",
                "absent",
                f"{root} cannot be written: kernels are compiled anew in every process",
                "`export TEENYC_CACHE_DIR=` a directory that can be written and has space",
            )
        ]
    free = shutil.disk_usage(root).free / 2**30
    return [Finding("cache", "works", f"{root} ({cache.count()} kernels, {free:.1f} GiB free)")]


_CHECKS: tuple[Callable[[], list[Finding]], ...] = (
    _check_python,
    _check_toolchain,
    _check_devices,
    _check_gpu,
    _check_cache,
)
