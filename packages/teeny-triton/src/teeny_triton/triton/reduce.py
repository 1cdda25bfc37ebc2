"""Reductions over one axis, or over all elements."""

from teeny_triton.rules import reduction


@reduction(signed="i32", unsigned="u32")
def sum(input, axis=None, keep_dims=False, dtype=None):
    """The sum over one axis, or, with `axis=None`, over all elements.

    i1, i8 and i16 are summed as i32, u8 and u16 as u32, or as `dtype`. The order of the additions
    is not the order of the elements. `keep_dims=True` keeps the axis, with length 1.
    """
    ...


@reduction(ints="i32", floats="f32")
def max(
    input,
    axis=None,
    return_indices: "Literal[False]" = False,
    return_indices_tie_break_left: bool = True,
    keep_dims=False,
):
    """The greatest element over one axis, or, with `axis=None`, of all.

    Floats below 32 bits give f32, integers below 32 bits i32. A NaN loses against a number.
    `keep_dims=True` keeps the axis, with length 1.
    """
    ...


@reduction(ints="i32", floats="f32")
def min(
    input,
    axis=None,
    return_indices: "Literal[False]" = False,
    return_indices_tie_break_left: bool = True,
    keep_dims=False,
):
    """The smallest element over one axis, or, with `axis=None`, of all.

    Floats below 32 bits give f32, integers below 32 bits i32. A NaN loses against a number.
    `keep_dims=True` keeps the axis, with length 1.
    """
    ...
