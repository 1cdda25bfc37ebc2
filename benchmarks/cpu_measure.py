"""Measuring on one thread: subjects in turns, the least time of each, one line a comparison.

What one process does is disturbed by others; the shortest of many runs is what the code costs.
"""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
# NumPy's BLAS reads these when it is loaded, so this module is imported before NumPy.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

Call = Callable[[], object]
BUDGET = {"seconds": 1.0}  # for each call of a comparison


class Row(NamedTuple):
    """One line: `value` must be at most (or, with `at_least`, at least) `target`, if there is one.

    `ours` and `theirs` are seconds, or None where only the value counts.
    """

    what: str
    value: float
    unit: str
    target: float | None = None
    at_least: bool = False
    ours: float | None = None
    theirs: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the target is met."""
        if self.target is None:
            return True
        return self.value >= self.target if self.at_least else self.value <= self.target

    def __str__(self) -> str:
        sign = "" if self.target is None else f"{'>=' if self.at_least else '<='} {self.target:g}"
        verdict = "" if self.target is None else "ok" if self.holds else "MISSED"
        times = ""
        if self.ours is not None:
            times = short(self.ours)
        if self.theirs is not None:
            times += f" against {short(self.theirs)}"
        shown = f"{self.value:.3g}{self.unit}"
        return f"  {self.what:44} {shown:>10}  {sign:8} {verdict:6} {times}  {self.note}".rstrip()


def short(seconds: float) -> str:
    """A time in the unit that it is read in."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.2f} us"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def least(*calls: Call, seconds: float = 0.0) -> list[float]:
    """The least time of each call, which take turns for `seconds` each (three turns at least)."""
    seconds = seconds or BUDGET["seconds"]
    counts = []
    for call in calls:
        call()
        start = time.perf_counter()
        call()
        counts.append(max(1, int(2e-4 / max(time.perf_counter() - start, 1e-7))))
    best = [math.inf] * len(calls)
    gc.disable()
    try:
        end, turns = time.perf_counter() + seconds * len(calls), 0
        while turns < 3 or time.perf_counter() < end:
            turns += 1
            for at, (call, count) in enumerate(zip(calls, counts, strict=True)):
                start = time.perf_counter()
                for _ in range(count):
                    call()
                best[at] = min(best[at], (time.perf_counter() - start) / count)
    finally:
        gc.enable()
    return best


def slowdown(what: str, ours: Call, theirs: Call, target: float, **more: Any) -> Row:
    """How many times longer ours takes."""
    a, b = least(ours, theirs, seconds=more.pop("seconds", 0.0))
    return Row(what, a / b, "x", target, ours=a, theirs=b, **more)


def speedup(what: str, ours: Call, theirs: Call, target: float, **more: Any) -> Row:
    """How many times faster ours is."""
    a, b = least(ours, theirs, seconds=more.pop("seconds", 0.0))
    return Row(what, b / a, "x", target, at_least=True, ours=a, theirs=b, **more)


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def blas_kernel() -> str:
    """The kernel that NumPy's BLAS chose for this machine; empty where it does not say."""
    import ctypes

    import numpy as np

    folder = Path(np.__file__).parents[1] / "numpy.libs"
    for path in sorted(folder.glob("*openblas*")):
        library = ctypes.CDLL(str(path))
        for name in ("scipy_openblas_get_corename64_", "openblas_get_corename64_"):
            if hasattr(library, name):
                function = getattr(library, name)
                function.restype = ctypes.c_char_p
                return f"OpenBLAS {function().decode()}"
    return ""


def processor() -> str:
    """What the processor calls itself, and the vectors that it has."""
    import llvmlite.binding as llvm

    names = {"avx512f": "AVX-512", "avx2": "AVX2", "neon": "NEON"}
    found = llvm.get_host_cpu_features()
    vectors = next((shown for name, shown in names.items() if found.get(name)), "")
    return f"{llvm.get_host_cpu_name()} {vectors}, {os.cpu_count()} threads".strip()
