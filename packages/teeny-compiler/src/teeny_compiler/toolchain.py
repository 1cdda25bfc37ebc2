"""Finding teenyc: small steps in an order; each miss is kept for the error to list.

1. `TEENYC_PATH`; 2. `TEENYC_TOOLCHAIN` or the chosen default; 3. exactly one of this interpreter's
scripts folder and the toolchains in the user's data directory. PATH is not searched. Nothing is run
here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from teeny_compiler import env, places
from teeny_compiler.codes import E0901, E0902, E0903, E0904

if TYPE_CHECKING:
    from teeny_macros.diagnostics import TeenyError

COMMAND = "teenyc"
_INSTALL = "`pip install 'teenyc[cuda]'` puts it into this environment (without `[cuda]`: no PTX)"
_INSTALL_APART = "or keep it apart from your packages: `teeny toolchain install`"


class Toolchain(NamedTuple):
    """A teenyc that can be run: its path, why it was chosen, and its name if it has one."""

    path: str
    origin: str
    name: str = ""

    @property
    def prefix(self) -> str:
        """The folder of the environment that the executable is installed in."""
        return os.path.dirname(os.path.dirname(os.path.realpath(self.path)))


class Place(NamedTuple):
    """One place that was looked at, and what it holds."""

    where: str
    holds: str

    def __str__(self) -> str:
        return f"{self.where}: {self.holds}"


def find_teenyc() -> Toolchain:
    """The teenyc to run.

    Raises E0901 (none), E0902 (several), E0903 (`TEENYC_PATH` cannot be run) or E0904
    (`TEENYC_TOOLCHAIN` or the chosen default names a toolchain that is not there).
    """
    looked_at: list[Place] = []
    found = _from_path_variable(looked_at)
    if found is None:
        folder = places.toolchains_folder()
        found = _from_name(looked_at, folder) or _only_candidate(looked_at, folder)
    if found is None:
        raise _missing(looked_at)
    return found


def names() -> list[str]:
    """The names of the toolchains, also of those that cannot be run."""
    return _subfolders(places.toolchains_folder())


def list_toolchains() -> list[Toolchain]:
    """The named toolchains in the user's data directory, by name."""
    folder = places.toolchains_folder()
    found = []
    for name in _subfolders(folder):
        path = places.executable_in(os.path.join(folder, name))
        if places.why_not_executable(path) is None:
            found.append(Toolchain(path, f"toolchain `{name}`", name))
    return found


def default_name(folder: str | None = None) -> str | None:
    """The name that `teeny toolchain default NAME` stored. `folder` as in `places.default_file`."""
    path = places.default_file(folder)
    if not os.access(path, os.F_OK):
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def set_default(name: str) -> Toolchain:
    """Choose the toolchain `name` for every later run. Raises E0904 when it is not there."""
    found = named(name)
    path = places.default_file()
    aside = f"{path}.{os.getpid()}"
    with open(aside, "w", encoding="utf-8") as file:
        file.write(name + "\n")
    os.replace(aside, path)
    return found


# --- the steps, in their order --------------------------------------------------------------------


def _from_path_variable(looked_at: list[Place]) -> Toolchain | None:
    path = env.read(env.TEENYC_PATH)
    if path is None:
        looked_at.append(Place("TEENYC_PATH", "not set"))
        return None
    reason = places.why_not_executable(path)
    if reason is not None:
        error = E0903.error(path=path, reason=reason)
        raise error.help("name an executable file: `export TEENYC_PATH=/path/to/bin/teenyc`").help(
            "or `unset TEENYC_PATH`, and teenyc is searched for"
        )
    return Toolchain(os.path.abspath(path), "TEENYC_PATH")


