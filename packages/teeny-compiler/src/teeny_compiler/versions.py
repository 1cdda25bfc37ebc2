"""Which versions a toolchain holds: they are part of every key, so asking has to be cheap.

Read from the environment's `*.dist-info` names where teenyc is installed in one; else asked once of
`teenyc --version --verbose` and remembered under the executable's path, time and size.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from teeny_compiler import env, log, places
from teeny_compiler.codes import E0905

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny_compiler.toolchain import Toolchain

Versions = tuple[tuple[str, str], ...]

# What decides about code: teenyc itself and its back ends, under their distribution names.
_TEENYC = "teenyc"
NAMES = (_TEENYC, "triton", "llvmlite")
ABSENT = "absent"
_DIST_INFO = ".dist-info"
_SECONDS_TO_ANSWER = 60
_CHECK = "check what `teenyc --version --verbose` says, or name another: `export TEENYC_PATH=...`"
_SCHEMA = 1
_LAST = "last.json"

# A folder changed so short ago may change again at the same time, as its file system counts.
_CLOCK_TICK = 2_000_000_000  # nanoseconds
Distribution = tuple[str, str, str]

# What this process knows: folder -> (its time, its packages), metadata folder -> (its time, the
# project that it stands for).
_listed: dict[str, tuple[int, tuple[Distribution, ...]]] = {}
_roots: dict[str, tuple[int, str]] = {}

# folder -> (its time, the Python files in it, its folders)
_folders: dict[str, tuple[int, list[str], list[str]]] = {}

# (path, mtime, size) of an executable -> what it answered, for this process.
_answers: dict[tuple[str, int, int], Versions] = {}


def versions_of(toolchain: Toolchain, memory: str | None = None) -> Versions:
    """`(name, version)` of teenyc and its back ends; `absent` for one that is not installed.

    `memory` is a folder in which answers of executables are kept; it may be unwritable. Raises
    E0905.
    """
    found = _from_environment(toolchain)
    return found if found is not None else _from_executable(toolchain, memory)


def ask(toolchain: Toolchain) -> dict[str, str]:
    """What `teenyc --version --verbose` says: its version, `triton`, `llvmlite` where they are.

    `supported` is the range of Triton's versions that it drives, where it says so. Raises E0905.
    """
    answer = _ask(toolchain)
    rows = {name: version for name, version in _parse(toolchain, answer) if version != ABSENT}
    _, found, rest = answer.partition("(supported: ")
    if found:
        rows["supported"] = rest.partition(")")[0]
    return rows


def is_within(version: str, supported: str) -> bool:
    """Whether a version is in a range such as `>=3.6,<3.10`; a range of another form has all."""
    import re

    found = _numbers(version)
    for part in supported.split(","):
        match = re.fullmatch(r"\s*(>=|<)\s*([\d.]+)\s*", part)
        if match is None:
            continue
        limit = _numbers(match[2])
        if (found < limit) == (match[1] == ">="):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    import re

    return tuple(int(digits) for digits in re.findall(r"\d+", version.partition("+")[0])[:3])


def remember_last(found: Mapping[str, str], memory: str) -> None:
    """Note the versions that were used last, for when teenyc is gone but its results are there."""
    _write(os.path.join(memory, _LAST), {"schema": _SCHEMA, "versions": dict(found)})


def recall_last(memory: str) -> Versions | None:
    """The versions that `remember_last` noted."""
    return _read(os.path.join(memory, _LAST), None)


# --- from the environment's metadata --------------------------------------------------------------


def _from_environment(toolchain: Toolchain) -> Versions | None:
    rows: dict[str, str] = {}
    put_before = "" if toolchain.name else _put_before()
    for folder in library_folders(toolchain):
        for name, version, path in _distributions(folder):
            if name == "teenyc":
                state = _state_of(put_before) if put_before else _source_state(path)
                version += state  # noqa: PLW2901 - the version is what it says
            if rows.setdefault(name, version) != version and name == "teenyc":
                return None  # two teenycs: only the executable knows which it runs
    if "teenyc" not in rows:
        return None
    return tuple((name, rows.get(name, ABSENT)) for name in NAMES)


def library_folders(toolchain: Toolchain) -> list[str]:
    """The folders that the toolchain's Python imports packages from."""
    folder = os.path.dirname(toolchain.path)
    if any(own == folder or _is_same(own, folder) for own in places.scripts_folders()):
        return [entry for entry in sys.path if entry]
    found = [os.path.join(toolchain.prefix, "Lib", "site-packages")]
    library = os.path.join(toolchain.prefix, "lib")
    try:
        pythons = [name for name in os.listdir(library) if name.startswith("python")]
    except OSError:
        pythons = []
    found += [os.path.join(library, name, "site-packages") for name in sorted(pythons)]
    return found


