"""A release on this machine: a package index of its own, and each package installed from it alone.

Prints what each package brings, with sizes, and runs its tests from its sdist.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from release import ROOT, ReleaseError, find_releases, upload

_START_SECONDS = 30
_SHOWN = 60  # tests that fail
# What a package may bring besides itself; everything else is a mistake in its metadata.
BRINGS = {
    "teeny-macros": set[str](),
    "teeny-triton": {"teeny-macros"},
    "teenyc": {"teeny-macros", "llvmlite"},
    "teeny-compiler": {"teeny-macros", "teeny-triton", "filelock", "platformdirs"},
    "teeny-cuda": {"teeny-macros", "numpy", "cuda-python", "cuda-bindings", "cuda-core",
                   "cuda-pathfinder"},
    "teeny-cpu": {"teeny-macros", "llvmlite", "numpy"},
    "teeny-kernels": {"teeny-macros", "teeny-triton", "teeny-compiler", "filelock", "platformdirs",
                      "numpy"},
}  # fmt: skip
# Lists the distributions of an environment with the bytes of their files.
_LIST = """\
import importlib.metadata as m, json
rows = {}
for dist in m.distributions():
    files = [dist.locate_file(f) for f in dist.files or ()]
    sizes = [f.stat().st_size for f in files if f.is_file() and f.suffix != ".pyc"]
    rows[dist.metadata["Name"].lower().replace("_", "-")] = (dist.version, sum(sizes))
print(json.dumps(rows))
"""


class Brought(NamedTuple):
    """What an environment holds: version and bytes by distribution."""

    rows: dict[str, tuple[str, int]]

    @property
    def total(self) -> int:
        """Bytes of all of it."""
        return sum(size for _, size in self.rows.values())


@contextlib.contextmanager
def local_index(folder: Path, user: str, password: str) -> Iterator[str]:
    """A pypiserver over `folder`; packages that it lacks are looked for where pip looks."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    fallback = os.environ.get("PIP_INDEX_URL")
    command = [sys.executable, str(Path(__file__).with_name("local_index.py")), str(folder),
               str(port), fallback or ""]  # fmt: skip
    process = subprocess.Popen(
        command,
        env={**os.environ, "LOCAL_INDEX_USER": user, "LOCAL_INDEX_PASSWORD": password},
        stdin=subprocess.DEVNULL,
    )
    try:
        _wait(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/simple/", timeout=5).close()
            return
        time.sleep(0.1)
    raise ReleaseError("the local index does not start: is pypiserver installed?")


def rehearse(dist: Path, packages: Sequence[str], *, tests: bool = True) -> None:
    """Upload all to a local index, install each package alone, check, and run its tests.

    Raises ReleaseError at the end, with all that went wrong.
    """
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="teeny-rehearsal-") as name:
        work = Path(name)
        served = work / "served"
        served.mkdir()
        with local_index(served, "releaser", "secret") as index:
            os.environ.update(TWINE_USERNAME="releaser", TWINE_PASSWORD="secret")  # noqa: S106
            sent = upload(dist, index, really=True, allow_incomplete=True)
            again = upload(dist, index, really=True, allow_incomplete=True)
            if (sent, again) != (2 * len(BRINGS), 0):
                faults.append(f"{sent} files were uploaded, and {again} a second time")
            for package in packages:
                try:
                    _rehearse_one(package, dist, index, work / package, tests=tests)
                except ReleaseError as error:
                    faults.append(f"{package}: {error}")
    if faults:
        raise ReleaseError("\n".join(faults))


def _rehearse_one(package: str, dist: Path, index: str, folder: Path, *, tests: bool) -> None:
    python = _environment(folder / "venv")
    install(python, index, [package])
    brought = brought_by(python)
    shown = ", ".join(f"{n} {v} ({_mib(size)})" for n, (v, size) in sorted(brought.rows.items()))
    print(f"{package}: {_mib(brought.total)}: {shown}", flush=True)
    extra = set(brought.rows) - BRINGS[package] - {package}
    if extra or BRINGS[package] - set(brought.rows):
        raise ReleaseError(f"brings {sorted(brought.rows)}, and should {sorted(BRINGS[package])}")
    module = package.replace("-", "_")
    where = _python(python, f"import {module}; print({module}.__file__)").strip()
    if not Path(where).is_relative_to(folder):
        raise ReleaseError(f"its import is {where}")
    if not tests:
        return
    install(python, index, test_needs(package))
    tree = _unpack(package, dist, folder)
    done = subprocess.run(
        [python, "-P", "-m", "pytest", "-q", f"packages/{package}"],
        cwd=tree,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.strip().splitlines()
    print(f"{package}: tests: {lines[-1] if lines else 'nothing was said'}", flush=True)
    if done.returncode:
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        raise ReleaseError("\n".join(["its tests fail", *failed[:_SHOWN]]))


def test_needs(package: str) -> list[str]:
    """What the tests of a package need besides it: the group `test` of its pyproject.toml."""
    path = ROOT / "packages" / package / "pyproject.toml"
    groups = tomllib.loads(path.read_text(encoding="utf-8"))["dependency-groups"]
    found: list[str] = groups["test"]
    return found


def install(python: str, index: str, requirements: Iterable[str]) -> None:
    """Install from the local index. Raises ReleaseError."""
    uv = shutil.which("uv")
    head = [uv, "pip", "install", "-q", "--python", python] if uv else (
        [python, "-m", "pip", "install", "-q", "--no-cache-dir"]
    )  # fmt: skip
    # The wheels are new under an old version, so ours must not come from a cache.
    fresh = [word for name in BRINGS for word in ("--refresh-package", name)] if uv else []
    done = subprocess.run(
        [*head, *fresh, "--index-url", f"{index}/simple/", *requirements],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"cannot be installed: {done.stderr.strip()}")


def brought_by(python: str) -> Brought:
    """The distributions of an environment, without pip's own."""
    rows = json.loads(_python(python, _LIST))
    return Brought(
        {name: tuple(row) for name, row in rows.items() if name not in ("pip", "setuptools")}
    )


def _environment(folder: Path) -> str:
    """A new environment with nothing in it; the path of its Python."""
    uv = shutil.which("uv")
    command = (
        [uv, "venv", "-q", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
    )
    subprocess.run([*command, str(folder)], check=True)
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def _unpack(package: str, dist: Path, folder: Path) -> Path:
    """A tree with the tests of a package as its sdist has them, and the settings of pytest."""
    tree = folder / "tree"
    (tree / "packages").mkdir(parents=True)
    release = next(one for one in find_releases(dist) if one.name == package)
    shutil.unpack_archive(release.sdist, tree, filter="data")
    (tree / release.sdist.name.removesuffix(".tar.gz")).rename(tree / "packages" / package)
    for file in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / file, tree / file)
    return tree


def _python(python: str, text: str) -> str:
    done = subprocess.run(
        [python, "-P", "-c", text],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"cannot be imported: {done.stderr.strip()}")
    return done.stdout


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
