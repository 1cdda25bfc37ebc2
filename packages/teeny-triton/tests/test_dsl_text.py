"""The text of the language: well formed for teenyc, and with Triton's names and defaults."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import teeny_triton
from teeny_triton import embed
from teeny_triton.triton_lang import TRITON, TRITON_SHA, from_source, load

PACKAGE = Path(embed.__file__).parent
TREE = ast.parse(TRITON, feature_version=(3, 11))
DEFINITIONS = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}
# The language keeps names with an underscore to itself: parts of its composite functions.
FUNCTIONS = {name: node for name, node in DEFINITIONS.items() if not name.startswith("_")}
CLASSES = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}
METHODS = [node for node in CLASSES["Tensor"].body if isinstance(node, ast.FunctionDef)]
# Parameters that Triton dropped in 3.9.
BLOCK_POINTERS = {"boundary_check", "padding_option"}
# What triton.language exports of its own machinery: types of its compiler and submodules.
COMPOSITE = {
    *("cdiv", "zeros", "zeros_like", "sigmoid", "softmax", "sum", "max", "min", "argmax", "argmin"),
    *("xor_sum", "reduce_or", "cumsum", "cumprod", "sort", "topk", "bitonic_merge", "flip"),
    *("philox", "philox_impl", "randint", "randint4x", "rand", "rand4x", "randn", "randn4x"),
    *("uint_to_uniform_float", "pair_uniform_to_normal", "swizzle2d", "expect_zero"),
    *("view", "ravel", "unsqueeze", "squeeze", "interleave", "pointer_type"),
    *("atomic_poll", "condition", "logical_and", "logical_or"),
    *("is_hip", "is_hip_cdna3", "is_hip_cdna4", "is_hip_gfx1250"),
}


# Runs apart: tests of other packages fork this process, which must not have loaded libtriton.
ASK_TRITON = """
import inspect, json, sys
import triton.language as language
from triton.language.extra.cuda import libdevice
found = {}
for name in sys.argv[1:]:
    value = getattr(language, name, None) or getattr(libdevice, name, None)
    if value is not None:
        value = value.__init__ if inspect.isclass(value) else getattr(value, "fn", value)
        found[name] = list(inspect.signature(value).parameters)
rows = {"parameters": found, "libdevice": sorted(vars(libdevice)), "all": language.__all__}
print(json.dumps(rows))
"""


@cache
def of_triton() -> dict[str, Any]:
    """Triton's own names, and the parameters of those that the language has too."""
    if find_spec("triton") is None:
        pytest.skip("triton is not installed")
    command = [sys.executable, "-c", ASK_TRITON, *FUNCTIONS]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def body(node: ast.FunctionDef) -> list[ast.stmt]:
    """The statements after the docstring."""
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


def is_primitive(node: ast.FunctionDef) -> bool:
    statements = body(node)
    return len(statements) == 1 and ast.unparse(statements[0]) == "..."


@cache
def stub_functions(path: Path) -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found.setdefault(node.name, []).append(node)
    return found


def parameters(node: ast.FunctionDef) -> list[tuple[str, str | None]]:
    arguments = [*node.args.posonlyargs, *node.args.args]
    none: list[ast.expr | None] = [None] * (len(arguments) - len(node.args.defaults))
    rows = list(zip(arguments, none + list(node.args.defaults), strict=True))
    rows += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return [(row.arg, ast.unparse(default) if default else None) for row, default in rows]


def test_the_text_is_fresh_and_the_digest_is_its_own() -> None:
    assert embed.build_text(PACKAGE / "triton") == TRITON
    assert embed.digest(TRITON) == TRITON_SHA
    assert len(TRITON_SHA) == 64


def test_the_text_does_not_depend_on_order_line_ends_or_place(tmp_path: Path) -> None:
    for path in sorted(embed.source_files(PACKAGE / "triton"), reverse=True):
        text = path.read_text(encoding="utf-8").replace("\n", "\r\n")
        (tmp_path / path.name).write_bytes(text.encode() + b"\r\n\r\n")
    assert embed.build_text(tmp_path) == TRITON


def test_the_text_names_its_files_in_order_and_holds_no_paths() -> None:
    markers = [line[7:] for line in TRITON.splitlines() if line.startswith("#file: ")]
    assert markers == sorted(markers)
    assert len(markers) == len(embed.source_files(PACKAGE / "triton"))
    assert str(PACKAGE.parent) not in TRITON
    assert "\r" not in TRITON


def test_the_embedded_module_holds_the_same_constants() -> None:
    names: dict[str, str] = {}
    exec(embed.module_text(TRITON), names)
    assert (names["TRITON"], names["TRITON_SHA"]) == (TRITON, TRITON_SHA)


