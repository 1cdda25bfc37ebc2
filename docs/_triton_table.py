"""The page that sets every operation of Triton beside ours, with the targets that have it.

What a target has is found by lowering the kernel of the operation's golden, not from a list.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from _operations import LANGUAGE, ORDER, TABLES, TYPES_AND_VALUES

from teeny_macros.diagnostics import TeenyError
from teeny_macros.unit import Unit, UnitModule
from teeny_triton.triton.later import _NOT_SUPPORTED_YET
from teeny_triton.triton_lang import TRITON, TRITON_SHA
from teenyc import passes
from teenyc.backend.cpu import features
from teenyc.backend.cpu.lower import lower_module
from teenyc.backend.gpu.hardware import HARDWARE, LIMITS
from teenyc.backend.gpu.versions import ARCH_FLOOR
from teenyc.frontend import lower_unit
from teenyc.ir.core import Module, Operation
from teenyc.ir.opdef import Effects
from teenyc.passes.descriptors import lower_descriptors

GOLDENS = Path(__file__).parents[1] / "packages" / "teenyc" / "tests" / "golden" / "ops"
DTYPES = "i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, f8e4m3, f8e5m2"
ATTRIBUTES = "num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=False"
# Iterables of `for` loops, which have no golden of their own: what every target does.
ITERABLES = {"range", "static_range"}
OLDEST = next(iter(ARCH_FLOOR))
# Where Triton has another spelling than `tl.NAME`.
IN_TRITON = {
    "elem": "x_ptr.dtype.element_ty",
    "logical_and": "x.logical_and(y)",
    "logical_or": "x.logical_or(y)",
    "gdc_wait": "tl.extra.cuda.gdc_wait",
    "gdc_launch_dependents": "tl.extra.cuda.gdc_launch_dependents",
}
# The module of a file's functions, on both sides.
MODULES = {"target": "tl.target_info"}

INTRODUCTION = """\
Every operation of `triton.language` and of its libdevice, and where it works here: in the
interpreter, on the CPU target, and on GPUs from which architecture on. Names, parameters and
defaults are the same; a method stands where Triton has one.
[Operations](operations.md) says what each does, [Semantics](semantics.md) what it gives.
"""


def triton_table() -> str:
    """The page."""
    trees = {
        path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in LANGUAGE.glob("*.py")
    }
    methods = _methods(trees["types"])
    lines = [
        "# Triton to Teeny\n",
        "<!-- Written by docs/_gen.py; never edited. -->\n",
        INTRODUCTION,
    ]
    for stem in sorted(trees, key=lambda stem: ((*ORDER, stem).index(stem), stem)):
        nodes = [
            node
            for node in trees[stem].body
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        ]
        if stem in TYPES_AND_VALUES or not nodes:
            continue
        title, _, _ = (ast.get_docstring(trees[stem]) or "").partition("\n")
        lines.append(f"## {title.partition(':')[0].rstrip('.')}\n")
        lines += [
            "| Triton | here | as a method | interpreter | CPU | GPU |",
            "|---|---|---|---|---|---|",
        ]
        module = "libdevice" if stem.startswith(TABLES) else MODULES.get(stem, "tl")
        lines += [_row(node, module, methods.get(node.name, [])) for node in nodes]
        lines.append("")
    lines += [
        "## What not every target has\n",
        "A code is that of the error, or of the warning, which a kernel meets there.\n",
        "| | GPUs from | other GPUs | CPU | interpreter |",
        "|---|---|---|---|---|",
        *(f"| {row.what} | {row.first} | E0713 | {row.host} | yes |" for row in HARDWARE),
        *(f"| {' | '.join(row)} |" for row in LIMITS),
        "",
    ]
    lines += ["## Not here yet\n", "These are refused where a kernel uses them (E0199).\n"]
    lines += [", ".join(f"`tl.{name}`" for name in _NOT_SUPPORTED_YET) + ".", ""]
    return "\n".join(lines)


def _methods(tree: ast.Module) -> dict[str, list[str]]:
    """How each function is called as a method, by the function's name."""
    shown = {"Tensor": "x", "PtrTensor": "pointer", "BlockPtr": "p", "TensorDescriptor": "desc"}
    found: dict[str, list[str]] = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name not in shown:
            continue
        for method in node.body:
            if not isinstance(method, ast.FunctionDef) or method.name.startswith("_"):
                continue
            called = _called(method)
            is_property = any(ast.unparse(d) == "property" for d in method.decorator_list)
            if called:
                call = method.name if is_property else f"{method.name}({_names(method)[6:]})"
                found.setdefault(called, []).append(f"`{shown[node.name]}.{call}`")
    return found


