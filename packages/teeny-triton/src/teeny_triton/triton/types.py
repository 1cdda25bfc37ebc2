"""Tensors and pointers. Scalars have the methods of `Tensor`; operators are the language's own."""

from typing import Generic, TypeVar

from teeny_triton.rules import rule

E = TypeVar("E")
R = TypeVar("R")


class Rank:
    """The number of sides of a tensor, as a type."""


class R1(Rank):
    """One side."""


class R2(Rank):
    """Two sides."""


class R3(Rank):
    """Three sides."""


class R4(Rank):
    """Four sides."""


class R5(Rank):
    """Five sides."""


class Ptr(Generic[E]):
    """A pointer: `Ptr[f32]`; `pointer + offsets`, in elements, is a tensor of pointers."""


class PtrTensor(Generic[E, R]):
    """A tensor of pointers to elements E, of rank R."""


class Tensor(Generic[E, R]):
    """A tensor of elements E and rank R, held by one program; its sides are powers of two."""

    @property
    @rule(returns="Sides")
    def shape(self):
        """The sides, known at compile time."""
        ...

    @property
    @rule(returns="type[E]")
    def dtype(self):
        """The dtype of the elements, known at compile time."""
        ...

    @property
    @rule(self="Tensor[E, R2]", returns="Tensor[E, R2]")
    def T(self):
        """The transpose of a tensor of rank 2."""
        return trans(self)

    @rule(self="Tensor[E, R1]", index="tuple[slice, None]", returns="Tensor[E, R2]")
    @rule(self="Tensor[E, R1]", index="tuple[None, slice]", returns="Tensor[E, R2]")
    @rule(self="Tensor[E, R2]", index="tuple[slice, slice, None]", returns="Tensor[E, R3]")
    @rule(self="Tensor[E, R2]", index="tuple[slice, None, slice]", returns="Tensor[E, R3]")
    @rule(self="Tensor[E, R2]", index="tuple[None, slice, slice]", returns="Tensor[E, R3]")
    @rule(self="Tensor[E, R1]", index="tuple[slice, None, None]", returns="Tensor[E, R3]")
    @rule(self="Tensor[E, R1]", index="tuple[None, slice, None]", returns="Tensor[E, R3]")
    @rule(self="Tensor[E, R1]", index="tuple[None, None, slice]", returns="Tensor[E, R3]")
    def __getitem__(self, index):
        """`x[:, None]`: each None puts in a side of length 1, each `:` keeps a side."""
        ...

    def to(self, dtype, fp_downcast_rounding=None, bitcast=False):
        """The same values as another dtype: `cast`."""
        return cast(self, dtype, fp_downcast_rounding, bitcast)

    def abs(self):
        """See `abs`."""
        return abs(self)

    def exp(self):
        """See `exp`."""
        return exp(self)

    def exp2(self):
        """See `exp2`."""
        return exp2(self)

    def log(self):
        """See `log`."""
        return log(self)

    def log2(self):
        """See `log2`."""
        return log2(self)

    def sqrt(self):
        """See `sqrt`."""
        return sqrt(self)

    def rsqrt(self):
        """See `rsqrt`."""
        return rsqrt(self)

    def sigmoid(self):
        """See `sigmoid`."""
        return sigmoid(self)

    def softmax(self, dim=None, keep_dims=False, ieee_rounding=False):
        """See `softmax`."""
        return softmax(self, dim, keep_dims, ieee_rounding)

    def sum(self, axis=None, keep_dims=False, dtype=None):
        """See `sum`."""
        return sum(self, axis, keep_dims, dtype)

    def max(
        self,
        axis=None,
        return_indices=False,
        return_indices_tie_break_left=True,
        keep_dims=False,
    ):
        """See `max`."""
        return max(self, axis, return_indices, return_indices_tie_break_left, keep_dims)

    def min(
        self,
        axis=None,
        return_indices=False,
        return_indices_tie_break_left=True,
        keep_dims=False,
    ):
        """See `min`."""
        return min(self, axis, return_indices, return_indices_tie_break_left, keep_dims)

    def expand_dims(self, axis):
        """See `expand_dims`."""
        return expand_dims(self, axis)

    def broadcast_to(self, *shape):
        """See `broadcast_to`."""
        return broadcast_to(self, *shape)

    def trans(self, *dims):
        """See `trans`."""
        return trans(self, *dims)
