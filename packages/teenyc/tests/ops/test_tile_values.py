"""Block pointers, tensor descriptors and pointers to pointers in the interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from teeny_macros.diagnostics import CompileError
from teenyc import passes
from teenyc.interp import InterpProgram
from teenyc.passes.descriptors import lower_descriptors

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(params=["descriptors", "pointers"])
def start(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`start(kernel, *arguments)` runs one program, descriptors lowered to pointers or not."""

    def run(made: Any, *arguments: Any) -> None:
        module = made.lower(passes=False)
        if request.param == "pointers":
            lower_descriptors(module)
            assert not any("descriptor" in op.name for op in module.walk())
        passes.run(module)
        InterpProgram(module).launch((1, 1, 1), list(arguments))

    return run


RNG = np.random.default_rng(13)


def window(x: Any, row: int, column: int, rows: int, columns: int, fill: float) -> Any:
    """A tile of a matrix, with `fill` where it leaves it."""
    found = np.full((rows, columns), fill, x.dtype)
    for i in range(rows):
        for j in range(columns):
            if 0 <= row + i < x.shape[0] and 0 <= column + j < x.shape[1]:
                found[i, j] = x[row + i, column + j]
    return found


PLACES = [(0, 0), (-3, 5), (7, 12), (9, -2), (100, 0)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("option", "fill"), [("zero", 0.0), ("nan", np.nan)])
def test_a_block_is_padded_where_it_leaves_its_array(
    place: tuple[int, int], option: str, fill: float, kernel: Callable[..., Any]
) -> None:
    made = kernel(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32], m: i32, n: i32, i: i32, j: i32",
        f"""\
p = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (i, j), (4, 8), (1, 0))
x = tl.load(p, boundary_check=(0, 1), padding_option="{option}")
o = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
tl.store(out_ptr + o, x)""",
    )
    x, out = RNG.standard_normal((10, 15)).astype(np.float32), np.zeros((4, 8), np.float32)
    made.program().launch((1, 1, 1), [x, out, 10, 15, *place])
    assert np.array_equal(out, window(x, *place, 4, 8, fill), equal_nan=True)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("option", "fill"), [("zero", 0.0), ("nan", np.nan)])
def test_a_descriptor_pads_what_it_reads_outside(
    place: tuple[int, int],
    option: str,
    fill: float,
    kernel: Callable[..., Any],
    start: Callable[..., None],
) -> None:
    made = kernel(
        "x_ptr: Ptr[f16], out_ptr: Ptr[f16], m: i32, n: i32, s: i64, i: i32, j: i32",
        f"""\
d = tl.make_tensor_descriptor(x_ptr, [m, n], [s, 1], [4, 8], padding_option="{option}")
e = tl.make_tensor_descriptor(out_ptr, (4, 8), (8, 1), (4, 8))
e.store((0, 0), d.load((i, j)))""",
    )
    x, out = RNG.standard_normal((10, 24)).astype(np.float16), np.zeros((4, 8), np.float16)
    start(made, x, out, 10, 15, 24, *place)
    assert np.array_equal(out, window(x[:, :15], *place, 4, 8, fill), equal_nan=True)


@pytest.mark.parametrize(
    "store",
    [
        """\
p = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (i, j), (4, 8), (1, 0))
tl.store(p, tl.full((4, 8), 7, f32), boundary_check=(0, 1))""",
        """\
d = tl.make_tensor_descriptor(x_ptr, (m, n), (n, 1), (4, 8))
d.store((i, j), tl.full((4, 8), 7, f32))""",
    ],
    ids=["block pointer", "descriptor"],
)
def test_nothing_is_written_outside_of_the_array(
    store: str, kernel: Callable[..., Any], start: Callable[..., None]
) -> None:
    made = kernel("x_ptr: Ptr[f32], m: i32, n: i32, i: i32, j: i32", store)
    for row, column in PLACES:
        x = np.zeros((10, 15), np.float32)
        start(made, x, 10, 15, row, column)
        wanted = np.zeros((10, 15), np.float32)
        wanted[max(row, 0) : max(row + 4, 0), max(column, 0) : max(column + 8, 0)] = 7
        assert np.array_equal(x, wanted)


