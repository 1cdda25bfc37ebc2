"""What a cache holds, entry by entry, and which entries a limit takes away; it changes nothing.

Manifests are read without checking digests: `Cache.fault` does that.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler.cache import usage
from teeny_compiler.cache.store import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from teeny_compiler.cache.store import Cache


class Record(NamedTuple):
    """An entry: sizes in bytes, `seconds` that compiling took, times in seconds since the epoch.

    `inputs` and `files` are empty where the manifest cannot be read.
    """

    key: str
    kernel: str
    target: str
    size: int
    seconds: float
    created: float
    hits: int
    last_used: float
    inputs: Mapping[str, Any]
    files: Mapping[str, int]


def survey(cache: Cache) -> list[Record]:
    """The entries, the one used last at the end."""
    found = [record for key in cache.list_keys() if (record := read_record(cache, key)) is not None]
    return sorted(found, key=lambda record: (record.last_used, record.key))


def read_record(cache: Cache, key: str) -> Record | None:
    """One entry; None when it is gone."""
    folder = cache.folder(key)
    used = usage.read(cache.root, key)
    try:
        with os.scandir(folder) as rows:
            sizes = {row.name: row.stat(follow_symlinks=False).st_size for row in rows}
        created = os.stat(folder).st_mtime
    except OSError:
        return None
    manifest = _manifest(os.path.join(folder, MANIFEST))
    inputs = manifest.get("inputs", {})
    made = float(manifest.get("created", created))
    return Record(
        key,
        str(inputs.get("kernel", "?")),
        str(inputs.get("target", "?")),
        sum(sizes.values()),
        float(manifest.get("seconds", 0.0)),
        made,
        used.hits,
        max(used.last, made),
        inputs,
        {name: size for name, size in sorted(sizes.items()) if name != MANIFEST},
    )


def text_of(cache: Cache, key: str) -> str:
    """The text that an entry was compiled from; empty where it does not say."""
    return str(_manifest(os.path.join(cache.folder(key), MANIFEST)).get("text", ""))


def beyond(
    records: Iterable[Record], now: float, max_bytes: int | None, max_age: float | None
) -> list[Record]:
    """What goes: entries unused for longer than `max_age` seconds, then the least recently used.

    The rest has at most `max_bytes`. None is no limit.
    """
    ordered = sorted(records, key=lambda record: (record.last_used, record.key))
    gone = [r for r in ordered if max_age is not None and now - r.last_used > max_age]
    kept = ordered[len(gone) :]
    total = sum(record.size for record in kept)
    for record in kept:
        if max_bytes is None or total <= max_bytes:
            break
        gone.append(record)
        total -= record.size
    return gone


def differences(wanted: Mapping[str, Any], record: Record) -> list[tuple[str, Any, Any]]:
    """(name, wanted, found) of each input that an entry was made with and that is other now."""
    found = []
    for name, now, then in _pairs(wanted, record.inputs):
        if isinstance(now, dict) and isinstance(then, dict):
            found += [(f"{name}.{key}", a, b) for key, a, b in _pairs(now, then) if a != b]
        elif now != then:
            found.append((name, now, then))
    return found


def _pairs(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(name, left.get(name), right.get(name)) for name in sorted({*left, *right})]


def _manifest(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    is_sound = (
        isinstance(found, dict)
        and isinstance(found.get("inputs"), dict)
        and isinstance(found.get("created"), int)
        and isinstance(found.get("seconds"), int | float)
    )
    return found if is_sound else {}
