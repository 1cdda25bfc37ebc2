"""CUDA's libdevice: conversions with their rounding mode in the name (rn, rz, rd, ru)."""

from teeny_triton.rules import rule


@rule(arg0="Tensor[f64, R]", returns="Tensor[f32, R]")
@rule(arg0="f64", returns="f32")
def double2float_rn(arg0):
    """Each element as f32, rounded to nearest, ties to even."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[f32, R]")
@rule(arg0="f64", returns="f32")
def double2float_rz(arg0):
    """Each element as f32, rounded towards zero."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[f32, R]")
@rule(arg0="f64", returns="f32")
def double2float_rd(arg0):
    """Each element as f32, rounded down."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[f32, R]")
@rule(arg0="f64", returns="f32")
def double2float_ru(arg0):
    """Each element as f32, rounded up."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float2int_rn(arg0):
    """Each f32 as i32, rounded to nearest, ties to even, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float2int_rz(arg0):
    """Each f32 as i32, rounded towards zero, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float2int_rd(arg0):
    """Each f32 as i32, rounded down, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float2int_ru(arg0):
    """Each f32 as i32, rounded up, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float2uint_rn(arg0):
    """Each f32 as u32 (in an i32), rounded to nearest, ties to even, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float2uint_rz(arg0):
    """Each f32 as u32 (in an i32), rounded towards zero, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float2uint_rd(arg0):
    """Each f32 as u32 (in an i32), rounded down, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float2uint_ru(arg0):
    """Each f32 as u32 (in an i32), rounded up, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i64, R]")
@rule(arg0="f32", returns="i64")
def float2ll_rn(arg0):
    """Each f32 as i64, rounded to nearest, ties to even, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i64, R]")
@rule(arg0="f32", returns="i64")
def float2ll_rz(arg0):
    """Each f32 as i64, rounded towards zero, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i64, R]")
@rule(arg0="f32", returns="i64")
def float2ll_rd(arg0):
    """Each f32 as i64, rounded down, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i64, R]")
@rule(arg0="f32", returns="i64")
def float2ll_ru(arg0):
    """Each f32 as i64, rounded up, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i64, R]")
@rule(arg0="f32", returns="i64")
def float2ull_rn(arg0):
    """Each f32 as u64 (in an i64), rounded to nearest, ties to even, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i64, R]")
@rule(arg0="f32", returns="i64")
def float2ull_rz(arg0):
    """Each f32 as u64 (in an i64), rounded towards zero, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i64, R]")
@rule(arg0="f32", returns="i64")
def float2ull_rd(arg0):
    """Each f32 as u64 (in an i64), rounded down, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i64, R]")
@rule(arg0="f32", returns="i64")
def float2ull_ru(arg0):
    """Each f32 as u64 (in an i64), rounded up, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2int_rn(arg0):
    """Each f64 as i32, rounded to nearest, ties to even, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2int_rz(arg0):
    """Each f64 as i32, rounded towards zero, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2int_rd(arg0):
    """Each f64 as i32, rounded down, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2int_ru(arg0):
    """Each f64 as i32, rounded up, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2uint_rn(arg0):
    """Each f64 as u32 (in an i32), rounded to nearest, ties to even, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2uint_rz(arg0):
    """Each f64 as u32 (in an i32), rounded towards zero, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2uint_rd(arg0):
    """Each f64 as u32 (in an i32), rounded down, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2uint_ru(arg0):
    """Each f64 as u32 (in an i32), rounded up, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i64, R]")
@rule(arg0="f64", returns="i64")
def double2ll_rn(arg0):
    """Each f64 as i64, rounded to nearest, ties to even, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i64, R]")
@rule(arg0="f64", returns="i64")
def double2ll_rz(arg0):
    """Each f64 as i64, rounded towards zero, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i64, R]")
@rule(arg0="f64", returns="i64")
def double2ll_rd(arg0):
    """Each f64 as i64, rounded down, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i64, R]")
@rule(arg0="f64", returns="i64")
def double2ll_ru(arg0):
    """Each f64 as i64, rounded up, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i64, R]")
@rule(arg0="f64", returns="i64")
def double2ull_rn(arg0):
    """Each f64 as u64 (in an i64), rounded to nearest, ties to even, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i64, R]")
@rule(arg0="f64", returns="i64")
def double2ull_rz(arg0):
    """Each f64 as u64 (in an i64), rounded towards zero, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i64, R]")
