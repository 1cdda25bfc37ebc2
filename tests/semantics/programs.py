"""Atomics, random numbers, control flow, and what gives the same bits again."""

from __future__ import annotations

from typing import Any

import numpy as np

from semantic_cases import (
    Check,
    bf16,
    define,
    f16,
    f32,
    f64,
    i32,
    i64,
    kernel_text,
    program,
    refused,
    samples,
    sentence,
    u32,
    u64,
)

Cases = Any
NAN = np.nan

# --- atomics --------------------------------------------------------------------------------------


def _permutation(found: Any) -> bool:
    return sorted(found.astype(np.int64).tolist()) == list(range(found.size))


@sentence("S801")
def an_atomic_returns_what_was_there() -> Cases:
    for make in (i32, u32, i64, f32, f16, bf16):
        yield program(
            "tl.store(y_ptr + tl.program_id(0), tl.atomic_add(c_ptr, 1))",
            c=make(0),
            out={"c": make(64), "y": make(*range(64))},
            checks={"y": _permutation},
            grid=(64,),
        )


@sentence("S802")
def lanes_with_one_address_all_count() -> Cases:
    yield program(
        """
i = tl.arange(0, 128)
tl.store(y_ptr + i, tl.atomic_add(c_ptr + i * 0, 1))""",
        c=i32(0),
        out={"c": i32(128), "y": i32(*range(128))},
        checks={"y": _permutation},
    )


@sentence("S803")
def masked_lanes_change_nothing() -> Cases:
    yield program(
        """
i = tl.arange(0, 8)
far = tl.where(i < 3, i, 2147483647)
old = tl.atomic_add(c_ptr + far, 10, mask=i < 3)
tl.store(y_ptr + i, old, mask=i < 3)""",
        c=i32(1, 2, 3),
        out={"c": i32(11, 12, 13), "y": i32(1, 2, 3)},
    )


@sentence("S804")
def integer_atomics_do_not_depend_on_order() -> Cases:
    yield program(
        """
p = tl.program_id(0)
tl.atomic_add(a_ptr, 2147483647)
tl.atomic_max(a_ptr + 1, p)
tl.atomic_min(a_ptr + 2, -p)
tl.atomic_or(a_ptr + 3, 1 << (p % 31))
tl.atomic_xor(a_ptr + 4, p)
tl.atomic_and(a_ptr + 5, ~(p % 4))""",
        a=i32(0, 5, 0, 0, 0, -1),
        out={"a": i32(-40, 39, -39, 2**31 - 1, int(np.bitwise_xor.reduce(np.arange(40))), -4)},
        grid=(40,),
    )


@sentence("S805")
def unsigned_extremes_have_no_sign() -> Cases:
    yield program(
        "tl.atomic_max(a_ptr, tl.load(x_ptr))\ntl.atomic_min(a_ptr + 1, tl.load(x_ptr))",
        x=u32(2**32 - 1),
        a=u32(1, 1),
        out={"a": u32(2**32 - 1, 1)},
    )


@sentence("S806")
def float_extremes_order_bits() -> Cases:
    body = """
i = tl.arange(0, 8)
x = tl.load(x_ptr + i)
tl.atomic_max(a_ptr + i, x)
tl.atomic_min(b_ptr + i, x)"""
    for make in (f32, f64):
        x = make(1, -1, -0.0, 0.0, -3, 2, NAN, 5)
        old = make(0.5, -2, 0.0, -0.0, -2, -5, 7, NAN)
        yield program(
            body, x=x, a=old, b=old,
            out={"a": make(1, -1, 0.0, 0.0, -2, 2, NAN, NAN),
                 "b": make(0.5, -2, -0.0, -0.0, -3, -5, 7, 5)},
        )  # fmt: skip


