"""CUDA's libdevice: conversions with their rounding mode in the name (rn, rz, rd, ru).

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import overload

from teeny_triton.triton.dtypes import i32, i64, u32, u64, f32, f64
from teeny_triton.triton.types import Tensor, R

@overload
def double2float_rn(arg0: Tensor[f64, R]) -> Tensor[f32, R]:
    """Each element as f32, rounded to nearest, ties to even."""
@overload
def double2float_rn(arg0: f64) -> f32: ...

@overload
def double2float_rz(arg0: Tensor[f64, R]) -> Tensor[f32, R]:
    """Each element as f32, rounded towards zero."""
@overload
def double2float_rz(arg0: f64) -> f32: ...

@overload
def double2float_rd(arg0: Tensor[f64, R]) -> Tensor[f32, R]:
    """Each element as f32, rounded down."""
@overload
def double2float_rd(arg0: f64) -> f32: ...

@overload
def double2float_ru(arg0: Tensor[f64, R]) -> Tensor[f32, R]:
    """Each element as f32, rounded up."""
@overload
def double2float_ru(arg0: f64) -> f32: ...

@overload
def float2int_rn(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """Each f32 as i32, rounded to nearest, ties to even, or the nearest that fits."""
@overload
def float2int_rn(arg0: f32) -> i32: ...

@overload
def float2int_rz(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """Each f32 as i32, rounded towards zero, or the nearest that fits."""
@overload
def float2int_rz(arg0: f32) -> i32: ...

@overload
def float2int_rd(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """Each f32 as i32, rounded down, or the nearest that fits."""
@overload
def float2int_rd(arg0: f32) -> i32: ...

@overload
def float2int_ru(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """Each f32 as i32, rounded up, or the nearest that fits."""
@overload
def float2int_ru(arg0: f32) -> i32: ...

@overload
def float2uint_rn(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """Each f32 as u32 (in an i32), rounded to nearest, ties to even, or the nearest that fits."""
@overload
def float2uint_rn(arg0: f32) -> i32: ...

@overload
def float2uint_rz(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """Each f32 as u32 (in an i32), rounded towards zero, or the nearest that fits."""
@overload
def float2uint_rz(arg0: f32) -> i32: ...

@overload
def float2uint_rd(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """Each f32 as u32 (in an i32), rounded down, or the nearest that fits."""
@overload
def float2uint_rd(arg0: f32) -> i32: ...

@overload
def float2uint_ru(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """Each f32 as u32 (in an i32), rounded up, or the nearest that fits."""
@overload
def float2uint_ru(arg0: f32) -> i32: ...

@overload
def float2ll_rn(arg0: Tensor[f32, R]) -> Tensor[i64, R]:
    """Each f32 as i64, rounded to nearest, ties to even, or the nearest that fits."""
@overload
def float2ll_rn(arg0: f32) -> i64: ...

@overload
def float2ll_rz(arg0: Tensor[f32, R]) -> Tensor[i64, R]:
    """Each f32 as i64, rounded towards zero, or the nearest that fits."""
@overload
def float2ll_rz(arg0: f32) -> i64: ...

@overload
def float2ll_rd(arg0: Tensor[f32, R]) -> Tensor[i64, R]:
    """Each f32 as i64, rounded down, or the nearest that fits."""
@overload
def float2ll_rd(arg0: f32) -> i64: ...

@overload
def float2ll_ru(arg0: Tensor[f32, R]) -> Tensor[i64, R]:
    """Each f32 as i64, rounded up, or the nearest that fits."""
@overload
def float2ll_ru(arg0: f32) -> i64: ...

@overload
def float2ull_rn(arg0: Tensor[f32, R]) -> Tensor[i64, R]:
    """Each f32 as u64 (in an i64), rounded to nearest, ties to even, or the nearest that fits."""
@overload
def float2ull_rn(arg0: f32) -> i64: ...

@overload
def float2ull_rz(arg0: Tensor[f32, R]) -> Tensor[i64, R]:
    """Each f32 as u64 (in an i64), rounded towards zero, or the nearest that fits."""
@overload
def float2ull_rz(arg0: f32) -> i64: ...

@overload
def float2ull_rd(arg0: Tensor[f32, R]) -> Tensor[i64, R]:
    """Each f32 as u64 (in an i64), rounded down, or the nearest that fits."""
@overload
def float2ull_rd(arg0: f32) -> i64: ...

@overload
def float2ull_ru(arg0: Tensor[f32, R]) -> Tensor[i64, R]:
    """Each f32 as u64 (in an i64), rounded up, or the nearest that fits."""
@overload
def float2ull_ru(arg0: f32) -> i64: ...

@overload
def double2int_rn(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """Each f64 as i32, rounded to nearest, ties to even, or the nearest that fits."""
@overload
def double2int_rn(arg0: f64) -> i32: ...

@overload
def double2int_rz(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """Each f64 as i32, rounded towards zero, or the nearest that fits."""
@overload
def double2int_rz(arg0: f64) -> i32: ...

@overload
def double2int_rd(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """Each f64 as i32, rounded down, or the nearest that fits."""
@overload
def double2int_rd(arg0: f64) -> i32: ...

@overload
def double2int_ru(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """Each f64 as i32, rounded up, or the nearest that fits."""
@overload
def double2int_ru(arg0: f64) -> i32: ...

@overload
def double2uint_rn(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """Each f64 as u32 (in an i32), rounded to nearest, ties to even, or the nearest that fits."""
@overload
def double2uint_rn(arg0: f64) -> i32: ...

@overload
def double2uint_rz(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """Each f64 as u32 (in an i32), rounded towards zero, or the nearest that fits."""
@overload
def double2uint_rz(arg0: f64) -> i32: ...

@overload
def double2uint_rd(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """Each f64 as u32 (in an i32), rounded down, or the nearest that fits."""
@overload
def double2uint_rd(arg0: f64) -> i32: ...

@overload
def double2uint_ru(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """Each f64 as u32 (in an i32), rounded up, or the nearest that fits."""
@overload
def double2uint_ru(arg0: f64) -> i32: ...

@overload
def double2ll_rn(arg0: Tensor[f64, R]) -> Tensor[i64, R]:
    """Each f64 as i64, rounded to nearest, ties to even, or the nearest that fits."""
@overload
def double2ll_rn(arg0: f64) -> i64: ...

@overload
def double2ll_rz(arg0: Tensor[f64, R]) -> Tensor[i64, R]:
    """Each f64 as i64, rounded towards zero, or the nearest that fits."""
@overload
def double2ll_rz(arg0: f64) -> i64: ...

@overload
def double2ll_rd(arg0: Tensor[f64, R]) -> Tensor[i64, R]:
    """Each f64 as i64, rounded down, or the nearest that fits."""
@overload
def double2ll_rd(arg0: f64) -> i64: ...

@overload
def double2ll_ru(arg0: Tensor[f64, R]) -> Tensor[i64, R]:
    """Each f64 as i64, rounded up, or the nearest that fits."""
@overload
def double2ll_ru(arg0: f64) -> i64: ...

@overload
def double2ull_rn(arg0: Tensor[f64, R]) -> Tensor[i64, R]:
    """Each f64 as u64 (in an i64), rounded to nearest, ties to even, or the nearest that fits."""
@overload
def double2ull_rn(arg0: f64) -> i64: ...

@overload
def double2ull_rz(arg0: Tensor[f64, R]) -> Tensor[i64, R]:
    """Each f64 as u64 (in an i64), rounded towards zero, or the nearest that fits."""
@overload
def double2ull_rz(arg0: f64) -> i64: ...

@overload
def double2ull_rd(arg0: Tensor[f64, R]) -> Tensor[i64, R]:
    """Each f64 as u64 (in an i64), rounded down, or the nearest that fits."""
@overload
def double2ull_rd(arg0: f64) -> i64: ...

@overload
def double2ull_ru(arg0: Tensor[f64, R]) -> Tensor[i64, R]:
    """Each f64 as u64 (in an i64), rounded up, or the nearest that fits."""
@overload
def double2ull_ru(arg0: f64) -> i64: ...

@overload
def int2float_rn(arg0: Tensor[i32, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded to nearest, ties to even."""
@overload
def int2float_rn(arg0: i32) -> f32: ...

