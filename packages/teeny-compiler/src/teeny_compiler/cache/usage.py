"""Use stamps: `.used/<key>` has a byte for each process that found the entry, its time is the last.

Beside the entries and not in them, which never change. What cannot be written is not counted.
"""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

FOLDER = ".used"


class Usage(NamedTuple):
    """How many hits, and when the last one was, in seconds since the epoch (0: never)."""

    hits: int = 0
    last: float = 0.0


def note(root: str, key: str) -> None:
    """Count a hit."""
    path = os.path.join(root, FOLDER, key)
    with contextlib.suppress(OSError):
        try:
            _append(path)
        except FileNotFoundError:
            os.mkdir(os.path.dirname(path), 0o700)
            _append(path)


def read(root: str, key: str) -> Usage:
    """The hits of an entry; none where no stamp is."""
    try:
        found = os.stat(os.path.join(root, FOLDER, key))
    except OSError:
        return Usage()
    return Usage(found.st_size, found.st_mtime)


def forget(root: str, key: str) -> None:
    """Remove the stamp of an entry that is gone."""
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(root, FOLDER, key))


def _append(path: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, b".")
    finally:
        os.close(descriptor)
