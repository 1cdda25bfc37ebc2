"""Launch: dtypes and instances. The kernels are right; one mistake in each launch, at `# wrong`."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import R1, Const, DeviceArray, Float, Num, Ptr, Tensor, f16, f32, i32

D = TypeVar("D", bound=Num)
F = TypeVar("F", bound=Float)


@kernel
def add(x: Ptr[D], y: Ptr[D], out: Ptr[D], n: i32 | int, BLOCK: Const[int]) -> None:
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    total = tl.load(x + lanes, mask=inside) + tl.load(y + lanes, mask=inside)
    tl.store(out + lanes, total, mask=inside)


@kernel
def halve(x: Ptr[F], out: Ptr[F], n: i32 | int) -> None:
    lanes = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes, mask=lanes < n) * 0.5, mask=lanes < n)


@kernel
def copy(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes))


@device
def tripled(x: Tensor[f32, R1]) -> Tensor[f32, R1]:
    return x * 3.0


# mistake half_for_single (array-dtype): an f16 array for a pointer to f32
def half_for_single(x: DeviceArray[f32], h: DeviceArray[f16]) -> None:
    copy[(1,)](h, x)  # wrong


# mistake double_for_single (array-dtype): a typed NumPy array of f64 for a pointer to f32
def double_for_single(x: DeviceArray[f32], a: npt.NDArray[np.float64]) -> None:
    copy[(1,)](tl.typed(a), x)  # wrong


# mistake raw_double_for_single (array-dtype): a NumPy array of f64 for a pointer to f32
def raw_double_for_single(a: npt.NDArray[np.float64]) -> None:
    copy[(1,)](a, a)  # wrong


# mistake raw_integers_for_single (array-dtype): a NumPy array of i32 for a pointer to f32
def raw_integers_for_single(a: npt.NDArray[np.int32], x: DeviceArray[f32]) -> None:
    copy[(1,)](a, x)  # wrong


# mistake two_dtypes_for_one (dtype-link): f32 and f16 arrays for one type variable
def two_dtypes_for_one(x: DeviceArray[f32], h: DeviceArray[f16]) -> None:
    add[(1,)](x, h, x, 16, BLOCK=16)  # wrong


# mistake integers_and_floats_for_one (dtype-link): i32 and f32 arrays for one type variable
def integers_and_floats_for_one(x: DeviceArray[f32], k: DeviceArray[i32]) -> None:
    add[(1,)](k, k, x, 16, BLOCK=16)  # wrong


# mistake raw_dtypes_for_one (dtype-link): NumPy arrays of two dtypes for one type variable
def raw_dtypes_for_one(a: npt.NDArray[np.float32], b: npt.NDArray[np.float64]) -> None:
    add[(1,)](a, b, a, 16, BLOCK=16)  # wrong


# mistake integers_for_floats (dtype-bound): integers for a type variable bound to floats
def integers_for_floats(k: DeviceArray[i32]) -> None:
    halve[(1,)](k, k, 16)  # wrong


# mistake raw_integers_for_floats (dtype-bound): NumPy integers for a type variable bound to floats
def raw_integers_for_floats(a: npt.NDArray[np.int64]) -> None:
    halve[(1,)](a, a, 16)  # wrong


# mistake complex_array (unknown-dtype): an array of complex numbers
def complex_array(a: npt.NDArray[np.complex64]) -> None:
    add[(1,)](a, a, a, 16, BLOCK=16)  # wrong


# mistake array_of_objects (unknown-dtype): an array of Python objects
def array_of_objects(a: npt.NDArray[np.object_]) -> None:
    add[(1,)](a, a, a, 16, BLOCK=16)  # wrong


# mistake stored_to_read_only (read-only): a kernel that stores to a read-only array
def stored_to_read_only(a: npt.NDArray[np.float32]) -> None:
    a.flags.writeable = False
    copy[(1,)](a, a)  # wrong


# mistake misspelled_instance (instance-name): a misspelled name at instantiate
def misspelled_instance() -> None:
    add.instantiate(D=f32, BLOCK_SIZE=16)  # wrong


# mistake misspelled_variable_of_type (instance-name): a misspelled type variable at instantiate
def misspelled_variable_of_type() -> None:
    add.instantiate(T=f32, BLOCK=16)  # wrong


# mistake dtype_as_constant (instance-kind): a dtype where a compile-time integer belongs
def dtype_as_constant() -> None:
    add.instantiate(D=f32, BLOCK=f32)  # wrong


# mistake number_as_dtype (instance-kind): a number where a dtype belongs
def number_as_dtype() -> None:
    add.instantiate(D=32, BLOCK=16)  # wrong


# mistake numpy_dtype_of_instance (instance-kind): a NumPy dtype where a dtype belongs
def numpy_dtype_of_instance() -> None:
    add.instantiate(D=np.float32, BLOCK=16)  # wrong


# mistake float_constant_of_instance (instance-kind): a float as a compile-time integer
def float_constant_of_instance() -> None:
    add.instantiate(D=f32, BLOCK=16.0)  # wrong


# mistake instance_without_constant (instance-missing): a compile-time value forgotten
def instance_without_constant() -> None:
    add.instantiate(D=f32)  # wrong


# mistake instance_without_dtype (instance-missing): a type variable forgotten
def instance_without_dtype() -> None:
    add.instantiate(BLOCK=16)  # wrong


# mistake instance_out_of_bound (dtype-bound): integers for a type variable bound to floats
def instance_out_of_bound() -> None:
    halve.instantiate(F=i32)  # wrong


# mistake constant_given_again (instance-conflict): another compile-time value than the instance's
def constant_given_again(x: DeviceArray[f32]) -> None:
    add.instantiate(D=f32, BLOCK=16)[(1,)](x, x, x, 16, BLOCK=32)  # wrong


# mistake helper_on_host (helper-on-host): a helper called outside a kernel
def helper_on_host() -> object:
    return tripled(3.0)  # wrong
