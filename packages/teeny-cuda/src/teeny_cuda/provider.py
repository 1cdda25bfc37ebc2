"""The entry point of this package in the group `teeny.devices`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_cuda.codes import E1053
from teeny_cuda.context import current_ordinal, device_count
from teeny_cuda.device import Device
from teeny_cuda.driver import driver
from teeny_cuda.interfaces import find_array, layout_of

if TYPE_CHECKING:
    from teeny_macros.protocol import ArrayInfo


class Provider:
    """Devices called `cuda` (the one that is current in this thread) and `cuda:0`, `cuda:1`, ..."""

    kind = "cuda"

    def __init__(self) -> None:
        self._devices: dict[int, Device] = {}

    def describe(self, array: Any) -> ArrayInfo | None:
        """What is known of an array on a GPU.

        None for anything else. Loads no driver for other arrays.
        """
        found = find_array(array)
        return None if found is None else found.info

    def layout(self, array: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shape of an array that `describe` knows, and its strides in elements."""
        found = layout_of(array)
        return found.shape, found.strides

    def device(self, name: str) -> Device:
        """The device called `name`. Raises E1050 to E1053 when it is not there."""
        prefix, _, digits = name.partition(":")
        if prefix != self.kind or (digits and not digits.isdecimal()):
            count = device_count()
            raise E1053.error(name=name, count=f"{count} of them").help("`cuda`, or `cuda:0`")
        ordinal = int(digits) if digits else current_ordinal()
        found = self._devices.get(ordinal)
        if found is None or found.context.driver is not driver():
            found = self._devices[ordinal] = Device(ordinal)
        return found


PROVIDER = Provider()
