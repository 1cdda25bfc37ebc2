"""16 matmul configs tuned on a GPU: `tune`, and Triton's own tuner, each in fresh processes.

`python benchmarks/bench_tuner.py [--size N] [--runs N] [--cores N]`; without a GPU it says so. The
wall time is that of a process with nothing cached, imports included; beside it what tuning took.
Then what both chose, timed by our tuner: they are the same within noise, or the row says what one
loses. The last row is a process that finds all results stored.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench_startup import Run, environment, timed
from triton_peer import translate

ROOT = Path(__file__).resolve().parents[1]
CONFIGS = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8, "num_warps": w, "num_stages": 3}
    for m in (64, 128)
    for n in (64, 128)
    for k in (32, 64)
    for w in (4, 8)
]
OURS = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
configs, size = json.loads(sys.argv[2]), int(sys.argv[3])
import torch
from matmul import matmul
from teeny_compiler import Config, tune
a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
c = torch.empty_like(a)
made = []
for config in configs:
    options = {name: config.pop(name) for name in ("num_warps", "num_stages")}
    made.append(Config(config, **options))
def grid(meta):
    return (-(-size // meta["BLOCK_M"]) * -(-size // meta["BLOCK_N"]),)
start = time.perf_counter()
found = tune(matmul, [a, b, c, size, size, size], made, grid=grid, progress=False)
taken = (time.perf_counter() - start) * 1e3
rows = [[row.state, row.ms, row.noise] for row in (found.rows[config] for config in made)]
print(json.dumps({"taken": taken, "measured": found.measured, "best": made.index(found.best),
                  "rows": rows}))
"""
THEIRS = """
import json, sys, time
configs, size = json.loads(sys.argv[2]), int(sys.argv[3])
import torch
import triton
import triton_matmul
a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
c = torch.empty_like(a)
made = []
for config in configs:
    options = {name: config.pop(name) for name in ("num_warps", "num_stages")}
    made.append(triton.Config(config, **options))
kernel = triton.autotune(made, key=["M", "N", "K"])(triton_matmul.matmul)
def grid(meta):
    return (-(-size // meta["BLOCK_M"]) * -(-size // meta["BLOCK_N"]),)
start = time.perf_counter()
kernel[grid](a, b, c, size, size, size)
torch.cuda.synchronize()
taken = (time.perf_counter() - start) * 1e3
print(json.dumps({"taken": taken, "best": made.index(kernel.best_config)}))
"""


def least(runs: list[Run]) -> Run:
    """The run that took least."""
    return min(runs, key=lambda run: run.wall)


def said(run: Run) -> dict[str, Any]:
    """What a process printed at its end."""
    found: dict[str, Any] = json.loads(run.out.splitlines()[-1])
    return found


def show(index: int, rows: list[tuple[str, float, float]]) -> str:
    """A config with the time that our tuner measured for it."""
    state, ms, noise = rows[index]
    config = CONFIGS[index]
    name = "x".join(str(config[key]) for key in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
    return f"{name}, {config['num_warps']} warps ({ms:.4f} ms +- {noise:.4f}, {state})"


def main() -> None:
    """Tune with both and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--cores", type=int, help="use so many cores only")
    given = parser.parse_args()
    if given.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.cores])
    import torch

    if not torch.cuda.is_available():
        print("there is no GPU to tune for")
        return
    with tempfile.TemporaryDirectory() as folder:
        env = environment("") | {"PYTHONWARNINGS": "ignore"}
        text = translate((ROOT / "examples/matmul.py").read_text(encoding="utf-8"))
        Path(folder, "triton_matmul.py").write_text(text, encoding="utf-8")
        rest = [str(ROOT / "examples"), json.dumps(CONFIGS), str(given.size)]
        ours, theirs, again = [], [], []
        for _ in range(given.runs):
            with tempfile.TemporaryDirectory() as fresh:
                apart = env | {"TEENYC_CACHE_DIR": fresh, "TRITON_CACHE_DIR": f"{fresh}/triton"}
                ours.append(timed([sys.executable, "-c", OURS, *rest], apart, folder))
                theirs.append(timed([sys.executable, "-c", THEIRS, *rest], apart, folder))
                again.append(timed([sys.executable, "-c", OURS, *rest], apart, folder))
    mine, triton, stored = (said(least(runs)) for runs in (ours, theirs, again))
    cores = len(os.sched_getaffinity(0))
    share = mine["taken"] / triton["taken"]
    print(f"16 configs, {given.size}^3 f16, {cores} cores, {torch.cuda.get_device_name()}")
    print(f"{'ours':<10}{least(ours).wall:8.0f} ms, tuning {mine['taken']:.0f}")
    print(f"{'Triton':<10}{least(theirs).wall:8.0f} ms, tuning {triton['taken']:.0f}")
    print(f"{'share':<10}{share:8.2f}")
    print(f"ours chose   {show(mine['best'], mine['rows'])}")
    print(f"Triton chose {show(triton['best'], mine['rows'])}")
    wall, taken = least(again).wall, stored["taken"]
    print(f"again: {wall:.0f} ms, tuning {taken:.0f}, measured {stored['measured']}")


if __name__ == "__main__":
    main()
