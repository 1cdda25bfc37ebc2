"""A golden for each function and operator of the language: its kernel, and the MLIR it becomes.

Kernels of functions of `x`, or of `x` and `y`, follow from the signature in the DSL's text; the
others are written here. Each golden goes through libtriton as well.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teeny_macros.target import Target
from teeny_triton.triton_lang import TRITON
from teenyc.driver import compile_text
from teenyc.ir.opdef import HANDLERS
from teenyc.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parents[1] / "golden" / "ops"
# The iterables of `for` loops: their goldens are those of the syntax.
ITERABLES = {"range", "static_range"}
ELEMENTWISE = "x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32]"
X = "x_ptr: Ptr[f32], out_ptr: Ptr[f32]"
INTS = "x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32]"
MATRIX = """\
rows = tl.arange(0, 16)
columns = tl.arange(0, 32)
x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
"""

WRITTEN: dict[str, tuple[str, str]] = {
    "program_id": (X, "tl.store(out_ptr + tl.program_id(0), tl.program_id(2))"),
    "num_programs": (X, "tl.store(out_ptr, tl.num_programs(tl.Axis.Y))"),
    "arange": (X, "tl.store(out_ptr + tl.arange(0, 16), tl.arange(16, 32))"),
    "full": (X, "tl.store(out_ptr + tl.arange(0, 16), tl.full((16,), 0.1, f16))"),
    "zeros": (X, "tl.store(out_ptr + tl.arange(0, 16), tl.zeros((16,), f32))"),
    "zeros_like": (X, "o = tl.arange(0, 16)\ntl.store(out_ptr + o, tl.zeros_like(o))"),
    "cast": (
        "x_ptr: Ptr[f16], out_ptr: Ptr[i8]",
        """\
o = tl.arange(0, 16)
x = tl.load(x_ptr + o)
tl.store(out_ptr + o, x.to(bf16).to(i1).to(u8).to(f64).to(f16))
tl.store(out_ptr + o, x.to(f32).to(f16, fp_downcast_rounding="rtz"))
tl.store(out_ptr + o, tl.cast(x, i16, bitcast=True))""",
    ),
    "elem": (
        "x_ptr: Ptr[f32], out_ptr: Ptr[f16]",
        "tl.store(out_ptr, tl.load(x_ptr).to(tl.elem(out_ptr)))",
    ),
    "where": (
        "x_ptr: Ptr[f16], out_ptr: Ptr[f16]",
        (
            "o = tl.arange(0, 16)\nx = tl.load(x_ptr + o)\n"
            "tl.store(out_ptr + o, tl.where(x > 0, x, 0.5))"
        ),
    ),
    "maximum": (
        "x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32]",
        """\
x, y = tl.load(x_ptr), tl.load(y_ptr)
tl.store(out_ptr, tl.maximum(x, y))
tl.store(out_ptr, tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL))""",
    ),
    "minimum": (
        "x_ptr: Ptr[f32], n: i32, m: u32",
        """\
x = tl.load(x_ptr)
tl.store(x_ptr, tl.minimum(x, 6.0, propagate_nan=tl.PropagateNan.ALL))
tl.store(x_ptr, tl.minimum(n, 3))
tl.store(x_ptr, tl.minimum(m, 3))""",
    ),
    "cdiv": ("out_ptr: Ptr[i32], n: i32", "tl.store(out_ptr, tl.cdiv(n, 16))"),
    "load": (
        "x_ptr: Ptr[f16], b_ptr: Ptr[i1], out_ptr: Ptr[f16], n: i32",
        """\
o = tl.arange(0, 16)
x = tl.load(x_ptr + o, mask=o < n, other=0.0, cache_modifier=".cg", eviction_policy="evict_last")
y = tl.load(x_ptr + o, mask=tl.load(b_ptr + o), volatile=True)
z = tl.load(x_ptr, mask=n > 1, other=1)
tl.store(out_ptr + o, x + y + z)""",
    ),
    "store": (
        "x_ptr: Ptr[f16], b_ptr: Ptr[i1], n: i32",
        """\