def test_only_the_axes_that_are_named_are_checked(kernel: Callable[..., Any]) -> None:
    made = kernel(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32]",
        """\
p = tl.make_block_ptr(x_ptr, (4, 3), (4, 1), (0, 0), (4, 4), (1, 0))
o = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
tl.store(out_ptr + o, tl.load(p, boundary_check=(0,), padding_option="zero"))""",
    )
    x, out = RNG.standard_normal((4, 4)).astype(np.float32), np.zeros((4, 4), np.float32)
    made.program().launch((1, 1, 1), [x, out])
    assert np.array_equal(out, x)


def test_a_matrix_product_walks_block_pointers(kernel: Callable[..., Any]) -> None:
    made = kernel(
        "a_ptr: Ptr[f32], b_ptr: Ptr[f32], c_ptr: Ptr[f32], m: i32, n: i32, k: i32",
        """\
i, j = tl.program_id(0) * 16, tl.program_id(1) * 16
a = tl.make_block_ptr(a_ptr, (m, k), (k, 1), (i, 0), (16, 16), (1, 0))
b = tl.make_block_ptr(b_ptr, (k, n), (n, 1), (0, j), (16, 16), (1, 0))
acc = tl.zeros((16, 16), f32)
for _ in range(0, k, 16):
    x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
    y = tl.load(b, boundary_check=(0, 1), padding_option="zero")
    acc = tl.dot(x, y, acc)
    a = tl.advance(a, (0, 16))
    b = b.advance((16, 0))
c = tl.make_block_ptr(c_ptr, (m, n), (n, 1), (i, j), (16, 16), (1, 0))
tl.store(c, acc, boundary_check=(0, 1))""",
    )
    a, b = RNG.standard_normal((20, 37)), RNG.standard_normal((37, 25))
    a, b, c = a.astype(np.float32), b.astype(np.float32), np.zeros((20, 25), np.float32)
    made.program().launch((2, 2, 1), [a, b, c, 20, 25, 37])
    assert np.allclose(c, a @ b, atol=1e-4)


def test_a_block_pointer_may_come_out_of_a_branch(kernel: Callable[..., Any]) -> None:
    made = kernel(
        "x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32], n: i32",
        """\
p = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (4,), (0,))
if n > 3:
    p = p.advance((4,))
tl.store(out_ptr + tl.arange(0, 4), tl.load(p))""",
    )
    x, out = np.arange(8, dtype=np.int32), np.zeros(4, np.int32)
    for n, wanted in ((3, [0, 1, 2, 3]), (4, [4, 5, 6, 7])):
        made.program().launch((1, 1, 1), [x, x, out, n])
        assert list(out) == wanted


REDUCES: dict[str, Any] = {
    "add": lambda old, new: old + new, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCES)
def test_a_descriptor_changes_its_array(
    name: str, kernel: Callable[..., Any], start: Callable[..., None]
) -> None:
    made = kernel(
        "x_ptr: Ptr[i32], y_ptr: Ptr[i32]",
        f"""\
x = tl.make_tensor_descriptor(x_ptr, (6, 12), (12, 1), (4, 8))
y = tl.make_tensor_descriptor(y_ptr, (4, 8), (8, 1), (4, 8))
x.atomic_{name}((2, 4), y.load((0, 0)))
x.atomic_{name}((4, 8), y.load((0, 0)))""",
    )
    x = RNG.integers(-99, 99, (6, 12)).astype(np.int32)
    y = RNG.integers(-99, 99, (4, 8)).astype(np.int32)
    wanted = x.copy()
    wanted[2:6, 4:12] = REDUCES[name](wanted[2:6, 4:12], y)
    wanted[4:, 8:] = REDUCES[name](wanted[4:, 8:], y[:2, :4])
    start(made, x, y)
    assert np.array_equal(x, wanted)


