"""What differs between Triton releases, and which PTX version a kernel needs: data only.

Measured on Triton 3.6.0 to 3.9.0 with ptxas 13.0; tests/backend checks the rows.
"""

from __future__ import annotations

from typing import NamedTuple

from teenyc.codes import E0702, E0706, E0707

SUPPORTED = ">=3.6,<3.10"
# PTX versions that exist. LLVM takes any number, ptxas and the driver do not.
PTX_VERSIONS = frozenset((*range(60, 66), *range(70, 79), *range(80, 89), *range(90, 95)))

# The first PTX version that knows an architecture (ptxas and LLVM agree on these).
ARCH_FLOOR = {
    "sm_75": 63,
    "sm_80": 70,
    "sm_86": 71,
    "sm_87": 74,
    "sm_89": 78,
    "sm_90": 80,
    "sm_100": 86,
    "sm_103": 88,
    "sm_120": 87,
    "sm_121": 88,
}


class Release(NamedTuple):
    """One minor release of Triton: how its dialect is spelled.

    `cache_policy_attribute`: load and store take `{cachePolicy = #tt.cache_policy<..>}`, else
    `cacheModifier = ..`.
    `bare_descriptor_type`: `!tt.tensordesc<64x64xf16>`, else `!tt.tensordesc<tensor<64x64xf16>>`.
    `ttg_barrier`: `ttg.barrier all|local` exists (`gpu.barrier` does in all).
    `has_negf`: `arith.negf` is legalised, else print `0.0 - x`.
    `block_pointers`: `tt.make_tensor_ptr` exists.
    `atomic_access`: `tt.atomic_load` and `tt.atomic_store` exist, else print `tt.atomic_rmw`.
    `long_gathers`: it compiles every `tt.gather`; else it ends in an assertion where the warps
    have to share a row that is longer than the source's.
    `first_of_new_ptxas`: the first architecture whose PTX goes to the newer of its two ptxas, and
    `ptxas_options` what it asks of them besides the usual.
    """

    name: str
    cache_policy_attribute: bool
    bare_descriptor_type: bool
    ttg_barrier: bool
    has_negf: bool
    block_pointers: bool
    atomic_access: bool
    long_gathers: bool
    first_of_new_ptxas: int = 100
    ptxas_options: tuple[str, ...] = ()


# Triton's way around a fault of ptxas 13.
_ALLOCATION = ("--regAllocOptLevel=2",)
RELEASES = {
    (3, 6): Release("3.6", False, False, False, False, True, False, False),
    (3, 7): Release("3.7", False, False, True, False, True, False, False, 100, _ALLOCATION),
    (3, 8): Release("3.8", False, True, True, True, False, False, False, 100, _ALLOCATION),
    (3, 9): Release("3.9", True, True, True, True, False, True, True, 90, _ALLOCATION),
}
# PTX that the code of every release needs: eviction policies (7.4), `::cta` state spaces (7.8; in
# scans, in 3.8 everywhere). It is that of CUDA 11.8; Triton itself asks for a CUDA 12 driver.
BACK_END_FLOOR = 78

# Older ones have no hardware for tensor descriptors.
FIRST_TMA_ARCH = 90
# Which have it for rows picked one by one: ptxas refuses the instructions elsewhere.
ROW_ARCHS = {
    "tt.descriptor_gather": frozenset({100, 103, 120, 121}),
    "tt.descriptor_scatter": frozenset({100, 103}),
}


class Feature(NamedTuple):
    """Something that raises the PTX version on the architectures `first` to `last`.

    A module has it when its text holds `marker`. `floor` is the PTX version it needs,
    `other_floors` that of releases that print other instructions.
    """

    name: str
    marker: str
    first: int
    last: int
    floor: int
    other_floors: tuple[tuple[str, int], ...] = ()


FEATURES = (
    # `tensormap.replace` needs 8.3, bulk copies to `shared::cta` 8.6. Below 8.6 every release
    # divides strides by 16, for assemblers that multiplied them again; today's drivers do not.
    Feature("tensor descriptors", "!tt.tensordesc<", FIRST_TMA_ARCH, 999, 86),
    # Conversions need 8.1 on sm_89, `mma` 8.4; sm_90 has both from its first version on.
    Feature("8-bit floats", "f8E", 89, 89, 84),
    # From 8.1 on an atomic addition moves up to 16 bytes at once.
    Feature("atomic additions of vectors", "tt.atomic_rmw fadd", 90, 999, 81),
    Feature("scaled dot products", "tt.dot_scaled", 100, 100, 88),
)
# The spelling of `--emit mlir` where no Triton is installed, and of goldens.
NEWEST = RELEASES[max(RELEASES)]


def release_of(version: str) -> Release:
    """The row of a Triton version such as `3.9.0`. Raises E0702 outside the supported range."""
    parts = version.partition("+")[0].split(".")
    try:
        found = RELEASES.get((int(parts[0]), int(parts[1])))
    except (ValueError, IndexError):
        found = None
    if found is None:
        raise E0702.error(version=version, supported=SUPPORTED).help(
            "install one that is: `pip install 'teenyc[cuda]'`"
        )
    return found


def ptx_floor(arch: str, release: Release, mlir: str) -> tuple[int, str]:
    """The oldest PTX version (84 is PTX 8.4) that carries a module, and the reason in words."""
    reasons = [(ARCH_FLOOR[arch], arch), (BACK_END_FLOOR, "Triton's code")]
    for feature in FEATURES:
        if feature.first <= arch_number(arch) <= feature.last and feature.marker in mlir:
            floor = dict(feature.other_floors).get(release.name, feature.floor)
            reasons.append(
                (floor, f"{feature.name} on {arch} in the code of Triton {release.name}")
            )
    return max(reasons, key=lambda reason: reason[0])


def choose_ptx_version(arch: str, release: Release, mlir: str, requested: int | None) -> int:
    """`requested`, or the floor. Raises E0706 when `requested` lies below the floor."""
    floor, what = ptx_floor(arch, release, mlir)
    if requested is None:
        return floor
    if requested < floor:
        raise E0706.error(
            version=format_ptx_version(requested), what=what, floor=format_ptx_version(floor)
        ).help(f"ask for {format_ptx_version(floor)} or leave the version to teenyc")
    return requested


def parse_ptx_version(text: str) -> int:
    """`8.4` as 84. Raises E0707 for a version that does not exist."""
    major, dot, minor = text.partition(".")
    if dot and major.isdecimal() and minor.isdecimal() and len(minor) == 1:
        version = int(major) * 10 + int(minor)
        if version in PTX_VERSIONS:
            return version
    raise E0707.error(version=text).help("write it as in `.version`, for example 8.4")


def format_ptx_version(version: int) -> str:
    """84 as `8.4`."""
    return f"{version // 10}.{version % 10}"


def arch_number(arch: str) -> int:
    """`sm_90` as 90."""
    return int(arch.removeprefix("sm_"))