o = tl.arange(0, 16)
tl.store(x_ptr + o, 1.0, mask=o < n, cache_modifier=".cs", eviction_policy="evict_first")
tl.store(b_ptr + o, o < n)
tl.store(x_ptr, n, mask=n > 1)""",
    ),
    "broadcast": (
        X,
        (
            "o = tl.arange(0, 16)\na, b = tl.broadcast(o[:, None], o[None, :])\n"
            "tl.store(out_ptr + a * 16 + b, 0.0)"
        ),
    ),
    "broadcast_to": (
        X,
        "o = tl.arange(0, 16)\ntl.store(out_ptr + tl.broadcast_to(o[:, None], 16, 16), 0.0)",
    ),
    "expand_dims": (X, "o = tl.arange(0, 16)\ntl.store(out_ptr + tl.expand_dims(o, (0, -1)), 0.0)"),
    "trans": (X, MATRIX + "tl.store(out_ptr + columns[:, None] * 16 + rows[None, :], x.T)"),
    "sum": (
        "x_ptr: Ptr[i8], out_ptr: Ptr[i32]",
        MATRIX + "tl.store(out_ptr, tl.sum(x))\n"
        "tl.store(out_ptr + rows[:, None], tl.sum(x, axis=-1, keep_dims=True))",
    ),
    "max": (
        "x_ptr: Ptr[f16], out_ptr: Ptr[f16]",
        MATRIX + "tl.store(out_ptr + columns, tl.max(x, axis=0))",
    ),
    "min": (
        "x_ptr: Ptr[u32], out_ptr: Ptr[u32]",
        MATRIX + "tl.store(out_ptr + rows, x.min(axis=1))",
    ),
    "softmax": (
        X,
        MATRIX + "tl.store(out_ptr + rows[:, None] * 32 + columns[None, :], tl.softmax(x, 1))",
    ),
    "dot": (
        "x_ptr: Ptr[f16], out_ptr: Ptr[f32]",
        MATRIX + "acc = tl.dot(x, x.T)\n"
        'acc = tl.dot(x, x.T, acc, input_precision="ieee")\n'
        "tl.store(out_ptr + rows[:, None] * 16 + rows[None, :], acc)",
    ),
    "static_assert": (X, 'tl.static_assert(2 > 1, "numbers")\ntl.store(out_ptr, 1.0)'),
}
OPERATORS: dict[str, tuple[str, str]] = {
    **{
        f"operator.{name}": (INTS, f"x {symbol} y")
        for name, symbol in {
            "floordiv": "//",
            "mod": "%",
            "and": "&",
            "or": "|",
            "xor": "^",
            "lshift": "<<",
            "rshift": ">>",
        }.items()
    },
    **{
        f"operator.{name}": (ELEMENTWISE, f"x {symbol} y")
        for name, symbol in {
            "add": "+",
            "sub": "-",
            "mul": "*",
            "truediv": "/",
            "lt": "<",
            "le": "<=",
            "gt": ">",
            "ge": ">=",
            "eq": "==",
            "ne": "!=",
        }.items()
    },
    "operator.neg": (ELEMENTWISE, "-x"),
    "operator.pos": (ELEMENTWISE, "+x"),
    "operator.invert": (INTS, "~x"),
    "operator.getitem": (ELEMENTWISE, "x[:, None] + y[None, :]"),
}


def signatures(text: str) -> dict[str, ast.arguments]:
    """The functions of a DSL text."""
    tree = ast.parse(text)
    return {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}


def _body(expression: str) -> str:
    place = "o[:, None] * 16 + o[None, :]" if "None" in expression else "o"
    return (
        "o = tl.arange(0, 16)\nx = tl.load(x_ptr + o)\ny = tl.load(y_ptr + o)\n"
        f"tl.store(out_ptr + {place}, {expression})"
    )


def kernel_of(name: str, args: ast.arguments | None) -> tuple[str, str] | None:
    """Parameters and body of a kernel; None where it must be written by hand."""
    if name in WRITTEN:
        return WRITTEN[name]
    if name in OPERATORS:
        params, expression = OPERATORS[name]
        return params, _body(expression)
    if args is None:
        return None
    required = [arg.arg for arg in args.args][: len(args.args) - len(args.defaults)]
    if required not in (["x"], ["x", "y"]):
        return None
    return ELEMENTWISE, _body(f"tl.{name}({', '.join(required)})")


FUNCTIONS = signatures(TRITON)
CASES = {
    name: found
    for name in (*sorted(set(FUNCTIONS) - ITERABLES), *sorted(OPERATORS))
    if (found := kernel_of(name, FUNCTIONS.get(name))) is not None
}


def test_every_function_and_operator_has_a_golden_kernel() -> None:
    operators = {name for name in HANDLERS if name.startswith("operator.")}
    missing = ((set(FUNCTIONS) - ITERABLES) | operators) - set(CASES)
    assert not missing, f"write a kernel in WRITTEN for: {', '.join(sorted(missing))}"
    stale = {path.stem for path in FOLDER.glob("*.mlir")} - set(CASES)
    assert not stale, f"no such function: {', '.join(sorted(stale))}"


def test_a_function_of_x_gets_its_kernel_from_its_signature() -> None:
    (args,) = signatures("def sinh(x):\n    ...\n").values()
    found = kernel_of("sinh", args)
    assert found is not None
    assert "tl.sinh(x)" in found[1]
    (args,) = signatures("def scan(input, axis):\n    ...\n").values()
    assert kernel_of("scan", args) is None


@pytest.mark.parametrize("name", CASES)
def test_a_function_becomes_the_mlir_of_its_golden(
    name: str, kernel: Callable[..., Any], *, update_golden: bool
) -> None:
    params, body = CASES[name]
    found = kernel(params, body, name.replace(".", "_"))
    head = [f"({params})", *body.splitlines()]
    text = "".join(f"// {line}".rstrip() + "\n" for line in head) + found.mlir()
    path = FOLDER / f"{name}.mlir"
    if update_golden:
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), "accept it with `nox -s golden`"
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.accept
@pytest.mark.parametrize("name", CASES)
def test_libtriton_compiles_the_kernel_of_a_golden(
    name: str, kernel: Callable[..., Any], archs: tuple[str, ...], tmp_path: Path
) -> None:
    params, body = CASES[name]
    unit = kernel(params, body, name.replace(".", "_")).unit
    for arch in archs:
        options = Options(Target.cuda(arch), ("ptx",))
        result = compile_text(unit.render(), options, folder=str(tmp_path))
        assert ".entry" in result.texts["ptx"]
