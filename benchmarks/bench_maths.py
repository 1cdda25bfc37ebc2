"""Accuracy and speed of the CPU back end's vector maths, as the table of docs/accuracy.md.

`python benchmarks/bench_maths.py` measures the distance from mpmath's values at `--samples` points
a row, for f32 also from NumPy's f64 values at every `--stride`-th bit pattern, and the time per
element beside NumPy's: one thread, 64 K elements in cache. `--write` renews that table and
the README's.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from teenyc.backend.cpu import maths

ROOT = Path(__file__).resolve().parents[1]
LABORATORY = ROOT / "packages" / "teenyc" / "tests" / "backend_cpu" / "maths" / "conftest.py"
README = Path(maths.__file__).parent / "README.md"
PAGE = ROOT / "docs" / "accuracy.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
CHUNK = 1 << 20
TIMED = 1 << 16

Array = np.ndarray[Any, np.dtype[Any]]
_each_erf = np.vectorize(math.erf, otypes=["float64"])


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _steady_sigmoid(x: Array) -> Array:
    z = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, z, 1) / (1 + z))


NUMPY: dict[str, Callable[[Array], Array] | None] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: np.asarray(1 / np.sqrt(x)),
    "erf": None,
    "sigmoid": _sigmoid,
}
WIDE = {**NUMPY, "erf": _each_erf, "sigmoid": _steady_sigmoid}


class Row(NamedTuple):
    """One line of the table. Times are nanoseconds per element."""

    name: str
    element: str
    fma: bool
    ulp: float
    where: float
    portable: float
    host: float
    numpy: float | None

    def __str__(self) -> str:
        bound = math.ceil(self.ulp * 20) / 20
        numpy = "–" if self.numpy is None else f"{self.numpy:.2f}"
        shown = "yes" if self.fma else "no"
        return (
            f"| {self.name} | {self.element} | {shown} | {bound:.2f} | {self.ulp:.3f} "
            f"| {self.where:.9g} | {self.portable:.2f} | {self.host:.2f} | {numpy} |"
        )


def laboratory() -> Any:
    """The tests' own laboratory: what they check is what is published."""
    spec = importlib.util.spec_from_file_location("maths_laboratory", LABORATORY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def nanoseconds(run: Callable[[], object], count: int) -> float:
    """The shortest of many runs, in thread CPU time, per element."""
    run()
    best, end = math.inf, time.perf_counter() + 0.3
    while time.perf_counter() < end:
        start = time.thread_time_ns()
        for _ in range(8):
            run()
        best = min(best, (time.thread_time_ns() - start) / 8)
    return best / count


def worst_pattern(native: Callable[[Array], Array], name: str, stride: int) -> tuple[float, float]:
    """The largest error over every `stride`-th f32 bit pattern against f64, and where it is."""
    wide = WIDE[name]
    assert wide is not None
    worst, where = 0.0, 0.0
    for first in range(0, 1 << 32, stride * CHUNK):
        patterns = np.arange(first, min(first + stride * CHUNK, 1 << 32), stride, dtype=np.uint64)
        x = patterns.astype(np.uint32).view(np.float32)
        exact = wide(x.astype(np.float64))
        found = native(x)
        rounded = exact.astype(np.float32)
        assert np.array_equal(np.isnan(found), np.isnan(rounded)), name
        assert np.array_equal(np.isinf(found), np.isinf(rounded)), name
        kept = np.isfinite(rounded)
        assert np.array_equal(np.signbit(found[kept]), np.signbit(rounded[kept])), name
        below = np.exp2(np.maximum(np.frexp(exact[kept])[1] - 24, -149).astype(np.float64))
        errors = np.abs(found[kept] - exact[kept]) / below
        if errors.size and errors.max() > worst:
            worst, where = float(errors.max()), float(x[kept][np.argmax(errors)])
    return worst, where


def measured(lab: Any, name: str, element: str, samples: int, stride: int) -> list[Row]:
    """Rows with and without fused multiply-add."""
    tested = lab.points(name, element, lab.samples)
    points = np.concatenate([lab.points(name, element, samples), tested])
    exact = lab.references(name, points)
    lanes = 32 if element == "f32" else 16
    x = np.random.default_rng(0).uniform(0.01, 4.0, TIMED).astype(points.dtype)
    out = np.empty_like(x)
    plain = NUMPY[name]
    peer = None if plain is None else nanoseconds(lambda: plain(x), TIMED)
    rows = []
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    for fma in (True, False):
        cpu = ("x86-64-v3" if fma else "x86-64-v2") if is_x86 else None
        definition = maths.define(name, lanes, element, fma)
        native = lab.native(definition, modern=fma, cpu=cpu)
        host = lab.native(definition, modern=True)
        errors = lab.errors(native(points), exact)
        i = int(np.argmax(errors))
        worst, where = float(errors[i]), float(points[i])
        if element == "f32":
            worst, where = max((worst, where), worst_pattern(native, name, stride))
        times = [nanoseconds(partial(f.into, x, out), TIMED) for f in (native, host)]
        rows.append(Row(name, element, fma, worst, where, times[0], times[1], peer))
    return rows


def main() -> None:
    """Print the table; write it on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=300_000)
    parser.add_argument("--stride", type=int, default=61)
    parser.add_argument("--functions", nargs="*", default=list(maths.FUNCTIONS))
    parser.add_argument("--write", action="store_true", help="write it to the docs, too")
    options = parser.parse_args()
    np.seterr(all="ignore")
    lab = laboratory().Lab()
    lines = [
        "| function | element | FMA | bound (ulp) | largest found | at | ns | host ns | NumPy ns |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines), flush=True)
    for name in options.functions:
        for element in ("f32", "f64"):
            for row in measured(lab, name, element, options.samples, options.stride):
                lines.append(str(row))
                print(row, flush=True)
    note = (
        f"{options.samples} points a row against mpmath; f32 also one in {options.stride} bit "
        f"patterns against f64. Times per element: code for x86-64-v3 (FMA) or x86-64-v2, the same "
        f"formulas for the host ({llvm.get_host_cpu_name()}), and NumPy {np.__version__} there."
    )
    print(note)
    if options.write:
        table = "\n".join([*lines, "", note, ""])
        for page in (README, PAGE):
            before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
            _, _, after = rest.partition(END)
            page.write_text(f"{before}{BEGIN}{table}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
