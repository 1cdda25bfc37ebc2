"""Sorting by compare and swap, and reversing: along the last axis, in the language itself.

Floats are compared by their bits as integers, which orders every value: a NaN cannot hide others.
"""

from teeny_triton.rules import rule


def _log2(n):
    found: constexpr = 0
    for i in static_range(1, 21):
        if n >> i:
            found = i
    return found


def _bits_dtype(dtype):
    width = dtype.primitive_bitwidth
    if width == 1:
        return i1
    if width == 8:
        return i8
    if width == 16:
        return i16
    return i32 if width == 32 else i64


def _is_nan(x):
    if x.dtype.primitive_bitwidth < 32:
        x = x.to(f32)
    return x != x  # noqa: PLR0124


def _to_keys(x):
    """Integers in the order of the values: -0.0 before 0.0, NaN last."""
    if x.dtype.is_int():
        return x
    greatest: constexpr = (1 << (x.dtype.primitive_bitwidth - 1)) - 1
    bits = x.to(_bits_dtype(x.dtype), bitcast=True)
    bits = bits ^ ((bits >> (x.dtype.primitive_bitwidth - 1)) & greatest)
    return where(_is_nan(x), greatest, bits)


def _from_keys(keys, dtype):
    if dtype.is_int():
        return keys
    greatest: constexpr = (1 << (dtype.primitive_bitwidth - 1)) - 1
    bits = keys ^ ((keys >> (dtype.primitive_bitwidth - 1)) & greatest)
    return bits.to(dtype, bitcast=True)


def _position(rank, side):
    """0 and 1 along the side that is `side` from the end of a hypercube."""
    return reshape(arange(0, 2), (1,) * (rank - side - 1) + (2,) + (1,) * side)


def _compare_and_swap(x, turned, rank, side):
    other = x ^ reduce(x, rank - 1 - side, _xor, True)
    keeps_greater = turned ^ _position(rank, side)
    if 16 <= x.dtype.primitive_bitwidth <= 32:
        return where(keeps_greater != 0, maximum(x, other), minimum(x, other))  # one instruction
    return where((x > other) != keeps_greater, other, x)


def _merge_hypercube(x, rank, stage, order):
    """`order` is 0 for ascending, 1 for descending, 2 for both in turn."""
    turned = _position(rank, stage) if order == 2 else order
    for i in static_range(stage):
        x = _compare_and_swap(x, turned, rank, stage - 1 - i)
    return x


def _last(x, dim):
    """The axis, which is the last."""
    rank = len(x.shape)
    static_assert(dim is None or dim == -1 or dim == rank - 1, "only the last axis can be sorted")
    return rank - 1


def _sorted(x, k, dim, descending):
    """The first `k` elements of each row in order."""
    axis = _last(x, dim)
    static_assert(k > 0 and k & (k - 1) == 0, "k is a power of two")
    static_assert(k <= x.shape[axis], "k is at most the length of the axis")
    order = 1 if descending else 0
    length = _log2(x.shape[axis])
    kept = _log2(k)
    rank = _log2(x.numel)
    shape = (*x.shape[:axis], k)
    keys = _to_keys(x)
    best: constexpr = maximum if descending else minimum
    if kept == 0 and length > 0:
        return _from_keys(reduce(keys, axis, best, True), x.dtype)
    h = reshape(keys, (2,) * rank if rank else (1,))
    for i in static_range(1, kept + 1):
        h = _merge_hypercube(h, rank, i, 2 if i < length else order)
    for i in static_range(kept + 1, length + 1):
        h = reduce(h, len(h.shape) - 1 - kept, best)
        h = _merge_hypercube(h, len(h.shape), kept, 2 if i < length else order)
    return _from_keys(reshape(h, shape), x.dtype)


@rule(x="Tensor[E, R]", returns="Tensor[E, R]")
def sort(x, dim: "int | None" = None, descending: bool = False):
    """`x` with each row (last axis) in ascending order, or in descending order.

    `dim` is None or the last axis. -0.0 comes before 0.0; a NaN is greater than every number.
    """
    return _sorted(x, x.shape[-1], dim, descending)


@rule(x="Tensor[E, R]", returns="Tensor[E, R]")
def topk(x, k: int, dim: "int | None" = None, descending: bool = True):
    """The `k` greatest elements of each row (last axis), in order; or the smallest.

    `k` is a power of two; `dim` is None or the last axis. The order is that of `sort`: a NaN is
    greater than every number. The dtype is kept.
    """
    return _sorted(x, k, dim, descending)


@rule(x="Tensor[E, R]", returns="Tensor[E, R]")
def bitonic_merge(x, dim: "int | None" = None, descending: bool = False):
    """Each row (last axis) in order, where its first half ascends and its second half descends.

    `dim` is None or the last axis. The order is that of `sort`.
    """
    stage = _log2(x.shape[_last(x, dim)])
    rank = _log2(x.numel)
    if stage == 0:
        return x
    h = _merge_hypercube(reshape(_to_keys(x), (2,) * rank), rank, stage, 1 if descending else 0)
    return _from_keys(reshape(h, x.shape), x.dtype)


@rule(x="Tensor[E, R]", returns="Tensor[E, R]")
def flip(x, dim: "int | None" = None):
    """`x` with its elements along the axis `dim` (None: the last) in reverse order."""
    rank = len(x.shape)
    axis = rank - 1 if dim is None else dim
    static_assert(-rank <= axis < rank, "flip: no such axis")
    place = axis + rank if axis < 0 else axis
    steps = _log2(x.shape[place])
    bits = _bits_dtype(x.dtype)
    sides = x.shape[:place] + (2,) * steps + x.shape[place + 1 :]
    y = reshape(x.to(bits, bitcast=True), sides)
    for i in static_range(steps):
        y = y ^ xor_sum(y, place + i, True)
    return reshape(y, x.shape).to(x.dtype, bitcast=True)
