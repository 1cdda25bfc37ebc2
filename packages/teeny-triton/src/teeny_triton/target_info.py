"""`tl.target_info`: what a kernel is compiled for."""

from teeny_triton.triton.target import (
    cuda_capability_geq,
    is_cuda,
    is_hip,
    is_hip_cdna3,
    is_hip_cdna4,
    is_hip_gfx1250,
)

__all__ = [
    "cuda_capability_geq",
    "is_cuda",
    "is_hip",
    "is_hip_cdna3",
    "is_hip_cdna4",
    "is_hip_gfx1250",
]