def test_a_folder_without_sources_is_a_coded_error(tmp_path: Path) -> None:
    from teeny_macros.diagnostics import ToolchainError

    with pytest.raises(ToolchainError) as caught:
        from_source(tmp_path)
    assert caught.value.code == "E0010"


def test_a_built_package_uses_its_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import ModuleType

    built = ModuleType("teeny_triton._embedded")
    monkeypatch.setattr(built, "TRITON", "text", raising=False)
    monkeypatch.setattr(built, "TRITON_SHA", "sha", raising=False)
    monkeypatch.setitem(sys.modules, "teeny_triton._embedded", built)
    assert load(PACKAGE) == ("text", "sha")


def test_top_level_holds_only_what_the_compiler_reads() -> None:
    for node in TREE.body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.ClassDef():
                pass
            case ast.Assign(targets=[ast.Name()], value=ast.Name()):
                pass
            case ast.Assign(targets=[ast.Name(id="_NOT_SUPPORTED_YET")], value=ast.Tuple()):
                pass
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id="TypeVar"))):
                pass
            case _:
                pytest.fail(ast.unparse(node))


def test_names_are_defined_once() -> None:
    names = [node.name for node in TREE.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("node", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_has_help_a_rule_and_a_body(node: ast.FunctionDef) -> None:
    doc = ast.get_docstring(node)
    assert doc is not None
    assert doc.splitlines()[0].endswith(".")
    assert node.decorator_list
    assert is_primitive(node) == (node.name not in COMPOSITE)


@pytest.mark.parametrize("node", METHODS, ids=lambda node: node.name)
def test_a_method_is_primitive_or_hands_its_parameters_on(node: ast.FunctionDef) -> None:
    if is_primitive(node):
        return
    (statement,) = body(node)
    assert isinstance(statement, ast.Return)
    call = statement.value
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    function = FUNCTIONS[call.func.id]
    own, owner = parameters(node), parameters(function)
    if node.name == "item":  # a method alone: a shape of its own
        assert ast.unparse(call) == "reshape(self, ())"
        return
    assert [default for _, default in own[1:]] == [default for _, default in owner[1:]]
    if node.name == call.func.id:
        assert [name for name, _ in own[1:]] == [name for name, _ in owner[1:]]
    handed = [ast.unparse(argument) for argument in call.args]
    handed += [f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in call.keywords]
    named = [argument.arg for argument in node.args.kwonlyargs]
    wanted = [name for name, _ in own if name not in named]
    wanted += [f"*{node.args.vararg.arg}"] if node.args.vararg is not None else []
    assert handed == wanted + [f"{name}={name}" for name in named]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_the_stub_has_the_texts_parameters_and_defaults(name: str) -> None:
    node = FUNCTIONS[name]
    stubs = {
        found: overloads
        for path in (PACKAGE / "triton").glob("*.pyi")
        if path.stem != "types"
        for found, overloads in stub_functions(path).items()
        if found not in {"to", "value", "dtype"}
    }
    defaults = dict(parameters(node))
    for overload in stubs[name]:
        found = parameters(overload)
        if node.args.vararg is None:
            assert [row for row, _ in found] == list(defaults)
        assert not node.args.kwonlyargs or overload.args.kwonlyargs
        for parameter, default in found:
            assert default in {None, defaults.get(parameter)}
    docs = [ast.get_docstring(overload) for overload in stubs[name]]
    assert docs[0] == ast.get_docstring(node)


def test_the_generated_files_are_fresh() -> None:
    root = Path(__file__).parents[1]  # not where the package is installed: stubgen is not there
    done = subprocess.run(
        [sys.executable, "-m", "stubgen", "--check"],
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(len(path.read_text().splitlines()) <= 1000 for path in PACKAGE.rglob("*.pyi"))


def test_parameters_are_those_of_triton() -> None:
    theirs = of_triton()["parameters"]
    for name, node in FUNCTIONS.items():
        # One address space, and no constant pointers; `gdc_*` are of `tl.extra.cuda`.
        if name in ("elem", "pointer_type") or name not in theirs:
            continue
        if name in ("advance", "make_block_ptr") and name not in theirs:  # dropped in 3.9
            continue
        names = [row for row in theirs[name] if not row.startswith("_") and row != "self"]
        own = [row for row, _ in parameters(node)]
        if node.args.vararg is not None:
            own.insert(len(own) - len(node.args.kwonlyargs), node.args.vararg.arg)
        assert [row for row in own if row in names] == names, name
        assert set(own) - set(names) <= BLOCK_POINTERS, name


def test_libdevice_has_its_other_names() -> None:
    assert teeny_triton.extra.libdevice.tanh is teeny_triton.tanh
    assert teeny_triton.extra.cuda.libdevice.exp is teeny_triton.exp
    assert not hasattr(teeny_triton.math, "load")
