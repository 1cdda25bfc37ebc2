"""Running sums and products along an axis."""

from teeny_triton.rules import rule


def _multiply(a, b):
    return a * b


def _scan_dtype(own, wanted):
    return f32 if own == bf16 and wanted is None else _sum_dtype(own, wanted)


@rule(input="Tensor[i1, R]", dtype="None", returns="Tensor[u32, R]")
@rule(input="Tensor[i8, R]", dtype="None", returns="Tensor[i32, R]")
@rule(input="Tensor[i16, R]", dtype="None", returns="Tensor[i32, R]")
@rule(input="Tensor[u8, R]", dtype="None", returns="Tensor[u32, R]")
@rule(input="Tensor[u16, R]", dtype="None", returns="Tensor[u32, R]")
@rule(input="Tensor[bf16, R]", dtype="None", returns="Tensor[f32, R]")
@rule(input="Tensor[N, R]", dtype="None", returns="Tensor[N, R]")
@rule(input="Tensor[Any, R]", dtype="type[X]", returns="Tensor[X, R]")
def cumsum(input, axis: int = 0, reverse: bool = False, dtype=None):
    """Each element plus all before it along `axis`, or, with `reverse`, all after it.

    i8 and i16 are summed as i32, i1, u8 and u16 as u32, bf16 as f32, or all as `dtype`.
    """
    return associative_scan(input.to(_scan_dtype(input.dtype, dtype)), axis, _add, reverse)


@rule(input="Tensor[i1, R]", dtype="None", returns="Tensor[u32, R]")
@rule(input="Tensor[i8, R]", dtype="None", returns="Tensor[i32, R]")
@rule(input="Tensor[i16, R]", dtype="None", returns="Tensor[i32, R]")
@rule(input="Tensor[u8, R]", dtype="None", returns="Tensor[u32, R]")
@rule(input="Tensor[u16, R]", dtype="None", returns="Tensor[u32, R]")
@rule(input="Tensor[bf16, R]", dtype="None", returns="Tensor[f32, R]")
@rule(input="Tensor[N, R]", dtype="None", returns="Tensor[N, R]")
@rule(input="Tensor[Any, R]", dtype="type[X]", returns="Tensor[X, R]")
def cumprod(input, axis: int = 0, reverse: bool = False, dtype=None):
    """Each element times all before it along `axis`, or, with `reverse`, all after it.

    i8 and i16 are multiplied as i32, i1, u8 and u16 as u32, bf16 as f32, or all as `dtype`.
    """
    return associative_scan(input.to(_scan_dtype(input.dtype, dtype)), axis, _multiply, reverse)
