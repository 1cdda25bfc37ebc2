"""Tiles of arrays: tensor descriptors and block pointers."""

from teeny_triton.rules import rule


@rule(
    k=(1, 2, 3),
    base="Ptr[E]",
    shape="Scalars{k}",
    strides="Scalars{k}",
    block_shape="Shape{k}",
    returns="TensorDescriptor[E, R{k}]",
)
@rule(
    base="Ptr[E]",
    shape="list[Any]",
    strides="list[Any]",
    block_shape="list[int]",
    returns="TensorDescriptor[E, Any]",
)
def make_tensor_descriptor(base, shape, strides, block_shape, padding_option: "Padding" = "zero"):
    """Describe an array, so that the hardware moves tiles of it (sm_90 on; pointers elsewhere).

    `base` is aligned to 16 bytes; `shape` and `strides` are in elements, the last stride is 1 and
    the others are multiples of 16 bytes. What a tile has outside of the array is read as zero
    (`padding_option="nan"`: NaN) and not written.
    """
    ...


@rule(
    k=(1, 2, 3), desc="TensorDescriptor[E, R{k}]", offsets="Scalars{k}", returns="Tensor[E, R{k}]"
)
@rule(desc="TensorDescriptor[E, R]", offsets="list[Any]", returns="Tensor[E, R]")
def load_tensor_descriptor(desc, offsets):
    """The tile that begins at `offsets`, one i32 for each side; also `desc.load(offsets)`."""
    ...


@rule(k=(1, 2, 3), desc="TensorDescriptor[E, R{k}]", offsets="Scalars{k}", value="Tensor[E, R{k}]")
@rule(desc="TensorDescriptor[E, R]", offsets="list[Any]", value="Tensor[E, R]")
def store_tensor_descriptor(desc, offsets, value):
    """Write `value` to the tile that begins at `offsets`; also `desc.store(offsets, value)`."""
    ...


@rule(desc="Any", kind="str", offsets="Any", value="Any")
def _descriptor_atomic(desc, kind, offsets, value):
    """Change a tile of the array atomically."""
    ...


@rule(desc="Any", x_offsets="Any", y_offset="Any", returns="Any")
def _descriptor_gather(desc, x_offsets, y_offset):
    """Rows of the array."""
    ...


@rule(desc="Any", value="Any", x_offsets="Any", y_offset="Any")
def _descriptor_scatter(desc, value, x_offsets, y_offset):
    """Write rows of the array."""
    ...


@rule(
    k=(1, 2, 3),
    base="Ptr[E]",
    shape="Scalars{k}",
    strides="Scalars{k}",
    offsets="Scalars{k}",
    block_shape="Shape{k}",
    order="Shape{k}",
    returns="BlockPtr[E, R{k}]",
)
def make_block_ptr(base, shape, strides, offsets, block_shape, order):
    """A pointer to the tile of `block_shape` that begins at `offsets` in a strided array.

    `load` and `store` take it, with `boundary_check` (the axes along which a tile may leave the
    array) and `padding_option`. Everything is in elements. `order` names the axes, the one whose
    elements lie closest first.
    """
    ...


@rule(k=(1, 2, 3), base="BlockPtr[E, R{k}]", offsets="Scalars{k}", returns="BlockPtr[E, R{k}]")
@rule(base="BlockPtr[E, R]", offsets="list[Any]", returns="BlockPtr[E, R]")
def advance(base, offsets):
    """The block pointer moved by `offsets`, one integer for each side."""
    ...