def _is_same(first: str, second: str) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)


def _distributions(folder: str) -> tuple[Distribution, ...]:
    """(name, version, metadata folder) of what matters among the packages in a folder.

    A folder is listed once for as long as its time stands: each launch of a new kernel asks.
    """
    try:
        stamp = os.stat(folder).st_mtime_ns
    except OSError:
        return ()
    known = _listed.get(folder)
    if known is not None and known[0] == stamp:
        return known[1]
    try:
        names = os.listdir(folder)
    except OSError:
        return ()
    found = []
    for entry in names:
        if entry.endswith(_DIST_INFO):
            name, _, version = entry.removesuffix(_DIST_INFO).partition("-")
            if name.lower() in NAMES:
                found.append((name.lower(), version, os.path.join(folder, entry)))
    if time.time_ns() - stamp > _CLOCK_TICK:
        _listed[folder] = stamp, tuple(found)
    return tuple(found)


def _put_before() -> str:
    """The folder of a teenyc that PYTHONPATH puts before the installed one; empty without one."""
    for folder in (env.python_path() or "").split(os.pathsep):
        if folder and os.path.isfile(os.path.join(folder, _TEENYC, "__init__.py")):
            return os.path.join(folder, _TEENYC)
    return ""


def _source_state(dist_info: str) -> str:
    """For a teenyc that is installed in editable form: a digest of what its files look like."""
    try:
        stamp = os.stat(dist_info).st_mtime_ns
    except OSError:
        return ""
    known = _roots.get(dist_info)
    if known is None or known[0] != stamp:
        known = _roots[dist_info] = stamp, _editable_root(dist_info)
    root = known[1]
    if not root:
        return ""
    source = os.path.join(root, "src")
    return _state_of(source if os.path.isdir(source) else root)


def _state_of(source: str) -> str:
    """A digest of what the Python files below a folder look like."""
    from hashlib import sha256

    rows: list[str] = []
    _look_at(source, rows)
    return f"+src.{sha256(''.join(rows).encode()).hexdigest()[:12]}"


def _look_at(folder: str, rows: list[str]) -> None:
    files, folders = _listing(folder)
    for path in files:
        try:
            info = os.stat(path)
        except OSError:
            continue  # an editor may be replacing it
        rows.append(f"{path} {info.st_size} {info.st_mtime_ns}\n")
    for path in folders:
        _look_at(path, rows)


def _listing(folder: str) -> tuple[list[str], list[str]]:
    """The Python files in a folder, and its folders; it is listed once while its time stands."""
    try:
        stamp = os.stat(folder).st_mtime_ns
        known = _folders.get(folder)
        if known is not None and known[0] == stamp:
            return known[1], known[2]
        with os.scandir(folder) as entries:
            rows = sorted((e.name, e.path, e.is_dir(follow_symlinks=False)) for e in entries)
    except OSError:
        return [], []
    files = [path for name, path, is_dir in rows if name.endswith(".py") and not is_dir]
    folders = [path for name, path, is_dir in rows if is_dir and not name.startswith((".", "_"))]
    if time.time_ns() - stamp > _CLOCK_TICK:
        _folders[folder] = stamp, files, folders
    return files, folders


