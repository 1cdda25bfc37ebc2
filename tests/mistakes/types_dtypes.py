"""Types and ranks: dtypes. One mistake in each kernel, at the line marked `# wrong`."""

from typing import TypeVar

import numpy as np

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Float, Num, Ptr, bf16, f16, f32, i1, i8, i32, u8

D = TypeVar("D", bound=Num)
F = TypeVar("F", bound=Float)


# mistake store_without_cast (wrong-dtype-stored): f32 stored through a pointer to f16
@kernel
def store_without_cast(x: Ptr[f32], out: Ptr[f16]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes))  # wrong


# mistake float_into_integers (wrong-dtype-stored): f32 stored through a pointer to i32
@kernel
def float_into_integers(x: Ptr[f32], out: Ptr[i32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes) * 2.0)  # wrong


# mistake float_literal_into_integers (wrong-dtype-stored): a float literal stored as i32
@kernel
def float_literal_into_integers(out: Ptr[i32]) -> None:
    tl.store(out + tl.arange(0, 16), 0.5)  # wrong


# mistake scalar_without_cast (wrong-dtype-stored): an f16 scalar stored through a pointer to f32
@kernel
def scalar_without_cast(x: Ptr[f16], out: Ptr[f32]) -> None:
    tl.store(out, tl.load(x))  # wrong


# mistake half_plus_single (mixed-floats): f32 + f16
@kernel
def half_plus_single(x: Ptr[f32], y: Ptr[f16], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes) + tl.load(y + lanes))  # wrong


# mistake half_plus_bfloat (mixed-floats): f16 * bf16
@kernel
def half_plus_bfloat(x: Ptr[f16], y: Ptr[bf16], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    product = tl.load(x + lanes) * tl.load(y + lanes)  # wrong
    tl.store(out + lanes, product.to(f32))


# mistake mixed_scalars (mixed-floats): an f32 and an f16 scalar added
@kernel
def mixed_scalars(x: Ptr[f32], y: Ptr[f16], out: Ptr[f32]) -> None:
    tl.store(out, tl.load(x) + tl.load(y))  # wrong


# mistake maximum_of_mixed (mixed-floats): the maximum of an f32 and an f16 scalar
@kernel
def maximum_of_mixed(x: Ptr[f32], y: Ptr[f16], out: Ptr[f32]) -> None:
    larger = tl.maximum(tl.load(x), tl.load(y))  # wrong
    tl.store(out, larger.to(f32))


# mistake integers_times_floats (integer-and-float): an i32 tensor times an f32 tensor
@kernel
def integers_times_floats(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, lanes * tl.load(x + lanes))  # wrong


# mistake integers_times_literal (integer-and-float): an i32 tensor times a float literal
@kernel
def integers_times_literal(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, (lanes * 0.5).to(f32))  # wrong


# mistake mean_by_count (integer-and-float): floats divided by a run-time integer
@kernel
def mean_by_count(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    values = tl.load(x + tl.arange(0, 16))
    tl.store(out, tl.sum(values, axis=0) / n)  # wrong


# mistake any_number_times_half (integer-and-float): a float literal on elements of any number type
@kernel
def any_number_times_half(x: Ptr[D], out: Ptr[D]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes) * 0.5)  # wrong


# mistake integers_equal_float (compared-dtypes): an i32 tensor == a float
@kernel
def integers_equal_float(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes), mask=lanes == 1.5)  # wrong


# mistake integers_below_floats (compared-dtypes): an i32 tensor < an f32 tensor
@kernel
def integers_below_floats(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    tl.store(out + lanes, values, mask=lanes < values)  # wrong


# mistake exponent_of_integers (float-function): exp of integers
@kernel
def exponent_of_integers(out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.exp(lanes).to(f32))  # wrong


# mistake exponent_of_half (float-function): exp of f16, which needs f32
@kernel
def exponent_of_half(x: Ptr[f16], out: Ptr[f16]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.exp(tl.load(x + lanes)))  # wrong


# mistake root_method_of_integers (float-function): the method sqrt of integers
@kernel
def root_method_of_integers(x: Ptr[i32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes).sqrt().to(f32))  # wrong


# mistake sigmoid_of_bfloat (float-function): sigmoid of bf16, which needs f32
@kernel
def sigmoid_of_bfloat(x: Ptr[bf16], out: Ptr[bf16]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.sigmoid(tl.load(x + lanes)))  # wrong


# mistake bits_of_float (integer-function): `&` of floats
@kernel
def bits_of_float(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes) & 1)  # wrong


