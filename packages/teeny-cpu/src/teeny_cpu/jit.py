"""Native code in this process: objects loaded through LLVM's LLJIT, and our own small IR compiled.

The only import of llvmlite in this package. Code stays loaded as long as its `Code` is referenced.
"""

from __future__ import annotations

import itertools
import os
import threading
from typing import Any, NamedTuple

_lock = threading.RLock()
_numbers = itertools.count()
_engines: list[Any] = []


class Code(NamedTuple):
    """Loaded code: the addresses of its symbols, and what keeps it in memory."""

    addresses: dict[str, int]
    tracker: Any


class LinkError(Exception):
    """LLVM cannot link an object; the text says why."""


def load(data: bytes, symbols: tuple[str, ...]) -> Code:
    """Load an object file, whose undefined symbols were checked. Raises LinkError."""
    import llvmlite.binding as llvm

    with _lock:
        engine = _engine()
        builder = llvm.JITLibraryBuilder().add_object_img(data).add_current_process()
        for symbol in symbols:
            builder.export_symbol(symbol)
        try:
            tracker = builder.link(engine, f"teeny.{next(_numbers)}")
        except RuntimeError as error:
            raise LinkError(str(error)) from error
    return Code({symbol: tracker[symbol] for symbol in symbols}, tracker)


def compile_text(text: str) -> bytes:
    """The object of LLVM IR for this machine; `text` is our own."""
    import llvmlite.binding as llvm

    with _lock:
        machine = _machine(llvm, opt=0)  # a third of the time of opt=1, and it hardly runs
        module = llvm.parse_assembly(text)
        module.triple = llvm.get_process_triple()
        module.data_layout = str(machine.target_data)
        module.verify()
        return bytes(machine.emit_object(module))


def host_features() -> frozenset[str]:
    """The features of this CPU, as LLVM names them."""
    import llvmlite.binding as llvm

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
