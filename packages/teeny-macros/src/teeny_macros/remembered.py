"""What reading the functions of a file found, kept for later processes beside Python's own code.

`__pycache__/kernels.cpython-311.teeny` counts only for exactly the text, Python and code that it
was made with. What cannot be read or written is found anew; nothing here may fail.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from teeny_macros.locks import Lock

if TYPE_CHECKING:
    from collections.abc import Sequence

_SUFFIX = ".teeny"
_DIGEST = 32  # bytes
_MOST = 10_000  # records of one file
# What the content of records follows from besides a file's text; `of` reads their sources.
_MAKERS = ("normalise.py", "names.py", "texts.py", "remembered.py")

_lock = Lock()
_memories: dict[str, Memory] = {}
_revisions: list[bytes | None] = []


class Memory:
    """The records of one file: plain values (numbers, texts, tuples of them) by their names."""

    __slots__ = ("_fresh", "_path", "_records", "_stamp", "lines")

    def __init__(self, lines: Sequence[str], path: str, stamp: bytes) -> None:
        self.lines = lines
        self._path = path
        self._stamp = stamp
        self._records = _read(path, stamp)
        self._fresh = 0  # how many are not on the disk

    def get(self, name: str) -> Any:
        """A record, or None."""
        from marshal import loads

        found = self._records.get(name)
        return None if found is None else loads(found)  # noqa: S302 - its digest was checked

    def put(self, name: str, record: Any) -> None:
        """Keep a record. They are written when as many are new as are not, and at the end."""
        from marshal import dumps

        with _lock:
            if len(self._records) >= _MOST:
                return  # kernels are renamed without end, as it seems
            if not _pending:
                import atexit

                atexit.register(_write_pending)
            self._records[name] = dumps(record)
            self._fresh += 1
            _pending[self._path] = self
            if self._fresh * 2 >= len(self._records):
                self.write()

    def write(self) -> None:
        """Bring the records to the disk, with those that other processes found meanwhile."""
        from hashlib import sha256
        from marshal import dumps

        if not self._fresh or sys.dont_write_bytecode:
            return
        self._records = _read(self._path, self._stamp) | self._records
        self._fresh = 0
        payload = dumps(self._records)
        _replace(self._path, self._stamp + sha256(payload).digest() + payload)


_pending: dict[str, Memory] = {}


def of(file: str, lines: Sequence[str]) -> Memory | None:
    """The memory of a file whose text is `lines`; None where nothing can be kept beside it."""
    known = _memories.get(file)
    if known is not None and known.lines is lines:
        return known
    if file.startswith("<"):
        return None
    with _lock:
        if not _revisions:
            _revisions.append(_revision())
        revision = _revisions[0]
        path = None if revision is None else _path_of(file)
        if revision is None or path is None:
            return None
        from hashlib import sha256

        text = "".join(lines).encode("utf-8", "surrogatepass")
        found = Memory(lines, path, sha256(revision + text).digest())
        _memories[file] = found
        return found


def _revision() -> bytes | None:
    """What tells this Python, and this version of the code that makes records, from any other."""
    from hashlib import sha256

    digest = sha256(f"{sys.version} {sys.implementation.name}".encode())
    folder = os.path.dirname(__file__)
    try:
        for name in _MAKERS:
            with open(os.path.join(folder, name), "rb") as file:
                digest.update(file.read())
    except OSError:  # in an archive, or without sources
        return None
    return digest.digest()


def _path_of(file: str) -> str | None:
    """Where the records of a file lie, which need not be there."""
    from importlib.util import cache_from_source

    if not os.path.isfile(file):
        return None
    try:
        path = cache_from_source(os.path.abspath(file), optimization="")
    except (NotImplementedError, ValueError):
        return None
    return path.removesuffix(".pyc") + _SUFFIX


def _read(path: str, stamp: bytes) -> dict[str, bytes]:
    """The records in a file that was made with `stamp` and is whole; else none."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return {}
    from hashlib import sha256
    from marshal import loads

    payload = data[2 * _DIGEST :]
    if data[: 2 * _DIGEST] != stamp + sha256(payload).digest():
        return {}
    found: dict[str, bytes] = loads(payload)  # noqa: S302 - its digest was checked
    return found


def _replace(path: str, data: bytes) -> None:
    aside = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(aside, path)
        except BaseException:  # Ctrl-C too
            os.unlink(aside)
            raise
    except OSError:
        return  # read-only, or full: the next process finds it anew


def _write_pending() -> None:
    with _lock:
        for memory in _pending.values():
            memory.write()
