"""Read-only layers: caches of others, looked into before one's own. Nothing is written to them.

A layer that is not there, or an entry of it that is damaged, is a warning and never an error.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from teeny_compiler import env, log
from teeny_compiler.cache.store import Cache
from teeny_compiler.codes import E0924

if TYPE_CHECKING:
    from teeny_compiler.cache.store import Entry

CUBINS = ".cubins"


class Source(Protocol):
    """Where entries come from: `read` gives one that is whole, or None."""

    def read(self, key: str) -> Entry | None: ...


class Layer(NamedTuple):
    """One layer: its path and its entries."""

    path: str
    source: Source


def open_layers() -> list[Layer]:
    """The layers that `TEENYC_CACHE_LAYERS` names, in its order; those that are not there warn."""
    given = env.read(env.TEENYC_CACHE_LAYERS)
    if given is None:
        return []
    found = []
    for name in given.split(os.pathsep):
        path = os.path.abspath(os.path.expanduser(name)) if name else ""
        if not path:
            continue
        if os.path.isdir(path):
            found.append(Layer(path, Cache(path)))
        else:
            reason = "it is not a directory" if os.path.lexists(path) else "there is no such path"
            warning = E0924.warn(path=path, reason=reason)
            warning.helps.append("mount it, or take it out of TEENYC_CACHE_LAYERS")
            log.warn(warning, once=f"layer {path}")
    return found
