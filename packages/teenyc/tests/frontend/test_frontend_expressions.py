"""Expressions one by one: what they are at compile time, what they become, what refuses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teeny_macros.diagnostics import CompileError
from teenyc.frontend import lower_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.unit import Unit

    MakeUnit = Callable[..., Unit]

HEAD = (
    "import teeny_triton as tl\n"
    "from teeny_triton import Axis, Const, Ptr, PropagateNan, f16, f32, i32, i64, u8\n"
    "def helper(x, *rest, flag=f32):\n    return x, rest, flag\n"
    "def stored(p):\n    tl.store(p, 1.0)\n    return True\n"
    "def k(x_ptr: Ptr[f32], n: i32, NAME: Const[str] = 'abc', NOTHING: Const[int] = None):\n"
    "    x = tl.load(x_ptr + tl.arange(0, 8))\n"
)

HOLDS = [
    "isinstance(n, tl.tensor) and isinstance(3, int) and not isinstance(3, str)",
    "isinstance((1,), tuple) and isinstance(NAME, (int, str)) and isinstance(x, f32)",
    "isinstance(NAME, tl.constexpr) and not isinstance(x, tl.constexpr)",
    "len(NAME) == 3 and len((1, 2)) == 2 and len(x) == 8 and len(x.shape) == 1",
    "max(1, 2) == 2 and min((3, 1)) == 1 and abs(-2) == 2",
    "tuple(NAME) == ('a', 'b', 'c') and tuple((1,)) == (1,) and tuple() == ()",
    "tl.constexpr(3) == 3 and Const(NAME) == NAME",
    "int('7') == 7 and int() == 0 and float('1.5') == 1.5 and bool(3) and str(3) == '3'",
    "x.dtype == f32 and x.dtype.is_floating() and not x.dtype.is_int() and x.dtype != i32",
    "n.dtype.is_int_signed() and u8.is_int_unsigned() and not n.dtype.is_bool()",
    "x_ptr.dtype.is_ptr() and x_ptr.dtype.element_ty == f32 and not f32.is_ptr()",
    "x_ptr.type.element_ty == f32 and x_ptr.type.scalar.is_ptr() and not x_ptr.type.is_block()",
    "x.type.element_ty == f32 and x.type.scalar == f32 and x.type.shape == (8,)",
    "x.type.is_block() and x.type.numel == 8 and not x.type.is_ptr() and n.type == i32",
    "(x_ptr + tl.arange(0, 8)).type.element_ty.element_ty == f32",
    "tl.pointer_type(f32) == tl.Ptr[f32] and tl.pointer_type(f32).element_ty == f32",
    "f32.itemsize == 4 and f16.primitive_bitwidth == 16 and f32.name == 'f32'",
    "f32.scalar == f32",
    "'a' in ('a', 'b') and 'z' not in NAME and 2 not in (1, 3)",
    "Axis.X.value == 0 and Axis.Y.name == 'Y' and Axis.X == Axis.X and Axis.X is not Axis.Y",
    "NOTHING is None and x is not None and NAME is NAME and x_ptr != None",
    "NAME[0] == 'a' and NAME[1:] == 'bc' and (1, 2, 3)[::-1] == (3, 2, 1) and (1, 2)[-1] == 2",
    "f'{NAME:>5}{n.dtype}{Axis.X}{NAME!r}' == '  abci32Axis.X' + repr_of_name",
    "[i * 2 for i in (1, 2, 3) if i != 2] == (2, 6) and [] == ()",
    "[a + b for a, b in ((1, 2), (3, 4))] == (3, 7)",
    "[i for i in tl.static_range(3, 0, -1)] == (3, 2, 1)",
    "not (0 < n < 5 > 7) and not (n > 3 and False) and (n > 3 or True) and not (False and n)",
    "constexpr(3) == 3 and isinstance(x, tl.Tensor[f32]) and isinstance(x_ptr, tl.tensor)",
    "1 < 2 < 3 and not 1 < 2 > 3 and 1 == 1.0 and True == 1",
    "(None or 3) == 3 and (0 and n) == 0 and ('' or NAME) == NAME and not None",
    "helper(1, 2, 3, flag=4) == (1, (2, 3), 4) and helper(*(1, 2)) == (1, (2,), f32)",
    "[1, 2] == (1, 2) and (*(1, 2), 3) == (1, 2, 3) and (1,) + (2,) == (1, 2)",
    "-3 // 2 == -2 and -3 % 2 == 1 and 7 / 2 == 3.5 and 2**-1 == 0.5 and ~5 == -6 and +3 == 3",
    "tl.float32 == f32 and tl.int64 == i64 and tl.cdiv(7, 2) == 4",
]


@pytest.mark.parametrize("text", HOLDS)
def test_an_expression_is_what_python_says(text: str, unit_of: MakeUnit) -> None:
    body = f"    repr_of_name = \"'abc'\"\n    tl.static_assert({text}, 'it does not hold')\n"
    lower_unit(unit_of(HEAD + body))


def test_a_false_assertion_is_refused(unit_of: MakeUnit) -> None:
    with pytest.raises(CompileError, match="it does not hold"):
        lower_unit(unit_of(f"{HEAD}    tl.static_assert(len(NAME) == 4, 'it does not hold')\n"))


BECOMES = [
    ("max(n, 3)", "arith.maxsi"),
    ("min((n, 3))", "arith.minsi"),
    ("abs(x)", "math.absf"),
    ("f16(n)", "arith.sitofp"),
    ("i64(n)", "arith.extsi"),
    ("i64(n).to(tl.pointer_type(f16))", "tt.int_to_ptr"),
    ("tl.cast(i64(n), tl.pointer_type(f16), bitcast=True)", "tt.int_to_ptr"),
    ("(3).to(i64)", "arith.extsi"),
    ("(1.0 if n > 2 else 2.0)", "scf.if"),
    ("(n > 2 and n < 7)", "arith.andi"),
    ("(True and n > 2 or False)", "arith.cmpi"),
    ("(not n)", "arith.xori"),
    ("(~n)", "arith.xori"),
    ("(-x)", "arith.subf"),
    ("(0 < n < 5)", "arith.andi"),
    ("(n > 2 and True and n < 4)", "arith.andi"),
    ("(n > 2 and stored(x_ptr))", "scf.if"),
    ("(n > 2 or stored(x_ptr))", "tt.store"),
    ("(0 if n > 2 else 0.5)", "scf.if"),
    ("((n, 1) if n > 2 else (n, 2))[1]", "scf.if"),
    ("helper(n)[0]", "tt.store"),
    ("tl.maximum(x, 0.0, propagate_nan=PropagateNan.ALL)", "arith.maximumf"),
    ("x[:, None].T", "tt.trans"),
]


@pytest.mark.parametrize(("text", "op"), BECOMES)
def test_a_run_time_expression_becomes_operations(text: str, op: str, unit_of: MakeUnit) -> None:
    module = lower_unit(unit_of(f"{HEAD}    y = {text}\n    tl.store(x_ptr, n)\n"))
    assert op in [operation.name for operation in module.walk()]


REFUSED = [
    ("x.nothing", "E0202"),
    ("f32.nothing", "E0202"),
    ("x_ptr.dtype.itemsize", "E0202"),
    ("Axis.Q", "E0202"),
    ("Axis.X.nothing", "E0202"),
    ("NAME.upper()", "E0202"),
    ("(3).nothing", "E0202"),
    ("(3).T", "E0202"),
    ("tl.nothing", "E0202"),
    ("x.sum", "E0110"),
    ("x.dtype.is_int", "E0110"),
    ("tl", "E0110"),
    ("len", "E0110"),
    ("Axis", "E0110"),
    ("x.dtype.is_int(3)", "E0204"),
    ("[i for i in range(n)]", "E0103"),
    ("[i + j for i in (1, 2) for j in (3, 4)]", "E0103"),
    ("[i for i in 3]", "E0608"),
    ("[i for i in (1, 2) if i < f32]", "E0106"),
    ("max()", "E0106"),
    ("max(n, key=3)", "E0106"),
    ("max(n, 'a')", "E0106"),
    ("max(1, 'a')", "E0106"),
    ("abs('a')", "E0106"),
    ("len(n)", "E0106"),
    ("len(3)", "E0106"),
    ("isinstance(3, 4)", "E0106"),
    ("isinstance(3)", "E0205"),
    ("len(tl.load)", "E0106"),
    ("helper.name", "E0202"),
    ("int(n)", "E0210"),
    ("str(n)", "E0210"),
    ("int(None)", "E0106"),
    (f"int('{'1' * 1200}')", "E0106"),
    ("int('x')", "E0109"),
    ("tuple(3)", "E0106"),
    ("tl.constexpr(n)", "E0210"),
    ("tl.Tensor(3)", "E0203"),
    ("NAME(3)", "E0203"),
    ("(3)(4)", "E0203"),
    ("f32(1, 2)", "E0204"),
    ("f32()", "E0205"),
    ("helper(*3)", "E0106"),
    ("helper(**3)", "E0106"),
    ("(*3, 4)", "E0106"),
    ("1 + f32", "E0106"),
    ("Axis.X + 1", "E0106"),
    ("-f32", "E0106"),
    ("-'a'", "E0106"),
    ("f32 < f16", "E0106"),
    ("(n, 1) == (n, 1)", "E0106"),
    ("x + None", "E0106"),
    ("x + (1, 2)", "E0106"),
    ("x is n", "E0106"),
    ("3 in n", "E0106"),
    ("n in (1, 2)", "E0106"),
    ("not f32", "E0106"),
    ("f32 and n", "E0106"),
    ("n and f32", "E0106"),
    ("1 if f32 else 2", "E0106"),
    ("(1, 2)[n]", "E0210"),
    ("(1, 2)[n:]", "E0210"),
    ("(1, 2)['a']", "E0106"),
    ("(1, 2)[()]", "E0106"),
    ("3[0]", "E0106"),
    ("Ptr[3]", "E0106"),
    ("f'{n}'", "E0210"),
    ("f'{1:{2000}}'", "E0103"),
    ("f'{1:q}'", "E0109"),
    ("f'{NAME:d}'", "E0109"),
    ("'%d' % 3", "E0106"),
    ("NAME * 100_000", "E0109"),
    ("2 << 100_000", "E0109"),
    ("3 ** 3 ** 3 ** 3", "E0109"),
    ("(-8) ** 0.5", "E0109"),
    ("1e308 ** 2", "E0109"),
    ("1 << -1", "E0109"),
    ("(1 << 4000) * (1 << 4000)", "E0109"),
    ("n ** 2", "E0106"),
    ("x @ x", "E0106"),
    ("b'a'", "E0103"),
    ("3j", "E0103"),
    ("...", "E0103"),
    ("*x", "E0106"),
    ("NAME[*(1, 2)]", "E0103"),
    ("(lambda: 3) + 1", "E0110"),
    ("{1: 2}", "E0103"),
    ("{1, 2}", "E0103"),
    ("{i for i in x}", "E0103"),
    ("(yield)", "E0103"),
    ("(x := 3)", "E0103"),
    ("(1 if x else 2)", "E0602"),
    ("('a' if n else 2)", "E0605"),
    ("((1, 2) if n else 2)", "E0605"),
    ("range(3)", "E0208"),
    ("sorted(3)", "E0208"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_an_expression_is_refused_at_its_place(text: str, code: str, unit_of: MakeUnit) -> None:
    with pytest.raises(CompileError) as caught:
        lower_unit(unit_of(f"{HEAD}    tl.store(x_ptr, {text})\n"))
    (fault,) = caught.value.diagnostics
    assert fault.code == code
    assert fault.span is not None
    assert fault.span.line == HEAD.count("\n") + 1


STATEMENTS = [
    ("a, *b = (1, 2)", "E0104"),
    ("*a = (1, 2)", "E0104"),
    ("(a, b), c = n, 1", "E0212"),
    ("a, b = (1,)", "E0212"),
    ("x += 'a'", "E0106"),
    ("x[0] += 1", "E0104"),
    ("x.a += 1", "E0104"),
    ("a: tl.constexpr = n", "E0210"),
    ("assert n > 3, n", "E0419"),
    ("for a in tl.range(4, num_stages='a'): pass", "E0106"),
    ("for a in tl.range(4, num_stages=n): pass", "E0210"),
    ("for a in range(4, step=2): pass", "E0106"),
    ("for a in range(): pass", "E0205"),
    ("for a in range(x_ptr): pass", "E0609"),
    ("for a, b in (1, 2): pass", "E0212"),
    ("for a in (1, 2): a.b = 3", "E0104"),
    ("for a in (x for x in y): pass", "E0103"),
    ("while f32: pass", "E0106"),
    ("while True: n = n", "E0607"),
    ("while n: x = (1, x)", "E0604"),
    ("for a in range(n): x = None", "E0604"),
    ("if tl.load: pass", "E0110"),
    ("if n: a = foo\n    tl.store(x_ptr, a)", "E0201"),
    ("if n: a = (1, 2)\n    else: a = 1", "E0605"),
]


@pytest.mark.parametrize(("text", "code"), STATEMENTS)
def test_a_statement_is_refused_at_its_place(text: str, code: str, unit_of: MakeUnit) -> None:
    with pytest.raises(CompileError) as caught:
        lower_unit(unit_of(f"{HEAD}    {text}\n"))
    assert {fault.code for fault in caught.value.diagnostics} == {code}


def test_statements_without_effect_are_accepted(unit_of: MakeUnit) -> None:
    lines = ["a: i32", "b: i32 = n", "pass", "...", "'text'", "x", "a = c = b", "_ = c"]
    lines.append("for a in tl.range(4, num_stages=None): pass")
    lower_unit(unit_of(HEAD + "".join(f"    {line}\n" for line in lines)))
