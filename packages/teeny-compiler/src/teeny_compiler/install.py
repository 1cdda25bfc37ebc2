"""Toolchains that `teeny` installs: a virtual environment each, filled by pip from its index.

Until the last step a folder holds a mark, and whoever looks for toolchains passes it by: an install
that was interrupted or killed leaves nothing that could be used. pip runs in processes of its own.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler import env, log, places, toolchain, versions
from teeny_compiler.codes import E0906, E0907, E0908

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from teeny_compiler.toolchain import Toolchain
    from teeny_macros.diagnostics import TeenyError

_PACKAGE = "teenyc"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LINKS = "--find-links"
_FOLDER = "the folder of `--from`"
_DOWNLOAD = "`pip download 'teenyc[cuda]' -d FOLDER`"
_TAIL = 15  # lines of what pip said


class Wanted(NamedTuple):
    """What to install: `version` of teenyc ("" is the latest), its name ("": from the version).

    `source` is a folder of wheels to take everything from, instead of pip's index; without `cuda`
    the toolchain compiles for CPUs alone.
    """

    version: str = ""
    name: str = ""
    source: str = ""
    cuda: bool = True


def install(wanted: Wanted, *, quiet: bool = False) -> Toolchain:
    """Make a toolchain and return it; it is whole, or not there at all.

    Raises:
        ToolchainError: E0906 (pip fails, or what it installed does not run), E0907 (there is one of
        that name), E0908 (its Triton is not supported).
    """
    _require_usable(wanted)
    parent = places.toolchains_folder()
    _sweep(parent)
    with _pip() as pip:
        version = _resolve(pip, wanted)
        name = wanted.name or f"{_PACKAGE}-{version}"
        folder = os.path.join(parent, name)
        _claim(folder, name)
        try:
            _say(quiet, f"making an environment in {folder}")
            _run([sys.executable, "-m", "venv", "--without-pip", folder], name, quiet=True)
            extra = "[cuda]" if wanted.cuda else ""
            _say(quiet, f"installing {_PACKAGE}{extra} {version} and what it needs")
            python = places.executable_in(folder, "python")
            goal = f"{_PACKAGE}{extra}=={version}"
            command = [*pip, "--python", python, "install", *_from(wanted.source), goal]
            _run(command, name, quiet=quiet)
            found = toolchain.Toolchain(places.executable_in(folder), f"toolchain `{name}`", name)
            require_supported(found)
        except BaseException:  # Ctrl-C too
            shutil.rmtree(folder, ignore_errors=True)
            raise
        os.unlink(os.path.join(folder, places.INCOMPLETE))
    return found


def remove(name: str) -> bool:
    """Remove a toolchain; True when it was the default, which is forgotten then. Raises E0904."""
    if name not in toolchain.names():
        toolchain.named(name)  # raises
    folder = os.path.join(places.toolchains_folder(), name)
    was_default = toolchain.default_name() == name
    if was_default:
        os.unlink(places.default_file())
    gone = os.path.join(os.path.dirname(folder), f".removed-{name}-{os.getpid()}")
    os.rename(folder, gone)  # at once: half of it is no toolchain
    shutil.rmtree(gone, ignore_errors=True)
    return was_default


def require_supported(chain: Toolchain) -> None:
    """Raise E0908 when the toolchain's Triton is none that its teenyc drives; E0905 as it says."""
    rows = versions.ask(chain)
    found, supported = rows.get("triton", ""), rows.get("supported", "")
    if found and supported and not versions.is_within(found, supported):
        raise E0908.error(
            version=found, path=chain.path, teenyc=rows[_PACKAGE], supported=supported
        ).help(f"`{os.path.dirname(chain.path)}` needs another: `pip install 'teenyc[cuda]'`")


# --- pip ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _pip() -> Iterator[list[str]]:
    """A command that is pip: this interpreter's, or that of an environment made for it."""
    from importlib.util import find_spec

    if find_spec("pip") is not None:
        yield [sys.executable, "-m", "pip"]
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="teeny-pip-") as folder:
        _run([sys.executable, "-m", "venv", folder], "pip", quiet=True)
        yield [places.executable_in(folder, "python"), "-m", "pip"]


