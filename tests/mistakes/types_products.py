"""Types and ranks: dot, descriptors, atomics. One mistake in each kernel, at the line `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, bf16, f16, f32, i32


# mistake dot_of_two_dtypes (dot-dtypes): the operands of dot of two dtypes
@kernel
def dot_of_two_dtypes(x: Ptr[f16], y: Ptr[bf16], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + at, tl.dot(tl.load(x + at), tl.load(y + at)))  # wrong


# mistake dot_into_half (dot-dtypes): an f16 tensor as the accumulator of dot
@kernel
def dot_into_half(x: Ptr[f16], out: Ptr[f16]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    total = tl.zeros((16, 16), f16)
    total = tl.dot(tile, tile, total)  # wrong
    tl.store(out + at, total)


# mistake dot_stored_as_half (dot-dtypes): the f32 result of dot stored as f16
@kernel
def dot_stored_as_half(x: Ptr[f16], out: Ptr[f16]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tl.dot(tile, tile))  # wrong


# mistake dot_of_integers (dot-dtypes): dot of i32 tensors
@kernel
def dot_of_integers(x: Ptr[i32], out: Ptr[i32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tl.dot(tile, tile))  # wrong


# mistake dot_of_vector (dot-rank): a vector as an operand of dot
@kernel
def dot_of_vector(x: Ptr[f16], y: Ptr[f16], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    at = lanes[:, None] * 16 + lanes[None, :]
    tl.store(out + lanes, tl.dot(tl.load(x + at), tl.load(y + lanes)))  # wrong


# mistake misspelled_precision (option-value): a precision that dot does not have
@kernel
def misspelled_precision(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tl.dot(tile, tile, input_precision="fp32"))  # wrong


# mistake descriptor_offset_short (descriptor-rank): an offset short at a descriptor's load
@kernel
def descriptor_offset_short(x: Ptr[f16], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(x, (n, 16), (16, 1), (16, 16))
    tl.store(out + at, tiles.load((0,)))  # wrong


# mistake descriptor_stride_short (descriptor-rank): a stride short at a descriptor
@kernel
def descriptor_stride_short(x: Ptr[f16], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(x, (n, 16), (1,), (16, 16))  # wrong
    tl.store(out + at, tiles.load((0, 0)))


# mistake descriptor_of_another_dtype (descriptor-store): an f32 tile stored as f16
@kernel
def descriptor_of_another_dtype(x: Ptr[f32], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(out, (n, 16), (16, 1), (16, 16))
    tiles.store((0, 0), tl.load(x + at))  # wrong


# mistake descriptor_store_swapped (descriptor-store): value and offsets of a store swapped
@kernel
def descriptor_store_swapped(x: Ptr[f16], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(out, (n, 16), (16, 1), (16, 16))
    tiles.store(tl.load(x + at), (0, 0))  # wrong


# mistake descriptor_as_pointer (descriptor-store): a descriptor used as a pointer
@kernel
def descriptor_as_pointer(x: Ptr[f16], out: Ptr[f16], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tiles = tl.make_tensor_descriptor(x, (n, 16), (16, 1), (16, 16))
    tl.store(out + at, tl.load(tiles + at))  # wrong


# mistake atomic_float_into_integers (atomic-dtype): a float added to integers
@kernel
def atomic_float_into_integers(x: Ptr[f32], bins: Ptr[i32]) -> None:
    lanes = tl.arange(0, 16)
    tl.atomic_add(bins + lanes, tl.load(x + lanes))  # wrong


# mistake atomic_bits_of_float (atomic-dtype): atomic `and` of floats
@kernel
def atomic_bits_of_float(out: Ptr[f32]) -> None:
    tl.atomic_and(out + tl.arange(0, 16), 1)  # wrong


# mistake histogram_of_floats (integers-wanted): a histogram of floats
@kernel
def histogram_of_floats(x: Ptr[f32], out: Ptr[i32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.histogram(tl.load(x + lanes), 16))  # wrong


# mistake float_ceiling (integers-wanted): cdiv with a float
@kernel
def float_ceiling(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    tl.store(out, tl.load(x + tl.cdiv(n, 16.0)))  # wrong


# mistake join_of_two_dtypes (mixed-branches): two dtypes joined
@kernel
def join_of_two_dtypes(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    at = lanes[:, None] * 2 + tl.arange(0, 2)[None, :]
    tl.store(out + at, tl.join(tl.load(x + lanes), lanes))  # wrong


# mistake argmax_stored_as_value (index-as-value): the index of a maximum stored as a float
@kernel
def argmax_stored_as_value(x: Ptr[f32], out: Ptr[f32]) -> None:
    tl.store(out, tl.argmax(tl.load(x + tl.arange(0, 16)), axis=0))  # wrong


# mistake argmax_without_axis (missing-axis): argmax without an axis
@kernel
def argmax_without_axis(x: Ptr[f32], out: Ptr[i32]) -> None:
    tl.store(out, tl.argmax(tl.load(x + tl.arange(0, 16))))  # wrong


# mistake misspelled_cache (option-value): a cache modifier that load does not have
@kernel
def misspelled_cache(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes, cache_modifier=".gc"))  # wrong


# mistake misspelled_eviction (option-value): an eviction policy that load does not have
@kernel
def misspelled_eviction(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes, eviction_policy="first"))  # wrong


# mistake misspelled_order (option-value): a memory order that atomics do not have
@kernel
def misspelled_order(out: Ptr[f32]) -> None:
    tl.atomic_add(out + tl.arange(0, 16), 1.0, sem="acquire-release")  # wrong


# mistake half_a_block (division-in-shape): `/` where `//` belongs, in a bound of arange
@kernel
def half_a_block(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 32) -> None:
    lanes = tl.arange(0, BLOCK / 2)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake half_a_side (division-in-shape): `/` where `//` belongs, in a shape
@kernel
def half_a_side(out: Ptr[f32], BLOCK: Const[int] = 32) -> None:
    tl.store(out + tl.arange(0, BLOCK // 2), tl.zeros((BLOCK / 2,), f32))  # wrong