@rule(arg0="f64", returns="i64")
def double2ull_rd(arg0):
    """Each f64 as u64 (in an i64), rounded down, or the nearest that fits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i64, R]")
@rule(arg0="f64", returns="i64")
def double2ull_ru(arg0):
    """Each f64 as u64 (in an i64), rounded up, or the nearest that fits."""
    ...


@rule(arg0="Tensor[i32, R]", returns="Tensor[f32, R]")
@rule(arg0="i32", returns="f32")
def int2float_rn(arg0):
    """Each integer as f32, rounded to nearest, ties to even."""
    ...


@rule(arg0="Tensor[i32, R]", returns="Tensor[f32, R]")
@rule(arg0="i32", returns="f32")
def int2float_rz(arg0):
    """Each integer as f32, rounded towards zero."""
    ...


@rule(arg0="Tensor[i32, R]", returns="Tensor[f32, R]")
@rule(arg0="i32", returns="f32")
def int2float_rd(arg0):
    """Each integer as f32, rounded down."""
    ...


@rule(arg0="Tensor[i32, R]", returns="Tensor[f32, R]")
@rule(arg0="i32", returns="f32")
def int2float_ru(arg0):
    """Each integer as f32, rounded up."""
    ...


@rule(arg0="Tensor[i32, R]", returns="Tensor[f64, R]")
@rule(arg0="i32", returns="f64")
def int2double_rn(arg0):
    """Each integer as f64, rounded to nearest, ties to even."""
    ...


@rule(arg0="Tensor[u32, R]", returns="Tensor[f32, R]")
@rule(arg0="u32", returns="f32")
def uint2float_rn(arg0):
    """Each integer as f32, rounded to nearest, ties to even."""
    ...


@rule(arg0="Tensor[u32, R]", returns="Tensor[f32, R]")
@rule(arg0="u32", returns="f32")
def uint2float_rz(arg0):
    """Each integer as f32, rounded towards zero."""
    ...


@rule(arg0="Tensor[u32, R]", returns="Tensor[f32, R]")
@rule(arg0="u32", returns="f32")
def uint2float_rd(arg0):
    """Each integer as f32, rounded down."""
    ...


@rule(arg0="Tensor[u32, R]", returns="Tensor[f32, R]")
@rule(arg0="u32", returns="f32")
def uint2float_ru(arg0):
    """Each integer as f32, rounded up."""
    ...


@rule(arg0="Tensor[u32, R]", returns="Tensor[f64, R]")
@rule(arg0="u32", returns="f64")
def uint2double_rn(arg0):
    """Each integer as f64, rounded to nearest, ties to even."""
    ...


@rule(arg0="Tensor[i64, R]", returns="Tensor[f32, R]")
@rule(arg0="i64", returns="f32")
def ll2float_rn(arg0):
    """Each integer as f32, rounded to nearest, ties to even."""
    ...


@rule(arg0="Tensor[i64, R]", returns="Tensor[f32, R]")
@rule(arg0="i64", returns="f32")
def ll2float_rz(arg0):
    """Each integer as f32, rounded towards zero."""
    ...


@rule(arg0="Tensor[i64, R]", returns="Tensor[f32, R]")
@rule(arg0="i64", returns="f32")
def ll2float_rd(arg0):
    """Each integer as f32, rounded down."""
    ...


@rule(arg0="Tensor[i64, R]", returns="Tensor[f32, R]")
@rule(arg0="i64", returns="f32")
def ll2float_ru(arg0):
    """Each integer as f32, rounded up."""
    ...


@rule(arg0="Tensor[i64, R]", returns="Tensor[f64, R]")
@rule(arg0="i64", returns="f64")
def ll2double_rn(arg0):
    """Each integer as f64, rounded to nearest, ties to even."""
    ...


@rule(arg0="Tensor[i64, R]", returns="Tensor[f64, R]")
@rule(arg0="i64", returns="f64")
def ll2double_rz(arg0):
    """Each integer as f64, rounded towards zero."""
    ...


@rule(arg0="Tensor[i64, R]", returns="Tensor[f64, R]")
@rule(arg0="i64", returns="f64")
def ll2double_rd(arg0):
    """Each integer as f64, rounded down."""
    ...


@rule(arg0="Tensor[i64, R]", returns="Tensor[f64, R]")
@rule(arg0="i64", returns="f64")
def ll2double_ru(arg0):
    """Each integer as f64, rounded up."""
    ...


@rule(arg0="Tensor[u64, R]", returns="Tensor[f32, R]")
@rule(arg0="u64", returns="f32")
def ull2float_rn(arg0):
    """Each integer as f32, rounded to nearest, ties to even."""
    ...


@rule(arg0="Tensor[u64, R]", returns="Tensor[f32, R]")
@rule(arg0="u64", returns="f32")
def ull2float_rz(arg0):
    """Each integer as f32, rounded towards zero."""
    ...


@rule(arg0="Tensor[u64, R]", returns="Tensor[f32, R]")
@rule(arg0="u64", returns="f32")
def ull2float_rd(arg0):
    """Each integer as f32, rounded down."""
    ...


@rule(arg0="Tensor[u64, R]", returns="Tensor[f32, R]")
@rule(arg0="u64", returns="f32")
def ull2float_ru(arg0):
    """Each integer as f32, rounded up."""
    ...


@rule(arg0="Tensor[u64, R]", returns="Tensor[f64, R]")
@rule(arg0="u64", returns="f64")
def ull2double_rn(arg0):
    """Each integer as f64, rounded to nearest, ties to even."""
    ...


@rule(arg0="Tensor[u64, R]", returns="Tensor[f64, R]")
@rule(arg0="u64", returns="f64")
def ull2double_rz(arg0):
    """Each integer as f64, rounded towards zero."""
    ...


@rule(arg0="Tensor[u64, R]", returns="Tensor[f64, R]")
@rule(arg0="u64", returns="f64")
def ull2double_rd(arg0):
    """Each integer as f64, rounded down."""
    ...


@rule(arg0="Tensor[u64, R]", returns="Tensor[f64, R]")
@rule(arg0="u64", returns="f64")
def ull2double_ru(arg0):
    """Each integer as f64, rounded up."""
    ...
