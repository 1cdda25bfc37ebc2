"""Which levels of instructions this machine has, of those that code is compiled for ahead."""

from __future__ import annotations

from teeny_cpu import jit
from teeny_cpu.jit import host_machine

# What each level adds (x86-64 psABI, "Micro-Architecture Levels"), as LLVM names it; best first.
_LEVELS = (
    ("x86-64-v4", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
    ("x86-64-v3", ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")),
    ("x86-64-v2", ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")),
    ("x86-64", ()),
)


def runnable_levels() -> tuple[str, ...]:
    """The names of targets besides `host` whose code runs here, the best one first."""
    machine = host_machine()
    if machine == "aarch64":
        return ("aarch64",)
    if machine != "x86-64":
        return ()
    features = jit.host_features()
    found: list[str] = []
    for level, added in reversed(_LEVELS):
        if not features.issuperset(added):
            break
        found.insert(0, level)
    return tuple(found)
