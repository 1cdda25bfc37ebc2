"""What happens to launches when the process forks, is interrupted or ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import MakeNative

SETUP = """
import os, signal, sys, threading, time
from pathlib import Path
import numpy as np
from teeny_cpu import Device
from teeny_macros.artifact import Artifact, Metadata, Param
from teeny_macros.target import Target

params = tuple(Param(*row) for row in (
    ("x_ptr", "pointer", "i64"), ("out_ptr", "pointer", "i64"), ("n", "scalar", "i32")))
metadata = Metadata("square", "square_entry_point", "cpu:host", params,
                    arena_bytes=4096, work=10**7)
device = Device(3)
program = device.load(Artifact(Path(sys.argv[1]), metadata, Target.cpu()))

def check(count=300, waste=100):
    x, out = np.arange(count), np.zeros(count, np.int64)
    device.launch(program, count, (x, out, waste))
    assert np.array_equal(out, x + x * x)
"""

STRESS = Path(__file__).with_name("stress.py")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def start(native: MakeNative, script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SETUP + script, str(native("square").path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str], seconds: float = 40) -> str:
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # and its children
        process.communicate()
        raise
    assert process.returncode == 0, f"{process.returncode}: {err}"
    return out


@forks
def test_a_forked_child_launches_with_workers_of_its_own(native: MakeNative) -> None:
    script = """
check()
for round in range(5):
    child = os.fork()
    if child == 0:
        check()
        names = {thread.name for thread in threading.enumerate()}
        os._exit(0 if {"teeny-cpu-1", "teeny-cpu-2"} <= names else 3)
    check()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
"""
    assert finish(start(native, script)) == "done\n"


@forks
def test_a_fork_while_other_threads_launch_and_load_is_safe(native: MakeNative) -> None:
    script = """
stop = False
def busy():
    while not stop:
        check()
def loads():
    while not stop:
        device.load(program.artifact)
threads = [threading.Thread(target=work) for work in (busy, busy, loads)]
for thread in threads: thread.start()
for round in range(10):
    child = os.fork()
    if child == 0:
        check()
        device.load(program.artifact)
        stream = device.stream()
        x, out = np.arange(9), np.zeros(9, np.int64)
        device.launch(program, 9, (x, out, 0), stream=stream)
        stream.synchronize()
        os._exit(0 if out[8] == 72 else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop = True
for thread in threads: thread.join()
print("done")
"""
    assert finish(start(native, script)) == "done\n"


@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c_stops_a_long_launch(native: MakeNative, threads: int) -> None:
    script = f"""
device = Device({threads})
check()
print("ready", flush=True)
x, out = np.zeros(10**6, np.int64), np.zeros(10**6, np.int64)
try:
    device.launch(program, 10**6, (x, out, 10**6))
except KeyboardInterrupt:
    print("stopped", flush=True)
check()
print("done")
"""
    process = start(native, script)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert finish(process) == "stopped\ndone\n"
    assert time.monotonic() - sent < 20


@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
def test_a_signal_handler_may_launch_while_a_launch_is_paused(native: MakeNative) -> None:
    script = """
def handler(number, frame):
    check()
    print("handled", flush=True)
signal.signal(signal.SIGUSR1, handler)
def send():
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGUSR1)
sender = threading.Thread(target=send)
sender.start()
check(count=4000, waste=100_000)
sender.join()
print("done")
"""
    assert sorted(finish(start(native, script)).split()) == ["done", "handled"]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
def test_a_signal_handler_may_launch_while_the_pool_is_made(native: MakeNative) -> None:
    script = """
from teeny_cpu import jit, pool
compile_text = jit.compile_text
sent = []
def slow(text):
    if not sent:
        sent.append(True)
        os.kill(os.getpid(), signal.SIGUSR1)
        for _ in range(100):
            time.sleep(0.001)
    return compile_text(text)
jit.compile_text = slow
signal.signal(signal.SIGUSR1, lambda number, frame: (check(), print("handled")))
check()
print("done")
"""
    assert sorted(finish(start(native, script)).split()) == ["done", "handled"]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
def test_an_interrupt_while_a_stream_starts_its_thread_leaves_it_whole(
    native: MakeNative,
) -> None:
    script = """
stream = device.stream()
start = threading.Thread.start
def interrupted(self):
    threading.Thread.start = start
    raise KeyboardInterrupt
threading.Thread.start = interrupted
done = []
try:
    stream.put(lambda: done.append(1))
except KeyboardInterrupt:
    print("interrupted")
stream.put(lambda: done.append(2))
stream.synchronize()
print(done)
"""
    assert finish(start(native, script)).split() == ["interrupted", "[1,", "2]"]


def test_a_process_may_end_while_a_thread_launches(native: MakeNative) -> None:
    script = """
check()
def forever():
    while True:
        check(waste=10_000)
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
print("done")
"""
    for _ in range(3):
        assert finish(start(native, script)) == "done\n"


def test_streams_that_launch_all_the_time_are_finished_at_exit(native: MakeNative) -> None:
    script = """
check()
streams = [device.stream() for _ in range(3)]
x, out = np.zeros(300, np.int64), [np.zeros(300, np.int64) for _ in streams]
for _ in range(300):
    for stream, mine in zip(streams, out):
        device.launch(program, 300, (x, mine, 100), stream=stream)
print("done")
"""
    for _ in range(5):
        assert finish(start(native, script)) == "done\n"


def test_work_in_streams_is_finished_at_exit(native: MakeNative, tmp_path: Path) -> None:
    script = f"""
import atexit
x, out = np.zeros(200, np.int64), np.lib.format.open_memmap(
    {str(tmp_path / "out.npy")!r}, "w+", np.int64, (200,))
device.launch(program, 200, (x, out, 100_000), stream=device.stream())
print("done")
"""
    assert finish(start(native, script)) == "done\n"
    import numpy as np

    assert np.array_equal(np.load(tmp_path / "out.npy"), np.arange(200) ** 2)


@forks
def test_a_few_seconds_of_stress_leave_everything_right(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(STRESS)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "TEENYC_CACHE_DIR": str(tmp_path), "TEENY_LOG": "quiet"},
    )
    assert done.returncode == 0, done.stderr
    assert "'forks': 0" not in done.stdout
