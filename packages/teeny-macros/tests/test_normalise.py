"""Normalised texts: what goes, what stays, and that positions lead back to equal tokens."""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from teeny_macros import CaptureError
from teeny_macros.normalise import normalise
from teeny_macros.texts import Normalised

LAYOUT = {
    tokenize.NL,
    tokenize.COMMENT,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def norm(text: str, first_line: int = 1) -> Normalised:
    return normalise(text.split("\n"), first_line)


def without_docstrings(text: str) -> str:
    """The tree of the first function of `text` without docstrings, decorators and brackets."""
    tree = ast.parse(textwrap.dedent(text)).body[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            while node.body and is_string(node.body[0]):
                node.body = node.body[1:]
            node.body = node.body or [ast.Pass()]
            node.decorator_list = []
    return ast.dump(tree)


def is_string(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def check_positions(source: str, found: Normalised) -> None:
    """Every token of the normalised text stands in the source at the place that its piece gives."""
    lines = source.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(found.text).readline):
        if token.type in LAYOUT or token.string == "pass":
            continue
        line, column = token.start[0], token.start[1] + 1
        piece = max(p for p in found.pieces[line - 1] if p[0] <= column)
        there = lines[piece[1] - 1][piece[2] - 1 + column - piece[0] :]
        first = token.string.split("\n")[0]
        assert there.startswith(first), (token, piece)


EXAMPLES = {
    "comments go": (
        "def f(x):  # one\n    # two\n    return x  # three\n",
        "def f(x):\n    return x\n",
    ),
    "docstrings go": (
        'def f(x):\n    """Doc\n\n    string."""\n    return x\n',
        "def f(x):\n    return x\n",
    ),
    "concatenated docstrings go": ("def f():\n    \"a\" 'b'\n    x = 1", "def f():\n    x = 1\n"),
    "docstrings in parentheses go": (
        'def f():\n    ("a"  # c\n     "b")\n    x = 1',
        "def f():\n    x = 1\n",
    ),
    "a docstring before a semicolon goes": ('def f():\n    "a"; x = 1', "def f():\n    x = 1\n"),
    "a docstring and its semicolon go": (
        'def f():\n    "a";  # c\n    x = 1',
        "def f():\n    x = 1\n",
    ),
    "a docstring on the line of the def goes": ('def f(): "a"; x = 1', "def f(): x = 1\n"),
    "a body of a docstring becomes pass": ('def f():\n    "a"\n', "def f():\n    pass\n"),
    "the same on one line": ('def f(): "a"', "def f(): pass\n"),
    "the same with a semicolon": ('def f(): "a";', "def f(): pass\n"),
    "docstrings of inner functions go": (
        'def f():\n    def g():\n        "a"\n    return g',
        "def f():\n    def g():\n        pass\n    return g\n",
    ),
    "raw docstrings go": ('def f():\n    r"""a\\d"""\n    x', "def f():\n    x\n"),
    "strings after it go too": ('def f():\n    "a"\n    "b"; \'c\'\n    x', "def f():\n    x\n"),
    "only strings become pass": ('def f():\n    "a"; "b"\n    "c"\n', "def f():\n    pass\n"),
    "an inner function on one line": (
        'def f():\n    def g(): "a"\n    return g',
        "def f():\n    def g(): pass\n    return g\n",
    ),
    "bytes are no docstring": ('def f():\n    b"a"\n    x', 'def f():\n    b"a"\n    x\n'),
    "f-strings are no docstring": ('def f():\n    f"a"\n    x', 'def f():\n    f"a"\n    x\n'),
    "a method of a string is no docstring": ('def f():\n    "a".b()\n', 'def f():\n    "a".b()\n'),
    "a called string is no docstring": ('def f():\n    ("a")(1)\n', 'def f():\n    ("a")(1)\n'),
    "later strings stay": ('def f():\n    x\n    "a"\n', 'def f():\n    x\n    "a"\n'),
    "blank lines go": (
        "def f(x):\n\n    a = x\n   \n\n    return a\n",
        "def f(x):\n    a = x\n    return a\n",
    ),
    "trailing space goes": ("def f(x):  \n    return x \t \n", "def f(x):\n    return x\n"),
    "inner space stays": ("def f( x ):\n    return  x  +1", "def f( x ):\n    return  x  +1\n"),
    "common indentation goes": ("    def f(x):\n        return x\n", "def f(x):\n    return x\n"),
    "other indentation stays": ("  def f(x):\n   return x\n", "def f(x):\n return x\n"),
    "tabs become spaces": (
        "\tdef f(x):\n\t\tif x:\n\t\t\treturn x\n\t\treturn 1",
        "def f(x):\n    if x:\n        return x\n    return 1\n",
    ),
    "a tab under a def without one": ("def f(x):\n\treturn x", "def f(x):\n    return x\n"),
    "strings keep their lines": (
        '    def f():\n        x = """a\n  b  \n\n        c"""  # d\n',
        'def f():\n    x = """a\n  b  \n\n        c"""\n',
    ),
    "a hash in a string stays": ('def f():\n    x = "# no"  # yes', 'def f():\n    x = "# no"\n'),
    "f-strings stay": (
        'def f(x):\n    y = f"# {x:>{3}} {{}}"  # c\n',
        'def f(x):\n    y = f"# {x:>{3}} {{}}"\n',
    ),
    "f-strings of several lines stay": (
        '    def f(x):\n        y = f"""{x}  \n  # {x}\n"""\n',
        'def f(x):\n    y = f"""{x}  \n  # {x}\n"""\n',
    ),
    "backslashes stay": ("def f(x):\n    y = x + \\\n  1\n", "def f(x):\n    y = x + \\\n  1\n"),
    "a blank line after a backslash stays": (
        "def f(x):\n    y = x \\\n\n    z = 1",
        "def f(x):\n    y = x \\\n\n    z = 1\n",
    ),
    "comments inside parentheses go": (
        "  def f(x):\n    y = (x +  # a\n\n      # b\n      1)",
        "def f(x):\n  y = (x +\n    1)\n",
    ),
    "a line of a parenthesis left of the function": (
        "    def f(x):\n        y = (x +\n  1)",
        "def f(x):\n    y = (x +\n1)\n",
    ),
    "semicolons stay": ("def f(x):\n    a = 1; b = 2;", "def f(x):\n    a = 1; b = 2;\n"),
    "what follows the function does not matter": (
        "if 1:\n    def f(x):\n        return x\n    # c\n    y = 2\n",
        "def f(x):\n    return x\n",
    ),
    "a header over several lines": (
        "def f(\n    x,  # a\n\n    y=lambda: {1: 2},\n) -> int:  # b\n    return x",
        "def f(\n    x,\n    y=lambda: {1: 2},\n) -> int:\n    return x\n",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_goes_and_what_stays(name: str) -> None:
    source, wanted = EXAMPLES[name]
    first = next(at for at, line in enumerate(source.split("\n"), 1) if "def f" in line)
    found = norm(source, first)
    assert found.text == wanted
    assert found.name == "f"
    check_positions(source, found)
    assert norm(wanted).text == wanted


@pytest.mark.parametrize(
    "decorators",
    [
        "@kernel",
        "@kernel()\n@other",
        "@tune(prune=lambda c: (f(c), [g(x) for x in (1, 2)]), s=')')\n@kernel",
        "@a.b[c](\n    1,\n    # )\n    lambda: (2),\n)\n\n# between\n@kernel  # after",
        "@(lambda f: f)",
    ],
)
@pytest.mark.parametrize("indent", ["", "    "])
def test_decorators_go(decorators: str, indent: str) -> None:
    text = textwrap.indent(f"{decorators}\ndef f(x):\n    return x\nother = 1\n", indent)
    assert norm(text).text == "def f(x):\n    return x\n"


def test_a_function_ends_at_a_dedent_that_its_own_text_did_not_open() -> None:
    text = "if 1:\n  if 2:\n      def f(x):\n          return x\n  y = 1\n"
    assert norm(text, 3).text == "def f(x):\n    return x\n"


def test_carriage_returns_are_part_of_the_line_end() -> None:
    assert norm("def f(x):\r\n    return x\r\n").text == "def f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("header", "definitions"),
    [
        ("[D]", ['D = TypeVar("D")']),
        ("[D: Num]", ['D = TypeVar("D", bound=Num)']),
        ("[ D : tl.Num , E ]", ['D = TypeVar("D", bound=tl.Num)', 'E = TypeVar("E")']),
        ("[D: (f16, f32)]", ['D = TypeVar("D", f16, f32)']),
        ("[D: (f16,\n   f32,)]", ['D = TypeVar("D", f16, f32)']),
        ("[D: (Num), ]", ['D = TypeVar("D", Num)']),
        ("[D: Num = f32, E = f16]", ['D = TypeVar("D", bound=Num)', 'E = TypeVar("E")']),
    ],
)
def test_a_header_with_type_parameters_becomes_the_older_form(
    header: str, definitions: list[str]
) -> None:
    source = f"def f{header}(x: Ptr[D]) -> None:\n    tl.store(x, 0)\n"
    found = norm(source)
    assert found.text == "def f(x: Ptr[D]) -> None:\n    tl.store(x, 0)\n"
    assert [parameter.definition for parameter in found.type_parameters] == definitions
    check_positions(source, found)


@pytest.mark.parametrize("parameters", ["*Ts", "D, *Ts", "**P"])
def test_other_type_parameters_are_refused(parameters: str) -> None:
    with pytest.raises(CaptureError) as caught:
        norm(f"def f[{parameters}](x):\n    pass\n")
    assert caught.value.code == "E0026"


@pytest.mark.parametrize(
    "text",
    ["", "x = 1\n", "def\n", "def f(x:\n", 'def f():\n    x = """\n', "@kernel\nclass A: pass\n"],
)
def test_what_is_no_function_is_refused(text: str) -> None:
    with pytest.raises(CaptureError) as caught:
        norm(text)
    assert caught.value.code == "E0029"


# --- properties ---------------------------------------------------------------------------------

NAMES = st.sampled_from(["x", "y", "größe", "n_cols", "ptr"])
STRINGS = st.sampled_from(
    [
        '"s"',
        "'#'",
        '"""a\n  # b  \n\nc"""',
        'f"{x}#"',
        "r'\\'",
        'f"""{x}\n # {y}  \n"""',
        "b'z'",
        '"漢"',
    ]
)
ATOMS = st.one_of(NAMES, STRINGS, st.sampled_from(["1", "0.5", "None", "[1, 2]", "{1: 2}"]))
COMMENTS = st.sampled_from(["", "  # c", "   ", "# 'q\"", "  # 漢字"])
BREAKS = st.sampled_from([" ", "\n", "  # c\n\n", "\n      # d\n  "])


@st.composite
def expressions(draw: st.DrawFn) -> str:
    parts = draw(st.lists(ATOMS, min_size=1, max_size=3))
    if draw(st.booleans()):
        inner = "".join(f"{part} +{draw(BREAKS)}" for part in parts[:-1]) + parts[-1]
        return f"({draw(BREAKS)}{inner}{draw(BREAKS)})"
    return draw(st.sampled_from([" + ", "+", " + \\\n "])).join(parts)


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> list[str]:
    """Lines, indented relative to the block; a string may run over several of them."""
    kind = draw(st.integers(0, 6 if depth else 4))
    comment = draw(COMMENTS)
    if kind == 0:
        return [draw(st.sampled_from(["", "   ", "# comment", "        # deep"]))]
    if kind <= 2:
        return [f"{draw(NAMES)} = {draw(expressions())}{comment}"]
    if kind == 3:
        end = draw(st.sampled_from(["", ";"]))
        return [f"{draw(expressions())}; y = {draw(expressions())}{end}{comment}"]
    if kind == 4:
        return [f"{draw(STRINGS)}{comment}"]
    head = draw(
        st.sampled_from(["if x:", "for x in y:", "while x:", "def inner(a, b=1):", "class A:"])
    )
    return [head + comment, *(f"    {line}" for line in draw(blocks(depth - 1)))]


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2) -> list[str]:
    docstring = draw(
        st.sampled_from(["", '"doc"', '"""doc\n\n  more # x\n"""', "'a' 'b'", '("a"  # c\n  "b")'])
    )
    lines = [docstring + draw(st.sampled_from(["", ";", "  # c"]))] if docstring else []
    for statement in draw(st.lists(statements(depth), max_size=4)):
        lines += statement
    if not any(line.strip() and not line.strip().startswith("#") for line in lines):
        lines.append("pass")
    return lines


@st.composite
def functions(draw: st.DrawFn) -> str:
    indent = draw(st.sampled_from(["", "    ", "  "]))
    separator = draw(st.sampled_from([", ", ",\n    ", ",  # c\n\n  "]))
    parameters = separator.join(["x", "y: 'Ptr[D]'", "größe=(1, 2)"])
    lines = ["@kernel  # c", f"def f({parameters}):{draw(COMMENTS)}"]
    lines += [f"    {line}" for line in draw(blocks())]
    body = "\n".join(f"{indent}{line}" for line in lines)
    return f"{body}\n{draw(st.sampled_from(['', '# end', 'z = 1']))}\n"


def wrapped(text: str) -> str:
    return f"if 1:\n{text}" if text.startswith(" ") else text


def is_valid(text: str) -> bool:
    try:
        ast.parse(wrapped(text))
    except SyntaxError:
        return False
    return True


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@given(functions().filter(is_valid))
@settings(max_examples=200, deadline=None)
@example('@kernel\ndef f(x):\n    ("a"\n  "b");\n# end\n')
def test_normalising_keeps_the_meaning_and_the_positions(source: str) -> None:
    shift = int(source.startswith(" "))
    found = normalise(wrapped(source).split("\n"), 1 + shift)
    tree = ast.parse(wrapped(source)).body[0]
    if isinstance(tree, ast.If):
        tree = tree.body[0]
    assert without_docstrings(found.text) == without_docstrings(ast.unparse(tree))
    check_positions(wrapped(source), found)
    assert normalise(found.text.split("\n"), 1).text == found.text
    kept = [line for line in found.text.split("\n")[:-1] if not line.strip()]
    assert not kept or '"""' in found.text or "\\\n" in found.text
