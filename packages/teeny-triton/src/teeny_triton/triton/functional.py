"""What applies a function of scalars: reductions, running combinations, one call an element.

The function is marked with `@device`, is one of the language, or is a lambda that uses nothing but
its parameters and what the module defines.
"""

from teeny_triton.rules import rule


@rule(
    input="Tensor[E, R]",
    axis="None",
    combine_fn="Callable[[E, E], E]",
    keep_dims="Literal[False]",
    returns="E",
)
@rule(
    input="Tensor[E, R1]",
    axis="Axis1",
    combine_fn="Callable[[E, E], E]",
    keep_dims="Literal[False]",
    returns="E",
)
@rule(
    input="Tensor[E, R2]",
    axis="Axis2",
    combine_fn="Callable[[E, E], E]",
    keep_dims="Literal[False]",
    returns="Tensor[E, R1]",
)
@rule(
    input="Tensor[E, R3]",
    axis="Axis3",
    combine_fn="Callable[[E, E], E]",
    keep_dims="Literal[False]",
    returns="Tensor[E, R2]",
)
@rule(
    input="Tensor[E, R]",
    axis="Axis3 | None",
    combine_fn="Callable[[E, E], E]",
    keep_dims="Literal[True]",
    returns="Tensor[E, R]",
)
@rule(
    input="tuple[Tensor[E, R1], Tensor[X, R1]]",
    axis="Axis1",
    combine_fn="Callable[[E, X, E, X], tuple[E, X]]",
    keep_dims="Literal[False]",
    returns="tuple[E, X]",
)
@rule(
    input="tuple[Tensor[E, R2], Tensor[X, R2]]",
    axis="Axis2",
    combine_fn="Callable[[E, X, E, X], tuple[E, X]]",
    keep_dims="Literal[False]",
    returns="tuple[Tensor[E, R1], Tensor[X, R1]]",
)
@rule(
    input="tuple[Tensor[Any, R], ...]",
    axis="Axis3 | None",
    combine_fn="Callable[..., Any]",
    keep_dims="bool",
    returns="Any",
)
def reduce(input, axis, combine_fn, keep_dims=False):
    """All elements along `axis` combined into one, or, with `axis=None`, all elements.

    `combine_fn(left, right)` gets two scalars and returns one of the same dtype; for a tuple of
    tensors of one shape it gets one scalar of each on either side, and returns a tuple of them. It
    is associative and commutative: the order in which elements meet is not that of the elements.
    `keep_dims=True` keeps the axis, with length 1.
    """
    ...


@rule(
    input="Tensor[E, R]",
    axis="int",
    combine_fn="Callable[[E, E], E]",
    returns="Tensor[E, R]",
)
@rule(
    input="tuple[Tensor[E, R], Tensor[X, R]]",
    axis="int",
    combine_fn="Callable[[E, X, E, X], tuple[E, X]]",
    returns="tuple[Tensor[E, R], Tensor[X, R]]",
)
@rule(
    input="tuple[Tensor[Any, R], ...]", axis="int", combine_fn="Callable[..., Any]", returns="Any"
)
def associative_scan(input, axis, combine_fn, reverse: bool = False):
    """Each element combined with all before it along `axis`, or, with `reverse`, all after it.

    `combine_fn(before, element)` is as in `reduce`, and need not commute. The shape is kept.
    """
    ...


@rule(scalar_fn="Callable[[E], X]", args="*Tensor[E, R]", returns="Tensor[X, R]")
@rule(scalar_fn="Callable[..., Any]", args="*Tensor[Any, R] | Elem | float", returns="Any")
def map_elementwise(scalar_fn, *args, pack: int = 1):
    """`scalar_fn` called with the elements of the tensors, which are broadcast to one shape.

    It gets scalars and may branch on them, unlike `where`, which computes both sides; it returns a
    scalar, or a tuple for several tensors. With `pack=n` one call gets n elements of each tensor
    (x0, x1, y0, y1) and returns n of each result; which elements meet in a call is not defined.
    """
    ...