@sentence("S807")
def cas_compares_bits() -> Cases:
    body = """
i = tl.arange(0, 4)
old = tl.atomic_cas(a_ptr + i, tl.load(x_ptr + i), tl.load(z_ptr + i))
tl.store(y_ptr + i, old)"""
    yield program(
        body,
        x=i32(1, 2, 3, 4),
        z=i32(10, 20, 30, 40),
        a=i32(1, 9, 3, 9),
        out={"a": i32(10, 9, 30, 9), "y": i32(1, 9, 3, 9)},
    )
    yield program(
        body,
        x=f32(0.0, NAN, 1, -0.0),
        z=f32(5, 6, 7, 8),
        a=f32(-0.0, NAN, 1, -0.0),
        out={"a": f32(-0.0, 6, 7, 8), "y": f32(-0.0, NAN, 1, -0.0)},
    )


@sentence("S808")
def xchg_loads_and_stores() -> Cases:
    yield program(
        """
tl.store(y_ptr, tl.atomic_xchg(a_ptr, 7))
tl.store(y_ptr + 1, tl.atomic_load(a_ptr))
tl.atomic_store(a_ptr + 1, 9)""",
        a=i32(1, 2),
        out={"a": i32(7, 9), "y": i32(1, 7)},
    )


def _default_order(_device: Any) -> None:
    from teeny_triton.triton_lang import TRITON, TRITON_SHA
    from teenyc.frontend import lower_unit

    kernel = define(kernel_text("a_ptr: Ptr[i32]", ["tl.atomic_add(a_ptr, 1)"]))
    module = lower_unit(kernel.instantiate().unit(TRITON, TRITON_SHA))
    (order,) = [op.attrs for op in module.walk() if op.name == "tt.atomic_rmw"]
    assert (order["sem"], order["scope"]) == ("acq_rel", "gpu")


@sentence("S809")
def orders_and_scopes_have_names() -> Cases:
    yield Check("the default", _default_order)
    for order in ("acquire", "release", "acq_rel", "relaxed"):
        for scope in ("cta", "gpu", "sys"):
            body = f"tl.atomic_add(a_ptr, 1, sem='{order}', scope='{scope}')"
            yield program(body, a=i32(1), out={"a": i32(11)}, grid=(10,))
    yield refused("E0416", "tl.atomic_add(x_ptr, 1, sem='seq_cst')", at="'seq_cst'", x="i32")


@sentence("S810")
def float_sums_by_atomics_have_no_order() -> Cases:
    x = samples("f16", 64, seed=61).astype(np.float32)
    exact, size = float(x.astype(np.float64).sum()), float(np.abs(x.astype(np.float64)).sum())
    yield program(
        "tl.atomic_add(a_ptr, tl.load(x_ptr + tl.program_id(0)))",
        x=x,
        a=f32(0),
        out={"a": f32(exact)},
        checks={"a": lambda found: bool(abs(float(found[0]) - exact) <= size * 64 * 2.0**-24)},
        grid=(64,),
    )


@sentence("S811")
def narrow_atomics_are_refused() -> Cases:
    yield refused("E0511", "tl.atomic_add(x_ptr, 1)", at="x_ptr", x="i8")
    yield refused("E0511", "tl.atomic_max(x_ptr, 1.0)", at="x_ptr", x="f16")
    yield refused("E0511", "tl.atomic_and(x_ptr, 1)", at="x_ptr", x="f32")


# --- random numbers -------------------------------------------------------------------------------


def _philox(counter: tuple[int, ...], key: tuple[int, ...], rounds: int = 10) -> list[int]:
    """Philox 4x32, from the paper (Salmon et al., 2011)."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(rounds):
        high0, low0 = divmod(0xD2511F53 * c0, 2**32)
        high1, low1 = divmod(0xCD9E8D57 * c2, 2**32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return [c0, c1, c2, c3]


def _philox_wide(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    """Philox 4x64-10, from the same paper."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(10):
        high0, low0 = divmod(0xD2E7470EE14C6C93 * c0, 2**64)
        high1, low1 = divmod(0xCA5A826395121157 * c2, 2**64)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) % 2**64, (k1 + 0xBB67AE8584CAA73B) % 2**64
    return c0, c1, c2, c3


