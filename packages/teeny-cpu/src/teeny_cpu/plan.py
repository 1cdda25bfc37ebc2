"""How a launch is spread: over how many threads, in chunks of how many programs.

The estimate of the compiler may be far off, so a launch that seems short begins alone and calls
workers when it proves long.
"""

from __future__ import annotations

from typing import NamedTuple

from teeny_cpu.native import ALONE, GROWING, TOGETHER

# Units of `Metadata.work` in a nanosecond of one thread.
_WORK_PER_NS = 32
# Estimated nanoseconds: a launch that calls workers at once; what one worker more is worth; the
# longest chunk (the time until Ctrl-C is seen) and the shortest.
_TOGETHER_NS = 100_000
_WORKER_NS = 20_000
_LONGEST_CHUNK_NS = 2_000_000
_SHORTEST_CHUNK_NS = 2_000
_CHUNKS_PER_THREAD = 8


class Plan(NamedTuple):
    """`workers` besides the caller take `chunk` programs at a time."""

    mode: int
    workers: int
    chunk: int


def plan_launch(total: int, work: int, threads: int) -> Plan:
    """The plan for `total` programs of `work` units each (0: not known)."""
    program = max(work / _WORK_PER_NS, 1.0)
    threads = min(threads, total)
    longest = max(int(_LONGEST_CHUNK_NS / program), 1)
    shortest = int(_SHORTEST_CHUNK_NS / program) if work else 1
    if threads <= 1:
        return Plan(ALONE, 0, max(min(longest, -(-total // 4)), 1))
    if total * program < _TOGETHER_NS or not work:
        chunk = min(max(total // (_CHUNKS_PER_THREAD * threads), shortest), -(-total // 4))
        return Plan(GROWING, threads - 1, max(min(chunk, longest), 1))
    workers = min(threads - 1, max(int(total * program / _WORKER_NS), 1))
    chunk = max(total // (_CHUNKS_PER_THREAD * (workers + 1)), shortest)
    return Plan(TOGETHER, workers, max(min(chunk, longest, -(-total // (workers + 1))), 1))
