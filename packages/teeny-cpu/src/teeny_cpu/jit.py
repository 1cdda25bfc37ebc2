"""Native code in this process: objects loaded through LLVM's LLJIT, and our own small IR compiled.

The only import of llvmlite in this package. Code stays loaded as long as its `Code` is referenced.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import weakref
from collections import deque
from functools import lru_cache
from hashlib import sha256
from typing import Any

from teeny_cpu import prints

_lock = threading.RLock()
_numbers = itertools.count()
_engines: list[Any] = []


class Code:
    """Loaded code: the addresses of its symbols, and what keeps it in memory."""

    __slots__ = ("__weakref__", "addresses", "tracker")

    def __init__(self, addresses: dict[str, int], tracker: Any) -> None:
        self.addresses = addresses
        self.tracker = tracker

    def __del__(self) -> None:
        # llvmlite has a lock of its own, which no fork may find taken.
        if not sys.is_finalizing():
            with _lock:
                self.tracker.close()


# Unloading leaves some 10 KB behind in LLVM: code that comes again is not loaded again.
_loaded: weakref.WeakValueDictionary[tuple[bytes, tuple[str, ...]], Code] = (
    weakref.WeakValueDictionary()
)
_recent: deque[Code] = deque(maxlen=64)


class LinkError(Exception):
    """LLVM cannot link an object; the text says why."""


def load(data: bytes, symbols: tuple[str, ...]) -> Code:
    """Load an object file, whose undefined symbols were checked. Raises LinkError."""
    import llvmlite.binding as llvm

    key = (sha256(data).digest(), symbols)
    with _lock:
        known = _loaded.get(key)
        if known is not None:
            return known
        engine = _engine()
        builder = llvm.JITLibraryBuilder().add_object_img(data).add_current_process()
        if prints.SYMBOL.encode() in data:
            builder.import_symbol(prints.SYMBOL, prints.address())
        for symbol in symbols:
            builder.export_symbol(symbol)
        try:
            tracker = builder.link(engine, f"teeny.{next(_numbers)}")
        except RuntimeError as error:
            raise LinkError(str(error)) from error
        made = _loaded[key] = Code({symbol: tracker[symbol] for symbol in symbols}, tracker)
        _recent.append(made)
        return made


def compile_text(text: str) -> bytes:
    """The object of LLVM IR for this machine; `text` is our own."""
    with _lock:
        return _compile(text)


def _compile(text: str) -> bytes:
    import llvmlite.binding as llvm

    machine = _machine(llvm, opt=0)  # a third of the time of opt=1, and it hardly runs
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    module.verify()
    return bytes(machine.emit_object(module))


@lru_cache(maxsize=1)
def host_features() -> frozenset[str]:
    """The features of this CPU, as LLVM names them."""
    import llvmlite.binding as llvm

    with _lock:
        return frozenset(name for name, present in llvm.get_host_cpu_features().items() if present)


def _engine() -> Any:
    import llvmlite.binding as llvm

    if not _engines:
        _engines.append(llvm.create_lljit_compiler(_machine(llvm)))
    return _engines[0]


def _machine(llvm: Any, *, opt: int = 1) -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.Target.from_triple(llvm.get_process_triple())
    return triple.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features="", opt=opt, jit=True
    )


if hasattr(os, "register_at_fork"):
    # LLVM holds locks of its own: no fork while it works, or the child could never use it.
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


def host_machine() -> str:
    """`x86-64`, `aarch64`, or what the system calls this machine."""
    import os

    if hasattr(os, "uname"):
        name = os.uname().machine.lower()
    else:
        import platform

        name = platform.machine().lower()
    return {"amd64": "x86-64", "x86_64": "x86-64", "arm64": "aarch64"}.get(name, name)
