"""Pools, pinned memory and peer access of the fake driver."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from teeny_cuda.fake_base import Answer, CUresult, bound, call, numbered, ok, waiting

if TYPE_CHECKING:
    from teeny_cuda.fake_memory import Memory

_POOL = 0x9000


class FakePools:
    """The functions of memory pools, pinned memory and peers."""

    memories: list[Memory]
    CUmemPool_attribute = numbered(
        "CUmemPool_attribute",
        {
            "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD": 4,
            "CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT": 5,
            "CU_MEMPOOL_ATTR_USED_MEM_CURRENT": 7,
        },
    )

    def start_pools(self, count: int) -> None:
        """Begin with empty pools; all GPUs can reach each other."""
        self.pool_used = [0] * count
        self.pool_reserved = [0] * count
        self.pool_threshold = [0] * count
        self.pooled: dict[int, tuple[int, int]] = {}
        self.pinned: dict[int, Any] = {}
        self.peers: set[tuple[int, int]] = set()
        self.reachable = True

    @call
    def cuDeviceGetDefaultMemPool(self, device: int) -> Answer:
        return ok(_POOL + device)

    @call
    def cuMemPoolGetAttribute(self, pool: int, attribute: Any) -> Answer:
        at = pool - _POOL
        self.pool_reserved[at] = max(self.pool_reserved[at], self.pool_used[at])
        values = {4: self.pool_threshold, 5: self.pool_reserved, 7: self.pool_used}
        return ok(values[int(attribute)][at])

    @call
    def cuMemPoolSetAttribute(self, pool: int, attribute: Any, value: int) -> Answer | None:
        if int(attribute) != 4:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        self.pool_threshold[pool - _POOL] = int(value)
        return None

    @call
    def cuMemPoolTrimTo(self, pool: int, keep: int) -> None:
        at = pool - _POOL
        self.pool_reserved[at] = max(self.pool_used[at], min(self.pool_reserved[at], keep))

    @call
    @bound
    @waiting
    def cuMemHostAlloc(self, nbytes: int, flags: int) -> Answer:
        if nbytes > 1 << 30:
            return (CUresult.CUDA_ERROR_OUT_OF_MEMORY,)
        block = ctypes.create_string_buffer(nbytes)
        self.pinned[ctypes.addressof(block)] = block
        return ok(ctypes.addressof(block))

    @call
    @waiting
    def cuMemFreeHost(self, pointer: int) -> Answer | None:
        found = self.pinned.pop(pointer, None)
        return None if found is not None else (CUresult.CUDA_ERROR_INVALID_VALUE,)

    @call
    def cuDeviceCanAccessPeer(self, device: int, peer: int) -> Answer:
        return ok(int(self.reachable and device != peer))

    @call
    def cuCtxEnablePeerAccess(self, context: int, flags: int) -> Answer | None:
        if context == self.current[-1]:  # type: ignore[attr-defined]
            return (CUresult.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,)
        pair = (self.current[-1], context)  # type: ignore[attr-defined]
        if pair in self.peers:
            return (CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,)
        self.peers.add(pair)
        return None
