"""`tl.extra.libdevice`: `tl.math` by another name."""

from teeny_triton.math import __dir__, __getattr__

_ = (__dir__, __getattr__)
