"""Short launches of `kernel[grid](...)`: hot calls get an entry of machine code each.

A call that fits none of the entries goes to the slow path, which checks, compiles and explains.
"""

from __future__ import annotations

import sys
from collections import deque
from types import CellType
from typing import TYPE_CHECKING, Any

from teeny_cuda import emit_parts as parts
from teeny_cuda import launcher
from teeny_cuda.config import Options, config_bytes
from teeny_cuda.emit import Pattern, common_text, entry_text
from teeny_cuda.emit_arrays import Argument
from teeny_cuda.graph import CaptureStream
from teeny_cuda.module import Program
from teeny_cuda.readers import describe_tiles, read_array
from teeny_cuda.record import Record, builtin, describe_launch, driver_addresses
from teeny_cuda.scratch import Pieces
from teeny_cuda.stream import Stream, stream_handle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_cuda.device import Device
    from teeny_cuda.readers import Source

_ENTRIES = 32
_SMALL_GRID = 3
_KEPT = 16 << 20  # bytes that stay in the pool where launches take scratch memory from it


class Shortcut:
    """The entries for the calls of one kernel with the same launch options."""

    __slots__ = ("_chain", "_dispatch", "_entries", "_old", "_turn", "launch")

    def __init__(self, slow: Callable[..., Any], guards: Sequence[Any]) -> None:
        self._dispatch = _common()[0]
        self._chain = Record(parts.CHAIN_TABLE + _ENTRIES)
        table = Record(max(1, parts.GUARD_WORDS * len(guards)))
        for at, guard in enumerate(guards):
            base = parts.GUARD_WORDS * at
            table.put(base, type(guard.place) is CellType)
            table.name(base + 1, guard.place)
            table.name(base + 2, sys.intern(guard.name))
            if not _is_missing(guard.value):
                table.name(base + 3, guard.value)
        self._chain.put(parts.CHAIN_GUARDS, len(guards))
        self._chain.put(parts.CHAIN_GUARD_TABLE, table.address)
        self._entries: list[Record] = []
        self._turn = 0  # which entry makes room next
        # What was replaced may just be running in another thread: it stays for a while.
        self._old: deque[Record] = deque(maxlen=_ENTRIES)
        self._chain.keep(table, self._entries, self._old)
        self.launch = self._site(None, slow)

    def add(self, call: Any) -> bool:
        """Make an entry for a call; False when it cannot be launched so simply."""
        program = call.program
        entries = self._entries
        entry = _entry(call, program) if isinstance(program, Program) else None
        if entry is None:
            return False
        # One whose stream or program is gone makes room; then one after the other does.
        place = next((at for at, known in enumerate(entries) if not known.is_alive), len(entries))
        if place == _ENTRIES:
            place = self._turn = (self._turn + 1) % _ENTRIES
        if place < len(entries):
            self._old.append(entries[place])
            entries[place] = entry
        else:
            entries.append(entry)
        self._chain.put(parts.CHAIN_TABLE + place, entry.address)
        self._chain.put(parts.CHAIN_ENTRIES, len(entries))
        return True

    def over(self, grid: Any, slow: Callable[..., Any]) -> Callable[..., Any] | None:
        """The launch over a fixed grid; None when it is no grid of positive ints."""
        sizes = grid if type(grid) is tuple else (grid,)
        if not 1 <= len(sizes) <= _SMALL_GRID:
            return None
        # The limits of all GPUs since compute capability 3.0, a whole cluster included.
        limits = (2**31 // 16 - 1, 65535, 65535)
        for size, limit in zip(sizes, limits, strict=False):
            if type(size) is not int or not 0 < size <= limit:
                return None
        return self._site((*sizes, 1, 1)[:3], slow)

    def _site(self, grid: tuple[int, ...] | None, slow: Callable[..., Any]) -> Callable[..., Any]:
        site = Record(parts.SITE_DYNAMIC + 1)
        site.put(parts.SITE_CHAIN, self._chain.address)
        site.name(parts.SITE_SLOW, slow)
        site.keep(self._chain)
        if grid is None:
            site.put(parts.SITE_DYNAMIC, 1)
        else:
            site.put(parts.SITE_GRID, grid[0] | grid[1] << 32)
            site.put(parts.SITE_GRID_Z, grid[2])
        found: Callable[..., Any] = builtin(self._dispatch, site, "launch", takes_arguments=True)
        return found


def make_shortcut(
    device: Device, slow: Callable[..., Any], guards: Sequence[Any]
) -> Shortcut | None:
    """A shortcut without entries; None where machine code cannot do what the slow path does."""
    if device.blocking or any(
        type(guard.place) is not dict and type(guard.place) is not CellType for guard in guards
    ):
        return None
    if driver_addresses(device.context) is None or not launcher.is_available():
        return None
    return Shortcut(slow, guards)


def prepared_code() -> int | None:
    """The address of the code of prepared launches; None where there is none."""
    return _common()[1] if launcher.is_available() else None


def _common() -> tuple[int, ...]:
    return launcher.code_of(common_text(launcher.places()), ("dispatch", "prepared"))


def _is_missing(value: Any) -> bool:
    from teeny_macros.namespace import MISSING

    return value is MISSING


def _entry(call: Any, program: Program) -> Record | None:
    """The record of a call with its code, or None."""
    metadata, device = program.artifact.metadata, program.device
    if metadata.launch_pdl or metadata.launch_cooperative_grid:
        return None
    addresses = driver_addresses(device.context)
    scratch = bool(metadata.global_scratch_bytes or metadata.profile_scratch_bytes)
    if addresses is None or (scratch and not _has_pool(device, addresses)):
        return None
    slots = len(metadata.params)
    described = [given for given in call.arguments if given.kind == "descriptor"]
    extra = parts.ARGUMENTS + parts.ARGUMENT_WORDS * len(call.arguments)
    record = Record(extra + parts.MAP_WORDS * len(described))
    arguments: list[Argument] = []
    sources: list[Source] = []
    for at, given in enumerate(call.arguments):
        base = parts.ARGUMENTS + parts.ARGUMENT_WORDS * at
        argument = None
        if given.kind != "descriptor":
            argument = _argument(device, record, base, given, sources)
        elif addresses[parts.ENCODE]:
            argument = describe_tiles(program, record, base, extra, given, sources)
            extra += parts.MAP_WORDS
        if argument is None:
            return None
        arguments.append(argument)
    taken = {slot for argument in arguments for slot in argument.slots}
    if not _put_values(record, call, program, taken):
        return None
    kind = _put_stream(device, record, call.stream, sources)
    if kind is None:
        return None
    shares = scratch and _tells_streams(device, addresses)
    if shares:
        record.name(parts.TELL, Pieces(record, device.context.scratch))
    elif scratch:  # or the GPU would be asked for it anew after each wait for its work
        pool = device.pool
        pool.keep_bytes = max(pool.keep_bytes, _KEPT)
    config = config_bytes(program, Options(), record)
    describe_launch(record, program, addresses, config)
    limits = device.grid_limits
    record.put(parts.LIMIT_X, limits["x"] // metadata.num_ctas)
    record.put(parts.LIMIT_Y, limits["y"])
    record.put(parts.LIMIT_Z, limits["z"])
    record.name(parts.GRID, call.grid_of)
    record.name(parts.FAILED, program.failed)
    names = tuple(sys.intern(name) for name in call.names)
    record.name(parts.NAMES, names)
    pattern = Pattern(
        call.positional,
        len(names),
        tuple(arguments),
        slots,
        kind,
        extended=bool(config),
        scratch=scratch,
        shares=shares,
    )
    text = entry_text(pattern, launcher.places())
    record.put(parts.CODE, launcher.code_of(text, ("entry",))[0])
    return record


def _has_pool(device: Device, addresses: dict[int, int]) -> bool:
    """Whether launches can take scratch memory from the pool."""
    if not addresses[parts.ALLOCATE] or not addresses[parts.FREE]:
        return False
    return bool(device.properties["memory_pools_supported"])


def _tells_streams(device: Device, addresses: dict[int, int]) -> bool:
    """Whether driver and cuda-python tell streams apart, and which are captured."""
    known = addresses[parts.STREAM_NUMBER] and addresses[parts.IS_CAPTURING]
    return bool(known) and hasattr(device.context.driver.api, "cuStreamGetId")


def _argument(
    device: Device, record: Record, base: int, given: Any, sources: list[Source]
) -> Argument | None:
    value = given.value
    if given.kind == "same":
        if isinstance(value, Stream):
            record.put(base, id(value))
            record.watch(value)
            return Argument("same")
        record.name(base, value)
        if type(value) is int and -(2**63) <= value < 2**63:
            record.put(base + 1, value)
            return Argument("sameint")
        return Argument("same")
    if given.kind == "array":
        return read_array(device, record, base, given, sources)
    if given.kind == "int":
        return Argument(
            given.dtype,
            given.at,
            "wide" if given.wide else "",
            divisible=given.divisible,
            one=given.one,
        )
    return Argument(given.kind, given.at, given.dtype)


def _put_values(record: Record, call: Any, program: Program, taken: set[int]) -> bool:
    """The arguments that the call leaves to their defaults, or that stay as they are."""
    params = program.artifact.metadata.params
    values = Record(len(params) + 2)
    for at, param in enumerate(params):
        if at in taken:
            continue
        value = call.values[at]
        if param.kind == "pointer":
            if value is not None:
                return False
        else:
            bits = program.packer.bits(at, value)
            values.put(at, bits)
    record.put(parts.VALUES, values.address)
    record.keep(values)
    return True


def _put_stream(device: Device, record: Record, stream: Any, sources: list[Source]) -> str | None:
    """Where the launch's stream comes from: the one given, the tensors' library, or the default."""
    if isinstance(stream, CaptureStream):
        return None  # the graph must be told what a launch uses
    if stream is not None:
        # A stream of another library may be closed; ours ends the record with itself.
        if not isinstance(stream, (Stream, int)) or any(source.must_wait for source in sources):
            return None
        record.put(parts.STREAM, stream_handle(stream, device))
        if isinstance(stream, Stream):
            record.watch(stream)
        return "fixed"
    if not sources:
        record.put(parts.STREAM, device.default_stream)
        return "fixed"
    source = sources[0]
    if any(other != source for other in sources):
        return None  # arrays of two libraries
    if source.kind == "call":
        record.name(parts.STREAM_OF, source.tell)
    else:
        record.put(parts.STREAM_OF, source.tell)
    return source.kind
