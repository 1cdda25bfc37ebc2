"""Facts that all attention kernels share: their dtypes, and what they are not specialized by."""

from __future__ import annotations

from teeny_triton import bf16, f16, f32, f64

DTYPES = (f32, f16, bf16, f64)

# Numbers of a call that change from batch to batch, and mean nothing for how code is made.
VARYING = (
    "stride_lb", "stride_lh", "stride_sb", "longest_q", "longest_k", "heads", "group", "left",
    "right", "sinks", "seed", "threshold",
)  # fmt: skip
