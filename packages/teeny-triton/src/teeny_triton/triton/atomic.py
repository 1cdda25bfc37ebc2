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
