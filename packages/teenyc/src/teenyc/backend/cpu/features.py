"""CPU targets: which CPU and features LLVM is asked for, and what the emitted text may rely on.

No code here looks at the machine but `host`, through llvmlite.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from teeny_macros.codes import E1040
from teeny_macros.target import CPU_ARCHS
from teenyc.backend.cpu import llvm

# name -> (triple prefix, CPU, features)
_NAMED = {
    "x86-64": ("x86_64", "x86-64", ""),
    "x86-64-v2": ("x86_64", "x86-64-v2", ""),
    "x86-64-v3": ("x86_64", "x86-64-v3", ""),
    "x86-64-v4": ("x86_64", "x86-64-v4", ""),
    "aarch64": ("aarch64", "generic", "+neon"),
}
_V3 = frozenset(("avx", "avx2", "fma", "f16c"))
_IMPLIED = {
    "x86-64": frozenset[str](),
    "x86-64-v2": frozenset[str](),
    "x86-64-v3": _V3,
    "x86-64-v4": _V3 | {"avx512f", "avx512bw", "avx512vl", "avx512dq"},
    "aarch64": frozenset(("neon", "fma", "f16c")),
}


class Features(NamedTuple):
    """A CPU to generate code for. `names` are features that the text may rely on.

    `fma` means fused multiply-add and `f16c` conversion of halves in hardware, on any architecture.
    """

    triple: str
    cpu: str
    flags: str
    names: frozenset[str]

    def has(self, *names: str) -> bool:
        """Whether all of `names` are there."""
        return self.names.issuperset(names)

    @property
    def masked(self) -> int:
        """The least width in bits of elements with masked loads and stores; 128: there are none."""
        if self.has("avx512bw", "avx512vl"):
            return 8
        return 32 if self.has("avx") else 128

    @property
    def needs(self) -> str:
        """What a machine must have to run the code, in one line for the metadata."""
        return ",".join(sorted(self.names))


@lru_cache(maxsize=8)
def resolve(arch: str) -> Features:
    """The features of a target's architecture. Raises E1040 for one that is not known."""
    if arch == "host":
        return _host()
    if arch not in _NAMED:
        raise E1040.error(arch=arch).help(f"one of {', '.join(CPU_ARCHS)}")
    machine, cpu, flags = _NAMED[arch]
    return Features(llvm.triple_for(machine), cpu, flags, _IMPLIED[arch])


def _host() -> Features:
    triple, cpu, found = llvm.host()
    names = {name for name, present in found.items() if present}
    flags = ",".join(f"{'+' if present else '-'}{name}" for name, present in sorted(found.items()))
    if triple.startswith(("aarch64", "arm64")):
        known = _IMPLIED["aarch64"]
    else:
        known = frozenset(names & (_IMPLIED["x86-64-v4"]))
    return Features(triple, cpu, flags, known)
