"""The host as a device: the launch API of a GPU over NumPy arrays.

`Device` runs kernels that teenyc compiled for the CPU, on all cores; `Interpreter` interprets them.
"""

from teeny_cpu.buffer import Buffer
from teeny_cpu.device import Device
from teeny_cpu.interpreter import Interpreter
from teeny_cpu.module import Bound, Program
from teeny_cpu.stream import Event, Stream

__all__ = ["Bound", "Buffer", "Device", "Event", "Interpreter", "Program", "Stream"]
