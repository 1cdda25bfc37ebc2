"""Types and ranks: pointers and offsets. One mistake in each kernel, at the line `# wrong`."""

import numpy as np

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f16, f32, i32, i64, u32


# mistake float_offsets (float-offset): a tensor of floats as offsets
@kernel
def float_offsets(x: Ptr[f32], scale: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    where = tl.load(scale + lanes) * 4.0
    tl.store(out + lanes, tl.load(x + where))  # wrong


# mistake float_literal_offset (float-offset): a float literal as an offset
@kernel
def float_literal_offset(x: Ptr[f32], out: Ptr[f32]) -> None:
    tl.store(out, tl.load(x + 1.5))  # wrong


# mistake float_scalar_offset (float-offset): a float parameter as an offset
@kernel
def float_scalar_offset(x: Ptr[f32], out: Ptr[f32], start: f32 | float) -> None:
    tl.store(out, tl.load(x + start))  # wrong


# mistake half_offsets (division-in-index): `/` where `//` belongs, on a tensor
@kernel
def half_offsets(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes / 2))  # wrong


# mistake half_program (division-in-index): `/` where `//` belongs, on the program id
@kernel
def half_program(x: Ptr[f32], out: Ptr[f32]) -> None:
    row = tl.program_id(0) / 2  # wrong
    tl.store(out, tl.load(x + row))


# mistake half_count (division-in-index): `/` where `//` belongs, on a parameter
@kernel
def half_count(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    tl.store(out, tl.load(x + n / 2))  # wrong


# mistake load_of_offsets (pointer-forgotten): loads from the offsets, the pointer is forgotten
@kernel
def load_of_offsets(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(lanes))  # wrong


# mistake store_to_offsets (pointer-forgotten): stores to the offsets, the pointer is forgotten
@kernel
def store_to_offsets(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(lanes, tl.load(x + lanes))  # wrong


# mistake load_of_value (pointer-forgotten): loads what was loaded already
@kernel
def load_of_value(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    tl.store(out + lanes, tl.load(values))  # wrong


# mistake pointer_plus_pointer (pointer-arithmetic): adds two pointers instead of two loads
@kernel
def pointer_plus_pointer(x: Ptr[f32], y: Ptr[f32], out: Ptr[f32]) -> None:
    tl.store(out, tl.load(x + y))  # wrong


# mistake scaled_pointer (pointer-arithmetic): scales the pointer instead of what it points to
@kernel
def scaled_pointer(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, (x + lanes) * 2)  # wrong


# mistake stored_pointers (load-forgotten): stores the pointers, the load is forgotten
@kernel
def stored_pointers(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, x + lanes)  # wrong


# mistake exponent_of_pointers (load-forgotten): computes with pointers, the load is forgotten
@kernel
def exponent_of_pointers(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.exp(x + lanes))  # wrong


# mistake sum_of_pointers (load-forgotten): reduces pointers, the load is forgotten
@kernel
def sum_of_pointers(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out, tl.sum(x + lanes, axis=0))  # wrong


# mistake swapped_store (swapped-arguments): value and pointer of a store swapped
@kernel
def swapped_store(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    tl.store(values, out + lanes)  # wrong


# mistake mask_as_value (swapped-arguments): the mask of a store where its value belongs
@kernel
def mask_as_value(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    inside = lanes < n
    values = tl.load(x + lanes, mask=inside)
    tl.store(out + lanes, inside, values)  # wrong


# mistake block_at_scalar (tensor-at-scalar): a tensor stored through a pointer to one element
@kernel
def block_at_scalar(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out, tl.load(x + lanes))  # wrong


# mistake mask_at_scalar (tensor-at-scalar): a mask of many lanes for a load of one element
@kernel
def mask_at_scalar(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x, mask=lanes < n))  # wrong


# mistake store_without_value (missing-argument): a store without a value
@kernel
def store_without_value(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes)  # wrong


# mistake other_without_mask (other-without-mask): `other` without a mask
@kernel
def other_without_mask(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes, other=0.0))  # wrong


# mistake run_time_range (run-time-shape): a run-time end of arange
@kernel
def run_time_range(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, n)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake run_time_zeros (run-time-shape): a run-time shape
@kernel
def run_time_zeros(out: Ptr[f32], n: i32 | int) -> None:
    tl.store(out, tl.sum(tl.zeros((n,), f32), axis=0))  # wrong


# mistake program_sized_range (run-time-shape): arange up to the program id
@kernel
def program_sized_range(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, tl.program_id(0))  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake loop_sized_range (run-time-shape): arange up to the variable of a run-time loop
@kernel
def loop_sized_range(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    for k in range(n):
        lanes = tl.arange(0, k)  # wrong
        tl.store(out + lanes, tl.load(x + lanes))


# mistake indexed_pointer (indexing): C's way to load one element
@kernel
def indexed_pointer(x: Ptr[f32], out: Ptr[f32]) -> None:
    tl.store(out, x[3])  # wrong


# mistake assigned_pointer (indexing): C's way to store one element
@kernel
def assigned_pointer(x: Ptr[f32], out: Ptr[f32]) -> None:
    out[0] = tl.load(x)  # wrong


# mistake indexed_element (indexing): one element of a tensor
@kernel
def indexed_element(x: Ptr[f32], out: Ptr[f32]) -> None:
    values = tl.load(x + tl.arange(0, 16))
    tl.store(out, values[0])  # wrong


# mistake sliced_tensor (indexing): a slice of a tensor
@kernel
def sliced_tensor(x: Ptr[f32], out: Ptr[f32]) -> None:
    values = tl.load(x + tl.arange(0, 16))
    tl.store(out + tl.arange(0, 8), values[0:8])  # wrong


# mistake unsigned_and_signed (mixed-signedness): unsigned and signed offsets added
@kernel
def unsigned_and_signed(x: Ptr[f32], at: Ptr[u32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + (tl.load(at + lanes) + lanes)))  # wrong


# mistake pointer_of_wide_index (pointer-kind): a pointer where the number itself belongs
@kernel
def pointer_of_wide_index(x: Ptr[f32], start: Ptr[i64], out: Ptr[f32]) -> None:
    tl.store(out, tl.load(x + start))  # wrong


# mistake number_as_pointer (pointer-kind): a number where a pointer belongs
@kernel
def number_as_pointer(x: i64 | int, out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes))  # wrong


# mistake numpy_offsets (foreign-function): NumPy's arange inside a kernel
@kernel
def numpy_offsets(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 16) -> None:
    lanes = np.arange(BLOCK)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake choice_of_pointers (pointer-kind): one of two pointers to different dtypes
@kernel
def choice_of_pointers(x: Ptr[f32], y: Ptr[f16], out: Ptr[f32], flag: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    if flag == 0:
        source = x + lanes
    else:
        source = y + lanes  # wrong
    tl.store(out + lanes, tl.load(source))
