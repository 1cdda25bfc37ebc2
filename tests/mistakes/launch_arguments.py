"""Launch: arguments. The kernels are right; one mistake in each launch, at the line `# wrong`."""

from typing import TypeVar

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, DeviceArray, Float, Num, Ptr, f32, i32, i64

D = TypeVar("D", bound=Num)
F = TypeVar("F", bound=Float)


@kernel
def add(x: Ptr[D], y: Ptr[D], out: Ptr[D], n: i32 | int, BLOCK: Const[int]) -> None:
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    total = tl.load(x + lanes, mask=inside) + tl.load(y + lanes, mask=inside)
    tl.store(out + lanes, total, mask=inside)


@kernel
def scale(
    x: Ptr[F],
    out: Ptr[F],
    factor: F | float,
    n: i32 | int,
    SQUARE: Const[bool] = False,
    ROUND: Const[str] = "up",
) -> None:
    lanes = tl.program_id(0) * 16 + tl.arange(0, 16)
    values = tl.load(x + lanes, mask=lanes < n) * factor
    if SQUARE:
        values = values * values
    if ROUND == "up":
        values = values + 1
    tl.store(out + lanes, values, mask=lanes < n)


# mistake too_few_pointers (argument-count): a pointer short
def too_few_pointers(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, 16, BLOCK=16)  # wrong


# mistake too_few_numbers (argument-count): the number of elements forgotten
def too_few_numbers(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, BLOCK=16)  # wrong


# mistake too_many_arguments (argument-count): an argument too many
def too_many_arguments(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 16, 16, 16)  # wrong


# mistake constant_forgotten (argument-count): the compile-time value forgotten
def constant_forgotten(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 16)  # wrong


# mistake number_before_pointer (argument-order): a number and a pointer swapped
def number_before_pointer(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, 16, x, BLOCK=16)  # wrong


# mistake factor_after_count (argument-order): a float and an integer swapped
def factor_after_count(x: DeviceArray[f32]) -> None:
    scale[(1,)](x, x, 16, 0.5)  # wrong


# mistake misspelled_constant (argument-name): a misspelled compile-time parameter
def misspelled_constant(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 16, BLOCK_SIZE=16)  # wrong


# mistake misspelled_keyword (argument-name): a misspelled keyword
def misspelled_keyword(x: DeviceArray[f32]) -> None:
    scale[(1,)](x, x, factr=0.5, n=16)  # wrong


# mistake argument_twice (argument-name): an argument given by position and by name
def argument_twice(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 16, n=16, BLOCK=16)  # wrong


# mistake list_for_array (not-an-array): lists where arrays belong
def list_for_array() -> None:
    add[(1,)]([1.0], [2.0], [0.0], 1, BLOCK=16)  # wrong


# mistake number_for_array (not-an-array): a number where an array belongs
def number_for_array(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, 4096, 16, BLOCK=16)  # wrong


# mistake none_for_array (not-an-array): None where an array belongs
def none_for_array(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, None, 16, BLOCK=16)  # wrong


# mistake string_for_array (not-an-array): text where an array belongs
def string_for_array(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, "out", 16, BLOCK=16)  # wrong


# mistake array_for_number (wrong-number): an array where a number belongs
def array_for_number(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, x, BLOCK=16)  # wrong


# mistake float_for_integer (wrong-number): a float where an integer belongs
def float_for_integer(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 32 / 2, BLOCK=16)  # wrong


# mistake string_for_number (wrong-number): text where a number belongs
def string_for_number(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, "16", BLOCK=16)  # wrong


# mistake wide_for_narrow_number (wrong-number): an i64 where an i32 belongs
def wide_for_narrow_number(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, i64(16), BLOCK=16)  # wrong


# mistake number_too_large (number-out-of-range): an integer that i32 cannot hold
def number_too_large(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 3000000000, BLOCK=16)  # wrong


# mistake float_constant (wrong-constant): a float as a compile-time integer
def float_constant(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 16, BLOCK=32 / 2)  # wrong


# mistake string_constant (wrong-constant): text as a compile-time integer
def string_constant(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 16, BLOCK="16")  # wrong


# mistake integer_for_text (wrong-constant): an integer as a compile-time text
def integer_for_text(x: DeviceArray[f32]) -> None:
    scale[(1,)](x, x, 0.5, 16, ROUND=1)  # wrong


# mistake text_for_flag (wrong-constant): text as a compile-time flag
def text_for_flag(x: DeviceArray[f32]) -> None:
    scale[(1,)](x, x, 0.5, 16, SQUARE="no")  # wrong


# mistake array_for_constant (array-constant): an array as a compile-time value
def array_for_constant(x: DeviceArray[f32]) -> None:
    add[(1,)](x, x, x, 16, BLOCK=x)  # wrong


# mistake result_of_launch (result-of-launch): the result of a launch, which has none
def result_of_launch(x: DeviceArray[f32]) -> object:
    total = add[(1,)](x, x, x, 16, BLOCK=16)
    return total + 1.0  # wrong
