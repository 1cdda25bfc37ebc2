"""The host as a device: the launch API of a GPU over NumPy arrays.

In this version kernels run in teenyc's interpreter (`pip install 'teenyc[interpret]'`).
"""

from teeny_cpu.buffer import Buffer
from teeny_cpu.device import Device
from teeny_cpu.module import Program
from teeny_cpu.stream import Event, Stream

__all__ = ["Buffer", "Device", "Event", "Program", "Stream"]
