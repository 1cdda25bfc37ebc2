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

    @rule(value="Tensor[E, R] | E | int | float", mask="Mask | None")
    def store(
        self,
        value,
        mask=None,
        boundary_check: "tuple[int, ...]" = (),
        cache_modifier: "StoreCache" = "",
        eviction_policy: "Eviction" = "",
    ):
        """See `store`."""
        return store(self, value, mask, boundary_check, cache_modifier, eviction_policy)

    @rule(val="Tensor[E, R] | E | int | float", mask="Mask | None", returns="Tensor[E, R]")
    def atomic_add(self, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
        """See `atomic_add`."""
        return atomic_add(self, val, mask, sem, scope)

    @rule(val="Tensor[E, R] | E | int | float", mask="Mask | None", returns="Tensor[E, R]")
    def atomic_max(self, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
        """See `atomic_max`."""
        return atomic_max(self, val, mask, sem, scope)

    @rule(val="Tensor[E, R] | E | int | float", mask="Mask | None", returns="Tensor[E, R]")
    def atomic_min(self, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
        """See `atomic_min`."""
        return atomic_min(self, val, mask, sem, scope)

    @rule(val="Tensor[E, R] | E | int | float", mask="Mask | None", returns="Tensor[E, R]")
    def atomic_and(self, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
        """See `atomic_and`."""
        return atomic_and(self, val, mask, sem, scope)

    @rule(val="Tensor[E, R] | E | int | float", mask="Mask | None", returns="Tensor[E, R]")
    def atomic_or(self, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
        """See `atomic_or`."""
        return atomic_or(self, val, mask, sem, scope)

    @rule(val="Tensor[E, R] | E | int | float", mask="Mask | None", returns="Tensor[E, R]")
    def atomic_xor(self, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
        """See `atomic_xor`."""
        return atomic_xor(self, val, mask, sem, scope)

    @rule(val="Tensor[E, R] | E | int | float", mask="Mask | None", returns="Tensor[E, R]")
    def atomic_xchg(self, val, mask=None, sem: "Order | None" = None, scope: "Scope | None" = None):
        """See `atomic_xchg`."""
        return atomic_xchg(self, val, mask, sem, scope)

    @rule(
        cmp="Tensor[E, R] | E | int | float",
        val="Tensor[E, R] | E | int | float",
        returns="Tensor[E, R]",
    )
    def atomic_cas(self, cmp, val, sem: "Order | None" = None, scope: "Scope | None" = None):
        """See `atomic_cas`."""
        return atomic_cas(self, cmp, val, sem, scope)

    @rule(mask="Mask | None", returns="Tensor[E, R]")
    def atomic_load(self, mask=None, sem: "LoadOrder | None" = None, scope: "Scope | None" = None):
        """See `atomic_load`."""
        return atomic_load(self, mask, sem, scope)

    @rule(
        expected_value="Tensor[E, R] | E | int",
        timeout_ns="Int | int | None",
        returns="Tensor[i1, R]",
    )
    def atomic_poll(
        self,
        expected_value,
        sem: "LoadOrder | None" = None,
        scope: "Scope | None" = None,
        timeout_ns=None,
    ):
        """See `atomic_poll`."""
        return atomic_poll(self, expected_value, sem, scope, timeout_ns)

    @rule(val="Tensor[E, R] | E | int | float", mask="Mask | None")
    def atomic_store(
        self, val, mask=None, sem: "StoreOrder | None" = None, scope: "Scope | None" = None
    ):
        """See `atomic_store`."""
        return atomic_store(self, val, mask, sem, scope)


class BlockPtr(Generic[E, R]):
    """A tile of an array of E, of rank R: `make_block_ptr` makes it, `load` and `store` take it."""

    def advance(self, offsets):
        """See `advance`."""
        return advance(self, offsets)


class TensorDescriptor(Generic[E, R]):
    """An array of E, of rank R, and the shape of the tiles moved: see `make_tensor_descriptor`."""

    @property
    @rule(returns="type[E]")
    def dtype(self):
        """The dtype of the elements, known at compile time."""
        ...

    @property
    @rule(returns="Sides")
    def block_shape(self):
        """The sides of a tile, known at compile time."""
        ...

    @property
    @rule(returns="tuple[i32, ...]")
    def shape(self):
        """The sides of the array, in elements."""
        ...

    @property
    @rule(returns="tuple[i64, ...]")
    def strides(self):
        """The strides of the array, in elements."""
        ...

    def load(self, offsets):
        """See `load_tensor_descriptor`."""
        return load_tensor_descriptor(self, offsets)

    def store(self, offsets, value):
        """See `store_tensor_descriptor`."""
        return store_tensor_descriptor(self, offsets, value)

    @rule(
        x_offsets="Tensor[i16, R1] | Tensor[i32, R1]", y_offset="i32 | int", returns="Tensor[E, R2]"
    )
    def gather(self, x_offsets, y_offset):
        """The rows `x_offsets` (i16 or i32, at least 8) from the column `y_offset` on.

        The block of the descriptor has one row of at least 32 bytes.
        """
        return _descriptor_gather(self, x_offsets, y_offset)

    @rule(
        value="Tensor[E, R2]", x_offsets="Tensor[i16, R1] | Tensor[i32, R1]", y_offset="i32 | int"
    )
    def scatter(self, value, x_offsets, y_offset):
        """Write `value` to the rows `x_offsets`, from the column `y_offset` on: see `gather`."""
        return _descriptor_scatter(self, value, x_offsets, y_offset)

    @rule(offsets="list[Any] | tuple[Any, ...]", value="Tensor[E, R]")
    def atomic_add(self, offsets, value):
        """Add a tile to the array, atomically; u32, i32, u64, f32, f16 or bf16."""
        return _descriptor_atomic(self, "add", offsets, value)

    @rule(offsets="list[Any] | tuple[Any, ...]", value="Tensor[E, R]")
    def atomic_min(self, offsets, value):
        """Keep the smaller of array and tile, atomically; integers, f16 or bf16 (sm_90)."""
        return _descriptor_atomic(self, "min", offsets, value)

    @rule(offsets="list[Any] | tuple[Any, ...]", value="Tensor[E, R]")
    def atomic_max(self, offsets, value):
        """Keep the greater of array and tile, atomically; integers, f16 or bf16 (sm_90)."""
        return _descriptor_atomic(self, "max", offsets, value)

    @rule(offsets="list[Any] | tuple[Any, ...]", value="Tensor[E, R]")
    def atomic_and(self, offsets, value):
        """Keep the bits that the tile has too, atomically; integers of 32 or 64 bits."""
        return _descriptor_atomic(self, "and", offsets, value)

    @rule(offsets="list[Any] | tuple[Any, ...]", value="Tensor[E, R]")
    def atomic_or(self, offsets, value):
        """Set the bits of the tile, atomically; integers of 32 or 64 bits."""
        return _descriptor_atomic(self, "or", offsets, value)

    @rule(offsets="list[Any] | tuple[Any, ...]", value="Tensor[E, R]")
    def atomic_xor(self, offsets, value):
        """Flip the bits of the tile, atomically; integers of 32 or 64 bits."""
        return _descriptor_atomic(self, "xor", offsets, value)


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
    @rule(returns="int")
    def numel(self):
        """The number of elements, known at compile time."""
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

    def cast(self, dtype, fp_downcast_rounding=None, bitcast=False):
        """See `cast`."""
        return cast(self, dtype, fp_downcast_rounding, bitcast)

    @rule(returns="E")
    def item(self):
        """The only element, as a scalar."""
        return reshape(self, ())

    @rule(other="Tensor[E, R] | E | bool | int", returns="Tensor[i1, R]")
    def logical_and(self, other):
        """See `logical_and`."""
        return logical_and(self, other)

    @rule(other="Tensor[E, R] | E | bool | int", returns="Tensor[i1, R]")
    def logical_or(self, other):
        """See `logical_or`."""
        return logical_or(self, other)

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

    def sin(self):
        """See `sin`."""
        return sin(self)

    def cos(self):
        """See `cos`."""
        return cos(self)

    def erf(self):
        """See `erf`."""
        return erf(self)

    def floor(self):
        """See `floor`."""
        return floor(self)

    def ceil(self):
        """See `ceil`."""
        return ceil(self)

    def sqrt_rn(self):
        """See `sqrt_rn`."""
        return sqrt_rn(self)

    def cdiv(self, div):
        """See `cdiv`."""
        return cdiv(self, div)

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

    def argmax(self, axis, tie_break_left=True, keep_dims=False):
        """See `argmax`."""
        return argmax(self, axis, tie_break_left, keep_dims)

    def argmin(self, axis, tie_break_left=True, keep_dims=False):
        """See `argmin`."""
        return argmin(self, axis, tie_break_left, keep_dims)

    def xor_sum(self, axis=None, keep_dims=False):
        """See `xor_sum`."""
        return xor_sum(self, axis, keep_dims)

    def reduce_or(self, axis, keep_dims=False):
        """See `reduce_or`."""
        return reduce_or(self, axis, keep_dims)

    def reduce(self, axis, combine_fn, keep_dims=False):
        """See `reduce`."""
        return reduce(self, axis, combine_fn, keep_dims)

    def associative_scan(self, axis, combine_fn, reverse=False):
        """See `associative_scan`."""
        return associative_scan(self, axis, combine_fn, reverse)

    def cumsum(self, axis=0, reverse=False, dtype=None):
        """See `cumsum`."""
        return cumsum(self, axis, reverse, dtype)

    def cumprod(self, axis=0, reverse=False, dtype=None):
        """See `cumprod`."""
        return cumprod(self, axis, reverse, dtype)

    def sort(self, dim=None, descending=False):
        """See `sort`."""
        return sort(self, dim, descending)

    def flip(self, dim=None):
        """See `flip`."""
        return flip(self, dim)

    def gather(self, index, axis):
        """See `gather`."""
        return gather(self, index, axis)

    def histogram(self, num_bins, mask=None):
        """See `histogram`."""
        return histogram(self, num_bins, mask)

    def expand_dims(self, axis):
        """See `expand_dims`."""
        return expand_dims(self, axis)

    def broadcast_to(self, *shape):
        """See `broadcast_to`."""
        return broadcast_to(self, *shape)

    def trans(self, *dims):
        """See `trans`."""
        return trans(self, *dims)

    def permute(self, *dims):
        """See `permute`."""
        return permute(self, *dims)

    def reshape(self, *shape, can_reorder=False):
        """See `reshape`."""
        return reshape(self, *shape, can_reorder=can_reorder)

    def view(self, *shape):
        """See `view`."""
        return view(self, *shape)

    def ravel(self, can_reorder=False):
        """See `ravel`."""
        return ravel(self, can_reorder)

    def split(self):
        """See `split`."""
        return split(self)
