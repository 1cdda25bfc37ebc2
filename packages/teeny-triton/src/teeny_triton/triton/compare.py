"""Choosing between values."""

from teeny_triton.rules import binary, rule
from teeny_triton.triton.enums import PropagateNan


@binary
def maximum(x, y, propagate_nan: PropagateNan = PropagateNan.NONE):
    """The greater of x and y, elementwise; both are broadcast to one shape, of one dtype.

    A NaN gives the other operand, or, with `propagate_nan=PropagateNan.ALL`, NaN.
    """
    ...


@binary
def minimum(x, y, propagate_nan: PropagateNan = PropagateNan.NONE):
    """The smaller of x and y, elementwise; both are broadcast to one shape, of one dtype.

    A NaN gives the other operand, or, with `propagate_nan=PropagateNan.ALL`, NaN.
    """
    ...


@rule(
    condition="Mask | bool", x="Tensor[F, R]", y="Tensor[F, R] | F | float", returns="Tensor[F, R]"
)
@rule(condition="Mask | bool", x="Tensor[E, R]", y="Tensor[E, R] | E | int", returns="Tensor[E, R]")
@rule(condition="Mask | bool", x="E | int", y="Tensor[E, R]", returns="Tensor[E, R]")
@rule(condition="Mask | bool", x="F | float", y="Tensor[F, R]", returns="Tensor[F, R]")
@rule(condition="Tensor[i1, R]", x="int", y="int", returns="Tensor[i32, R]")
@rule(condition="Tensor[i1, R]", x="float", y="float", returns="Tensor[f32, R]")
@rule(condition="Tensor[i1, R]", x="E", y="E | int", returns="Tensor[E, R]")
@rule(condition="Tensor[i1, R]", x="F", y="F | float", returns="Tensor[F, R]")
@rule(condition="Tensor[i1, R]", x="int", y="E", returns="Tensor[E, R]")
@rule(condition="Tensor[i1, R]", x="float", y="F", returns="Tensor[F, R]")
@rule(condition="i1 | bool", x="F", y="F | float", returns="F")
@rule(condition="i1 | bool", x="E", y="E | int", returns="E")
@rule(condition="i1 | bool", x="int", y="E", returns="E")
@rule(condition="i1 | bool", x="float", y="F", returns="F")
@rule(condition="i1 | bool", x="int", y="int", returns="i32")
@rule(condition="i1 | bool", x="float", y="float", returns="f32")
def where(condition, x, y):
    """Take x where the condition holds, else y, elementwise; all three are broadcast to one shape.

    `condition` is i1; x and y have one dtype. Both are computed: a load that must not happen is
    masked.
    """
    ...
