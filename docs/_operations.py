"""The page of the kernel language's functions, from its text and the compiler's records."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import teeny_triton
from teeny_macros.diagnostics import CompileError
from teeny_macros.unit import Unit, UnitModule
from teeny_triton.triton.later import _NOT_SUPPORTED_YET
from teeny_triton.triton_lang import TRITON, TRITON_SHA
from teenyc.frontend import lower_unit
from teenyc.ir.opdef import REGISTRY, OpDef
from teenyc.ops import casts  # and, with it, all records

LANGUAGE = Path(teeny_triton.__file__).parent / "triton"

ORDER = (
    "program",
    "creation",
    "memory",
    "math",
    "compare",
    "reduce",
    "linalg",
    "shape",
    "iteration",
    "composite",
)
# Files that hold families of small functions.
TABLES = ("libdevice",)
TYPES_AND_VALUES = {"__init__", "dtypes", "enums", "types", "later"}
BINARY = ("+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
UNARY = ("-x", "~x")
LINE = 96

INTRODUCTION = """\
What a kernel body may call, as `tl.NAME` after `import teeny_triton as tl`. Names, parameters and
defaults are Triton's.

The *typed forms* are what a type checker accepts. In them `E` is any dtype, `N` any number, `F` any
float, `W` f32 or f64, `I` any integer, `M` any float that `dot` takes, `R` any rank; `Mask` is a
tensor of `i1`, or one `i1`. A name such as `Eviction` stands for the strings that the text tells.
The compiler accepts more, with or without annotations: what Triton accepts, with its promotion.
*MLIR* is what a function becomes in the first stage.
"""


def operations() -> str:
    """The page."""
    trees = {
        path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in LANGUAGE.glob("*.py")
    }
    functions = {
        stem: [
            node
            for node in trees[stem].body
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        ]
        for stem in sorted(trees, key=lambda stem: ((*ORDER, stem).index(stem), stem))
        if stem not in TYPES_AND_VALUES
    }
    public = {node.name for nodes in functions.values() for node in nodes}
    lines = ["# Operations\n", "<!-- Written by docs/_gen.py; never edited. -->\n", INTRODUCTION]
    for stem, nodes in functions.items():
        title, _, rest = (ast.get_docstring(trees[stem]) or "").partition("\n")
        heading = title.partition(":")[0] if not stem.startswith(TABLES) else title
        lines.append(f"## {heading.rstrip('.')}\n")
        if rest.strip():
            lines.append(rest.strip() + "\n")
        if stem.startswith(TABLES):
            lines += _table(nodes)
        else:
            lines += [line for node in nodes for line in _function(node, public)]
    return "\n".join([*lines, *_operators(), *_methods(), *_dtypes(), *_not_yet()])


# --- functions ------------------------------------------------------------------------------------


def _function(node: ast.FunctionDef, public: set[str]) -> Iterator[str]:
    yield f"### {node.name}\n"
    yield f"```text\n{_signature(node)}\n```\n"
    yield (ast.get_docstring(node) or "") + "\n"
    forms = [form for decorator in node.decorator_list for form in _forms(decorator, node)]
    if forms:
        yield "Typed forms:\n\n```text\n" + "\n".join(dict.fromkeys(forms)) + "\n```\n"
    mlir = _mlir(node, public)
    if mlir:
        yield f"MLIR: {mlir}.\n"


def _table(nodes: list[ast.FunctionDef]) -> Iterator[str]:
    """Large families of small functions, a line each."""
    yield "| function | meaning |\n|---|---|"
    for node in nodes:
        meaning = (ast.get_docstring(node) or "").partition("\n\n")[0]
        yield f"| `{_signature(node)}` | {' '.join(meaning.split())} |"
    yield ""


def _signature(node: ast.FunctionDef) -> str:
    arguments = node.args
    names = [argument.arg for argument in arguments.args]
    defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    parts = []
    for name, argument in zip(names, arguments.args, strict=True):
        kind = argument.annotation
        text = f"{name}: {_annotation(kind)}" if kind else name
        if name in defaults:
            text += (
                f" = {ast.unparse(defaults[name])}" if kind else f"={ast.unparse(defaults[name])}"
            )
        parts.append(text)
    if arguments.vararg:
        parts.append(f"*{arguments.vararg.arg}")
    line = f"tl.{node.name}({', '.join(parts)})"
    return line if len(line) <= LINE else f"tl.{node.name}(\n    " + ",\n    ".join(parts) + ",\n)"


def _annotation(node: ast.expr) -> str:
    return node.value if _is_text(node) else ast.unparse(node)  # type: ignore[attr-defined]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _forms(decorator: ast.expr, node: ast.FunctionDef) -> Iterator[str]:
    """The typed forms that one rule stands for; reductions have too many to help anyone."""
    name, values = _rule(decorator)
    if name == "binary":
        yield f"{node.name}(x: Tensor[N, R] | N, y: Tensor[N, R] | N | int) -> Tensor[N, R] | N"
        yield f"{node.name}(x: Tensor[F, R] | F, y: Tensor[F, R] | F | float) -> Tensor[F, R] | F"
    elif name == "elementwise":
        bound = values["bound"]
        yield f"{node.name}(x: Tensor[{bound}, R]) -> Tensor[{bound}, R]"
        yield f"{node.name}(x: {bound}) -> {bound}"
    elif name == "rule":
        returns = values.pop("returns", "None")
        ranks = ast.literal_eval(values.pop("k", "(0,)"))
        for k in ranks:
            kinds = {key: _expanded(text, k) for key, text in values.items()}
            shown = ", ".join(f"{key}: {kind}" for key, kind in kinds.items() if kind)
            yield f"{node.name}({shown}) -> {_expanded(returns, k)}"


def _rule(decorator: ast.expr) -> tuple[str, dict[str, str]]:
    if isinstance(decorator, ast.Name):
        return decorator.id, {}
    assert isinstance(decorator, ast.Call)
    assert isinstance(decorator.func, ast.Name)
    values = {
        str(key.arg): str(key.value.value) if _is_text(key.value) else ast.unparse(key.value)  # type: ignore[attr-defined]
        for key in decorator.keywords
    }
    if decorator.args:
        values["bound"] = str(ast.literal_eval(decorator.args[0]))
    return decorator.func.id, values


def _expanded(text: str, k: int) -> str:
    """A type of a rule for the rank `k`; `*2` is two numbers, `*0` none, `*T` any number of T."""
    text = text.replace("{k}", str(k))
    if text.startswith("*") and text[1:].isdigit():
        return ", ".join(["int"] * int(text[1:]))
    for rank in range(1, 6):
        text = text.replace(f"Shape{rank}", f"tuple[{', '.join(['int'] * rank)}]")
        text = text.replace(f"Axis{rank}", "int")
    return text.replace("AnyShape", "tuple[int, ...]")


# --- what becomes of it ---------------------------------------------------------------------------


# In every kernel that is tried here, whatever it is of; a comparison is stored as a number.
SCAFFOLD = {
    "arith.constant",
    "arith.extui",
    "arith.uitofp",
    "tt.addptr",
    "tt.load",
    "tt.return",
    "tt.store",
}


def _mlir(node: ast.FunctionDef, public: set[str]) -> str:
    """What a function becomes, as far as records say it or trying shows it."""
    body = ast.Module(node.body[1:] if ast.get_docstring(node) else node.body, [])
    if ast.unparse(body) != "...":
        calls = [call.func for call in ast.walk(body) if isinstance(call, ast.Call)]
        called = dict.fromkeys(name.id for name in calls if isinstance(name, ast.Name))
        names = [f"[{name}](#{name})" for name in called if name in public]
        return "written in the language itself" + (f", with {', '.join(names)}" if names else "")
    rules = [_rule(decorator) for decorator in node.decorator_list]
    found: Iterable[str] = [record.name for record in REGISTRY.values() if node.name in record.dsl]
    if node.name.startswith("static_") or any("type[" in r.get("returns", "") for _, r in rules):
        return "none, it is done at compile time"
    if node.name == "range":
        found = ["scf.for"]
    elif node.name == "cast":
        found = [record.name for record in vars(casts).values() if isinstance(record, OpDef)]
    elif not found and any(name == "binary" for name, _ in rules):
        found = _tried(f"tl.{node.name}(x, y)")
    elif not found and any(name == "elementwise" for name, _ in rules):
        found = _tried(f"tl.{node.name}(x)")
    return _listed(found)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@cache
def _tried(expression: str) -> tuple[str, ...]:
    """The operations that an expression of x and y becomes, of the dtypes for which it compiles."""
    found: dict[str, None] = {}
    for dtype in ("f32", "i32", "u32"):
        kernel = (
            "import teeny_triton as tl\ndef k(x_ptr, y_ptr):\n"
            f"    x = tl.load(x_ptr)\n    y = tl.load(y_ptr)\n    tl.store(x_ptr, {expression})\n"
        )
        entry = (
            f"from kernel import k\nfrom teeny_triton import Ptr, {dtype}\n"
            "@entry_point(num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, "
            "enable_fp_fusion=True, divisible_by_16=(), equal_to_1=())\n"
            f"def k_entry_point(x_ptr: Ptr[{dtype}], y_ptr: Ptr[{dtype}]) -> None:\n"
            "    k(x_ptr, y_ptr)\n"
        )
        modules = (UnitModule("kernel", kernel), UnitModule("entry", entry))
        try:
            module = lower_unit(Unit("k", modules, TRITON_SHA, TRITON))
        except CompileError:
            continue  # not an operation of this dtype
        names = dict.fromkeys(operation.opdef.name for operation in module.walk())
        found.update((name, None) for name in names if name not in SCAFFOLD)
    return tuple(found)


# --- tables ---------------------------------------------------------------------------------------


def _operators() -> Iterator[str]:
    yield "## Operators\n"
    yield "Operands are broadcast to one shape and brought to one dtype. Integers wrap; `//` and"
    yield "`%` of run-time integers truncate, as in C; `/` of integers gives f32. A literal takes"
    yield "the dtype of the other side when it can. `and`, `or` and `not` are for scalars; tensors"
    yield "take `&`, `|` and `~`. `x[:, None]` puts in a side of length 1, as does"
    yield "[expand_dims](#expand_dims).\n"
    yield "| operator | MLIR |\n|---|---|"
    for symbol in BINARY + COMPARISONS:
        yield f"| `x {symbol} y` | {_listed(_tried(f'x {symbol} y'))} |"
    for expression in UNARY:
        yield f"| `{expression}` | {_listed(_tried(expression))} |"
    yield ""


def _methods() -> Iterator[str]:
    tree = ast.parse((LANGUAGE / "types.py").read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    yield "## Methods\n"
    yield "Of tensors, and of scalars alike.\n"
    yield "| | meaning |\n|---|---|"
    for node in classes["Tensor"].body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            names = [argument.arg for argument in node.args.args[1:]]
            names += [f"*{node.args.vararg.arg}"] if node.args.vararg else []
            call = "" if "property" in decorators else f"({', '.join(names)})"
            meaning = (ast.get_docstring(node) or "").partition("\n")[0]
            linked = re.sub(r"`(\w+)`\.$", r"[\1](#\1).", meaning)
            yield f"| `x.{node.name}{call}` | {linked} |"
    yield ""


def _dtypes() -> Iterator[str]:
    tree = ast.parse((LANGUAGE / "dtypes.py").read_text(encoding="utf-8"))
    aliases = {
        node.value.id: ast.unparse(node.targets[0])
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
    }
    yield "## Dtypes\n"
    yield "| dtype | Triton's name | bytes in memory | |\n|---|---|---|---|"
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in aliases:
            sizes = [ast.unparse(line.value) for line in node.body if isinstance(line, ast.Assign)]
            meaning = ast.get_docstring(node) or ""
            yield f"| `{node.name}` | `{aliases[node.name]}` | {sizes[0]} | {meaning} |"
    yield ""


def _not_yet() -> Iterator[str]:
    yield "## In Triton, not yet here\n"
    yield "A kernel that uses one of these is refused where it does:\n"
    yield _listed(list(_NOT_SUPPORTED_YET)) + "\n"
