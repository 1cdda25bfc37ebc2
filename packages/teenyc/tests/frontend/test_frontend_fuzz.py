"""Whatever the text, the front end answers with a module or with coded errors at places in it."""

from __future__ import annotations

import io
import re
import tokenize
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teeny_macros.diagnostics import InternalError, TeenyError
from teeny_macros.unit import Unit, UnitModule
from teenyc.frontend import lower_unit
from teenyc.frontend.context import MAX_DIAGNOSTICS
from teenyc.ir.verifier import verify_module

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parents[1] / "golden"
SETTINGS = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def _kernels() -> list[str]:
    """The kernels of the golden files."""
    found = []
    for path in sorted((GOLDEN / "syntax").glob("*.mlir")):
        lines = [n[3:] for n in path.read_text(encoding="utf-8").splitlines() if n[:2] == "//"]
        found.append("\n".join(lines) + "\n")
    for path in sorted((GOLDEN / "errors").glob("*.md")):
        found += re.findall(r"```py\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    return found


KERNELS = _kernels()
ATOMS = [
    *(
        "n",
        "x_ptr",
        "tl",
        "f32",
        "0",
        "1",
        "(-1)",
        "2.5",
        "1e400",
        "'a'",
        "None",
        "True",
        "(n, 1)",
        "()",
    ),
    *("tl.load(x_ptr)", "tl.arange(0, 16)", "tl.sum", "tl.zeros((4, 4), f32)", "x_ptr.dtype", "k"),
    *("tl.load(x_ptr + tl.arange(0, 16))", "max", "len", "float", "tl.Axis.X", "tl.cdiv", "f'{n}'"),
    *(
        "(n if n else 2)",
        "(n < 3)",
        "(n and 3 or x_ptr)",
        "tl.arange(0, 4)[:, None]",
        "range(n)",
        "_",
    ),
]
WORDS = [
    *("if", "else", "for", "while", "return", "break", "in", "not", "and", "is", "lambda", "None"),
    *(
        "n",
        "x_ptr",
        "tl",
        "range",
        "f32",
        "0",
        "1",
        "-1",
        "2.5",
        "1e400",
        "'a'",
        "[",
        "]",
        "(",
        ")",
    ),
    *(
        "tl.load",
        "tl.arange(0, 16)",
        "tl.sum",
        "x.T",
        "x.shape",
        "*",
        "**",
        "//",
        "<<",
        "<",
        "=",
        ":",
    ),
    *("~", "@", ",", ".", "tl.zeros((4, 4), f32)", "max", "len", "float", "é", "🐍", "\n", "    "),
]


def _tokens(text: str) -> list[str]:
    """The text cut into tokens and the space between them."""
    try:
        ends = [(t.start, t.end) for t in tokenize.generate_tokens(io.StringIO(text).readline)]
    except (tokenize.TokenError, IndentationError):
        return re.findall(r"\w+|\s+|.", text)
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    cuts = sorted({starts[min(r - 1, len(lines))] + c for pair in ends for r, c in pair})
    cuts = [0, *(c for c in cuts if 0 < c < len(text)), len(text)]
    return [text[a:b] for a, b in pairwise(cuts)]


@st.composite
def mutated_kernels(draw: st.DrawFn) -> str:
    """A kernel with a few tokens deleted, doubled, swapped or replaced."""
    tokens = _tokens(draw(st.sampled_from(KERNELS)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(tokens) - 1))
        other = draw(st.integers(0, len(tokens) - 1))
        names = [i for i, token in enumerate(tokens) if re.fullmatch(r"\w+", token)]
        match draw(
            st.sampled_from(["atom", "atom", "delete", "double", "swap", "replace", "insert"])
        ):
            case "atom" if names:
                tokens[draw(st.sampled_from(names))] = draw(st.sampled_from(ATOMS))
            case "delete" if len(tokens) > 1:
                del tokens[at]
            case "double":
                tokens.insert(at, tokens[at])
            case "swap":
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "replace":
                tokens[at] = draw(st.sampled_from(WORDS))
            case _:
                tokens.insert(at, draw(st.sampled_from(WORDS)))
    return "".join(tokens)


def check(unit: Unit) -> None:
    """Lower; what is wrong must be a coded error with a place inside the unit."""
    fault = None
    try:
        verify_module(lower_unit(unit))
    except TeenyError as error:
        fault = error
    if fault is None:
        return
    assert not isinstance(fault, InternalError), str(fault)
    assert 0 < len(fault.diagnostics) < MAX_DIAGNOSTICS + 5
    last = unit.body.count("\n") + 1
    for diagnostic in fault.diagnostics:
        assert diagnostic.span is not None or diagnostic.code == "E0214", diagnostic.code
        for label in diagnostic.labels:
            assert label.span.file == unit.file
            assert 1 <= label.span.line <= last
            assert (label.span.line, label.span.column) < label.span[3:]


@SETTINGS
@given(text=mutated_kernels())
def test_a_mutated_kernel_compiles_or_gets_coded_errors(
    text: str, unit_of: Callable[[str], Unit]
) -> None:
    entry = (
        "from kernel import k\nfrom teeny_triton import Ptr, f32, i32\n@entry_point(num_warps=4)\n"
        "def k_entry_point(x_ptr: Ptr[f32], n: i32) -> None:\n    k(x_ptr, n)\n"
    )
    base = unit_of(KERNELS[0])
    modules = (UnitModule("kernel", text if text.endswith("\n") else text + "\n"),)
    check(base._replace(kernel="k", modules=(*modules, UnitModule("entry", entry))))


@SETTINGS
@given(text=st.text(max_size=60))
def test_any_text_as_entry_point_gets_coded_errors(
    text: str, unit_of: Callable[[str], Unit]
) -> None:
    base = unit_of(KERNELS[0])
    text = text.replace("\r", "") + "\n"
    check(base._replace(modules=(base.modules[0], UnitModule("entry", text))))


UNROLLED = (
    "import teeny_triton as tl\ndef k(x_ptr, n):\n    for i in tl.static_range(10**400):\n"
    "        n = n + i\n"
)


@pytest.mark.parametrize(
    "text",
    [
        "def k(x_ptr, n):\n    return '\ud800'\n",
        "def k(x_ptr, n):\n    x = '\\d'\n",
        "def k(x_ptr, n):\n    x = " + "(" * 150 + "n" + ")" * 150 + "\n",
        "def k(x_ptr, n):\n    x = " + "not " * 3000 + "n\n",
        "def k(x_ptr, n):\n    x = " + "n + " * 3000 + "n\n",
        "def k(x_ptr, n):\n    x = " + "9" * 5000 + "\n",
        "def k(x_ptr, n):\n    x = f'{n:{n}}'\n",
        "def k(x_ptr, n):\n    x = f'{1.0:99999999}'\n",
        "def k(x_ptr, n):\n    x = (1,) * 10**9\n",
        "def k(x_ptr, n):\n    x = 'a' * 10**9\n",
        "def k(x_ptr, n):\n    x = 1 << 10**9\n",
        "def k(x_ptr, n):\n    x = 7 ** 7 ** 7 ** 7\n",
        "def k(x_ptr, n):\n    x = 'ü' + 'é' ; y = zz\n",
        UNROLLED,
        "def k(x_ptr, n):\n    k(x_ptr, n)\n",
        "k = 3\n",
        "from kernel import k\n",
        "def k(x_ptr, n, k=k):\n    pass\n",
        "x = x\ndef k(x_ptr, n):\n    return x\n",
        "x = (y,)\ny = (x,)\ndef k(x_ptr, n):\n    return x\n",
        "def k(x_ptr, n, *rest, key):\n    pass\n",
        "def k(x_ptr, n):\n    for i in (n, 1.0, 'a', None):\n        n = i\n",
        "def k(x_ptr, n):\n    while n:\n        n = n - 1 if n else (1, 2)\n",
        "\x00",
    ],
)
def test_odd_texts_get_coded_errors(text: str, unit_of: Callable[[str], Unit]) -> None:
    base = unit_of(KERNELS[0])
    entry = (
        "from kernel import k\nfrom teeny_triton import Ptr, f32, i32\n"
        "def k_entry_point(x_ptr: Ptr[f32], n: i32) -> None:\n    k(x_ptr, n)\n"
    )
    check(base._replace(modules=(UnitModule("kernel", text), UnitModule("entry", entry))))
