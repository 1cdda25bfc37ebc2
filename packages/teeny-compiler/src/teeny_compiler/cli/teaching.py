"""How help is written: examples below it, plain where it is piped; what a shell may complete."""

from __future__ import annotations

import sys
from typing import Literal


def markup() -> Literal["rich"] | None:
    """Boxes and colors for people, plain lines for pipes."""
    return "rich" if sys.stdout is not None and sys.stdout.isatty() else None


def examples(*lines: str) -> str:
    """The end of a help text: commands to try, each on a line of its own."""
    if markup():
        return "\n\n".join(("Examples:", *lines))
    return "\b\n" + "\n".join(("Examples:", *(f"  {line}" for line in lines)))


def toolchain_names(begun: str) -> list[str]:
    """The toolchains whose names begin so."""
    from teeny_compiler.toolchain import names

    return [name for name in names() if name.startswith(begun)]


def cache_keys(begun: str) -> list[tuple[str, str]]:
    """The keys that begin so, each with its kernel and target."""
    from teeny_compiler.cache import Cache, default_cache_dir, survey

    cache = Cache(default_cache_dir())
    keys = [key for key in cache.list_keys() if key.startswith(begun)]
    records = [survey.read_record(cache, key) for key in keys]
    return [(r.key[:12], f"{r.kernel} for {r.target}") for r in records if r is not None]


_CARDS = {
    "sm_75": "T4, RTX 20",
    "sm_80": "A100",
    "sm_86": "RTX 30, A10",
    "sm_87": "Jetson Orin",
    "sm_89": "RTX 40, L4, L40",
    "sm_90": "H100, H200",
    "sm_100": "B200",
    "sm_103": "B300",
    "sm_120": "RTX 50",
    "sm_121": "DGX Spark",
}


def targets(begun: str) -> list[tuple[str, str]]:
    """Targets that begin so."""
    from teeny_macros.target import CPU_ARCHS, CUDA_ARCHS

    known = {"cpu": "this machine's CPU", "interpret": "the interpreter"}
    known |= {name: _CARDS.get(name, "") for name in CUDA_ARCHS}
    known |= {f"cpu:{name}": "a CPU" for name in CPU_ARCHS if name != "host"}
    return [(name, what) for name, what in known.items() if name.startswith(begun)]