# mistake shifted_float (integer-function): `<<` of floats
@kernel
def shifted_float(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes) << 2)  # wrong


# mistake inverted_float (integer-function): `~` of floats
@kernel
def inverted_float(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, ~tl.load(x + lanes))  # wrong


# mistake bits_counted_of_float (integer-function): popc of floats
@kernel
def bits_counted_of_float(x: Ptr[f32], out: Ptr[i32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.math.popc(tl.load(x + lanes)))  # wrong


# mistake float_default_of_integers (wrong-default): a float as `other` of an integer load
@kernel
def float_default_of_integers(x: Ptr[i32], out: Ptr[i32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes, mask=lanes < n, other=-float("inf"))  # wrong
    tl.store(out + lanes, values)


# mistake narrow_default (wrong-default): an f16 scalar as `other` of an f32 load
@kernel
def narrow_default(x: Ptr[f32], fill: Ptr[f16], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes, mask=lanes < n, other=tl.load(fill))  # wrong
    tl.store(out + lanes, values)


# mistake chosen_from_mixed (mixed-branches): where between f32 and i32
@kernel
def chosen_from_mixed(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    tl.store(out + lanes, tl.where(values > 0.0, values, lanes).to(f32))  # wrong


# mistake chosen_scalars (mixed-branches): where between an f32 and an f16 scalar
@kernel
def chosen_scalars(x: Ptr[f32], y: Ptr[f16], out: Ptr[f32], n: i32 | int) -> None:
    chosen = tl.where(tl.program_id(0) < n, tl.load(x), tl.load(y))  # wrong
    tl.store(out, chosen.to(f32))


# mistake python_dtype (foreign-dtype): a Python type as dtype
@kernel
def python_dtype(x: Ptr[i32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes).to(float))  # wrong


# mistake numpy_dtype (foreign-dtype): a NumPy dtype
@kernel
def numpy_dtype(out: Ptr[f32]) -> None:
    tl.store(out + tl.arange(0, 16), tl.zeros((16,), np.float32))  # wrong


# mistake named_dtype (foreign-dtype): a dtype by its name in a string
@kernel
def named_dtype(out: Ptr[f32]) -> None:
    tl.store(out + tl.arange(0, 16), tl.zeros((16,), "float32"))  # wrong


# mistake zeros_without_dtype (missing-argument): zeros without a dtype
@kernel
def zeros_without_dtype(out: Ptr[f32]) -> None:
    tl.store(out + tl.arange(0, 16), tl.zeros((16,)))  # wrong


# mistake two_type_variables (generic-leak): a value of D stored through a pointer to F
@kernel
def two_type_variables(x: Ptr[D], out: Ptr[F]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes))  # wrong


# mistake concrete_for_generic (generic-leak): f32 stored through a pointer to any float
@kernel
def concrete_for_generic(x: Ptr[F], out: Ptr[F]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes).to(f32) * 2.0)  # wrong


# mistake narrow_integers (mixed-signedness): i8 and u8 added
@kernel
def narrow_integers(x: Ptr[i8], y: Ptr[u8], out: Ptr[i8]) -> None:
    lanes = tl.arange(0, 16)
    total = tl.load(x + lanes) + tl.load(y + lanes)  # wrong
    tl.store(out + lanes, total.to(i8))


# mistake counted_booleans (boolean-arithmetic): i1 + i1, which wraps in one bit
@kernel
def counted_booleans(x: Ptr[i1], y: Ptr[i1], out: Ptr[i32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, (tl.load(x + lanes) + tl.load(y + lanes)).to(i32))  # wrong


# mistake negated_boolean (boolean-arithmetic): `-` of a mask
@kernel
def negated_boolean(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    outside = -(lanes < n)  # wrong
    tl.store(out + lanes, tl.load(x + lanes), mask=outside)


# mistake mask_plus_number (boolean-arithmetic): a mask plus a number
@kernel
def mask_plus_number(x: Ptr[f32], out: Ptr[i32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, ((tl.load(x + lanes) > 0.0) + 1).to(i32))  # wrong
