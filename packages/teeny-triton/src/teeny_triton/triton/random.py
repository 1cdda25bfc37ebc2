"""Random numbers: Philox 4x32 and 4x64, the same bits as Triton's for a seed and an offset.

A number depends on the seed and its own offset alone: kernels that use one seed take offsets apart.
"""

from teeny_triton.rules import rule


@rule(
    c0="Tensor[u32, R]",
    c1="Tensor[u32, R]",
    c2="Tensor[u32, R]",
    c3="Tensor[u32, R]",
    k0="u32 | Tensor[u32, Any]",
    k1="u32 | Tensor[u32, Any]",
    returns="tuple[Tensor[u32, R], Tensor[u32, R], Tensor[u32, R], Tensor[u32, R]]",
)
@rule(
    c0="Tensor[u64, R]",
    c1="Tensor[u64, R]",
    c2="Tensor[u64, R]",
    c3="Tensor[u64, R]",
    k0="u64 | Tensor[u64, Any]",
    k1="u64 | Tensor[u64, Any]",
    returns="tuple[Tensor[u64, R], Tensor[u64, R], Tensor[u64, R], Tensor[u64, R]]",
)
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: int = 10):
    """The rounds of Philox on the counter (c0, c1, c2, c3) and the key (k0, k1).

    All are u32 or all u64; the result is four tensors of them (Salmon et al., "Parallel random
    numbers: as easy as 1, 2, 3", 2011).
    """
    if c0.dtype == u32:
        KEY_A: constexpr = 0x9E3779B9
        KEY_B: constexpr = 0xBB67AE85
        ROUND_A: constexpr = 0xD2511F53
        ROUND_B: constexpr = 0xCD9E8D57
    else:
        static_assert(c0.dtype == u64, "philox counts in u32 or u64")
        KEY_A: constexpr = 0x9E3779B97F4A7C15
        KEY_B: constexpr = 0xBB67AE8584CAA73B
        ROUND_A: constexpr = 0xD2E7470EE14C6C93
        ROUND_B: constexpr = 0xCA5A826395121157
    for _ in static_range(n_rounds):
        old0, old2 = c0, c2
        c0 = umulhi(ROUND_B, old2) ^ c1 ^ k0
        c2 = umulhi(ROUND_A, old0) ^ c3 ^ k1
        c1 = mul(ROUND_B, old2, sanitize_overflow=False)
        c3 = mul(ROUND_A, old0, sanitize_overflow=False)
        k0 = add(k0, KEY_A, sanitize_overflow=False)
        k1 = add(k1, KEY_B, sanitize_overflow=False)
    return c0, c1, c2, c3


@rule(
    seed="Int | int",
    c0="Tensor[u32, R] | Tensor[i32, R]",
    c1="Tensor[u32, R] | Tensor[i32, R]",
    c2="Tensor[u32, R] | Tensor[i32, R]",
    c3="Tensor[u32, R] | Tensor[i32, R]",
    returns="tuple[Tensor[u32, R], Tensor[u32, R], Tensor[u32, R], Tensor[u32, R]]",
)
@rule(
    seed="Int | int",
    c0="Tensor[u64, R] | Tensor[i64, R]",
    c1="Tensor[u64, R] | Tensor[i64, R]",
    c2="Tensor[u64, R] | Tensor[i64, R]",
    c3="Tensor[u64, R] | Tensor[i64, R]",
    returns="tuple[Tensor[u64, R], Tensor[u64, R], Tensor[u64, R], Tensor[u64, R]]",
)
def philox(seed, c0, c1, c2, c3, n_rounds: int = 10):
    """Four tensors of random bits for the counter (c0, c1, c2, c3), which has 32 or 64 bits each.

    The result is u32 or u64. `seed` is an integer, of which 64 bits count.
    """
    seed = to_tensor(seed)
    static_assert(seed.dtype.is_int(), "a seed is an integer")
    seed = seed.to(u64)
    c0 = to_tensor(c0)
    c1 = to_tensor(c1)
    c2 = to_tensor(c2)
    c3 = to_tensor(c3)
    if c0.dtype.primitive_bitwidth == 32:
        kind: constexpr = u32
        seed_hi = ((seed >> 32) & 0xFFFFFFFF).to(u32)
        seed_lo = (seed & 0xFFFFFFFF).to(u32)
    else:
        static_assert(c0.dtype.primitive_bitwidth == 64, "philox counts in 32 or 64 bits")
        kind: constexpr = u64
        seed_hi = full((1,), 0, u64)
        seed_lo = seed
    c0 = c0.to(kind, bitcast=True)
    c1 = c1.to(kind, bitcast=True)
    c2 = c2.to(kind, bitcast=True)
    c3 = c3.to(kind, bitcast=True)
    return philox_impl(c0, c1, c2, c3, seed_lo, seed_hi, n_rounds)


