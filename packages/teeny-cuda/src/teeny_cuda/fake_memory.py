"""Device memory of the fake driver: real bytes behind addresses that no host memory has."""

from __future__ import annotations

_STEP = 512
_SPACE = 1 << 44


class FaultError(Exception):
    """Work on the fake GPU fails; `number` is the result that every later call gives."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Memory:
    """The memory of GPU `ordinal`, `total` bytes. Addresses are never used twice."""

    def __init__(self, ordinal: int, total: int) -> None:
        self.ordinal = ordinal
        self.total = total
        self.used = 0
        self.blocks: dict[int, bytearray] = {}
        self._next = (ordinal + 1) * _SPACE

    def allocate(self, nbytes: int) -> int | None:
        """The address of `nbytes` new bytes, or None when so many are not free."""
        if self.used + nbytes > self.total:
            return None
        pointer = self._next
        self._next += -(-nbytes // _STEP) * _STEP + _STEP  # with a gap, so that overruns are seen
        self.blocks[pointer] = bytearray(b"\xcd" * nbytes)
        self.used += nbytes
        return pointer

    def free(self, pointer: int) -> bool:
        """Whether an allocation began at `pointer`; it is gone now."""
        found = self.blocks.pop(pointer, None)
        if found is None:
            return False
        self.used -= len(found)
        return True

    def view(self, pointer: int, nbytes: int) -> memoryview | None:
        """The bytes of a range, or None when it is not inside of one allocation."""
        for start, data in self.blocks.items():
            if start <= pointer and pointer + nbytes <= start + len(data):
                return memoryview(data)[pointer - start : pointer - start + nbytes]
        return None
