"""The one edge to llvmlite: LLVM text to machine code in this process, objects kept on disk.

Absent llvmlite, another interpreter than CPython, or a build without the GIL are no errors: then
launches go through cuda-python.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from teeny_cuda import env
from teeny_cuda.emit_parts import FUNCTIONS, OBJECTS
from teeny_cuda.places import find_places

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from teeny_cuda.places import Places

_DIGEST_BYTES = 32
_ATTRIBUTES = (
    "dtype", "get_device", "data_ptr", "data", "ptr", "device_id", "base", "shape", "strides",
    "block_shape", "padding",
)  # fmt: skip

_lock = threading.Lock()
_loaded: dict[str, tuple[Any, ...]] = {}
_state: dict[str, Any] = {}


def places() -> Places:
    """Where objects have what the code reads. Only where machine code is available."""
    found: Places = _state["places"]
    return found


def is_available() -> bool:
    """Whether machine code can be made and called here; llvmlite is imported to find out."""
    known = _state.get("available")
    if known is None:
        with _lock:
            known = _state["available"] = _probe()
    return bool(known)


def code_of(text: str, names: Sequence[str]) -> tuple[int, ...]:
    """The addresses of functions of an LLVM module, compiled once a machine; they stay loaded."""
    with _lock:
        found = _loaded.get(text)
        if found is None:
            found = _loaded[text] = _link(text, _object_of(text), names)
    return tuple(int(address) for address in found[1:])


def _probe() -> bool:
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    if not getattr(sys, "_is_gil_enabled", lambda: True)() or env.is_set(env.TEENY_NO_JIT_LAUNCHER):
        return False
    _state["places"] = find_places()
    if _state["places"] is None:
        return False
    if not all(hasattr(ctypes.pythonapi, name) for name in FUNCTIONS):
        return False
    try:
        import llvmlite.binding as llvm
    except (ImportError, OSError):
        return False
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_triple(llvm.get_process_triple())
        # Python's functions can lie anywhere, so their addresses are 64-bit operands.
        machine = target.create_target_machine(opt=1, jit=True, codemodel="large", reloc="default")
        _state["llvm"], _state["machine"] = llvm, machine
        _state["jit"] = llvm.create_lljit_compiler(machine)
    except (RuntimeError, OSError):  # memory that may be written and run is refused
        return False
    return True


def _symbols() -> dict[str, int]:
    """The addresses of what the text may name."""
    known: dict[str, int] | None = _state.get("symbols")
    if known is None:
        api = ctypes.pythonapi
        known = {
            name: int(ctypes.cast(getattr(api, name), ctypes.c_void_p).value or 0)
            for name in FUNCTIONS
        }
        attributes = [sys.intern(name) for name in _ATTRIBUTES]
        objects = [None, True, False, int, float, tuple, list, *attributes]
        known.update((name, id(value)) for name, value in zip(OBJECTS, objects, strict=True))
        _state["symbols"], _state["kept"] = known, objects
    return known


def _object_of(text: str) -> bytes:
    from hashlib import sha256

    llvm, machine = _state["llvm"], _state["machine"]
    version = (
        llvm.llvm_version_info,
        sys.version_info[:2],
        machine.triple,
        llvm.get_host_cpu_name(),
    )
    key = sha256(f"{version}\n{text}".encode()).hexdigest()
    folder = _folder()
    path = folder / f"{key}.o" if folder is not None else None
    if path is not None:
        kept = _read(path)
        if kept is not None:
            return kept
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    data = bytes(machine.emit_object(module))
    if path is not None:
        _write(path, data)
    return data


def _link(text: str, data: bytes, names: Sequence[str]) -> tuple[Any, ...]:
    builder = _state["llvm"].JITLibraryBuilder().add_object_img(data)
    for name, address in _symbols().items():
        if f"@{name}" in text:
            builder.import_symbol(name, address)
    for name in names:
        builder.export_symbol(name)
    library = builder.link(_state["jit"], f"teeny_launch_{len(_loaded)}")
    return (library, *(library[name] for name in names))


def _folder() -> Path | None:
    """The folder of kept objects, ours alone; None when there is none to be had."""
    folder = env.launcher_cache()
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None  # another user could have put code there
    return folder


def _read(path: Path) -> bytes | None:
    from hashlib import sha256

    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    return body if sha256(body).digest() == digest else None


def _write(path: Path, data: bytes) -> None:
    from hashlib import sha256

    aside = path.with_suffix(f".{os.getpid()}")
    try:
        aside.write_bytes(sha256(data).digest() + data)
        aside.replace(path)
    except OSError:
        return  # a full or read-only disk costs only the next process 15 ms
