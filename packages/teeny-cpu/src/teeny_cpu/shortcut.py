"""Short launches of `kernel[grid](...)`: calls that recur are checked and packed by native code.

A call that fits no entry goes to the slow path, which checks, compiles and explains. Only plain
NumPy arrays are taken: writable, aligned, in C order.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from types import CellType
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cpu import call_text, jit, stream
from teeny_cpu.call_text import (
    ALIGNED,
    ANY_NUMBER,
    ARRAY,
    BOOL,
    C_ORDER,
    DIVISIBLE,
    DOUBLE,
    FIELDS,
    FLOAT,
    FUNCTIONS,
    INDIVISIBLE,
    INT,
    NOT_ONE,
    ONE,
    PLAN,
    SAME,
    SAME_INT,
    WIDE,
    WRITABLE,
)  # fmt: skip
from teeny_cpu.dtypes import DTYPES
from teeny_cpu.module import Program, record_of
from teeny_cpu.native import DONE, FAILED
from teeny_cpu.pool import the_pool
from teeny_cpu.scratch import OWN
from teeny_macros.namespace import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_cpu.device import Device
    from teeny_macros.artifact import Metadata

_ENTRIES = 8
_PLANS = 256
_INT64 = 1 << 63


class Shortcut:
    """The entries for the calls of one kernel with the same launch options."""

    __slots__ = ("_count", "_device", "_entries", "_holds", "_slow", "launch")

    def __init__(self, device: Device, slow: Callable[..., Any], guards: Sequence[Any]) -> None:
        self._device = device
        self._slow = slow
        self._entries: dict[tuple[Any, ...], tuple[Entry, ...]] = {}
        self._holds = _holds(guards)
        self._count = 0
        self.launch: Callable[..., Any] = self._over_any

    def add(self, call: Any) -> bool:
        """Make an entry for a call; False when it cannot be launched so simply."""
        if self._count == _ENTRIES or not isinstance(call.program, Program):
            return False
        entry = make_entry(call, self._device.threads)
        if entry is None:
            return False
        key = (call.positional, *call.names)
        self._entries[key] = (*self._entries.get(key, ()), entry)
        self._count += 1
        return True

    def over(self, grid: Any, slow: Callable[..., Any]) -> Callable[..., Any] | None:
        """The launch over a fixed grid; None when it is no grid of positive ints."""
        given = grid if type(grid) is tuple else (grid,)
        if not 1 <= len(given) <= 3 or any(type(n) is not int or n < 1 for n in given):
            return None
        sizes = (*given, 1, 1)[:3]
        entries, holds = self._entries, self._holds

        def launch(*args: Any, **kwargs: Any) -> None:
            found = entries.get((len(args), *kwargs))
            if found is not None and (holds is None or holds()):
                values = (*args, *kwargs.values()) if kwargs else args
                for entry in found:
                    if entry.run(sizes, values):
                        return
            slow(*args, **kwargs)

        return launch

    def _over_any(self, grid: Any, /, *args: Any, **kwargs: Any) -> None:
        """The launch over whatever grid: what it means is asked each time."""
        found = self._entries.get((len(args), *kwargs))
        if found is not None and (self._holds is None or self._holds()):
            values = (*args, *kwargs.values())
            for entry in found:
                # A function of the compile-time values is asked only for values that these are.
                if not callable(grid) or entry.accepts(values):
                    sizes = entry.grid_of(grid)
                    if 0 not in sizes and entry.run(sizes, values):
                        return
        self._slow(grid, *args, **kwargs)


class Entry:
    """A shape of call: what its arguments must be, and its launches by grid."""

    __slots__ = (
        "_arena", "_keep", "_native", "_own", "_plans", "_program", "_same", "_template",
        "_threads", "grid_of",
    )  # fmt: skip

    def __init__(self, call: Any, template: Template, threads: int) -> None:
        self.grid_of: Callable[[Any], tuple[int, int, int]] = call.grid_of
        self._program: Program = call.program
        self._arena = self._program.artifact.metadata.arena_bytes
        self._plans: dict[tuple[int, ...], Plan] = {}
        self._template = template
        self._threads = threads
        self._native = native_call()
        self._own = OWN
        self._same = [
            (at, argument.value)
            for at, argument in enumerate(call.arguments)
            if argument.kind == "same"
        ]
        # Objects that are known by their address.
        self._keep = [getattr(argument.value, "dtype", None) for argument in call.arguments]

    def accepts(self, values: Sequence[Any]) -> bool:
        """Whether what is compiled in is what is given."""
        return all(
            values[at] is value or (type(value) is int is type(values[at]) and values[at] == value)
            for at, value in self._same
        )

    def run(self, sizes: tuple[int, ...], values: tuple[Any, ...]) -> bool:
        """Launch; False where an argument does not fit. Raises E1122 and E1125."""
        plan = self._plans.get(sizes) or self._plan(sizes)
        block = self._own.block
        if block is None or block.arena < self._arena:
            block = self._own.grow(self._arena)
        if plan.workers > plan.pool.workers:
            plan.pool.require(plan.workers)
        if stream.BUSY:
            stream.finish_streams()
        status = self._native(plan.address, values, block.address)
        if status == FAILED:
            x, y, z = sizes
            raise self._program.failure(block.address, (x, y, z))
        return bool(status == DONE)

    def _plan(self, sizes: tuple[int, ...]) -> Plan:
        """The launch over a grid, made when it first comes."""
        if len(self._plans) >= _PLANS:
            self._plans.clear()
        made = self._plans[sizes] = Plan(self._program, sizes, self._template, self._threads)
        return made


class Template(NamedTuple):
    """Of an entry: `FIELDS` for each argument of the call, and words that are left to defaults."""

    arguments: list[tuple[int, ...]]
    words: list[int]


class Plan:
    """A launch over one grid as native code reads it, and what keeps that in memory."""

    __slots__ = ("_keep", "address", "pool", "workers")

    def __init__(
        self, program: Program, sizes: tuple[int, ...], template: Template, threads: int
    ) -> None:
        self.pool = the_pool()
        x, y, z = sizes
        record, scratch = record_of(program, (x, y, z), threads)
        self.workers = record.workers
        table = _words([word for argument in template.arguments for word in argument])
        words = _words([*template.words, *sizes, 0, 0, 0])
        behind = {
            "arguments": len(template.arguments),
            "extents": sum(argument[0] == ARRAY for argument in template.arguments),
            "argument_table": ctypes.addressof(table),
            "words": ctypes.addressof(words),
            "table": ctypes.addressof(_native()[1]),
        }
        plan = _words([*record, *(behind[name] for name in PLAN)])
        self.address = ctypes.addressof(plan)
        self._keep = (plan, table, words, scratch)


def make_shortcut(
    device: Device, slow: Callable[..., Any], guards: Sequence[Any]
) -> Shortcut | None:
    """A shortcut without entries; None where native code cannot do what the slow path does."""
    known = all(type(guard.place) in (dict, CellType) for guard in guards)
    return Shortcut(device, slow, guards) if known and is_available() else None


def _holds(guards: Sequence[Any]) -> Callable[[], bool] | None:
    """Whether captured names still mean what they did; None where there are none."""
    names = [(g.place, g.name, g.value) for g in guards if type(g.place) is dict]
    cells = [guard for guard in guards if type(guard.place) is not dict]
    if not guards:
        return None

    def holds() -> bool:
        for place, name, value in names:
            if place.get(name, MISSING) is not value:
                return False
        return not cells or all(cell.holds() for cell in cells)

    return holds


def make_entry(call: Any, threads: int) -> Entry | None:
    """The entry of a call, or None."""
    program = call.program
    metadata = program.artifact.metadata
    if call.stream is not None:
        return None
    given = {argument.at for argument in call.arguments}
    words = [0] * len(metadata.params)
    for at, param in enumerate(metadata.params):
        if at not in given:
            if param.kind == "pointer":
                return None
            words[at] = program.packer.word(at, call.values[at])
    arguments: list[tuple[int, ...]] = []
    for argument in call.arguments:
        row = _argument(argument, metadata)
        if row is None:
            return None
        arguments.append(tuple(row.get(name, 0) for name in FIELDS))
    return Entry(call, Template(arguments, words), threads)


def _argument(given: Any, metadata: Metadata) -> dict[str, int] | None:
    value = given.value
    if given.kind == "same":
        if type(value) is int and -_INT64 <= value < _INT64:
            return {"kind": SAME_INT, "low": value, "high": value}
        return {"kind": SAME, "value": id(value)}
    bits = 0
    sixteen = given.aligned if given.kind == "array" else given.divisible
    for hint, yes, no in ((sixteen, DIVISIBLE, INDIVISIBLE), (given.one, ONE, NOT_ONE)):
        bits |= 0 if hint is None else yes if hint else no
    if given.kind == "descriptor":
        return None  # it stands for more arguments than one
    if given.kind == "array":
        return _array(given, metadata, bits)
    row = {"slot": given.at}
    dtype = DTYPES[given.dtype]
    if given.kind == "int":
        low, high = dtype.bounds
        limits = {"low": low, "high": min(high, _INT64 - 1)}
        return {**row, **limits, "kind": INT, "bits": bits | (WIDE if given.wide else 0)}
    if given.kind == "bool":
        return {**row, "kind": BOOL}
    if given.dtype not in ("f32", "f64"):
        return None
    kinds = (DOUBLE if given.dtype == "f64" else 0) | (ANY_NUMBER * (given.kind == "number"))
    return {**row, "kind": FLOAT, "bits": kinds}


def _array(given: Any, metadata: Metadata, bits: int) -> dict[str, int] | None:
    import numpy as np

    value, at = given.value, given.at
    size = DTYPES[given.dtype].itemsize
    if type(value) is not np.ndarray or value.itemsize != size:
        return None
    relied = given.relied  # rows without gaps are asked of every array
    if relied is not None and (relied.sized or relied.alignment > 1 or relied.strides is not None):
        return None
    flags = C_ORDER | ALIGNED
    if not metadata.written or metadata.params[at].name in metadata.written:
        flags |= WRITABLE
    if value.flags.num & flags != flags:
        return None
    pointers = [i for i, param in enumerate(metadata.params) if param.kind == "pointer"]
    return {
        "kind": ARRAY, "slot": at, "value": id(value.dtype), "low": flags, "bits": bits,
        "size": size, "extent": pointers.index(at),
    }  # fmt: skip


def _words(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * max(len(values), 1))(*map(_signed, values))


def _signed(word: int) -> int:
    return word - (word >> 63 << 64)


# --- the native code ------------------------------------------------------------------------------


def is_available() -> bool:
    """Whether native code may read NumPy's arrays here, and workers wake by themselves."""
    return the_pool().native and _layout() is not None