@rule(seed="Int | int", offset="Tensor[I, R]", returns="Tensor[u32, R]")
@rule(seed="Int | int", offset="Int | int", returns="u32")
def randint(seed, offset, n_rounds: int = 10):
    """A random u32 for each offset; `randint4x` gives four for the price of one."""
    result, _, _, _ = randint4x(seed, offset, n_rounds)
    return result


@rule(
    seed="Int | int",
    offset="Tensor[I, R]",
    returns="tuple[Tensor[u32, R], Tensor[u32, R], Tensor[u32, R], Tensor[u32, R]]",
)
@rule(seed="Int | int", offset="Int | int", returns="tuple[u32, u32, u32, u32]")
def randint4x(seed, offset, n_rounds: int = 10):
    """Four random u32 for each offset.

    Offsets below 2**31 give the same numbers whether they are held in 32 or in 64 bits.
    """
    offset = to_tensor(offset)
    static_assert(offset.dtype.is_int(), "offsets are integers")
    low = offset.to(u32)
    zero = low * 0
    high = (offset >> 32).to(u32) if offset.dtype.primitive_bitwidth > 32 else zero
    return philox(seed, low, high, zero, zero, n_rounds)


@rule(x="Tensor[I, R]", returns="Tensor[f32, R]")
@rule(x="Int | int", returns="f32")
def uint_to_uniform_float(x):
    """An f32 in [0, 1) from 32 or 64 random bits."""
    if x.dtype.primitive_bitwidth == 32:
        x = x.to(i32, bitcast=True)
        scale = 4.6566127342e-10
    else:
        static_assert(x.dtype.primitive_bitwidth == 64, "32 or 64 random bits are wanted")
        x = x.to(i64, bitcast=True)
        scale = 1.0842020432385337e-19
    x = where(x < 0, ~x, x)
    return x * scale


@rule(seed="Int | int", offset="Tensor[I, R]", returns="Tensor[f32, R]")
@rule(seed="Int | int", offset="Int | int", returns="f32")
def rand(seed, offset, n_rounds: int = 10):
    """A random f32, uniform in [0, 1), for each offset."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@rule(
    seed="Int | int",
    offsets="Tensor[I, R]",
    returns="tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]",
)
@rule(seed="Int | int", offsets="Int | int", returns="tuple[f32, f32, f32, f32]")
def rand4x(seed, offsets, n_rounds: int = 10):
    """Four random f32, uniform in [0, 1), for each offset."""
    i1, i2, i3, i4 = randint4x(seed, offsets, n_rounds)
    u1 = uint_to_uniform_float(i1)
    u2 = uint_to_uniform_float(i2)
    u3 = uint_to_uniform_float(i3)
    u4 = uint_to_uniform_float(i4)
    return u1, u2, u3, u4


@rule(u1="Tensor[f32, R]", u2="Tensor[f32, R]", returns="tuple[Tensor[f32, R], Tensor[f32, R]]")
@rule(u1="f32", u2="f32", returns="tuple[f32, f32]")
def pair_uniform_to_normal(u1, u2):
    """Two normally distributed f32 from two uniform ones (Box and Muller)."""
    u1 = maximum(1.0e-7, u1)
    angle = 6.283185307179586 * u2
    radius = sqrt(-2.0 * log(u1))
    return radius * cos(angle), radius * sin(angle)


@rule(seed="Int | int", offset="Tensor[I, R]", returns="Tensor[f32, R]")
@rule(seed="Int | int", offset="Int | int", returns="f32")
def randn(seed, offset, n_rounds: int = 10):
    """A random f32, normally distributed, for each offset."""
    i1, i2, _, _ = randint4x(seed, offset, n_rounds)
    u1 = uint_to_uniform_float(i1)
    u2 = uint_to_uniform_float(i2)
    n1, _ = pair_uniform_to_normal(u1, u2)
    return n1


@rule(
    seed="Int | int",
    offset="Tensor[I, R]",
    returns="tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]",
)
@rule(seed="Int | int", offset="Int | int", returns="tuple[f32, f32, f32, f32]")
def randn4x(seed, offset, n_rounds: int = 10):
    """Four random f32, normally distributed, for each offset."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(u1, u2)
    n3, n4 = pair_uniform_to_normal(u3, u4)
    return n1, n2, n3, n4
