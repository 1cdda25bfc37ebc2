"""Handlers with arguments of every wrong kind: a value or a coded error with a next step."""

from __future__ import annotations

import inspect
from itertools import product
from typing import Any

import pytest

from teeny_macros.diagnostics import TeenyError
from teenyc import ops, types
from teenyc.ir.builder import Builder
from teenyc.ir.core import Block, Function, Module
from teenyc.ir.opdef import HANDLERS
from teenyc.ir.verifier import verify_module
from teenyc.ops.control import TT_RETURN
from teenyc.ops.libdevice import TABLE
from teenyc.types import AnyDType, PointerDType, ir_type
from teenyc.values import EnumMember, FunctionValue, RuntimeValue

assert ops.__all__
TYPES: list[tuple[AnyDType, tuple[int, ...]]] = [
    (types.I1, (16,)), (types.I1, ()), (types.I8, (16,)), (types.U8, (16,)), (types.I32, ()),
    (types.I32, (16,)), (types.U32, (1, 16)), (types.I64, (16, 1)), (types.F8E4M3, (16,)),
    (types.F16, (16, 16)), (types.BF16, (16,)), (types.F32, ()), (types.F32, (16,)),
    (types.F64, (16,)), (PointerDType(types.F32), ()), (PointerDType(types.F32), (16,)),
    (PointerDType(types.I1), (16, 1)), (PointerDType(PointerDType(types.F16)), ()),
]  # fmt: skip
FIRST = FunctionValue("first", ("a", "b"), lambda values: values[0])
LITERALS: list[Any] = [
    None, True, 0, 1, -1, 3, 1 << 40, 1 << 70, 1.5, float("nan"), 1e300, "", "tf32", (), (16,),
    (0,), (1, 0), (16, "x"), (None,), slice(None), slice(1, 2), (slice(None), None), types.F32,
    types.I1,
    PointerDType(types.F32), EnumMember("Axis", "X", 0), EnumMember("PropagateNan", "ALL", 65535),
    FIRST,
]  # fmt: skip


def arguments() -> tuple[Function, list[Any]]:
    """A function with a parameter of every type, and everything an argument may be."""
    function = Function("k_entry_point", [ir_type(*type_) for type_ in TYPES])
    values = [
        RuntimeValue(arg, dtype, shape)
        for arg, (dtype, shape) in zip(function.args, TYPES, strict=True)
    ]
    return function, [*values, *LITERALS]


def attempt(name: str, bound: dict[str, Any], function: Function) -> None:
    """Call a handler; what it emits must satisfy the verifier."""
    block = function.body.block
    block.ops.clear()
    b = Builder(block)
    try:
        HANDLERS[name](b, **bound)
    except TeenyError as error:
        (found,) = error.diagnostics
        assert found.code[:3] in ("E01", "E02", "E03", "E04", "E05"), (name, bound, found.code)
        assert found.helps or found.code == "E0199", (name, bound, found.code)
        assert "\n" not in found.message
        return
    b.emit(TT_RETURN)
    module = Module("k")
    module.functions.append(function)
    verify_module(module, after=f"{name} of {bound}")


def parameters(name: str) -> tuple[list[str], list[str]]:
    """The required parameters of a handler, and the optional ones."""
    found = list(inspect.signature(HANDLERS[name]).parameters.values())[1:]
    required = [p.name for p in found if p.default is inspect.Parameter.empty]
    return required, [p.name for p in found if p.default is not inspect.Parameter.empty]


# Functions of libdevice share one handler: those of one kind stand for the others.
SAMPLES = {"tanh", "isnan", "pow", "norm3d", "norm4d", "popc", "mul24", "add_rz", "double2int_rn"}


@pytest.mark.parametrize("name", sorted(set(HANDLERS) - (set(TABLE) - SAMPLES)))
def test_required_arguments_of_any_kind_give_a_value_or_a_coded_error(name: str) -> None:
    required, _ = parameters(name)
    function, every = arguments()
    runtime = every[: len(TYPES)]
    rest = [runtime[0], runtime[12], 1, 2.5, None] if len(required) < 5 else [runtime[12], "e5m2"]
    chosen = [every if i < 2 else rest for i in range(len(required))]
    for combination in product(*chosen):
        if name.startswith("operator.") and not any(
            isinstance(value, RuntimeValue) for value in combination
        ):
            continue  # the front end computes with two compile-time values itself
        attempt(name, dict(zip(required, combination, strict=True)), function)


@pytest.mark.parametrize("name", sorted(n for n in HANDLERS if parameters(n)[1]))
def test_optional_arguments_of_any_kind_give_a_value_or_a_coded_error(name: str) -> None:
    required, optional = parameters(name)
    function, every = arguments()
    by_kind = {str(v.dtype) + str(v.shape): v for v in every[: len(TYPES)]}
    good: dict[str, Any] = {
        "pointer": by_kind["Ptr[f32](16,)"], "value": by_kind["f32(16,)"], "x": by_kind["f32(16,)"],
        "y": by_kind["f32(16,)"], "input": by_kind["f16(16, 16)"], "other": by_kind["f16(16, 16)"],
        "dtype": types.BF16, "cond": True, "axis": 0, "num_bins": 16, "combine_fn": FIRST,
        "scalar_fn": FIRST, "val": by_kind["f32(16,)"], "cmp": 1, "min": 0, "max": by_kind["f32()"],
        "prefix": "x", "base": by_kind["Ptr[f32]()"], "shape": (64, 64), "strides": (64, 1),
        "block_shape": (16, 16), "values": 1, "mask": None, "major": 9,
        "lhs": by_kind["f16(16, 16)"], "lhs_scale": None, "lhs_format": "fp16",
        "rhs": by_kind["f16(16, 16)"], "rhs_scale": None, "rhs_format": "fp16",
    }  # fmt: skip
    for parameter, value in product(optional, every):
        attempt(name, {**{p: good[p] for p in required}, parameter: value}, function)


def test_a_builder_without_places_still_fails_with_the_code() -> None:
    b = Builder(Block())
    with pytest.raises(TeenyError) as caught:
        HANDLERS["arange"](b, start=0, end=3)
    assert caught.value.code == "E0401"
    assert caught.value.diagnostics[0].span is None
