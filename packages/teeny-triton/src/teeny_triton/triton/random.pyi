"""Random numbers: Philox 4x32 and 4x64, the same bits as Triton's for a seed and an offset.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Any, overload

from teeny_triton.triton.dtypes import I, Int, i32, i64, u32, u64, f32
from teeny_triton.triton.types import Tensor, R

@overload
def philox_impl(c0: Tensor[u32, R], c1: Tensor[u32, R], c2: Tensor[u32, R], c3: Tensor[u32, R], k0: u32 | Tensor[u32, Any], k1: u32 | Tensor[u32, Any], n_rounds: int = 10) -> tuple[Tensor[u32, R], Tensor[u32, R], Tensor[u32, R], Tensor[u32, R]]:
    """The rounds of Philox on the counter (c0, c1, c2, c3) and the key (k0, k1).

    All are u32 or all u64; the result is four tensors of them (Salmon et al., "Parallel random
    numbers: as easy as 1, 2, 3", 2011).
    """
@overload
def philox_impl(c0: Tensor[u64, R], c1: Tensor[u64, R], c2: Tensor[u64, R], c3: Tensor[u64, R], k0: u64 | Tensor[u64, Any], k1: u64 | Tensor[u64, Any], n_rounds: int = 10) -> tuple[Tensor[u64, R], Tensor[u64, R], Tensor[u64, R], Tensor[u64, R]]: ...

@overload
def philox(seed: Int | int, c0: Tensor[u32, R] | Tensor[i32, R], c1: Tensor[u32, R] | Tensor[i32, R], c2: Tensor[u32, R] | Tensor[i32, R], c3: Tensor[u32, R] | Tensor[i32, R], n_rounds: int = 10) -> tuple[Tensor[u32, R], Tensor[u32, R], Tensor[u32, R], Tensor[u32, R]]:
    """Four tensors of random bits for the counter (c0, c1, c2, c3), which has 32 or 64 bits each.

    The result is u32 or u64. `seed` is an integer, of which 64 bits count.
    """
@overload
def philox(seed: Int | int, c0: Tensor[u64, R] | Tensor[i64, R], c1: Tensor[u64, R] | Tensor[i64, R], c2: Tensor[u64, R] | Tensor[i64, R], c3: Tensor[u64, R] | Tensor[i64, R], n_rounds: int = 10) -> tuple[Tensor[u64, R], Tensor[u64, R], Tensor[u64, R], Tensor[u64, R]]: ...

@overload
def randint(seed: Int | int, offset: Tensor[I, R], n_rounds: int = 10) -> Tensor[u32, R]:
    """A random u32 for each offset; `randint4x` gives four for the price of one."""
@overload
def randint(seed: Int | int, offset: Int | int, n_rounds: int = 10) -> u32: ...

@overload
def randint4x(seed: Int | int, offset: Tensor[I, R], n_rounds: int = 10) -> tuple[Tensor[u32, R], Tensor[u32, R], Tensor[u32, R], Tensor[u32, R]]:
    """Four random u32 for each offset.

    Offsets below 2**31 give the same numbers whether they are held in 32 or in 64 bits.
    """
@overload
def randint4x(seed: Int | int, offset: Int | int, n_rounds: int = 10) -> tuple[u32, u32, u32, u32]: ...

@overload
def uint_to_uniform_float(x: Tensor[I, R]) -> Tensor[f32, R]:
    """An f32 in [0, 1) from 32 or 64 random bits."""
@overload
def uint_to_uniform_float(x: Int | int) -> f32: ...

@overload
def rand(seed: Int | int, offset: Tensor[I, R], n_rounds: int = 10) -> Tensor[f32, R]:
    """A random f32, uniform in [0, 1), for each offset."""
@overload
def rand(seed: Int | int, offset: Int | int, n_rounds: int = 10) -> f32: ...

@overload
def rand4x(seed: Int | int, offsets: Tensor[I, R], n_rounds: int = 10) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    """Four random f32, uniform in [0, 1), for each offset."""
@overload
def rand4x(seed: Int | int, offsets: Int | int, n_rounds: int = 10) -> tuple[f32, f32, f32, f32]: ...

@overload
def pair_uniform_to_normal(u1: Tensor[f32, R], u2: Tensor[f32, R]) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    """Two normally distributed f32 from two uniform ones (Box and Muller)."""
@overload
def pair_uniform_to_normal(u1: f32, u2: f32) -> tuple[f32, f32]: ...

@overload
def randn(seed: Int | int, offset: Tensor[I, R], n_rounds: int = 10) -> Tensor[f32, R]:
    """A random f32, normally distributed, for each offset."""
@overload
def randn(seed: Int | int, offset: Int | int, n_rounds: int = 10) -> f32: ...

@overload
def randn4x(seed: Int | int, offset: Tensor[I, R], n_rounds: int = 10) -> tuple[Tensor[f32, R], Tensor[f32, R], Tensor[f32, R], Tensor[f32, R]]:
    """Four random f32, normally distributed, for each offset."""
@overload
def randn4x(seed: Int | int, offset: Int | int, n_rounds: int = 10) -> tuple[f32, f32, f32, f32]: ...
