"""Loads and stores."""

from teeny_triton.rules import rule


@rule(pointer="PtrTensor[E, R]", mask="Mask | None", other="None", returns="Tensor[E, R]")
@rule(
    pointer="PtrTensor[F, R]", mask="Mask", other="Tensor[F, R] | F | float", returns="Tensor[F, R]"
)
@rule(
    pointer="PtrTensor[E, R]", mask="Mask", other="Tensor[E, R] | E | int", returns="Tensor[E, R]"
)
@rule(pointer="BlockPtr[E, R]", mask="None", other="None", returns="Tensor[E, R]")
@rule(pointer="Ptr[E]", mask="i1 | bool | None", other="None", returns="E")
@rule(pointer="Ptr[F]", mask="i1 | bool", other="F | float", returns="F")
@rule(pointer="Ptr[E]", mask="i1 | bool", other="E | int", returns="E")
def load(
    pointer,
    mask=None,
    other=None,
    boundary_check: "tuple[int, ...]" = (),
    padding_option: "BlockPadding" = "",
    cache_modifier: "LoadCache" = "",
    eviction_policy: "Eviction" = "",
    volatile: bool = False,
):
    """The values at a pointer, at each element of a tensor of pointers, or of a block.

    Where `mask` (i1, broadcast to the pointers' shape) is false nothing is read, and the result is
    `other` (cast to the pointer's dtype), or undefined without it. `other` needs a mask.

    A block pointer has `boundary_check` instead: the axes along which the block may leave its
    array. What lies outside is 0 (`padding_option="zero"`), NaN ("nan"), or undefined without it.

    `cache_modifier` is ".ca", ".cg" or ".cv", `eviction_policy` "evict_first" or "evict_last", both
    hints for GPUs; a `volatile` load is made each time.
    """
    ...


@rule(pointer="PtrTensor[F, R]", value="Tensor[F, R] | F | float", mask="Mask | None")
@rule(pointer="PtrTensor[E, R]", value="Tensor[E, R] | E | int", mask="Mask | None")
@rule(pointer="BlockPtr[E, R]", value="Tensor[E, R] | E | int", mask="None")
@rule(pointer="BlockPtr[F, R]", value="Tensor[F, R] | F | float", mask="None")
@rule(pointer="Ptr[F]", value="F | float", mask="i1 | bool | None")
@rule(pointer="Ptr[E]", value="E | int", mask="i1 | bool | None")
def store(
    pointer,
    value,
    mask=None,
    boundary_check: "tuple[int, ...]" = (),
    cache_modifier: "StoreCache" = "",
    eviction_policy: "Eviction" = "",
):
    """Write `value` (cast to the pointer's dtype, broadcast to the pointers' shape) to memory.

    Where `mask` (i1) is false nothing is written; of a block pointer's block, what lies outside of
    the array along the axes of `boundary_check`. `cache_modifier` is ".wb", ".cg", ".cs" or ".wt",
    `eviction_policy` "evict_first" or "evict_last", both hints for GPUs.

    Two programs, or two elements, that write one place leave either value there.
    """
    ...
