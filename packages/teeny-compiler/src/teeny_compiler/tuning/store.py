"""Tuning results on disk: one file for each kernel, device and key, one row for each instance.

A row is found by the identity of its instance, so an edited kernel, another dtype or another config
is measured anew, and nothing else is. Files of results that were shipped are read beside them.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler import env, log
from teeny_compiler.cache import Cache, default_cache_dir
from teeny_compiler.codes import E0943

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from teeny_macros.protocol import Device

SCHEMA = 1
_FOLDER = ".tuned"
_MOST_ROWS = 1000
MEASURED, SLOW, FAILED, WRONG, LEFT = "measured", "slow", "failed", "wrong", "left"
_STATES = frozenset((MEASURED, SLOW, FAILED, WRONG, LEFT))

# Results of files that this process was told to use, by scope.
_shipped: dict[str, dict[str, Row]] = {}
_loaded: set[str] = set()


class Row(NamedTuple):
    """What is known of one instance.

    `state` is `measured`, `slow` (given up early), `failed`, `wrong` or `left` (no time for it);
    `ms` and `noise` are milliseconds; `note` says why.
    """

    state: str
    config: str
    ms: float = 0.0
    noise: float = 0.0
    note: str = ""


class Scope(NamedTuple):
    """What results belong to: the kernel's name, the device's model, and the key's values."""

    kernel: str
    device: str
    key: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The name of the file."""
        from hashlib import sha256

        text = json.dumps([self.kernel, self.device, self.key])
        return f"{self.kernel}-{sha256(text.encode()).hexdigest()[:24]}"


class Store:
    """The results in the directory of the compile cache, and those that were shipped."""

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache or Cache(default_cache_dir())

    def lock(self, scope: Scope, patience: float) -> Any:
        """Hold this while tuning: who waits finds the results."""
        return self._cache.lock(f"tune-{scope.name}", patience)

    def read(self, scope: Scope) -> dict[str, Row]:
        """The rows by the identity of their instances; own ones before shipped ones."""
        _load_named_files()
        return {**_shipped.get(scope.name, {}), **_read(self._path(scope.name))}

    def add(self, scope: Scope, rows: Mapping[str, Row]) -> None:
        """Keep rows beside those that are there; what cannot be kept is measured again."""
        path = self._path(scope.name)
        merged = {**_read(path), **rows}
        for identity in list(merged)[: max(0, len(merged) - _MOST_ROWS)]:
            del merged[identity]
        try:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            _write(path, _record(scope, merged))
        except OSError as error:
            log.debug(f"tuning results cannot be kept: {error}")

    def records(self, kernels: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """The stored results of some kernels, or of all."""
        wanted = None if kernels is None else set(kernels)
        folder = os.path.join(self._cache.root, _FOLDER)
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
        except OSError:
            return []
        found = [_json(os.path.join(folder, name)) for name in names]
        return [r for r in found if r and (wanted is None or r.get("kernel") in wanted)]

    def forget(self) -> int:
        """Remove every result; returns how many configs had one."""
        count = 0
        for record in self.records():
            path = self._path(_scope(record).name)
            with contextlib.suppress(OSError):
                os.unlink(path)
                count += len(record["rows"])
        return count

    def _path(self, name: str) -> str:
        return os.path.join(self._cache.root, _FOLDER, f"{name}.json")


def export_tunings(path: str | os.PathLike[str], kernels: Iterable[Any]) -> int:
    """Write what is known of `kernels` (or of kernels of those names) into one file to ship.

    Returns how many configs have results in it. `load_tunings` or `TEENY_TUNED` use it.
    """
    names = [given if isinstance(given, str) else given.name for given in kernels]
    records = Store().records(names)
    _write(os.fspath(path), {"schema": SCHEMA, "tunings": records})
    return sum(len(record["rows"]) for record in records)


def load_tunings(path: str | os.PathLike[str]) -> int:
    """Use the results in a file that `export_tunings` wrote, in this process.

    Returns how many configs have results in it. What was measured here takes precedence.

    Raises:
        ToolchainError: E0943 for a file that cannot be read.
    """
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8") as file:
            data = json.load(file)
        if data["schema"] != SCHEMA:
            reason = f"it has schema {data['schema']}, and this version reads {SCHEMA}"
            raise E0943.error(path=name, reason=reason).help("export the tunings again")
        count = 0
        for record in data["tunings"]:
            rows = _rows(record)
            _shipped.setdefault(_scope(record).name, {}).update(rows)
            count += len(rows)
    except OSError as error:
        raise (
            E0943.error(path=name, reason=error.strerror or str(error)).help("is the path right?")
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise (
            E0943.error(path=name, reason="it is no file of `export_tunings`").help(
                "write it with `export_tunings(path)`"
            )
        ) from error
    return count


def best_of(record: Mapping[str, Any]) -> Row | None:
    """The fastest row of a stored record."""
    rows = [row for row in _rows(record).values() if row.state == MEASURED]
    return min(rows, key=lambda row: row.ms, default=None)


def device_model(device: Device) -> str:
    """The model of a device, as far as times carry over: `cuda:sm_90 NVIDIA H200`."""
    model = getattr(device, "model", "")
    if device.target.kind == "cuda":
        return f"{device.target} {model}".strip()
    import platform

    threads = getattr(device, "threads", "")
    return f"{device.target} {_processor() or platform.processor()} {threads}".strip()


def _processor() -> str:
    """The name of the CPU where Linux tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except (OSError, UnicodeDecodeError):
        pass
    return ""


def _load_named_files() -> None:
    for name in (env.read(env.TEENY_TUNED) or "").split(os.pathsep):
        if name and name not in _loaded:
            _loaded.add(name)
            load_tunings(name)


def _read(path: str) -> dict[str, Row]:
    try:
        return _rows(_json(path) or {"rows": {}})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        log.debug(f"{path} counts as absent: {error!r}")
        return {}


def _json(path: str) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) and data.get("schema") == SCHEMA else None


def _rows(record: Mapping[str, Any]) -> dict[str, Row]:
    rows = {identity: Row(**row) for identity, row in record["rows"].items()}
    return {identity: row for identity, row in rows.items() if row.state in _STATES}


def _scope(record: Mapping[str, Any]) -> Scope:
    key = tuple((str(name), str(value)) for name, value in record["key"])
    return Scope(record["kernel"], record["device"], key)


def _record(scope: Scope, rows: Mapping[str, Row]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kernel": scope.kernel,
        "device": scope.device,
        "key": [list(pair) for pair in scope.key],
        "rows": {identity: row._asdict() for identity, row in rows.items()},
    }


def _write(path: str, data: object) -> None:
    aside = f"{path}.{os.getpid()}"
    with open(aside, "w", encoding="utf-8", newline="\n") as file:
        json.dump(data, file, indent=1)
        file.write("\n")
    os.replace(aside, path)
