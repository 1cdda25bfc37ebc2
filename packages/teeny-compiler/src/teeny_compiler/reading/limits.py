"""What one multiprocessor of each architecture has, and how fast a card of it is: numbers only.

Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; the
occupancy calculator of Nsight Compute; NVIDIA's data sheets (dense rates, boost clock).
"""

from __future__ import annotations

from typing import NamedTuple

KIB = 1024


class Limits(NamedTuple):
    """A multiprocessor. Shared memory in bytes, `reserved` of it for each block by the system."""

    warps: int
    blocks: int
    shared: int
    shared_per_block: int
    reserved: int = KIB
    registers: int = 64 * KIB
    registers_per_thread: int = 255
    register_unit: int = 256  # per warp
    shared_unit: int = 128
    warp_unit: int = 4


class Card(NamedTuple):
    """A card of an architecture. Memory in bytes per second, rates in operations per second.

    `multiprocessors` is how many it has.

    `rates` are of matrix products by dtype; `vector` is f32 outside of them, where a fused
    multiplication and addition counts as two.
    """

    name: str
    memory: float
    vector: float
    rates: dict[str, float]
    multiprocessors: int


LIMITS = {
    "sm_75": Limits(32, 16, 64 * KIB, 64 * KIB, 0, shared_unit=256),
    "sm_80": Limits(64, 32, 164 * KIB, 163 * KIB),
    "sm_86": Limits(48, 16, 100 * KIB, 99 * KIB),
    "sm_87": Limits(48, 16, 164 * KIB, 163 * KIB),
    "sm_89": Limits(48, 24, 100 * KIB, 99 * KIB),
    "sm_90": Limits(64, 32, 228 * KIB, 227 * KIB),
    "sm_100": Limits(64, 32, 228 * KIB, 227 * KIB),
    "sm_103": Limits(64, 32, 228 * KIB, 227 * KIB),
    "sm_120": Limits(48, 24, 100 * KIB, 99 * KIB),
    "sm_121": Limits(48, 24, 100 * KIB, 99 * KIB),
}

CARDS = {
    "sm_75": Card("T4", 320e9, 8.1e12, {"f16": 65e12, "i8": 130e12}, 40),
    "sm_80": Card(
        "A100 SXM 80 GB",
        2039e9,
        19.5e12,
        {"tf32": 156e12, "f16": 312e12, "bf16": 312e12, "i8": 624e12, "f64": 19.5e12},
        108,
    ),
    "sm_86": Card(
        "A40",
        696e9,
        37.4e12,
        {"tf32": 74.8e12, "f16": 149.7e12, "bf16": 149.7e12, "i8": 299.3e12},
        84,
    ),
    "sm_87": Card("Jetson AGX Orin 64 GB", 204.8e9, 5.3e12, {"f16": 42.5e12, "i8": 85e12}, 16),
    "sm_89": Card(
        "L40S",
        864e9,
        91.6e12,
        {"tf32": 183e12, "f16": 362e12, "bf16": 362e12, "f8": 733e12, "i8": 733e12},
        142,
    ),
    "sm_90": Card(
        "H200 SXM",
        4800e9,
        67e12,
        {"tf32": 494e12, "f16": 989e12, "bf16": 989e12, "f8": 1979e12, "i8": 1979e12, "f64": 67e12},
        132,
    ),
    "sm_100": Card(
        "B200",
        8000e9,
        80e12,
        {"tf32": 1100e12, "f16": 2250e12, "bf16": 2250e12, "f8": 4500e12, "i8": 4500e12},
        148,
    ),
    "sm_103": Card(
        "B300",
        8000e9,
        80e12,
        {"tf32": 1100e12, "f16": 2250e12, "bf16": 2250e12, "f8": 4500e12},
        160,
    ),
    "sm_120": Card(
        "RTX PRO 6000 Blackwell",
        1792e9,
        125e12,
        {"tf32": 251e12, "f16": 503e12, "bf16": 503e12, "f8": 1006e12, "i8": 1006e12},
        188,
    ),
    "sm_121": Card("GB10", 273e9, 31e12, {"f16": 125e12, "bf16": 125e12, "f8": 250e12}, 48),
}


class Occupancy(NamedTuple):
    """Blocks that run on one multiprocessor at a time, their share of its warps, what limits it."""

    blocks: int
    warps: int
    share: float
    limited_by: str


def occupancy(arch: str, *, threads: int, registers: int, shared: int) -> Occupancy:
    """The occupancy of a kernel: `registers` a thread, `shared` bytes a block, of both kinds."""
    limits = LIMITS[arch]
    warps = max(1, -(-threads // 32))
    unit = limits.register_unit
    per_warp = -(-registers * 32 // unit) * unit
    # Registers are given out to groups of warps.
    warps_by_registers = limits.registers // per_warp if per_warp else limits.warps
    grouped = warps_by_registers // limits.warp_unit * limits.warp_unit
    taken = -(-(shared + limits.reserved) // limits.shared_unit) * limits.shared_unit
    counts = {
        "warps": limits.warps // warps,
        "blocks": limits.blocks,
        "registers": grouped // warps,
        "shared memory": limits.shared // taken if taken else limits.blocks,
    }
    blocks = min(counts.values())
    reason = next(name for name, count in counts.items() if count == blocks)
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, reason)
