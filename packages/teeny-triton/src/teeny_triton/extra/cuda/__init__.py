"""`tl.extra.cuda`: where Triton keeps libdevice and what NVIDIA GPUs alone have."""

from teeny_triton.extra.cuda import libdevice
from teeny_triton.triton.hints import gdc_launch_dependents, gdc_wait

__all__ = ["gdc_launch_dependents", "gdc_wait", "libdevice"]