def _from_name(looked_at: list[Place], folder: str) -> Toolchain | None:
    name = env.read(env.TEENYC_TOOLCHAIN)
    if name is not None:
        return named(name, "TEENYC_TOOLCHAIN")
    looked_at.append(Place("TEENYC_TOOLCHAIN", "not set"))
    name, file = default_name(folder), places.default_file(folder)
    if name is not None:
        return named(name, f"the default in {file}")
    looked_at.append(Place(file, "no default is chosen"))
    return None


def _only_candidate(looked_at: list[Place], data: str) -> Toolchain | None:
    found: list[Toolchain] = []
    for folder in places.scripts_folders():
        path = os.path.join(folder, COMMAND + places.EXECUTABLE_SUFFIX)
        reason = places.why_not_executable(path)
        looked_at.append(Place(path, reason or "is a teenyc"))
        if reason is None:
            found.append(Toolchain(path, "this interpreter's scripts folder"))
            break  # the user's own scripts only count where the environment has none
    names = _subfolders(data)
    if not names and not found:
        looked_at.append(
            Place(data, "holds no toolchain" if os.path.isdir(data) else "does not exist")
        )
    for name in names:
        path = places.executable_in(os.path.join(data, name))
        reason = places.why_not_executable(path)
        if COMMAND not in name:
            reason = f"its name does not contain `{COMMAND}`"
        looked_at.append(Place(os.path.join(data, name), reason or "is a toolchain"))
        if reason is None:
            found.append(Toolchain(path, f"toolchain `{name}`", name))
    if len(found) > 1:
        raise _several(found, looked_at)
    return found[0] if found else None


# --- errors ---------------------------------------------------------------------------------------


def _missing(looked_at: list[Place]) -> TeenyError:
    error = E0901.error()
    for place in looked_at:
        error.note(str(place))
    error.note("PATH is not searched" + _on_path())
    error.help(_INSTALL).help(_INSTALL_APART)
    return error.help("or name one: `export TEENYC_PATH=/path/to/bin/teenyc`")


def _on_path() -> str:
    import shutil

    found = shutil.which(COMMAND)
    return f", though it has {found}" if found else ""


def _several(found: list[Toolchain], looked_at: list[Place]) -> TeenyError:
    error = E0902.error(count=len(found))
    for place in looked_at:
        error.note(str(place))
    for toolchain in found:
        error.help(f"for this one: `export TEENYC_PATH={toolchain.path}`")
    for toolchain in found:
        if toolchain.name:
            error.help(f"or for good: `teeny toolchain default {toolchain.name}`")
    return error


def named(name: str, by: str = "") -> Toolchain:
    """The toolchain `name`, asked for by a command or, lastingly, `by` something. Raises E0904."""
    folder = places.toolchains_folder()
    names = _subfolders(folder)
    path = places.executable_in(os.path.join(folder, name))
    reason = places.why_not_executable(path) if name in names else None
    if name in names and reason is None:
        return Toolchain(path, f"{by or 'name'}: toolchain `{name}`", name)
    error = E0904.error(name=name)
    if by:
        error.note(f"asked for by {by}")
    if reason is not None:
        error.note(f"{path}: {reason}")
    error.note(f"{folder} holds {', '.join(f'`{other}`' for other in names) or 'no toolchain'}")
    raise _with_choice(error, names, by)


def _with_choice(error: TeenyError, names: list[str], by: str) -> TeenyError:
    if not by:
        return error.help(
            "`teeny toolchain list` shows them" if names else "make one: `teeny toolchain install`"
        )
    if names:
        return error.help(
            f"`export TEENYC_TOOLCHAIN={names[0]}` or `teeny toolchain default {names[0]}`"
        )
    return error.help(f"unset TEENYC_TOOLCHAIN and remove {places.default_file()}, then {_INSTALL}")


def _subfolders(folder: str) -> list[str]:
    if not os.access(folder, os.F_OK):
        return []
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return []
    return sorted(
        name
        for name in names
        if not name.startswith(".")
        and not os.path.lexists(os.path.join(folder, name, places.INCOMPLETE))
    )
