"""What starting costs: importing the language, compiling cold and in a worker, a cached launch.

`python benchmarks/bench_startup.py [--runs N]`. Each row is N fresh processes (requests for the
worker): least and median wall time in ms, and the least CPU time, which other work on the machine
hardly changes. The parts of a cold compilation are those of `--time-passes`; beside it stands
libtriton alone, on the same MLIR in the same minute: no front end, no fork.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from teeny_macros.unit import Unit

ROOT = Path(__file__).resolve().parents[1]
ARCH = "sm_90"

IMPORT = """
import json, sys, time
before, start = len(sys.modules), time.perf_counter()
import teeny_macros, teeny_triton
taken = (time.perf_counter() - start) * 1e3
print(json.dumps([taken, len(sys.modules) - before,
    [name for name in ("numpy", "llvmlite", "triton") if name in sys.modules]]))
"""
FLOOR = """
import sys, time
from pathlib import Path
from teenyc.backend.gpu import libtriton
start = time.perf_counter()
libtriton.load()
loaded = time.perf_counter()
job = libtriton.Job(Path(sys.argv[1]).read_text(), 90, 80, True, 4, 3, 1, None, ("ptx",))
rows = []
texts = {}
libtriton.run(job, lambda name, seconds, text: (rows.append((name, seconds)),
                                               texts.update({name: text})))
if sys.argv[2:]:  # Triton's last stage, as its `make_cubin` runs it
    import subprocess
    from teenyc.backend.gpu import assemble
    from teenyc.driver import find_triton
    release = find_triton().release
    tool = assemble.find_assemblers("sm_90", release)[0]
    source = Path(sys.argv[1]).with_suffix(".ptx")
    source.write_text(texts["ptx"])
    begun = time.perf_counter()
    subprocess.run([tool, "-lineinfo", "-v", *release.ptxas_options, "--gpu-name=sm_90a", source,
                    "-o", source.with_suffix(".o")], check=True, stderr=subprocess.DEVNULL)
    rows.append(("ptxas", time.perf_counter() - begun))
print("loading", (loaded - start) * 1e3, *(x for n, s in rows for x in (n, s * 1e3)), flush=True)
import os
os._exit(0)
"""
LAUNCH = """
import sys, time
started = time.perf_counter()
import numpy as np
numpy = time.perf_counter()
sys.path.insert(0, sys.argv[1])
import teeny_cpu
from vector_add import vector_add
imported = time.perf_counter()
x = np.ones(1000, np.float32)
out = np.empty_like(x)
vector_add[1](x, x, out, 1000, BLOCK_SIZE=1024)
done = time.perf_counter()
assert (out == 2).all()
print((numpy - started) * 1e3, (imported - numpy) * 1e3, (done - imported) * 1e3)
"""
NUMPY = "import numpy, llvmlite.binding"


def environment(cache: str) -> dict[str, str]:
    """The environment of the processes: bytecode is kept, as on any installed machine."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "TEENYC_CACHE_DIR": cache, "TEENY_LOG": "quiet"}


class Run(NamedTuple):
    """One process: its wall and CPU time in ms, and what it printed."""

    wall: float
    cpu: float
    out: str
    err: str


def row(label: str, times: list[float], note: str = "", cpu: float | None = None) -> None:
    """Print one row of the report."""
    used = f"{cpu:8.1f}" if cpu is not None else " " * 8
    print(
        f"{label:<50}{min(times):8.1f} {statistics.median(times):8.1f} {used}  {note}", flush=True
    )


def rows_of(label: str, runs: list[Run], note: str = "") -> None:
    """Print the row of some processes."""
    row(label, [run.wall for run in runs], note, min(run.cpu for run in runs))


