"""What a kernel is compiled for, known at compile time: `tl.target_info`."""

from teeny_triton.rules import rule


@rule(returns="bool")
def is_cuda():
    """Whether the kernel is compiled for an NVIDIA GPU; a compile-time value."""
    ...


@rule(major="int", minor="int", returns="bool")
def cuda_capability_geq(major, minor=0):
    """Whether it is compiled for an NVIDIA GPU of this compute capability, or a later one.

    Branches that a target does not take are not checked for it.
    """
    ...


@rule(returns="bool")
def is_hip():
    """Whether the kernel is compiled for an AMD GPU: it never is."""
    return False


@rule(returns="bool")
def is_hip_cdna3():
    """Whether the kernel is compiled for an AMD CDNA 3: it never is."""
    return False


@rule(returns="bool")
def is_hip_cdna4():
    """Whether the kernel is compiled for an AMD CDNA 4: it never is."""
    return False


@rule(returns="bool")
def is_hip_gfx1250():
    """Whether the kernel is compiled for an AMD gfx1250: it never is."""
    return False
