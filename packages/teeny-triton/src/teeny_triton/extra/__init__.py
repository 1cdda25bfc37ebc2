"""`tl.extra`: where Triton keeps libdevice."""

from teeny_triton.extra import cuda, libdevice

__all__ = ["cuda", "libdevice"]
