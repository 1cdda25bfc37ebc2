"""Changing memory that other programs change too."""

from teeny_triton.rules import rule


@rule(
    pointer="PtrTensor[F, R]",
    val="Tensor[F, R] | F | float",
    mask="Mask | None",
    returns="Tensor[F, R]",
)
@rule(
    pointer="PtrTensor[N, R]",
    val="Tensor[N, R] | N | int",
    mask="Mask | None",
    returns="Tensor[N, R]",
)
@rule(pointer="Ptr[F]", val="F | float", mask="i1 | bool | None", returns="F")
@rule(pointer="Ptr[N]", val="N | int", mask="i1 | bool | None", returns="N")
def atomic_add(pointer, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
    """Add `val` to each place, atomically; the result is what was there before.

    Places are i32, u32, i64, u64, f16, bf16, f32 or f64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
    ...


@rule(
    pointer="PtrTensor[F, R]",
    val="Tensor[F, R] | F | float",
    mask="Mask | None",
    returns="Tensor[F, R]",
)
@rule(
    pointer="PtrTensor[N, R]",
    val="Tensor[N, R] | N | int",
    mask="Mask | None",
    returns="Tensor[N, R]",
)
@rule(pointer="Ptr[F]", val="F | float", mask="i1 | bool | None", returns="F")
@rule(pointer="Ptr[N]", val="N | int", mask="i1 | bool | None", returns="N")
def atomic_max(pointer, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
    """Keep the greater of each place and `val`; the result is what was there before.

    Places are i32, u32, i64, u64, f32 or f64; floats are compared by their bits.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
    ...


@rule(
    pointer="PtrTensor[F, R]",
    val="Tensor[F, R] | F | float",
    mask="Mask | None",
    returns="Tensor[F, R]",
)
@rule(
    pointer="PtrTensor[N, R]",
    val="Tensor[N, R] | N | int",
    mask="Mask | None",
    returns="Tensor[N, R]",
)
@rule(pointer="Ptr[F]", val="F | float", mask="i1 | bool | None", returns="F")
@rule(pointer="Ptr[N]", val="N | int", mask="i1 | bool | None", returns="N")
def atomic_min(pointer, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
    """Keep the smaller of each place and `val`; the result is what was there before.

    Places are i32, u32, i64, u64, f32 or f64; floats are compared by their bits.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
    ...


@rule(
    pointer="PtrTensor[I, R]",
    val="Tensor[I, R] | I | int",
    mask="Mask | None",
    returns="Tensor[I, R]",
)
@rule(pointer="Ptr[I]", val="I | int", mask="i1 | bool | None", returns="I")
def atomic_and(pointer, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
    """Keep the bits of each place that `val` has too; the result is what was there before.

    Places are i32, u32, i64 or u64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
    ...


@rule(
    pointer="PtrTensor[I, R]",
    val="Tensor[I, R] | I | int",
    mask="Mask | None",
    returns="Tensor[I, R]",
)
@rule(pointer="Ptr[I]", val="I | int", mask="i1 | bool | None", returns="I")
def atomic_or(pointer, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
    """Set the bits of `val` in each place; the result is what was there before.

    Places are i32, u32, i64 or u64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
    ...


@rule(
    pointer="PtrTensor[I, R]",
    val="Tensor[I, R] | I | int",
    mask="Mask | None",
    returns="Tensor[I, R]",
)
@rule(pointer="Ptr[I]", val="I | int", mask="i1 | bool | None", returns="I")
def atomic_xor(pointer, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
    """Flip the bits of `val` in each place; the result is what was there before.

    Places are i32, u32, i64 or u64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
    ...


@rule(
    pointer="PtrTensor[F, R]",
    val="Tensor[F, R] | F | float",
    mask="Mask | None",
    returns="Tensor[F, R]",
)
@rule(
    pointer="PtrTensor[N, R]",
    val="Tensor[N, R] | N | int",
    mask="Mask | None",
    returns="Tensor[N, R]",
)
@rule(pointer="Ptr[F]", val="F | float", mask="i1 | bool | None", returns="F")
@rule(pointer="Ptr[N]", val="N | int", mask="i1 | bool | None", returns="N")
def atomic_xchg(pointer, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
    """Write `val` to each place; the result is what was there before.

    Places are i32, u32, i64, u64, f32 or f64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
    ...


@rule(
    pointer="PtrTensor[F, R]",
    cmp="Tensor[F, R] | F | float",
    val="Tensor[F, R] | F | float",
    returns="Tensor[F, R]",
)
@rule(
    pointer="PtrTensor[N, R]",
    cmp="Tensor[N, R] | N | int",
    val="Tensor[N, R] | N | int",
    returns="Tensor[N, R]",
)
@rule(pointer="Ptr[F]", cmp="F | float", val="F | float", returns="F")
@rule(pointer="Ptr[N]", cmp="N | int", val="N | int", returns="N")
def atomic_cas(pointer, cmp, val, sem: "Order | None" = None, scope: "Scope | None" = None):
    """Write `val` to each place that holds `cmp`; the result is what was there before.

    Places have 16, 32 or 64 bits, which are compared. `sem` is "acq_rel" (the default), "acquire",
    "release" or "relaxed", `scope` "gpu" (the default), "cta" or "sys".
    """
    ...


@rule(pointer="PtrTensor[E, R]", mask="Mask | None", returns="Tensor[E, R]")
@rule(pointer="Ptr[E]", mask="i1 | bool | None", returns="E")
def atomic_load(pointer, mask=None, sem: "LoadOrder | None" = None, scope: "Scope | None" = None):
    """Read each place whole, though others may be writing it.

    Places have 32 or 64 bits; where `mask` (i1) is false the result is undefined. `sem` is
    "acquire" (the default) or "relaxed", `scope` "gpu" (the default), "cta" or "sys".
    """
    ...


@rule(pointer="PtrTensor[F, R]", val="Tensor[F, R] | F | float", mask="Mask | None")
@rule(pointer="PtrTensor[N, R]", val="Tensor[N, R] | N | int", mask="Mask | None")
@rule(pointer="Ptr[F]", val="F | float", mask="i1 | bool | None")
@rule(pointer="Ptr[N]", val="N | int", mask="i1 | bool | None")
def atomic_store(
    pointer, val, mask=None, sem: "StoreOrder | None" = None, scope: "Scope | None" = None
):
    """Write `val` to each place whole, though others may be reading it.

    Places have 32 or 64 bits; where `mask` (i1) is false nothing is written. `sem` is "release"
    (the default) or "relaxed", `scope` "gpu" (the default), "cta" or "sys".
    """
    ...


@rule(returns="i64")
def _timer():
    """A clock in nanoseconds; on a CPU in ticks of its counter."""
    ...


def _is_lacking(found):
    """Whether one of the places, or the place, has not been found."""
    if len(found.shape) == 0:
        return found == 0
    return reduce_or(~found, None)


@rule(
    pointer="PtrTensor[I, R]",
    expected_value="Tensor[I, R] | I | int",
    timeout_ns="Int | int | None",
    returns="Tensor[i1, R]",
)
@rule(pointer="Ptr[I]", expected_value="I | int", timeout_ns="Int | int | None", returns="i1")
def atomic_poll(
    pointer,
    expected_value,
    sem: "LoadOrder | None" = None,
    scope: "Scope | None" = None,
    timeout_ns=None,
):
    """Wait until each place holds `expected_value`; the result says where it did.

    Places are i32, u32, i64 or u64. `sem` and `scope` are those of `atomic_load`. The waiting ends
    after `timeout_ns` nanoseconds, where they are given (on a CPU: ticks of its counter), and the
    result is false where the value has not come. Without them it may wait for ever: what it waits
    for must come from a program that runs, or has run.
    """
    static_assert(elem(pointer).is_int(), "atomic_poll takes integers")
    found = atomic_load(pointer, None, sem, scope) == expected_value
    if timeout_ns is None:
        while _is_lacking(found):
            found = found | (atomic_load(pointer, None, sem, scope) == expected_value)
    else:
        start = _timer()
        while _is_lacking(found) & (_timer() - start < timeout_ns):
            found = found | (atomic_load(pointer, None, sem, scope) == expected_value)
    return found