def _called(method: ast.FunctionDef) -> str:
    """The function that a method hands on to, if it does nothing else."""
    last = method.body[-1]
    if isinstance(last, ast.Return) and isinstance(last.value, ast.Call):
        function = last.value.func
        return function.id if isinstance(function, ast.Name) else ""
    return ""


def _names(node: ast.FunctionDef) -> str:
    names = [argument.arg for argument in node.args.args]
    if node.args.vararg:
        names.append(f"*{node.args.vararg.arg}")
    return ", ".join(names)


def _row(node: ast.FunctionDef, module: str, methods: list[str]) -> str:
    call = f"`{module}.{node.name}({_names(node)})`"
    interpreter, cpu, gpu = targets(node.name)
    cells = [
        f"`{IN_TRITON.get(node.name, f'{module}.{node.name}')}`",
        call,
        ", ".join(dict.fromkeys(methods)),
        interpreter,
        cpu,
        gpu,
    ]
    return f"| {' | '.join(cells)} |"


# --- targets --------------------------------------------------------------------------------------


@cache
def targets(name: str) -> tuple[str, str, str]:
    """Whether the interpreter and a CPU have an operation, and from which architecture GPUs do."""
    if name in ITERABLES:
        return "yes", "yes", OLDEST
    module = lower_unit(golden_unit(name))
    passes.run(module)
    interpreter = "yes" if all(map(_has_reading, module.walk())) else "no"
    return interpreter, "yes" if _has_cpu(name) else "no", _gpu(name, module)


def _has_reading(op: Operation) -> bool:
    """Whether the interpreter reads an operation; some of its readings only refuse."""
    ref = op.opdef.ref
    if ref is None:  # control flow, which the interpreter itself walks
        return op.opdef.effects is not Effects.NONE or bool(op.regions)
    return ref.__annotations__.get("return") != "NoReturn"


def golden_unit(name: str) -> Unit:
    """The unit of the kernel that stands above an operation's golden."""
    lines = (GOLDENS / f"{name}.mlir").read_text(encoding="utf-8").splitlines()
    head = [line[3:] for line in lines if line.startswith("//")]
    typed = re.findall(r"\w+: (?:[^,\[\]]|\[[^\]]*\])+", head[0].strip()[1:-1])
    names = ", ".join(part.partition(":")[0] for part in typed)
    body = "".join(f"    {line}\n" for line in head[1:])
    kernel = f"import teeny_triton as tl\nfrom teeny_triton import Ptr, {DTYPES}\n"
    kernel += f"def k({names}):\n{body}"
    entry = (
        f"from kernel import k\nfrom teeny_triton import Ptr, {DTYPES}\n"
        f"@entry_point({ATTRIBUTES})\n"
        f"def k_entry_point({', '.join(typed)}) -> None:\n    k({names})\n"
    )
    modules = (UnitModule("kernel", kernel), UnitModule("entry", entry))
    return Unit("k", modules, TRITON_SHA, TRITON)


def _has_cpu(name: str) -> bool:
    module = lower_unit(golden_unit(name))
    try:
        lower_descriptors(module)
        passes.run(module)
        lower_module(module, features.resolve("x86-64-v3"), fusion=False)
    except TeenyError:
        return False
    return True


def _gpu(name: str, module: Module) -> str:
    found = [row for row in HARDWARE if any(row.uses(op) for op in module.walk())]
    first, partly = OLDEST, []
    for row in found:
        if re.search(rf"`{name}`[,)]", row.what):
            first = row.first
        else:
            partly.append(f"; {row.what} from {row.first}")
    return first + "".join(partly)


def entries() -> Iterator[str]:
    """The names of all operations on the page."""
    for path in LANGUAGE.glob("*.py"):
        if path.stem not in TYPES_AND_VALUES:
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    yield node.name
