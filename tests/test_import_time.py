"""Checks what importing the two packages of a user module loads, and reports its time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

PROBE = """
import json, sys, time
before = set(sys.modules)
start = time.perf_counter()
import teeny_macros, teeny_triton
elapsed = time.perf_counter() - start
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps({"seconds": elapsed, "loaded": sorted(loaded)}))
"""
HEAVY = {"cuda", "llvmlite", "numpy", "torch", "triton"}


def probe() -> tuple[float, set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60
    )
    found = json.loads(done.stdout)
    return found["seconds"], set(found["loaded"])


def test_importing_the_language_loads_the_standard_library_and_itself_only() -> None:
    _, loaded = probe()
    foreign = loaded - set(sys.stdlib_module_names) - {"teeny_macros", "teeny_triton"}
    assert not loaded & HEAVY
    assert not foreign


def test_importing_the_language_is_quick(record_property: Callable[[str, object], None]) -> None:
    times = sorted(probe()[0] for _ in range(5))
    record_property("import_ms", round(times[0] * 1e3, 2))
    print(f"import teeny_macros, teeny_triton: {times[0] * 1e3:.1f} ms (best of {len(times)})")
    # The design asks for 30 ms; a loaded machine may take a few times as long, not ten.
    assert times[0] < 0.3
