"""The folders that toolchains may lie in: this interpreter's scripts, the user's data directory."""

from __future__ import annotations

import os
import sys

from teeny_compiler import env

APPLICATION = "teeny"
# The mark of a toolchain's folder that is being filled.
INCOMPLETE = ".incomplete"
EXECUTABLE_SUFFIX = ".exe" if os.name == "nt" else ""
_BIN = "Scripts" if os.name == "nt" else "bin"


def scripts_folders() -> tuple[str, ...]:
    """Where pip puts this interpreter's commands: the environment's folder, then the user's own."""
    if sys.prefix != sys.base_prefix:  # a virtual environment: known without sysconfig
        return (os.path.join(sys.prefix, _BIN),)
    import site
    import sysconfig

    found = [sysconfig.get_path("scripts")]
    if site.ENABLE_USER_SITE:
        found.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    return tuple(dict.fromkeys(found))


def toolchains_folder() -> str:
    """The folder of named toolchains; it need not exist."""
    if sys.platform.startswith("linux"):  # platformdirs says the same, but takes 20 ms to import
        data = os.path.join(env.xdg_data_home(), APPLICATION)
    else:
        import platformdirs

        data = platformdirs.user_data_dir(APPLICATION, appauthor=False)
    return os.path.join(data, "toolchains")


def default_file(folder: str | None = None) -> str:
    """The file that holds the name of the default toolchain; it need not exist.

    `folder` is `toolchains_folder()` where that is known.
    """
    return os.path.join(toolchains_folder() if folder is None else folder, "default")


def executable_in(environment: str, name: str = "teenyc") -> str:
    """The path of a command in a virtual environment."""
    return os.path.join(environment, _BIN, name + EXECUTABLE_SUFFIX)


def why_not_executable(path: str) -> str | None:
    """Why `path` cannot be run, in words that follow its name; None when it can."""
    if os.access(path, os.X_OK) and os.path.isfile(path):
        return None  # at once: each launch of a new kernel asks
    if not os.path.lexists(path):
        return "does not exist"
    if os.path.isdir(path):
        return "is a directory"
    if not os.path.exists(path):
        return "is a symbolic link to nowhere"
    if not os.path.isfile(path):
        return "is not a file"
    if not os.access(path, os.X_OK):
        return "is not executable"
    return None
