"""Limits of size and age, kept without being asked: what was used least recently goes.

Looking at every entry is dear, so a ledger (`.ledger`) holds the size at the last look and what was
added since. It is an estimate: a process that dies, or two at once, only make the next look earlier
or later. What a reader may hold is left alone, and nothing here ever fails a compilation.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from teeny_compiler import env, log
from teeny_compiler.cache import lock, survey, units
from teeny_compiler.codes import E0914

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from teeny_compiler.cache.store import Cache

_T = TypeVar("_T")

LEDGER = ".ledger"
# An entry used so short ago may be about to be loaded by the process that found it.
GRACE_SECONDS = 600.0
_ROOM = 0.8  # of the size limit is left full, so that not every compilation has to clean up
_SECONDS_BETWEEN = 60.0
_SECONDS_AT_MOST = 86400.0
_MOST_LINES = 4000
_LEFTOVERS = (lock.FOLDER, ".failed", ".cubins")


class Limits(NamedTuple):
    """Bytes that a cache may hold, and seconds that an entry may be unused; None: no limit."""

    size: int | None
    age: float | None


def configured() -> Limits:
    """The limits that the environment sets. Raises E0914."""
    return Limits(
        _read(env.TEENYC_CACHE_MAX_SIZE, units.parse_size, "a size such as 500M or 10G"),
        _read(env.TEENYC_CACHE_MAX_AGE, units.parse_age, "an age such as 12h or 30d"),
    )


def keep(cache: Cache, added: int, limits: Limits) -> None:
    """Note that `added` bytes came into the cache, and clean up where that is due."""
    try:
        if _is_due(_note(cache.root, added), limits):
            trim(cache, limits)
    except OSError as error:
        log.debug(f"the limits of {cache.root} cannot be kept: {error}")


def trim(cache: Cache, limits: Limits) -> list[survey.Record]:
    """Remove what is beyond the limits, and what killed processes left; returns what went."""
    now = time.time()
    records = survey.survey(cache)
    total = sum(record.size for record in records)
    room = limits.size
    if room is not None and total > room:
        room = int(room * _ROOM)
    gone = [
        record
        for record in survey.beyond(records, now, room, limits.age)
        if abs(now - record.last_used) > GRACE_SECONDS and cache.remove(record.key)
    ]
    total -= sum(record.size for record in gone)
    _sweep(cache.root, now, limits.age)
    with contextlib.suppress(OSError):
        _write(cache.root, int(now), total)
    if gone:
        log.debug(f"removed {len(gone)} entries from {cache.root}, which has {total} bytes now")
    return gone


def _read(variable: env.Variable, parse: Callable[[str], _T | None], wanted: str) -> _T | None:
    text = env.read(variable) or variable.default
    if text == "none":
        return None
    found = parse(text)
    if found is None:
        raise E0914.error(name=variable.name, value=text, wanted=f"{wanted}, or none").help(
            f"unset it for the default, {variable.default}"
        )
    return found


class _Ledger(NamedTuple):
    """When the cache was looked at last, the bytes it has by now, and the lines since."""

    looked: float
    total: int
    lines: int


def _note(root: str, added: int) -> _Ledger:
    path = os.path.join(root, LEDGER)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"+{added}\n".encode())
    finally:
        os.close(descriptor)
    looked, total, lines = 0.0, 0, 0
    with open(path, "rb") as file:
        for line in file:
            lines += 1
            with contextlib.suppress(ValueError):
                if line.startswith(b"+"):
                    total += int(line)
                else:
                    first, _, held = line.partition(b" ")
                    looked, total = float(first), int(held)
    return _Ledger(looked, total, lines)


def _is_due(ledger: _Ledger, limits: Limits) -> bool:
    passed = time.time() - ledger.looked
    if passed < 0 or passed > _SECONDS_AT_MOST or ledger.lines > _MOST_LINES:
        return True  # a clock that went back is no reason to wait
    is_full = limits.size is not None and ledger.total > limits.size
    return is_full and passed > _SECONDS_BETWEEN


def _write(root: str, now: int, total: int) -> None:
    path = os.path.join(root, LEDGER)
    aside = f"{path}.{os.getpid()}"
    with open(aside, "w", encoding="ascii", newline="\n") as file:
        file.write(f"{now} {total}\n")
    os.replace(aside, path)


def _sweep(root: str, now: float, age: float | None) -> None:
    """Locks and folders that nobody will come back for."""
    import shutil

    longest = max(age or 0.0, _SECONDS_AT_MOST)
    for path in _old(root, now, longest):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _old(root: str, now: float, longest: float) -> Iterator[str]:
    for name in _LEFTOVERS:
        with contextlib.suppress(OSError), os.scandir(os.path.join(root, name)) as rows:
            for row in rows:
                with contextlib.suppress(OSError):
                    if now - row.stat(follow_symlinks=False).st_mtime > longest:
                        yield row.path
