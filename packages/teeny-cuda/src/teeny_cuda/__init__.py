"""Loads compiled kernels through the CUDA driver and launches them.

Importing it needs no GPU, no driver and no cuda-python; using it says what is missing.
"""

from teeny_cuda.buffer import Buffer
from teeny_cuda.context import device_count
from teeny_cuda.device import Device, Memory, Properties
from teeny_cuda.event import Event
from teeny_cuda.graph import Graph
from teeny_cuda.memory import MemoryPool
from teeny_cuda.module import Attributes, Program
from teeny_cuda.prepared import Prepared
from teeny_cuda.stream import Stream
from teeny_cuda.tensormap import TensorMap

__all__ = [
    "Attributes",
    "Buffer",
    "Device",
    "Event",
    "Graph",
    "Memory",
    "MemoryPool",
    "Prepared",
    "Program",
    "Properties",
    "Stream",
    "TensorMap",
    "device_count",
]
