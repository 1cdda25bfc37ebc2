"""The language beside Triton's: names, methods and parameters of 3.6 and 3.9, and what is lacking.

`surface/` holds what `ask_triton.py` printed for each release.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import teeny_triton
from teeny_triton.triton import later
from teeny_triton.triton_lang import TRITON

HERE = Path(__file__).parent
RELEASES = ("3.6", "3.9")
# Triton's names that the language does not have, each with the reason. None is an operation.
LACKING = {
    "block_type": "types of tensors are written `Tensor[f32, R2]`",
    "const": "pointers do not say that they are only read",
    "constexpr_type": "a type of Triton's compiler",
    "dtype": "dtypes are classes: `type[f32]`",
    "float8e4b15": "deprecated by Triton; conversions of bits can be written in a kernel",
    "float8e4b8": "only AMD GPUs have it",
    "float8e5b16": "only AMD GPUs have it",
    "pi32_t": "it is `Ptr[i32]`",
    "slice": "a type of Triton's compiler",
    "tuple": "tuples are Python's own",
    "void": "a type of Triton's compiler",
    "target_info.current_target": "an object of Triton's driver; `is_cuda` and the like are here",
}
MOST_LACKING = 12
# Triton has one type for tensors, pointers and pointers to blocks.
OWNERS = {
    "tensor": ("BlockPtr", "PtrTensor", "Tensor"),
    "tensor_descriptor": ("TensorDescriptor",),
}
# Triton's parameters that have no meaning without Triton.
IMPLICIT = {"args", "kwargs"}


def surface(release: str) -> dict[str, Any]:
    path = HERE / "surface" / f"triton-{release}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


SURFACES = {release: surface(release) for release in RELEASES}


def union(part: str) -> dict[str, list[str] | None]:
    """The functions or methods of all releases; of parameters, those of every one."""
    found: dict[str, list[str] | None] = {}
    for rows in SURFACES.values():
        for name, names in rows[part].items():
            known = found.get(name)
            found[name] = list(dict.fromkeys([*(known or ()), *(names or ())]))
    return found


def own(owner: str = "") -> dict[str, list[str]]:
    """The functions of the text, or the methods of one of its classes, with their parameters."""
    statements: list[ast.stmt] = ast.parse(TRITON).body
    if owner:
        (kind,) = (n for n in statements if isinstance(n, ast.ClassDef) and n.name == owner)
        statements = kind.body
    rows = {}
    for node in statements:
        if isinstance(node, ast.FunctionDef):
            args = node.args
            every = [*args.args, *([args.vararg] if args.vararg else []), *args.kwonlyargs]
            rows[node.name] = [arg.arg for arg in every if arg.arg != "self"]
    return rows


def methods(part: str) -> dict[str, list[str]]:
    """The methods of a type of Triton, wherever the language has them."""
    return {name: row for owner in OWNERS[part] for name, row in own(owner).items()}


def test_the_stored_surface_is_that_of_the_installed_triton() -> None:
    if find_spec("triton") is None:
        pytest.skip("triton is not installed")
    done = subprocess.run(
        [sys.executable, str(HERE / "ask_triton.py")], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    stored = SURFACES.get(".".join(found["version"].split(".")[:2]))
    if stored is None:
        pytest.skip(f"Triton {found['version']} is between the stored releases")
    assert found == stored


def test_what_is_lacking_has_its_reason_and_is_little() -> None:
    names = {name for rows in SURFACES.values() for name in rows["names"]}
    lacking = {name for name in names if not hasattr(teeny_triton, name)}
    for part in ("math", "libdevice", "target_info"):
        view = getattr(teeny_triton, part, teeny_triton.math)
        view = teeny_triton.math if part == "libdevice" else view
        lacking |= {f"{part}.{name}" for name in union(part) if not hasattr(view, name)}
    for part in OWNERS:
        lacking |= {f"{part}.{name}" for name in union(part) if name not in methods(part)}
    assert lacking == set(LACKING)
    assert len(lacking) <= MOST_LACKING
    functions = set(union("functions")) | {"tensor", "tensor_descriptor"}
    assert not functions & set(LACKING), "every function of Triton is here"
    print(f"{len(names)} names, {len(lacking)} lacking: {', '.join(sorted(lacking))}")


def test_the_compiler_says_of_what_is_lacking_that_it_is() -> None:
    assert set(later._NOT_SUPPORTED_YET) <= set(LACKING)
    assert not [name for name in later._NOT_SUPPORTED_YET if hasattr(teeny_triton, name)]


@pytest.mark.parametrize("part", ["functions", "math", "libdevice", "target_info"])
def test_functions_have_the_parameters_of_triton(part: str) -> None:
    functions, missing = own(), []
    for name, wanted in union(part).items():
        if name not in functions:
            assert f"{part}.{name}" in LACKING or hasattr(teeny_triton, name), name
            continue
        if part in ("math", "libdevice"):
            # Their parameters go by position: `arg0`, `arg1`.
            if len(functions[name]) < len(wanted or ()):
                missing.append(name)
            continue
        missing += [f"{name}({p})" for p in wanted or () if p not in {*functions[name], *IMPLICIT}]
    assert missing == []


@pytest.mark.parametrize("part", OWNERS)
def test_methods_have_the_parameters_of_triton(part: str) -> None:
    known, missing = methods(part), []
    for name, wanted in union(part).items():
        first = own().get(name, [""])[:1]  # what a method calls `self`
        names = {*known[name], *IMPLICIT, *first}
        missing += [f"{name}({p})" for p in wanted or () if p not in names]
    assert missing == []
