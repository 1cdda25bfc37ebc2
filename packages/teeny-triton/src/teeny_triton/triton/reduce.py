"""Reductions over one axis, or over all elements."""

from teeny_triton.rules import indices, reduction


def _add(a, b):
    return a + b


def _sum_dtype(own, wanted):
    """Small integers are summed in 32 bits of the same sign; i1 counts as unsigned."""
    if wanted is not None:
        return wanted
    if own.is_int() and own.primitive_bitwidth < 32:
        return i32 if own.is_int_signed() else u32
    return own


@reduction(signed="i32", unsigned="u32")
def sum(input, axis=None, keep_dims=False, dtype=None):
    """The sum over one axis, or, with `axis=None`, over all elements.

    i8 and i16 are summed as i32, i1, u8 and u16 as u32, or as `dtype`. The order of the additions
    is not the order of the elements. `keep_dims=True` keeps the axis, with length 1.
    """
    return reduce(input.to(_sum_dtype(input.dtype, dtype)), axis, _add, keep_dims)


def _extreme_dtype(own):
    if own.primitive_bitwidth >= 32:
        return own
    return f32 if own.is_floating() else i32


def _first_of(best, value1, index1, value2, index2):
    """The smaller index of those whose value is the best; a NaN never is."""
    wins = (value1 == best) & ((value2 != best) | (index1 < index2))
    return best, where(wins, index1, index2)


def _greater_left(value1, index1, value2, index2):
    if value1.dtype.is_floating():  # the greater one of a number and a NaN is the number
        return _first_of(maximum(value1, value2), value1, index1, value2, index2)
    wins = (value1 > value2) | ((value1 == value2) & (index1 < index2))
    return where(wins, value1, value2), where(wins, index1, index2)


def _greater_any(value1, index1, value2, index2):
    if value1.dtype.is_floating():
        best = maximum(value1, value2)
        return best, where(value1 == best, index1, index2)
    wins = value1 > value2
    return where(wins, value1, value2), where(wins, index1, index2)


def _smaller_left(value1, index1, value2, index2):
    if value1.dtype.is_floating():
        return _first_of(minimum(value1, value2), value1, index1, value2, index2)
    wins = (value1 < value2) | ((value1 == value2) & (index1 < index2))
    return where(wins, value1, value2), where(wins, index1, index2)


def _smaller_any(value1, index1, value2, index2):
    if value1.dtype.is_floating():
        best = minimum(value1, value2)
        return best, where(value1 == best, index1, index2)
    wins = value1 < value2
    return where(wins, value1, value2), where(wins, index1, index2)


def _reduce_with_indices(input, axis, combine, keep_dims):
    """(value, index) over one axis; bf16 is compared as f32."""
    static_assert(axis is not None, "indices are those of one axis: give `axis`")
    value = input.to(f32) if input.dtype == bf16 else input
    rank = len(value.shape)
    place = axis + rank if axis < 0 else axis
    index = arange(0, value.shape[axis])
    if rank > 1:
        for side in static_range(rank):
            if side != place:
                index = expand_dims(index, side)
        index = broadcast_to(index, value.shape)
    return reduce((value, index), axis, combine, keep_dims)


@reduction(ints="i32", floats="f32")
@indices(bf16="f32")
def max(
    input,
    axis=None,
    return_indices: "Literal[False]" = False,
    return_indices_tie_break_left: bool = True,
    keep_dims=False,
):
    """The greatest element over one axis, or, with `axis=None`, of all.

    Floats below 32 bits give f32, integers below 32 bits i32. A NaN loses against a number.
    `keep_dims=True` keeps the axis, with length 1. `return_indices=True` gives (value, index) over
    an axis: the value keeps its dtype (bf16 becomes f32), the i32 index is the first of equals,
    or, without `return_indices_tie_break_left`, any of them.
    """
    if return_indices:
        combine = _greater_left if return_indices_tie_break_left else _greater_any
        return _reduce_with_indices(input, axis, combine, keep_dims)
    return reduce(input.to(_extreme_dtype(input.dtype)), axis, maximum, keep_dims)


@reduction(ints="i32", floats="f32")
@indices(bf16="f32")
def min(
    input,
    axis=None,
    return_indices: "Literal[False]" = False,
    return_indices_tie_break_left: bool = True,
    keep_dims=False,
):
    """The smallest element over one axis, or, with `axis=None`, of all.

    Floats below 32 bits give f32, integers below 32 bits i32. A NaN loses against a number.
    `keep_dims=True` keeps the axis, with length 1. `return_indices=True` gives (value, index) over
    an axis: the value keeps its dtype (bf16 becomes f32), the i32 index is the first of equals,
    or, without `return_indices_tie_break_left`, any of them.
    """
    if return_indices:
        combine = _smaller_left if return_indices_tie_break_left else _smaller_any
        return _reduce_with_indices(input, axis, combine, keep_dims)
    return reduce(input.to(_extreme_dtype(input.dtype)), axis, minimum, keep_dims)


@reduction("i32")
def argmax(input, axis, tie_break_left: bool = True, keep_dims=False):
    """The i32 index of the greatest element along `axis`.

    It is the first of equal elements, or, without `tie_break_left`, any of them. A NaN loses
    against a number; among NaN alone it is any.
    """
    _, index = max(input, axis, True, tie_break_left, keep_dims)
    return index


@reduction("i32")
def argmin(input, axis, tie_break_left: bool = True, keep_dims=False):
    """The i32 index of the smallest element along `axis`.

    It is the first of equal elements, or, without `tie_break_left`, any of them. A NaN loses
    against a number; among NaN alone it is any.
    """
    _, index = min(input, axis, True, tie_break_left, keep_dims)
    return index


def _xor(a, b):
    return a ^ b


def _or(a, b):
    return a | b


@reduction()
def xor_sum(input, axis=None, keep_dims=False):
    """The exclusive or of all elements over one axis, or of all; integers and i1.

    `keep_dims=True` keeps the axis, with length 1.
    """
    static_assert(input.dtype.is_int(), "xor_sum takes integers")
    return reduce(input, axis, _xor, keep_dims)


@reduction()
def reduce_or(input, axis, keep_dims=False):
    """The bitwise or of all elements over one axis, or, with `axis=None`, of all; integers and i1.

    `keep_dims=True` keeps the axis, with length 1.
    """
    static_assert(input.dtype.is_int(), "reduce_or takes integers")
    return reduce(input, axis, _or, keep_dims)
