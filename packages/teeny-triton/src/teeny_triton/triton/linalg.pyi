"""Products of matrices.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Any, Literal, overload

from teeny_triton.triton.dtypes import M, i8, i32, u8, f8e4m3, f8e5m2, f16, f32, f64
from teeny_triton.triton.types import R2, R3, Tensor

@overload
def dot(input: Tensor[f8e4m3, R2], other: Tensor[f8e5m2, R2], acc: Tensor[f32, R2] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[f32] | None = None) -> Tensor[f32, R2]:
    """The matrix product of (M, K) and (K, N), plus `acc` of (M, N).

    Sides before the last two are a batch, the same in all. Both operands have one dtype, or are two
    8-bit floats; K is at least 16, or 32 for 8-bit dtypes. The result has the dtype of `acc`, else
    `out_dtype`, else f32 (i32 for i8, f64 for f64). f32 operands are rounded to tf32 unless
    `input_precision` says "ieee", or splits them in three ("tf32x3", "bf16x3", "bf16x6").
    `max_num_imprecise_acc` is how many products of 8-bit floats Hopper may add up before they go
    to the accumulator.
    """
@overload
def dot(input: Tensor[f8e4m3, R3], other: Tensor[f8e5m2, R3], acc: Tensor[f32, R3] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[f32] | None = None) -> Tensor[f32, R3]: ...
@overload
def dot(input: Tensor[f8e5m2, R2], other: Tensor[f8e4m3, R2], acc: Tensor[f32, R2] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[f32] | None = None) -> Tensor[f32, R2]: ...
@overload
def dot(input: Tensor[f8e5m2, R3], other: Tensor[f8e4m3, R3], acc: Tensor[f32, R3] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[f32] | None = None) -> Tensor[f32, R3]: ...
@overload
def dot(input: Tensor[M, R2], other: Tensor[M, R2], acc: Tensor[f32, R2] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[f32] | None = None) -> Tensor[f32, R2]: ...
@overload
def dot(input: Tensor[M, R3], other: Tensor[M, R3], acc: Tensor[f32, R3] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[f32] | None = None) -> Tensor[f32, R3]: ...
@overload
def dot(input: Tensor[i8, R2], other: Tensor[i8, R2], acc: Tensor[i32, R2] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[i32] | None = None) -> Tensor[i32, R2]: ...
@overload
def dot(input: Tensor[i8, R3], other: Tensor[i8, R3], acc: Tensor[i32, R3] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[i32] | None = None) -> Tensor[i32, R3]: ...
@overload
def dot(input: Tensor[f64, R2], other: Tensor[f64, R2], acc: Tensor[f64, R2] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[f64] | None = None) -> Tensor[f64, R2]: ...
@overload
def dot(input: Tensor[f64, R3], other: Tensor[f64, R3], acc: Tensor[f64, R3] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, out_dtype: type[f64] | None = None) -> Tensor[f64, R3]: ...
@overload
def dot(input: Tensor[f16, R2], other: Tensor[f16, R2], acc: Tensor[f16, R2] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, *, out_dtype: type[f16]) -> Tensor[f16, R2]: ...
@overload
def dot(input: Tensor[f16, R3], other: Tensor[f16, R3], acc: Tensor[f16, R3] | None = None, input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None = None, allow_tf32: bool | None = None, max_num_imprecise_acc: int | None = None, *, out_dtype: type[f16]) -> Tensor[f16, R3]: ...

@overload
def dot_scaled(lhs: Tensor[Any, R2], lhs_scale: Tensor[u8, R2] | Tensor[f8e4m3, R2] | None, lhs_format: Literal["e2m1", "e4m3", "e5m2", "bf16", "fp16"], rhs: Tensor[Any, R2], rhs_scale: Tensor[u8, R2] | Tensor[f8e4m3, R2] | None, rhs_format: Literal["e2m1", "e4m3", "e5m2", "bf16", "fp16"], acc: Tensor[f32, R2] | None = None, fast_math: bool = False, lhs_k_pack: bool = True, rhs_k_pack: bool = True, out_dtype: type[f32] = f32) -> Tensor[f32, R2]:
    """The matrix product of (M, K) and (K, N) in microscaling formats, plus `acc`, as f32.

    e2m1 holds two numbers in a u8, along K, or along the other side without `lhs_k_pack` or
    `rhs_k_pack`; the other formats are tensors of their dtype, or of their bits as u8 or u16. The
    scales of `lhs` are (M, K // 32), those of `rhs` (N, K // 32): u8 bytes that mean
    2 ** (byte - 127); or f8e4m3, one for 16 numbers. `fast_math` leaves out the handling of NaN.
    """
@overload
def dot_scaled(lhs: Tensor[Any, R3], lhs_scale: Tensor[u8, R3] | Tensor[f8e4m3, R3] | None, lhs_format: Literal["e2m1", "e4m3", "e5m2", "bf16", "fp16"], rhs: Tensor[Any, R3], rhs_scale: Tensor[u8, R3] | Tensor[f8e4m3, R3] | None, rhs_format: Literal["e2m1", "e4m3", "e5m2", "bf16", "fp16"], acc: Tensor[f32, R3] | None = None, fast_math: bool = False, lhs_k_pack: bool = True, rhs_k_pack: bool = True, out_dtype: type[f32] = f32) -> Tensor[f32, R3]: ...
