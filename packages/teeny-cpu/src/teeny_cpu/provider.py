"""The entry point of this package in the group `teeny.devices`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_cpu.arrays import describe, find_view
from teeny_cpu.codes import E1102
from teeny_cpu.device import Device
from teeny_cpu.interpreter import Interpreter

if TYPE_CHECKING:
    from teeny_macros.protocol import ArrayInfo

NAMES = ("cpu", "interpret")


class Provider:
    """The host's devices: `cpu` runs compiled kernels, `interpret` their units."""

    kind = "cpu"

    def __init__(self) -> None:
        self._devices: dict[str, Device | Interpreter] = {}

    def describe(self, array: Any) -> ArrayInfo | None:
        """What is known of an array on the host; None for anything else."""
        found = find_view(array)
        return None if found is None else describe(found)

    def layout(self, array: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The shape of an array that `describe` knows, and its strides in elements."""
        found = find_view(array)
        if found is None:
            return None
        steps = tuple(step // found.array.itemsize for step in found.array.strides)
        return tuple(found.array.shape), steps

    def device(self, name: str) -> Device | Interpreter:
        """The device called `name`. Raises E1102 for another name."""
        if name not in NAMES:
            raise E1102.error(name=name).help(" or ".join(f"`{known}`" for known in NAMES))
        found = self._devices.get(name)
        if found is None:
            found = self._devices[name] = Interpreter() if name == "interpret" else Device()
        return found


PROVIDER = Provider()
