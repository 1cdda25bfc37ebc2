"""Where the front end's time goes for attention: in a warm process, and `teenyc --check` whole.

`python benchmarks/bench_front_end.py [--runs N]` needs no GPU. Each row is the least and the median
of N runs, in ms of CPU time, which other work on the machine hardly changes; limits are 60 ms for
the forward kernel in a warm worker, and 150 ms of wall time for the command.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teeny_macros import Target
from teeny_triton import Ptr, f16, f32, i32
from teeny_triton.triton_lang import TRITON, TRITON_SHA
from teenyc import driver
from teenyc.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
# What a worker has loaded before its first request.
WARM = ("frontend.lowering", "ops", "passes", "passes.descriptors", "ir.printer")


def units() -> dict[str, str]:
    """The units of attention: forward, and a gradient."""
    from test_public_style import load

    module = load("products")
    types: dict[str, Any] = dict.fromkeys(("Q", "K", "V"), Ptr[f16])
    types |= {"Lse": Ptr[f32], "sm_scale": f32, "n_ctx": i32}
    forward = module.attention_forward_kernel.instantiate(
        **types, Out=Ptr[f16], HEAD=128, BM=128, BN=64, CAUSAL=True
    )
    gradients = {"DO": Ptr[f16], "DK": Ptr[f32], "DV": Ptr[f32], "Delta": Ptr[f32]}
    backward = module.attention_dkdv_kernel.instantiate(**types, **gradients, HEAD=64, BM=32, BN=32)
    made = {"attention, forward": forward, "attention, dK and dV": backward}
    return {name: one.unit(TRITON, TRITON_SHA).render() for name, one in made.items()}


def row(label: str, times: list[float], note: str = "") -> None:
    """Print one row."""
    print(f"{label:<44}{min(times):8.1f} {statistics.median(times):8.1f}  {note}", flush=True)


def cpu_ms(work: Callable[[], Any]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def warm(name: str, text: str, runs: int) -> None:
    """One kernel to MLIR in a process that has compiled before."""
    options = Options(Target.cuda("sm_90"), ("mlir",))
    texts = driver.DslTexts()
    timings: dict[str, list[float]] = {}

    def once() -> None:
        result = driver.compile_text(text, options, dsl=texts)
        for step, seconds in result.timings:
            timings.setdefault(step, []).append(seconds * 1e3)

    first = cpu_ms(once)
    timings.clear()
    row(f"{name}: unit to MLIR, warm", [cpu_ms(once) for _ in range(runs)], "limit 60 ms")
    print(f"  the first one of the process: {first:.1f} ms")
    for step, times in timings.items():
        row(f"  {step} (wall)", times)


def hottest(text: str, count: int = 8) -> None:
    """The functions of the compiler that take most of it, by their own time."""
    import cProfile
    import pstats

    options, texts = Options(Target.cuda("sm_90"), ("mlir",)), driver.DslTexts()
    driver.compile_text(text, options, dsl=texts)
    profile = cProfile.Profile()
    profile.runcall(driver.compile_text, text, options, dsl=texts)
    stats: Any = pstats.Stats(profile)
    rows = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:count]
    total = sum(item[1][2] for item in stats.stats.items())
    for (file, line, function), (calls, _, own, _, _) in rows:
        place = f"{Path(file).name}:{line} {function}" if line else function
        print(f"    {own / total:6.1%} {calls:6d} calls  {place}")


def checked(text: str, runs: int) -> None:
    """`teenyc --check` as a process."""
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder, "unit.py")
        unit.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "teenyc", str(unit), "--check", "-C", "target-cpu=sm_90"]
        times = []
        for _ in range(runs + 1):
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times.append((time.perf_counter() - start) * 1e3)
    row("teenyc --check, the process (wall)", times[1:], "limit 150 ms")


def main() -> int:
    """Print all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    for name in WARM:
        import_module(f"teenyc.{name}")
    print(f"{'':<44}{'least':>8} {'median':>8}")
    found = units()
    for name, text in found.items():
        warm(name, text, options.runs)
    print("  own time, of the forward kernel:")
    hottest(next(iter(found.values())))
    checked(next(iter(found.values())), options.runs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
