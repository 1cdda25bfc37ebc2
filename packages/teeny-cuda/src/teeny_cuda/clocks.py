"""What a GPU's clocks do while something is measured, from NVML, the driver's management library.

Without NVML nothing is known, which is no error.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from teeny_cuda.device import Device

_NAMES = ("libnvidia-ml.so.1", "nvml.dll")
_SM, _MEMORY = 1, 2
# nvmlClocksEventReasons: what holds the clocks down. An idle GPU and chosen clocks do not.
_REASONS = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}


class Clocks(NamedTuple):
    """Clocks in MHz now, and what holds them down, empty when nothing does."""

    sm: int
    memory: int
    throttled: tuple[str, ...]


def read_clocks(device: Device) -> Clocks | None:
    """The clocks of a GPU now; None where NVML does not tell."""
    for name in _NAMES:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        return None
    handle = ctypes.c_void_p()
    if library.nvmlInit_v2():
        return None
    try:
        if library.nvmlDeviceGetHandleByUUID(device.uuid.encode(), ctypes.byref(handle)):
            return None
        sm, memory = ctypes.c_uint(), ctypes.c_uint()
        reasons = ctypes.c_ulonglong()
        if library.nvmlDeviceGetClockInfo(handle, _SM, ctypes.byref(sm)):
            return None
        library.nvmlDeviceGetClockInfo(handle, _MEMORY, ctypes.byref(memory))
        library.nvmlDeviceGetCurrentClocksThrottleReasons(handle, ctypes.byref(reasons))
    finally:
        library.nvmlShutdown()
    held = tuple(text for bit, text in _REASONS.items() if reasons.value & bit)
    return Clocks(sm.value, memory.value, held)
