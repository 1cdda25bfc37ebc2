"""Which directory holds the cache, and this process's private folder for when there is none.

The default lies on ground that all users share: it is used only if it is a real directory of this
user that no other can write. Never trust or repair what somebody else may have put there.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from teeny_compiler import env, log
from teeny_compiler.codes import E0920, E0922

NAME = "teenyc_cache"
_PRIVATE_MODE = 0o700
_OTHERS_CAN_WRITE = stat.S_IWGRP | stat.S_IWOTH

# The private folder of this process, under its process id: a forked child makes its own.
_private: dict[int, str] = {}


def default_cache_dir() -> Path:
    """The directory that `compile_kernel` caches in: `TEENYC_CACHE_DIR`, else the default.

    The default is made here; falls back to `<default>-<uid>` and then, with one warning, to a
    private temporary directory. Raises E0922 when not even that can be made.
    """
    given = env.read(env.TEENYC_CACHE_DIR)
    if given is not None:
        return Path(os.path.abspath(os.path.expanduser(given)))
    base = shared_folder()
    refused: list[tuple[str, str]] = []
    for name in _names():
        path = os.path.join(base, name)
        reason = claim(path)
        if reason is None:
            return Path(path)
        refused.append((path, reason))
    path, reason = refused[0]
    found = E0920.warn(path=path, reason=reason)
    found.notes += [f"`{other}` {why}" for other, why in refused[1:]]
    found.notes.append("what is compiled now is forgotten when this process ends")
    found.helps.append("name a directory of your own: `export TEENYC_CACHE_DIR=~/.cache/teenyc`")
    log.warn(found, once="private cache")
    return Path(private_folder()) / "cache"


def shared_folder() -> str:
    """The folder that the default lies in."""
    if os.name == "posix" and os.path.isdir("/tmp"):  # noqa: S108 - `claim` is what makes it safe
        return "/tmp"  # noqa: S108
    import tempfile

    try:
        return tempfile.gettempdir()
    except OSError as error:
        raise _no_folder(error) from error


def claim(path: str) -> str | None:
    """Make `path`, or check what is there: None, or why it is not safe, in words."""
    try:
        os.mkdir(path, _PRIVATE_MODE)
        os.chmod(path, _PRIVATE_MODE)  # an unusual umask may have taken our own rights
    except FileExistsError:
        pass
    except OSError as error:
        return f"cannot be made: {error.strerror}"
    try:
        info = os.lstat(path)
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"
    if stat.S_ISLNK(info.st_mode):
        return "is a symbolic link"
    if not stat.S_ISDIR(info.st_mode):
        return "is not a directory"
    if os.name != "posix":
        return None  # the temporary folder is the user's own there
    if info.st_uid != os.geteuid():
        return f"belongs to another user (uid {info.st_uid})"
    if info.st_mode & _OTHERS_CAN_WRITE:
        return f"can be written by others (mode {stat.S_IMODE(info.st_mode):04o})"
    return None


def private_folder() -> str:
    """A temporary folder of this process alone, removed when it ends. Raises E0922."""
    pid = os.getpid()
    found = _private.get(pid)
    if found is None or not os.path.isdir(found):
        import atexit
        import tempfile

        try:
            found = tempfile.mkdtemp(prefix="teenyc-")
        except OSError as error:
            raise _no_folder(error) from error
        _private[pid] = found
        atexit.register(_remove, pid, found)
    return found


def _names() -> tuple[str, ...]:
    return (NAME, f"{NAME}-{os.geteuid()}") if os.name == "posix" else (NAME,)


def _no_folder(error: OSError) -> Exception:
    return E0922.error(reason=str(error)).help(
        "set TMPDIR or TEENYC_CACHE_DIR to a directory that can be written and has space"
    )


def _remove(pid: int, path: str) -> None:
    if os.getpid() == pid:  # not in a forked child that ends normally
        import shutil

        shutil.rmtree(path, ignore_errors=True)
