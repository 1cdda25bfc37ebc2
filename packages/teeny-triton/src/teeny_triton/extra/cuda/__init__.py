"""`tl.extra.cuda`: where Triton keeps libdevice."""

from teeny_triton.extra.cuda import libdevice

__all__ = ["libdevice"]
