"""Parts of the front end: places, signatures, the DSL's index, constants, entry points, faults."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teeny_macros.diagnostics import CompileError, TeenyError, ToolchainError
from teeny_macros.source import Span
from teeny_macros.unit import UnitModule
from teeny_triton.triton_lang import TRITON
from teenyc.codes import E0199
from teenyc.frontend import lower_unit, subset
from teenyc.frontend.context import MAX_DIAGNOSTICS
from teenyc.frontend.parser import Source, parse_text
from teenyc.frontend.scope import MISSING, Class, DslScope, EnumClass, Unevaluated, assigned_names
from teenyc.frontend.signature import Argument, Function, bind, parse_parameters
from teenyc.ir.core import Location
from teenyc.ir.printer import print_module
from teenyc.types import DTYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.unit import Unit

    MakeUnit = Callable[..., Unit]

HEAD = "import teeny_triton as tl\nfrom teeny_triton import Const, Ptr, f32, i32\n"


def faults(unit: Unit) -> list[Any]:
    with pytest.raises(CompileError) as caught:
        lower_unit(unit)
    return caught.value.diagnostics


# --- parser --------------------------------------------------------------------------------------


def test_columns_count_characters_from_one() -> None:
    text = "a = 'äöü' + b\n"
    source = Source("k.py", text, 7)
    (stmt,) = parse_text(source, text)
    assert isinstance(stmt, ast.Assign)
    assert isinstance(stmt.value, ast.BinOp)
    assert source.span(stmt.value.right) == Span("k.py", 7, 13, 7, 14)
    assert source.location(stmt.value.right, None) == Location("k.py", 7, 13)


def test_a_syntax_error_is_reported_where_it_is() -> None:
    source = Source("k.py", "", 5)
    with pytest.raises(TeenyError) as caught:
        parse_text(source, "x = 1\ny = (\n")
    assert caught.value.code == "E0101"
    assert caught.value.diagnostics[0].span == Span("k.py", 6, 5, 6, 6)


# --- subset --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["stmt", "expr"])
def test_every_node_of_ast_has_a_row(kind: str) -> None:
    base = getattr(ast, kind)
    table = subset.STATEMENTS if kind == "stmt" else subset.EXPRESSIONS
    # What `ast` no longer makes, and what later versions add, is refused by default.
    gone = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "TypeAlias"}
    nodes = {
        node
        for node in vars(ast).values()
        if isinstance(node, type) and issubclass(node, base) and node is not base
    }
    assert {node.__name__ for node in nodes - set(table)} <= gone | {"TemplateStr", "Interpolation"}


def test_nodes_that_are_not_in_the_table_are_refused() -> None:
    class New(ast.stmt):
        pass

    assert subset.row_of(New()).refused_by is not None


# --- signatures ----------------------------------------------------------------------------------

SIGNATURES = [
    "def f(): pass",
    "def f(a, b=1, c=2): pass",
    "def f(a, /, b, *, c=3): pass",
    "def f(a, *rest, c=3): pass",
    "def f(a, b, *, c, d=4): pass",
]


@given(
    text=st.sampled_from(SIGNATURES),
    plain=st.integers(0, 4),
    keywords=st.lists(st.sampled_from("abcde"), max_size=3, unique=True),
)
def test_binding_agrees_with_python(text: str, plain: int, keywords: list[str]) -> None:
    names: dict[str, Any] = {}
    exec(text, names)
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    parameters = parse_parameters(node, Source("k.py", text))
    here = Span.point("k.py", 1)
    given_ = [Argument(i, here) for i in range(plain)]
    given_ += [Argument(10 + i, here, name) for i, name in enumerate(keywords)]
    try:
        expected = inspect.signature(names["f"]).bind(
            *range(plain), **{name: 10 + i for i, name in enumerate(keywords)}
        )
    except TypeError:
        expected = None
    if expected is None:
        with pytest.raises(TeenyError) as caught:
            bind("f", parameters, given_, here)
        assert caught.value.code in ("E0204", "E0205", "E0206", "E0207")
        return
    expected.arguments.setdefault("rest", ())
    found = {name: argument.value for name, argument in bind("f", parameters, given_, here).items()}
    assert {"rest": (), **found} == dict(expected.arguments)


# --- scope ---------------------------------------------------------------------------------------


def test_the_index_of_the_dsl_text_equals_its_ast() -> None:
    scope = DslScope(TRITON)
    expected: dict[str, ast.stmt] = {}
    for stmt in ast.parse(TRITON).body:
        if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
            expected[stmt.name] = stmt
        elif isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name):
            expected[stmt.targets[0].id] = stmt
    assert len(expected) > 60
    assert set(expected) == set(scope.names()) - (set(DTYPES) - set(expected))
    for name, stmt in expected.items():
        found = scope.lookup(name)
        if isinstance(stmt, ast.FunctionDef):
            assert isinstance(found, Function)
            assert ast.dump(found.node.args) == ast.dump(stmt.args)
            assert [ast.dump(n) for n in found.node.body] == [ast.dump(n) for n in stmt.body]
            assert found.source.span(found.node).line == stmt.lineno
        elif isinstance(stmt, ast.ClassDef):
            assert found is DTYPES.get(name) or isinstance(found, Class | EnumClass)
        else:
            assert isinstance(found, Unevaluated)
    assert scope.lookup("no_such_name") is MISSING


def test_the_methods_of_the_dsl_text_equal_its_ast() -> None:
    scope = DslScope(TRITON)
    (tensor,) = [
        stmt
        for stmt in ast.parse(TRITON).body
        if isinstance(stmt, ast.ClassDef) and stmt.name == "Tensor"
    ]
    nodes = {node.name: node for node in tensor.body if isinstance(node, ast.FunctionDef)}
    assert set(scope.methods()) == set(nodes)
    for name, node in nodes.items():
        found = scope.method(name)
        assert found is not None
        assert ast.dump(found.node.args) == ast.dump(node.args)
        assert found.is_property == any("property" in ast.unparse(d) for d in node.decorator_list)
        assert found.source.span(found.node)[1:3] == (node.lineno, node.col_offset + 1)


def test_a_small_dsl_text_is_cut_at_its_statements() -> None:
    scope = DslScope(
        '"""Doc.\nlines = here\n"""\nimport x\n@rule(\n    1\n)\ndef f(\n    a,\n):\n    ...\n'
        "# def g(): no\nclass E(IntEnum):\n    A = 1\n    B = 'b'\nx: int = 3\n"
        "if x == 3:\n    y = 1\n"
    )
    assert scope.lookup("f").is_primitive
    assert scope.lookup("E").members == {"A": 1, "B": "b"}
    assert ast.unparse(scope.lookup("x").expression) == "3"
    assert scope.lookup("g") is MISSING
    assert scope.lookup("y") is MISSING


def test_assigned_names_are_found_in_order() -> None:
    text = "b = a\nfor i, (c, b) in x:\n    d: int = 1\n    d += 1\n"
    text += "import p.q, r as s\ndef f(): z = 1\n"
    assert list(assigned_names(ast.parse(text).body)) == ["b", "i", "c", "d", "p", "s", "f"]


# --- constants -----------------------------------------------------------------------------------

NUMBERS = st.sampled_from(["0", "1", "-3", "7", "2.5", "-0.0", "True", "1e300", "10**20"])


@st.composite
def constants(draw: st.DrawFn, depth: int = 0) -> str:
    """A compile-time expression."""
    if depth > 2 or draw(st.booleans()):
        return draw(NUMBERS)
    left, right = draw(constants(depth + 1)), draw(constants(depth + 1))
    op = draw(
        st.sampled_from(
            [
                "+",
                "-",
                "*",
                "/",
                "//",
                "%",
                "**",
                "&",
                "|",
                "^",
                "<<",
                ">>",
                "<",
                "<=",
                "==",
                "!=",
                "and",
                "or",
            ]
        )
    )
    forms = (
        "({l} {o} {r})|-({l})|(not {l})|({l} if {r} else {l})|min({l}, {r})|abs({l})|int({l})"
        "|({l} < {r} <= {l})|({l}, {r})[{l} > 1]|len(({l}, {r}))"
    )
    form = draw(st.sampled_from(forms.split("|")))
    if op in ("**", "<<"):
        # Python would compute towers of powers for hours; the compiler refuses them by their size.
        right = draw(st.sampled_from(["0", "1", "3", "-2", "0.5", "True"]))
    return form.format(l=left, r=right, o=op)


@given(text=constants())
def test_compile_time_arithmetic_is_pythons(text: str, unit_of: MakeUnit) -> None:
    try:
        value = eval(text)  # noqa: S307 - the text is made of numbers here
    except (TypeError, ArithmeticError, ValueError):
        value = None
    if not isinstance(value, int | float) or (isinstance(value, int) and value.bit_length() > 1000):
        return
    found = f"f'{{{text}!r}}'"
    check = f"tl.static_assert({found} == {repr(value)!r}, {found})"
    lower_unit(unit_of(f"{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n    {check}\n"))


# --- entry points --------------------------------------------------------------------------------


def test_attributes_hints_and_parameters_come_from_the_entry_point(unit_of: MakeUnit) -> None:
    entry = (
        "from kernel import k\nfrom teeny_triton import Ptr, f32, i32, u8\n"
        "@entry_point(num_warps=8, num_stages=2, num_ctas=1, maxnreg=None, enable_fp_fusion=False,"
        ' divisible_by_16=("x_ptr", "n"), equal_to_1=("m",))\n'
        "def k_entry_point(x_ptr: Ptr[Ptr[f32]], n: i32, m: u8) -> None:\n    k(x_ptr, n, 1)\n"
    )
    module = lower_unit(unit_of(f"{HEAD}def k(x_ptr, n, m):\n    tl.load(x_ptr + n * m)\n", entry))
    assert module.kernel == "k"
    assert module.attributes == {
        "num_warps": 8,
        "num_stages": 2,
        "num_ctas": 1,
        "maxnreg": None,
        "enable_fp_fusion": False,
    }
    assert module.params == [
        ("x_ptr", "pointer", "Ptr[f32]"),
        ("n", "scalar", "i32"),
        ("m", "scalar", "u8"),
    ]
    divisible = {"tt.divisibility": 16}
    assert module.entry.arg_attrs == [divisible, divisible, {}]
    assert module.entry.name == "k_entry_point"


def test_locations_tell_the_calls_that_led_there(unit_of: MakeUnit) -> None:
    kernel = (
        f"{HEAD}def double(x):\n    return x * 2\ndef k(x_ptr: Ptr[f32], n: i32):\n"
        "    tl.store(x_ptr, double(n))\n    tl.store(x_ptr, tl.cdiv(n, 3))\n"
    )
    module = lower_unit(unit_of(kernel))
    places = {op.name: op.loc for op in module.walk()}
    assert places["tt.store"] == Location("k.py", 7, 5)
    assert places["arith.muli"] == Location("k.py", 4, 12, Location("k.py", 6, 21))
    composite = places["arith.divsi"]
    assert composite.file == "teeny_triton.py"
    assert "//" in TRITON.split("\n")[composite.line - 1][composite.column - 1 :]
    assert composite.caller == Location("k.py", 7, 21)


def test_names_reach_across_modules_of_the_unit(unit_of: MakeUnit) -> None:
    first = "import teeny_triton as tl\nSCALE = -0.5\nSIZES = (4, 8)\nD = tl.float32\n"
    second = "from m0 import SCALE as S, D\ndef helper(x):\n    return x.to(D) * S\n"
    kernel = (
        "import teeny_triton as tl\nfrom teeny_triton import Ptr, f32, i32\nfrom m0 import SIZES\n"
        "from m1 import helper as h\ndef k(x_ptr: Ptr[f32], n: i32):\n"
        "    tl.store(x_ptr + tl.arange(0, SIZES[1]), h(n))\n"
    )
    module = lower_unit(unit_of(kernel, modules=(("m0", first), ("m1", second))))
    (multiply,) = [op for op in module.walk() if op.name == "arith.mulf"]
    assert multiply.loc.line == 7  # the third line of m1, after the four of m0


# --- faults --------------------------------------------------------------------------------------


def test_each_statement_is_checked_and_consequences_are_not_reported(unit_of: MakeUnit) -> None:
    body = "    a = foo\n    b = a + 1\n    c, d = b, 2\n    tl.store(x_ptr, d)\n    e = baz\n"
    found = faults(unit_of(f"{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n{body}"))
    assert [(d.message, d.span.line) for d in found] == [
        ("`foo` is not defined", 4),
        ("`baz` is not defined", 8),
    ]


def test_a_fault_in_a_helper_called_twice_is_reported_once(unit_of: MakeUnit) -> None:
    text = f"{HEAD}def f(x):\n    return foo\ndef k(x_ptr: Ptr[f32], n: i32):\n    f(1)\n    f(2)\n"
    assert [d.code for d in faults(unit_of(text))] == ["E0201"]


def test_no_more_than_twenty_faults_are_reported(unit_of: MakeUnit) -> None:
    body = "".join(f"    v{i} = unknown{i}\n" for i in range(50))
    found = faults(unit_of(f"{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n{body}"))
    assert len(found) == MAX_DIAGNOSTICS == 20


def test_labels_quote_their_lines(unit_of: MakeUnit) -> None:
    (fault,) = faults(unit_of(f"{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n    x = foo\n"))
    assert fault.labels[0].source == "    x = foo"


def test_lowering_executes_nothing(tmp_path: Any, unit_of: MakeUnit) -> None:
    """Each line would leave a file behind if it were run, when imported or when compiled."""
    mark = tmp_path / "ran"
    touch = f"open({str(mark)!r}, 'w').close()"
    module = f"{touch}\nimport os; os.system('touch {mark}')\nX = {touch}\nclass A:\n    {touch}\n"
    text = (
        f"{HEAD}from m0 import X\n{touch}\ndef f(a={touch}):\n    return a\n"
        f"def k(x_ptr: Ptr[f32], n: i32):\n    {touch}\n    y = X\n    f()\n"
        f"    z = f\"{{{touch}}}\"\n    __import__('os').system('touch {mark}')\n"
        f"    tl.static_assert({touch})\n"
    )
    assert {d.code for d in faults(unit_of(text, modules=(("m0", module),)))} <= {"E0208", "E0201"}
    assert not mark.exists()


def test_a_fault_of_ours_is_an_internal_error_with_its_place(
    unit_of: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from teenyc.ir.opdef import HANDLERS

    def broken(b: Any, **bound: Any) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setitem(HANDLERS, "program_id", broken)
    with pytest.raises(TeenyError) as caught:
        lower_unit(unit_of(f"{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n    tl.program_id(0)\n"))
    (fault,) = caught.value.diagnostics
    assert fault.code == "I0000"
    assert fault.span is not None
    assert fault.span.line == 4
    assert "ZeroDivisionError: oops" in fault.message


def refuse_program_id(monkeypatch: pytest.MonkeyPatch, error: TeenyError) -> None:
    """Make the handler of `program_id` raise `error`."""
    from teenyc.ir.opdef import HANDLERS

    def refuse(b: Any, axis: Any) -> None:
        raise error

    monkeypatch.setitem(HANDLERS, "program_id", refuse)


PROGRAM_ID = f"{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n    tl.program_id(0)\n"


def test_a_fault_without_place_gets_that_of_its_call(
    unit_of: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_program_id(monkeypatch, E0199.error(what="this"))
    (fault,) = faults(unit_of(PROGRAM_ID))
    assert fault.span == Span("k.py", 4, 5, 4, 21)


def test_a_fault_that_is_not_the_kernels_ends_the_lowering(
    unit_of: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_program_id(monkeypatch, ToolchainError(E0199.diagnostic(None, "", what="this")))
    with pytest.raises(ToolchainError):
        lower_unit(unit_of(PROGRAM_ID))


def test_a_primitive_without_handler_is_not_supported_yet(
    unit_of: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from teenyc.ir.opdef import HANDLERS

    monkeypatch.delitem(HANDLERS, "program_id")
    (fault,) = faults(unit_of(PROGRAM_ID))
    assert (fault.code, fault.message) == ("E0199", "`program_id` is not supported in this version")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import os\n", "E0213"),
        ("from os import path as os\n", "E0213"),
        ("async def os():\n    pass\n", "E0103"),
        ("class os:\n    pass\n", "E0201"),
    ],
)
def test_what_modules_of_a_unit_cannot_hold(text: str, code: str, unit_of: MakeUnit) -> None:
    kernel = f"{text}{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n    x = os\n"
    with pytest.raises(CompileError) as caught:
        lower_unit(unit_of(kernel))
    assert caught.value.code == code


def test_a_module_of_the_unit_has_a_name_of_its_own(unit_of: MakeUnit) -> None:
    library = f"{HEAD}EPS = 0.5\ndef twice(x):\n    return x * 2 + EPS\n"
    kernel = (
        f"{HEAD}import m0 as lib\n"
        "def k(x_ptr: Ptr[f32]):\n    tl.store(x_ptr, lib.twice(lib.EPS))\n{rest}"
    )
    modules = (("m0", library),)
    assert print_module(lower_unit(unit_of(kernel.format(rest=""), modules=modules)))
    for rest, code, said in (
        ("    tl.store(x_ptr, lib.EPSILON)\n", "E0202", "`lib` has no attribute `EPSILON`"),
        ("    tl.store(x_ptr, lib)\n", "E0110", "`lib` is a module, not a value"),
    ):
        (fault,) = faults(unit_of(kernel.format(rest=rest), modules=modules))
        assert (fault.code, fault.message) == (code, said)
        assert fault.helps


def test_annotated_literals_of_a_module_are_found(unit_of: MakeUnit) -> None:
    lower_unit(
        unit_of(
            f"X: int = 3\nY: int\n{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n"
            "    tl.static_assert(X == 3)\n"
        )
    )


@pytest.mark.parametrize("attributes", ["num_warps=n", "divisible_by_16=3", "num_warps='a'"])
def test_attributes_of_an_entry_point_are_constants(attributes: str, unit_of: MakeUnit) -> None:
    entry = (
        f"from teeny_triton import i32\nn = 'text'\n@plain\n@entry_point({attributes})\n"
        "def k_entry_point(n: i32) -> None:\n    pass\n"
    )
    with pytest.raises(CompileError) as caught:
        lower_unit(unit_of(f"{HEAD}def k(n: i32):\n    pass\n", entry))
    assert caught.value.code == "E0214"


USUAL = "num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("num_warps=4", "num_warps=3", "`num_warps` is 3, not a power of two"),
        ("num_warps=4", "num_warps=True", "`num_warps` is no int"),
        ("num_ctas=1", "num_ctas=0", "`num_ctas` is 0, not a power of two"),
        ("maxnreg=None", "maxnreg=(1,)", "`maxnreg` is no int"),
        ("enable_fp_fusion=True", "enable_fp_fusion=1", "`enable_fp_fusion` is no bool"),
    ],
)
def test_what_an_entry_point_asks_of_the_back_ends_is_possible(
    old: str, new: str, reason: str, unit_of: MakeUnit
) -> None:
    entry = (
        f"from teeny_triton import i32\n@entry_point({USUAL.replace(old, new)})\n"
        "def k_entry_point(n: i32) -> None:\n    pass\n"
    )
    with pytest.raises(CompileError) as caught:
        lower_unit(unit_of(f"{HEAD}def k(n: i32):\n    pass\n", entry))
    assert caught.value.code == "E0214"
    assert reason in caught.value.diagnostics[0].message


def test_the_same_unit_gives_the_same_module(
    unit_of: MakeUnit, mlir_of: Callable[..., str]
) -> None:
    text = (
        f"{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n    a, b, c = 0, 1.0, n\n    for i in range(n):\n"
        "        a, b, c = a + 1, b * 2, c + i\n    tl.store(x_ptr + a + c, b)\n"
    )
    assert mlir_of(text) == mlir_of(text)


def test_an_entry_point_without_function_is_refused(unit_of: MakeUnit) -> None:
    unit = unit_of(f"{HEAD}def k(x_ptr: Ptr[f32], n: i32):\n    pass\n")
    for modules in (unit.modules[:1], (unit.modules[0], UnitModule("entry", "x = 1\n"))):
        with pytest.raises(TeenyError) as caught:
            lower_unit(unit._replace(modules=modules))
        assert caught.value.code == "E0214"
