"""A million launches of every kind with random allocations, graphs, streams and errors: no leak.

Run on a machine with a GPU: `python benchmarks/stress_launch.py [--launches N] [--trace]`. Each
kind of work runs for itself, with the memory of host and GPU and Python's objects at ten
checkpoints, so that growth has a name; then all of it mixed, and eight threads on four streams. It
fails when memory grows, a result is wrong, or an error comes that was not provoked.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import random
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from stress_kinds import declared, scratch, tiles

from teeny_cuda import Device
from teeny_macros.diagnostics import LaunchError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from vector_add import BLOCK_SIZE
from vector_add import vector_add as typed_kernel

# Neither lists of buffers nor launches that must be refused fit its signature.
vector_add: Any = typed_kernel

THREADS, STREAMS = 8, 4
CHECKPOINTS = 10
WARM = 3  # checkpoints before memory has to be flat
HOST_GROWTH = 3 << 20
DEVICE_GROWTH = 2 << 20
OBJECT_GROWTH = 500
SIZES = (1, 16, 1000, 1024, 4099)


class Mark(NamedTuple):
    """Memory and objects at one moment, after everything has ended."""

    host: int
    device: int
    objects: int


def mark(device: Device) -> Mark:
    """What is in use now; what is free goes back to the system first."""
    gc.collect()
    device.synchronize()
    device.pool.trim()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
    host = 0
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            host = int(line.split()[1]) << 10
    memory = device.memory
    return Mark(host, memory.total - memory.free, len(gc.get_objects()))


# --- the kinds of work: each makes about `count` launches and gives their number ------------------
class Work:
    """Buffers of one size, whose sum every kind of launch writes again."""

    def __init__(self, device: Device, n: int, *, stream: Any = None) -> None:
        self.device = device
        self.n = n
        self.grid = -(-n // BLOCK_SIZE)
        self.hosts = [np.random.default_rng(n + at).random(n, np.float32) for at in range(2)]
        self.buffers = [device.copy_of(host) for host in self.hosts]
        self.buffers.append(device.buffer(n, "f32", stream=stream))
        if stream is not None:
            stream.synchronize()

    def launch(self, on: Any) -> None:
        """Launch through `vector_add[...]` or `vector_add.on(...)`."""
        on(*self.buffers, self.n, BLOCK_SIZE=BLOCK_SIZE)

    def check(self) -> None:
        """The sums are right."""
        found = self.buffers[2].to_host()
        assert np.array_equal(found, self.hosts[0] + self.hosts[1]), self.n


def fast(device: Device, count: int, choose: random.Random) -> int:
    """`kernel[grid](...)` as a user writes it."""
    work = Work(device, choose.choice(SIZES))
    for _ in range(count):
        work.launch(vector_add[work.grid])
    work.check()
    return count


def streams(device: Device, count: int, choose: random.Random) -> int:
    """The same on streams that come and go."""
    work = Work(device, choose.choice(SIZES))
    for _ in range(max(1, count // 100)):
        stream = device.stream()
        for _ in range(100):
            work.launch(vector_add.on(work.grid, stream=stream))
        stream.synchronize()
    work.check()
    return count


def slow(device: Device, count: int, choose: random.Random) -> int:
    """Launches that no machine code takes: the arguments by other names each time."""
    work = Work(device, choose.choice(SIZES))
    x, y, out = work.buffers
    for _ in range(count):
        device.launch(_program(work), work.grid, [x, y, out, work.n])
    work.check()
    return count


def prepared(device: Device, count: int, choose: random.Random) -> int:
    """Launches with everything fixed, made anew after each thousand."""
    work = Work(device, choose.choice(SIZES))
    for _ in range(max(1, count // 1000)):
        run = _program(work).bind(work.grid, *work.buffers, work.n)
        for _ in range(1000):
            run()
    work.check()
    return count


def graphs(device: Device, count: int, choose: random.Random) -> int:
    """Ten launches a graph, captured, replayed, captured again with other arguments, replayed."""
    one, two = Work(device, choose.choice(SIZES)), Work(device, 1000)
    for _ in range(max(1, count // 200)):
        graph = device.capture()
        for work in (one, two) if one.n == two.n else (one,):
            with graph:
                for _ in range(10):
                    work.launch(vector_add.on(work.grid, stream=graph.stream))
            for _ in range(20):
                graph.launch()
    one.check()
    return count


def pool(device: Device, count: int, choose: random.Random) -> int:
    """Random allocations, at once and in the order of a stream, and launches over them."""
    stream = device.stream()
    for _ in range(max(1, count // 20)):
        work = Work(
            device, choose.randrange(1, 50_000), stream=stream if choose.random() < 0.5 else None
        )
        for _ in range(20):
            work.launch(vector_add[work.grid])
    return count


def exceptions(device: Device, count: int, choose: random.Random) -> int:
    """Launches that are refused, in all ways, beside some that are not."""
    work = Work(device, choose.choice(SIZES))
    for _ in range(max(1, count // 2)):
        provoke(device, choose, work.buffers, work.n)
        work.launch(vector_add[work.grid])
    work.check()
    return count


KINDS: dict[str, tuple[Callable[[Device, int, random.Random], int], float]] = {
    # with the share of all launches that it gets
    "fast": (fast, 0.2),
    "streams": (streams, 0.1),
    "slow": (slow, 0.03),
    "prepared": (prepared, 0.2),
    "graphs": (graphs, 0.15),
    "pool": (pool, 0.02),
    "exceptions": (exceptions, 0.02),
    "tiles": (tiles, 0.05),
    "scratch": (scratch, 0.03),
    "declared": (declared, 0.05),
}


def _program(work: Work) -> Any:
    """The program that launches of this size led to; makes it when there is none."""
    work.launch(vector_add[work.grid])
    for program in vector_add.site().programs.values():
        hints = program.instance.specialization
        if (
            program.loaded is not None
            and ("n_elements" in hints.divisible_by_16) == (work.n % 16 == 0)
            and ("n_elements" in hints.equal_to_1) == (work.n == 1)
        ):
            return program.loaded
    raise AssertionError(f"no program for {work.n} elements")


def provoke(device: Device, choose: random.Random, buffers: list[Any], n: int) -> None:
    """A launch that must be refused."""
    released = device.buffer(n, "f32")
    released.release()
    wrong = choose.choice(
        [
            (1, (buffers[0], buffers[1], released, n)),
            ((1, 70000), (*buffers, n)),
            (1, (buffers[0], device.buffer(n, "f64"), buffers[2], n)),
            (1, (*buffers, 2**40)),
            (-1, (*buffers, n)),
            (1, (*buffers,)),
            (1, (buffers[0].to_host(), *buffers[1:], n)),
        ]
    )
    try:
        vector_add[wrong[0]](*wrong[1], BLOCK_SIZE=BLOCK_SIZE)
    except LaunchError:
        return
    raise AssertionError(f"not refused: {wrong}")


def mixed(device: Device, count: int, choose: random.Random) -> int:
    """All kinds in random order."""
    done = 0
    kinds = [function for function, _ in KINDS.values()]
    while done < count:
        function = choose.choice(kinds)
        done += function(device, 200 if function in (pool, exceptions) else 1000, choose)
    return done


def threads(device: Device) -> int:
    """Eight threads launch on four streams; every result is right."""
    shared = [device.stream() for _ in range(STREAMS)]
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            own = Work(device, 1000 + number)
            stream = shared[number % STREAMS]
            for _ in range(50):
                own.buffers[2].fill(0.0, stream=stream)
                for _ in range(100):
                    own.launch(vector_add.on(2, stream=stream))
                found = own.buffers[2].to_host(stream=stream)
                assert np.array_equal(found, own.hosts[0] + own.hosts[1])
        except BaseException as error:  # noqa: BLE001 - shown below
            failures.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
    return THREADS * 50 * 100


# --- measuring ------------------------------------------------------------------------------------
def follow(
    device: Device, name: str, function: Callable[..., int], launches: int, seed: int
) -> tuple[int, list[Mark]]:
    """Run one kind of work, with marks between its tenths."""
    choose = random.Random(seed)  # noqa: S311 - no secret
    done, marks, start = 0, [], time.perf_counter()
    for _ in range(CHECKPOINTS):
        part = 0
        while part < launches // CHECKPOINTS:
            part += function(device, min(2000, max(200, launches // CHECKPOINTS)), choose)
        done += part
        marks.append(mark(device))
    seconds = time.perf_counter() - start
    base = marks[WARM - 1]
    hosts = " ".join(f"{(row.host - base.host) // 1024:+d}" for row in marks)
    gpu, objects = (marks[-1].device - base.device) // 1024, marks[-1].objects - base.objects
    print(
        f"{name:11} {done:8d} launches {seconds:5.1f} s  host KiB {hosts}  GPU KiB {gpu:+d}  "
        f"objects {objects:+d}",
        flush=True,
    )
    return done, marks


def trace(device: Device, function: Callable[..., int], launches: int) -> list[str]:
    """The lines whose memory grew most while one kind of work ran."""
    choose = random.Random(9)  # noqa: S311 - no secret
    function(device, launches, choose)
    gc.collect()
    tracemalloc.start(8)
    function(device, launches, choose)
    gc.collect()
    before = tracemalloc.take_snapshot()
    for _ in range(4):
        function(device, launches, choose)
    gc.collect()
    after = tracemalloc.take_snapshot()
    tracemalloc.stop()
    rows = [row for row in after.compare_to(before, "lineno") if row.size_diff > 2048]
    return [str(row) for row in rows[:5]]


def main() -> int:
    """Run all kinds, then the mixture; the number of those whose memory grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=1_000_000)
    parser.add_argument("--trace", action="store_true", help="also name the lines that allocate")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    device = Device(0)
    total, failures, rows = threads(device), 0, {}
    subjects = {name: (function, share) for name, (function, share) in KINDS.items()}
    subjects["mixed"] = (mixed, 1 - sum(share for _, share in subjects.values()))
    for seed, (name, (function, share)) in enumerate(subjects.items()):
        done, marks = follow(device, name, function, int(chosen.launches * share), seed)
        total += done
        base, last = marks[WARM - 1], marks[-1]
        rows[name] = [tuple(row) for row in marks]
        grown = (
            last.host - base.host > HOST_GROWTH
            or last.device - base.device > DEVICE_GROWTH
            or last.objects - base.objects > OBJECT_GROWTH
        )
        failures += grown
        if grown:
            print(f"  {name} GROWS")
        if chosen.trace:
            for line in trace(device, function, 1000):
                print("  traced:", line)
    total += threads(device)
    print(f"{total} launches; {failures} kinds of work whose memory grows")
    if chosen.json:
        chosen.json.write_text(json.dumps({"schema": 1, "marks": rows}), encoding="utf-8")
    return failures


if __name__ == "__main__":
    sys.exit(main())
