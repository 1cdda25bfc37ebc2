"""CUDA's libdevice: functions of integers, and of the bits of floats.

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
def clz(arg0: Tensor[i32, R]) -> Tensor[i32, R]:
    """How many zero bits are above the highest set bit, as i32."""
@overload
def clz(arg0: i32) -> i32: ...
@overload
def clz(arg0: Tensor[i64, R]) -> Tensor[i32, R]: ...
@overload
def clz(arg0: i64) -> i32: ...

@overload
def popc(arg0: Tensor[i32, R]) -> Tensor[i32, R]:
    """How many bits are set, as i32."""
@overload
def popc(arg0: i32) -> i32: ...
@overload
def popc(arg0: Tensor[i64, R]) -> Tensor[i32, R]: ...
@overload
def popc(arg0: i64) -> i32: ...

@overload
def ffs(arg0: Tensor[i32, R]) -> Tensor[i32, R]:
    """The place of the lowest set bit, counted from 1, as i32; 0 where none is set."""
@overload
def ffs(arg0: i32) -> i32: ...
@overload
def ffs(arg0: Tensor[i64, R]) -> Tensor[i32, R]: ...
@overload
def ffs(arg0: i64) -> i32: ...

@overload
def brev(arg0: Tensor[i32, R]) -> Tensor[i32, R]:
    """The bits of each element in reverse order."""
@overload
def brev(arg0: i32) -> i32: ...
@overload
def brev(arg0: Tensor[i64, R]) -> Tensor[i64, R]: ...
@overload
def brev(arg0: i64) -> i64: ...

@overload
def byte_perm(arg0: Tensor[i32, R], arg1: Tensor[i32, R] | i32 | int, arg2: Tensor[i32, R] | i32 | int) -> Tensor[i32, R]:
    """Four bytes of the pair (arg0, arg1), chosen by the low four hexadecimal digits of arg2."""
@overload
def byte_perm(arg0: i32, arg1: i32 | int, arg2: i32 | int) -> i32: ...

@overload
def mulhi(arg0: Tensor[i32, R], arg1: Tensor[i32, R] | i32 | int) -> Tensor[i32, R]:
    """The upper half of the product of two 32-bit or two 64-bit integers."""
@overload
def mulhi(arg0: i32, arg1: i32 | int) -> i32: ...
@overload
def mulhi(arg0: Tensor[u32, R], arg1: Tensor[u32, R] | u32 | int) -> Tensor[u32, R]: ...
@overload
def mulhi(arg0: u32, arg1: u32 | int) -> u32: ...
@overload
def mulhi(arg0: Tensor[i64, R], arg1: Tensor[i64, R] | i64 | int) -> Tensor[i64, R]: ...
@overload
def mulhi(arg0: i64, arg1: i64 | int) -> i64: ...
@overload
def mulhi(arg0: Tensor[u64, R], arg1: Tensor[u64, R] | u64 | int) -> Tensor[u64, R]: ...
@overload
def mulhi(arg0: u64, arg1: u64 | int) -> u64: ...

@overload
def mul24(arg0: Tensor[i32, R], arg1: Tensor[i32, R] | i32 | int) -> Tensor[i32, R]:
    """The low 32 bits of the product of the low 24 bits of both."""
@overload
def mul24(arg0: i32, arg1: i32 | int) -> i32: ...
@overload
def mul24(arg0: Tensor[u32, R], arg1: Tensor[u32, R] | u32 | int) -> Tensor[u32, R]: ...
@overload
def mul24(arg0: u32, arg1: u32 | int) -> u32: ...

@overload
def sad(arg0: Tensor[i32, R], arg1: Tensor[i32, R] | i32 | int, arg2: Tensor[u32, R] | u32 | int) -> Tensor[i32, R]:
    """abs(arg0 - arg1) + arg2."""
@overload
def sad(arg0: i32, arg1: i32 | int, arg2: u32 | int) -> i32: ...
@overload
def sad(arg0: Tensor[u32, R], arg1: Tensor[u32, R] | u32 | int, arg2: Tensor[u32, R] | u32 | int) -> Tensor[u32, R]: ...
@overload
def sad(arg0: u32, arg1: u32 | int, arg2: u32 | int) -> u32: ...

@overload
def hadd(arg0: Tensor[i32, R], arg1: Tensor[i32, R] | i32 | int) -> Tensor[i32, R]:
    """The mean of two integers, rounded down, without overflow on the way."""
@overload
def hadd(arg0: i32, arg1: i32 | int) -> i32: ...
@overload
def hadd(arg0: Tensor[u32, R], arg1: Tensor[u32, R] | u32 | int) -> Tensor[u32, R]: ...
@overload
def hadd(arg0: u32, arg1: u32 | int) -> u32: ...

@overload
def rhadd(arg0: Tensor[i32, R], arg1: Tensor[i32, R] | i32 | int) -> Tensor[i32, R]:
    """The mean of two integers, rounded up, without overflow on the way."""
@overload
def rhadd(arg0: i32, arg1: i32 | int) -> i32: ...
@overload
def rhadd(arg0: Tensor[u32, R], arg1: Tensor[u32, R] | u32 | int) -> Tensor[u32, R]: ...
@overload
def rhadd(arg0: u32, arg1: u32 | int) -> u32: ...

@overload
def hiloint2double(arg0: Tensor[i32, R], arg1: Tensor[i32, R] | i32 | int) -> Tensor[f64, R]:
    """The f64 whose high and low 32 bits are arg0 and arg1."""
@overload
def hiloint2double(arg0: i32, arg1: i32 | int) -> f64: ...

@overload
def double2loint(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """The low 32 bits of each f64."""
@overload
def double2loint(arg0: f64) -> i32: ...

@overload
def double2hiint(arg0: Tensor[f64, R]) -> Tensor[i32, R]:
    """The high 32 bits of each f64."""
@overload
def double2hiint(arg0: f64) -> i32: ...

@overload
def int_as_float(arg0: Tensor[i32, R]) -> Tensor[f32, R]:
    """The f32 of the same bits."""
@overload
def int_as_float(arg0: i32) -> f32: ...

@overload
def float_as_int(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """The i32 of the same bits."""
@overload
def float_as_int(arg0: f32) -> i32: ...

@overload
def uint_as_float(arg0: Tensor[u32, R]) -> Tensor[f32, R]:
    """The f32 of the same bits."""
@overload
def uint_as_float(arg0: u32) -> f32: ...

@overload
def float_as_uint(arg0: Tensor[f32, R]) -> Tensor[i32, R]:
    """The bits of each f32, held in an i32."""
@overload
def float_as_uint(arg0: f32) -> i32: ...

@overload
def longlong_as_double(arg0: Tensor[i64, R]) -> Tensor[f64, R]:
    """The f64 of the same bits."""
@overload
def longlong_as_double(arg0: i64) -> f64: ...

@overload
def double_as_longlong(arg0: Tensor[f64, R]) -> Tensor[i64, R]:
    """The i64 of the same bits."""
@overload
def double_as_longlong(arg0: f64) -> i64: ...
