"""What a kernel is compiled for, known at compile time: `tl.target_info`.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false


def is_cuda() -> bool:
    """Whether the kernel is compiled for an NVIDIA GPU; a compile-time value."""

def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """Whether it is compiled for an NVIDIA GPU of this compute capability, or a later one.

    Branches that a target does not take are not checked for it.
    """

def is_hip() -> bool:
    """Whether the kernel is compiled for an AMD GPU: it never is."""

def is_hip_cdna3() -> bool:
    """Whether the kernel is compiled for an AMD CDNA 3: it never is."""

def is_hip_cdna4() -> bool:
    """Whether the kernel is compiled for an AMD CDNA 4: it never is."""

def is_hip_gfx1250() -> bool:
    """Whether the kernel is compiled for an AMD gfx1250: it never is."""
