"""The remote layer: entries as single blobs at an fsspec URL, asked after the local cache.

`<url>/<2 hex>/<key>.entry` is a first line, the manifest on one line, then the files' bytes in the
order of their names. A blob is believed only when every digest fits. What fails here is one warning
and no more requests in this process, never a failed compilation.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler import env, log
from teeny_compiler.cache import store
from teeny_compiler.cache.key import canonical_json
from teeny_compiler.codes import E0914, E0925

if TYPE_CHECKING:
    from teeny_compiler.cache.store import Cache, Entry

_MAGIC = b"teeny-entry 1\n"
_MODES = ("read-write", "read")
# URLs that did not answer: nobody waits for them again in this process.
_given_up: set[str] = set()


class Blob(NamedTuple):
    """An entry in memory."""

    manifest: dict[str, Any]
    files: dict[str, bytes]


class Remote:
    """The entries at one URL."""

    def __init__(self, url: str, *, can_write: bool) -> None:
        self.url = url
        self.can_write = can_write
        self._system: Any = None
        self._root = ""

    def fetch(self, key: str, cache: Cache) -> Entry | None:
        """Bring an entry into the local cache; None when it is not there, or not whole."""
        if self.url in _given_up:
            return None
        try:
            blob = unpack(self._open().cat_file(self._path(key)), key)
        except FileNotFoundError:
            return None
        except Exception as error:  # noqa: BLE001 - each file system has errors of its own
            self._give_up(error)
            return None
        if blob is None:
            log.debug(f"{self.url}: the entry {key} is not whole")
            return None
        return cache.adopt(key, blob.manifest, blob.files)

    def push(self, key: str, entry: Entry) -> None:
        """Send an entry; what is there under its key is replaced."""
        if not self.can_write or self.url in _given_up:
            return
        try:
            content = pack(entry)
            system, path = self._open(), self._path(key)
            system.makedirs(path.rpartition("/")[0], exist_ok=True)
            if "file" in _protocols(system):  # others put a blob there whole
                aside = f"{path}.{os.getpid()}"
                system.pipe_file(aside, content)
                system.mv(aside, path)
            else:
                system.pipe_file(path, content)
        except Exception as error:  # noqa: BLE001 - as above
            self._give_up(error)

    def _open(self) -> Any:
        if self._system is None:
            from fsspec.core import url_to_fs

            self._system, self._root = url_to_fs(self.url)
        return self._system

    def _path(self, key: str) -> str:
        self._open()
        return f"{self._root.rstrip('/')}/{key[:2]}/{key}.entry"

    def _give_up(self, error: Exception) -> None:
        _given_up.add(self.url)
        found = E0925.warn(url=self.url, reason=f"{type(error).__name__}: {error}")
        found.notes.append("it is not asked again in this process")
        if isinstance(error, ImportError):
            found.helps.append("pip install 'teeny-compiler[remote]', and what the protocol needs")
        log.warn(found, once=f"remote {self.url}")


def configured() -> Remote | None:
    """The remote layer that the environment names. Raises E0914."""
    url = env.read(env.TEENYC_CACHE_REMOTE)
    if url is None:
        return None
    mode = env.read(env.TEENYC_CACHE_REMOTE_MODE) or env.TEENYC_CACHE_REMOTE_MODE.default
    if mode not in _MODES:
        raise E0914.error(
            name=env.TEENYC_CACHE_REMOTE_MODE.name, value=mode, wanted=" or ".join(_MODES)
        ).help("unset it for the default, read-write")
    return Remote(url, can_write=mode != "read")


def pack(entry: Entry) -> bytes:
    """An entry as a blob."""
    import json

    names = sorted(entry.files)
    manifest = {**entry.manifest, "digest": store.digest(canonical_json(entry.manifest))}
    parts = [_MAGIC, json.dumps(manifest).encode(), b"\n"]
    return b"".join(parts + [entry.read(name) for name in names])


def unpack(content: bytes, key: str) -> Blob | None:
    """The entry in a blob; None unless all of it is there and every digest fits."""
    import json

    head, rest = content[: len(_MAGIC)], content[len(_MAGIC) :]
    line, _, body = rest.partition(b"\n")
    if head != _MAGIC:
        return None
    files: dict[str, bytes] = {}
    try:
        manifest = json.loads(line)
        said = manifest.pop("digest")
        if said != store.digest(canonical_json(manifest)) or manifest["key"] != key:
            return None
        at = 0
        for name, facts in sorted(manifest["files"].items()):
            part = body[at : at + facts["size"]]
            at += facts["size"]
            if not _is_plain(name) or store.digest(part) != facts["sha256"]:
                return None
            files[name] = part
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return Blob(manifest, files) if at == len(body) else None


def _is_plain(name: str) -> bool:
    """Whether this is the name of a file and no path."""
    return name == os.path.basename(name) and name not in {"", ".", "..", store.MANIFEST}


def _protocols(system: Any) -> tuple[str, ...]:
    found = system.protocol
    return (found,) if isinstance(found, str) else tuple(found)
