"""CUDA's libdevice: arithmetic with its rounding mode in the name (rn, rz, rd, ru)."""

from teeny_triton.rules import elementwise, rule


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def add_rn(arg0, arg1):
    """The sum rounded to nearest, ties to even; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def add_rz(arg0, arg1):
    """The sum rounded towards zero; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def add_rd(arg0, arg1):
    """The sum rounded down; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def add_ru(arg0, arg1):
    """The sum rounded up; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def sub_rn(arg0, arg1):
    """The difference rounded to nearest, ties to even; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def sub_rz(arg0, arg1):
    """The difference rounded towards zero; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def sub_rd(arg0, arg1):
    """The difference rounded down; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def sub_ru(arg0, arg1):
    """The difference rounded up; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def mul_rn(arg0, arg1):
    """The product rounded to nearest, ties to even; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def mul_rz(arg0, arg1):
    """The product rounded towards zero; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def mul_rd(arg0, arg1):
    """The product rounded down; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def mul_ru(arg0, arg1):
    """The product rounded up; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def div_rz(arg0, arg1):
    """The quotient rounded towards zero; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def div_rd(arg0, arg1):
    """The quotient rounded down; never fused; f32 or f64."""
    ...


@rule(arg0="Tensor[F, R]", arg1="Tensor[F, R] | F | float", returns="Tensor[F, R]")
@rule(arg0="F", arg1="F | float", returns="F")
def div_ru(arg0, arg1):
    """The quotient rounded up; never fused; f32 or f64."""
    ...


@elementwise("F")
def rcp_rn(arg0):
    """The reciprocal rounded to nearest, ties to even; never fused; f32 or f64."""
    ...


@elementwise("F")
def rcp_rz(arg0):
    """The reciprocal rounded towards zero; never fused; f32 or f64."""
    ...


@elementwise("F")
def rcp_rd(arg0):
    """The reciprocal rounded down; never fused; f32 or f64."""
    ...


@elementwise("F")
def rcp_ru(arg0):
    """The reciprocal rounded up; never fused; f32 or f64."""
    ...


@elementwise("F")
def sqrt_rz(arg0):
    """The square root rounded towards zero; never fused; f32 or f64."""
    ...


@elementwise("F")
def sqrt_rd(arg0):
    """The square root rounded down; never fused; f32 or f64."""
    ...


@elementwise("F")
def sqrt_ru(arg0):
    """The square root rounded up; never fused; f32 or f64."""
    ...


@rule(
    arg0="Tensor[F, R]",
    arg1="Tensor[F, R] | F | float",
    arg2="Tensor[F, R] | F | float",
    returns="Tensor[F, R]",
)
@rule(arg0="F", arg1="F | float", arg2="F | float", returns="F")
def fma_rn(arg0, arg1, arg2):
    """arg0 * arg1 + arg2, rounded once, to nearest, ties to even; f32 or f64."""
    ...


@rule(
    arg0="Tensor[F, R]",
    arg1="Tensor[F, R] | F | float",
    arg2="Tensor[F, R] | F | float",
    returns="Tensor[F, R]",
)
@rule(arg0="F", arg1="F | float", arg2="F | float", returns="F")
def fma_rz(arg0, arg1, arg2):
    """arg0 * arg1 + arg2, rounded once, towards zero; f32 or f64."""
    ...


@rule(
    arg0="Tensor[F, R]",
    arg1="Tensor[F, R] | F | float",
    arg2="Tensor[F, R] | F | float",
    returns="Tensor[F, R]",
)
@rule(arg0="F", arg1="F | float", arg2="F | float", returns="F")
def fma_rd(arg0, arg1, arg2):
    """arg0 * arg1 + arg2, rounded once, down; f32 or f64."""
    ...


@rule(
    arg0="Tensor[F, R]",
    arg1="Tensor[F, R] | F | float",
    arg2="Tensor[F, R] | F | float",
    returns="Tensor[F, R]",
)
@rule(arg0="F", arg1="F | float", arg2="F | float", returns="F")
def fma_ru(arg0, arg1, arg2):
    """arg0 * arg1 + arg2, rounded once, up; f32 or f64."""
    ...


@rule(arg0="Tensor[f32, R]", returns="Tensor[f32, R]")
@rule(arg0="f32", returns="f32")
def rsqrt_rn(arg0):
    """1 / sqrt of each element, rounded to nearest, ties to even."""
    ...
