"""Every operation has all its halves: DSL function, handler, record, text, rules and NumPy reading.

`missing_halves` names what is missing, for this tree and for texts made up here.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from teeny_triton.triton_lang import TRITON
from teenyc import ops
from teenyc.ir.opdef import HANDLERS, REGISTRY, Effects, OpDef

# The only operation that a CPU target refuses (E0803): its text is an assembler's.
NOT_ON_A_CPU = {"tt.elementwise_inline_asm"}
# Passes make other operations of these before the back end sees them.
LOWERED_FOR_A_CPU = {
    "tt.make_tensor_descriptor",
    "tt.descriptor_load",
    "tt.descriptor_store",
    "tt.descriptor_reduce",
    "tt.descriptor_gather",
    "tt.descriptor_scatter",
    "tt.dot_scaled",
}
# Lowered by the front end: the iterables of `for`, and what is known of a value without any code.
OF_THE_FRONT_END = {"range", "static_range", "Tensor.shape", "Tensor.dtype", "Tensor.numel"}
OF_THE_FRONT_END |= {"TensorDescriptor.dtype", "TensorDescriptor.block_shape"}
OF_THE_FRONT_END |= {"TensorDescriptor.shape", "TensorDescriptor.strides"}
# A method of the text that is an operator.
AS_OPERATORS = {"Tensor.__getitem__": "operator.getitem"}
OPERATORS = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
]
OPERATORS += ["neg", "invert", "pos", "getitem"]


@cache
def primitives(text: str) -> dict[str, list[str]]:
    """The functions and methods of a DSL text without a body, with their parameters."""
    found: dict[str, list[str]] = {}

    def visit(node: ast.FunctionDef, owner: str) -> None:
        body = node.body[1:] if ast.get_docstring(node) else node.body
        if ast.unparse(ast.Module(body, [])) == "...":
            args = node.args
            every = [*args.args, *([args.vararg] if args.vararg else []), *args.kwonlyargs]
            found[owner + node.name] = [arg.arg for arg in every]

    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            visit(node, "")
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    visit(inner, f"{node.name}.")
    return found


@cache
def all_functions(text: str) -> set[str]:
    """The names of all functions of a DSL text, composite ones too."""
    return {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def missing_halves(
    text: str, handlers: Mapping[str, Callable[..., Any]], records: Mapping[str, OpDef]
) -> list[str]:
    """What is missing, one sentence each."""
    missing: list[str] = []
    wanted = primitives(text)
    for name, params in wanted.items():
        if name in OF_THE_FRONT_END or name in AS_OPERATORS:
            continue
        if name not in handlers:
            missing.append(f"DSL `{name}` has no handler in teenyc.ops")
            continue
        given = list(inspect.signature(handlers[name]).parameters)[1:]
        missing += [f"handler `{name}` lacks parameter `{p}`" for p in params if p not in given]
        missing += [f"DSL `{name}` lacks parameter `{p}`" for p in given if p not in params]
    known = set(wanted) | {f"operator.{name}" for name in OPERATORS}
    missing += [f"handler `{name}` has no DSL function" for name in handlers if name not in known]
    missing += [
        f"operator `{name}` has no handler in teenyc.ops"
        for name in OPERATORS
        if f"operator.{name}" not in handlers
    ]
    for record in records.values():
        if record.ref is None:
            missing.append(f"op `{record.name}` has no `ref`")
        if record.verify is None and record.effects is not Effects.TERMINATOR:
            missing.append(f"op `{record.name}` has no `verify`")
        missing += [
            f"op `{record.name}` names the unknown DSL function `{name}`"
            for name in record.dsl
            if name not in all_functions(text)
        ]
    return missing


def test_nothing_is_missing() -> None:
    assert ops.__all__
    found = missing_halves(TRITON, HANDLERS, REGISTRY)
    assert not found, "\n".join(found)


def test_a_dsl_function_without_a_handler_is_named() -> None:
    text = TRITON + '\ndef gudermann(x):\n    """Sine."""\n    ...\n'
    assert missing_halves(text, HANDLERS, REGISTRY) == [
        "DSL `gudermann` has no handler in teenyc.ops"
    ]


def test_a_composite_function_needs_no_handler() -> None:
    text = TRITON + "\ndef double(x):\n    return x + x\n"
    assert missing_halves(text, HANDLERS, REGISTRY) == []


def test_a_parameter_that_one_side_lacks_is_named() -> None:
    text = TRITON.replace("def exp(x):", "def exp(x, base=None):")
    assert missing_halves(text, HANDLERS, REGISTRY) == ["handler `exp` lacks parameter `base`"]
    text = TRITON.replace("def where(condition, x, y):", "def where(condition, x):")
    assert missing_halves(text, HANDLERS, REGISTRY) == ["DSL `where` lacks parameter `y`"]


def test_a_handler_or_record_without_its_dsl_function_is_named() -> None:
    text = TRITON.replace("def exp2(x):", "def exp3(x):")
    found = missing_halves(text, HANDLERS, REGISTRY)
    assert "handler `exp2` has no DSL function" in found
    assert "op `math.exp2` names the unknown DSL function `exp2`" in found


def test_a_record_without_a_reading_is_named() -> None:
    bare = OpDef("math.sinh", lambda operands, attrs: (), lambda op, names: "")
    assert missing_halves(TRITON, HANDLERS, {**REGISTRY, "math.sinh": bare}) == [
        "op `math.sinh` has no `ref`",
        "op `math.sinh` has no `verify`",
    ]


def test_every_record_has_a_cpu_half_or_is_known_to_be_refused() -> None:
    """Elementwise records carry it themselves; the back end owns that of structural ones."""
    from teenyc.backend.cpu.structure import STRUCTURAL

    structural = {record.name for record in STRUCTURAL}
    without = {record.name for record in REGISTRY.values() if record.cpu is None} - structural
    assert without == NOT_ON_A_CPU | LOWERED_FOR_A_CPU
    assert all(REGISTRY[name].cpu is None for name in structural)