def _resolve(pip: Sequence[str], wanted: Wanted) -> str:
    """The version of teenyc that pip would install."""
    import json

    goal = f"{_PACKAGE}=={wanted.version}" if wanted.version else _PACKAGE
    arguments = ["--dry-run", "--no-deps", "--ignore-installed", "--quiet", "--report", "-"]
    command = [*pip, "install", *arguments, *_from(wanted.source), goal]
    said = _run(command, goal, quiet=True)
    try:
        (row,) = json.loads(said)["install"]
        return str(row["metadata"]["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise _failed(goal, "pip does not say what it would install", said) from error


def _from(source: str) -> list[str]:
    return ["--no-index", _LINKS, os.path.abspath(source)] if source else []


def _run(command: Sequence[str], name: str, *, quiet: bool) -> str:
    """Run a command to its end and return what it printed; pip shows its own progress."""
    shown = None if quiet or sys.stderr is None else _descriptor()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if shown is None else shown,
        stderr=subprocess.PIPE,
        env=env.for_pip(),
        text=True,
        errors="replace",
    )
    try:
        out, err = process.communicate()
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.returncode:
        reason = f"`{_shown(command)}` ended with status {process.returncode}"
        raise _failed(name, reason, err, is_from_folder=_LINKS in command)
    return out or ""


def _descriptor() -> Any:
    """Where pip's progress goes: standard error, where it is a file of the system's."""
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def _shown(command: Sequence[str]) -> str:
    return " ".join(("python", *command[1:]))


def _failed(name: str, reason: str, said: str, *, is_from_folder: bool = False) -> TeenyError:
    error = E0906.error(name=name, reason=reason)
    lines = [line for line in said.strip().splitlines() if line.strip()]
    for line in lines[-_TAIL:]:
        error.note(line)
    error.help("nothing of it is left; mend what it says, and install it again")
    if is_from_folder:
        return error.help(f"{_FOLDER} must hold all that teenyc needs: {_DOWNLOAD}")
    return error.help(
        "pip's index is chosen as ever: `pip config list`, PIP_INDEX_URL, or `--from FOLDER`"
    )


def _require_usable(wanted: Wanted) -> None:
    """Raise E0906 for a name that no folder should have, or a folder that is not there."""
    name = wanted.name
    if name and not _NAME.fullmatch(name):
        raise E0906.error(
            name=name, reason="a name is made of letters, digits, `.`, `_` and `-`"
        ).help("for example `--name teenyc-old`")
    if wanted.source and not os.path.isdir(wanted.source):
        raise E0906.error(
            name=name or _PACKAGE, reason=f"there is no folder `{wanted.source}`"
        ).help(f"fill it: {_DOWNLOAD}")


# --- folders --------------------------------------------------------------------------------------


def _claim(folder: str, name: str) -> None:
    """Make the folder with its mark."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    try:
        os.mkdir(folder)
    except FileExistsError:
        error = E0907.error(name=name)
        if os.path.exists(os.path.join(folder, places.INCOMPLETE)):
            raise error.help("another process is installing it now") from None
        raise error.help(f"remove it first: `teeny toolchain remove {name}`").help(
            "or give another name: `--name NAME`"
        ) from None
    with open(os.path.join(folder, places.INCOMPLETE), "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


def _sweep(parent: str) -> None:
    """Remove what installs left that were killed."""
    try:
        names = os.listdir(parent)
    except OSError:
        return
    for name in names:
        folder = os.path.join(parent, name)
        if name.startswith(".removed-") or not _is_running(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(folder: str) -> bool:
    """Whether a folder is whole, or is being filled by a process that still runs."""
    try:
        with open(os.path.join(folder, places.INCOMPLETE), encoding="ascii") as file:
            pid = int(file.read())
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return os.path.isfile(folder)
    if pid == os.getpid():
        return False  # one of an earlier process of that number
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _say(quiet: bool, text: str) -> None:
    if not quiet:
        log.info(text)