def cpu_of_children() -> float:
    """CPU time in ms of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3


def timed(command: list[str], env: dict[str, str], folder: str) -> Run:
    """Run one process."""
    before = cpu_of_children()
    start = time.perf_counter()
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    taken = (time.perf_counter() - start) * 1e3
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return Run(taken, cpu_of_children() - before, done.stdout, done.stderr)


def repeated(runs: int, command: list[str], env: dict[str, str], folder: str) -> list[Run]:
    """The process `runs` times, after one that warms the disk."""
    timed(command, env, folder)
    return [timed(command, env, folder) for _ in range(runs)]


def parts(lines: list[dict[str, float]]) -> str:
    """The median of each part."""
    return ", ".join(
        f"{name} {statistics.median(line[name] for line in lines):.1f}" for name in lines[0]
    )


def unit_of_vector_add() -> Unit:
    """The unit of the first example."""
    from importlib import import_module

    from teeny_triton import f32
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    sys.path.insert(0, str(ROOT / "examples"))
    kernel = import_module("vector_add").vector_add
    unit: Unit = kernel.instantiate(D=f32, BLOCK_SIZE=1024).unit(TRITON, TRITON_SHA)
    return unit


def imports(runs: int, env: dict[str, str], folder: str) -> None:
    """Importing the language."""
    found = repeated(runs, [sys.executable, "-c", IMPORT], env, folder)
    rows = [json.loads(run.out) for run in found]
    note = f"{rows[0][1]} modules; heavy ones: {', '.join(rows[0][2]) or 'none'}"
    row("import teeny_macros, teeny_triton", [taken for taken, *_ in rows], note)
    bare = repeated(runs, [sys.executable, "-c", "pass"], env, folder)
    rows_of("  a Python process that does nothing", bare)


def cold(runs: int, env: dict[str, str], folder: str) -> None:
    """A unit to PTX in a fresh process, and libtriton alone, in turn."""
    command = [sys.executable, "-m", "teenyc", "unit.py", "-C", f"target-cpu={ARCH}", "-o", "out"]
    timed([*command, "--emit", "ptx,mlir"], env, folder)
    (mlir,) = Path(folder, "out").glob("*.mlir")
    floor_command = [sys.executable, "-c", FLOOR, str(mlir)]
    ours, floor = [], []
    for _ in range(runs):
        ours.append(timed([*command, "--emit", "ptx", "--time-passes"], env, folder))
        floor.append(timed(floor_command, env, folder))
    rows_of("teenyc, vector add to PTX, cold", ours)
    print("  parts, one run:", *ours[-1].err.splitlines(), sep="\n    ")
    check = ["-C", f"target-cpu={ARCH}", "--check"]
    rows_of("teenyc --check", repeated(runs, [*command[:4], *check], env, folder), "limit 150 ms")
    words = [run.out.split() for run in floor]
    rows = [dict(zip(w[::2], map(float, w[1::2]), strict=True)) for w in words]
    rows_of("  libtriton alone", floor, parts(rows))


def worker(runs: int, env: dict[str, str], folder: str, unit: Unit) -> None:
    """Requests to one worker."""
    process = subprocess.Popen(
        [sys.executable, "-m", "teenyc", "--worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
        cwd=folder,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    args = ["-C", f"target-cpu={ARCH}", "--emit", "ptx", "-o", "out"]
    request = json.dumps({"id": 1, "unit": unit.render(), "args": args})
    times, timings = [], []
    for _ in range(runs + 1):
        start = time.perf_counter()
        print(request, file=process.stdin, flush=True)
        answer = json.loads(process.stdout.readline())
        times.append((time.perf_counter() - start) * 1e3)
        timings.append(answer["timings"])
        assert answer["status"] == 0, answer
        time.sleep(0.1)  # a worker prepares for the next request when it has answered
    process.stdin.close()
    process.wait()
    row("a request to a worker, vector add to PTX", times[1:], f"first {times[0]:.0f}")
    print("  parts, medians:", parts(timings[1:]))


def launch(runs: int, env: dict[str, str], folder: str) -> None:
    """A process that launches a cached kernel on host arrays."""
    command = [sys.executable, "-c", LAUNCH, str(ROOT / "examples")]
    found = repeated(runs, command, env, folder)
    rows = [
        dict(zip(("numpy", "ours", "launch"), map(float, run.out.split()), strict=True))
        for run in found
    ]
    rows_of("process with a cached launch (host arrays)", found, parts(rows))
    bare = repeated(runs, [sys.executable, "-c", NUMPY], env, folder)
    rows_of("  a process that imports numpy, llvmlite.binding", bare)


def main() -> None:
    """Run every part and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        env = environment(str(Path(folder, "cache")))
        unit = unit_of_vector_add()
        Path(folder, "unit.py").write_text(unit.render(), encoding="utf-8")
        print(f"{'ms':<50}{'least':>8} {'median':>8} {'CPU':>8}")
        steps: list[Callable[[], None]] = [
            lambda: imports(runs, env, folder),
            lambda: cold(runs, env, folder),
            lambda: worker(runs, env, folder, unit),
            lambda: launch(runs, env, folder),
        ]
        for step in steps:
            step()


if __name__ == "__main__":
    main()