def test_rows_are_gathered_and_scattered(
    kernel: Callable[..., Any], start: Callable[..., None]
) -> None:
    made = kernel(
        "x_ptr: Ptr[f32], rows_ptr: Ptr[i32], out_ptr: Ptr[f32]",
        """\
x = tl.make_tensor_descriptor(x_ptr, (20, 16), (16, 1), (1, 8))
out = tl.make_tensor_descriptor(out_ptr, (20, 16), (16, 1), (1, 8))
rows = tl.load(rows_ptr + tl.arange(0, 8))
out.scatter(x.gather(rows, 4) * 2, rows, 12)""",
    )
    x, out = RNG.standard_normal((20, 16)).astype(np.float32), np.zeros((20, 16), np.float32)
    rows = np.asarray([3, 1, 19, 0, 7, -1, 20, 12], np.int32)
    start(made, x, rows, out)
    wanted = np.zeros((20, 16), np.float32)
    inside = rows[(rows >= 0) & (rows < 20)]
    wanted[inside, 12:16] = 2 * x[inside, 4:8]
    assert np.array_equal(out, wanted)


def test_pointers_are_read_from_memory(kernel: Callable[..., Any]) -> None:
    made = kernel(
        "table_ptr: Ptr[i64], out_ptr: Ptr[f32], x_ptr: Ptr[f32], y_ptr: Ptr[f32]",
        """\
i = tl.program_id(0)
x = tl.load(table_ptr + i).to(tl.pointer_type(f32))
tl.store(out_ptr + i * 4 + tl.arange(0, 4), tl.load(x + tl.arange(0, 4)))""",
    )
    x, y = RNG.standard_normal((2, 4)).astype(np.float32)
    table = np.asarray([array.__array_interface__["data"][0] for array in (y, x)], np.int64)
    out = np.zeros((2, 4), np.float32)
    made.program().launch((2, 1, 1), [table, out, x, y])
    assert np.array_equal(out, [y, x])


def test_methods_of_pointers_are_functions_of_memory(kernel: Callable[..., Any]) -> None:
    made = kernel(
        "x_ptr: Ptr[i32]",
        "p = x_ptr + tl.arange(0, 4)\np.store(5)\np.atomic_add(tl.arange(0, 4))\n"
        "x_ptr.atomic_max(9)",
    )
    x = np.zeros(4, np.int32)
    made.program().launch((1, 1, 1), [x])
    assert list(x) == [9, 6, 7, 8]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16, 16), (0,))", "E0512"),
        ("tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (1,))", "E0414"),
        ("tl.make_block_ptr(n, (n,), (1,), (0,), (16,), (0,))", "E0501"),
        ("tl.make_block_ptr(x_ptr, (n,), (1.5,), (0,), (16,), (0,))", "E0512"),
        ("tl.advance(x_ptr, (1,))", "E0501"),
        ("tl.load(x_ptr, boundary_check=(0,))", "E0512"),
        ("tl.load(tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (0,)), mask=n > 1)", "E0512"),
        ("tl.load(tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (0,)), boundary_check=(1,))",
         "E0405"),
        ("tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (0,)) + 1", "E0106"),
        ("tl.make_tensor_descriptor(x_ptr, (n,), (2,), (16,))", "E0512"),
        ("tl.make_tensor_descriptor(x_ptr, (n,), (n,), (16,))", "E0512"),
        ("tl.make_tensor_descriptor(x_ptr, (n,), (1,), (2,))", "E0512"),
        ('tl.make_tensor_descriptor(i_ptr, (n,), (1,), (16,), "nan")', "E0301"),
        ('tl.make_tensor_descriptor(x_ptr, (n,), (1,), (16,), "one")', "E0416"),
        ("tl.make_tensor_descriptor(x_ptr, (n,), (1,), (16,)).load((0, 0))", "E0512"),
        ("tl.make_tensor_descriptor(x_ptr, (n,), (1,), (16,)).gather(tl.arange(0, 8), 0)", "E0512"),
        ("tl.make_tensor_descriptor(x_ptr, (n,), (1,), (16,)).atomic_and([0], 1)", "E0511"),
        ("tl.make_tensor_descriptor(x_ptr, (n,), (1,), (16,)).nosuch", "E0202"),
        ("tl.load_tensor_descriptor(x_ptr, (0,))", "E0501"),
        ("tl.exp(tl.make_tensor_descriptor(x_ptr, (n,), (1,), (16,)))", "E0310"),
    ],
)  # fmt: skip
def test_tiles_that_make_no_sense_are_refused(
    body: str, code: str, kernel: Callable[..., Any]
) -> None:
    with pytest.raises(CompileError) as caught:
        kernel("x_ptr: Ptr[f32], i_ptr: Ptr[i32], n: i32", f"y = {body}").lower()
    assert caught.value.code == code


