"""The compile cache: where it lies (directory), keys (key), entries (store), locks (lock)."""

from __future__ import annotations

from teeny_compiler.cache.directory import default_cache_dir
from teeny_compiler.cache.store import Cache, Entry

__all__ = ["Cache", "Entry", "default_cache_dir"]
