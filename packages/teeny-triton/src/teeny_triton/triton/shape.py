"""Shapes: what changes the arrangement and never the values."""

from teeny_triton.rules import rule


@rule(input="Tensor[E, R]", other="Tensor[X, R] | X", returns="tuple[Tensor[E, R], Tensor[X, R]]")
@rule(input="E", other="Tensor[X, R]", returns="tuple[Tensor[E, R], Tensor[X, R]]")
def broadcast(input, other):
    """Both in their common shape: each side of length 1 is repeated.

    A lower rank gets sides of length 1 in front; sides that differ otherwise are an error.
    """
    ...


@rule(k=(1, 2, 3), input="Tensor[E, R{k}] | E", shape="Shape{k}", returns="Tensor[E, R{k}]")
@rule(k=(2, 3), input="Tensor[E, R{k}] | E", shape="*{k}", returns="Tensor[E, R{k}]")
@rule(input="Tensor[E, Any]", shape="AnyShape", returns="Tensor[E, Any]")
def broadcast_to(input, *shape):
    """`input` with the shape given: each of its sides of length 1 is repeated; a scalar fills it.

    The shape is one tuple or several numbers, known at compile time, and has the rank of `input`.
    """
    ...


@rule(input="Tensor[E, R1]", axis="Literal[0, 1, -1, -2]", returns="Tensor[E, R2]")
@rule(input="Tensor[E, R2]", axis="Literal[0, 1, 2, -1, -2, -3]", returns="Tensor[E, R3]")
def expand_dims(input, axis):
    """`input` with a side of length 1 more, at position `axis` of the result; also `x[:, None]`."""
    ...


@rule(input="Tensor[E, R2]", dims="*0", returns="Tensor[E, R2]")
@rule(input="Tensor[E, R2]", dims="*2", returns="Tensor[E, R2]")
@rule(input="Tensor[E, R3]", dims="*3", returns="Tensor[E, R3]")
@rule(k=(2, 3), input="Tensor[E, R{k}]", dims="Shape{k}", returns="Tensor[E, R{k}]")
def trans(input, *dims):
    """`input` with its sides in another order; also `x.T`.

    Without `dims` the two sides of a tensor of rank 2 change places; with them, side i of the
    result is side `dims[i]` of `input`.
    """
    ...


@rule(k=(2, 3), input="Tensor[E, R{k}]", dims="Shape{k}", returns="Tensor[E, R{k}]")
@rule(k=(2, 3), input="Tensor[E, R{k}]", dims="*{k}", returns="Tensor[E, R{k}]")
@rule(input="Tensor[E, Any]", dims="AnyShape", returns="Tensor[E, Any]")
def permute(input, *dims):
    """`input` with its sides in another order: side i of the result is side `dims[i]` of `input`.

    The order is one tuple or several numbers, known at compile time.
    """
    ...


@rule(k=(1, 2, 3, 4), input="Tensor[E, Any]", shape="Shape{k}", returns="Tensor[E, R{k}]")
@rule(k=(1, 2, 3, 4), input="Tensor[E, Any]", shape="*{k}", returns="Tensor[E, R{k}]")
@rule(input="Tensor[E, Any]", shape="AnyShape", returns="Tensor[E, Any]")
def reshape(input, *shape, can_reorder: bool = False):
    """The elements of `input`, in their order, as a tensor of another shape.

    The shape is one tuple or several numbers, known at compile time; `()` makes a scalar of one
    element. With `can_reorder=True` the elements may come in any order.
    """
    ...


@rule(k=(1, 2, 3, 4), input="Tensor[E, Any]", shape="Shape{k}", returns="Tensor[E, R{k}]")
@rule(k=(1, 2, 3, 4), input="Tensor[E, Any]", shape="*{k}", returns="Tensor[E, R{k}]")
@rule(input="Tensor[E, Any]", shape="AnyShape", returns="Tensor[E, Any]")
def view(input, *shape):
    """The elements of `input`, in any order, as a tensor of another shape: see `reshape`."""
    return reshape(input, *shape, can_reorder=True)


@rule(x="Tensor[E, Any]", returns="Tensor[E, R1]")
def ravel(x, can_reorder: bool = False):
    """The elements of `x` as a tensor of rank 1; in any order with `can_reorder=True`."""
    return reshape(x, x.numel, can_reorder=can_reorder)


@rule(x="Tensor[E, R1]", dim="Literal[0, 1, -1, -2]", returns="Tensor[E, R2]")
@rule(x="Tensor[E, R2]", dim="Literal[0, 1, 2, -1, -2, -3]", returns="Tensor[E, R3]")
def unsqueeze(x, dim):
    """`x` with a side of length 1 more, at position `dim` of the result: `expand_dims`."""
    return expand_dims(x, dim)


@rule(x="Tensor[E, R1]", dim="Axis1", returns="E")
@rule(x="Tensor[E, R2]", dim="Axis2", returns="Tensor[E, R1]")
@rule(x="Tensor[E, R3]", dim="Axis3", returns="Tensor[E, R2]")
def squeeze(x, dim):
    """`x` without its side `dim`, which has length 1."""
    static_assert(x.shape[dim] == 1, "only a side of length 1 can go")
    axis = dim + len(x.shape) if dim < 0 else dim
    return reshape(x, x.shape[:axis] + x.shape[axis + 1 :])


@rule(a="Tensor[E, R1]", b="Tensor[E, R1] | E", returns="Tensor[E, R2]")
@rule(a="Tensor[E, R2]", b="Tensor[E, R2] | E", returns="Tensor[E, R3]")
@rule(a="Tensor[E, R3]", b="Tensor[E, R3] | E", returns="Tensor[E, R4]")
@rule(a="E", b="E", returns="Tensor[E, R1]")
def join(a, b):
    """Both in one tensor, with a last side of length 2 more: `a` at 0 there, `b` at 1.

    Both are broadcast to one shape, and have one dtype. The inverse is `split`.
    """
    ...


@rule(a="Tensor[E, R1]", returns="tuple[E, E]")
@rule(a="Tensor[E, R2]", returns="tuple[Tensor[E, R1], Tensor[E, R1]]")
@rule(a="Tensor[E, R3]", returns="tuple[Tensor[E, R2], Tensor[E, R2]]")
@rule(a="Tensor[E, R4]", returns="tuple[Tensor[E, R3], Tensor[E, R3]]")
def split(a):
    """The two halves of `a` along its last side, which has length 2: the inverse of `join`."""
    ...


@rule(a="Tensor[E, R]", b="Tensor[E, R]", returns="Tensor[E, R]")
@rule(a="E", b="E", returns="Tensor[E, R1]")
def interleave(a, b):
    """The elements of both in turn along the last side, which is twice as long."""
    c = join(a, b)
    if len(c.shape) == 1:
        return c
    return reshape(c, (*c.shape[:-2], 2 * c.shape[-2]))


@rule(input="Tensor[E, R]", other="Tensor[E, R]", returns="Tensor[E, R]")
def cat(input, other, can_reorder: bool = False, dim: int = 0):
    """Two tensors of one shape and dtype, one after the other along the axis `dim`.

    With `can_reorder=True` tensors of rank 1 may differ in length, and the elements come in any
    order.
    """
    ...
