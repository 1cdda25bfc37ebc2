"""The kernel language seen from the host: names, dtypes, typed arrays, and calls that must fail."""

from __future__ import annotations

import re
import subprocess
import sys
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import teeny_triton as tl
from teeny_macros.diagnostics import Code, LaunchError, TeenyError
from teeny_triton import codes, host
from teeny_triton._surface import MODULES
from teeny_triton.rules import DslFunction, HostFunction
from teeny_triton.scalar import Scalar

EXPLAIN = Path(codes.__file__).with_name("explain")
FUNCTIONS = sorted(name for name in MODULES if isinstance(getattr(tl, name), DslFunction))
INTEGERS = ["i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
DTYPES = [*INTEGERS, "f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2"]


def blocks(code: str, kind: str) -> list[str]:
    text = (EXPLAIN / f"{code}.md").read_text(encoding="utf-8")
    return re.findall(rf"```py {kind}\n(.*?)```", text, flags=re.DOTALL)


def test_the_package_imports_no_heavy_library_and_few_modules() -> None:
    program = (
        "import sys; before = set(sys.modules); import teeny_triton; "
        "from teeny_triton import f32, Ptr, Const, Axis; new = set(sys.modules) - before; "
        "assert not new & {'numpy', 'triton', 'llvmlite', 'inspect', 'dataclasses', 'ast'}, new; "
        "assert not any('triton.math' in name for name in new)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "cdiv"])
def test_an_operation_called_outside_a_kernel_is_a_coded_error(name: str) -> None:
    function = getattr(tl, name)
    assert (function.__module__, function.__name__) == ("teeny_triton", name)
    assert function.__doc__
    with pytest.raises(TeenyError) as caught:
        function(1, 2)
    assert caught.value.code == "E0011"
    assert name in caught.value.diagnostics[0].message


@given(st.integers(0, 2**40), st.integers(1, 2**20))
def test_cdiv_of_python_integers_works_on_the_host(x: int, div: int) -> None:
    assert isinstance(tl.cdiv, HostFunction)
    assert tl.cdiv(x, div) == -(-x // div)


def test_a_name_that_the_language_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="arrange"):
        _ = tl.arrange  # type: ignore[attr-defined]


def test_star_import_hides_no_builtin() -> None:
    names: dict[str, object] = {}
    exec("from teeny_triton import *", names)
    assert {"exp", "f32", "Ptr", "typed"} <= names.keys()
    assert not {"sum", "max", "min", "abs", "range"} & names.keys()
    assert {"sum", "exp", "f32", "typed"} <= set(dir(tl))


@pytest.mark.parametrize("name", DTYPES)
def test_a_dtype_has_its_name_and_size(name: str) -> None:
    dtype = getattr(tl, name)
    bits = int(re.findall(r"\d+", name)[0])
    assert dtype.name == dtype.__name__ == name
    assert dtype.itemsize == max(1, bits // 8)
    assert dtype.__module__.startswith("teeny_triton")


def test_tritons_dtype_names_are_aliases() -> None:
    assert (tl.int1, tl.float32, tl.bfloat16) == (tl.i1, tl.f32, tl.bf16)
    assert (tl.uint8, tl.float8e4nv, tl.float8e5) == (tl.u8, tl.f8e4m3, tl.f8e5m2)


def test_annotations_evaluate_at_run_time() -> None:
    assert get_args(tl.i32 | int) == (tl.i32, int)
    assert get_args(tl.Ptr[tl.f32] | None) == (tl.Ptr[tl.f32], type(None))
    assert tl.Tensor[tl.f32, tl.R2].__args__ == (tl.f32, tl.R2)  # type: ignore[attr-defined]
    assert tl.Const[int].__metadata__ == ("const",)  # type: ignore[attr-defined]


def test_a_dtype_called_on_the_host_types_one_argument() -> None:
    three = tl.f32(3)
    assert (three.dtype, three.value) == (tl.f32, 3)
    assert isinstance(three, Scalar)
    assert tl.i32(three).value == 3
    assert {tl.f32(3): "same"}[three] == "same"
    assert three is not tl.f32(3)
    assert Scalar.__eq__(three, tl.f64(3)) is False
    assert repr(three) == "f32(3)"


def test_constexpr_holds_its_value() -> None:
    five = host.constexpr(host.constexpr(5))
    assert five.value == 5
    assert five == 5
    assert five == tl.constexpr(5)
    assert {5: "five"}[five] == "five"
    assert repr(five) == "constexpr(5)"


def test_auto_is_one_value_that_names_itself() -> None:
    assert tl.auto() is tl.auto()
    assert repr(tl.auto()) == "auto()"


@pytest.mark.parametrize(
    ("numpy_name", "name"),
    [("float32", "f32"), ("float16", "f16"), ("int8", "i8"), ("uint64", "u64"), ("bool", "i1")],
)
def test_typed_takes_the_dtype_of_a_numpy_array(numpy_name: str, name: str) -> None:
    array = np.zeros(3, numpy_name)
    typed = host.typed(array)
    assert (typed.dtype, typed.array is array) == (name, True)
    assert np.from_dlpack(typed).shape == (3,)
    assert typed.__dlpack_device__() == array.__dlpack_device__()
    assert repr(typed).startswith(f"DeviceArray({name}, array")


def test_typed_takes_the_dtype_of_an_ml_dtypes_array() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert tl.typed(np.zeros(3, ml_dtypes.bfloat16)).dtype == "bf16"
    assert tl.typed(np.zeros(3, ml_dtypes.float8_e4m3fn)).dtype == "f8e4m3"


def test_typed_reads_elements_as_a_dtype_of_the_same_size() -> None:
    assert tl.typed(np.zeros(3, np.uint16), tl.bf16).dtype == "bf16"

    class Foreign:
        itemsize = 4

    assert tl.typed(Foreign(), tl.f32).dtype == "f32"


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.zeros(3, np.float32), tl.f16),
        (np.zeros(3, np.complex64), None),
        (np.zeros(3, np.complex64), tl.f32),
        ([1.0], None),
    ],
)
def test_typed_refuses_a_dtype_of_another_size_or_none_at_all(array: Any, dtype: Any) -> None:
    with pytest.raises(TeenyError) as caught:
        host.typed(array, dtype)
    assert caught.value.code == "E0012"
    assert caught.value.diagnostics[0].helps


def test_pointer_arithmetic_on_the_host_is_a_coded_error() -> None:
    with pytest.raises(TeenyError) as caught:
        _ = host.typed(np.zeros(3)) + 1
    assert caught.value.code == "E0011"


def test_enumerations_have_tritons_values() -> None:
    assert issubclass(tl.Axis, Enum)
    assert [axis.value for axis in tl.Axis] == [0, 1, 2]
    assert [nan.value for nan in tl.PropagateNan] == [0, 0xFFFF]


@pytest.mark.parametrize("row", codes.CODES, ids=lambda row: row.code)
def test_the_page_of_a_code_fails_and_passes_as_it_says(row: Code) -> None:
    (bad,), good = blocks(row.code, row.code), blocks(row.code, "ok")
    with pytest.raises(TeenyError) as caught:
        exec(bad, {})
    assert caught.value.code == row.code
    assert good
    for text in good:
        exec(text, {})


@pytest.mark.parametrize(("array", "block"), [([1, 2], (2,)), (np.zeros((8, 8)), 4)])
def test_what_no_descriptor_can_be_made_of_is_refused(array: Any, block: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        tl.tensor_descriptor(array, block)
    assert caught.value.code == "E0013"
    assert caught.value.diagnostics[0].helps
