"""CUDA's libdevice: arithmetic with its rounding mode in the name (rn, rz, rd, ru)."""

from teeny_triton.rules import elementwise, rule


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def add_rn(arg0, arg1):
    """The sum rounded to nearest, ties to even; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def add_rz(arg0, arg1):
    """The sum rounded towards zero; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def add_rd(arg0, arg1):
    """The sum rounded down; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def add_ru(arg0, arg1):
    """The sum rounded up; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def sub_rn(arg0, arg1):
    """The difference rounded to nearest, ties to even; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def sub_rz(arg0, arg1):
    """The difference rounded towards zero; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def sub_rd(arg0, arg1):
    """The difference rounded down; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def sub_ru(arg0, arg1):
    """The difference rounded up; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def mul_rn(arg0, arg1):
    """The product rounded to nearest, ties to even; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def mul_rz(arg0, arg1):
    """The product rounded towards zero; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def mul_rd(arg0, arg1):
    """The product rounded down; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def mul_ru(arg0, arg1):
    """The product rounded up; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def div_rz(arg0, arg1):
    """The quotient rounded towards zero; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def div_rd(arg0, arg1):
    """The quotient rounded down; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[W, R]", arg1="Tensor[W, R] | W | float", returns="Tensor[W, R]")
@rule(arg0="W", arg1="W | float", returns="W")
def div_ru(arg0, arg1):
    """The quotient rounded up; never fused; f32 or f64."""
    ...


@elementwise("W")
def rcp_rn(arg0):
    """The reciprocal rounded to nearest, ties to even; never fused; f32 or f64."""
    ...


@elementwise("W")
def rcp_rz(arg0):
    """The reciprocal rounded towards zero; never fused; f32 or f64."""
    ...


@elementwise("W")
def rcp_rd(arg0):
    """The reciprocal rounded down; never fused; f32 or f64."""
    ...


@elementwise("W")
def rcp_ru(arg0):
    """The reciprocal rounded up; never fused; f32 or f64."""
    ...


@elementwise("W")
def sqrt_rz(arg0):
    """The square root rounded towards zero; never fused; f32 or f64."""
    ...


@elementwise("W")
def sqrt_rd(arg0):
    """The square root rounded down; never fused; f32 or f64."""
    ...


@elementwise("W")
def sqrt_ru(arg0):
    """The square root rounded up; never fused; f32 or f64."""
    ...


@rule(
    arg0="Tensor[W, R]",
    arg1="Tensor[W, R] | W | float",
    arg2="Tensor[W, R] | W | float",
    returns="Tensor[W, R]",
)
@rule(arg0="W", arg1="W | float", arg2="W | float", returns="W")
def fma_rn(arg0, arg1, arg2):
    """arg0 * arg1 + arg2, rounded once, to nearest, ties to even; f32 or f64."""
    ...


@rule(
    arg0="Tensor[W, R]",
    arg1="Tensor[W, R] | W | float",
    arg2="Tensor[W, R] | W | float",
    returns="Tensor[W, R]",
)
@rule(arg0="W", arg1="W | float", arg2="W | float", returns="W")
def fma_rz(arg0, arg1, arg2):
    """arg0 * arg1 + arg2, rounded once, towards zero; f32 or f64."""
    ...


@rule(
    arg0="Tensor[W, R]",
    arg1="Tensor[W, R] | W | float",
    arg2="Tensor[W, R] | W | float",
    returns="Tensor[W, R]",
)
@rule(arg0="W", arg1="W | float", arg2="W | float", returns="W")
def fma_rd(arg0, arg1, arg2):
    """arg0 * arg1 + arg2, rounded once, down; f32 or f64."""
    ...


@rule(
    arg0="Tensor[W, R]",
    arg1="Tensor[W, R] | W | float",
    arg2="Tensor[W, R] | W | float",
    returns="Tensor[W, R]",
)
@rule(arg0="W", arg1="W | float", arg2="W | float", returns="W")
def fma_ru(arg0, arg1, arg2):
    """arg0 * arg1 + arg2, rounded once, up; f32 or f64."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def rsqrt_rn(arg0):
    """1 / sqrt of each element, rounded to nearest, ties to even."""
    ...
