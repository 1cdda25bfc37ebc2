"""What a kernel tells the compiler; values stay as they are."""

from teeny_triton.rules import rule


@rule(input="Tensor[E, R]", values="int | list[int] | tuple[int, ...]", returns="Tensor[E, R]")
@rule(
    input="PtrTensor[E, R]", values="int | list[int] | tuple[int, ...]", returns="PtrTensor[E, R]"
)
@rule(input="Ptr[E]", values="int | list[int] | tuple[int, ...]", returns="Ptr[E]")
@rule(input="E", values="int | list[int] | tuple[int, ...]", returns="E")
def multiple_of(input, values):
    """Say that the first element of each contiguous group is a multiple of `values`.

    `values` has a number for each side; a lie gives wrong results. The result is `input`.
    """
    ...


@rule(input="Tensor[E, R]", values="int | list[int] | tuple[int, ...]", returns="Tensor[E, R]")
@rule(
    input="PtrTensor[E, R]", values="int | list[int] | tuple[int, ...]", returns="PtrTensor[E, R]"
)
def max_contiguous(input, values):
    """Say that elements come in contiguous groups of `values`: 4, 5, 6, 7 is one of four.

    `values` has a number for each side; a lie gives wrong results. The result is `input`.
    """
    ...


@rule(input="Tensor[E, R]", values="int | list[int] | tuple[int, ...]", returns="Tensor[E, R]")
@rule(
    input="PtrTensor[E, R]", values="int | list[int] | tuple[int, ...]", returns="PtrTensor[E, R]"
)
def max_constancy(input, values):
    """Say that elements come in groups of `values` equal ones.

    `values` has a number for each side; a lie gives wrong results. The result is `input`.
    """
    ...


@rule(cond="i1 | bool")
def assume(cond):
    """Let the compiler take it that `cond`, a scalar, holds."""
    ...


@rule()
def gdc_wait():
    """Wait for the kernel before this one in the stream: its memory is written (sm_90 on).

    Also `tl.extra.cuda.gdc_wait`. It matters where `launch_pdl=True` lets this one start early, and
    does nothing elsewhere.
    """
    ...


@rule()
def gdc_launch_dependents():
    """Let the kernel behind this one start, if it is launched with `launch_pdl=True` (sm_90 on).

    Also `tl.extra.cuda.gdc_launch_dependents`. What the next one reads is there only once it has
    called `gdc_wait`.
    """
    ...


@rule()
def debug_barrier():
    """Let all threads of the program wait for each other here."""
    ...


@rule(args="list[Any] | tuple[Any, ...]", dtype="type[E]", returns="Any")
@rule(args="list[Any] | tuple[Any, ...]", dtype="tuple[type[E], ...]", returns="tuple[Any, ...]")
def inline_asm_elementwise(asm: str, constraints: str, args, dtype, is_pure: bool, pack: int):
    """PTX for each `pack` elements of the operands `args`, which are broadcast to one shape.

    `constraints` is LLVM's ("=r,r,r": one result, two operands); narrow elements share registers.
    A tuple of dtypes gives a tuple of tensors. `is_pure` says that there are no other effects.
    Elsewhere than on a GPU it is an error.
    """
    ...


@rule(i="I", j="I", size_i="I | int", size_j="I | int", size_g="I | int", returns="tuple[I, I]")
@rule(
    i="Tensor[I, R]",
    j="Tensor[I, R]",
    size_i="I | int",
    size_j="I | int",
    size_g="I | int",
    returns="tuple[Tensor[I, R], Tensor[I, R]]",
)
def swizzle2d(i, j, size_i, size_j, size_g):
    """The place of (i, j) when rows of size_i x size_j are walked column by column in groups.

    A group has `size_g` rows: programs that run at the same time then share columns and rows.
    """
    ij = i * size_j + j
    size_gj = size_g * size_j
    group_id = ij // size_gj
    off_i = group_id * size_g
    size_g = minimum(size_i - off_i, size_g)
    ij = ij % size_gj
    new_i = off_i + ij % size_g
    new_j = ij // size_g
    return new_i, new_j
