"""A million launches with random allocations, graphs, streams and errors: nothing leaks.

Run on a machine with a GPU: `python benchmarks/stress_launch.py [--launches N]`. It fails when host
or device memory grows, a result is wrong, or an error comes that was not provoked.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from teeny_cuda import Device
from teeny_macros.diagnostics import LaunchError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from vector_add import BLOCK_SIZE
from vector_add import vector_add as typed_kernel

# Neither lists of buffers nor launches that must be refused fit its signature.
vector_add: Any = typed_kernel

THREADS, STREAMS = 8, 4
HOST_GROWTH = 24 << 20
DEVICE_GROWTH = 8 << 20


def host_bytes() -> int:
    """Resident memory of this process."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    return 0


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
        ]
    )
    try:
        vector_add[wrong[0]](*wrong[1], BLOCK_SIZE=BLOCK_SIZE)
    except LaunchError:
        return
    raise AssertionError(f"not refused: {wrong}")


def check(buffers: list[Any], hosts: list[Any], n: int) -> None:
    """The sums are right."""
    assert np.array_equal(buffers[2].to_host(), hosts[0] + hosts[1]), n


def churn(device: Device, launches: int, seed: int) -> int:
    """Launch so often, with everything that can happen in between; the number of launches."""
    choose = random.Random(seed)  # noqa: S311 - no secret
    stream = device.stream()
    done = 0
    while done < launches:
        n = choose.choice([1, 16, 1000, 1024, 4099])
        hosts = [np.random.default_rng(done).random(n, np.float32) for _ in range(2)]
        pooled = stream if choose.random() < 0.3 else None
        buffers = [device.copy_of(host) for host in hosts] + [
            device.buffer(n, "f32", stream=pooled)
        ]
        if pooled is not None:
            pooled.synchronize()
        grid = -(-n // BLOCK_SIZE)
        how = choose.random()
        if how < 0.1:
            with device.capture() as graph:
                for _ in range(10):
                    vector_add.on(grid, stream=graph.stream)(*buffers, n, BLOCK_SIZE=BLOCK_SIZE)
            for _ in range(20):
                graph.launch()
            done += 200
        elif how < 0.2:
            (program,) = {
                id(p.loaded): p.loaded
                for p in vector_add.site().programs.values()
                if p.loaded is not None
                and ("n_elements" in p.instance.specialization.divisible_by_16) == (n % 16 == 0)
                and ("n_elements" in p.instance.specialization.equal_to_1) == (n == 1)
            }.values() or [None]
            if program is not None:
                run = program.bind(grid, *buffers, n)
                for _ in range(1000):
                    run()
                done += 1000
        elif how < 0.4:
            for _ in range(500):
                vector_add.on(grid, stream=stream)(*buffers, n, BLOCK_SIZE=BLOCK_SIZE)
            stream.synchronize()
            done += 500
        else:
            for _ in range(2000):
                vector_add[grid](*buffers, n, BLOCK_SIZE=BLOCK_SIZE)
            done += 2000
        if choose.random() < 0.3:
            provoke(device, choose, buffers, n)
        if how >= 0.2:
            check(buffers, hosts, n)
    device.synchronize()
    return done


def threads(device: Device) -> None:
    """Eight threads launch on four streams; every result is right."""
    streams = [device.stream() for _ in range(STREAMS)]
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            n = 1000 + number
            hosts = [np.random.default_rng(number + at).random(n, np.float32) for at in range(2)]
            buffers = [device.copy_of(host) for host in hosts] + [device.buffer(n, "f32")]
            stream = streams[number % STREAMS]
            for _ in range(50):
                buffers[2].fill(0.0, stream=stream)
                for _ in range(100):
                    vector_add.on(2, stream=stream)(*buffers, n, BLOCK_SIZE=BLOCK_SIZE)
                found = buffers[2].to_host(stream=stream)
                assert np.array_equal(found, hosts[0] + hosts[1])
        except BaseException as error:  # noqa: BLE001 - shown below
            failures.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]


def main() -> None:
    """Warm up, stress, and compare the memory before and after."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=1_000_000)
    launches = parser.parse_args().launches
    device = Device(0)
    churn(device, max(launches // 10, 20_000), 1)
    threads(device)
    gc.collect()
    device.synchronize()
    device.pool.trim()
    before = host_bytes(), device.memory.free
    start = time.perf_counter()
    done = churn(device, launches, 2)
    threads(device)
    seconds = time.perf_counter() - start
    gc.collect()
    device.synchronize()
    device.pool.trim()
    host, gpu = host_bytes() - before[0], before[1] - device.memory.free
    print(
        f"{done} launches in {seconds:.1f} s; host memory {host / 1024:+.0f} KiB, "
        f"device memory {gpu / 1024:+.0f} KiB"
    )
    assert host < HOST_GROWTH, "host memory grows"
    assert gpu < DEVICE_GROWTH, "device memory grows"


if __name__ == "__main__":
    main()
