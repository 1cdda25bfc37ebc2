"""Records of short launches: the words that the machine code of emit.py reads, and their owners.

A record holds addresses, so whatever it names is kept alive beside it. Writing one word, `ALIVE`,
sends all later launches back to the slow path.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any

from teeny_cuda import emit_parts as parts
from teeny_cuda.places import Handle

if TYPE_CHECKING:
    from teeny_cuda.context import Context
    from teeny_cuda.module import Program

_DRIVER_FUNCTIONS = (
    (parts.LAUNCH, b"cuLaunchKernel"),
    (parts.LAUNCH_EX, b"cuLaunchKernelEx"),
    (parts.CURRENT, b"cuCtxGetCurrent"),
    (parts.PUSH, b"cuCtxPushCurrent"),
    (parts.POP, b"cuCtxPopCurrent"),
)
# What only some launches need; older drivers lack some of them.
_MORE_FUNCTIONS = (
    (parts.ALLOCATE, b"cuMemAllocAsync"),
    (parts.FREE, b"cuMemFreeAsync"),
    (parts.ENCODE, b"cuTensorMapEncodeTiled"),
    (parts.STREAM_NUMBER, b"cuStreamGetId"),
    (parts.IS_CAPTURING, b"cuStreamIsCapturing"),
)
_FASTCALL, _KEYWORDS, _NOARGS = 0x80, 0x02, 0x04


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Record:
    """Words that machine code reads, and the objects whose addresses stand in them."""

    __slots__ = ("__weakref__", "_kept", "_words", "address")

    def __init__(self, count: int) -> None:
        self._words = (ctypes.c_uint64 * count)()
        self._kept: list[Any] = []
        self.address = ctypes.addressof(self._words)

    def put(self, at: int, value: int) -> None:
        """Write a word; negative numbers as two's complement."""
        self._words[at] = value & 0xFFFFFFFFFFFFFFFF

    def get(self, at: int) -> int:
        """Read a word."""
        return self._words[at]

    @property
    def is_alive(self) -> bool:
        """Whether launches may still use it."""
        return bool(self._words[parts.ALIVE])

    def name(self, at: int, value: Any) -> None:
        """Write the address of an object and keep the object."""
        self._kept.append(value)
        self._words[at] = id(value)

    def keep(self, *values: Any) -> None:
        """Keep objects that the words need."""
        self._kept += values

    def watch(self, value: Any) -> None:
        """End with `value`, without keeping it."""
        mine = weakref.ref(self)

        def gone(_value: Any) -> None:
            record = mine()
            if record is not None:
                record.end()

        self._kept.append(weakref.ref(value, gone))

    def end(self) -> None:
        """Send later launches to the slow path."""
        self._words[parts.ALIVE] = 0


def driver_addresses(context: Context) -> dict[int, int] | None:
    """The driver's functions for a record's words; None when the driver does not give them.

    Those that only some launches need are 0 where it lacks them.
    """
    driver = context.driver
    if getattr(driver.api, "cuGetProcAddress", None) is None:
        return None
    found: dict[int, int] = {}
    for word, name in (*_DRIVER_FUNCTIONS, *_MORE_FUNCTIONS):
        number, answer = driver.attempt("cuGetProcAddress", name, 12000, 0)
        address = answer[0] if isinstance(answer, tuple) else answer
        found[word] = 0 if number else int(address or 0)
    return found if all(found[word] for word, _ in _DRIVER_FUNCTIONS) else None


def describe_launch(
    record: Record, program: Program, addresses: dict[int, int], config: int
) -> None:
    """Fill the words that say what is launched and how; `config` is 0 for plain launches."""
    metadata = program.artifact.metadata
    context = program.device.context
    record.put(parts.ALIVE, 1)
    record.put(parts.CONTEXT, context.number)
    record.put(parts.FUNCTION, int(program.function))
    record.put(parts.THREADS, metadata.threads_per_block)
    record.put(parts.SHARED, metadata.shared_bytes)
    record.put(parts.CONFIG, config)
    record.put(parts.CTAS, metadata.num_ctas)
    record.put(parts.SCRATCH, metadata.global_scratch_bytes * metadata.num_ctas)
    record.put(parts.SCRATCH_ALIGN, max(1, metadata.global_scratch_align))
    record.put(parts.PROFILE, metadata.profile_scratch_bytes * metadata.num_ctas)
    record.put(parts.PROFILE_ALIGN, max(1, metadata.profile_scratch_align))
    record.put(parts.CAPTURES, context.open_captures.address)
    record.put(parts.NOTES, context.suspects.address)
    record.put(parts.SERIAL, context.suspects.follow(record, metadata))
    record.put(parts.NOTED, min(len(metadata.params), parts.NOTED_MOST))
    record.keep(context)
    for word, address in addresses.items():
        record.put(word, address)
    record.keep(context.driver.api)
    program.attach(record)


def builtin(address: int, record: Record, name: str, *, takes_arguments: bool) -> Any:
    """A built-in function whose code is at `address` and whose record is `record`.

    Its self stands for the record's memory, where the code finds it. CPython drops `m_self` last,
    so that the definition in it outlives the function.
    """
    flags = _FASTCALL | _KEYWORDS if takes_arguments else _NOARGS
    definition = _MethodDef(name.encode(), address, flags, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    own = Handle.from_address(record.address)
    own.kept = (record, definition)
    return make(ctypes.addressof(definition), own, None)