def native_call() -> Callable[[int, tuple[Any, ...], int], int]:
    """`call(plan, arguments, scratch)`: the pool's status, or OTHER where an argument differs."""
    found: Callable[[int, tuple[Any, ...], int], int] = _native()[0]
    return found


@lru_cache(maxsize=1)
def _native() -> tuple[Any, Any, Any]:
    """The function, its table, and the code that both rest on."""
    import numpy as np

    layout, pool = _layout(), the_pool()
    assert layout is not None
    code = jit.load(jit.compile_text(call_text.call_text(*layout)), (call_text.SYMBOL,))
    kind = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    api = ctypes.pythonapi
    functions = [ctypes.cast(getattr(api, name), ctypes.c_void_p).value or 0 for name in FUNCTIONS]
    objects = map(id, (np.ndarray, int, float, bool, True))
    table = _words([*functions, *pool.addresses(), *objects])
    return kind(code.addresses[call_text.SYMBOL]), table, code


@lru_cache(maxsize=1)
def _layout() -> tuple[int, int] | None:
    """The arguments of `call_text`; None where arrays do not look as NumPy says."""
    import numpy as np

    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    head = object.__basicsize__
    word = ctypes.c_uint64.from_address
    array = np.zeros((3, 5), np.float32)[1:, ::2]
    interface = array.__array_interface__
    at = id(array)
    seen = (
        word(at + head - 8).value,
        word(at + head + call_text.DATA).value,
        ctypes.c_int32.from_address(at + head + call_text.NDIM).value,
        (ctypes.c_int64 * 2).from_address(word(at + head + call_text.DIMS).value)[:],
        word(at + head + call_text.DESCR).value,
        ctypes.c_int32.from_address(at + head + call_text.FLAGS).value,
    )
    known = (id(np.ndarray), interface["data"][0], 2, [2, 3], id(array.dtype), array.flags.num)
    return (head - 8, head) if seen == known else None