def _uniform(number: int) -> np.float32:
    signed = number - 2**32 if number >= 2**31 else number
    return np.float32(~signed if signed < 0 else signed) * np.float32(4.6566127342e-10)


# The known answers that the authors publish with their implementation.
ANSWERS = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
)  # fmt: skip


WIDE_ANSWERS = (
    ((0,) * 4, (0, 0),
     (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)),
    ((2**64 - 1,) * 4, (2**64 - 1,) * 2,
     (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0)),
)  # fmt: skip
_FOUR_WORDS = """
i = tl.arange(0, 1)
c = tl.load(c_ptr + i), tl.load(c_ptr + 1 + i), tl.load(c_ptr + 2 + i), tl.load(c_ptr + 3 + i)
a, b, d, e = tl.philox_impl(c[0], c[1], c[2], c[3], tl.load(k_ptr), tl.load(k_ptr + 1))
tl.store(y_ptr + i, a)
tl.store(y_ptr + 1 + i, b)
tl.store(y_ptr + 2 + i, d)
tl.store(y_ptr + 3 + i, e)"""


@sentence("S901")
def philox_gives_the_published_answers() -> Cases:
    for counter, key, wanted in ANSWERS:
        assert tuple(_philox(counter, key)) == wanted
        yield program(_FOUR_WORDS, c=u32(*counter), k=u32(*key), out={"y": u32(*wanted)})
    for counter, key, wide in WIDE_ANSWERS:
        assert _philox_wide(counter, key) == wide
        yield program(_FOUR_WORDS, c=u64(*counter), k=u64(*key), out={"y": u64(*wide)})


_SEED = 0x1234_5678_9ABC_DEF0
_KEY = (_SEED % 2**32, _SEED >> 32)


@sentence("S902")
def randint_is_the_first_word() -> Cases:
    offsets = [0, 1, 5, 2**31 - 1]
    wanted = [_philox((n, 0, 0, 0), _KEY)[0] for n in offsets]
    body = (
        "i = tl.arange(0, 4)\ntl.store(y_ptr + i, tl.randint(tl.load(s_ptr), tl.load(x_ptr + i)))"
    )
    yield program(body, s=i64(_SEED), x=i32(*offsets), out={"y": u32(*wanted)})
    yield program(body, s=i64(_SEED), x=i64(*offsets), out={"y": u32(*wanted)})
    far = [2**32, 2**33 + 7, 2**40, 3]
    wanted = [_philox((n % 2**32, n >> 32, 0, 0), _KEY)[0] for n in far]
    yield program(body, s=u64(_SEED), x=i64(*far), out={"y": u32(*wanted)})


@sentence("S903")
def rand_is_below_one() -> Cases:
    edges = [-(2**31), 2**31 - 1, -1, 0]
    wanted = f32(*(_uniform(n % 2**32) for n in edges))
    assert (wanted < 1).all()
    assert (wanted >= 0).all()
    body = "i = tl.arange(0, 4)\ntl.store(y_ptr + i, tl.uint_to_uniform_float(tl.load(x_ptr + i)))"
    yield program(body, x=u32(*(n % 2**32 for n in edges)), out={"y": wanted})
    drawn = [_uniform(_philox((n, 0, 0, 0), (42, 0))[0]) for n in range(256)]
    body = "i = tl.arange(0, 256)\ntl.store(y_ptr + i, tl.rand(42, i))"
    yield program(body, out={"y": f32(*drawn)})


