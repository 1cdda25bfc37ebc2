"""Random numbers: the published vectors of Philox, and Triton's numbers, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

# The known answers of Random123 (kat_vectors): counter, key, result of ten rounds.
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
ONES = (0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2
KNOWN_32 = {
    ((0,) * 4, (0,) * 2): (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
    ONES: (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    PI: (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
}
KNOWN_64 = (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)


def reference(seed: int, offset: int, rounds: int = 10) -> list[int]:
    """Philox 4x32 in Python integers: what `randint4x` is to give."""
    c = [offset & 0xFFFFFFFF, offset >> 32 & 0xFFFFFFFF, 0, 0]
    k = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(rounds):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(second >> 32) ^ c[1] ^ k[0], second, (first >> 32) ^ c[3] ^ k[1], first]
        c = [value & 0xFFFFFFFF for value in c]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def uniform(bits: int) -> np.float32:
    """The f32 that 32 random bits stand for."""
    signed = bits - (1 << 32) if bits >> 31 else bits
    return np.float32(np.float32(~signed if signed < 0 else signed) * np.float32(4.6566127342e-10))


def drawn(
    kernel: Callable[..., Any], call: str, dtype: str, count: int, offset: str = "o"
) -> list[Any]:
    """The tensors that a call returns, for 64 offsets from 1000."""
    kinds = {"u32": np.uint32, "f32": np.float32, "u64": np.uint64}
    names = [f"r{i}" for i in range(count)]
    lines = ["o = tl.arange(0, 64) + 1000", f"{', '.join(names)}, = {call}"]
    lines += [f"tl.store(out_ptr + {i} * 64 + tl.arange(0, 64), {n})" for i, n in enumerate(names)]
    made = kernel(f"out_ptr: Ptr[{dtype}], seed: i64", "\n".join(lines))
    out = np.zeros((count, 64), kinds[dtype])
    made.program().launch((1, 1, 1), [out, SEED])
    return list(out)


SEED = 0x123456789ABC


@pytest.mark.parametrize(("given", "wanted"), KNOWN_32.items())
def test_philox_gives_its_published_vectors(
    given: tuple[tuple[int, ...], tuple[int, ...]], wanted: tuple[int, ...],
    kernel: Callable[..., Any],
) -> None:  # fmt: skip
    counter, key = given
    words = ", ".join(f"tl.full((1,), {word}, u32)" for word in (*counter, *key))
    made = kernel(
        "out_ptr: Ptr[u32]",
        f"a, b, c, d = tl.philox_impl({words})\n"
        + "\n".join(
            f"tl.store(out_ptr + {i} + tl.arange(0, 1), {n})" for i, n in enumerate("abcd")
        ),
    )
    out = np.zeros(4, np.uint32)
    made.program().launch((1, 1, 1), [out])
    assert tuple(map(int, out)) == wanted


def test_philox_of_64_bits_gives_its_published_vector(kernel: Callable[..., Any]) -> None:
    made = kernel(
        "out_ptr: Ptr[u64]",
        "z = tl.zeros((1,), i64)\na, b, c, d = tl.philox(0, z, z, z, z)\n"
        + "\n".join(
            f"tl.store(out_ptr + {i} + tl.arange(0, 1), {n})" for i, n in enumerate("abcd")
        ),
    )
    out = np.zeros(4, np.uint64)
    made.program().launch((1, 1, 1), [out])
    assert tuple(map(int, out)) == KNOWN_64


@pytest.mark.parametrize("offset", ["o", "o.to(i64)", "o.to(u32)"])
def test_integers_are_those_of_philox_whatever_holds_the_offsets(
    offset: str, kernel: Callable[..., Any]
) -> None:
    wanted = np.asarray([reference(SEED, 1000 + i) for i in range(64)], np.uint32).T
    found = drawn(kernel, f"tl.randint4x(seed, {offset})", "u32", 4)
    assert np.array_equal(found, wanted)
    (first,) = drawn(kernel, f"(tl.randint(seed, {offset}),)", "u32", 1)
    assert np.array_equal(first, wanted[0])


def test_offsets_beyond_32_bits_count_whole(kernel: Callable[..., Any]) -> None:
    wanted = [reference(SEED, 1000 + i + (5 << 32))[0] for i in range(64)]
    (found,) = drawn(kernel, "(tl.randint(seed, o.to(i64) + (5 << 32)),)", "u32", 1)
    assert list(map(int, found)) == wanted


def test_the_number_of_rounds_may_be_chosen(kernel: Callable[..., Any]) -> None:
    wanted = [reference(SEED, 1000 + i, 7)[0] for i in range(64)]
    (found,) = drawn(kernel, "(tl.randint(seed, o, n_rounds=7),)", "u32", 1)
    assert list(map(int, found)) == wanted


def test_floats_are_uniform_and_below_one(kernel: Callable[..., Any]) -> None:
    wanted = [[uniform(word) for word in reference(SEED, 1000 + i)] for i in range(64)]
    found = drawn(kernel, "tl.rand4x(seed, o)", "f32", 4)
    assert np.array_equal(found, np.asarray(wanted).T)
    (first,) = drawn(kernel, "(tl.rand(seed, o),)", "f32", 1)
    assert np.array_equal(first, found[0])


def test_no_bits_give_one_or_a_negative_number(kernel: Callable[..., Any]) -> None:
    made = kernel(
        "x_ptr: Ptr[i32], out_ptr: Ptr[f32]",
        "o = tl.arange(0, 4)\ntl.store(out_ptr + o, tl.uint_to_uniform_float(tl.load(x_ptr + o)))",
    )
    x, out = np.asarray([-(2**31), 2**31 - 1, -1, 0], np.int32), np.zeros(4, np.float32)
    made.program().launch((1, 1, 1), [x, out])
    assert (out >= 0).all()
    assert (out < 1).all()
    assert list(out[2:]) == [0.0, 0.0]


def test_many_numbers_have_the_mean_and_variance_of_their_distribution(
    kernel: Callable[..., Any],
) -> None:
    made = kernel(
        "out_ptr: Ptr[f32], n_ptr: Ptr[f32], seed: i32",
        "o = tl.program_id(0) * 16384 + tl.arange(0, 16384)\n"
        "tl.store(out_ptr + o, tl.rand(seed, o))\ntl.store(n_ptr + o, tl.randn(seed, o))",
    )
    out, normal = np.zeros((2, 2**16), np.float32)
    made.program().launch((4, 1, 1), [out, normal, 42])
    assert abs(out.mean() - 0.5) < 5e-3
    assert abs(out.var() - 1 / 12) < 2e-3
    assert abs(normal.mean()) < 2e-2
    assert abs(normal.var() - 1) < 3e-2


def test_normal_numbers_are_made_in_pairs(kernel: Callable[..., Any]) -> None:
    u = np.asarray(drawn(kernel, "tl.rand4x(seed, o)", "f32", 4), np.float64)
    found = drawn(kernel, "tl.randn4x(seed, o)", "f32", 4)
    for pair in (0, 2):
        radius = np.sqrt(-2 * np.log(np.maximum(u[pair], 1e-7)))
        angle = 2 * np.pi * u[pair + 1]
        assert np.allclose(found[pair], radius * np.cos(angle), atol=1e-5)
        assert np.allclose(found[pair + 1], radius * np.sin(angle), atol=1e-5)


def test_dropout_drops_the_same_elements_wherever_they_are_stored(
    kernel: Callable[..., Any],
) -> None:
    made = kernel(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, p: f32, seed: i32",
        "o = tl.arange(0, 16)\nx = tl.load(x_ptr + o, mask=o < n)\n"
        "tl.store(out_ptr + o, tl.where(tl.rand(seed, o) > p, x / (1 - p), 0.0), mask=o < n)",
    ).program()
    x = np.random.default_rng(3).standard_normal(15).astype(np.float32)
    first, second = np.zeros(15, np.float32), np.zeros(31, np.float32)
    made.launch((1, 1, 1), [x, first, 15, 0.5, 123])
    made.launch((1, 1, 1), [x, second, 15, 0.5, 123])
    assert np.array_equal(first, second[:15])
    assert set(np.flatnonzero(first)) < set(range(15))
    kept = first != 0
    assert np.array_equal(first[kept], 2 * x[kept])
