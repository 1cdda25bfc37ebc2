"""Private copies of what a kernel may write, so that trials leave the caller's arrays alone.

Memory is moved as bytes through the device protocol; arguments that share memory share it in the
copies too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros import devices

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from teeny_macros.protocol import ArrayInfo, Device

_GRANULE = 16  # kernels assume alignment up to this; it is kept


class HostMemory:
    """Bytes on the host, as an array of NumPy's protocol."""

    def __init__(self, pointer: int, nbytes: int, owner: object) -> None:
        self.owner = owner
        self.__array_interface__ = _interface(pointer, nbytes)


class CudaMemory:
    """Bytes on a GPU, as an array of the CUDA array interface."""

    def __init__(self, pointer: int, nbytes: int, owner: object) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = _interface(pointer, nbytes) | {"strides": None}


class TypedMemory:
    """Bytes, read as elements of a dtype of the kernel language."""

    __slots__ = ("array", "dtype")

    def __init__(self, array: HostMemory | CudaMemory, dtype: str) -> None:
        self.array = array
        self.dtype = dtype


class Output(NamedTuple):
    """Where an argument's bytes lie in the copy of its group."""

    group: int
    offset: int
    nbytes: int
    dtype: str


class _Group:
    """Arguments whose memory overlaps: one copy for all of them."""

    def __init__(self, device: Device, start: int, end: int, owners: list[Any]) -> None:
        start -= start % _GRANULE
        self.start, self.nbytes = start, end - start
        self.source = memory(device, start, self.nbytes, owners)
        self.buffer = device.buffer(self.nbytes, "u8")
        self.zeros: Any = None

    def fill(self) -> None:
        self.buffer.copy_from(self.source if self.zeros is None else self.zeros)


class Private:
    """The arguments of trials: what may be written is copied, the rest is the caller's.

    `names` and `args` are the run-time arguments in order, `dtypes` of the pointers by name.
    Those of `written` are copied; those of `zeroed` begin as zeros instead of the caller's values.
    """

    def __init__(
        self,
        device: Device,
        names: Sequence[str],
        args: Sequence[Any],
        dtypes: Mapping[str, str],
        written: Collection[str],
        zeroed: Collection[str],
    ) -> None:
        self.device = device
        self.args = list(args)
        self.outputs: dict[str, Output] = {}
        found = _infos(names, args, dtypes)
        self._groups: list[_Group] = []
        for members in _overlapping(found):
            if members.isdisjoint(written):
                continue
            start = min(found[name].pointer for name in members)
            end = max(found[name].pointer + found[name].nbytes for name in members)
            owners = [args[names.index(name)] for name in members]
            group = _Group(device, start, end, owners)
            if not members.isdisjoint(zeroed):
                group.zeros = _zeros(group.nbytes)
            for name in members:
                offset = found[name].pointer - group.start
                place = memory(
                    device, group.buffer.pointer + offset, found[name].nbytes, group.buffer
                )
                self.args[names.index(name)] = TypedMemory(place, dtypes[name])
                if name in written:
                    at = len(self._groups)
                    self.outputs[name] = Output(at, offset, found[name].nbytes, dtypes[name])
            self._groups.append(group)

    def restore(self) -> None:
        """Put the caller's values (or zeros) into the copies."""
        for group in self._groups:
            group.fill()

    def read(self) -> dict[str, Any]:
        """The bytes of every argument that may be written, as arrays on the host."""
        whole = [group.buffer.to_host() for group in self._groups]
        return {
            name: whole[found.group][found.offset : found.offset + found.nbytes]
            for name, found in self.outputs.items()
        }


def memory(device: Device, pointer: int, nbytes: int, owner: object) -> HostMemory | CudaMemory:
    """Bytes of a device's memory as an array that the device takes."""
    kind = CudaMemory if device.target.kind == "cuda" else HostMemory
    return kind(pointer, nbytes, owner)


def host_bytes(device: Device, info: ArrayInfo, owner: object) -> Any:
    """The bytes of an array, copied to the host."""
    buffer = device.buffer(info.nbytes, "u8")
    buffer.copy_from(memory(device, info.pointer, info.nbytes, owner))
    return buffer.to_host()


def _infos(
    names: Sequence[str], args: Sequence[Any], dtypes: Mapping[str, str]
) -> dict[str, ArrayInfo]:
    found: dict[str, ArrayInfo] = {}
    for name, value in zip(names, args, strict=True):
        info = devices.describe(value) if name in dtypes and value is not None else None
        if info is not None and info.nbytes:
            found[name] = info
    return found


def _overlapping(found: Mapping[str, ArrayInfo]) -> list[set[str]]:
    """The names in groups that share memory, each group once."""
    groups: list[set[str]] = []
    end = -1
    for name in sorted(found, key=lambda name: found[name].pointer):
        info = found[name]
        if info.pointer < end:
            groups[-1].add(name)
        else:
            groups.append({name})
        end = max(end, info.pointer + info.nbytes)
    return groups


def _zeros(nbytes: int) -> HostMemory:
    import ctypes

    zeros = (ctypes.c_ubyte * nbytes)()
    return HostMemory(ctypes.addressof(zeros), nbytes, zeros)


def _interface(pointer: int, nbytes: int) -> dict[str, Any]:
    return {"shape": (nbytes,), "typestr": "|u1", "data": (pointer, False), "version": 3}
