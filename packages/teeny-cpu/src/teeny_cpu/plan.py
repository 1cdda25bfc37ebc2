"""How a launch is spread: over how many threads, in chunks of how many programs.

The estimate of the compiler may be far off, so a launch that seems short begins alone and calls
workers when it proves long.
"""

from __future__ import annotations

from typing import NamedTuple

from teeny_cpu.native import ALONE, GROWING, TOGETHER

# Estimated nanoseconds: a launch that calls workers at once; what one worker more is worth; the
# longest chunk, the shortest, and the first piece of one.
_TOGETHER_NS = 100_000
_WORKER_NS = 20_000
_LONGEST_CHUNK_NS = 2_000_000
_SHORTEST_CHUNK_NS = 2_000
_PIECE_NS = 50_000
_CHUNKS_PER_THREAD = 8


class Plan(NamedTuple):
    """`workers` besides the caller take `chunk` programs at a time, `piece` of them at first."""

    mode: int
    workers: int
    chunk: int
    piece: int


def plan_launch(total: int, work: int, threads: int) -> Plan:
    """The plan for `total` programs of `work` nanoseconds each (`Metadata.work`; 0: not known)."""
    program = max(work, 1)
    threads = min(threads, total)
    longest = max(_LONGEST_CHUNK_NS // program, 1)
    shortest = _SHORTEST_CHUNK_NS // program if work else 1
    piece = max(_PIECE_NS // program, 1) if work else 1
    if threads <= 1:
        return Plan(ALONE, 0, max(min(longest, -(-total // 4)), 1), piece)
    if total * program < _TOGETHER_NS or not work:
        chunk = min(max(total // (_CHUNKS_PER_THREAD * threads), shortest), -(-total // 4))
        return Plan(GROWING, threads - 1, max(min(chunk, longest), 1), piece)
    workers = min(threads - 1, max(total * program // _WORKER_NS, 1))
    chunk = max(total // (_CHUNKS_PER_THREAD * (workers + 1)), shortest)
    chunk = max(min(chunk, longest, -(-total // (workers + 1))), 1)
    return Plan(TOGETHER, workers, chunk, piece)
