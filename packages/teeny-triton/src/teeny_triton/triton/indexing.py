"""Elements picked or counted by the values of another tensor."""

from teeny_triton.rules import rule


@rule(
    k=(1, 2, 3),
    src="Tensor[E, R{k}]",
    index="Tensor[I, R{k}]",
    axis="Axis{k}",
    returns="Tensor[E, R{k}]",
)
def gather(src, index, axis):
    """The elements of `src` at `index` along `axis`, in the shape of `index`.

    Both have one rank, and one length along every other axis. The result at (r, c) for axis 1 is
    `src[r, index[r, c]]`. An index outside of the axis picks any element.
    """
    ...


@rule(input="Tensor[I, R1]", mask="Tensor[i1, R1] | i1 | None", returns="Tensor[i32, R1]")
def histogram(input, num_bins: int, mask=None):
    """How often each of 0, 1, ..., num_bins - 1 is in `input`, as i32.

    `input` has rank 1; `num_bins` is a power of two. Other values, and elements where `mask` is
    false, are not counted.
    """
    ...
