"""Scratch memory: what programs use besides their arguments. One block for each calling thread.

A block is a header (the progress of a launch, an error record), then the arena. It only grows.
"""

from __future__ import annotations

import threading
from typing import Any

from teeny_cpu.native import HEADER_BYTES

_ALIGNMENT = 64


class Block:
    """Zeroed memory, of which untouched pages cost nothing: its address and arena bytes."""

    __slots__ = ("_memory", "address", "arena")

    def __init__(self, arena: int, headers: int = 1) -> None:
        self.arena = arena
        self._memory, self.address = zeros(headers * stride_of(arena))


def zeros(nbytes: int) -> tuple[Any, int]:
    """Zeroed memory, aligned to 64 bytes: what owns it, and its address."""
    import numpy as np

    memory = np.zeros(nbytes + _ALIGNMENT, np.uint8)
    start = int(memory.__array_interface__["data"][0])
    return memory, start + -start % _ALIGNMENT


def stride_of(arena: int) -> int:
    """Bytes from one thread's scratch memory to the next; two cache lines apart at least."""
    return HEADER_BYTES + -(-arena // _ALIGNMENT) * _ALIGNMENT + 2 * _ALIGNMENT


class Own(threading.local):
    """The calling thread's block."""

    block: Block | None = None

    def grow(self, arena: int) -> Block:
        """A block with at least `arena` bytes; it replaces the thread's own."""
        self.block = Block(max(arena, self.block.arena if self.block else 0))
        return self.block


OWN = Own()
