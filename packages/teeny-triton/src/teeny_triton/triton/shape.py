"""Shapes: what changes the arrangement and never the values."""

from teeny_triton.rules import rule


@rule(input="Tensor[E, R] | E", other="Tensor[X, R]", returns="Tensor[E, R]")
def broadcast(input, other):
    """`input` with the common shape of both: each side of length 1 is repeated.

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