def _editable_root(dist_info: str) -> str:
    """The folder of the project that an editable install stands for; empty for any other."""
    try:
        with open(os.path.join(dist_info, "direct_url.json"), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return ""
    import json
    from urllib.parse import unquote, urlsplit

    try:
        data = json.loads(text)
        editable = data.get("dir_info", {}).get("editable", False)
        root = unquote(urlsplit(data["url"]).path) if editable else ""
    except (ValueError, KeyError, AttributeError):
        return ""
    return root.lstrip("/") if os.name == "nt" else root  # file:///C:/project


# --- from the executable --------------------------------------------------------------------------


def _from_executable(toolchain: Toolchain, memory: str | None) -> Versions:
    try:
        info = os.stat(toolchain.path)
    except OSError as error:
        raise E0905.error(path=toolchain.path).note(str(error)).help(_CHECK) from error
    identity = (os.path.realpath(toolchain.path), info.st_mtime_ns, info.st_size)
    found = _answers.get(identity) or _remembered(identity, memory)
    if found is None:
        log.debug(f"asking {toolchain.path} for its version")
        found = _parse(toolchain, _ask(toolchain))
        _remember(identity, found, memory)
    _answers[identity] = found
    return found


def _ask(toolchain: Toolchain) -> str:
    import subprocess

    try:
        answer = subprocess.run(
            [toolchain.path, "--version", "--verbose"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS_TO_ANSWER,
            env=env.for_teenyc(apart=bool(toolchain.name)),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise (E0905.error(path=toolchain.path).note(str(error)).help(_CHECK)) from error
    if answer.returncode != 0:
        said = (answer.stderr or answer.stdout).decode(errors="replace").strip()
        error = E0905.error(path=toolchain.path).note(f"it ended with status {answer.returncode}")
        raise (error.note(said[-2000:]) if said else error).help(_CHECK)
    return answer.stdout.decode(errors="replace")


def _parse(toolchain: Toolchain, answer: str) -> Versions:
    """The rows of `teenyc 0.1.0`, `triton: 3.9.0 (...)`, `llvmlite: not installed`."""
    rows: dict[str, str] = {}
    for line in answer.splitlines():
        name, _, value = line.replace(":", " ", 1).strip().partition(" ")
        words = value.split()
        if name in NAMES and words:
            rows.setdefault(name, ABSENT if words[0] == "not" else words[0])
    if "teenyc" not in rows:
        raise (
            E0905.error(path=toolchain.path)
            .note(f"it says: {answer.strip()[:500] or 'nothing'}")
            .help(_CHECK)
        )
    return tuple((name, rows.get(name, ABSENT)) for name in NAMES)


def _memory_file(identity: tuple[str, int, int], memory: str) -> str:
    from hashlib import sha256

    return os.path.join(memory, sha256(identity[0].encode()).hexdigest()[:16] + ".json")


def _remembered(identity: tuple[str, int, int], memory: str | None) -> Versions | None:
    return None if memory is None else _read(_memory_file(identity, memory), list(identity))


def _remember(identity: tuple[str, int, int], found: Versions, memory: str | None) -> None:
    if memory is not None:
        data = {"schema": _SCHEMA, "identity": list(identity), "versions": dict(found)}
        _write(_memory_file(identity, memory), data)


def _read(path: str, identity: list[object] | None) -> Versions | None:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if data["schema"] != _SCHEMA or data.get("identity") != identity:
            return None
        return tuple((name, str(data["versions"][name])) for name in NAMES)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _write(path: str, data: object) -> None:
    import json

    aside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(aside, "w", encoding="utf-8") as file:
            json.dump(data, file)
        os.replace(aside, path)
    except OSError as error:
        log.debug(f"versions cannot be remembered: {error}")
