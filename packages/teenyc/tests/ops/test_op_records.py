"""Each record: its fold is its ref, its ref an independent formula, and its verify refuses."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from teenyc.ir.core import Block, Operation, Value
from teenyc.ir.opdef import REGISTRY
from teenyc.ops import arrays, casts, scalars
from teenyc.ops.compare import FLOAT_PREDICATES, INT_PREDICATES
from teenyc.types import IRType, ScalarType, TensorType

RNG = np.random.default_rng(11)
INTS = ("i1", "i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
EDGES = (0.0, -0.0, 1.0, -1.5, 3.0, 1e-3, 65504.0, 6e-8, 1e-45, 3e38, math.inf, -math.inf, math.nan)

BINARY_INT = ["addi", "subi", "muli", "andi", "ori", "xori", "divsi", "divui", "remsi", "remui"]
BINARY_INT += ["shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"]
BINARY_FLOAT = [
    "addf",
    "subf",
    "mulf",
    "divf",
    "remf",
    "maxnumf",
    "minnumf",
    "maximumf",
    "minimumf",
]


def value_of(type_: IRType) -> Value:
    return Value(type_, Block(), 0)


def operation(
    name: str, types: list[IRType], result: IRType | None = None, **attrs: Any
) -> Operation:
    operands = [value_of(type_) for type_ in types]
    found = REGISTRY[name].result(operands, attrs) if result is None else (result,)
    return Operation(REGISTRY[name], operands, found, attrs)


def samples(name: str, count: int = 24) -> list[Any]:
    """Values of a type: edges and random ones, as a fold sees them."""
    if name in FLOATS:
        spread = [float(x) for x in RNG.normal(size=count) * 10.0 ** RNG.integers(-6, 5, count)]
        return [scalars.round_float(value, name) for value in (*EDGES, *spread)]
    bits = scalars.bits_of(name)
    if bits == 1:
        return [0, 1]
    low = -(1 << (bits - 1))
    edges = [0, 1, -1, 2, 3, 7, bits - 1, bits, low, low + 1, -low - 1]
    drawn = [int(x) for x in RNG.integers(low, -low - 1, count)]
    return [scalars.wrap(value, bits) for value in (*edges, *drawn)]


def read(op: Operation, columns: list[list[Any]]) -> np.ndarray[Any, Any]:
    """What `ref` says of many operands at once."""
    held = [
        np.asarray(column, dtype=arrays.held_dtype(arrays.element_name(value.type)))
        for column, value in zip(columns, op.operands, strict=True)
    ]
    assert op.opdef.ref is not None
    with np.errstate(all="ignore"):
        return np.asarray(op.opdef.ref(np, op, held, None))


def same(found: Any, wanted: Any) -> bool:
    """Equal bits, one NaN being as good as another."""
    a, b = float(found), float(wanted)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


def check_fold_is_ref(op: Operation, rows: list[tuple[Any, ...]]) -> int:
    """Compare where the fold is defined; how often that was."""
    read_rows = read(op, [list(column) for column in zip(*rows, strict=True)])
    assert op.opdef.fold is not None
    name, defined = arrays.element_name(op.results[0].type), 0
    for row, wanted in zip(rows, read_rows, strict=True):
        found = op.opdef.fold(op, list(row))
        if found is None:
            continue
        defined += 1
        if name.startswith("i"):
            assert isinstance(found, int), (op.name, row)
            assert found == scalars.wrap(int(wanted), scalars.bits_of(name)), (op.name, name, row)
        else:
            assert isinstance(found, float), (op.name, row)
            assert same(found, wanted), (op.name, name, row, found, wanted)
    return defined


@pytest.mark.parametrize("kind", INTS)
@pytest.mark.parametrize("name", BINARY_INT)
def test_integer_folds_are_the_numpy_reading(name: str, kind: str) -> None:
    type_ = ScalarType(kind)
    rows = list(product(samples(kind), repeat=2))
    assert check_fold_is_ref(operation(f"arith.{name}", [type_, type_]), rows) > 0


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", BINARY_FLOAT)
def test_float_folds_are_the_numpy_reading(name: str, kind: str) -> None:
    type_ = ScalarType(kind)
    rows = list(product(samples(kind), repeat=2))
    assert check_fold_is_ref(operation(f"arith.{name}", [type_, type_]), rows) == len(rows)


@pytest.mark.parametrize("kind", [*INTS, *FLOATS])
def test_comparisons_fold_as_they_are_read(kind: str) -> None:
    type_ = ScalarType(kind)
    rows = list(product(samples(kind), repeat=2))
    name, predicates = ("cmpi", INT_PREDICATES) if kind in INTS else ("cmpf", FLOAT_PREDICATES)
    for predicate in predicates:
        op = operation(f"arith.{name}", [type_, type_], predicate=predicate)
        assert check_fold_is_ref(op, rows) == len(rows)


UNARY = {"math.absf": FLOATS, "math.sqrt": ("f32", "f64"), "math.absi": INTS[1:]}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_value_fold_as_they_are_read(name: str) -> None:
    for kind in UNARY[name]:
        rows = [(value,) for value in samples(kind, 200)]
        assert check_fold_is_ref(operation(name, [ScalarType(kind)]), rows) == len(rows)


def conversions() -> Iterator[tuple[str, str, str]]:
    for a, b in product(INTS, INTS):
        if scalars.bits_of(a) < scalars.bits_of(b):
            yield from (("arith.extsi", a, b), ("arith.extui", a, b), ("arith.trunci", b, a))
    for a, b in product(FLOATS, FLOATS):
        if int(a.strip("bf")) < int(b.strip("bf")):
            yield from (("arith.extf", a, b), ("arith.truncf", b, a))
        if a != b:
            yield "tt.fp_to_fp", a, b
    for a, b in product(INTS, FLOATS):
        yield from (("arith.sitofp", a, b), ("arith.uitofp", a, b))
        if a != "i1":
            yield from (("arith.fptosi", b, a), ("arith.fptoui", b, a))
    for a, b in (("i16", "f16"), ("i32", "f32"), ("i64", "f64")):
        yield from (("tt.bitcast", a, b), ("tt.bitcast", b, a))


@pytest.mark.parametrize("case", list(conversions()), ids="-".join)
def test_conversions_fold_as_they_are_read(case: tuple[str, str, str]) -> None:
    name, before, after = case
    result = ScalarType(after)
    op = operation(name, [ScalarType(before)], result, type=result)
    assert op.opdef.verify is not None
    assert op.opdef.verify(op) is None
    rows = [(value,) for value in samples(before, 300)]
    assert check_fold_is_ref(op, rows) > 0


def test_folds_that_lack_an_operand_fold_nothing() -> None:
    for name, record in REGISTRY.items():
        if record.fold is None or name == "arith.constant":
            continue
        kind = ScalarType("f32" if name[-1] == "f" or name == "math.sqrt" else "i32")
        converts = name.startswith(("tt.", "math.")) or "type" in record.attrs
        types: list[IRType] = [kind] if converts else [kind, kind]
        if name == "arith.select":
            types = [ScalarType("i1"), kind, kind]
        attrs = {
            "type": kind,
            "axis": 0,
            "shape": (4,),
            "order": (0,),
            "predicate": "eq",
            "reorder": False,
        }
        op = Operation(record, [value_of(type_) for type_ in types], [kind], attrs)
        assert record.fold(op, [None] * len(types)) is None, name


def test_select_folds_to_the_operand_that_is_chosen() -> None:
    op = operation("arith.select", [ScalarType("i1"), ScalarType("f32"), ScalarType("f32")])
    assert op.opdef.fold is not None
    assert op.opdef.fold(op, [1, None, None]) is op.operands[1]
    assert op.opdef.fold(op, [0, None, None]) is op.operands[2]


# --- independent formulas -------------------------------------------------------------------------

C_DIVISION: dict[str, Callable[[int, int], int]] = {
    "divsi": lambda x, y: int(math.copysign(1, x) * math.copysign(1, y)) * (abs(x) // abs(y)),
    "remsi": lambda x, y: int(math.copysign(1, x)) * (abs(x) % abs(y)),
}


@pytest.mark.parametrize("name", C_DIVISION)
def test_signed_division_truncates_as_in_c(name: str) -> None:
    for x, y in product(range(-9, 10), [-4, -3, -2, -1, 1, 2, 3, 4]):
        op = operation(f"arith.{name}", [ScalarType("i32")] * 2)
        assert op.opdef.fold is not None
        assert op.opdef.fold(op, [x, y]) == C_DIVISION[name](x, y)
        assert read(op, [[x], [y]])[0] == C_DIVISION[name](x, y)


@pytest.mark.parametrize("kind", INTS[1:])
def test_undefined_integer_operations_are_not_folded(kind: str) -> None:
    bits = scalars.bits_of(kind)
    least = -(1 << (bits - 1))
    for name, row in {
        "divsi": (1, 0),
        "remsi": (1, 0),
        "divui": (1, 0),
        "remui": (1, 0),
    }.items():
        op = operation(f"arith.{name}", [ScalarType(kind)] * 2)
        assert op.opdef.fold is not None
        assert op.opdef.fold(op, list(row)) is None
    op = operation("arith.divsi", [ScalarType(kind)] * 2)
    assert op.opdef.fold is not None
    assert op.opdef.fold(op, [least, -1]) is None


@pytest.mark.parametrize("kind", INTS[1:])
@pytest.mark.parametrize("name", ["shli", "shrsi", "shrui"])
def test_shifts_by_the_width_or_more_fold_to_what_fills(name: str, kind: str) -> None:
    bits = scalars.bits_of(kind)
    for value in (1, -5):
        for amount in (bits, bits + 1, -1):
            op = operation(f"arith.{name}", [ScalarType(kind)] * 2)
            assert op.opdef.fold is not None
            wanted = -1 if name == "shrsi" and value < 0 else 0
            assert op.opdef.fold(op, [value, amount]) == wanted
            assert read(op, [[value], [amount]])[0] == wanted


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64"])
def test_wrapping_agrees_with_numpy(kind: str) -> None:
    rows = list(product(samples(kind), repeat=2))
    left, right = (np.asarray(c, dtype=f"int{kind[1:]}") for c in zip(*rows, strict=True))
    for name, formula in {"addi": operator.add, "subi": operator.sub, "muli": operator.mul}.items():
        op = operation(f"arith.{name}", [ScalarType(kind)] * 2)
        with np.errstate(over="ignore"):
            assert np.array_equal(read(op, [list(left), list(right)]), formula(left, right))


def test_bf16_products_are_rounded_once() -> None:
    import ml_dtypes

    codes = RNG.integers(0, 1 << 16, (2, 40000)).astype(np.uint16)
    with np.errstate(invalid="ignore"):  # signaling NaNs
        left, right = codes.view(ml_dtypes.bfloat16).astype(np.float64)
    op = operation("arith.mulf", [ScalarType("bf16")] * 2)
    with np.errstate(all="ignore"):
        wanted = arrays.rounded(np, left * right, "bf16")
        found = read(op, [list(left), list(right)])
    assert np.array_equal(found, wanted, equal_nan=True)


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "sqrt", "rsqrt"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_functions_are_correct_to_the_last_place(name: str, kind: str) -> None:
    record = REGISTRY[f"math.{name}"]
    low, high = record.domain
    values = [scalars.round_float(float(x), kind) for x in RNG.uniform(low, high, 500)]
    formulas = {"exp2": lambda x: 2.0**x, "rsqrt": lambda x: 1 / math.sqrt(x)}
    formula = formulas.get(name) or getattr(math, name)
    wanted = np.asarray([scalars.round_float(formula(x), kind) for x in values])
    found = read(operation(f"math.{name}", [ScalarType(kind)]), [values])
    unit = np.spacing(np.abs(wanted).astype(found.dtype))
    assert (np.abs(found - wanted) <= unit).all()
    assert found.dtype == np.dtype(arrays.held_dtype(kind))


def test_functions_of_impossible_arguments_are_nan_or_infinite() -> None:
    for name, row in {
        "log": [-1.0, 0.0],
        "log2": [-1.0, 0.0],
        "sqrt": [-1.0],
        "rsqrt": [0.0],
    }.items():
        found = read(operation(f"math.{name}", [ScalarType("f32")]), [row])
        assert not np.isfinite(found).any()


def test_integers_of_64_bits_become_floats_by_one_rounding() -> None:
    # Rounding 2**53 + 2**29 + 1 to float64 first would lose the tail and hit a tie of f32.
    number = (1 << 53) + (1 << 29) + 1
    assert scalars.round_float(casts.round_int(number, "f32"), "f32") == float(
        (1 << 53) + (1 << 30)
    )
    op = operation("arith.sitofp", [ScalarType("i64")], ScalarType("f32"), type=ScalarType("f32"))
    assert read(op, [[number]])[0] == np.float32((1 << 53) + (1 << 30))


# --- verification ---------------------------------------------------------------------------------

F32, F16, I32, I1 = (ScalarType(name) for name in ("f32", "f16", "i32", "i1"))


def _tensor(*shape: int, of: ScalarType = F32) -> TensorType:
    return TensorType(shape, of)


BROKEN: list[tuple[str, list[IRType], IRType | None, dict[str, Any]]] = [
    ("arith.addf", [I32, I32], I32, {}),
    ("arith.addi", [F32, F32], F32, {}),
    ("arith.addf", [F32, F16], F32, {}),
    ("arith.addf", [F32], F32, {}),
    ("arith.cmpi", [I32, I32], None, {"predicate": "olt"}),
    ("arith.cmpi", [F32, F32], None, {"predicate": "eq"}),
    ("arith.cmpf", [F32, F16], I1, {"predicate": "oeq"}),
    ("arith.cmpf", [F32, F32], F32, {"predicate": "oeq"}),
    ("arith.select", [I32, F32, F32], F32, {}),
    ("arith.select", [I1, F32, F16], F32, {}),
    ("arith.select", [_tensor(4, of=I1), _tensor(8), _tensor(8)], _tensor(8), {}),
    ("arith.constant", [], F32, {"value": 0.1}),
    ("arith.constant", [], F32, {"value": 1}),
    ("arith.constant", [], I32, {"value": 1 << 31}),
    ("arith.extf", [F32], F16, {"type": F16}),
    ("arith.truncf", [F16], F32, {"type": F32}),
    ("arith.truncf", [F16], ScalarType("bf16"), {"type": ScalarType("bf16")}),
    ("arith.extsi", [F32], I32, {"type": I32}),
    ("arith.extf", [_tensor(4, of=F16)], _tensor(8), {"type": _tensor(8)}),
    ("tt.fp_to_fp", [F32], F16, {"type": F16, "rounding": "rtx"}),
    ("tt.fp_to_fp", [F32], I32, {"type": I32}),
    ("tt.bitcast", [F32], F16, {"type": F16}),
    ("tt.ptr_to_int", [I32], I32, {"type": I32}),
    ("tt.splat", [_tensor(4)], _tensor(4), {"shape": (4,)}),
    ("tt.broadcast", [_tensor(4)], _tensor(8), {"shape": (8,)}),
    ("tt.expand_dims", [_tensor(4)], _tensor(4, 1), {"axis": 0}),
    ("tt.trans", [_tensor(4, 8)], _tensor(4, 8), {"order": (1, 0)}),
    ("tt.reshape", [_tensor(4, 8)], _tensor(16), {"shape": (16,), "reorder": False}),
    ("tt.unsplat", [_tensor(2)], F32, {}),
    ("tt.join", [_tensor(4), _tensor(8)], _tensor(4, 2), {}),
    ("tt.join", [_tensor(4), _tensor(4, of=I32)], _tensor(4, 2), {}),
    ("tt.cat", [_tensor(4, 4), _tensor(4, 4)], _tensor(8), {}),
    ("tt.gather", [_tensor(4, 8), _tensor(4, 8)], _tensor(4, 8), {"axis": 1}),
    ("tt.gather", [_tensor(4, 8), _tensor(8, 8, of=I32)], _tensor(8, 8), {"axis": 1}),
    ("tt.gather", [_tensor(4), _tensor(8, of=I32)], _tensor(4), {"axis": 0}),
    ("tt.histogram", [_tensor(4)], _tensor(8, of=I32), {"bins": 8}),
    ("tt.histogram", [_tensor(4, of=I32)] * 2, _tensor(8, of=I32), {"bins": 8}),
    ("tt.histogram", [_tensor(4, of=I32)], _tensor(4, of=I32), {"bins": 8}),
    ("tt.make_range", [], _tensor(4, of=I32), {"start": 0, "end": 8}),
    ("tt.get_program_id", [], I32, {"axis": "w"}),
    ("tt.load", [F32], F32, {}),
    ("tt.store", [F32, F32], None, {}),
    ("tt.addptr", [F32, I32], F32, {}),
    ("tt.dot", [_tensor(16, 16)] * 3, _tensor(16, 8), {"input_precision": "tf32"}),
    ("tt.dot", [_tensor(16, 16)] * 3, _tensor(16, 16), {"input_precision": "fast"}),
    ("tt.dot", [_tensor(16, 8), _tensor(16, 8), _tensor(16, 8)], _tensor(16, 8), {}),
    ("scf.condition", [I32], None, {}),
]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: f"{case[0]}{len(case[1])}{case[3]}")
def test_a_broken_operation_is_refused(
    case: tuple[str, list[IRType], IRType | None, dict[str, Any]],
) -> None:
    name, types, result, attrs = case
    if name in ("tt.store", "scf.condition"):
        op = Operation(REGISTRY[name], [value_of(type_) for type_ in types], [], attrs)
    else:
        op = operation(name, types, result, **attrs)
    assert op.opdef.verify is not None
    problem = op.opdef.verify(op)
    assert problem
    assert "\n" not in problem
