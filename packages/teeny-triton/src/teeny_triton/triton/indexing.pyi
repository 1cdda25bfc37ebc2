"""Elements picked or counted by the values of another tensor.

Generated from the kernel language's text by `python -m stubgen`; never edited.
"""
# fmt: off
# ruff: noqa
# mypy: disable-error-code="empty-body, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportInvalidTypeVarUse=false, reportPropertyTypeMismatch=false
from typing import Literal, overload

from teeny_triton.triton.dtypes import E, I, i1, i32
from teeny_triton.triton.types import R1, R2, R3, Tensor

@overload
def gather(src: Tensor[E, R1], index: Tensor[I, R1], axis: Literal[0, -1]) -> Tensor[E, R1]:
    """The elements of `src` at `index` along `axis`, in the shape of `index`.

    Both have one rank, and one length along every other axis. The result at (r, c) for axis 1 is
    `src[r, index[r, c]]`. An index outside of the axis picks any element.
    """
@overload
def gather(src: Tensor[E, R2], index: Tensor[I, R2], axis: Literal[0, 1, -1, -2]) -> Tensor[E, R2]: ...
@overload
def gather(src: Tensor[E, R3], index: Tensor[I, R3], axis: Literal[0, 1, 2, -1, -2, -3]) -> Tensor[E, R3]: ...

def histogram(input: Tensor[I, R1], num_bins: int, mask: Tensor[i1, R1] | i1 | None = None) -> Tensor[i32, R1]:
    """How often each of 0, 1, ..., num_bins - 1 is in `input`, as i32.

    `input` has rank 1; `num_bins` is a power of two. Other values, and elements where `mask` is
    false, are not counted.
    """