@sentence("S904")
def randn_is_box_and_muller() -> Cases:
    pairs = [_philox((n, 0, 0, 0), (42, 0))[:2] for n in range(256)]
    u = np.array([[float(_uniform(word)) for word in pair] for pair in pairs])
    exact = np.sqrt(-2 * np.log(np.maximum(u[:, 0], 1e-7))) * np.cos(2 * np.pi * u[:, 1])

    def close(found: Any) -> bool:
        return bool(np.allclose(found, exact, rtol=1e-5, atol=5e-6))

    body = "i = tl.arange(0, 256)\ntl.store(y_ptr + i, tl.randn(42, i))"
    yield program(body, out={"y": exact.astype(np.float32)}, checks={"y": close})


@sentence("S905")
def a_number_depends_on_seed_and_offset_alone() -> Cases:
    wanted = u32(*(_philox((n, 0, 0, 0), (7, 0))[0] for n in range(256)))
    for block in (32, 256):
        body = f"""
i = tl.program_id(0) * {block} + tl.arange(0, {block})
tl.store(y_ptr + i, tl.randint(7, i))"""
        yield program(body, out={"y": wanted}, grid=(256 // block,))


# --- control flow ---------------------------------------------------------------------------------


@sentence("S1001")
def an_empty_range_does_not_run() -> Cases:
    body = """
n = tl.load(n_ptr)
count = 0
for i in range(5, n):
    count += 1
for i in range(n, 5, -1):
    count += 100
tl.store(y_ptr, count)"""
    yield program(body, n=i32(3), out={"y": i32(0)})
    yield program(body, n=i32(7), out={"y": i32(202)})


@sentence("S1008")
def a_range_of_unsigned_integers_counts_unsigned() -> Cases:
    for make in (u32, u64):
        bits = np.iinfo(make(0).dtype).bits
        low, high = 2 ** (bits - 1) - 3, 2 ** (bits - 1) + 3
        body = f"""
low, high = tl.load(n_ptr), tl.load(n_ptr + 1)
count = 0
for i in range(low, high):
    tl.store(y_ptr + count, i)
    count += 1
for i in range(high, low, -2):
    tl.static_assert(i.dtype == u{bits})
    tl.store(y_ptr + count, i)
    count += 1
for i in range(high, low):
    tl.store(y_ptr, i)"""
        wanted = [*range(low, high), *range(high, low, -2)]
        yield program(body, n=make(low, high), out={"y": make(*wanted)})


@sentence("S1002")
def changing_the_variable_changes_no_iteration() -> Cases:
    body = """
acc = 0
for i in range(0, tl.load(n_ptr), 2):
    i = i + 100
    acc += i
tl.store(y_ptr, acc)"""
    yield program(body, n=i32(8), out={"y": i32(412)})


@sentence("S1003")
def a_zero_step_is_refused() -> Cases:
    helpers = "@device\ndef f(n):\n    for i in range(0, n, 0):\n        n += i\n    return n\n"
    yield refused("E0606", "f(tl.load(x_ptr))", at="0", helpers=helpers, x="i32")


@sentence("S1004")
def a_loop_keeps_the_types_of_its_variables() -> Cases:
    helpers = """
@device
def f(n):
    x = 0
    for i in range(0, n):
        x = x + 1.5
    return x
"""
    yield refused("E0604", "f(tl.load(x_ptr))", at="x", helpers=helpers, x="i32")


@sentence("S1005")
def conditions_are_scalars() -> Cases:
    yield refused("E0602", "x and y", at="x", x="i32", y="i32")
    yield refused("E0602", "not x", at="x", x="i32")
    yield refused("E0602", "1 if x > 0 else 2", at="x > 0", x="i32")
    yield refused("E0602", "0 < x < 5", at="0 < x < 5", x="i32")


@sentence("S1006")
def scalars_are_true_unless_zero() -> Cases:
    body = """
a, b, c = tl.load(x_ptr), tl.load(x_ptr + 1), tl.load(x_ptr + 2)
tl.store(y_ptr, 1.0 if (a != 1) or (b != 0) or (c != 0) else -1.0)
tl.store(y_ptr + 1, 1.0 if a and c else -1.0)
tl.store(y_ptr + 2, 1.0 if not c else -1.0)"""
    yield program(body, x=f32(1, 0, 5), out={"y": f32(1, 1, -1)})
    yield program(body, x=f32(1, 0, 0), out={"y": f32(-1, -1, 1)})
    yield program(body, x=f32(1, 0, NAN), out={"y": f32(1, 1, -1)})


@sentence("S1007")
def what_is_never_run_is_not_checked() -> Cases:
    body = """
if x_ptr.dtype.element_ty == i32:
    tl.store(y_ptr, 1)
else:
    tl.store(y_ptr, undefined_name)"""
    yield program(body, x=i32(0), out={"y": i32(1)})


# --- the same again -------------------------------------------------------------------------------


@sentence("S1101")
def programs_that_read_the_same_give_the_same() -> Cases:
    x = samples("f32", 1024, seed=70)
    x = x[np.abs(x) < 1e30]
    x = np.resize(x, 1024).astype(np.float32)
    body = """
x = tl.load(x_ptr + tl.arange(0, 1024))
y = tl.sum(tl.exp2(x * 1e-30) / 3.0)
tl.store(y_ptr + tl.program_id(0), y)"""
    yield program(
        body,
        x=x,
        out={"y": f32(*[0] * 32)},
        checks={"y": lambda found: len(set(found.view(np.uint32).tolist())) == 1},
        grid=(32,),
    )


def _twice(device: Any) -> None:
    text = kernel_text(
        "x_ptr: Ptr[f32], y_ptr: Ptr[f32]",
        ["i = tl.arange(0, 512)", "x = tl.load(x_ptr + i)", "y = tl.cumsum(tl.sin(x), 0)",
         "tl.store(y_ptr + i, y / tl.sum(tl.exp(x)))"],
    )  # fmt: skip
    kernel = define(text)
    x, found = device.buffer(512, "f32"), []
    x.copy_from(np.random.default_rng(71).standard_normal(512).astype(np.float32))
    for _ in range(3):
        y = device.buffer(512, "f32")
        kernel.on((1,), device=device)(x, y)
        device.synchronize()
        found.append(y.to_host().tobytes())
    assert len(set(found)) == 1


@sentence("S1102")
def a_launch_repeated_gives_the_same_bits() -> Cases:
    yield Check("three launches", _twice)


@sentence("S1103")
def exact_operations_agree_on_every_target() -> Cases:
    x, y = samples("f32", 512, seed=72), samples("f32", 512, seed=73)
    with np.errstate(all="ignore"):
        z = (x * y - y).astype(np.float32)
        z = np.where(z > x, np.fmin(z, y), np.float32(0.5) * z + x).astype(np.float32)
        whole = np.clip(np.nan_to_num(x, nan=0), -1e6, 1e6).astype(np.int32)
    body = """
i = tl.arange(0, 512)
x = tl.load(x_ptr + i)
y = tl.load(y_ptr + i)
z = x * y - y
z = tl.where(z > x, tl.minimum(z, y), 0.5 * z + x)
tl.store(z_ptr + i, z)
tl.store(n_ptr + i, tl.clamp(x, -1e6, 1e6).to(i32) * 3 ^ 5)"""
    yield program(body, x=x, y=y, out={"z": z, "n": whole * 3 ^ 5})


@sentence("S1104")
def reductions_on_a_cpu_equal_the_interpreters() -> Cases:
    x = np.random.default_rng(74).standard_normal(1024).astype(np.float32)
    total = x.copy()
    while total.size > 1:  # halves added together, from the outside in
        total = (total[: total.size // 2] + total[total.size // 2 :]).astype(np.float32)
    body = "tl.store(y_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, 1024))))"
    yield program(body, x=x, out={"y": total}, targets=("interpreter", "cpu"))
