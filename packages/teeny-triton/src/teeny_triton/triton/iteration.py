"""Loops, and what is checked at compile time."""

from teeny_triton.rules import rule


@rule(arg1="i32 | int", arg2="i32 | int | None", step="i32 | int | None", returns="Iterator[i32]")
@rule(arg1="i64 | int", arg2="i64 | int | None", step="i64 | int | None", returns="Iterator[i64]")
def range(
    arg1,
    arg2=None,
    step=None,
    num_stages: "int | None" = None,
    loop_unroll_factor: "int | None" = None,
    disallow_acc_multi_buffer: bool = False,
    flatten: bool = False,
    warp_specialize: bool = False,
    disable_licm: bool = False,
):
    """Numbers for a `for` loop that runs on the device, as of Python's range.

    `num_stages` is how many iterations' loads are in flight at once, else the kernel's own number;
    the other options steer the loop as in Triton.
    """
    ...


@rule(arg1="i1 | bool", returns="i1")
def condition(arg1, disable_licm: bool = False):
    """What a `while` loop goes on by: `while tl.condition(x < n, disable_licm=True):`.

    With `disable_licm` what does not change in the loop is not computed before it, which saves
    registers.
    """
    return arg1


@rule(arg1="int", arg2="int | None", step="int | None", returns="Iterator[int]")
def static_range(arg1, arg2=None, step=None):
    """Numbers for a `for` loop that is unrolled when compiled; all of them are constants."""
    ...


@rule(cond="bool", msg="str")
def static_assert(cond, msg=""):
    """Stop compiling with an error that says `msg` unless `cond`, a compile-time value, holds."""
    ...
