"""From the start of a process to its first results, with 1, 20 and 200 kernels in the cache.

`python benchmarks/bench_warm.py [--device cpu|cuda] [--runs N]`. A module has so many kernels; a
process imports it and launches one (the first result), or each of them once. What ours may add to
the floor is 120 ms: on a CPU the floor is a process that imports numpy and llvmlite.binding; on a
GPU one that starts the driver and loads the same cubins. There Triton stands beside it, with its
own cache warm (`--peer-runs 0`: not at all). Times are the least of N in ms, in brackets the CPU
time.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_startup import Run, environment, timed
from triton_peer import translate

COUNTS = (1, 20, 200)
LIMIT = 120
HEAD = """\
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Axis, Const, Ptr, f32, i32
"""
KERNEL = """

@kernel
def add_{at}(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    i = tl.program_id(Axis.X) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * {at}.5 + tl.exp2(x), mask=i < n)
"""
ON_CPU = """
import sys
import numpy as np
import many
x, out = np.zeros(1000, np.float32), np.empty(1000, np.float32)
for at in range(int(sys.argv[2]), int(sys.argv[1]), int(sys.argv[3])):
    getattr(many, f"add_{at}")[1](x, out, 1000, BLOCK=1024)
assert (out == 1).all()
"""
CPU_FLOOR = "import numpy, llvmlite.binding"
ON_CUDA = """
import sys
import many
import teeny_cuda
device = teeny_cuda.Device(0)
x, out = device.buffer(1000, "f32"), device.buffer(1000, "f32")
for at in range(int(sys.argv[2]), int(sys.argv[1]), int(sys.argv[3])):
    getattr(many, f"add_{at}")[1](x, out, 1000, BLOCK=1024)
device.synchronize()
"""
CUDA_FLOOR = """
import sys
from pathlib import Path
from cuda.bindings import driver
def call(name, *args):
    answer = getattr(driver, name)(*args)
    assert int(answer[0]) == 0, (name, answer)
    return answer[1] if len(answer) > 1 else None
call("cuInit", 0)
call("cuCtxPushCurrent", call("cuDevicePrimaryCtxRetain", call("cuDeviceGet", 0)))
for path in sorted(Path(sys.argv[2]).glob("??/*/*_entry_point.cubin"))[: int(sys.argv[1])]:
    module = call("cuModuleLoadData", path.read_bytes())
    call("cuModuleGetFunction", module, path.name.partition(".")[0].encode())
call("cuCtxSynchronize")
"""
TRITON = """
import sys
import torch
import triton_many
x, out = torch.zeros(1000, device="cuda"), torch.empty(1000, device="cuda")
for at in range(int(sys.argv[1])):
    getattr(triton_many, f"add_{at}")[(1,)](x, out, 1000, BLOCK=1024)
torch.cuda.synchronize()
"""
TRITON_FLOOR = """
import torch
x, out = torch.zeros(1000, device="cuda"), torch.empty(1000, device="cuda")
torch.cuda.synchronize()
"""


def least(runs: list[Run]) -> str:
    """The least wall time, and in brackets the least CPU time."""
    return f"{min(run.wall for run in runs):7.0f} ({min(run.cpu for run in runs):.0f})"


def fill(code: str, count: int, env: dict[str, str], folder: str) -> None:
    """Compile all kernels into the cache, a part of them in each of so many processes."""
    jobs = min(count, os.cpu_count() or 1)
    parts = [
        subprocess.Popen([sys.executable, "-c", code, str(count), str(at), str(jobs)],
                         env=env, cwd=folder)
        for at in range(jobs)
    ]  # fmt: skip
    ends = [part.wait() for part in parts]
    if any(ends):
        raise SystemExit("the kernels cannot be compiled")


def measure(
    count: int,
    launched: int,
    device: str,
    runs: int,
    peer_runs: int,
    env: dict[str, str],
    folder: str,
) -> None:
    """One row of the report; what is compared is measured in turns."""
    text = HEAD + "".join(KERNEL.format(at=at) for at in range(count))
    Path(folder, "many.py").write_text(text, encoding="utf-8")
    Path(folder, "triton_many.py").write_text(translate(text), encoding="utf-8")
    ours, floor = (ON_CPU, CPU_FLOOR) if device == "cpu" else (ON_CUDA, CUDA_FLOOR)
    cache = env["TEENYC_CACHE_DIR"]
    commands = {
        "ours": [sys.executable, "-c", ours, str(launched), "0", "1"],
        "floor": [sys.executable, "-c", floor, str(launched), cache],
    }
    if device == "cuda" and peer_runs and importlib.util.find_spec("torch"):
        commands["Triton"] = [sys.executable, "-c", TRITON, str(launched)]
        commands["torch alone"] = [sys.executable, "-c", TRITON_FLOOR]
    fill(ours, count, env, folder)
    found: dict[str, list[Run]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            if turn > peer_runs and name not in {"ours", "floor"}:
                continue
            run = timed(command, env, folder)
            if turn:  # the first one fills caches
                found[name].append(run)
    added = min(run.wall for run in found["ours"]) - min(run.wall for run in found["floor"])
    rest = "".join(f"   {name} {least(rows)}" for name, rows in found.items() if name != "ours")
    print(
        f"{f'{device}, {launched} launched of {count}':<28}{least(found['ours'])}   "
        f"over the floor {added:4.0f}, limit {LIMIT}{rest}",
        flush=True,
    )


def main() -> None:
    """Run every part and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--peer-runs", type=int, default=10, help="of Triton, at most; 0 for none")
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        env = environment(str(Path(folder, "cache")))
        env["TRITON_CACHE_DIR"] = str(Path(folder, "triton"))
        env["PYTHONWARNINGS"] = "ignore"
        for count in given.counts:
            for launched in dict.fromkeys((count, 1)):
                measure(count, launched, given.device, given.runs, given.peer_runs, env, folder)


if __name__ == "__main__":
    main()
