"""Arguments of a launch, checked against the kernel's parameters and laid out for the driver.

Every compiled kernel has two pointers more than its author wrote: scratch memory for the kernel
itself and for profiling. They come last.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import TYPE_CHECKING, Any

from teeny_cuda.codes import E1064, E1065, E1067, E1068
from teeny_cuda.dtypes import DTYPES, require_dtype
from teeny_cuda.interfaces import find_array
from teeny_cuda.scalars import scalar_bits
from teeny_cuda.tensormap import BYTES, TensorMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_cuda.device import Device
    from teeny_cuda.found import Found
    from teeny_macros.artifact import Metadata, Param

_SLOT = 8
_POINTER = "Q"
_MOST_MAPS = 1024
_LETTERS = {"pointer": _POINTER, "descriptor": f"{BYTES}s"}


class Packer:
    """The layout of one kernel's arguments: a slot of 8 bytes each, of 128 for a tensor map.

    The table of their addresses.
    """

    __slots__ = ("_cells", "_format", "_offsets", "params")

    def __init__(self, params: Sequence[Param]) -> None:
        self.params = tuple(params)
        letters = [
            _LETTERS.get(param.kind) or require_dtype(param.dtype).letter for param in self.params
        ]
        letters += [_POINTER, _POINTER]
        sizes = [struct.calcsize(f"<{letter}") for letter in letters]
        slots = [-(-size // _SLOT) * _SLOT for size in sizes]
        self._offsets = [sum(slots[:at]) for at in range(len(slots))]
        self._format = struct.Struct(
            "<"
            + "".join(
                f"{x}{slot - size}x" for x, slot, size in zip(letters, slots, sizes, strict=True)
            )
        )
        # The driver copies the arguments before a launch returns, so a thread reuses its cells.
        self._cells = threading.local()

    def pack(self, values: Sequence[Any], global_scratch: int, profile_scratch: int) -> int:
        """The address of the table that `cuLaunchKernel` takes, until this thread packs again."""
        cells = self._cells
        try:
            data, table = cells.pair
        except AttributeError:
            data, table = cells.pair = self.cells()
        self._format.pack_into(data, 0, *values, global_scratch, profile_scratch)
        return ctypes.addressof(table)

    def cells(self) -> tuple[Any, Any]:
        """New memory for the values, and the table of their addresses."""
        data = ctypes.create_string_buffer(self._format.size)
        start = ctypes.addressof(data)
        table = (ctypes.c_void_p * len(self._offsets))(*(start + at for at in self._offsets))
        return data, table

    def pack_into(
        self, cells: tuple[Any, Any], values: Sequence[Any], global_scratch: int, profile: int
    ) -> int:
        """The same into `cells`, which the caller keeps."""
        self._format.pack_into(cells[0], 0, *values, global_scratch, profile)
        return ctypes.addressof(cells[1])

    def bits(self, at: int, value: Any) -> int:
        """The slot of a scalar parameter as an integer. Raises E1065 and E1066."""
        param = self.params[at]
        dtype = require_dtype(param.dtype)
        number = scalar_bits(param.name, dtype, value)
        return int.from_bytes(struct.pack("<" + dtype.letter, number), "little")


def check_arguments(
    device: Device, metadata: Metadata, args: Sequence[Any]
) -> tuple[list[Any], list[Found]]:
    """The values to pack for `args`, and what was found of the arrays among them.

    Raises:
        LaunchError: E1064 to E1069 and E1076; the message names the parameter, what it takes
            and what it got.
    """
    params = metadata.params
    if len(args) != len(params):
        names = ", ".join(param.name for param in params)
        raise E1064.error(kernel=metadata.kernel, wanted=len(params), found=len(args)).help(
            f"give, in this order: {names}"
        )
    values: list[Any] = []
    arrays: list[Found] = []
    maps = iter(metadata.descriptors)
    for param, value in zip(params, args, strict=True):
        if param.kind == "descriptor":
            found = _require_array(device, param, getattr(value, "base", value))
            values.append(_tensor_map(device, found, value, *next(maps)))
            arrays.append(found)
        elif param.kind != "pointer":
            values.append(scalar_bits(param.name, require_dtype(param.dtype), value))
        elif value is None:
            values.append(0)
        else:
            found = _require_array(device, param, value)
            values.append(found.info.pointer)
            arrays.append(found)
    return values, arrays


def _tensor_map(
    device: Device, found: Found, value: Any, box: tuple[int, ...], swizzle: int
) -> bytes:
    """The tensor map of a descriptor, as the compiled kernel reads it."""
    info, padding = found.info, value.padding
    # All that the driver is given; what it gives depends on nothing else.
    key = (
        info.pointer, info.dtype, tuple(value.shape), tuple(value.strides), box, swizzle, padding,
    )  # fmt: skip
    known = device.context.maps.get(key)
    if known is not None:
        return known
    made = TensorMap(
        device,
        value.base,
        box,
        swizzle=swizzle,
        nan_fill=padding == "nan",
        shape=value.shape,
        strides=value.strides,
    ).to_bytes()
    if len(device.context.maps) >= _MOST_MAPS:
        device.context.maps.clear()
    device.context.maps[key] = made
    return made


def _require_array(device: Device, param: Param, value: Any) -> Found:
    dtype = param.dtype.partition("[")[0]  # a descriptor's is followed by its tile
    found = find_array(value)
    if found is None:
        if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
            raise E1067.error(name=param.name, found="the host", wanted=device.name).help(
                "copy it into a buffer of the device first, or run the kernel on the CPU"
            )
        shown = (
            f"`{value!r}`" if isinstance(value, (int, float, str)) else f"a {type(value).__name__}"
        )
        raise E1065.error(name=param.name, wanted=_wanted(device, param), found=shown).help(
            "pass a buffer of the device, or an array of another library that lies there"
        )
    info = found.info
    if info.dtype != dtype:
        shown = (
            f"an array of {info.dtype}" if info.dtype else "an array of a dtype unknown to kernels"
        )
        error = E1065.error(name=param.name, wanted=_wanted(device, param), found=shown)
        raise error.help(f"convert the array, or pass `tl.typed(array, {dtype})`")
    if info.device != device.name and info.nbytes:
        raise E1067.error(name=param.name, found=info.device, wanted=device.name).help(
            f"copy the array, or launch on {info.device}"
        )
    size = DTYPES[dtype].itemsize
    if info.pointer % size:
        raise E1068.error(name=param.name, pointer=hex(info.pointer), size=size).help(
            "copy the array"
        )
    return found


def _wanted(device: Device, param: Param) -> str:
    what = "a descriptor" if param.kind == "descriptor" else "an array"
    return f"{what} of {param.dtype} on {device.name}"
