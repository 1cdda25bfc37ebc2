"""`Target`: what a kernel is compiled for. Parsed once, immutable, hashable.

It feeds the cache key.
"""

from __future__ import annotations

from typing import NamedTuple

from teeny_macros.codes import E1040

CUDA_ARCHS = (
    "sm_75",
    "sm_80",
    "sm_86",
    "sm_87",
    "sm_89",
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_120",
    "sm_121",
)
CPU_ARCHS = ("host", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64")
CUDA_TRIPLE = "nvptx64-nvidia-cuda"


class Target(NamedTuple):
    """`kind` is `cuda`, `cpu` or `interpret`; `arch` is `sm_90`, a CPU name (`host`) or empty."""

    kind: str
    arch: str = ""

    @classmethod
    def cuda(cls, arch: str) -> Target:
        """An NVIDIA GPU architecture, `sm_75` to `sm_121`.

        Raises E1040 for a name that is not known.
        """
        if arch not in CUDA_ARCHS:
            raise E1040.error(arch=arch).help(f"one of {', '.join(CUDA_ARCHS)}")
        return cls("cuda", arch)

    @classmethod
    def cpu(cls, arch: str = "host") -> Target:
        """Native code for a CPU: `host`, the machine that compiles, or a level of instructions.

        Raises E1040 for a name that is not known.
        """
        if arch not in CPU_ARCHS:
            raise E1040.error(arch=arch).help(f"one of {', '.join(CPU_ARCHS)}")
        return cls("cpu", arch)

    @classmethod
    def interpret(cls) -> Target:
        """The NumPy reading of the IR: slow, for tests and for looking closely."""
        return cls("interpret")

    @property
    def triple(self) -> str:
        """The name that `teenyc --target` takes."""
        return CUDA_TRIPLE if self.kind == "cuda" else self.kind

    def __str__(self) -> str:
        return f"{self.kind}:{self.arch}" if self.arch else self.kind
