"""Products of matrices."""

from teeny_triton.rules import rule


@rule(
    input="Tensor[M, R2]",
    other="Tensor[M, R2]",
    acc="Tensor[f32, R2] | None",
    out_dtype="type[f32] | None",
    returns="Tensor[f32, R2]",
)
@rule(
    input="Tensor[i8, R2]",
    other="Tensor[i8, R2]",
    acc="Tensor[i32, R2] | None",
    out_dtype="type[i32] | None",
    returns="Tensor[i32, R2]",
)
@rule(
    input="Tensor[f64, R2]",
    other="Tensor[f64, R2]",
    acc="Tensor[f64, R2] | None",
    out_dtype="type[f64] | None",
    returns="Tensor[f64, R2]",
)
@rule(
    input="Tensor[f16, R2]",
    other="Tensor[f16, R2]",
    acc="Tensor[f16, R2] | None",
    out_dtype="type[f16]",
    returns="Tensor[f16, R2]",
)
def dot(
    input,
    other,
    acc=None,
    input_precision: 'Literal["tf32", "tf32x3", "ieee"] | None' = None,
    allow_tf32: "bool | None" = None,
    max_num_imprecise_acc: "int | None" = None,
    out_dtype=None,
):
    """The matrix product of (M, K) and (K, N), plus `acc` of (M, N).

    Both operands have one dtype; M and N are at least 16, K at least 16 (32 for 8-bit dtypes). The
    result has the dtype of `acc`, else `out_dtype`, else f32 (i32 for i8, f64 for f64). f32
    operands are rounded to tf32 unless `input_precision` says "ieee" or "tf32x3".
    """
    ...
