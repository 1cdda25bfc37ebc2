"""CUDA's libdevice: functions of integers, and of the bits of floats."""

from teeny_triton.rules import rule


@rule(arg0="Tensor[i32, R]", returns="Tensor[i32, R]")
@rule(arg0="i32", returns="i32")
@rule(arg0="Tensor[i64, R]", returns="Tensor[i32, R]")
@rule(arg0="i64", returns="i32")
def clz(arg0):
    """How many zero bits are above the highest set bit, as i32."""
    ...


@rule(arg0="Tensor[i32, R]", returns="Tensor[i32, R]")
@rule(arg0="i32", returns="i32")
@rule(arg0="Tensor[i64, R]", returns="Tensor[i32, R]")
@rule(arg0="i64", returns="i32")
def popc(arg0):
    """How many bits are set, as i32."""
    ...


@rule(arg0="Tensor[i32, R]", returns="Tensor[i32, R]")
@rule(arg0="i32", returns="i32")
@rule(arg0="Tensor[i64, R]", returns="Tensor[i32, R]")
@rule(arg0="i64", returns="i32")
def ffs(arg0):
    """The place of the lowest set bit, counted from 1, as i32; 0 where none is set."""
    ...


@rule(arg0="Tensor[i32, R]", returns="Tensor[i32, R]")
@rule(arg0="i32", returns="i32")
@rule(arg0="Tensor[i64, R]", returns="Tensor[i64, R]")
@rule(arg0="i64", returns="i64")
def brev(arg0):
    """The bits of each element in reverse order."""
    ...


@rule(
    arg0="Tensor[i32, R]",
    arg1="Tensor[i32, R] | i32 | int",
    arg2="Tensor[i32, R] | i32 | int",
    returns="Tensor[i32, R]",
)
@rule(arg0="i32", arg1="i32 | int", arg2="i32 | int", returns="i32")
def byte_perm(arg0, arg1, arg2):
    """Four bytes of the pair (arg0, arg1), chosen by the low four hexadecimal digits of arg2."""
    ...


@rule(arg0="Tensor[i32, R]", arg1="Tensor[i32, R] | i32 | int", returns="Tensor[i32, R]")
@rule(arg0="i32", arg1="i32 | int", returns="i32")
@rule(arg0="Tensor[u32, R]", arg1="Tensor[u32, R] | u32 | int", returns="Tensor[u32, R]")
@rule(arg0="u32", arg1="u32 | int", returns="u32")
@rule(arg0="Tensor[i64, R]", arg1="Tensor[i64, R] | i64 | int", returns="Tensor[i64, R]")
@rule(arg0="i64", arg1="i64 | int", returns="i64")
@rule(arg0="Tensor[u64, R]", arg1="Tensor[u64, R] | u64 | int", returns="Tensor[u64, R]")
@rule(arg0="u64", arg1="u64 | int", returns="u64")
def mulhi(arg0, arg1):
    """The upper half of the product of two 32-bit or two 64-bit integers."""
    ...


@rule(arg0="Tensor[i32, R]", arg1="Tensor[i32, R] | i32 | int", returns="Tensor[i32, R]")
@rule(arg0="i32", arg1="i32 | int", returns="i32")
@rule(arg0="Tensor[u32, R]", arg1="Tensor[u32, R] | u32 | int", returns="Tensor[u32, R]")
@rule(arg0="u32", arg1="u32 | int", returns="u32")
def mul24(arg0, arg1):
    """The low 32 bits of the product of the low 24 bits of both."""
    ...


@rule(
    arg0="Tensor[i32, R]",
    arg1="Tensor[i32, R] | i32 | int",
    arg2="Tensor[u32, R] | u32 | int",
    returns="Tensor[i32, R]",
)
@rule(arg0="i32", arg1="i32 | int", arg2="u32 | int", returns="i32")
@rule(
    arg0="Tensor[u32, R]",
    arg1="Tensor[u32, R] | u32 | int",
    arg2="Tensor[u32, R] | u32 | int",
    returns="Tensor[u32, R]",
)
@rule(arg0="u32", arg1="u32 | int", arg2="u32 | int", returns="u32")
def sad(arg0, arg1, arg2):
    """abs(arg0 - arg1) + arg2."""
    ...


@rule(arg0="Tensor[i32, R]", arg1="Tensor[i32, R] | i32 | int", returns="Tensor[i32, R]")
@rule(arg0="i32", arg1="i32 | int", returns="i32")
@rule(arg0="Tensor[u32, R]", arg1="Tensor[u32, R] | u32 | int", returns="Tensor[u32, R]")
@rule(arg0="u32", arg1="u32 | int", returns="u32")
def hadd(arg0, arg1):
    """The mean of two integers, rounded down, without overflow on the way."""
    ...


@rule(arg0="Tensor[i32, R]", arg1="Tensor[i32, R] | i32 | int", returns="Tensor[i32, R]")
@rule(arg0="i32", arg1="i32 | int", returns="i32")
@rule(arg0="Tensor[u32, R]", arg1="Tensor[u32, R] | u32 | int", returns="Tensor[u32, R]")
@rule(arg0="u32", arg1="u32 | int", returns="u32")
def rhadd(arg0, arg1):
    """The mean of two integers, rounded up, without overflow on the way."""
    ...


@rule(arg0="Tensor[i32, R]", arg1="Tensor[i32, R] | i32 | int", returns="Tensor[f64, R]")
@rule(arg0="i32", arg1="i32 | int", returns="f64")
def hiloint2double(arg0, arg1):
    """The f64 whose high and low 32 bits are arg0 and arg1."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2loint(arg0):
    """The low 32 bits of each f64."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i32, R]")
@rule(arg0="f64", returns="i32")
def double2hiint(arg0):
    """The high 32 bits of each f64."""
    ...


@rule(arg0="Tensor[i32, R]", returns="Tensor[f32, R]")
@rule(arg0="i32", returns="f32")
def int_as_float(arg0):
    """The f32 of the same bits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float_as_int(arg0):
    """The i32 of the same bits."""
    ...


@rule(arg0="Tensor[u32, R]", returns="Tensor[f32, R]")
@rule(arg0="u32", returns="f32")
def uint_as_float(arg0):
    """The f32 of the same bits."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[i32, R]")
@rule(arg0="f32", returns="i32")
def float_as_uint(arg0):
    """The bits of each f32, held in an i32."""
    ...


@rule(arg0="Tensor[i64, R]", returns="Tensor[f64, R]")
@rule(arg0="i64", returns="f64")
def longlong_as_double(arg0):
    """The f64 of the same bits."""
    ...


@rule(arg0="Tensor[f64, R]", returns="Tensor[i64, R]")
@rule(arg0="f64", returns="i64")
def double_as_longlong(arg0):
    """The i64 of the same bits."""
    ...
