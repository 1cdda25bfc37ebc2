"""Philox 4x32-10 in NumPy, as the language has it: for the references of what is random.

Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def signed(seed: int) -> int:
    """The low 64 bits of a seed, as an i64."""
    return (seed + 2**63) % 2**64 - 2**63


def philox(seed: int, counters: Any) -> Any:
    """Four u32 for each counter, (n, 4), in NumPy: Philox 4x32-10 with the counter (low, high)."""
    low = np.asarray(counters, np.uint64)
    words: list[NDArray[Any]] = [low & 0xFFFFFFFF, low >> np.uint64(32), low * 0, low * 0]
    key = [seed % 2**64 & 0xFFFFFFFF, seed % 2**64 >> 32]
    for _ in range(10):
        a, b = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            b >> np.uint64(32) ^ words[1] ^ np.uint64(key[0]),
            b & 0xFFFFFFFF,
            a >> np.uint64(32) ^ words[3] ^ np.uint64(key[1]),
            a & 0xFFFFFFFF,
        ]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return np.stack(words, -1).astype(np.uint32)


def uniform(words: Any) -> Any:
    """The f32 within [0, 1) that the language makes of 32 random bits."""
    own: NDArray[np.int32] = words.view(np.int32)
    return np.where(own < 0, ~own, own).astype(np.float32) * np.float32(4.6566127342e-10)
