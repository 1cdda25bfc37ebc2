"""A program: random launches, forks, kills and failures, for as long as asked.

`python packages/teeny-cpu/tests/stress.py` runs five seconds, `--long` ten minutes; it ends with
status 0 when every result was right, nothing crashed or hung, and memory did not grow. The kernels
are compiled first.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np

import teeny_triton as tl
from teeny_compiler import CompileOptions, compile_kernel
from teeny_cpu import Device
from teeny_macros import Target, kernel
from teeny_macros.diagnostics import TeenyError
from teeny_triton import Const, Ptr, f32, i32

PAGE = 4096


@kernel
def add(
    x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]
) -> None:
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    total = tl.load(x_ptr + i, mask=mask) + tl.load(y_ptr + i, mask=mask)
    tl.store(out_ptr + i, total, mask=mask)


@kernel
def row_sums(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), f32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


class Work:
    """The loaded kernels, and launches of them whose results are known."""

    def __init__(self) -> None:
        device, cpu = Device(), Target.cpu()
        self.add = device.load(compile_kernel(add.instantiate(BLOCK=256), cpu))
        self.sums = device.load(compile_kernel(row_sums.instantiate(BLOCK=128), cpu))
        small = row_sums.instantiate(BLOCK=64)
        checked = CompileOptions(bounds_checks=True)
        self.checked = device.load(compile_kernel(small, cpu, options=checked))
        for n in (1000, 10_000) * 40:  # until such launches take the short way
            self.short(n)

    def short(self, n: int) -> None:
        """A launch that names the kernel."""
        x, y, out = np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(n, np.float32)
        add[-(-n // 256)](x, y, out, n, BLOCK=256)
        assert np.array_equal(out, x + 1)

    def once(self, dice: random.Random) -> None:
        """One launch of random size on a random number of threads."""
        device = Device(dice.randint(1, 6))
        chance = dice.random()
        if chance < 0.3:
            self.short(dice.choice((255, 1000, 10_000, 300_000)))
        elif chance < 0.6:
            n = dice.choice((1, 255, 256, 10_000, 300_000))
            x, y, out = np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(n, "f4")
            stream = dice.choice((None, device.stream()))
            device.launch(self.add, -(-n // 256), (x, y, out, n), stream=stream)
            if stream is not None:
                stream.synchronize()
            assert np.array_equal(out, x + 1)
        else:
            rows, n = dice.randint(1, 500), dice.choice((1, 127, 1000))
            x, out = np.ones((rows, n), np.float32), np.zeros(rows, np.float32)
            bound = self.sums.bind(rows, x, out, n, threads=device.threads)
            for _ in range(3):
                out[:] = 0
                bound()
                assert (out == n).all()

    def fail(self) -> None:
        """A launch that goes out of bounds, which is an error that says so."""
        x, out = np.ones((10, 100), np.float32), np.zeros(10, np.float32)
        code = ""
        try:
            Device(3).launch(self.checked, 11, (x, out, 100))
        except TeenyError as error:
            code = error.code
        assert code == "E1122", f"an access outside of the array gave `{code}`"


def launch_until(work: Work, end: float, seed: int, errors: list[BaseException]) -> None:
    """What each thread does."""
    dice = random.Random(seed)
    try:
        while time.monotonic() < end and not errors:
            work.once(dice)
            if dice.random() < 0.1:
                work.fail()
    except BaseException as error:  # noqa: BLE001 - raised in the main thread
        errors.append(error)


def fork(work: Work, seed: int) -> None:
    """Launch in a forked child."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        status = 1
        try:
            dice = random.Random(seed)
            for _ in range(5):
                work.once(dice)
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, f"a forked child ended with {status}"


def kill(dice: random.Random) -> None:
    """Interrupt or kill a process that launches."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--victim"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(dice.random() / 4)
    sent = dice.choice((signal.SIGINT, signal.SIGKILL, signal.SIGTERM))
    status = None
    for _ in range(6):
        process.send_signal(sent)
        try:
            status = process.wait(10)
            break
        except subprocess.TimeoutExpired:
            # Python drops an interrupt that falls into a finalizer: send it again.
            continue
    if status is None:
        process.kill()
    process.stdout.close()
    assert status == (0 if sent == signal.SIGINT else -sent), (sent, status)


def be_a_victim() -> None:
    """Launch until interrupted, then once more."""
    work, dice = Work(), random.Random(0)
    try:
        print("ready", flush=True)
        while True:
            work.once(dice)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        work.once(dice)


def resident() -> int:
    """Bytes of memory in use; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE
    except OSError:
        return 0


def stress(seconds: float) -> dict[str, Any]:
    """Everything at once for so many seconds. Raises what went wrong."""
    work, dice = Work(), random.Random(1)
    errors: list[BaseException] = []
    counts = {"forks": 0, "kills": 0, "grown": 0}
    end = time.monotonic() + seconds
    threads = [
        threading.Thread(target=launch_until, args=(work, end, seed, errors)) for seed in range(4)
    ]
    for thread in threads:
        thread.start()
    before = 0
    while time.monotonic() < end and not errors:
        if os.name == "posix":
            fork(work, dice.randrange(1000))
            counts["forks"] += 1
            if dice.random() < 0.2:
                kill(dice)
                counts["kills"] += 1
        if not before and time.monotonic() > end - seconds / 2:
            before = resident()
    for thread in threads:
        thread.join(120)
    if errors:
        raise errors[0]
    counts["grown"] = resident() - before if before else 0
    assert counts["grown"] < 64 << 20, counts
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="ten minutes")
    parser.add_argument("--victim", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.victim:
        be_a_victim()
    else:
        print(stress(600 if given.long else 5))
