"""Tensors from nothing, and casts."""

from teeny_triton.rules import rule


@rule(start="int", end="int", returns="Tensor[i32, R1]")
def arange(start, end):
    """The i32 numbers start, start + 1, ..., end - 1 as a tensor of rank 1.

    Both are known at compile time; `end - start` is a power of two, else E0401. Padding is masked:
    take the next power of two and compare with the true length.
    """
    ...


@rule(k=(1, 2, 3), shape="Shape{k}", value="F | float", dtype="type[F]", returns="Tensor[F, R{k}]")
@rule(k=(1, 2, 3), shape="Shape{k}", value="E | int", dtype="type[E]", returns="Tensor[E, R{k}]")
@rule(shape="AnyShape", value="E | int | float", dtype="type[E]", returns="Tensor[E, Any]")
def full(shape, value, dtype):
    """A tensor with `value` in each element.

    `shape` is a tuple of powers of two known at compile time; `value` a scalar, cast to `dtype`.
    """
    ...


@rule(x="Tensor[E, R]", returns="Tensor[E, R]")
@rule(x="E", returns="E")
@rule(x="bool", returns="i1")
@rule(x="int", returns="i32")
@rule(x="float", returns="f32")
def to_tensor(x):
    """A value of the kernel: itself, or a literal as i1, i32 (i64, u64 beyond) or f32."""
    ...


@rule(input="Tensor[Any, R]", dtype="type[X]", returns="Tensor[X, R]")
@rule(input="Elem | int | float", dtype="type[X]", returns="X")
def cast(
    input,
    dtype,
    fp_downcast_rounding: 'Literal["rtne", "rtz"] | None' = None,
    bitcast: bool = False,
):
    """The same values as another dtype; also `x.to(dtype)`.

    Float to float rounds to nearest even (`fp_downcast_rounding="rtz"`: towards zero); float to
    integer truncates, and what does not fit is undefined; to i1 is `!= 0`. `bitcast=True` keeps the
    bits instead: the dtypes have the same size.
    """
    ...


@rule(pointer="Ptr[E] | PtrTensor[E, Any]", returns="type[E]")
def elem(pointer):
    """The dtype that a pointer, or a tensor of pointers, points at: `y.to(elem(y_ptr))`."""
    ...


@rule(element_ty="type[Elem]", returns="Any")
def pointer_type(element_ty):
    """The dtype of pointers to elements: `address.to(pointer_type(f32))` of an i64 or u64."""
    return Ptr[element_ty]
