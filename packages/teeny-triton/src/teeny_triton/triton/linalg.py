"""Products of matrices."""

from teeny_triton.rules import rule
from teeny_triton.triton.dtypes import f32


@rule(
    k=(2, 3),
    input="Tensor[f8e4m3, R{k}]",
    other="Tensor[f8e5m2, R{k}]",
    acc="Tensor[f32, R{k}] | None",
    out_dtype="type[f32] | None",
    returns="Tensor[f32, R{k}]",
)
@rule(
    k=(2, 3),
    input="Tensor[f8e5m2, R{k}]",
    other="Tensor[f8e4m3, R{k}]",
    acc="Tensor[f32, R{k}] | None",
    out_dtype="type[f32] | None",
    returns="Tensor[f32, R{k}]",
)
@rule(
    k=(2, 3),
    input="Tensor[M, R{k}]",
    other="Tensor[M, R{k}]",
    acc="Tensor[f32, R{k}] | None",
    out_dtype="type[f32] | None",
    returns="Tensor[f32, R{k}]",
)
@rule(
    k=(2, 3),
    input="Tensor[i8, R{k}]",
    other="Tensor[i8, R{k}]",
    acc="Tensor[i32, R{k}] | None",
    out_dtype="type[i32] | None",
    returns="Tensor[i32, R{k}]",
)
@rule(
    k=(2, 3),
    input="Tensor[f64, R{k}]",
    other="Tensor[f64, R{k}]",
    acc="Tensor[f64, R{k}] | None",
    out_dtype="type[f64] | None",
    returns="Tensor[f64, R{k}]",
)
@rule(
    k=(2, 3),
    input="Tensor[f16, R{k}]",
    other="Tensor[f16, R{k}]",
    acc="Tensor[f16, R{k}] | None",
    out_dtype="type[f16]",
    returns="Tensor[f16, R{k}]",
)
def dot(
    input,
    other,
    acc=None,
    input_precision: 'Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] | None' = None,
    allow_tf32: "bool | None" = None,
    max_num_imprecise_acc: "int | None" = None,
    out_dtype=None,
):
    """The matrix product of (M, K) and (K, N), plus `acc` of (M, N).

    Sides before the last two are a batch, the same in all. Both operands have one dtype, or are two
    8-bit floats; K is at least 16, or 32 for 8-bit dtypes. The result has the dtype of `acc`, else
    `out_dtype`, else f32 (i32 for i8, f64 for f64). f32 operands are rounded to tf32 unless
    `input_precision` says "ieee", or splits them in three ("tf32x3", "bf16x3", "bf16x6").
    `max_num_imprecise_acc` is how many products of 8-bit floats Hopper may add up before they go
    to the accumulator.
    """
    ...


@rule(
    k=(2, 3),
    lhs="Tensor[Any, R{k}]",
    lhs_scale="Tensor[u8, R{k}] | Tensor[f8e4m3, R{k}] | None",
    rhs="Tensor[Any, R{k}]",
    rhs_scale="Tensor[u8, R{k}] | Tensor[f8e4m3, R{k}] | None",
    acc="Tensor[f32, R{k}] | None",
    returns="Tensor[f32, R{k}]",
)
def dot_scaled(
    lhs,
    lhs_scale,
    lhs_format: 'Literal["e2m1", "e4m3", "e5m2", "bf16", "fp16"]',
    rhs,
    rhs_scale,
    rhs_format: 'Literal["e2m1", "e4m3", "e5m2", "bf16", "fp16"]',
    acc=None,
    fast_math: bool = False,
    lhs_k_pack: bool = True,
    rhs_k_pack: bool = True,
    out_dtype: "type[f32]" = f32,
):
    """The matrix product of (M, K) and (K, N) in microscaling formats, plus `acc`, as f32.

    e2m1 holds two numbers in a u8, along K, or along the other side without `lhs_k_pack` or
    `rhs_k_pack`; the other formats are tensors of their dtype, or of their bits as u8 or u16. The
    scales of `lhs` are (M, K // 32), those of `rhs` (N, K // 32): u8 bytes that mean
    2 ** (byte - 127); or f8e4m3, one for 16 numbers. `fast_math` leaves out the handling of NaN.
    """
    ...
