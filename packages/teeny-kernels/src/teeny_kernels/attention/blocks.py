"""Blocks, warps and stages of the attention kernels: a table for sm_90, a rule for everything else.

The table is what was fastest on an H200 for f16 and bf16; other dtypes and devices get what their
shared memory and registers hold.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_kernels.arrays import ITEMSIZES
from teeny_kernels.rows import block_of
from teeny_macros import devices

if TYPE_CHECKING:
    from teeny_kernels.arrays import Operand


class Blocks(NamedTuple):
    """Rows of q and of k in a block, warps, stages of the loop's loads.

    `held`: how many of the factors that stay the same are kept in registers (q, then grad).
    `registers`: the most for a thread, so that more programs run at a time; None for no limit.
    """

    m: int
    n: int
    warps: int
    stages: int
    held: int = 0
    registers: int | None = None

    @property
    def launch(self) -> tuple[int, int, int | None]:
        """The options of a launch, as `tuned` takes them."""
        return self.warps, self.stages, self.registers


# By kernel, and by the power of two that holds the larger depth.
SM_90 = {
    "forward": {
        64: Blocks(64, 64, 4, 3, 1, 128),
        128: Blocks(64, 64, 4, 3, 1),
        256: Blocks(128, 64, 8, 2),
    },
    "q": {
        64: Blocks(64, 64, 4, 3, 2, 168),
        128: Blocks(64, 64, 4, 3, 2),
        256: Blocks(64, 32, 8, 2),
    },
    "kv": {
        64: Blocks(64, 64, 4, 3),
        128: Blocks(64, 64, 4, 2),
        256: Blocks(32, 64, 8, 2),
    },
}  # fmt: skip

# The same where tiles are read by pointers, as far as it differs.
POINTERS = {"forward": {128: Blocks(64, 64, 4, 3)}}

# Below so much work of the forward (floating-point operations) the host takes longer to describe
# tiles to the hardware (some 7 microseconds) than the GPU wins by it (about a tenth of its time).
DESCRIBED_WORK = {"forward": 3e10, "q": 2e10, "kv": 2e10}


def depth_of(depth: int) -> int:
    """The depth of a tile that holds `depth` elements."""
    return max(16, block_of(depth))


def blocks_of(kernel: str, like: Operand, depth: int, *, by_tiles: bool) -> Blocks:
    """The blocks of `kernel` ("forward", "q", "kv") for rows of `depth`, a power of two."""
    narrow = like.dtype in {"f16", "bf16"}
    if narrow and is_hopper(like.device):
        known = SM_90[kernel][max(64, depth)]
        return known if by_tiles else POINTERS.get(kernel, {}).get(max(64, depth), known)
    row = depth * ITEMSIZES[like.dtype]
    if row >= 1024:
        return Blocks(16, 16, 4, 2)
    if row >= 512 or kernel != "forward":
        return Blocks(32, 32, 4, 2)
    return Blocks(128, 64, 8, 2) if row <= 256 and narrow else Blocks(64, 32, 4, 2)


@cache
def tuned(kernel: Any, warps: int, stages: int, registers: int | None = None) -> Any:
    """The kernel with these options; one object, because a launch learns from those before it."""
    return kernel.options(num_warps=warps, num_stages=stages, maxnreg=registers)


@cache
def is_hopper(device: str) -> bool:
    """Whether the device copies tiles by descriptors, and multiplies them from shared memory."""
    return device.startswith("cuda") and devices.device(device).target.arch == "sm_90"