CARRIED = {
    "a loop": """\
d = tl.make_tensor_descriptor(x_ptr, [8, n], [n, 1], [4, 8])
acc = tl.zeros((4, 8), f32)
for i in range(3):
    acc += d.load((0, 0))
    d = tl.make_tensor_descriptor(x_ptr + 8 * n * (i + 1), [8, n], [n, 1], [4, 8])""",
    "a tuple in a loop": """\
p = (tl.make_tensor_descriptor(x_ptr, [8, n], [n, 1], [4, 8]), 0)
acc = tl.zeros((4, 8), f32)
while p[1] < 3:
    acc += p[0].load((0, 0))
    i = p[1] + 1
    p = (tl.make_tensor_descriptor(x_ptr + 8 * n * i, [8, n], [n, 1], [4, 8]), i)""",
    "a branch in a loop": """\
d = tl.make_tensor_descriptor(x_ptr, [8, n], [n, 1], [4, 8])
acc = tl.zeros((4, 8), f32)
for i in range(3):
    acc += d.load((0, 0))
    if i == 0:
        d = tl.make_tensor_descriptor(x_ptr + 8 * n, [8, n], [n, 1], [4, 8])
    else:
        d = tl.make_tensor_descriptor(x_ptr + 16 * n, [n, n], [n, 1], [4, 8])""",
}


@pytest.mark.parametrize("body", CARRIED.values(), ids=list(CARRIED))
def test_a_descriptor_may_change_in(
    body: str, kernel: Callable[..., Any], start: Callable[..., None]
) -> None:
    made = kernel(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32",
        f"""\
{body}
e = tl.make_tensor_descriptor(out_ptr, (4, 8), (8, 1), (4, 8))
e.store((0, 0), acc)""",
    )
    x = RNG.standard_normal((3, 8, 16)).astype(np.float32)
    out = np.zeros((4, 8), np.float32)
    start(made, x, out, 16)
    wanted = x[0, :4, :8] + x[1, :4, :8] + x[2, :4, :8]
    assert np.array_equal(out, wanted)


def test_the_padding_of_a_descriptor_goes_with_it(
    kernel: Callable[..., Any], start: Callable[..., None]
) -> None:
    made = kernel(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32",
        """\
d = tl.make_tensor_descriptor(x_ptr, [2, 8], [8, 1], [4, 8])
if n > 3:
    d = tl.make_tensor_descriptor(x_ptr, [2, 8], [8, 1], [4, 8], padding_option="nan")
e = tl.make_tensor_descriptor(out_ptr, (4, 8), (8, 1), (4, 8))
e.store((0, 0), d.load((0, 0)))""",
    )
    x = RNG.standard_normal((2, 8)).astype(np.float32)
    for n, fill in ((1, 0.0), (4, np.nan)):
        out = np.zeros((4, 8), np.float32)
        start(made, x, out, n)
        assert np.array_equal(out, window(x, 0, 0, 4, 8, fill), equal_nan=True)


def test_descriptors_of_other_tiles_are_not_joined(kernel: Callable[..., Any]) -> None:
    with pytest.raises(CompileError) as caught:
        kernel(
            "x_ptr: Ptr[f32], n: i32",
            """\
d = tl.make_tensor_descriptor(x_ptr, [8, n], [n, 1], [4, 8])
for i in range(n):
    d = tl.make_tensor_descriptor(x_ptr, [8, n], [n, 1], [8, 8])""",
        ).lower()
    (fault,) = caught.value.diagnostics
    assert fault.code == "E0604"
    assert "TensorDescriptor[f32, (4, 8)]" in fault.message