@overload
def int2float_rz(arg0: Tensor[i32, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded towards zero."""
@overload
def int2float_rz(arg0: i32) -> f32: ...

@overload
def int2float_rd(arg0: Tensor[i32, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded down."""
@overload
def int2float_rd(arg0: i32) -> f32: ...

@overload
def int2float_ru(arg0: Tensor[i32, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded up."""
@overload
def int2float_ru(arg0: i32) -> f32: ...

@overload
def int2double_rn(arg0: Tensor[i32, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded to nearest, ties to even."""
@overload
def int2double_rn(arg0: i32) -> f64: ...

@overload
def uint2float_rn(arg0: Tensor[u32, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded to nearest, ties to even."""
@overload
def uint2float_rn(arg0: u32) -> f32: ...

@overload
def uint2float_rz(arg0: Tensor[u32, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded towards zero."""
@overload
def uint2float_rz(arg0: u32) -> f32: ...

@overload
def uint2float_rd(arg0: Tensor[u32, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded down."""
@overload
def uint2float_rd(arg0: u32) -> f32: ...

@overload
def uint2float_ru(arg0: Tensor[u32, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded up."""
@overload
def uint2float_ru(arg0: u32) -> f32: ...

@overload
def uint2double_rn(arg0: Tensor[u32, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded to nearest, ties to even."""
@overload
def uint2double_rn(arg0: u32) -> f64: ...

@overload
def ll2float_rn(arg0: Tensor[i64, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded to nearest, ties to even."""
@overload
def ll2float_rn(arg0: i64) -> f32: ...

@overload
def ll2float_rz(arg0: Tensor[i64, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded towards zero."""
@overload
def ll2float_rz(arg0: i64) -> f32: ...

@overload
def ll2float_rd(arg0: Tensor[i64, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded down."""
@overload
def ll2float_rd(arg0: i64) -> f32: ...

@overload
def ll2float_ru(arg0: Tensor[i64, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded up."""
@overload
def ll2float_ru(arg0: i64) -> f32: ...

@overload
def ll2double_rn(arg0: Tensor[i64, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded to nearest, ties to even."""
@overload
def ll2double_rn(arg0: i64) -> f64: ...

@overload
def ll2double_rz(arg0: Tensor[i64, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded towards zero."""
@overload
def ll2double_rz(arg0: i64) -> f64: ...

@overload
def ll2double_rd(arg0: Tensor[i64, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded down."""
@overload
def ll2double_rd(arg0: i64) -> f64: ...

@overload
def ll2double_ru(arg0: Tensor[i64, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded up."""
@overload
def ll2double_ru(arg0: i64) -> f64: ...

@overload
def ull2float_rn(arg0: Tensor[u64, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded to nearest, ties to even."""
@overload
def ull2float_rn(arg0: u64) -> f32: ...

@overload
def ull2float_rz(arg0: Tensor[u64, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded towards zero."""
@overload
def ull2float_rz(arg0: u64) -> f32: ...

@overload
def ull2float_rd(arg0: Tensor[u64, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded down."""
@overload
def ull2float_rd(arg0: u64) -> f32: ...

@overload
def ull2float_ru(arg0: Tensor[u64, R]) -> Tensor[f32, R]:
    """Each integer as f32, rounded up."""
@overload
def ull2float_ru(arg0: u64) -> f32: ...

@overload
def ull2double_rn(arg0: Tensor[u64, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded to nearest, ties to even."""
@overload
def ull2double_rn(arg0: u64) -> f64: ...

@overload
def ull2double_rz(arg0: Tensor[u64, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded towards zero."""
@overload
def ull2double_rz(arg0: u64) -> f64: ...

@overload
def ull2double_rd(arg0: Tensor[u64, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded down."""
@overload
def ull2double_rd(arg0: u64) -> f64: ...

@overload
def ull2double_ru(arg0: Tensor[u64, R]) -> Tensor[f64, R]:
    """Each integer as f64, rounded up."""
@overload
def ull2double_ru(arg0: u64) -> f64: ...
