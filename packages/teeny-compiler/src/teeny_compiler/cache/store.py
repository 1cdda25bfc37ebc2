"""Entries on disk: `<2 hex>/<key>/` with the files, `.metadata` among them, and their digests.

An entry is made aside in `.tmp`, flushed and renamed, so it appears whole or not at all; it is
checked against its manifest whenever it is read. What cannot be read is a miss, what cannot be kept
is served from where it lies.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from teeny_compiler import log
from teeny_compiler.cache import directory, lock, usage
from teeny_compiler.cache.key import canonical_json
from teeny_compiler.codes import E0920, E0921

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from teeny_compiler.cache.key import Inputs

SCHEMA = 1
MANIFEST = "manifest.json"
ASIDE = ".tmp"
_SHARD = 2  # hexadecimal digits
_SECONDS_UNTIL_STALE = 24 * 3600
_SECONDS_AFTER_DEATH = 3600  # another machine, or container, may have our name

# Network file systems report these for a file that another machine just replaced, or for a moment.
_PASSING = frozenset(
    code
    for code in (
        getattr(errno, name, None) for name in ("ESTALE", "EBUSY", "EAGAIN", "EINTR", "ETIMEDOUT")
    )
    if code is not None
)
_ATTEMPTS = 4
_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
_PIECE = 1 << 16  # bytes of a file that are read at once
_FIRST_PAUSE = 0.01  # seconds; doubles

_T = TypeVar("_T")

# Entries that could not be kept, and where their files lie instead; they end with the process.
_unkept: dict[tuple[str, str], str] = {}


class Entry(NamedTuple):
    """An entry that was read and found whole; `files` are its names without the manifest."""

    where: str
    files: tuple[str, ...]
    manifest: Mapping[str, Any]
    contents: Mapping[str, bytes] | None = None

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return Path(self.where)

    def read(self, name: str) -> bytes:
        """What a file held when its digest was checked; raises OSError where nothing was read."""
        return (self.folder / name).read_bytes() if self.contents is None else self.contents[name]


class DamagedEntryError(Exception):
    """An entry is there but not whole; the text says what is wrong. Never leaves this module."""


class Cache:
    """The cache in one directory; every method copes with one that is absent, full or read-only."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.fspath(root)

    def make(self) -> None:
        """Make the directory, for its owner alone; that it cannot be made shows when it is used."""
        if not os.path.isdir(self.root):
            with contextlib.suppress(OSError):
                os.makedirs(self.root, 0o700, exist_ok=True)

    def folder(self, key: str) -> str:
        """Where the entry of `key` lies, or would lie."""
        return os.path.join(self.root, key[:_SHARD], key)

    def read(self, key: str) -> Entry | None:
        """The entry of `key`, checked against its digests; None without one that can be read."""
        try:
            return _patiently(lambda: _read(self.folder(key), key))
        except FileNotFoundError:
            pass
        except OSError as error:
            log.debug(f"{self.folder(key)} counts as absent: {error}")
        except DamagedEntryError as error:
            log.warn(
                E0921.warn(
                    kernel=_kernel_of(self.folder(key)), reason=f"{error} ({self.folder(key)})"
                )
            )
        kept = _unkept.get((self.root, key))
        try:
            return None if kept is None else _read(kept, key)
        except (OSError, DamagedEntryError):
            return None

    def lock(self, key: str, patience: float) -> AbstractContextManager[None]:
        """Hold this while compiling `key`; it waits `patience` seconds for another process."""
        return lock.hold(self.root, key, patience)

    def folders_to_work_in(self) -> list[Callable[[], str]]:
        """Makers of a folder to compile in, best first: inside the cache nothing is copied."""
        return [self._make_aside, lambda: _make_folder(directory.private_folder())]

    def publish(
        self,
        key: str,
        inputs: Inputs,
        work: str,
        seconds: float,
        *,
        replace: bool,
        text: str = "",
    ) -> Entry:
        """Make the files in `work` the entry of `key`, and return it.

        `text` is what was compiled, kept to tell later what was edited since.

        An entry that is already there and whole is left as it is, unless `replace` and its files
        differ. When the entry cannot be written, its files are served from `work` until this
        process ends.
        """
        contents = _contents(work)
        manifest = _manifest(key, inputs, contents, seconds, text)
        try:
            _write_manifest(work, manifest)
            self._put(key, work, manifest, replace=replace)
            entry = self.read(key)
            if entry is not None:
                _unkept.pop((self.root, key), None)
                return entry
            reason = "the entry vanished after it was written"
        except OSError as error:
            reason = error.strerror or str(error)
        self._warn_unkept(reason)
        where = work if os.path.isdir(work) else self.folder(key)
        _keep_until_exit(self.root, key, where)
        return Entry(where, tuple(sorted(contents)), manifest, contents)

    def adopt(
        self, key: str, manifest: Mapping[str, Any], files: Mapping[str, bytes]
    ) -> Entry | None:
        """Make an entry of files that came from elsewhere; None when it cannot be written."""
        try:
            work = os.path.join(self._make_aside(), "out")
            os.mkdir(work)
            for name, content in files.items():
                with open(os.path.join(work, name), "wb") as file:
                    file.write(content)
            _write_manifest(work, manifest)
            self._put(key, work, manifest, replace=False)
        except OSError as error:
            log.debug(f"{key} cannot be taken over: {error}")
            return None
        return self.read(key)

    def list_keys(self) -> list[str]:
        """The keys of all entries, whole or not."""
        found: list[str] = []
        with contextlib.suppress(OSError):
            for shard in os.scandir(self.root):
                if len(shard.name) == _SHARD and shard.is_dir(follow_symlinks=False):
                    found += [entry.name for entry in os.scandir(shard.path) if entry.is_dir()]
        return sorted(found)

    def fault(self, key: str) -> str:
        """What is wrong with an entry, in words; empty when it is whole or gone."""
        try:
            _patiently(lambda: _read(self.folder(key), key))
        except FileNotFoundError:
            pass
        except OSError as error:
            return f"it cannot be read: {error.strerror or error}"
        except DamagedEntryError as error:
            return str(error)
        return ""

    def remove(self, key: str) -> bool:
        """Remove an entry at once and whole; False when it cannot be, for want of rights."""
        try:
            self._move_aside(self.folder(key))
        except OSError as error:
            log.debug(f"{self.folder(key)} stays: {error}")
            return False
        usage.forget(self.root, key)
        return True

    def can_write(self) -> bool:
        """Whether an entry could be written now."""
        try:
            os.rmdir(self._make_aside())
        except OSError:
            return False
        return True

    def count(self) -> int:
        """The number of entries."""
        return len(self.list_keys())

    # --- writing ---------------------------------------------------------------------------------

    def _make_aside(self) -> str:
        self.make()
        return _patiently(lambda: _make_folder(os.path.join(self.root, ASIDE)))

    def _put(self, key: str, work: str, manifest: Mapping[str, Any], *, replace: bool) -> None:
        self._sweep()
        if os.path.dirname(os.path.dirname(work)) != os.path.join(self.root, ASIDE):
            work = _copy(work, os.path.join(self._make_aside(), "out"))
        _flush(work)
        folder = self.folder(key)
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        for _ in range(_ATTEMPTS):
            try:
                _patiently(lambda: os.rename(work, folder))
            except OSError as error:
                if not os.path.lexists(folder):
                    raise
                if self._is_good(folder, key, manifest, replace=replace):
                    return
                log.debug(f"replacing {folder}: {error}")
                self._move_aside(folder)
            else:
                _flush_folder(os.path.dirname(folder))
                return
        raise OSError(errno.EBUSY, "other processes keep replacing the entry", folder)

    def _is_good(
        self, folder: str, key: str, manifest: Mapping[str, Any], *, replace: bool
    ) -> bool:
        try:
            there = _patiently(lambda: _read(folder, key))
        except (OSError, DamagedEntryError):
            return False
        return not replace or there.manifest["files"] == manifest["files"]

    def _move_aside(self, folder: str) -> None:
        import shutil

        aside = os.path.join(self._make_aside(), "old")
        try:
            os.rename(folder, aside)
        except FileNotFoundError:
            return  # somebody else was quicker
        shutil.rmtree(os.path.dirname(aside), ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what writers left that were killed long ago."""
        import shutil

        aside = os.path.join(self.root, ASIDE)
        now = time.time()
        try:
            with os.scandir(aside) as entries:
                stale = [
                    entry.path
                    for entry in entries
                    if now - entry.stat(follow_symlinks=False).st_mtime > _patience(entry.name)
                ]
        except OSError:
            return
        for path in stale:
            shutil.rmtree(path, ignore_errors=True)

    def _warn_unkept(self, reason: str) -> None:
        found = E0920.warn(path=self.root, reason=reason)
        found.notes.append("what is compiled now is forgotten when this process ends")
        found.helps.append("name a directory that can be written: `export TEENYC_CACHE_DIR=...`")
        log.warn(found, once=f"unkept {self.root}")


# --- reading --------------------------------------------------------------------------------------


def _read(folder: str, key: str) -> Entry:
    import json

    try:
        text = _bytes_of(os.path.join(folder, MANIFEST))
    except FileNotFoundError:
        if os.path.isdir(folder):
            raise DamagedEntryError("its manifest is missing") from None
        raise
    except (IsADirectoryError, NotADirectoryError):
        raise DamagedEntryError("it is not a directory with a manifest") from None
    try:
        manifest = json.loads(text)
        said = manifest.pop("digest")
        schema, names = manifest["schema"], manifest["files"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DamagedEntryError("its manifest cannot be read") from None
    if schema != SCHEMA:
        raise DamagedEntryError(f"it has schema {schema}, and this version reads {SCHEMA}")
    if said != digest(canonical_json(manifest)) or manifest["key"] != key:
        raise DamagedEntryError("its manifest has changed")
    contents: dict[str, bytes] = {}
    for name, facts in names.items():
        try:
            content = _bytes_of(f"{folder}{os.sep}{name}")
        except (FileNotFoundError, IsADirectoryError):
            raise DamagedEntryError(f"`{name}` is missing") from None
        if len(content) != facts["size"] or digest(content) != facts["sha256"]:
            raise DamagedEntryError(f"`{name}` has changed")
        contents[name] = content
    return Entry(folder, tuple(names), manifest, contents)


def _bytes_of(path: str) -> bytes:
    """What a file holds: `open` would take three times as long, and entries have several."""
    descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    try:
        parts = []
        while part := os.read(descriptor, _PIECE):
            parts.append(part)
    finally:
        os.close(descriptor)
    return b"".join(parts)


def _kernel_of(folder: str) -> str:
    """The kernel that a damaged entry was for, as well as can be told."""
    try:
        names = os.listdir(folder)
    except OSError:
        names = []
    return next((name.rpartition(".")[0] for name in names if name.endswith(".metadata")), "kernel")


def digest(content: bytes) -> str:
    """The SHA-256 of a file's content, as it stands in manifests."""
    return sha256(content).hexdigest()


def _patiently(action: Callable[[], _T]) -> _T:
    """What `action` returns, tried again after errors that pass."""
    pause = _FIRST_PAUSE
    for _ in range(_ATTEMPTS - 1):
        try:
            return action()
        except OSError as error:
            if error.errno not in _PASSING:
                raise
            log.debug(f"trying again: {error}")
        time.sleep(pause)
        pause *= 2
    return action()


def _keep_until_exit(root: str, key: str, folder: str) -> None:
    import atexit
    import shutil

    _unkept[root, key] = folder
    pid = os.getpid()

    def remove() -> None:
        # `folder` is the output folder inside the one that was made to work in; an entry stays.
        if os.getpid() == pid and os.path.basename(folder) != key:
            shutil.rmtree(os.path.dirname(folder), ignore_errors=True)

    atexit.register(remove)


# --- files ----------------------------------------------------------------------------------------


def _contents(work: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name in sorted(os.listdir(work)):
        with open(os.path.join(work, name), "rb") as file:
            found[name] = file.read()
    return found


def _manifest(
    key: str, inputs: Inputs, contents: Mapping[str, bytes], seconds: float, text: str
) -> dict[str, Any]:
    files = {
        name: {"size": len(content), "sha256": digest(content)}
        for name, content in contents.items()
    }
    return {
        "schema": SCHEMA,
        "key": key,
        "inputs": inputs,
        "files": files,
        "seconds": round(seconds, 4),
        "created": int(time.time()),
        "text": text,
    }


def _write_manifest(work: str, manifest: Mapping[str, Any]) -> None:
    import json

    text = json.dumps({**manifest, "digest": digest(canonical_json(manifest))}, indent=1)
    with open(os.path.join(work, MANIFEST), "w", encoding="utf-8", newline="\n") as file:
        file.write(text + "\n")


def _make_folder(parent: str) -> str:
    """A fresh folder in `parent`, of a name that says whose it is."""
    import secrets

    os.makedirs(parent, exist_ok=True)  # a directory may be shared by a group
    path = os.path.join(parent, f"{_machine()}-{os.getpid()}-{secrets.token_hex(6)}")
    os.mkdir(path, 0o700)
    return path


def _patience(name: str) -> float:
    """After how many seconds a folder to work in is given up: never while its process runs.

    Clocks may jump.
    """
    machine, _, rest = name.partition("-")
    pid = rest.partition("-")[0]
    if os.name != "posix" or machine != _machine() or not pid.isdecimal():
        return _SECONDS_UNTIL_STALE
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return _SECONDS_AFTER_DEATH
    except (OSError, OverflowError):
        pass  # it is another user's
    return float("inf")


def _machine() -> str:
    """A short name of this machine, the same in all its processes."""
    import platform

    return digest(platform.node().encode())[:6]


def _copy(source: str, goal: str) -> str:
    import shutil

    shutil.copytree(source, goal)
    return goal


def _flush(folder: str) -> None:
    """Bring files to the disk before their folder is renamed: a power cut must leave none empty."""
    for name in os.listdir(folder):
        descriptor = os.open(os.path.join(folder, name), os.O_RDWR | getattr(os, "O_BINARY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    _flush_folder(folder)


def _flush_folder(folder: str) -> None:
    if os.name != "posix":
        return  # directories cannot be flushed there
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)
