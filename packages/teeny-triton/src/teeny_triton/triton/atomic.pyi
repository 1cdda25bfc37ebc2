"""Changing memory that other programs change too.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Literal, overload

from teeny_triton.triton.dtypes import E, N, F, I, Int, i1
from teeny_triton.triton.types import Ptr, PtrTensor, Tensor, R

@overload
def atomic_add(pointer: PtrTensor[F, R], val: Tensor[F, R] | F | float, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[F, R]:
    """Add `val` to each place, atomically; the result is what was there before.

    Places are i32, u32, i64, u64, f16, bf16, f32 or f64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
@overload
def atomic_add(pointer: PtrTensor[N, R], val: Tensor[N, R] | N | int, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[N, R]: ...
@overload
def atomic_add(pointer: Ptr[F], val: F | float, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> F: ...
@overload
def atomic_add(pointer: Ptr[N], val: N | int, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> N: ...

@overload
def atomic_max(pointer: PtrTensor[F, R], val: Tensor[F, R] | F | float, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[F, R]:
    """Keep the greater of each place and `val`; the result is what was there before.

    Places are i32, u32, i64, u64, f32 or f64; floats are compared by their bits.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
@overload
def atomic_max(pointer: PtrTensor[N, R], val: Tensor[N, R] | N | int, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[N, R]: ...
@overload
def atomic_max(pointer: Ptr[F], val: F | float, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> F: ...
@overload
def atomic_max(pointer: Ptr[N], val: N | int, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> N: ...

@overload
def atomic_min(pointer: PtrTensor[F, R], val: Tensor[F, R] | F | float, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[F, R]:
    """Keep the smaller of each place and `val`; the result is what was there before.

    Places are i32, u32, i64, u64, f32 or f64; floats are compared by their bits.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
@overload
def atomic_min(pointer: PtrTensor[N, R], val: Tensor[N, R] | N | int, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[N, R]: ...
@overload
def atomic_min(pointer: Ptr[F], val: F | float, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> F: ...
@overload
def atomic_min(pointer: Ptr[N], val: N | int, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> N: ...

@overload
def atomic_and(pointer: PtrTensor[I, R], val: Tensor[I, R] | I | int, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[I, R]:
    """Keep the bits of each place that `val` has too; the result is what was there before.

    Places are i32, u32, i64 or u64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
@overload
def atomic_and(pointer: Ptr[I], val: I | int, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> I: ...

@overload
def atomic_or(pointer: PtrTensor[I, R], val: Tensor[I, R] | I | int, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[I, R]:
    """Set the bits of `val` in each place; the result is what was there before.

    Places are i32, u32, i64 or u64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
@overload
def atomic_or(pointer: Ptr[I], val: I | int, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> I: ...

@overload
def atomic_xor(pointer: PtrTensor[I, R], val: Tensor[I, R] | I | int, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[I, R]:
    """Flip the bits of `val` in each place; the result is what was there before.

    Places are i32, u32, i64 or u64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
@overload
def atomic_xor(pointer: Ptr[I], val: I | int, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> I: ...

@overload
def atomic_xchg(pointer: PtrTensor[F, R], val: Tensor[F, R] | F | float, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[F, R]:
    """Write `val` to each place; the result is what was there before.

    Places are i32, u32, i64, u64, f32 or f64.
    `mask` (i1) says which places take part. `sem` is "acq_rel" (the default), "acquire", "release"
    or "relaxed", `scope` "gpu" (the default), "cta" or "sys". Two elements at one place both count.
    """
@overload
def atomic_xchg(pointer: PtrTensor[N, R], val: Tensor[N, R] | N | int, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[N, R]: ...
@overload
def atomic_xchg(pointer: Ptr[F], val: F | float, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> F: ...
@overload
def atomic_xchg(pointer: Ptr[N], val: N | int, mask: i1 | bool | None = None, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> N: ...

@overload
def atomic_cas(pointer: PtrTensor[F, R], cmp: Tensor[F, R] | F | float, val: Tensor[F, R] | F | float, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[F, R]:
    """Write `val` to each place that holds `cmp`; the result is what was there before.

    Places have 16, 32 or 64 bits, which are compared. `sem` is "acq_rel" (the default), "acquire",
    "release" or "relaxed", `scope` "gpu" (the default), "cta" or "sys".
    """
@overload
def atomic_cas(pointer: PtrTensor[N, R], cmp: Tensor[N, R] | N | int, val: Tensor[N, R] | N | int, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[N, R]: ...
@overload
def atomic_cas(pointer: Ptr[F], cmp: F | float, val: F | float, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> F: ...
@overload
def atomic_cas(pointer: Ptr[N], cmp: N | int, val: N | int, sem: Literal['acq_rel', 'acquire', 'release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> N: ...

@overload
def atomic_load(pointer: PtrTensor[E, R], mask: Tensor[i1, R] | i1 | None = None, sem: Literal['acquire', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> Tensor[E, R]:
    """Read each place whole, though others may be writing it.

    Places have 32 or 64 bits; where `mask` (i1) is false the result is undefined. `sem` is
    "acquire" (the default) or "relaxed", `scope` "gpu" (the default), "cta" or "sys".
    """
@overload
def atomic_load(pointer: Ptr[E], mask: i1 | bool | None = None, sem: Literal['acquire', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> E: ...

@overload
def atomic_store(pointer: PtrTensor[F, R], val: Tensor[F, R] | F | float, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> None:
    """Write `val` to each place whole, though others may be reading it.

    Places have 32 or 64 bits; where `mask` (i1) is false nothing is written. `sem` is "release"
    (the default) or "relaxed", `scope` "gpu" (the default), "cta" or "sys".
    """
@overload
def atomic_store(pointer: PtrTensor[N, R], val: Tensor[N, R] | N | int, mask: Tensor[i1, R] | i1 | None = None, sem: Literal['release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> None: ...
@overload
def atomic_store(pointer: Ptr[F], val: F | float, mask: i1 | bool | None = None, sem: Literal['release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> None: ...
@overload
def atomic_store(pointer: Ptr[N], val: N | int, mask: i1 | bool | None = None, sem: Literal['release', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None) -> None: ...

@overload
def atomic_poll(pointer: PtrTensor[I, R], expected_value: Tensor[I, R] | I | int, sem: Literal['acquire', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None, timeout_ns: Int | int | None = None) -> Tensor[i1, R]:
    """Wait until each place holds `expected_value`; the result says where it did.

    Places are i32, u32, i64 or u64. `sem` and `scope` are those of `atomic_load`. The waiting ends
    after `timeout_ns` nanoseconds, where they are given (on a CPU: ticks of its counter), and the
    result is false where the value has not come. Without them it may wait for ever: what it waits
    for must come from a program that runs, or has run.
    """
@overload
def atomic_poll(pointer: Ptr[I], expected_value: I | int, sem: Literal['acquire', 'relaxed'] | None = None, scope: Literal['gpu', 'cta', 'sys'] | None = None, timeout_ns: Int | int | None = None) -> i1: ...
