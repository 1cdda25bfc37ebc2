"""Types and ranks: calls, helpers, loops. One mistake in each kernel, at the line `# wrong`."""

import math

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import R1, Const, Ptr, Tensor, f16, f32, i32, i64


# mistake misspelled_function (unknown-name): a function that does not exist
@kernel
def misspelled_function(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arrange(0, 16)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake misspelled_variable (unknown-name): a variable that does not exist
@kernel
def misspelled_variable(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    inside = lanes < n
    tl.store(out + lanes, tl.load(x + lanes, mask=insde))  # wrong


# mistake torch_method (unknown-name): a method that PyTorch has
@kernel
def torch_method(x: Ptr[f16], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes).float())  # wrong


# mistake torch_keyword (unknown-keyword): a keyword that PyTorch has
@kernel
def torch_keyword(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + tl.arange(0, 16), tl.sum(tl.load(x + at), dim=1))  # wrong


# mistake keepdims_keyword (unknown-keyword): NumPy's spelling of keep_dims
@kernel
def keepdims_keyword(x: Ptr[f32], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tile - tl.max(tile, axis=1, keepdims=True))  # wrong


# mistake one_bound (missing-bound): arange with one argument, as NumPy's
@kernel
def one_bound(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(16)  # wrong
    tl.store(out + lanes, tl.load(x + lanes))


# mistake where_of_condition (missing-branches): where with the condition alone
@kernel
def where_of_condition(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.where(tl.load(x + lanes) > 0.0))  # wrong


# mistake max_for_maximum (reduction-or-pairwise): the reduction `max` for the pairwise `maximum`
@kernel
def max_for_maximum(x: Ptr[f32], y: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.max(tl.load(x + lanes), tl.load(y + lanes)))  # wrong


# mistake maximum_for_max (reduction-or-pairwise): the pairwise `maximum` for the reduction `max`
@kernel
def maximum_for_max(x: Ptr[f32], out: Ptr[f32]) -> None:
    tl.store(out, tl.maximum(tl.load(x + tl.arange(0, 16))))  # wrong


# mistake python_max (foreign-function): Python's max of two tensors
@kernel
def python_max(x: Ptr[f32], y: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, max(tl.load(x + lanes), tl.load(y + lanes)))  # wrong


# mistake math_of_tensor (foreign-function): Python's math.exp of a tensor
@kernel
def math_of_tensor(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, math.exp(tl.load(x + lanes)))  # wrong


# mistake float_of_tensor (foreign-function): Python's float of a tensor
@kernel
def float_of_tensor(x: Ptr[i32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, float(tl.load(x + lanes)))  # wrong


# mistake matrix_operator (unsupported-operator): `@` for dot
@kernel
def matrix_operator(x: Ptr[f16], out: Ptr[f32]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tile @ tile)  # wrong


# mistake power_operator (unsupported-operator): `**` of a tensor
@kernel
def power_operator(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, tl.load(x + lanes) ** 2)  # wrong


# mistake loop_over_tensor (unsupported-iteration): `for` over the elements of a tensor
@kernel
def loop_over_tensor(x: Ptr[f32], out: Ptr[f32]) -> None:
    total = tl.load(x)
    for value in tl.load(x + tl.arange(0, 16)):  # wrong
        total = total + value
    tl.store(out, total)


# mistake range_of_tensor (unsupported-iteration): a range up to a tensor
@kernel
def range_of_tensor(x: Ptr[i32], out: Ptr[i32]) -> None:
    total = tl.load(x)
    for k in range(tl.load(x + tl.arange(0, 16))):  # wrong
        total = total + k
    tl.store(out, total)


# mistake float_range (unsupported-iteration): a range up to a float
@kernel
def float_range(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    total = tl.load(x)
    for k in tl.range(0, n / 16):  # wrong
        total = total + tl.load(x + k)
    tl.store(out, total)


# mistake length_of_tensor (unsupported-iteration): len of a tensor
@kernel
def length_of_tensor(x: Ptr[f32], out: Ptr[f32]) -> None:
    values = tl.load(x + tl.arange(0, 16))
    tl.store(out, tl.sum(values, axis=0) / len(values))  # wrong


# mistake sum_changes_dtype (loop-carried): a sum begun in f16 and continued in f32
@kernel
def sum_changes_dtype(x: Ptr[f32], out: Ptr[f16], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    total = tl.zeros((16,), f16)
    for k in range(n):
        total = total + tl.load(x + k * 16 + lanes)  # wrong
    tl.store(out + lanes, total)


# mistake sum_changes_rank (loop-carried): a sum begun as a vector and continued as a tile
@kernel
def sum_changes_rank(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    total = tl.zeros((16,), f32)
    for k in range(n):
        total = total + tl.load(x + k * 256 + at)  # wrong
    tl.store(out + tl.arange(0, 16), total)


# mistake unset_in_branch (unset-variable): a variable that only one branch sets
@kernel
def unset_in_branch(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    if tl.program_id(0) < n:
        value = tl.load(x)
    tl.store(out, value)  # wrong


# mistake branches_of_two_dtypes (unset-variable): a variable of f32 or of i32
@kernel
def branches_of_two_dtypes(x: Ptr[f32], out: Ptr[f32], n: i32 | int) -> None:
    lanes = tl.arange(0, 16)
    values = tl.load(x + lanes)
    if n > 4:
        values = lanes  # wrong
    tl.store(out + lanes, values)


# mistake helper_of_another_dtype (helper-call): a helper called with another dtype
@device
def doubled(x: Tensor[f32, R1]) -> Tensor[f32, R1]:
    return x * 2.0


@kernel
def helper_of_another_dtype(x: Ptr[f16], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, doubled(tl.load(x + lanes)))  # wrong


# mistake helper_argument_short (helper-call): a helper called with an argument short
@device
def scaled(x: Tensor[f32, R1], factor: f32 | float) -> Tensor[f32, R1]:
    return x * factor


@kernel
def helper_argument_short(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, scaled(tl.load(x + lanes)))  # wrong


# mistake helper_returns_another_rank (helper-call): a helper that returns another rank than it says
@device
def row_sums(x: Tensor[f32, R1]) -> Tensor[f32, R1]:
    return tl.sum(x, axis=0)  # wrong


@kernel
def helper_returns_another_rank(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, row_sums(tl.load(x + lanes)))


# mistake helper_without_result (helper-call): the result of a helper that returns none
@device
def stores_twice(out: Ptr[f32], x: Tensor[f32, R1]) -> None:
    tl.store(out + tl.arange(0, 16), x * 2.0)


@kernel
def helper_without_result(x: Ptr[f32], out: Ptr[f32]) -> None:
    lanes = tl.arange(0, 16)
    tl.store(out + lanes, stores_twice(out, tl.load(x + lanes)))  # wrong


# mistake kernel_with_result (kernel-result): a kernel that returns a value
@kernel  # wrong
def kernel_with_result(x: Ptr[f32]) -> Tensor[f32, R1]:
    return tl.load(x + tl.arange(0, 16))


# mistake combine_of_another_dtype (wrong-combination): a combining function of another dtype
@device
def product_of_integers(a: i32, b: i32) -> i32:
    return a * b


@kernel
def combine_of_another_dtype(x: Ptr[f32], out: Ptr[f32]) -> None:
    values = tl.load(x + tl.arange(0, 16))
    tl.store(out, tl.reduce(values, 0, product_of_integers))  # wrong


# mistake combine_of_three (wrong-combination): a combining function of three arguments
@device
def product_of_three(a: f32, b: f32, c: f32) -> f32:
    return a * b * c


@kernel
def combine_of_three(x: Ptr[f32], out: Ptr[f32]) -> None:
    values = tl.load(x + tl.arange(0, 16))
    tl.store(out, tl.reduce(values, 0, product_of_three))  # wrong


# mistake combine_compares (wrong-combination): a combining function that compares
@kernel
def combine_compares(x: Ptr[f32], out: Ptr[f32]) -> None:
    values = tl.load(x + tl.arange(0, 16))
    tl.store(out, tl.reduce(values, 0, lambda a, b: a > b))  # wrong


# mistake value_and_index_swapped (wrong-combination): the index of a maximum used as its value
@kernel
def value_and_index_swapped(x: Ptr[f32], out: Ptr[f32]) -> None:
    values = tl.load(x + tl.arange(0, 16))
    where, best = tl.max(values, axis=0, return_indices=True)
    tl.store(out + where, best)  # wrong


# mistake wide_for_narrow (helper-scalar): an i64 scalar where a helper takes an i32
@device
def offset_of_row(row: i32, stride: i32 | int) -> i32:
    return row * stride


@kernel
def wide_for_narrow(x: Ptr[f32], rows: Ptr[i64], out: Ptr[f32]) -> None:
    tl.store(out, tl.load(x + offset_of_row(tl.load(rows), 16)))  # wrong


# mistake argument_to_option (unknown-keyword): an option that load does not have
@kernel
def argument_to_option(x: Ptr[f32], out: Ptr[f32], BLOCK: Const[int] = 16) -> None:
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes, default=0.0))  # wrong
